"""Every reading of a formula takes the deepest and the widest that are legal, or says in words that it does not."""

from __future__ import annotations

import numpy as np
import pytest

import fernn
from fernn.errors import FernnError
from fernn.formula import Always, And, Atom, Eventually, Formula, Not, Or, Release, Until, WeakUntil, interval, parse
from fernn.formula import export as exports
from fernn.formula.nodes import Interval

SPANS = 3000
X = Atom((("x", 1.0),), ">=", 0.0)


def y(value: float) -> Atom:
    return Atom((("y", 1.0),), "<=", float(value))


def many_spans(kind: type[Formula]) -> Formula:
    over = Interval(tuple((3 * i, 3 * i + 1) for i in range(SPANS)))
    return kind(y(0), X, over) if kind in (Until, WeakUntil, Release) else kind(X, over)  # type: ignore[call-arg]


def nested(depth: int, which: str) -> Formula:
    """So many operators inside each other."""
    found: Formula = X
    for i in range(depth):
        match which:
            case "windows":
                found = (Always, Eventually)[i % 2](found, interval(1, 4))
            case "left":
                found = (And, Or)[i % 2](found, y(i))
            case "right":
                found = (And, Or)[i % 2](y(i), found)
            case "mixed":
                found = Not(Until(found, y(i))) if i % 3 == 0 else And(found, y(i))
    return found


FORMULAS = {
    "F": many_spans(Eventually),
    "G": many_spans(Always),
    "O": parse("O" + "u".join(f"[{3 * i},{3 * i + 1}]" for i in range(SPANS)) + " (x >= 0)"),
    "U": many_spans(Until),
    "W": many_spans(WeakUntil),
    "R": many_spans(Release),
    **{which: nested(290 if which != "mixed" else 210, which) for which in ("windows", "left", "right", "mixed")},
}
READINGS = {
    **{name: getattr(exports, name) for name in exports.__all__ if name.startswith("to_")},
    "str": str,
    "simplify": fernn.simplify,
    "mirror": fernn.mirror,
    "length": fernn.length,
    "sentence": fernn.formula.to_sentence,
    "horizon": fernn.formula.horizon,
    "robustness": lambda formula: fernn.robustness(formula, np.zeros((2, 2, 12)), ["x", "y"]),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FORMULAS)
def test_no_reading_breaks_on_deep_or_wide_formulas(name, reading):
    try:
        found = READINGS[reading](FORMULAS[name])
    except FernnError as error:
        assert len(str(error)) < 500  # noqa: PT017
        return
    assert found is not None


@pytest.mark.parametrize("name", ["F", "G", "O", "U"])
def test_spans_written_out_mean_what_they_meant(name):
    from fernn.formula.export.target import split_late_windows

    trace = np.random.default_rng(0).normal(0, 1, (5, 2, 40))
    small = {"F": "F[0,1]u[3,4]u[8,9]u[20,30] (x >= 1)", "G": "G[0,1]u[3,4]u[8,9] (x >= -1)",
             "O": "O[0,1]u[3,4]u[8,9] (x >= 1)", "U": "(y <= 1) U[0,1]u[3,4]u[8,9] (x >= 1)"}[name]  # fmt: skip
    written = split_late_windows(parse(small))
    assert np.array_equal(fernn.robustness(written, trace, ["x", "y"]), fernn.robustness(small, trace, ["x", "y"]))
