"""The lines above @data in a series file. Their words are read without regard to capitals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .problems import Ledger


@dataclass(frozen=True)
class Head:
    """What a header says: `width` channels, `length` values in each; None where it does not say.

    `classes` are those of @classLabel, and `target` is true where labels are real numbers.
    """

    width: int | None
    length: int | None
    classes: tuple[str, ...]
    labelled: bool
    target: bool

    @property
    def kind(self) -> str:
        """What the labels are, in words."""
        return "real-valued labels" if self.target else "classes" if self.labelled else "no labels"


def read_head(lines: Iterator[tuple[int, str]], ledger: Ledger) -> Head | None:
    """The header, leaving `lines` (numbers and texts without blanks or comments) at the first case."""
    said: dict[str, tuple[int, list[str]]] = {}
    for line, text in lines:
        word, *values = text.split()
        key = word.casefold()
        if not key.startswith("@"):
            what = f"{text[:40]!r} stands above @data, where lines begin with @"
            ledger.add("no-data", "error", what, "Write @data above the cases, as aeon and sktime do.", line=line)
            return None
        if key == "@data":
            return _head(said, ledger)
        said[key] = (line, values)
    what = "there is no line @data, so there are no cases"
    ledger.add("no-data", "error", what, "Check that it is a series file, and whole.")
    return None


def _head(said: dict[str, tuple[int, list[str]]], ledger: Ledger) -> Head | None:
    if _yes(said, "@timestamps"):
        what = "@timestamps is true: every value has a time of its own"
        ledger.add("timestamps", "error", what, "fernn reads evenly sampled files.", line=said["@timestamps"][0])
    classed, target = _yes(said, "@classlabel"), _yes(said, "@targetlabel")
    classes = tuple(said["@classlabel"][1][1:]) if classed else ()
    if classed and not classes:
        what = "@classLabel is true, but names no class"
        ledger.add("header", "error", what, "Name them, as in @classLabel true 1 2.", line=said["@classlabel"][0])
    width = _count(said, "@dimensions", ledger) or _count(said, "@dimension", ledger)
    if width is None and _yes(said, "@univariate"):
        width = 1
    length = _count(said, "@serieslength", ledger) if _yes(said, "@equallength") else None
    return None if ledger.failed else Head(width, length, classes, classed or target, target)


def _yes(said: dict[str, tuple[int, list[str]]], key: str) -> bool:
    return said.get(key, (0, []))[1][:1] in (["true"], ["True"], ["TRUE"])


def _count(said: dict[str, tuple[int, list[str]]], key: str, ledger: Ledger) -> int | None:
    if key not in said:
        return None
    line, values = said[key]
    if len(values) == 1 and values[0].isdecimal() and 0 < float(values[0]) < 1e15:
        return int(values[0])
    what = f"{key} needs a whole number above 0, found {' '.join(values)[:40]!r}"
    ledger.add("header", "error", what, "Fix the line, or leave it out.", line=line)
    return None
