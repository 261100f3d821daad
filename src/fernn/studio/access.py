"""Authentication: one-time tokens for browsers, sessions, the token of scripts, and the guard before every request."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from typing import Literal
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LIFE = 600.0
"""Seconds in which a one-time token is worth a session."""
FOLDER = ".studio"
"""Among the runs: there a browser in a sandbox may read it, too, unlike what lies in /tmp."""

Refusal = Literal["used", "late", "unknown"]


class Access:
    """The secrets of one start of the studio."""

    def __init__(self, life: float = LIFE, now: Callable[[], float] = monotonic) -> None:
        self.script_token = token_urlsafe(32)
        self.life, self._now = life, now
        self._ends: dict[str, float] = {}
        self._used: set[str] = set()
        self._sessions: set[str] = set()

    def issue(self) -> str:
        """A new token for one browser, once."""
        token, time = token_urlsafe(24), self._now()
        self._ends = {each: end for each, end in self._ends.items() if end + self.life > time}  # long dead ones go
        self._ends[token] = time + self.life
        return token

    def redeem(self, token: str) -> str | None:
        """A new session for a token that is valid, which it is no longer afterwards; None for others."""
        if self.refusal(token) is not None:
            return None
        self._used.add(_among(token, self._ends) or "")
        return self.open_session()

    def refusal(self, token: str) -> Refusal | None:
        """Why this token is worth nothing; None where it is worth a session."""
        match = _among(token, self._ends)
        if match is None:
            return "unknown"
        if match in self._used:
            return "used"
        return "late" if self._now() > self._ends[match] else None

    def open_session(self) -> str:
        session = token_urlsafe(32)
        self._sessions.add(session)
        return session

    def has_session(self, session: str) -> bool:
        return _among(session, self._sessions) is not None

    def is_script(self, authorization: str) -> bool:
        """Whether the header `Authorization` has the token of scripts."""
        kind, _, token = authorization.partition(" ")
        return kind.lower() == "bearer" and compare_digest(_raw(token.strip()), _raw(self.script_token))


def _among(token: str, tokens: set[str] | dict[str, float]) -> str | None:
    """The known secret that equals the given one; how long that takes says nothing of where they differ."""
    matches = [each for each in tokens if compare_digest(_raw(each), _raw(token))]
    return matches[0] if matches else None


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class SecretFiles:
    """The files of one start of the studio, in a folder that only the user can enter; gone after `remove`."""

    def __init__(self, runs: Path, port: int) -> None:
        self.folder = _private_folder(runs)
        self._port, self._files = port, list[Path]()

    def write_token(self, access: Access) -> Path | None:
        """`PORT.token`: what scripts send as `Authorization: Bearer TOKEN`. None where no file can be private."""
        return self._write(f"{self._port}.token", access.script_token + "\n")

    def write_opener(self, address: str) -> Path | None:
        """`PORT.html`: a page that leads to this address at once."""
        safe = escape(address)
        return self._write(
            f"{self._port}.html",
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>fernn studio</title>\n'
            f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={safe}"></head>\n'
            f'<body><p><a href="{safe}">Open the studio</a></p></body></html>\n',
        )

    def remove(self) -> None:
        for path in self._files:
            path.unlink(missing_ok=True)
        if self.folder is not None:
            with suppress(OSError):  # another studio may have its files there
                self.folder.rmdir()

    def _write(self, name: str, text: str) -> Path | None:
        if self.folder is None:
            return None
        path = self.folder / name
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        self._files.append(path)
        return path


def _private_folder(runs: Path) -> Path | None:
    """Among the runs, or where no folder there can be private, among temporary files; None where neither can."""
    with suppress(OSError):
        runs.mkdir(parents=True, exist_ok=True)
        place = runs / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        if _is_private(place):
            return place
    with suppress(OSError):
        place = Path(tempfile.mkdtemp(prefix="fernn-studio-"))
        if _is_private(place):
            return place
        place.rmdir()
    return None


def _is_private(folder: Path) -> bool:
    """Whether it is the user's own and nobody else may enter; on Windows, folders of a user are."""
    if os.name != "posix":
        return True
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return False
    folder.chmod(0o700)
    return not stat.S_IMODE(folder.stat().st_mode) & 0o077


Headers = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads"
)
"""A report has its scripts within it: they run, but as a stranger, who can ask nothing of the studio."""

_ALWAYS: Headers = [
    (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]  # fmt: skip
READING = ("GET", "HEAD")


class Guard:
    """Stands before the routes."""

    def __init__(self, app: ASGIApp, port: int, access: Access) -> None:
        self._app, self.access, self.cookie = app, access, f"fernn-{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        headers = _unique_headers(scope["headers"])
        problem = self._stranger(scope["method"], scope["path"], headers)
        if problem:
            return await _say(send, 403, problem, headers)
        is_known = self._is_known(headers)
        if scope["path"] == "/" and scope["method"] == "GET" and (token := _token(scope["query_string"])) is not None:
            if is_known:  # the address of an earlier time, opened again
                return await _say(send, 303, "", headers, [(b"location", b"/")])
            return await self._admit(send, token, headers)
        if not is_known:
            return await _say(send, 401, f"this needs the cookie of the studio. {_OPEN}", headers)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _add_policy(message["headers"])}
            await send(message)

        return await self._app(scope, receive, with_headers)

    async def _admit(self, send: Send, token: str, headers: dict[str, str]) -> None:
        """A session for a one-time token.

        The page goes on by itself: after a redirect the browser would hold back a cookie of SameSite=Strict, since the
        file that led here is of another site.
        """
        refusal = self.access.refusal(token)
        session = self.access.redeem(token)
        if refusal is not None or session is None:
            return await _say(send, 401, f"{_REFUSALS[refusal or 'unknown']} {_OPEN}", headers)
        crumb = f"{self.cookie}={session}; HttpOnly; SameSite=Strict; Path=/"
        more = [(b"set-cookie", crumb.encode()), (b"content-type", b"text/html; charset=utf-8")]
        await _answer(send, 200, _ENTER.encode(), more)

    def _stranger(self, method: str, path: str, headers: dict[str, str]) -> str | None:
        """What is wrong with where the request comes from."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.lower() not in self._hosts:
            return f"the studio is at {min(self._hosts)}, not at {host[:100]!r}. {_OPEN}"
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return f"the studio answers its own page, not {origin[:100]!r}."
        if path != "/" and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "the studio answers its own page, not that of another site."
        is_script = self.access.is_script(headers.get("authorization", ""))
        if origin is None and method not in READING and headers.get("x-fernn") != "1" and not is_script:
            return "a request that changes something needs an Origin, or the header X-Fernn: 1."
        return None

    def _is_known(self, headers: dict[str, str]) -> bool:
        """Others at this address may have cookies of any kind, so they are only parted at semicolons."""
        if self.access.is_script(headers.get("authorization", "")):
            return True
        crumbs = (crumb.strip().partition("=") for crumb in headers.get("cookie", "").split(";"))
        return any(name == self.cookie and self.access.has_session(value) for name, _, value in crumbs)


_OPEN = "Press Enter where fernn studio runs, and open the address that it prints."
_REFUSALS = {
    "used": "this address was opened before, and works once. If that was not you, end the studio with Ctrl-C: "
    "somebody else on this machine may have come in.",
    "late": "this address is too old.",
    "unknown": "the token in the address is not one of this studio.",
}
_ENTER = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
<meta name="color-scheme" content="light dark"><title>fernn studio</title></head>
<body><p><a href="/">Open the studio</a></p></body></html>
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>fernn studio</title></head>
<body><h1>The studio does not know this page</h1>
<p>The addresses with a <code>?token=</code> that <code>fernn studio</code> prints work once, within some minutes.
Go to the terminal where it runs, press Enter, and open the address that it prints. Runs and uploads are kept.</p>
<p><small>It says: {}</small></p></body></html>
"""


def _unique_headers(raw: Headers) -> dict[str, str]:
    """Headers by name; of one that is there twice no value counts, since others may take another one than we do."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        headers[key] = "twice" if key in headers and key != "cookie" else value.decode("latin-1")
    return headers


def _token(query: bytes) -> str | None:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=10).get("token", [None])[0]
    except ValueError:
        return None


def _add_policy(headers: Headers) -> Headers:
    """The answer's own policy stays, if it has one."""
    names = {name.lower() for name, _ in headers}
    policy = [] if b"content-security-policy" in names else [(b"content-security-policy", POLICY.encode())]
    return [*headers, *policy, *((name, value) for name, value in _ALWAYS if name not in names)]


async def _say(send: Send, status: int, problem: str, headers: dict[str, str], more: Headers | None = None) -> None:
    """In words on a page to one who looks, as an object to a script."""
    is_page = "text/html" in headers.get("accept", "")
    kind = b"text/html; charset=utf-8" if is_page else b"application/json"
    words = _PAGE.format(escape(problem)) if is_page else json.dumps({"error": problem})
    text = words.encode() if problem else b""
    await _answer(send, status, text, [(b"content-type", kind), *(more or [])])


async def _answer(send: Send, status: int, text: bytes, headers: Headers) -> None:
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": status, "headers": _add_policy([*headers, length])})
    await send({"type": "http.response.body", "body": text})
