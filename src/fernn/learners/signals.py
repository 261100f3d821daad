"""Signals that rules read besides the channels: expressions, named by the user or chosen by screening.

    signals="raw"                     the channels as they are
    signals=("diff(x)", "x - y")      these expressions besides the channels
    signals="auto"                    those of a grammar of candidates with the best one-operator rules (`screening`)

A learner searches on data whose further channels are the values of the expressions, and knows them by their text. What
goes in, a template or guesses, is rewritten to those names, and what comes out to the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import wraps
from itertools import combinations
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.dataset import check_dataset
from ..data.problems import unknown_channel
from ..errors import FormulaError, UnsupportedError
from ..formula import Atom, Formula, length, parse, walk
from ..formula.expressions import PRODUCT, QUOTIENT, SECONDS, Call, Lag, Sum, calls_of
from ..formula.measures import call_length, map_nodes
from ..formula.nodes import is_in, is_missing
from ..semantics.packed_traces import time_step
from .base import Fit, Front, Progress, Watch, select_entry, silent

SignalChoice = Literal["raw", "auto"] | tuple[str, ...]
"""Which signals a learner reads: the channels, also those that screening finds, or also these expressions."""
LAGS = (1, 2, 4, 8, 16, 32, 64)
"""Samples over which changes are tried, up to a quarter of the traces."""
WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Samples of trailing windows that are tried, up to half of the traces; and all of the trace."""
MOST_CATEGORIES = 20
"""Categories of a channel that rules may ask for."""
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Quantiles of a channel whose passing is counted."""
PAIRED = 12
"""Channels of which differences and ratios are tried: the best ones by themselves."""


@dataclass(frozen=True, eq=False)
class SignalDataset(Dataset):
    """Traces with further channels that are computed from the others; `signals` has the expression of each, by name."""

    signals: Mapping[str, Sum] = field(default_factory=dict)


def parse_expression(text: str) -> Sum:
    """`2*x - diff(y)`: what stands on the left of a comparison."""
    formula = parse(f"{text} >= 0")
    if not isinstance(formula, Atom):
        raise FormulaError(f"a signal is an expression such as diff(x) or x - y, found {text!r}")
    return Sum(formula.weights, -formula.threshold)


def extend_data(data: Dataset, expressions: Iterable[Sum]) -> SignalDataset:
    """The data with a channel for each expression, named by its text; numbers only.

    Channels of categories are left out, and values that are missing are held: rules ask for both by expressions.
    """
    from ..semantics.signal_values import expression_values  # not for those who read channels only

    known = {str(each): each for each in expressions if str(each) not in data.channels}
    rows = [
        cap_since(each, row, data)
        for each, row in zip(known.values(), expression_values(known.values(), data), strict=True)
    ]
    for name, row in zip(known, rows, strict=True):
        if not np.isfinite(row).all():
            raise UnsupportedError(f"the signal {name} is infinite at some samples of {data.name}, and cannot be used")
    values: list[Floats] = []
    at = 0
    numeric = [data.channels.index(name) for name in data.numeric_channels]
    for trace in data.values:
        size = trace.shape[1]
        values.append(np.concatenate([trace[numeric], *(row[None, at : at + size] for row in rows)]))
        at += size
    given = {each.name: getattr(data, each.name) for each in fields(Dataset)}
    given |= {"values": tuple(values) if data.is_ragged else np.stack(values), "missing": None, "categories": {}}
    return SignalDataset(**given | {"channels": (*data.numeric_channels, *known)}, signals=known)


def cap_since(expression: Sum, values: Floats, data: Dataset) -> Floats:
    """The values; where something never held yet, longer ago than the traces are long instead of infinitely."""
    if not any(call.function == "since" for call in calls_of(expression.weights)):
        return values
    return np.where(np.isposinf(values), 2.0 * float(data.lengths.max()), values)


def rule_length(formula: Formula, data: object) -> int:
    """The length of a formula whose channels may be signals: each function that they compute counts as one."""
    signals = getattr(data, "signals", None)
    if not signals:
        return length(formula)
    read = [term for node in walk(formula) if isinstance(node, Atom) for term, _ in node.weights]
    return length(formula) + sum(signal_length(signals[term]) for term in read if term in signals)


def signal_length(expression: Sum) -> int:
    """How many functions it has; one in a formula counts with it. To ask for a category or a missing value is none."""
    (term, _), *more = expression.weights
    if not more and isinstance(term, Call) and term.is_predicate:
        return 0
    return sum(map(call_length, dict.fromkeys(calls_of(expression.weights))))


def spell_signals(formula: Formula, signals: Mapping[str, Sum]) -> Formula:
    """The formula with the expressions in the place of the channels that hold their values."""

    def change(node: Formula) -> Formula:
        if not isinstance(node, Atom) or not any(term in signals for term, _ in node.weights):
            return node
        total = Sum()
        for term, weight in node.weights:
            known = signals.get(term) if isinstance(term, str) else None
            total = total.plus(Sum(((term, 1.0),)) if known is None else known, weight)
        spelled = Atom(total.weights, node.relation, node.threshold - total.constant)
        ((term, weight), *more) = spelled.weights
        if not more and weight == 1 and isinstance(term, Call) and term.is_predicate and abs(spelled.threshold) < 1:
            return Atom(spelled.weights, "<" if spelled.is_upper_bound else ">=", 0.0)  # 1 or -1: mode == "LAND"
        return spelled

    return map_nodes(formula, change)


def name_signals(formula: Formula, signals: Mapping[str, Sum]) -> Formula:
    """The opposite: channels in the place of functions; an error where a function has none."""
    names = {each.weights: name for name, each in signals.items() if not each.constant}

    def change(node: Formula) -> Formula:
        if not isinstance(node, Atom) or not node.calls:
            return node
        if node.weights in names:
            return Atom(((names[node.weights], 1.0),), node.relation, node.threshold)
        return Atom(
            tuple((term if isinstance(term, str) else names[((term, 1.0),)], weight) for term, weight in node.weights),
            node.relation,
            node.threshold,
        )

    return map_nodes(formula, change)


def functions_of(formulas: Iterable[Formula]) -> list[Sum]:
    """The functions that the atoms of these formulas read, a signal each."""
    atoms = [node for formula in formulas for node in walk(formula) if isinstance(node, Atom)]
    calls = [term for each in atoms for term, _ in each.weights if isinstance(term, Call)]
    return [Sum(((call, 1.0),)) for call in dict.fromkeys(calls)]


def predicate_signals(data: Dataset) -> list[Sum]:
    """What is asked of channels of categories, of the most frequent ones, and of those with missing values."""
    found = []
    for name, texts in data.categories.items():
        codes = np.concatenate([trace[data.channels.index(name)] for trace in data.values]).astype(int)
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        often = [texts[i] for i in np.argsort(-counts, kind="stable")[:MOST_CATEGORIES] if 0 < counts[i] < len(codes)]
        found += [is_in(name, (text,)) for text in (often[:1] if len(often) == 2 else often)]
    found += [is_missing(name) for name in data.missing_counts]
    return [Sum(each.weights) for each in found]


def lag_of(samples: int, data: Dataset) -> Lag:
    """So many samples, as a time where the data know the time between them."""
    if data.dt is None or data.time_unit not in SECONDS:
        return Lag(samples)
    return Lag(float(Decimal(repr(data.dt)) * samples), data.time_unit)


def candidate_signals(data: Dataset, channel: str, rich: bool = True) -> list[Sum]:
    """The expressions of one channel that are tried: changes, means, spreads and the like over a few lags and widths.

    Where `rich`, also extremes of trailing windows, sizes, and how often and how lately a level was passed.
    """
    longest = int(data.lengths.max())
    x = Sum(((channel, 1.0),))

    def of(function: str, inner: Sum | Formula, samples: int | None = None) -> Sum:
        return Sum(((Call(function, (inner,), None if samples is None else lag_of(samples, data)), 1.0),))

    change = of("diff", x)
    found = [of("diff", x, k) if k > 1 else change for k in LAGS if k <= max(longest // 4, 1)]
    widths = [w for w in WIDTHS if w <= longest // 2]
    for width in (w for w in [*widths, longest] if w > 1):
        found += [of("mean", x, width), of("std", x, width), of("mean", of("abs", change), width)]
        if width <= longest // 4:
            found.append(of("diff", of("mean", x, width), width))
    if not rich:
        return found
    low, high = data.ranges[channel]
    found += [of(function, x, width) for width in widths for function in ("lowest", "highest")]
    found += [of("abs", x)] if low < 0 < high else []
    found += [of("abs", each) for each in found[: sum(k <= max(longest // 4, 1) for k in LAGS)]]
    if data.dt is not None and data.time_unit in SECONDS:
        found.append(of("integral", x))
    flat = np.concatenate([trace[data.channels.index(channel)] for trace in data.values])
    for level in np.unique(np.quantile(flat, LEVELS)).tolist():
        if low < level < high:
            for relation in (">=", "<="):
                passed = Atom(x.weights, relation, float(f"{level:.3g}"))
                found += [of("since", passed), *(of("count", passed, max(longest // part, 1)) for part in (4, 2, 1))]
    return found


def candidate_pairs(data: Dataset, channels: Sequence[str]) -> list[Sum]:
    """Differences, ratios, products, the lesser and the greater of two channels, and norms of vectors."""
    ranges = {name: data.ranges[name] for name in channels}
    found = []
    for a, b in combinations(channels, 2):
        wide, other = (max(abs(low), abs(high)) for low, high in (ranges[a], ranges[b]))
        if not wide or not other:
            continue
        x, y = Sum(((a, 1.0),)), Sum(((b, 1.0),))
        found.append(Sum(((Call(PRODUCT, (x, y)), 1.0),)))
        for above, below in ((a, b), (b, a)):
            if ranges[below][0] > 0 or ranges[below][1] < 0:
                found.append(Sum(((Call(QUOTIENT, (Sum(((above, 1.0),)), Sum(((below, 1.0),)))), 1.0),)))
        if 0.1 <= wide / other <= 10:  # of one unit, perhaps
            found += [Sum(((a, 1.0), (b, -1.0))), Sum(((a, 1.0), (b, 1.0)))]
            found.append(Sum(((Call("abs", (Sum(((a, 1.0), (b, -1.0))),)), 1.0),)))
            found += [Sum(((Call(function, (x, y)), 1.0),)) for function in ("min", "max")]
    return found + [Sum(((Call("norm", tuple(Sum(((n, 1.0),)) for n in names)), 1.0),)) for names in _vectors(channels)]


def vary_numbers(expression: Sum, data: Dataset) -> list[Sum]:
    """The same expression with one of its lags, widths or levels a little different."""
    found = []
    for (call, weight), more in ((term, t) for t, term in enumerate(expression.weights) if isinstance(term[0], Call)):
        assert isinstance(call, Call)
        for other in _vary_call(call, data):
            terms = list(expression.weights)
            terms[more] = (other, weight)
            found.append(Sum(tuple(terms), expression.constant))
    return list(dict.fromkeys(found))


def shape_of(expression: Sum) -> str:
    """The expression without its numbers: those that differ in lags, widths and levels only have one shape."""
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", str(expression))


def shift_lag(expression: Sum, samples: int, data: Dataset) -> Sum | None:
    """The expression, which is one function, looking back by so many samples more; None where it cannot."""
    match expression.weights:
        case ((Call(_, _, Lag() as lag) as call, weight),):
            now = lag.samples(time_step(data.dt, data.time_unit)) + samples
            if 1 <= now <= int(data.lengths.max()):
                return Sum(((replace(call, lag=lag_of(now, data)), weight),), expression.constant)
    return None


def _vary_call(call: Call, data: Dataset) -> list[Call]:
    found = []
    if call.lag is not None:
        now = call.lag.samples(time_step(data.dt, data.time_unit))
        longest = int(data.lengths.max())
        for factor in (0.6, 0.8, 0.9, 1.1, 1.2, 1.5):
            found += [round(now * factor)]
        found = sorted({k for k in [*found, now - 1, now + 1] if 1 <= k <= longest and k != now})
    lags = [replace(call, lag=lag_of(k, data)) for k in found]
    for i, part in enumerate(call.arguments):
        if isinstance(part, Sum):
            inner: Sequence[Sum | Atom] = vary_numbers(part, data)
        elif isinstance(part, Atom) and part.is_single_channel:
            low, high = data.ranges[part.channels[0]]
            step = (high - low) / 100
            moved = [part.threshold + k * step for k in (-8, -4, -2, -1, 1, 2, 4, 8)]
            inner = [replace(part, threshold=float(f"{value:.4g}")) for value in moved]
        else:
            continue
        lags += [replace(call, arguments=(*call.arguments[:i], other, *call.arguments[i + 1 :])) for other in inner]
    return lags


def _vectors(channels: Sequence[str]) -> list[tuple[str, ...]]:
    """Names that differ in a last x, y, z: `acc_x acc_y acc_z`, `ax ay az`, `x y`."""
    stems: dict[str, dict[str, str]] = {}
    for name in channels:
        if name[-1:].lower() in ("x", "y", "z"):
            stems.setdefault(name[:-1], {})[name[-1].lower()] = name
    found = [tuple(axes[key] for key in "xyz" if key in axes) for axes in stems.values() if {"x", "y"} <= set(axes)]
    return found + [each[:2] for each in found if len(each) == 3]


def choose_signals(learner: Any, data: Dataset, weights: Floats | None, state: Mapping[str, Any] | None) -> list[Sum]:
    """The expressions that a learner reads besides the channels; those of the state where it is gone on from one."""
    choice: SignalChoice = getattr(learner, "signals", "raw")
    given = [f for f in [getattr(learner, "template", None), *getattr(learner, "guesses", ())] if f is not None]
    if choice == "auto" and not (state or {}).get("signals"):
        from .screening import screen_signals

        if len(data.classes) != 2:
            raise UnsupportedError("signals='auto' needs two classes to tell apart; name the expressions instead")
        intervals = bool(getattr(learner, "intervals", False))
        past = getattr(learner, "direction", "future") == "past"
        screened = screen_signals(data, weights, intervals, past) if data.numeric_channels else []
        return list(dict.fromkeys([*functions_of(given), *predicate_signals(data), *screened]))
    return list_signals(choice, given, data, state)


def list_signals(
    choice: SignalChoice, given: Iterable[Formula], data: Dataset, state: Mapping[str, Any] | None
) -> list[Sum]:
    """The expressions that are named: by the state of an earlier fit, by the choice, or by formulas that are given."""
    if state is not None and "signals" in state:
        return [parse_expression(text) for text in state["signals"]]
    named = list(dict.fromkeys([*functions_of(given), *predicate_signals(data)]))
    if choice == "raw":
        return named
    if isinstance(choice, str) or not all(isinstance(text, str) for text in choice):
        raise UnsupportedError(f"signals are 'raw', 'auto' or a list of expressions such as 'diff(x)'; got {choice!r}")
    wanted = list(dict.fromkeys([*named, *map(parse_expression, choice)]))
    for name in (name for each in wanted for name in each.channels):
        if name not in data.channels:
            raise UnsupportedError(unknown_channel(name, data.channels, "the data have", "a signal reads"))
    return wanted


Fitting = TypeVar("Fitting", bound=Callable[..., Any])


def reads_signals(fit: Fitting) -> Fitting:
    """A `fit` of a learner on data with its signals as channels; rules are told, kept and returned with expressions."""

    @wraps(fit)
    def fit_on_signals(
        self: Any, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, *more: Any, **keyed: Any
    ) -> Any:
        check_dataset(data)
        weights = keyed.get("weights", more[0] if more else None)
        chosen = [] if isinstance(data, SignalDataset) else choose_signals(self, data, weights, resume)
        if not chosen and not data.categories:
            return fit(self, data, watch, resume, *more, **keyed)
        extended = extend_data(data, chosen)
        names = extended.signals
        given: dict[str, Any] = {"signals": "raw"} if hasattr(self, "signals") else {}
        if getattr(self, "template", None) is not None:
            given["template"] = name_signals(self.template, names)
        if getattr(self, "guesses", ()):
            given["guesses"] = tuple(name_signals(guess, names) for guess in self.guesses)

        def tell(progress: Progress) -> None:
            state = progress.state | {"signals": list(names)}
            watch(replace(progress, front=spell_front(progress.front, names), state=state))

        found = spell_fit(fit(replace(self, **given), extended, tell, resume, *more, **keyed), names)
        join = getattr(self, "join_screened", None)
        if join is not None and self.signals == "auto":
            found = join(found, data, weights)
        longest = None if getattr(self, "template", None) is not None else getattr(self, "max_length", None)
        front = limit_length(found.front, longest)
        if front is None:  # every rule with a function is too long
            return fit(replace(self, signals="raw"), data, watch, None, *more, **keyed)
        return replace(found, front=front)

    return cast(Fitting, fit_on_signals)


def limit_length(front: Front, longest: int | None) -> Front | None:
    """The entries up to a length, functions counted; None where there are none."""
    kept = tuple(entry for entry in front if longest is None or entry.length <= longest)
    if len(kept) == len(front):
        return front
    return Front(kept, kept.index(front.picked) if front.picked in kept else select_entry(kept)) if kept else None


def spell_front(front: Front, signals: Mapping[str, Sum]) -> Front:
    """The front with expressions in the place of channels; lengths are those of the formulas as printed already."""
    return Front(tuple(replace(e, formula=spell_signals(e.formula, signals)) for e in front), front.pick)


FitKind = TypeVar("FitKind", bound=Fit)


def spell_fit(fit: FitKind, signals: Mapping[str, Sum]) -> FitKind:
    """The fit with expressions in the place of channels; one that has formulas of its own spells them, too."""
    own = getattr(fit, "spell", None)
    fit = fit if own is None else own(signals)
    return replace(fit, front=spell_front(fit.front, signals), state=fit.state | {"signals": list(signals)})
