"""A formula as JSON, and back: nested objects, one a node, under a schema version."""

from __future__ import annotations

import json
from math import inf
from typing import Any, assert_never

from ...errors import MALFORMED_DATA, FormulaError, convert_errors, shorten
from ..expressions import Call, Lag, Sum, Weights
from ..grammar import INFIX, OPERATORS, PREFIX, TIMED
from ..json_fields import as_number, as_object, read_json
from ..json_fields import as_text as word
from ..nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
)
from ..parser import TALLEST, is_depth_within
from ..templates import require_closed
from .target import check_dt

SCHEMA = 1
_WORD = PREFIX | {node: word for node, (word, _) in INFIX.items()}


def to_json(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """`{"schema": 1, "text": ..., "windows": "samples", "dt": ..., "unit": ..., "formula": {...}}`.

    The formula is what is read; the text, and the time `dt` between samples in `unit`, are for people.
    """
    if dt is not None:
        check_dt(dt)
    head = {"schema": SCHEMA, "text": str(formula), "windows": "samples", "dt": dt, "unit": unit}
    return json.dumps({**head, "formula": to_data(require_closed(formula))})


def from_json(text: str) -> Formula:
    """The formula that `to_json` wrote."""
    try:
        found = read_json(text)
    except (TypeError, ValueError) as error:
        raise FormulaError(f"not JSON: {shorten(str(error))}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        version = found.get("schema") if isinstance(found, dict) else None
        raise FormulaError(f"expected a formula of schema {SCHEMA}, found schema {version}")
    with convert_errors(FormulaError, "not a formula in JSON"):  # too deep to be taken apart
        made = from_data(found.get("formula"))
    if not is_depth_within(made, TALLEST):
        raise FormulaError(f"more than {TALLEST} operators inside each other; split the formula into several")
    return made


def to_data(formula: Formula) -> dict[str, Any]:
    match formula:
        case Constant(value):
            return {"op": "true" if value else "false"}
        case Atom(weights, relation, threshold):
            return {"op": relation, "weights": _weights_data(weights), "threshold": threshold}
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always():
            return _operator_data(formula)
        case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
            return _operator_data(formula)
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _weights_data(weights: Weights) -> list[list[Any]]:
    return [[term if isinstance(term, str) else _call_data(term), weight] for term, weight in weights]


def _call_data(call: Call) -> dict[str, Any]:
    """`{"function": "mean", "of": [{"weights": [["x", 1]], "constant": 0}], "lag": [2, "s"]}`; `is` has "values"."""
    inside = [
        {"weights": _weights_data(part.weights), "constant": part.constant} if isinstance(part, Sum) else to_data(part)
        for part in call.arguments
    ]
    lag = {} if call.lag is None else {"lag": [call.lag.amount, call.lag.unit]}
    values = {"values": list(call.values)} if call.values else {}
    return {"function": call.function, "of": inside, **lag, **values}


def _read_weights(data: Any) -> Weights:
    return tuple((_read_call(term) if isinstance(term, dict) else word(term), as_number(w)) for term, w in data)


def _read_call(data: dict[str, Any]) -> Call:
    inside = [
        Sum(_read_weights(part["weights"]), as_number(part["constant"])) if "constant" in as_object(part)
        else from_data(part)
        for part in data["of"]
    ]  # fmt: skip
    lag = data.get("lag")
    made = None if lag is None else Lag(as_number(lag[0]), None if lag[1] is None else word(lag[1]))
    values = (word(value) if isinstance(value, str) else as_number(value) for value in data.get("values", ()))
    return Call(word(data["function"]), tuple(inside), made, tuple(values))


def _operator_data(formula: Formula) -> dict[str, Any]:
    data: dict[str, Any] = {
        "op": _WORD[type(formula)],
        "args": [to_data(child) for child in children(formula)],
    }
    if isinstance(formula, TIMED):
        data["over"] = [[a, None if b == inf else b] for a, b in formula.over]
    return data


def from_data(data: Any) -> Formula:
    try:
        op = word(as_object(data)["op"])
        if op in ("true", "false"):
            return Constant(op == "true")
        if "weights" in data:
            return Atom(_read_weights(data["weights"]), op, as_number(data["threshold"]))  # type: ignore[arg-type]
        build: Any = OPERATORS[op]
        args: list[Any] = [from_data(arg) for arg in data["args"]]
        if len(args) != (2 if build in INFIX else 1):
            raise ValueError(f"{len(args)} formulas inside {op}")
        if build in TIMED:
            args.append(Interval(tuple((int(a), inf if b is None else int(b)) for a, b in data["over"])))
        made: Formula = build(*args)
        return made
    except (FormulaError, RecursionError):
        raise
    except MALFORMED_DATA as error:
        raise FormulaError(f"not a formula in JSON: {data!r:.80} ({error!r:.200})") from None
