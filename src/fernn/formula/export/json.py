"""A formula as JSON, and back: nested objects, one a node, under a schema version."""

from __future__ import annotations

import json
from math import inf
from typing import Any

from ...errors import FormulaError
from ..holes import without_holes
from ..interval import Interval
from ..nodes import Atom, Constant, Formula, children
from ..words import INFIX, OPERATORS, PREFIX, TIMED

SCHEMA = 1
_WORD = PREFIX | {node: word for node, (word, _) in INFIX.items()}


def to_json(formula: Formula) -> str:
    """`{"schema": 1, "text": ..., "formula": {...}}`; the text is for people, the formula is what is read."""
    return json.dumps({"schema": SCHEMA, "text": str(formula), "formula": to_data(without_holes(formula))})


def from_json(text: str) -> Formula:
    """The formula that `to_json` wrote."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise FormulaError(f"not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        version = found.get("schema") if isinstance(found, dict) else None
        raise FormulaError(f"expected a formula of schema {SCHEMA}, found schema {version}")
    return from_data(found.get("formula"))


def to_data(formula: Formula) -> dict[str, Any]:
    match formula:
        case Constant(value):
            return {"op": "true" if value else "false"}
        case Atom(weights, relation, threshold):
            return {"op": relation, "weights": [[n, w] for n, w in weights], "threshold": threshold}
    data: dict[str, Any] = {
        "op": _WORD[type(formula)],
        "args": [to_data(child) for child in children(formula)],
    }
    if isinstance(formula, TIMED):
        data["over"] = [[a, None if b == inf else b] for a, b in formula.over]
    return data


def from_data(data: Any) -> Formula:
    try:
        op = data["op"]
        if op in ("true", "false"):
            return Constant(op == "true")
        if "weights" in data:
            return Atom(tuple((str(n), float(w)) for n, w in data["weights"]), op, float(data["threshold"]))
        build: Any = OPERATORS[op]
        args: list[Any] = [from_data(arg) for arg in data["args"]]
        if build in TIMED:
            args.append(Interval(tuple((int(a), inf if b is None else int(b)) for a, b in data["over"])))
        made: Formula = build(*args)
        return made
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"not a formula in JSON: {data!r:.80} ({error!r})") from None
