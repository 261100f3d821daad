"""Formulas by what they mean: those that say the same of every trace, recorded or not, are one sense.

Laws come first: what simplifies to the same formula is the same. z3, where it is installed, tells of the rest on all
traces of up to so many samples with values as recorded. What is found is kept in the folder of a run, because how far
the time goes differs from day to day, and a report should not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from ..data import Dataset
from ..errors import FernnError
from ..formula import Formula, simplify, walk
from ..plain import BROKEN, mapping, read_json, rows, short_repr, whole
from ..runs.atomic import write
from .relation import related, window_samples

SHORT = 8
"""Samples of the traces that are looked at, unless windows reach farther."""
LONG = 40
"""And at most so many."""
KEPT = "senses.json"
How = Literal["z3", "laws"]


@dataclass(frozen=True)
class Senses:
    """Formulas in classes; those of one class are the same on all traces of up to `length` samples."""

    classes: tuple[tuple[Formula, ...], ...]
    length: int
    how: How
    """Who was asked; `laws` where z3 is not installed."""
    is_settled: bool
    """Whether those in different classes are known to differ."""
    up_to_rounding: bool = False
    """Whether some of one class are the same for real numbers only: their sums are rounded in verdicts."""
    reach: int = 0
    """Samples that traces must have for every window to be seen; `length` may be less."""

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        count = "one meaning" if len(self) == 1 else f"{len(self)} meanings"
        scope = f"traces of up to {self.length} samples with values as recorded"
        if self.up_to_rounding:
            scope += ", up to the rounding of sums"
        if self.reach > self.length:
            scope += f" (windows reach {self.reach}: longer traces are not covered)"
        if self.is_settled:
            return f"{count} on {scope}" if self.how == "z3" else f"{count}, by the laws of rewriting and the data"
        why = "z3, which would tell, is not installed (fernn[verify])" if self.how == "laws" else "time was up"
        return f"at most {count} on {scope}: {why}"


def senses(groups: Sequence[Sequence[Formula]], data: Dataset, length: int, time_limit: float) -> Senses:
    """Formulas of different groups are known to differ, as they do on a recorded trace."""
    deadline = perf_counter() + time_limit
    has_solver = find_spec("z3") is not None
    is_settled = True
    rough: list[Formula] = []
    classes: list[list[Formula]] = []
    for group in groups:
        known: list[list[Formula]] = []
        for alike in by_laws(group):
            home, is_sure = (None, False) if not has_solver else _home(alike[0], known, data, length, deadline, rough)
            if home is None:
                is_settled = is_settled and (is_sure or not known)
                known.append(alike)
            else:
                home += alike
        classes += known
    how: How = "z3" if has_solver else "laws"
    reach = window_samples(*(formula for group in groups for formula in group)) if any(groups) else 0
    return Senses(tuple(map(tuple, classes)), length, how, is_settled, bool(rough), reach)


def by_laws(formulas: Sequence[Formula]) -> list[list[Formula]]:
    """In classes that simplify to the same formula."""
    found: dict[Formula, list[Formula]] = {}
    for formula in formulas:
        found.setdefault(simplify(formula), []).append(formula)
    return list(found.values())


def _home(
    formula: Formula, known: list[list[Formula]], data: Dataset, length: int, deadline: float, rough: list[Formula]
) -> tuple[list[Formula] | None, bool]:
    """The class that a formula belongs to, None for none of them; and whether that is certain.

    What belongs to one up to rounding only is put into `rough`.
    """
    certain = True
    for alike in known:
        left = deadline - perf_counter()
        try:
            found = related(formula, alike[0], length, data.ranges, left) if left > 0 else None
            if found is not None and found.length and found.length < length and found.word.startswith("equivalent"):
                certain = False  # time was up: the same as far as it was looked
            elif found is not None and found.word.startswith("equivalent"):
                rough += [formula] if found.sums else []
                return alike, True
        except FernnError:
            certain = False
        certain = certain and left > 0
    return None, certain


def enough(formulas: Sequence[Formula], data: Dataset) -> int:
    """Samples of traces that show what windows say: beyond the farthest end of one, and not more than were recorded."""
    ends = [0.0]
    for node in (node for formula in formulas for node in walk(formula)):
        over = getattr(node, "over", None)
        ends += [end for span in getattr(over, "spans", ()) for end in span if end < LONG]
    return int(min(max(SHORT, max(ends) + 2), LONG, int(data.lengths.max())))


def kept(folder: Path, groups: Sequence[Sequence[Formula]], length: int) -> Senses | None:
    """What was found before of the same formulas; None where there is nothing, or of others."""
    with suppress(OSError, *BROKEN):
        found = mapping(read_json((folder / KEPT).read_bytes()))
        by_text = {str(formula): formula for group in groups for formula in group}
        classes = tuple(tuple(by_text[text] for text in row["formulas"]) for row in rows(found["classes"]))
        how: Any = found["how"]
        is_same = sorted(str(f) for row in classes for f in row) == sorted(by_text) and whole(found["length"]) == length
        if is_same and how == ("laws" if find_spec("z3") is None else "z3"):
            rough, reach = found.get("up_to_rounding") is True, whole(found.get("reach", 0))
            return Senses(classes, length, how, found["settled"] is True, rough, reach)
    return None


def keep(folder: Path, found: Senses) -> None:
    """For the next time; a folder that cannot be written is left as it is."""
    classes = [{"formulas": [str(formula) for formula in row]} for row in found.classes]
    told = {"schema": 1, "length": found.length, "how": found.how, "settled": found.is_settled, "classes": classes}
    told |= {"up_to_rounding": found.up_to_rounding, "reach": found.reach}
    with suppress(OSError):
        write(folder / KEPT, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
