"""The rules of the screening on the front of a search, and the choice among all of them by description length.

A longer rule is worth its length where it shortens the description of the labels: the rule in bits, and which traces it
gets wrong. With few traces a rule with a window and a function must be right about many more of them than a plain one;
with many, a few per cent are enough. A trace that is only just told apart counts as wrong in part (`smoothed_error`).
Errors on traces not seen come from repeating the screening on folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, lgamma, log, log2, nan

import numpy as np
from scipy.special import ndtr

from ..data import Dataset
from ..data.arrays import Floats
from ..data.splits import blocks, folds
from ..errors import suppress_warnings
from ..formula import Atom, Constant, Formula, complexity, length, simplify, walk
from ..formula.expressions import Sum
from ..formula.nodes import FUTURE, PAST
from ..semantics import robustness
from .base import Entry, Front, losses, trim_to_traces
from .enumerative.candidates import Column, columns
from .enumerative.threshold_margins import margin, normalize_atoms
from .screening import BANDWIDTH, Screening, all_candidates, make_screening
from .screening_kernels import class_spread
from .signals import extend_data, functions_of, name_signals

FOLDS = 5
OPERATOR_BITS, FUNCTION_BITS, END_BITS = 2.0, 3.0, 3.0
MOST_CHANNELS = 24
"""Channels whose candidates are looked at together: those of the signals that were chosen, and others."""


def description_bits(formula: Formula, error: float, data: Dataset) -> float:
    """Bits of the rule, and of which traces it gets wrong, which are a share `error` of them."""
    return rule_bits(formula, data) + _subset_bits(len(data), len(data) * error)


def smoothed_error(formula: Formula, data: Dataset, weights: Floats, wide: Sequence[Column]) -> float:
    """The error of a rule, each trace wrong by the probability that it would be, were its robustness a little off.

    By a normal error that is to the spread of the robustness within the classes as in the screening; atoms are divided
    by the range of what they read, so that their robustness can be compared.
    """
    values = np.asarray(robustness(normalize_atoms(formula, wide), data), np.float64)
    values = np.clip(values, -1e6, 1e6)  # an empty window is infinite
    spread = max(class_spread(values, data.positive, weights), 1e-12) * BANDWIDTH / np.sqrt(len(data))
    return float(np.average(ndtr(np.where(data.positive, -values, values) / spread), weights=weights))


def rule_bits(formula: Formula, data: Dataset) -> float:
    """Operators, functions, window ends, channels and thresholds of a rule."""
    nodes = list(walk(formula))
    atoms = [node for node in nodes if isinstance(node, Atom)]
    functions, terms = sum(len(node.calls) for node in atoms), sum(len(node.weights) for node in atoms)
    windows = [node.over for node in nodes if isinstance(node, (*PAST, *FUTURE))]
    ends = sum((start > 0) + (end < inf) for over in windows for start, end in over)
    bits = OPERATOR_BITS * (len(nodes) - len(atoms)) + FUNCTION_BITS * functions + END_BITS * ends
    return bits + len(atoms) * log2(len(data) + 1) + terms * (1 + log2(data.n_channels))


def _subset_bits(n: int, k: float) -> float:
    """How many of n traces, and which k of them."""
    k = min(max(k, 0.0), n)
    return log2(n + 1) + (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)


def join_screened_rules(
    front: Front,
    data: Dataset,
    weights: Floats,
    intervals: bool,
    past: bool,
    max_length: int,
    chosen: Sequence[Sum] = (),
    max_complexity: int | None = None,
) -> Front:
    """The front with the best one-operator rule and the best two joined, each with its error on folds not seen."""
    with suppress_warnings():
        read = [name for each in chosen for name in each.channels if name not in data.categories]
        names = dict.fromkeys([*read, *data.numeric_channels])
        tried = [*all_candidates(data, list(names)[:MOST_CHANNELS], len(names) == 1), *chosen]
        screening = make_screening(data, weights, intervals, past, dict.fromkeys(tried))
        screened = _screened_entries(screening, data, weights, inf if max_complexity is None else max_complexity)
        entries = [*front.entries, *(entry for entry in screened if entry.length <= max_length)]
        if max_complexity is not None:
            entries = [entry for entry in entries if complexity(entry.formula) <= max_complexity] or entries[:1]
        extended = extend_data(data, functions_of(entry.formula for entry in entries))
        wide, bits = columns(extended), dict[Formula, float]()
        for entry in entries:
            named = name_signals(entry.formula, extended.signals)
            bits[entry.formula] = description_bits(entry.formula, smoothed_error(named, extended, weights, wide), data)

    def rank(entry: Entry) -> tuple[int, float, int, float, str]:
        return entry.length, entry.train, complexity(entry.formula), bits[entry.formula], str(entry.formula)

    kept: list[Entry] = []
    for entry in sorted(entries, key=rank):
        if not kept or entry.train < kept[-1].train - 1e-12:
            kept.append(entry)
    best = min(entries, key=lambda entry: (bits[entry.formula], *rank(entry)))
    if best not in kept:  # as accurate as a shorter one, but said in fewer bits
        kept = [e for e in kept if e.length < best.length or (e.length > best.length and e.train < best.train - 1e-12)]
        kept = sorted([*kept, best], key=lambda entry: entry.length)
    return Front(tuple(kept), kept.index(best))


def _screened_entries(screening: Screening, data: Dataset, weights: Floats, most: float) -> list[Entry]:
    found = [trim_to_traces(simplify(formula), data) for formula, _ in screening.rules(most=most)]
    found = [formula for formula in found if not isinstance(formula, Constant)]
    extended = extend_data(data, functions_of(found))
    wide = columns(extended)
    entries = []
    for formula, (validation, spread) in zip(found, _fold_errors(screening, len(found), most), strict=True):
        train = float(np.average(losses(formula, data), weights=weights))
        room = margin(name_signals(formula, extended.signals), extended, wide)
        entries.append(Entry(formula, length(formula), train, validation, spread, room))
    return entries


def _fold_errors(screening: Screening, kinds: int, most: float) -> list[tuple[float, float]]:
    """Of one condition, and of two: the error on folds that the screening had not seen, and its standard error."""
    data, unknown = screening.data, [(nan, nan)] * kinds
    if len(np.unique(blocks(data))) < FOLDS:
        return unknown
    place = {case: i for i, case in enumerate(data.cases)}
    wrong = np.full((kinds, len(data)), nan)
    for part, test in folds(data, FOLDS, 0):
        at, rows = ([place[case] for case in side.cases] for side in (test, part))
        rules = [] if part.positive.all() or not part.positive.any() else screening.rules(np.array(rows), most)
        if not rules:
            return unknown
        for kind in range(kinds):
            wrong[kind, at] = losses(rules[min(kind, len(rules) - 1)][0], test)
    means = np.average(wrong, axis=1, weights=screening.weights)
    spreads = np.sqrt(np.average((wrong - means[:, None]) ** 2, axis=1, weights=screening.weights) / len(data))
    return list(zip(means.tolist(), spreads.tolist(), strict=True))
