"""What an atom compares: sums of channels and of functions of them.

    2*x - y                           a sum of terms; a term is a channel or a call
    x*y   x/y   abs(e)                sample by sample
    min(e, ...)  max(e, ...)  norm(e, ...)
    diff(e)   diff(e, 0.5 s)          the value now minus the value one sample, or so long, ago
    rate(e)                           the change a second
    mean(e, 2 s)  std(e, 20)          over a trailing window, the present sample included
    lowest(e, 2 s)  highest(e, 20)
    integral(e)                       over time, from the start of the trace
    since(p)   count(p, 10 s)         samples since p last held; how often it began to hold
    since(p, s)                       seconds since p last held; since(p) <= 2 s is since(p, s) <= 2
    is(mode, "LAND", "HOLD")          1 where the channel has one of these values, else -1
    missing(x)                        1 where the channel has no value, else -1

All of them look back, never ahead. What each gives at the start of a trace is in docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Literal

from ..errors import FormulaError

if TYPE_CHECKING:
    from .nodes import Formula

SECONDS: dict[str, Decimal] = {
    "ns": Decimal("1e-9"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "min": Decimal(60),
    "h": Decimal(3600),
}  # fmt: skip
"""The units of time, in seconds."""
UNKNOWN_STEP = (
    "the time between samples is not known with its unit. Pass both, as in --dt 0.1 --unit s; in Python, "
    'read with dt=0.1, unit="s"; in the studio, choose the time unit'
)
MOST = 10**9
"""Samples of a trailing window."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a function looks back: so many samples, or a time."""

    amount: float
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in SECONDS:
            raise FormulaError(f"times are in {', '.join(SECONDS)}; found {self.unit!r}")
        if not (isfinite(self.amount) and 0 < self.amount <= MOST):
            raise FormulaError(f"a function looks back by more than nothing, and at most {MOST}; found {self.amount:g}")
        if self.unit is None and self.amount != int(self.amount):
            raise FormulaError(f"without a unit samples are counted, and {self.amount:g} is not whole; or write 0.5 s")
        object.__setattr__(self, "amount", float(self.amount))

    def __str__(self) -> str:
        from .printer import format_number

        return format_number(self.amount) + ("" if self.unit is None else f" {self.unit}")

    def samples(self, step: Step | None) -> int:
        """So many, by the time between samples."""
        if self.unit is None:
            return int(self.amount)
        if step is None:
            raise FormulaError(f"{self} is a time, and {UNKNOWN_STEP}")
        count = Decimal(repr(self.amount)) * SECONDS[self.unit] / step.seconds
        if abs(count - round(count)) > Decimal("1e-6") or round(count) < 1:
            raise FormulaError(f"{self} is not a multiple of the time between samples, {step}")
        return round(count)


@dataclass(frozen=True, slots=True)
class Step:
    """The time between samples."""

    dt: float
    unit: str

    @property
    def seconds(self) -> Decimal:
        return Decimal(repr(float(self.dt))) * SECONDS[self.unit]

    def __str__(self) -> str:
        return f"{self.dt:g} {self.unit}"


def time_step(dt: float | None, unit: str | None) -> Step | None:
    """The time between samples, where it and its unit are known."""
    return None if dt is None or unit not in SECONDS else Step(dt, unit)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: how many expressions, and whether a lag."""

    least: int
    most: int | None
    lag: Literal["none", "may", "must"] = "none"
    of_formula: bool = False
    """Whether it is of a formula, not of an expression."""
    needs_step: bool = False
    """Whether it is per second."""
    of_channel: bool = False
    """Whether it is of a channel as it is, not of an expression."""
    has_values: bool = False
    """Whether values to compare with follow the channel."""


FUNCTIONS: dict[str, Signature] = {
    "abs": Signature(1, 1),
    "min": Signature(2, None),
    "max": Signature(2, None),
    "norm": Signature(2, None),
    "diff": Signature(1, 1, "may"),
    "rate": Signature(1, 1, needs_step=True),
    "mean": Signature(1, 1, "must"),
    "std": Signature(1, 1, "must"),
    "lowest": Signature(1, 1, "must"),
    "highest": Signature(1, 1, "must"),
    "integral": Signature(1, 1, needs_step=True),
    "since": Signature(1, 1, of_formula=True),
    "count": Signature(1, 1, "must", of_formula=True),
    "is": Signature(1, 1, of_channel=True, has_values=True),
    "missing": Signature(1, 1, of_channel=True),
}
IS, MISSING = "is", "missing"
PRODUCT, QUOTIENT, ELAPSED = "*", "/", "elapsed"
"""What is written with signs, and `since` in a unit of time, which is that of its lag; its own name is not written."""
_OPERATIONS = {
    PRODUCT: Signature(2, 2), QUOTIENT: Signature(2, 2), ELAPSED: Signature(1, 1, "must", of_formula=True),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A function of expressions, or of a formula; or the product or the quotient of two expressions."""

    function: str
    arguments: tuple[Sum | Formula, ...]
    lag: Lag | None = None
    values: tuple[Value, ...] = ()
    """Of `is`: texts or numbers, in order and each once."""

    def __post_init__(self) -> None:
        known = (FUNCTIONS | _OPERATIONS).get(self.function)
        if known is None:
            raise FormulaError(f"there is no function {self.function!r}; there are {', '.join(FUNCTIONS)}")
        count, name = len(self.arguments), self.function
        if count < known.least or (known.most is not None and count > known.most):
            wanted = f"{known.least}" if known.most == known.least else f"{known.least} or more"
            what = f"{'formula' if known.of_formula else 'expression'}{'s' * (known.least > 1)}"
            lag = f"; then comes how far to look back, as in {name}({_EXAMPLE[known.of_formula]}, 2 s)"
            raise FormulaError(f"{name} takes {wanted} {what}, found {count}{lag if known.lag != 'none' else ''}")
        if known.lag == "must" and self.lag is None:
            raise FormulaError(f"{name} needs how far to look back, as in {name}({_EXAMPLE[known.of_formula]}, 2 s)")
        if known.lag == "none" and self.lag is not None:
            raise FormulaError(f"{name} takes no time to look back, found {self.lag}")
        if name == ELAPSED and self.lag != Lag(1, self.lag.unit if self.lag and self.lag.unit else "s"):
            raise FormulaError(f"the time since something held is told in a unit of {', '.join(SECONDS)}")
        if any(isinstance(each, Sum) == known.of_formula for each in self.arguments):
            what = "a formula, as in since(x > 3)" if known.of_formula else "expressions such as x - y"
            raise FormulaError(f"{name} is of {what}")
        if known.of_channel and not (isinstance(self.arguments[0], Sum) and self.arguments[0].is_channel):
            raise FormulaError(f"{name} is of one channel, as in {_EXAMPLES[name]}")
        if known.has_values != bool(self.values):
            told = "needs a value to compare with" if known.has_values else "takes no values"
            raise FormulaError(f"{name} {told}")
        object.__setattr__(self, "values", _sort_values(self.values))
        self._check_direction()

    def _check_direction(self) -> None:
        from .measures import direction

        for part in self.arguments:
            if not isinstance(part, Sum) and direction(part) not in ("now", "past"):
                raise FormulaError(f"{self.function} looks back, so it cannot be of {part}, which looks ahead")

    def __str__(self) -> str:
        from .printer import format_term

        return format_term(self)

    @property
    def channels(self) -> tuple[str, ...]:
        """Those that it reads, in the order of their first mention."""
        from .measures import channels

        found = (each.channels if isinstance(each, Sum) else channels(each) for each in self.arguments)
        return tuple(dict.fromkeys(name for names in found for name in names))

    @property
    def is_predicate(self) -> bool:
        """Whether it is true or false of a channel: 1 or -1."""
        return self.function in (IS, MISSING)

    @property
    def channel(self) -> str:
        """The one channel of `is` and `missing`."""
        (name,) = self.channels
        return name

    @property
    def is_per_second(self) -> bool:
        return self.function in FUNCTIONS and FUNCTIONS[self.function].needs_step

    def seconds(self, step: Step | None) -> float:
        """The time between samples, for what is per second."""
        if step is None:
            raise FormulaError(f"{self} is per second, and {UNKNOWN_STEP}")
        return float(step.seconds)

    @property
    def sums(self) -> tuple[Sum, ...]:
        return tuple(each for each in self.arguments if isinstance(each, Sum))


_EXAMPLES = {IS: 'is(mode, "LAND")', MISSING: "missing(x)"}
_EXAMPLE = {False: "x", True: "x > 3"}
Value = str | float
"""What `is` compares with: a text for a channel of categories, a number for one of numbers."""
Term = str | Call
"""A channel, or a function."""
Weights = tuple[tuple[Term, float], ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """`2*x - abs(y) + 1`: weighted terms and a constant."""

    weights: Weights = ()
    constant: float = 0.0

    def __post_init__(self) -> None:
        kept = merge_weights(self.weights)
        if not all(isfinite(weight) for _, weight in kept) or not isfinite(self.constant):
            raise FormulaError("weights and constants are finite numbers")
        object.__setattr__(self, "weights", kept)
        object.__setattr__(self, "constant", float(self.constant) + 0.0)

    def __str__(self) -> str:
        from .printer import format_expression

        return format_expression(self)

    @property
    def channels(self) -> tuple[str, ...]:
        return channels_of_weights(self.weights)

    @property
    def is_channel(self) -> bool:
        """Whether it is one channel and nothing else."""
        if len(self.weights) != 1 or self.constant:
            return False
        ((term, weight),) = self.weights
        return isinstance(term, str) and weight == 1

    def plus(self, other: Sum, factor: float = 1.0) -> Sum:
        more = tuple((term, factor * weight) for term, weight in other.weights)
        return Sum((*self.weights, *more), self.constant + factor * other.constant)

    def times(self, factor: float) -> Sum:
        return Sum(tuple((term, factor * weight) for term, weight in self.weights), factor * self.constant)


def _sort_values(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Texts or numbers, in order and each once."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) not in (0, len(values)):
        raise FormulaError("a channel is compared with texts or with numbers, not with both")
    for value in values:
        if isinstance(value, str):
            if not value or value.encode("utf-8", "replace").decode() != value:
                raise FormulaError(f"a category is a non-empty text, found {value!r}")
        elif isinstance(value, bool) or not isfinite(value):
            raise FormulaError(f"a channel is compared with finite numbers or with texts, found {value!r}")
    numbers = {float(value) + 0.0 for value in values if not isinstance(value, str)}
    return tuple(sorted(numbers) if not texts else sorted(set(texts)))


def merge_weights(weights: Weights) -> Weights:
    """Equal terms once, without those of weight 0."""
    merged: dict[Term, float] = {}
    for term, weight in weights:
        if not isinstance(term, Call) and (not isinstance(term, str) or not term):
            raise FormulaError(f"a channel name is a non-empty text, found {term!r}")
        merged[term] = merged.get(term, 0.0) + float(weight)
    return tuple((term, weight) for term, weight in merged.items() if weight != 0)


def channels_of_weights(weights: Weights) -> tuple[str, ...]:
    """Those that the terms read, in the order of their first mention."""
    named = ((term,) if isinstance(term, str) else term.channels for term, _ in weights)
    return tuple(dict.fromkeys(name for names in named for name in names))


def multiply(left: Sum, right: Sum) -> Sum:
    """A number times an expression is a sum again, of two expressions a call."""
    if not left.weights:
        return right.times(left.constant)
    if not right.weights:
        return left.times(right.constant)
    (a, b), factor = _without_factors(left, right)
    return Sum(((Call(PRODUCT, (a, b)), factor),))


def divide(left: Sum, right: Sum) -> Sum:
    """An expression over a number is that expression times its inverse."""
    if not right.weights:
        if right.constant == 0:
            raise FormulaError("division by zero")
        return left.times(1 / right.constant)
    (a, b), factor = _without_factors(left, right)
    return Sum(((Call(QUOTIENT, (a, b)), factor),))


def _without_factors(left: Sum, right: Sum) -> tuple[tuple[Sum, Sum], float]:
    """`2*x` and `y` as `x`, `y` and 2: what a single term of the left is multiplied with stands before the call."""
    if len(left.weights) == 1 and not left.constant:
        ((term, weight),) = left.weights
        return (Sum(((term, 1.0),)), right), weight
    return (left, right), 1.0


def calls_of(weights: Weights) -> Iterator[Call]:
    """Every call among the terms and in their expressions, inner ones first; those in formulas are not looked for."""
    for term, _ in weights:
        if isinstance(term, Call):
            for each in term.sums:
                yield from calls_of(each.weights)
            yield term


def samples_to_time(call: Call, step: Step | None) -> Fraction:
    """Of `since` in a unit of time: what one sample is in that unit, exactly.

    So 3 samples of 0.1 s are 0.3 s, the float that is written so, not 3 times the float 0.1.
    """
    if step is None or call.lag is None or call.lag.unit is None:
        raise FormulaError(f"{call} is a time, and {UNKNOWN_STEP}")
    return Fraction(step.seconds) / Fraction(SECONDS[call.lag.unit])


def reach(call: Call, step: Step | None) -> float:
    """How many samples back of the judged one its value can depend on; infinite where it is not bounded or not known.

    Integrals and `since` depend on all of the past, a time on so many samples as the step says.
    """
    from .measures import horizon

    inside = [reach(each, step) for part in call.sums for each in calls_of(part.weights)]
    inside += [horizon(part)[0] for part in call.arguments if not isinstance(part, Sum)]
    return own_reach(call, step) + max(inside, default=0.0)


def own_reach(call: Call, step: Step | None) -> float:
    """As `reach`, of the function itself: that of which it is a function is not looked at."""
    if call.lag is not None and call.lag.unit is not None and step is None:
        return float("inf")
    match call.function:
        case "integral" | "since" | "elapsed":
            return float("inf")
        case "diff":
            return 1 if call.lag is None else call.lag.samples(step)
        case "rate":
            return 1
        case "mean" | "std" | "lowest" | "highest" | "count":
            assert call.lag is not None
            return call.lag.samples(step) - (call.function != "count")
    return 0


def looks_back(call: Call) -> bool:
    """Whether it depends on more than the sample itself; that of which it is a function is not looked at."""
    return call.function not in (PRODUCT, QUOTIENT, "abs", "min", "max", "norm", IS, MISSING)
