"""The HAPT recordings as UCI publishes them: features of windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Dataset, Floats, Ints
from ..problems import did_you_mean
from .activities import CLASSES, DYNAMIC, OTHER, STATIC, Activities, activities_in, as_names, plain
from .asked import whole
from .plain import lines_in, numbers_in, whole_numbers_in

STEP = 1.28  # seconds from window to window: they are 2.56 s long and overlap by half


def uci_hapt(
    folder: str | PathLike[str],
    features: str | int | Sequence[str | int] = "tBodyAcc-STD-1",
    *,
    samples: int = 10,
    good: str | Sequence[str] = DYNAMIC,
    bad: str | Sequence[str] = STATIC,
    parts: str | Sequence[str] = ("Train", "Test"),
) -> Dataset:
    """Runs of `samples` windows of one activity and subject: moving (`good`) or still (`bad`).

    `folder` is the unpacked UCI archive "Smartphone-Based Recognition of Human Activities and Postural Transitions":
    30 people with a phone at the waist, 561 features of each window of 2.56 s, scaled to [-1, 1]. A sample is a
    window, and one follows another after 1.28 s. `features` are names or column numbers from 1; one is the channel
    `x`, several keep their names. `good` and `bad` are activities; all others, such as the postural transitions, are
    left out. Cases are called after the part and the number of their first window, groups are the subjects.

    Know before use: runs do not overlap, but windows do by half, so successive samples share data. Between two
    windows there can be a gap where nothing was labelled. Values were scaled before publication and have no unit. Some
    names of features stand for several columns: ask for these by number.
    """
    root = Path(folder)
    samples = whole("uci_hapt", "samples", samples)
    known = lines_in(root / "features.txt")
    columns = _columns(features, known)
    activities = activities_in(root, good, bad)
    traces: list[Floats] = []
    labels: list[int] = []
    cases: list[str] = []
    groups: list[str] = []
    for part in as_names(parts):
        values, classes, subjects, activity = _part(root, part, len(known), activities)
        for first in _runs(activity, subjects, samples):
            if classes[first] != OTHER:
                traces.append(values[first : first + samples, columns].T)
                labels.append(int(classes[first]))
                cases.append(f"{part.lower()}-{first + 1}")
                groups.append(f"subject-{subjects[first]}")
    if not traces:
        raise DataError(
            f"no activity of these lasts {samples} windows in {', '.join(as_names(parts))}. Ask for fewer samples."
        )
    return Dataset(
        np.stack(traces),
        np.array(labels),
        CLASSES,
        ("x",) if len(columns) == 1 else tuple(_called(column, known) for column in columns),
        dt=STEP,
        time_unit="s",
        cases=tuple(cases),
        groups=tuple(groups),
        name="uci_hapt",
    )


def _part(root: Path, part: str, width: int, activities: Activities) -> tuple[Floats, Ints, Ints, Ints]:
    """Features `[window, feature]`, and the class, subject and activity of each window."""
    if part.casefold() not in ("train", "test"):
        raise DataError(f"parts are 'Train' and 'Test', got {part!r}.")
    folder, end = root / part.capitalize(), part.lower()
    values = numbers_in(folder / f"X_{end}.txt", width)
    activity = whole_numbers_in(folder / f"y_{end}.txt", 1)[:, 0]
    subjects = whole_numbers_in(folder / f"subject_id_{end}.txt", 1)[:, 0]
    if not len(values) == len(activity) == len(subjects):
        raise DataError(
            f"{folder.name} has {len(values)} windows in X_{end}.txt, {len(activity)} in y_{end}.txt "
            f"and {len(subjects)} in subject_id_{end}.txt; they must be as many. Unpack the archive again."
        )
    return values, activities.classes_of(activity, folder / f"y_{end}.txt"), subjects, activity


def _runs(activity: Ints, subjects: Ints, samples: int) -> Iterator[int]:
    """Where each run begins: `samples` windows of the same activity and subject, none in two runs."""
    changes = np.flatnonzero(np.diff(activity) | np.diff(subjects)) + 1
    bounds = [0, *changes.tolist(), len(activity)]
    for begin, end in pairwise(bounds):
        yield from range(begin, end - samples + 1, samples)


def _columns(features: object, known: list[str]) -> list[int]:
    several = isinstance(features, Iterable) and not isinstance(features, str)
    wanted = list(features) if several else [features]  # type: ignore[call-overload]
    if not wanted:
        raise DataError("features needs at least one name or column number, got none.")
    return [_column(feature, known) for feature in wanted]


def _column(feature: object, known: list[str]) -> int:
    if not isinstance(feature, str):
        number = whole("uci_hapt", "a column of features", feature)
        if number > len(known):
            raise DataError(f"features.txt has columns 1 to {len(known)}, there is no column {number}.")
        return number - 1
    at = [i for i, name in enumerate(known) if plain(name) == plain(feature)]
    if not at:
        hint = did_you_mean(feature, known)
        raise DataError(
            f"no feature {feature!r}{hint} among the {len(known)} of features.txt. Names there are like {known[0]!r}."
        )
    if len(at) > 1:
        numbers = ", ".join(str(i + 1) for i in at)
        raise DataError(f"feature {feature!r} names columns {numbers} of features.txt. Ask for one by its number.")
    return at[0]


def _called(column: int, known: list[str]) -> str:
    """The name of a column; with its number where others have the same name."""
    same = [name for name in known if plain(name) == plain(known[column])]
    return known[column] if len(same) == 1 else f"{known[column]} {column + 1}"
