"""The HAPT recordings as UCI publishes them: features of windows (`uci_hapt`), and the signals (`uci_hapt_raw`).

Files are plain text, numbers between blanks, one row a line, every row as wide as the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from os import PathLike
from pathlib import Path

import numpy as np

from ....errors import DataError
from ...arrays import Floats, Ints
from ...dataset import Dataset
from ...problems import did_you_mean, quote_names
from ...readers.text_cells import parse_number
from ..synthetic import require_integer

LARGEST = 2.0**53  # up to here every whole number is a float of its own


def read_numbers(path: Path, width: int | None = None) -> Floats:
    """`[row, column]` of a file; a line that cannot be read is told with its place."""
    _there(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file; told below
            rows = np.loadtxt(path, ndmin=2, comments=None)
    except (ValueError, UnicodeError) as error:
        raise DataError(f"{place(path)}{_wrong(path, width, error)}") from error
    if not rows.size:
        raise DataError(f"{place(path)}: the file is empty. Unpack the archive again.")
    if width is not None and rows.shape[1] != width:
        raise DataError(
            f"{place(path)}: rows have {rows.shape[1]} numbers, expected {width}. Unpack the archive again."
        )
    return rows


def read_integers(path: Path, width: int) -> Ints:
    """`[row, column]` of a file of whole numbers."""
    rows = read_numbers(path, width)
    odd = np.argwhere(~(np.abs(rows) < LARGEST) | (rows != np.round(rows)))
    if len(odd):
        row, column = odd[0]
        raise DataError(f"{place(path, row)}: {rows[row, column]} is not a whole number. Fix the line.")
    return rows.astype(np.int64)


def read_lines(path: Path) -> list[str]:
    """The lines of a file without the blanks around them, empty ones left out; there must be one."""
    _there(path)
    lines = [text for raw in path.read_text(encoding="utf-8", errors="replace").splitlines() if (text := raw.strip())]
    if not lines:
        raise DataError(f"{place(path)}: the file is empty. Unpack the archive again.")
    return lines


def place(path: Path, row: int | None = None) -> str:
    """`Train/X_train.txt line 3`: the file in its folder, and the line of a row from 0; blank lines are no rows."""
    file = f"{path.parent.name}/{path.name}"
    if row is None:
        return file
    with open(path, encoding="utf-8", errors="replace") as handle:
        lines = (number for number, text in enumerate(handle, 1) if text.strip())
        return f"{file} line {next(islice(lines, int(row), None))}"


def _there(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"there is no file {place(path)} in {path.parent.parent}. Unpack the whole archive there.")


def _wrong(path: Path, width: int | None, error: Exception) -> str:
    """Where the first line is that is not like the others."""
    wide = width
    with open(path, encoding="utf-8", errors="replace") as handle:
        for line, text in enumerate(handle, 1):
            cells = text.split()
            if not cells:
                continue
            wide = len(cells) if wide is None else wide
            bad = next((cell for cell in cells if parse_number(cell) is None), None)
            if bad is not None:
                return f" line {line}: {bad[:40]!r} is not a number. Fix the line, or unpack the archive again."
            if len(cells) != wide:
                return (
                    f" line {line}: {len(cells)} numbers, expected {wide}. Fix the line, or unpack the archive again."
                )
    return f": {error}."


DYNAMIC = ("WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS")
STATIC = ("SITTING", "STANDING", "LAYING")
CLASSES = ("bad", "good")
OTHER = -1  # an activity of neither class


def normalize_name(name: str) -> str:
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


def read_activities(folder: Path, good: str | Sequence[str], bad: str | Sequence[str]) -> Activities:
    """The activities of a folder, with those that are asked for in each class."""
    names = _names(folder / "activity_labels.txt")
    chosen = [{_number(name, names) for name in as_names(asked)} for asked in (bad, good)]
    for kind, numbers in zip(CLASSES, chosen, strict=True):
        if not numbers:
            raise DataError(
                f"{kind} needs at least one activity, got none; there are {quote_names(names.values(), 12)}."
            )
    if both := sorted(chosen[0] & chosen[1]):
        raise DataError(f"activity {names[both[0]]!r} cannot be both good and bad. Name it once.")
    return Activities(names, {i: 1 if i in chosen[1] else 0 if i in chosen[0] else OTHER for i in names})


def _number(name: str, names: dict[int, str]) -> int:
    for number, known in names.items():
        if normalize_name(known) == normalize_name(name):
            return number
    hint = did_you_mean(name.upper(), names.values())
    raise DataError(f"no activity {name!r}{hint}; there are {quote_names(names.values(), 12)}.")


def _names(file: Path) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in read_lines(file):
        number, _, name = line.partition(" ")
        if not number.isdecimal() or not name.strip():
            raise DataError(
                f"{file.name}: expected a number and a name, found {line[:40]!r}. Unpack the archive again."
            )
        names[int(number)] = name.strip()
    return names


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
    samples = require_integer("uci_hapt", "samples", samples)
    known = read_lines(root / "features.txt")
    columns = _columns(features, known)
    activities = read_activities(root, good, bad)
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
        ("x",) if len(columns) == 1 else tuple(_channel_name(column, known) for column in columns),
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
    values = read_numbers(folder / f"X_{end}.txt", width)
    activity = read_integers(folder / f"y_{end}.txt", 1)[:, 0]
    subjects = read_integers(folder / f"subject_id_{end}.txt", 1)[:, 0]
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
        number = require_integer("uci_hapt", "a column of features", feature)
        if number > len(known):
            raise DataError(f"features.txt has columns 1 to {len(known)}, there is no column {number}.")
        return number - 1
    at = [i for i, name in enumerate(known) if normalize_name(name) == normalize_name(feature)]
    if not at:
        hint = did_you_mean(feature, known)
        raise DataError(
            f"no feature {feature!r}{hint} among the {len(known)} of features.txt. Names there are like {known[0]!r}."
        )
    if len(at) > 1:
        numbers = ", ".join(str(i + 1) for i in at)
        raise DataError(f"feature {feature!r} names columns {numbers} of features.txt. Ask for one by its number.")
    return at[0]


def _channel_name(column: int, known: list[str]) -> str:
    """The name of a column; with its number where others have the same name."""
    same = [name for name in known if normalize_name(name) == normalize_name(known[column])]
    return known[column] if len(same) == 1 else f"{known[column]} {column + 1}"


RATE = 50  # samples a second
SENSORS = ("acc", "gyro")


def uci_hapt_raw(
    folder: str | PathLike[str],
    sensors: str | Sequence[str] = "acc",
    *,
    samples: int = 100,
    stride: int | None = None,
    good: str | Sequence[str] = DYNAMIC,
    bad: str | Sequence[str] = STATIC,
) -> Dataset:
    """Windows of a phone's signals while moving (`good`) and while still (`bad`).

    `folder` is the unpacked UCI archive, of which `RawData` is read. Channels `acc_x`, `acc_y`, `acc_z`: acceleration
    in g, gravity included; with `sensors=("acc", "gyro")` also `gyro_x`, `gyro_y`, `gyro_z`: angular velocity in
    radians a second. 50 samples a second. Each labelled stretch is cut into windows of `samples` samples that begin
    every `stride` samples, by default without overlap. Cases are called after the experiment and the first sample,
    groups are the subjects.

    Know before use: gravity alone tells postures apart, for the axes are the phone's. Someone who stands has about 1
    g along x. What is left over at the end of a stretch is not used.
    """
    root = Path(folder)
    samples = require_integer("uci_hapt_raw", "samples", samples)
    every = samples if stride is None else require_integer("uci_hapt_raw", "stride", stride)
    wanted = as_names(sensors)
    if not wanted:
        raise DataError("sensors needs 'acc' or 'gyro' or both, got none.")
    for sensor in wanted:
        if sensor not in SENSORS:
            raise DataError(f"sensors are 'acc' and 'gyro', got {sensor!r}.")
    activities = read_activities(root, good, bad)
    file = root / "RawData" / "labels.txt"
    stretches = read_integers(file, 5)
    classes = activities.classes_of(stretches[:, 2], file)
    signals: dict[tuple[int, int], Floats] = {}
    traces: list[Floats] = []
    labels: list[int] = []
    cases: list[str] = []
    groups: list[str] = []
    for row, ((experiment, user, _, first, last), kind) in enumerate(zip(stretches.tolist(), classes, strict=True)):
        if kind == OTHER:
            continue
        if (experiment, user) not in signals:
            signals[experiment, user] = _signals(root / "RawData", experiment, user, wanted)
        signal = signals[experiment, user]
        if not 1 <= first <= last <= signal.shape[1]:
            raise DataError(
                f"{place(file, row)}: samples {first} to {last}, but experiment {experiment} of user "
                f"{user} has samples 1 to {signal.shape[1]}. Unpack the archive again."
            )
        for begin in range(first - 1, last - samples + 1, every):
            traces.append(signal[:, begin : begin + samples])
            labels.append(int(kind))
            cases.append(f"exp{experiment:02d}-{begin + 1}")
            groups.append(f"subject-{user}")
    if not traces:
        raise DataError(f"no stretch of these activities lasts {samples} samples. Ask for fewer samples.")
    return Dataset(
        np.stack(traces),
        np.array(labels),
        CLASSES,
        tuple(f"{sensor}_{axis}" for sensor in wanted for axis in "xyz"),
        dt=1 / RATE,
        time_unit="s",
        cases=tuple(cases),
        groups=tuple(groups),
        name="uci_hapt_raw",
    )


def _signals(folder: Path, experiment: int, user: int, sensors: tuple[str, ...]) -> Floats:
    """`[channel, time]` of one experiment, sensors one below the other."""
    files = [folder / f"{sensor}_exp{experiment:02d}_user{user:02d}.txt" for sensor in sensors]
    parts = [read_numbers(file, 3) for file in files]
    if len({len(part) for part in parts}) > 1:
        counts = " and ".join(f"{len(part)} in {file.name}" for part, file in zip(parts, files, strict=True))
        raise DataError(f"the sensors must have as many samples, there are {counts}. Unpack the archive again.")
    return np.concatenate(parts, axis=1).T
