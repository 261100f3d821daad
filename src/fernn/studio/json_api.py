"""JSON in and out: bodies within limits, errors as objects, work in threads."""

from __future__ import annotations

import json
import math
import os
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from ..data.file_checks import format_size
from ..errors import FernnError, FormulaError

Answer = TypeVar("Answer")

LARGEST = 1_000_000
"""Bytes of a JSON body, at most."""
DEEPEST = 20
"""Levels of brackets in it, at most."""
DRAINED = 2_000_000_000
"""A body that is too large is read on for so many bytes, and forgotten: one who is still talking hears no answer."""


class Refused(Exception):
    """A request that is answered with this status and these words; `more` joins them in the answer."""

    def __init__(self, words: str, status: int = 400, **more: Any) -> None:
        super().__init__(words)
        self.status, self.more = status, more


def json_response(value: Any, status: int = 200) -> Response:
    """As JSON, all of it ASCII: also half a surrogate pair in a name can be sent. What is not finite is null."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


async def read_body(request: Request) -> dict[str, Any]:
    """The object that the request brings; {} where it brings nothing."""
    content = bytearray()
    async for part in read_within(request, LARGEST, "a JSON body"):
        content += part
    if not content.strip():
        return {}
    try:
        body = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, ValueError) else "too many brackets in brackets"
        raise Refused(f"the body is not JSON ({what[:200]}). Send an object.") from None
    if not isinstance(body, dict):
        raise Refused(f"the body is {_kind(body)}, wanted an object.")
    if _depth(body) > DEEPEST:
        raise Refused(f"the body has more than {DEEPEST} levels of brackets.")
    return body


async def read_within(request: Request, limit: int, what: str, fix: str = "") -> Any:
    """The parts of the body as they come; more than `limit` bytes in all are refused, with what to do instead."""
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            yield part
        elif size > limit + DRAINED:
            break
    if size > limit:
        raise Refused(
            f"{what} of {format_size(size)}, more than the limit of {format_size(limit)}. {fix}".rstrip(), 413
        )


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _depth(value: Any) -> int:
    """Levels of brackets; `json.loads` let through what recursion can take."""
    deepest, left = 0, [(value, 1)]
    while left and deepest <= DEEPEST:
        inner, depth = left.pop()
        if isinstance(inner, (dict, list)):
            deepest = max(deepest, depth)
            left += [(each, depth + 1) for each in (inner.values() if isinstance(inner, dict) else inner)]
    return deepest


def field(body: dict[str, Any], name: str, kind: type[Answer]) -> Answer:
    """This member of the object, of this kind."""
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        actual = f"it is {_kind(value)}" if name in body else "it is not there"
        raise Refused(f"the body needs {name!r}, {_KINDS[kind]}; {actual}.")
    return value


def share(word: str, name: str) -> float:
    """A number from 0 to 1 out of a query."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise Refused(f"{name!r} is a share, from 0 to 1; found {word[:30]!r}.")
    return value


_KINDS: dict[Any, str] = {str: "a text", int: "a whole number", dict: "an object", list: "a list", float: "a number"}
_KINDS |= {bool: "true or false", type(None): "null"}


def _kind(value: Any) -> str:
    return _KINDS[type(value)]


_limiter: CapacityLimiter | None = None


async def run_in_thread(work: Callable[..., Answer], *args: Any) -> Answer:
    """The result of work done in a thread, so that other requests are answered meanwhile; few at once."""
    global _limiter
    if _limiter is None:
        _limiter = CapacityLimiter(max(2, os.cpu_count() or 1))
    return await to_thread.run_sync(work, *args, limiter=_limiter)


def add_error_handlers(app: FastAPI) -> None:
    """Whatever goes wrong is told as `{"error": ...}`."""

    async def refused(_: Request, error: Any) -> Response:
        return json_response({"error": str(error), **error.more}, error.status)

    async def wrong(_: Request, error: Any) -> Response:
        return json_response(error_to_json(error), 400)

    async def unknown(_: Request, error: Any) -> Response:
        return json_response({"error": f"{error.detail}. docs/studio-api.md has what can be asked."}, error.status_code)

    async def unreadable(_: Request, error: Any) -> Response:
        return json_response({"error": f"{error.strerror or 'this cannot be read'}: {error.filename or 'a file'}"}, 409)

    async def exhausted(_: Request, error: Any) -> Response:
        return json_response(
            {"error": "there is not enough memory for this. Take fewer traces, or a shorter formula."}, 413
        )

    async def deep(_: Request, error: Any) -> Response:
        return json_response({"error": "the formula is nested too deeply. Split it into several."}, 400)

    async def broken(_: Request, error: Exception) -> Response:
        traceback.print_exception(error)
        return json_response(
            {"error": f"fernn itself failed ({type(error).__name__}: {error}). Please report this."}, 500
        )

    table: dict[Any, Any] = {
        Refused: refused, FernnError: wrong, HTTPException: unknown, OSError: unreadable, MemoryError: exhausted,
        RecursionError: deep, Exception: broken,
    }  # fmt: skip
    for kind, answer in table.items():
        app.add_exception_handler(kind, answer)


def error_to_json(error: FernnError) -> dict[str, Any]:
    """An error as an answer; of a formula that does not parse also `at`, the letter where, counted from 0."""
    if not isinstance(error, FormulaError) or error.text is None:
        return {"error": str(error)}
    return {"error": "; ".join(filter(None, (error.message, error.hint))), "at": error.at}
