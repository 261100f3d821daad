"""Which traces are drawn, in which colours, and which of them are lifted out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...learners.labels import is_real
from ..thinning import spread_out
from .style import BAD, DARK, GOOD, METHODS, PLAIN, by_value

FARTHEST = 5  # traces with real labels that are lifted out
NONE: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Group:
    """Traces of one colour: all of them, the few that are drawn thin, and the few that are lifted out."""

    name: str
    colour: str
    dark: str
    cases: Ints
    thin: Ints
    lifted: Ints
    why: str = ""
    """What the lifted ones are, for a legend that has the name of the rule for `{}`: `anomaly, but satisfies {}`."""
    count: int = 0
    """How many of that kind there are."""
    colours: tuple[str, ...] = ()
    """One for each thin trace, where they differ."""

    def colour_of(self, place: int) -> str:
        """Of the thin trace at this place."""
        return self.colours[place] if self.colours else self.colour


def groups(data: Dataset, holds: npt.NDArray[np.bool_] | None, off: Floats | None, most: int) -> list[Group]:
    """Of two classes (bad, good) the misjudged are lifted out; of traces without labels those that violate the rule;
    of traces with real labels the few that the rule is farthest `off`.

    `holds` and `off` are `[case]` of the first rule, if there is one. At most `most` traces are drawn thin, and a
    quarter as many are lifted out.
    """
    if len(data.classes) == 2:
        bad, good = data.classes
        missed = (NONE, NONE) if holds is None else (_at(~data.positive & holds), _at(data.positive & ~holds))
        made = [
            _group(bad, BAD, _at(~data.positive), missed[0], f"{_plain(bad)}, but satisfies {{}}", most // 2),
            _group(good, GOOD, _at(data.positive), missed[1], f"{_plain(good)}, but violates {{}}", most // 2),
        ]
    elif data.classes:
        each = max(1, most // len(data.classes))
        of = [_at(np.asarray(data.labels) == i) for i in range(len(data.classes))]
        made = [_group(name, METHODS[i % len(METHODS)], of[i], NONE, "", each) for i, name in enumerate(data.classes)]
    elif is_real(data):
        far = NONE if off is None else np.argsort(-off, kind="stable")[:FARTHEST]
        made = [_by_label(data, far if off is None else np.sort(far[off[far] > 0]), most)]
    else:
        violating = NONE if holds is None else _at(~holds)
        made = [_group("all", PLAIN, np.arange(len(data)), violating, "violates {}", most)]
    return [group for group in made if len(group.cases)]


def _group(name: str, colour: str, cases: Ints, lifted: Ints, why: str, most: int) -> Group:
    few = spread_out(lifted, -(-most // 4))
    return Group(name, colour, DARK.get(colour, colour), cases, spread_out(cases, most), few, why, len(lifted))


def _by_label(data: Dataset, far: Ints, most: int) -> Group:
    assert data.labels is not None
    cases = np.arange(len(data))
    thin = spread_out(cases[np.argsort(data.labels, kind="stable")], most)
    colours = by_value(data.labels[thin].tolist(), float(data.labels.min()), float(data.labels.max()))
    why = "where the robustness of {} is farthest from the label"
    return Group("all", PLAIN, DARK[PLAIN], cases, thin, far, why, len(far), colours)


def _plain(name: str) -> str:
    """A name in a text to be filled in."""
    return name.replace("{", "{{").replace("}", "}}")


def _at(mask: npt.NDArray[np.bool_]) -> Ints:
    return np.flatnonzero(mask)
