"""Which entry of a front is picked."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from ..front import Front, picked

RULES: dict[str, Callable[[Front], int]] = {
    # the shortest within one standard error of the best validation error
    "one_se": lambda front: picked(front.entries),
    # the lowest validation error, the shortest among equals
    "accurate": lambda front: min(range(len(front)), key=lambda i: _error(front, i)),
    # the shortest
    "simplest": lambda front: 0,
}


def _error(front: Front, index: int) -> float:
    """On validation, or where that is not known in training."""
    entry = front[index]
    return entry.train if isnan(entry.validation) else entry.validation


def chosen(front: Front, rule: str) -> Front:
    """The front with the entry picked that the rule names."""
    return Front(front.entries, RULES[rule](front))


def check_rule(rule: str) -> None:
    """Refuse a name that is not in the table."""
    if rule not in RULES:
        raise ValueError(f"model_selection is one of {', '.join(map(repr, RULES))}; found {rule!r}.")
