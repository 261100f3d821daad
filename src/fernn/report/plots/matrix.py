"""Labels against verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...data import Dataset
from ...errors import UnsupportedError
from ...formula import Formula
from ...semantics import Score
from ...semantics.score import score
from ..wording import percent
from .key import traces
from .results import Result, rule_in
from .style import BAD, GOOD, SMALL, TEXT, figure, finished

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DENSEST = 0.55  # of a cell that has all traces of its class; black words can be read on it
BIG = 15
LONG, BROAD = 16, 26  # letters of a class in a cell, and before a row
VERDICTS = ("satisfies the rule", "violates the rule")


def confusion(
    found: Score | Formula | str | Result, on: Dataset | Sequence[str] = ("bad", "good"), title: str = ""
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
    axes.set_xticks([0, 1], [f"{word}\n{traces(n)}" for word, n in zip(VERDICTS, judged, strict=True)])
    labels = ["\n".join([*wrap(name, BROAD), traces(a + b)]) for name, a, b, _ in rows]
    axes.set_yticks([0, 1], labels, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=TEXT)
    axes.spines[:].set_visible(False)
    wrong = counts.false_good + counts.false_bad
    text = f"{wrong:,} of {traces(counts.count)} judged wrongly: {percent(counts.mcr)}"
    axes.set_xlabel(text, fontsize=TEXT, loc="left", labelpad=8)
    return finished(made, [])


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
