"""Labels: from what a file calls them to classes, to real numbers, or to a fault at each sample.

Two values make a binary problem, and one of them has to be the good one: the larger number, or a
word that says so. When neither tells, we ask instead of guessing.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Floats, Ints
from .options import LabelKind, ReadOptions
from .problems import did_you_mean, quote_names, refusal
from .readers.text_cells import MISSING, parse_number

# fmt: off
GOOD = frozenset(
    (
        "good", "normal", "ok", "okay", "pass", "passed", "true", "yes", "positive", "pos", "healthy",
        "nominal", "safe", "success", "nsr"
    )
)
BAD = frozenset(
    (
        "bad", "anomaly", "anomalous", "abnormal", "fail", "failed", "failure", "false", "no", "negative",
        "neg", "faulty", "fault", "unhealthy", "unsafe", "error", "attack", "defect", "sick", "afib"
    )
)
# fmt: on
MANY = 20  # whole numbers with more distinct values than this are real-valued labels


def parse_labels(
    texts: Sequence[str],
    *,
    good: object = None,
    kind: LabelKind = "auto",
    classes: Sequence[str] | None = None,
) -> tuple[Ints | Floats, tuple[str, ...]]:
    """Labels and classes from one text per case; real-valued labels have no classes.

    With `classes` given, the texts must be among them, and their order is kept. With `good` named and more than two
    classes, it is that class against the rest, which is called `not NAME`.
    """
    if kind not in ("auto", "class", "real"):
        raise refusal("label-kind", f"label kind {kind!r} is not known", "Pass --label-kind auto, class or real.")
    if classes is not None:
        return _indices(texts, tuple(classes)), tuple(classes)
    numbers = _numbers(texts)
    if kind == "real" or (kind == "auto" and good is None and numbers is not None and _is_real(numbers)):
        if numbers is None:
            words = sorted({t for t in texts if _number(t) is None})
            what = f"real-valued labels must be numbers, found {quote_names(words)}"
            raise refusal("text-label", what, "Fix the labels or pass --label-kind class.")
        return np.array(numbers, dtype=np.float64), ()
    if numbers is not None:  # 1, 1.0 and +1 are one class
        texts = [_shortest(x) for x in numbers]
        order = [_shortest(x) for x in sorted(set(numbers))]
    else:
        order = sorted(set(texts))
    best = _good_one(order, good, numeric=numbers is not None)
    if best is not None:
        order = [c for c in order if c != best] + [best]
    if best is not None and len(order) > 2:
        texts, order = [best if text == best else f"not {best}" for text in texts], [f"not {best}", best]
    return _indices(texts, tuple(order)), tuple(order)


@dataclass(frozen=True)
class Lookalike:
    """A label that is probably another one, written differently."""

    label: str
    common: str
    """The one that occurs more often."""
    how: str
    """`only in capitals`, `in one character`: what they differ in."""


def lookalikes(counts: Mapping[str, int]) -> list[Lookalike]:
    """Labels that differ from one that is at least as frequent only in how they are written; or, where they occur once
    or twice beside at least ten times as many, in one character. Numbers, and digits that number classes, are meant."""
    names = sorted(counts, key=lambda name: (-counts[name], name))
    if len(names) > MOST_CLASSES:
        return []
    found = []
    for i, name in enumerate(names):
        for other in names[:i]:
            how = None if _number(name) is not None and _number(other) is not None else _difference(name, other)
            is_rare = counts[name] <= FEW and counts[other] >= 10 * counts[name]
            if how is not None and (how != ONE or is_rare):
                found.append(Lookalike(name, other, how))
                break
    return found


MOST_CLASSES = 200  # more labels than this are not compared with each other
FEW = 2
ONE = "in one character"
_MARKS = re.compile(r"[\s.,;:_'\"`´’\u200b-\u200f\ufeff]+|(?<=\w)[-–](?=\w)")


def _difference(one: str, other: str) -> str | None:
    """What two labels differ in where that is little; None where it is more."""
    composed, again = (unicodedata.normalize("NFKC", text) for text in (one, other))
    if composed == again:
        return "only in how letters are encoded (Unicode)"
    if composed.casefold() == again.casefold():
        return "only in capitals"
    bare, other_bare = (_MARKS.sub("", text.casefold()) for text in (composed, again))
    if bare and bare == other_bare:
        return "only in blanks, dots or the like"
    return ONE if _is_one_apart(composed.casefold(), again.casefold()) else None


def _is_one_apart(one: str, other: str) -> bool:
    """Whether one letter more, less, changed, or changed places with the next makes the texts equal."""
    short, long = sorted((one, other), key=len)
    if len(long) < 4 or len(long) - len(short) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :] and not long[start].isdigit()
    a, b = short[start:], long[start:]
    if len(a) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:]:
        return True
    return a[1:] == b[1:] and not (a[0].isdigit() and b[0].isdigit())


def order_classes(classes: Sequence[str], good: object = None) -> tuple[str, ...]:
    """The classes in their order but for the good one, which comes last.

    Of two numbers the larger is good, of two words the one that says so; of more, only what is asked for.
    """
    numbers = _numbers(classes)
    order = list(classes)
    if numbers is not None and len(order) == 2:
        order.sort(key=float)
    best = _good_one(order, good, numeric=numbers is not None)
    return tuple(order if best is None else [c for c in order if c != best] + [best])


def _good_one(order: list[str], good: object, *, numeric: bool) -> str | None:
    """The class that comes last, or None where the order is free."""
    if good is not None:
        wanted = str(good).strip()
        match = match_class(wanted, order)
        if match is None:
            hint = did_you_mean(wanted, order)
            what = f"no case has the label {wanted!r}{hint}; the labels are {quote_names(order)}"
            raise refusal("good", what, "Pass one of them with --good.", choices=order)
        return match
    if len(order) != 2 or numeric:
        return None
    for yes, no in (order, order[::-1]):
        y, n = yes.casefold(), no.casefold()
        if (y in GOOD and n not in GOOD) or (n in BAD and y not in BAD):
            return yes
    what = f"cannot tell which of the labels {quote_names(order)} is the good one"
    fix = f"Pass it with --good, as in --good {shlex.quote(order[0] or order[1])}."
    raise refusal("good", what, fix, choices=order)


def match_class(wanted: str, order: Sequence[str]) -> str | None:
    """The one that is meant: the same text, the same number, or the same but for capitals."""
    number = _number(wanted)
    match = [c for c in order if c == wanted or (number is not None and _number(c) == number)]
    match = match or [c for c in order if c.casefold() == wanted.casefold()]
    return match[0] if match else None


def _indices(texts: Sequence[str], classes: tuple[str, ...]) -> Ints:
    place = {c: i for i, c in enumerate(classes)}
    strange = sorted({t for t in texts if t not in place})
    if strange:
        what = f"labels {quote_names(strange)} are not among the classes {quote_names(classes)}"
        raise refusal("unknown-class", what, "Fix the labels or the list of classes.")
    return np.array([place[t] for t in texts], dtype=np.int64)


def _is_real(numbers: list[float]) -> bool:
    distinct = set(numbers)
    return len(distinct) > MANY or (len(distinct) > 2 and not all(x.is_integer() for x in distinct))


def _numbers(texts: Sequence[str]) -> list[float] | None:
    numbers = [_number(t) for t in texts]
    return None if None in numbers else [x for x in numbers if x is not None]


def _number(text: str) -> float | None:
    x = parse_number(text)
    return x if x is not None and np.isfinite(x) else None


def _shortest(x: float) -> str:
    return str(int(x)) if x.is_integer() else repr(x)


YES = frozenset(("true", "yes", "positive", "pos"))
NO = frozenset(("false", "no", "negative", "neg"))
FAULT, FINE = (BAD - NO) | YES | {"alarm"}, (GOOD - YES) | NO


def parse_marks(cells: Sequence[str], faulty: object, column: str) -> Floats:
    """1 where a cell says fault, 0 where it does not, NaN where it says nothing.

    There must be both: a column that never changes has nothing to explain.
    """
    said = {cell: _plain(cell) for cell in dict.fromkeys(cells)}
    values = sorted({text for text in said.values() if text is not None})
    if not values:
        raise refusal("one-mark", "no row says whether there is a fault", "Fill in the column.", column=column)
    fault = _fault(values, faulty, column)
    if len(values) == 1:
        what = f"it is {values[0]!r} on every row, so there is {'no fault' if fault is None else 'nothing but faults'}"
        fix = "A rule needs samples with and without a fault. Check the column, or name its fault with --faulty."
        raise refusal("one-mark", what, fix, column=column)
    worth = {cell: np.nan if text is None else float(text == fault) for cell, text in said.items()}
    return np.fromiter((worth[cell] for cell in cells), np.float64, len(cells))


def check_no_marks(options: ReadOptions, what: str) -> None:
    """Where a row is not a sample, there are no labels at every sample."""
    if options.marks is not None:
        fix = "Write a row a sample, with columns such as case,time,v,fault. If it is so, pass --layout tidy."
        raise refusal("wide-marks", f"labels at every sample need a row a sample, here it is: {what}", fix)


def _fault(values: list[str], faulty: object, column: str) -> str | None:
    """The value that stands for a fault; None where there is only one value, and it does not."""
    if faulty is not None:
        match = match_class(str(faulty).strip(), values)
        if match is None:
            what = (
                f"no row says {str(faulty)!r}{did_you_mean(str(faulty), values)}; the values are {quote_names(values)}"
            )
            raise refusal("faulty", what, "Pass one of them with --faulty.", column=column)
        return match
    if set(values) <= {"0", "1"}:
        return "1" if "1" in values else None
    known = [text for text in values if text.casefold() in FAULT]
    if len(known) == 1:
        return known[0]
    if not known and len(values) == 1 and values[0].casefold() in FINE:
        return None
    what = f"cannot tell which of the values {quote_names(values)} is the fault"
    fix = f"Pass it with --faulty, as in --faulty {shlex.quote((known or values)[-1])}."
    raise refusal("faulty", what, fix, column=column)


def _plain(cell: str) -> str | None:
    """1, 1.0 and +1 are one value."""
    if cell.casefold() in MISSING:
        return None
    value = parse_number(cell)
    if value is None or not np.isfinite(value):
        return cell
    return str(int(value)) if value.is_integer() else repr(value)
