"""What can be asked of a reader. Each name is also a flag of the command line, with dashes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Literal, TypeGuard

from ..errors import UnsupportedError, short_repr
from ..formula.json_fields import as_text
from .problems import quote_names

LabelKind = Literal["auto", "class", "real"]
Layout = Literal["auto", "tidy", "wide"]
BadRows = Literal["error", "skip"]
Nonfinite = Literal["missing", "error", "hold", "interpolate", "drop_case"]

CHOICES: dict[str, tuple[str, ...]] = {
    "layout": ("auto", "tidy", "wide"),
    "label_kind": ("auto", "class", "real"),
    "bad_rows": ("error", "skip"),
    "nonfinite": ("missing", "error", "hold", "interpolate", "drop_case"),
    "decimal": (".", ","),
}


_OF_FILES = ("marks", "faulty", "classes", "categories")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; `read` says what each one means. None leaves it to the file."""

    label: str | None = "label"
    case: str | None = None
    time: str | None = None
    channels: tuple[str, ...] | None = None
    group: str | None = None
    good: object = None
    label_kind: LabelKind = "auto"
    layout: Layout = "auto"
    header: bool | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    bad_rows: BadRows = "error"
    nonfinite: Nonfinite = "missing"
    dt: float | None = None
    unit: str | None = None
    steps: bool = False
    name: str | None = None
    memory_limit: int | None = None
    marks: str | None = None
    """The column that says at every sample whether there is a fault; it becomes the last channel, 0 or 1."""
    faulty: object = None
    """What that column says of a fault; by default a word such as `fault`, or 1."""
    classes: tuple[str, ...] | None = None
    categories: Mapping[str, Sequence[str]] | None = None
    """Of channels of which the file itself says so."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for key, allowed in CHOICES.items():
            if getattr(self, key) not in allowed:
                raise _wrong(key, f"one of {quote_names(allowed)}", getattr(self, key))
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise _wrong("delimiter", "a single character, no quote and no line break", self.delimiter)
        if self.dt is not None and not _is_above_0(self.dt):
            raise _wrong("dt", "a number above 0, the time between samples", self.dt)
        if self.memory_limit is not None and not _is_above_0(self.memory_limit):
            raise _wrong("memory_limit", "a number of bytes above 0", self.memory_limit)
        if not _is_encoding(self.encoding):
            raise _wrong("encoding", "one that Python knows, such as utf-8, latin-1 or utf-16", self.encoding)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Those that `read` takes."""
        return tuple(each.name for each in fields(cls) if each.name not in _OF_FILES)

    @property
    def severity_of_rows(self) -> Literal["error", "warning"]:
        return "error" if self.bad_rows == "error" else "warning"

    def severity_of_gap(self, kind: Literal["missing", "infinite"]) -> Literal["error", "warning"] | None:
        """Of a value that is missing or infinite; None where that is allowed, and the data card counts it."""
        if self.nonfinite == "missing":
            return "error" if kind == "infinite" else None
        return "error" if self.nonfinite == "error" else "warning"

    def row_fix(self, advice: str) -> str:
        """The advice for a bad row, unless rows are being skipped."""
        return advice if self.bad_rows == "error" else "The row is skipped."

    def with_note(self, note: Mapping[str, object]) -> ReadOptions:
        """With what the file says about itself, wherever nothing else was asked for."""
        free = {f.name: note[f.name] for f in fields(self) if f.name in note and getattr(self, f.name) == f.default}
        if self.good is not None:
            free.pop("classes", None)
        return replace(self, **free)  # type: ignore[arg-type]


def validate_note(note: object) -> dict[str, object]:
    """The entries of a file's note that are of the right type; the rest is not to be trusted."""
    if not isinstance(note, dict):
        return {}
    good: dict[str, object] = {}
    for key, value in note.items():
        if key in ("case", "time", "group", "unit", "name", "label_kind", "layout") and isinstance(value, str):
            if value in CHOICES.get(key, (value,)):
                good[key] = value
        elif (
            (key == "label" and (value is None or isinstance(value, str)))
            or (key == "dt" and _is_above_0(value))
            or (key == "escaped" and isinstance(value, bool))
        ):
            good[key] = value
        elif key in ("classes", "channels") and _is_texts(value):
            good[key] = tuple(value)
        elif key == "categories" and isinstance(value, dict) and all(map(_is_texts, value.values())):
            good[key] = value
    return good


def _is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def validate_options(reading: object) -> dict[str, object]:
    """The options that a run or a certificate keeps; a TypeError or a ValueError where they are none."""
    if not isinstance(reading, dict):
        raise TypeError(f"options of reading are an object, found {reading!r:.40}")
    known = {field.name: field.default for field in fields(ReadOptions)}
    for key, value in reading.items():
        if key not in known:
            raise ValueError(f"there is no option of reading {key!r:.40}")
        if key == "channels" and value is not None:
            for name in value:
                as_text(name)
        elif key in ("header", "steps"):
            if not isinstance(value, bool) and value is not known[key]:
                raise TypeError(f"{key} is true or false, found {value!r:.40}")
        elif isinstance(value, str):
            as_text(value)
        elif value is not known[key] and (isinstance(value, bool) or not isinstance(value, (int, float, NoneType))):
            raise TypeError(f"{key} is a word or a number, found {value!r:.40}")
    ReadOptions(**{**reading, "channels": None})
    return reading


def flags(options: Mapping[str, object]) -> list[str]:
    """The options that differ from the defaults, as words of a command line."""
    plain: dict[str, object] = {f.name: f.default for f in fields(ReadOptions)}
    words = []
    for name, value in options.items():
        if value == plain[name]:
            continue
        flag = "--" + {"case": "case-column"}.get(name, name.replace("_", "-"))
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-"))
        else:
            text = "" if value is None else ",".join(value) if isinstance(value, (list, tuple)) else str(value)
            words += [flag, text]
    return words


_STREAM = ("delimiter", "decimal", "bad_rows", "steps", "dt", "unit")
_CLOCK = ("dt", "unit")
_LABELS = ("label", "good", "label_kind")
READING: dict[str, tuple[str, ...]] = {
    "monitor": _STREAM, "export": _CLOCK, "simplify": _CLOCK, "equiv": _CLOCK,
    "cause": tuple(f.name for f in fields(ReadOptions) if f.name not in _LABELS),
}  # fmt: skip
"""The options of reading of commands that do not take all of them."""
FROM_RUN = ("report", "ask", "rivals", "believe", "drift", "classify", "plot")
"""Commands that read as the run says, and take none."""


def suggest_command(
    command: str, words: Sequence[str] = (), reading: Mapping[str, object] | None = None, more: Sequence[str] = ()
) -> str:
    """`fernn COMMAND WORDS OPTIONS`, to be pasted into a shell: the one way in which a command is suggested.

    All options of reading that differ from the defaults and that the command takes come with it, before those in
    `more`. A formula that begins with a dash goes behind `--`.
    """
    taken = {} if reading is None or command in FROM_RUN else reading
    taken = {name: value for name, value in taken.items() if name in READING.get(command, (name,))}
    options = _join_values([*flags(taken), *more])
    if any(word.startswith("-") for word in words):
        return shlex.join(["fernn", command, *options, "--", *words])
    return shlex.join(["fernn", command, *words, *options])


def _join_values(words: Sequence[str]) -> list[str]:
    """A value that begins with a dash is joined to its flag: `--good=-1`, which nothing takes for a flag of its own."""
    made: list[str] = []
    for word in words:
        is_value = made and made[-1].startswith("--") and "=" not in made[-1] and not word.startswith("--")
        if is_value and word.startswith("-") and len(word) > 1 and word != "-o":
            made[-1] += f"={word}"
        else:
            made.append(word)
    return made


def _wrong(key: str, wanted: str, got: object) -> UnsupportedError:
    flag = key.replace("_", "-")
    return UnsupportedError(f"{key} (--{flag}) must be {wanted}; got {got!r}.")


def _is_delimiter(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1 and value not in '"\r\n'


def _is_above_0(value: object) -> bool:
    try:
        return not isinstance(value, str) and 0 < float(value) < math.inf  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def _is_encoding(value: object) -> bool:
    try:
        return isinstance(value, str) and "".encode(value) is not None
    except (LookupError, ValueError):
        return False


def as_tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names as a tuple; a lone name is not taken apart into letters."""
    if isinstance(names, str):
        return (names,)
    return None if names is None else tuple(names)
