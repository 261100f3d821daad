"""Accuracy against simplicity: the error of each rule of a front over its length."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedError
from ...formula import Formula, thresholds, with_thresholds
from ...learners import Front
from ..wording import wrapped
from .results import Result, front_in, test_errors
from .style import BAD, GOOD, QUIET, figure, finished, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE = 108  # characters of the list of rules
DIGITS = 4  # of thresholds in it
ASIDE = 0.12  # of a length: where test errors stand, so as not to cover the others
TRAIN: dict[str, Any] = {"color": QUIET, "marker": "o", "markersize": 4, "linewidth": 1.2, "linestyle": (0, (4, 2))}
VALIDATION: dict[str, Any] = {"color": GOOD, "marker": "o", "markersize": 6, "linewidth": 1.6}
TEST: dict[str, Any] = {"color": BAD, "marker": "s", "markersize": 6, "linestyle": "none"}
RING: dict[str, Any] = {
    "color": "black", "marker": "o", "markersize": 14, "markerfacecolor": "none", "markeredgewidth": 1.3,
    "linestyle": "none",
}  # fmt: skip


def front(found: Result, test: Mapping[int, float] | None = None, ylabel: str = "error", title: str = "") -> Figure:
    """Training and validation errors by length, the latter with one standard error; the picked rule is ringed.

    Of a front, or a fit, a run or an outcome that has one. `test` has errors on other data, by length; a run and an
    outcome bring their own. The rules are listed below, with thresholds to four digits.
    """
    test = test_errors(found) if test is None else test
    found = front_in(found)
    if not len(found):
        raise UnsupportedError("a picture of a front needs at least one rule, got a front without any")
    lengths = [entry.length for entry in found]
    strange = sorted(set(test or ()) - set(lengths))
    if strange:
        have = ", ".join(map(str, lengths))
        raise UnsupportedError(f"a test error of length {strange[0]}, but the front has the lengths {have}")
    made = figure(3.0, title)
    axes = made.subplots()
    tidy(axes, "length", ylabel)
    known = [entry for entry in found if not isnan(entry.validation)]
    axes.plot(lengths, [entry.train for entry in found], zorder=2, **TRAIN)
    axes.plot([e.length for e in known], [e.validation for e in known], zorder=3, **VALIDATION)
    for entry in known:
        ends = [entry.validation - entry.spread, entry.validation + entry.spread]
        axes.plot([entry.length] * 2, ends, color=GOOD, linewidth=1.4, zorder=3)
    if test:
        axes.plot([n + ASIDE for n in test], list(test.values()), zorder=4, **TEST)
    pick = found.picked
    axes.plot(pick.length, pick.train if isnan(pick.validation) else pick.validation, zorder=5, **RING)
    whole_numbers(axes)
    axes.set_xlim(min(lengths) - 0.5, max(lengths) + 0.5)
    high = axes.get_ylim()[1]
    axes.set_ylim(-0.05 * high, high)
    return finished(made, _legend(found, bool(known), bool(test)))


def _legend(found: Front, has_validation: bool, has_test: bool) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    rows: list[tuple[Any, str]] = [(Line2D([], [], **TRAIN), "training")]
    if has_validation:
        rows.append((Line2D([], [], **VALIDATION), "validation, with one standard error"))
    if has_test:
        rows.append((Line2D([], [], **TEST), "test"))
    for i, entry in enumerate(found):
        handle = Line2D([], [], **{**RING, "markersize": 8}) if i == found.pick else Line2D([], [], linestyle="none")
        rows.append((handle, wrapped(f"{entry.length}: {_short(entry.formula)}", LINE)))
    return rows


def _short(formula: Formula) -> Formula:
    return with_thresholds(formula, [float(f"{value:.{DIGITS}g}") for value in thresholds(formula)])
