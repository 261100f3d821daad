"""What pictures take: a result as it is, rather than the parts of it that they draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import RunError, UnsupportedError
from ...formula import Formula, parse
from ...learners import Fit, Front
from ...runs import Outcome, Run, resume_command

Plottable = Front | Fit | Run | Outcome
"""A front, or something that has one."""
Rules = Mapping[str, Formula | str] | Formula | str | Plottable
"""Formulas by name, one formula, or a result for the rule that it picks."""
ONE = "the rule"
"""What a formula is called where no name is given."""


def front_in(found: Plottable) -> Front:
    """The front of any result."""
    if isinstance(found, Front):
        return found
    if isinstance(found, Fit | Outcome):
        return found.front
    if not isinstance(found, Run):
        raise UnsupportedError(f"expected a front, a fit, a run or an outcome, got {_kind(found)}")
    front = found.front()
    if front is None:
        raise RunError(f"{found.folder} has found no formula yet. Go on with it: {resume_command(found.folder)}")
    return front


def test_errors(found: Plottable) -> dict[int, float]:
    """By length, the errors on the traces kept for the test; none where they are not known."""
    known = found.test() if isinstance(found, Run) else found.test if isinstance(found, Outcome) else None
    return {} if known is None else {e.length: error for e, error in zip(front_in(found), known, strict=True)}


def rules_in(given: Rules) -> dict[str, Formula]:
    """Formulas by name, in the order given."""
    if isinstance(given, Mapping):
        return {name: rule_in(formula) for name, formula in given.items()}
    return {ONE: rule_in(given)}


def rule_in(given: Formula | str | Plottable) -> Formula:
    """The formula itself, read where it is text; of a result the picked one."""
    if isinstance(given, str):
        return parse(given)
    if isinstance(given, Formula):
        return given
    if isinstance(given, Front | Fit | Run | Outcome):
        return front_in(given).picked.formula
    raise UnsupportedError(f"expected a formula, or a front, a fit, a run or an outcome, got {_kind(given)}")


def _kind(given: Any) -> str:
    return f"{type(given).__name__}: {str(given)[:60]!r}"
