"""Which activities of the HAPT recordings are good and which are bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Ints
from ..problems import did_you_mean, listed
from .plain import lines_in, place

DYNAMIC = ("WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS")
STATIC = ("SITTING", "STANDING", "LAYING")
CLASSES = ("bad", "good")
OTHER = -1  # an activity of neither class


def plain(name: str) -> str:
    """A name without blanks, brackets, capitals, and with one kind of dash."""
    return "".join(c for c in name.casefold().replace("_", "-") if not c.isspace() and c not in "()\"'")


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True)
class Activities:
    """The activities of `activity_labels.txt` by number, and the class of each: 1 (good), 0 (bad) or OTHER."""

    names: dict[int, str]
    classes: dict[int, int]

    def classes_of(self, numbers: Ints, file: Path) -> Ints:
        """The class of each activity number in a file."""
        strange = np.flatnonzero(~np.isin(numbers, list(self.names)))
        if strange.size:
            raise DataError(
                f"{place(file, strange[0])}: activity {numbers[strange[0]]} is not in activity_labels.txt, "
                f"which has {min(self.names)} to {max(self.names)}. Unpack the archive again."
            )
        return np.array([self.classes[i] for i in numbers.tolist()], dtype=np.int64)


def activities_in(folder: Path, good: str | Sequence[str], bad: str | Sequence[str]) -> Activities:
    """The activities of a folder, with those that are asked for in each class."""
    names = _names(folder / "activity_labels.txt")
    chosen = [{_number(name, names) for name in as_names(asked)} for asked in (bad, good)]
    for kind, numbers in zip(CLASSES, chosen, strict=True):
        if not numbers:
            raise DataError(f"{kind} needs at least one activity, got none; there are {listed(names.values(), 12)}.")
    if both := sorted(chosen[0] & chosen[1]):
        raise DataError(f"activity {names[both[0]]!r} cannot be both good and bad. Name it once.")
    return Activities(names, {i: 1 if i in chosen[1] else 0 if i in chosen[0] else OTHER for i in names})


def _number(name: str, names: dict[int, str]) -> int:
    for number, known in names.items():
        if plain(known) == plain(name):
            return number
    hint = did_you_mean(name.upper(), names.values())
    raise DataError(f"no activity {name!r}{hint}; there are {listed(names.values(), 12)}.")


def _names(file: Path) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in lines_in(file):
        number, _, name = line.partition(" ")
        if not number.isdecimal() or not name.strip():
            raise DataError(
                f"{file.name}: expected a number and a name, found {line[:40]!r}. Unpack the archive again."
            )
        names[int(number)] = name.strip()
    return names
