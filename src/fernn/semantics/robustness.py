"""Robustness and satisfaction of a formula on traces: the one exact judge of everything in fernn.

    x >= c, x > c      x - c                       O p, F p     best over the window
    x <= c, x < c      c - x                       H p, G p     worst over the window
    !p                 minus p                     p S q        best past q, weakened by p since
    p & q, p | q       the smaller, the larger     p U q        its mirror

A past formula is judged at the last sample, any other at the first. Windows are clipped to the
trace; an empty one is -inf for O, F, S, U and +inf for H, G. See docs/semantics.md.

Parsing a formula, packing it and finding its channels take longer than judging a few short traces, so packed formulas
are cached, under the formula's text or identity.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..data.arrays import Array, Bools, Floats
from ..errors import FernnWarning, SignalError
from ..formula.expressions import Call, Step, Term, Weights
from ..formula.measures import channels as channels_of
from ..formula.measures import direction, has_calls
from ..formula.nodes import FUTURE, PAST, Atom, Formula, walk
from ..formula.parser import parse
from ..formula.program import compile_program
from .category_checks import check_categories, unknown_categories
from .function_signals import call_values
from .interpreter import INFINITE, NONFINITE, UNIFORM, Bytecode, pack_bytecode, run_parallel
from .packed_traces import Nonfinite, PackedTraces, Traces, pack_traces, raise_nonfinite

CACHE_SIZE = 2048

Wanted = Literal["verdict", "all"]
Names = tuple[str, ...] | None
_CALL_CACHE: dict[tuple[str | int, Names, str, Wanted, bool], tuple[Bytecode, int, Formula | str]] = {}


def _store(
    formula: Formula | str, channels: Names, width: int, dtype: Any, wanted: Wanted, closed: bool, packed: Bytecode
) -> None:
    """Remember how a formula is judged on `width` channels."""
    if len(_CALL_CACHE) >= CACHE_SIZE:
        _CALL_CACHE.clear()
    name = formula if isinstance(formula, str) else id(formula)
    _CALL_CACHE[name, channels, dtype.char, wanted, closed] = packed, width, formula


def _evaluate_cached(formula: Formula | str, X: Any, channels: Names, wanted: Wanted, closed: bool) -> Array | None:
    """What `robustness` gives; None where there is something to look at: the first time, or in these traces."""
    kind = X.dtype
    kept = _CALL_CACHE.get((formula if type(formula) is str else id(formula), channels, kind.char, wanted, closed))
    if kept is None or not X.flags.c_contiguous or not kind.isnative:
        return None
    if X.ndim == 2:
        X = X[:, None]
    packed, width, _ = kept
    try:
        count, found, length = X.shape
    except ValueError:
        return None
    if found != width or not X.size:
        return None
    if wanted == "all":
        out = np.empty((count, length), kind)
        return None if run_parallel(packed, X, UNIFORM, out, count, length) else out
    out = np.empty((count, 1), kind)
    return None if run_parallel(packed, X, UNIFORM, out, count, length) else out.ravel()


At = Literal["verdict", "all", "first", "last"] | int
Values = Array | list[Array]
"""`[case]` for one judged sample, `[case, time]` for all; a list of rows for unequal lengths."""


def robustness(
    formula: Formula | str, X: Traces, channels: Sequence[str] | None = None, at: At = "verdict", *,
    nonfinite: Nonfinite = "error", step: Step | None = None,
) -> Any:  # fmt: skip
    """The robustness of each trace, `[case]`; positive means satisfied, negative violated.

    `at`: "verdict" (the last sample for past formulas, the first for others), "all" samples
    (`[case, time]`), "first", "last", or the number of a sample (negative from the end).
    `nonfinite`: what to do with NaN and infinity in the channels that are read: "error", "hold"
    (repeat the last value), "missing" (the same of NaN, and `missing(x)` tells where) or "interpolate".
    `step`: the time between samples, for functions over times; a `Dataset` knows it.
    """
    return _evaluate(formula, X, channels, at, nonfinite, False, step)


def satisfied(
    formula: Formula | str, X: Traces, channels: Sequence[str] | None = None, at: At = "verdict", *,
    nonfinite: Nonfinite = "error", step: Step | None = None,
) -> Any:  # fmt: skip
    """Whether each trace satisfies the formula; arguments and shapes as for `robustness`.

    Exact also where the robustness is zero: `x >= c` holds at c, `x > c` does not.
    """
    values = _evaluate(formula, X, channels, at, nonfinite, True, step)
    return [row >= 0 for row in values] if isinstance(values, list) else values >= 0


def signals(
    formula: Formula | str,
    X: Traces,
    channels: Sequence[str] | None = None,
    *,
    nonfinite: Nonfinite = "error",
    step: Step | None = None,
) -> dict[Formula, Values]:
    """The robustness at every sample of the formula and of each formula inside it, outermost first."""
    formula = parse(formula) if isinstance(formula, str) else formula
    return signals_of(formula, pack_traces(formula, X, channels, nonfinite, step))


def signals_of(formula: Formula, made: PackedTraces) -> dict[Formula, Values]:
    """As `signals`, of traces that are packed."""
    return {part: _at_all_samples(part, made, False) for part in dict.fromkeys(walk(formula))}


def quantity_values(
    weights: Weights, X: Traces, channels: Sequence[str] | None = None, *, step: Step | None = None
) -> Values:
    """What an atom compares, at every sample: a sum of channels and functions, in the type of the data."""
    atom = Atom(weights, ">=", 0.0)
    made = pack_traces(atom, X, channels, "error", step)
    return made.split(_at_all_samples_flat(atom, made, False))


def quantity_column(weights: Weights, made: PackedTraces) -> Floats:
    """As `quantity_values`, of all traces end to end."""
    return np.asarray(_at_all_samples_flat(Atom(weights, ">=", 0.0), made, False), np.float64)


def _evaluate(
    formula: Formula | str,
    X: Traces,
    channels: Sequence[str] | None,
    at: At,
    nonfinite: Nonfinite,
    closed: bool,
    step: Step | None = None,
) -> Any:
    names = None if channels is None else tuple(channels)
    wanted: Wanted | None = at if at in ("verdict", "all") else None
    is_array = type(X) is np.ndarray
    if wanted and nonfinite == "error" and is_array:
        found = _evaluate_cached(formula, X, names, wanted, closed)
        if found is not None:
            return found
    rule = parse(formula) if isinstance(formula, str) else formula
    made = pack_traces(rule, X, names, nonfinite, step)
    warn_of_categories(rule, made.categories)
    made.computed = None
    has_functions = has_calls(rule)
    if wanted and is_array and not has_functions:
        packed, _ = _prepare(rule, made, wanted == "verdict", closed)
        _store(formula, names, len(made.channels), made.flat.dtype, wanted, closed, packed)
    if wanted == "verdict":
        return _verdicts(rule, made, closed)
    values = made.split(_at_all_samples_flat(rule, made, closed))
    if has_functions:
        from .function_warnings import warn_of_short_traces

        warn_of_short_traces(rule, made)
    return values if at == "all" else _select_sample(values, at)


def robustness_and_verdicts(formula: Formula, made: PackedTraces, at: At = "verdict") -> tuple[Array, Bools]:
    """Robustness and verdict of each trace of a batch, `[case]`; nothing is said of windows that are empty."""
    if at == "verdict":
        values, closed = (_verdicts(formula, made, end, warns=False) for end in (False, True))
    else:
        values, closed = (
            _select_sample(made.split(_at_all_samples_flat(formula, made, end)), at) for end in (False, True)
        )
    return values, closed >= 0


def _select_sample(values: Values, at: At) -> Array:
    place = {"first": 0, "last": -1}.get(at, at) if isinstance(at, str) else at
    if not isinstance(place, int) or isinstance(place, bool):
        raise SignalError(f"at is 'verdict', 'all', 'first', 'last' or the number of a sample; found {at!r}")
    try:
        return np.array([row[place] for row in values]) if isinstance(values, list) else values[:, place].copy()
    except IndexError:
        raise SignalError(f"there is no sample {place} in some trace") from None


def _function_terms(formula: Formula) -> tuple[Term, ...] | None:
    """What its atoms read, where a function is among that; None where they read channels only."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    terms = tuple(dict.fromkeys(term for atom in atoms for term, _ in atom.weights))
    return terms if any(isinstance(term, Call) for term in terms) else None


def _with_functions(formula: Formula, terms: tuple[Term, ...], made: PackedTraces) -> PackedTraces:
    """The traces with these terms as channels: functions are computed."""
    if not made.categories:
        check_categories(formula, made.channels, {})
    read = set(channels_of(formula, values_only=True))
    for name in dict.fromkeys(name for term in terms if isinstance(term, Call) for name in term.channels):
        if name in read and not np.isfinite(made.row(name)).all():
            raise_nonfinite(made, formula)

    def holds(inner: Formula | Call) -> Floats:
        if isinstance(inner, Call):
            return made.holds(inner).astype(np.float64)
        return (_at_all_samples_flat(inner, made, True) >= 0).astype(np.float64)

    def doubles(name: str) -> Floats:
        return made.row(name).astype(np.float64)

    starts, known = made.first_samples, {} if made.computed is None else made.computed
    rows: dict[Term, Array] = {}
    for term in terms:
        if isinstance(term, str):
            rows[term] = made.row(term)
        else:
            rows[term] = call_values(term, doubles, holds, starts, made.step, known)
    return made.with_rows(rows)


def _run(formula: Formula, made: PackedTraces, out: Array, verdict: bool, closed: bool) -> tuple[PackedTraces, int]:
    """Judge all traces: the traces as the program reads them, and what was met."""
    packed, terms = _prepare(formula, made, verdict, closed)
    if terms is None:
        return made, run_parallel(packed, made.traces, made.starts, out, made.count, made.samples // made.count)
    if made.computed is None and not made.categories and made.missing is None:
        from .function_blocks import run_blocks  # formulas without functions do not need it

        compute = partial(_with_functions, formula, terms)
        met = run_blocks(formula, packed, terms, made, out, verdict, compute)
        if met is not None:
            return made, met
    made = _with_functions(formula, terms, made)
    return made, run_parallel(packed, made.traces, made.starts, out, made.count, made.samples // made.count)


def _verdicts(formula: Formula, given: PackedTraces, closed: bool, warns: bool = True) -> Array:
    out = np.empty((given.count, 1), given.flat.dtype)
    made, met = _run(formula, given, out, True, closed)
    if met & NONFINITE:
        raise_nonfinite(made, formula)
    if warns and has_calls(formula):
        from .function_warnings import warn_of_functions

        warn_of_functions(formula, given, out[:, 0])
    elif warns and met & INFINITE:
        warn_of_empty_windows(formula, np.isinf(out[:, 0]))
    return out[:, 0]


def _at_all_samples_flat(formula: Formula, made: PackedTraces, closed: bool) -> Array:
    out = np.empty((1, made.samples), made.flat.dtype)
    made, met = _run(formula, made, out, False, closed)
    if met & NONFINITE:
        raise_nonfinite(made, formula)
    return out.reshape(-1)


def _at_all_samples(formula: Formula, made: PackedTraces, closed: bool) -> Values:
    return made.split(_at_all_samples_flat(formula, made, closed))


def warn_of_empty_windows(formula: Formula, decided: Bools) -> None:
    """Of the verdicts, `[case]`, that an empty window decides; nothing where no window begins later than now."""
    if decided.any() and any(node.over.start > 0 for node in walk(formula) if isinstance(node, (*PAST, *FUTURE))):
        warn_asker(
            f"for {decided.sum()} of {decided.size} traces (first: number {decided.argmax()}) an empty window decides "
            f"the verdict of {formula}: the trace ends before the window starts, which counts as violated for F, O, U, "
            "S and as satisfied for G, H, R, T"
        )


def warn_asker(message: str) -> None:
    """A warning at the line that asked; none where one candidate of many is tried, which nobody sees."""
    asker, level = _calling_module()
    if _is_shown(asker):
        warnings.warn(message, FernnWarning, stacklevel=level)


def is_asked_for_someone() -> bool:
    """Whether a warning would be seen."""
    return _is_shown(_calling_module()[0])


def _is_shown(asker: str) -> bool:
    return not asker.startswith("fernn.") or asker.startswith(SHOWN_BY)


def warn_of_categories(formula: Formula, categories: Mapping[str, tuple[str, ...]]) -> None:
    """A warning for each category that the formula asks for and the data do not have."""
    for each in unknown_categories(formula, categories) if categories else []:
        warn_asker(f"{each}. It counts as false there: {formula}")


SHOWN_BY = ("fernn.cli", "fernn.studio", "fernn.report", "fernn.learners.adapters", "fernn.learners.sklearn")
"""Modules of fernn that judge a rule which a person gave or sees; all others try candidates, and are not warned."""


def _calling_module() -> tuple[str, int]:
    """The module outside of this room that asked for a verdict, and how many levels it is above `warn_asker`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("fernn.semantics."):
        frame, level = frame.f_back, level + 1
    return str(frame.f_globals.get("__name__", "")), level


_BYTECODE_CACHE: dict[
    tuple[int, tuple[Term, ...], str, bool, bool], tuple[Formula, Bytecode, tuple[Term, ...] | None]
] = {}
"""Packed programs, under the formula's identity, with the terms that they read in the place of channels, if any."""


def _prepare(
    formula: Formula, made: PackedTraces, verdict: bool, closed: bool
) -> tuple[Bytecode, tuple[Term, ...] | None]:
    """The program of a formula, and the terms that it reads where functions are among them."""
    key = (id(formula), made.channels, made.flat.dtype.char, verdict, closed)
    kept = _BYTECODE_CACHE.get(key)
    if kept is None:
        if verdict and direction(formula) == "mixed":
            raise SignalError(
                f"{formula} looks both back and ahead, so it has no sample of its own to be judged at: "
                "pass at='first', at='last', at='all' or the number of a sample"
            )
        if len(_BYTECODE_CACHE) >= CACHE_SIZE:
            _BYTECODE_CACHE.clear()
        terms = _function_terms(formula)
        channels = made.channels if terms is None else terms
        packed = pack_bytecode(compile_program(formula), channels, made.flat.dtype, verdict=verdict, closed=closed)
        kept = _BYTECODE_CACHE[key] = (formula, packed, terms)
    return kept[1:]
