"""Fronts and learning curves: the error of each rule over its length, and how the error fell while learning went on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from ...errors import RunError, UnsupportedError
from ...formula import Formula, thresholds, with_thresholds
from ...learners import Front
from ...runs import Outcome, Run
from .plot_inputs import Plottable, front_in, test_errors
from .style import BAD, DASHES, GOOD, METHODS, QUIET, TEXT, figure, finish, tidy, whole_numbers, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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


def front(found: Plottable, test: Mapping[int, float] | None = None, ylabel: str = "error", title: str = "") -> Figure:
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
    return finish(made, _front_legend(found, bool(known), bool(test)))


def _front_legend(found: Front, has_validation: bool, has_test: bool) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    rows: list[tuple[Any, str]] = [(Line2D([], [], **TRAIN), "training")]
    if has_validation:
        rows.append((Line2D([], [], **VALIDATION), "validation, with one standard error"))
    if has_test:
        rows.append((Line2D([], [], **TEST), "test"))
    for i, entry in enumerate(found):
        handle = Line2D([], [], **{**RING, "markersize": 8}) if i == found.pick else Line2D([], [], linestyle="none")
        rows.append((handle, wrap_text(f"{entry.length}: {_short(entry.formula)}", LINE)))
    return rows


def _short(formula: Formula) -> Formula:
    return with_thresholds(formula, [float(f"{value:.{DIGITS}g}") for value in thresholds(formula)])


Row = Mapping[str, Any]
Point = tuple[float, float]
"""Seconds, and an error."""
CURVE_LINE = 108  # characters of the legend
TRAIN_CURVE: dict[str, Any] = {"color": QUIET, "linewidth": 1.4, "linestyle": (0, (4, 2))}
VALIDATION_CURVE: dict[str, Any] = {"color": GOOD, "linewidth": 1.8, "marker": "o", "markersize": 5}
LOG = 50.0  # how many times later than the first the last formula comes, for seconds to be on a log scale


def curves(found: Run | Outcome | Iterable[Row], seconds: float | None = None, title: str = "") -> Figure:
    """The least error so far against the seconds of learning: over all formulas, and below that for each length.

    From a run, the outcome of a job that kept one, or the rows of a history. `seconds` is how long was learned, where
    the rows alone do not say. Validation errors are drawn where they are known, which for many methods is at the end.
    """
    history, last = _history(found)
    end = max(seconds or 0.0, last, *(row["seconds"] for row in history))
    lengths = sorted({int(row["length"]) for row in history})
    made = figure(4.6 if len(lengths) > 1 else 2.8, title)
    grid = made.subplots(2 if len(lengths) > 1 else 1, 1, sharex=True, squeeze=False).ravel()
    for axes in grid:
        tidy(axes, "", "least error so far" if axes is grid[0] else "for each length")
    grid[-1].set_xlabel("seconds of learning", fontsize=TEXT)
    validated = least(history, "validation")
    _steps(grid[0], least(history, "train"), end, TRAIN_CURVE)
    _steps(grid[0], validated, end, VALIDATION_CURVE)
    if len(lengths) > 1:
        for i, length in enumerate(lengths):
            own = [row for row in history if row["length"] == length]
            _steps(grid[1], least(own, "train"), end, _look(i))
    _scales(grid, history, end)
    return finish(made, _curve_legend(history, lengths, bool(validated)))


def least(history: Iterable[Row], which: str) -> list[Point]:
    """Where the least error so far changes; rows without this error count for nothing."""
    found: list[Point] = []
    for row in sorted(history, key=lambda row: float(row["seconds"])):
        error = _number(row.get(which))
        if isfinite(error) and (not found or error < found[-1][1]):
            if found and found[-1][0] == float(row["seconds"]):
                found.pop()
            found.append((float(row["seconds"]), error))
    return found


def _history(found: Run | Outcome | Iterable[Row]) -> tuple[list[Row], float]:
    """The rows, and how long was learned as far as is known."""
    if isinstance(found, Outcome):
        if found.job.run is None:
            raise RunError("learning curves need the history of a run, and this outcome kept none. Learn with a run.")
        found = found.job.run
    if isinstance(found, Run):
        where, rows, seconds = f"{found.folder} has", list[Row](found.history()), found.seconds
    else:
        where, rows, seconds = "the history has", list(found) if isinstance(found, Iterable) else [found], 0.0
    strange = [row for row in rows if not isinstance(row, Mapping) or not {"seconds", "length", "train"} <= row.keys()]
    if strange:
        raise UnsupportedError(
            "learning curves are drawn from a run, an outcome or the rows of a history, each with seconds, length and "
            f"train; got {type(strange[0]).__name__}: {str(strange[0])[:80]}"
        )
    if not rows:
        raise RunError(f"{where} no formula yet, so there is no curve to draw. Wait for the first, or resume the run.")
    return rows, seconds


def _number(value: Any) -> float:
    """What is not known is null in a history."""
    return nan if value is None else float(value)


def _steps(axes: Axes, points: list[Point], end: float, look: dict[str, Any]) -> None:
    """A stair from the first point on to the end; markers, where there are any, stand at the points only."""
    if points:
        x, y = [at for at, _ in points], [error for _, error in points]
        axes.step([*x, end], [*y, y[-1]], where="post", markevery=range(len(x)), zorder=3, **look)


def _look(place: int) -> dict[str, Any]:
    """Not in the colour of validation, which is the first."""
    return {
        "color": METHODS[1 + place % (len(METHODS) - 1)],
        "linestyle": DASHES[place % len(DASHES)],
        "linewidth": 1.6,
    }


def _scales(grid: Any, history: list[Row], end: float) -> None:
    first = min((row["seconds"] for row in history if row["seconds"] > 0), default=end)
    if first > 0 and end / first > LOG:
        grid[-1].set_xscale("log")
        grid[-1].set_xlabel("seconds of learning (log scale)")
        grid[-1].xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        grid[-1].set_xlim(first / 1.3, end * 1.1)
    else:
        grid[-1].set_xlim(-0.02 * end, 1.02 * end or 1.0)
    for axes in grid:
        high = axes.get_ylim()[1]
        axes.set_ylim(-0.05 * high, high)


def _curve_legend(history: list[Row], lengths: list[int], validated: bool) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    rows: list[tuple[Any, str]] = [(Line2D([], [], **TRAIN_CURVE), "training, all lengths")]
    if validated:
        rows.append((Line2D([], [], **VALIDATION_CURVE), "validation, all lengths"))
    if len(lengths) > 1:
        for i, length in enumerate(lengths):
            own = [row for row in history if row["length"] == length]
            best = min(own, key=lambda row: (_number(row["train"]), -float(row["seconds"])))
            text = f"length {length}, training: {best.get('formula', '')}"
            rows.append((Line2D([], [], **_look(i)), wrap_text(text.rstrip(": "), CURVE_LINE)))
    return rows
