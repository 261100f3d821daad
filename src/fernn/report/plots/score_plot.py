"""Confusion matrices, and the scores of several methods beside each other with their spread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, log10
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...data import Dataset
from ...data.atomic_write import remove_link
from ...errors import UnsupportedError
from ...formula import Formula
from ...semantics import Score
from ...semantics.running_metrics import score
from .plot_inputs import Plottable, rule_in
from .style import BAD, GOOD, MARKERS, METHODS, QUIET, SMALL, TEXT, figure, finish, percent, save, tidy
from .trace_plot import count_traces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...evaluation.comparison import Comparison


DENSEST = 0.55  # of a cell that has all traces of its class; black words can be read on it
BIG = 15
LONG, BROAD = 16, 26  # letters of a class in a cell, and before a row
VERDICTS = ("satisfies the rule", "violates the rule")


def confusion(
    found: Score | Formula | str | Plottable, on: Dataset | Sequence[str] = ("bad", "good"), title: str = ""
) -> Figure:
    """How many traces of each class satisfy the rule and violate it: right verdicts blue, wrong ones vermilion.

    `found` is a score, and `on` the names of the classes, (bad, good); or a formula or a result, and `on` the data that
    it is judged on. Colours are as dense as the share of the class that a cell has.
    """
    if isinstance(found, Score):
        counts, classes = found, tuple(on.classes if isinstance(on, Dataset) else on)
    elif isinstance(on, Dataset):
        counts, classes = score(rule_in(found), on), on.classes
    else:
        raise UnsupportedError("a formula or a result needs the data that it is judged on: confusion(formula, data)")
    if len(classes) != 2 or isinstance(on, str):
        raise UnsupportedError(f"confusion has two classes, (bad, good); got {on!r}")
    if not counts.count:
        raise UnsupportedError("confusion needs at least one trace, got a score of none")
    bad, good = classes
    made = figure(2.9, title)
    axes = made.subplots()
    rows = ((good, counts.true_good, counts.false_bad, True), (bad, counts.false_good, counts.true_bad, False))
    for y, (name, holds, fails, is_good) in enumerate(rows):
        total = holds + fails
        _cell(axes, 0, y, holds, total, name, GOOD if is_good else BAD, is_good)
        _cell(axes, 1, y, fails, total, name, BAD if is_good else GOOD, not is_good)
    axes.set_xlim(-0.5, 1.5)
    axes.set_ylim(1.5, -0.5)
    judged = [(counts.true_good + counts.false_good), (counts.true_bad + counts.false_bad)]
    axes.set_xticks([0, 1], [f"{word}\n{count_traces(n)}" for word, n in zip(VERDICTS, judged, strict=True)])
    labels = ["\n".join([*wrap(name, BROAD), count_traces(a + b)]) for name, a, b, _ in rows]
    axes.set_yticks([0, 1], labels, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=TEXT)
    axes.spines[:].set_visible(False)
    wrong = counts.false_good + counts.false_bad
    text = f"{wrong:,} of {count_traces(counts.count)} judged wrongly: {percent(counts.mcr)}"
    axes.set_xlabel(text, fontsize=TEXT, loc="left", labelpad=8)
    return finish(made, [])


def _cell(axes: Axes, x: int, y: int, count: int, total: int, name: str, colour: str, is_right: bool) -> None:
    from matplotlib.patches import Rectangle

    share = count / total if total else 0.0
    axes.add_patch(Rectangle((x - 0.49, y - 0.48), 0.98, 0.96, facecolor=colour, alpha=DENSEST * share, linewidth=0))
    axes.add_patch(Rectangle((x - 0.49, y - 0.48), 0.98, 0.96, facecolor="none", edgecolor="#BBBBBB", linewidth=0.8))
    centred: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}
    axes.text(x, y - 0.06, f"{count:,}", fontsize=BIG, **centred)
    whom = f" of {name}" if len(name) <= LONG else ""
    said = f"{'right' if is_right else 'wrong'}: {percent(share)}{whom}" if total else "no traces"
    axes.text(x, y + 0.24, said, fontsize=SMALL, **centred)


Cells = Mapping[str, Mapping[str, tuple[float, float]]]
Marks = Mapping[str, Mapping[str, float]]

TOGETHER = 0.72  # of the room of a position, what its dots take
UNDER = 2.5  # how many times below the least value zeros stand on a log scale
LETTERS = 88  # of the legend in a line


def bars(
    cells: Cells, ylabel: str, marks: Marks | None = None, log: bool = False, title: str = "", xlabel: str = ""
) -> Figure:
    """`cells[method][position]` is a mean and its spread; `marks[method][position]` a value reported elsewhere.

    Positions are sorted where all are numbers, and else stand as first met; `xlabel` under them says what they are.
    A value that is missing, NaN or infinite leaves a gap, such a spread no line. On a log scale zeros stand on a line
    of their own, named 0.
    """
    dots = {name: {at: cell for at, cell in row.items() if isfinite(cell[0])} for name, row in cells.items()}
    reported = {name: {at: v for at, v in row.items() if isfinite(v)} for name, row in (marks or {}).items()}
    values = [cell[0] for row in dots.values() for cell in row.values()]
    values += [value for row in reported.values() for value in row.values()]
    if log and any(value < 0 for value in values):
        raise UnsupportedError(f"a log scale has no place for {min(values):g}. Pass log=False.")
    zero = min((value for value in values if value > 0), default=UNDER) / UNDER if log else 0.0
    methods = list(dict.fromkeys([*dots, *reported]))
    positions = _sort_positions(at for row in [*cells.values(), *(marks or {}).values()] for at in row)
    made = figure(3.2, title)
    axes = made.subplots()
    tidy(axes, xlabel, ylabel)
    step = TOGETHER / max(len(methods), 1)
    for i, name in enumerate(methods):
        places = {at: k + (i + 0.5) * step - TOGETHER / 2 for k, at in enumerate(positions)}
        look = _look(i)
        for at, (mean, spread) in dots.get(name, {}).items():
            _dot(axes, places[at], mean, spread, zero, look)
        for at, value in reported.get(name, {}).items():
            axes.plot(places[at], _above_zero(value, zero), color=look["color"], zorder=3, **HOLLOW)
    _across(axes, positions)
    if log:
        _log(axes, [*values, *(m + s for row in dots.values() for m, s in row.values() if isfinite(s))], zero)
    else:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -0.04 * high) if min(values, default=0) >= 0 else low, high)
    widest = max(map(len, [*methods, "as reported"])) + 6
    return finish(made, _methods_legend(methods, bool(reported)), max(1, min(len(methods) + 1, LETTERS // widest)))


HOLLOW: dict[str, Any] = {
    "marker": "D", "markersize": 7.5, "markerfacecolor": "none", "markeredgewidth": 1.2, "linestyle": "none",
}  # fmt: skip


def _look(place: int) -> dict[str, Any]:
    return {"color": METHODS[place % len(METHODS)], "marker": MARKERS[place % len(MARKERS)]}


def _above_zero(value: float, zero: float) -> float:
    """Where a value stands: on a log scale, which has a line for zeros, no lower than that line."""
    return max(value, zero) if zero else value


def _dot(axes: Axes, x: float, mean: float, spread: float, zero: float, look: dict[str, Any]) -> None:
    """A spread that reaches below what a log scale shows ends at its line for zeros."""
    y = _above_zero(mean, zero)
    axes.plot(x, y, linestyle="none", markersize=5, zorder=4, clip_on=False, **look)
    if spread > 0 and isfinite(spread):
        axes.plot(
            [x, x],
            [_above_zero(mean - spread, zero), max(mean + spread, y)],
            color=look["color"],
            linewidth=1.3,
            zorder=3,
        )


def _across(axes: Axes, positions: list[str]) -> None:
    """Names under the positions, pale lines between them."""
    for k in range(1, len(positions)):
        axes.axvline(k - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(positions)), positions, parse_math=False)
    if sum(map(len, positions)) > LETTERS:
        axes.tick_params(axis="x", rotation=30)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, max(len(positions), 1) - 0.5)


def _log(axes: Axes, values: list[float], zero: float) -> None:
    high = max([*values, 2 * zero])
    has_zero = any(value <= 0 for value in values)
    low = zero * UNDER
    axes.set_yscale("log")
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1, 2, 5) if log10(high / low) < 2 else (1,)
    ticks = [m * 10.0**k for k in decades for m in steps if low / 1.05 <= m * 10.0**k <= high * 1.3]
    names = [f"{tick:g}" for tick in ticks]
    if has_zero:
        ticks, names = [zero, *ticks], ["0", *names]
        axes.axhline(zero * UNDER**0.5, color=QUIET, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
    axes.set_yticks(ticks, names)
    axes.set_yticks([], minor=True)
    axes.set_ylim((zero if has_zero else low) / 1.35, high * 1.35)


def _sort_positions(positions: Iterable[str]) -> list[str]:
    met = list(dict.fromkeys(positions))
    try:
        return sorted(met, key=float)
    except ValueError:
        return met


def _methods_legend(methods: list[str], has_marks: bool) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    rows = [(Line2D([], [], linestyle="none", markersize=5, **_look(i)), name) for i, name in enumerate(methods)]
    return [*rows, (Line2D([], [], color=QUIET, **HOLLOW), "as reported")] if has_marks else rows


def draw_comparison(found: Comparison) -> list[str]:
    """Errors and seconds of the methods of a comparison, in files beside its page; what could not be drawn, and why."""
    errors, times = found.spreads()
    folder = found.page.parent / "figures"
    try:
        for name, values, what in (("errors", errors, "test error"), ("seconds", times, "seconds")):
            if values:
                for path in (folder, folder / f"{name}.png"):
                    remove_link(path)  # others may have made the folder
                save(bars(values, what, log=name == "seconds", xlabel="length"), folder / f"{name}.png")
    except UnsupportedError as missing:
        return [f"no figures: {missing}"]
    return []
