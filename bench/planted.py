"""Planted problems, whose answer is known: a random formula, and traces that it labels.

The formula is drawn from a template, every choice even, thresholds from the data, and kept only where the traces need
all of it: what stands near it and says less must differ.

    made = plant_formula(seed=3)
    made.formula, made.train, made.fresh
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from fernn.data import Dataset
from fernn.data.arrays import Bools
from fernn.data.datasets.synthetic import (
    NAMES,
    SHORTEST,
    add_noise,
    check_channel_count,
    check_noise,
    choose_flips,
    require_integer,
    wander_signals,
)
from fernn.errors import FernnError, short_repr
from fernn.formula import (
    ALL_TIME,
    AnyAtom,
    AnyOf,
    Formula,
    Interval,
    OpenInterval,
    atom,
    direction,
    exactly_length,
    interval,
    simplify,
)
from fernn.formula import length as length_of
from fernn.formula.nodes import children, replace_children
from fernn.semantics import robustness, satisfied

RARE = 0.02
"""Thresholds come from the values of a channel, without this share at both ends."""
BOUNDED = 2 / 3
"""How often an open window gets ends."""


@dataclass(frozen=True)
class FormulaSampler:
    """Fills what is open in templates, with thresholds as the data has them."""

    data: Dataset
    rng: np.random.Generator

    def formula(self, template: Formula) -> Formula:
        match template:
            case AnyOf(options):
                return self.formula(options[int(self.rng.integers(len(options)))])
            case AnyAtom():
                return self.atom()
        inside = tuple(self.formula(part) for part in children(template))
        over = getattr(template, "over", None)
        if isinstance(over, OpenInterval):
            return type(template)(*inside, self.window())  # type: ignore[arg-type,call-arg]
        return replace_children(template, inside)

    def atom(self) -> Formula:
        """`x <= 0.31`: any channel, either side, to two decimals."""
        channel = int(self.rng.integers(self.data.n_channels))
        values = np.concatenate([trace[channel] for trace in self.data.values])
        threshold = round(float(np.quantile(values, self.rng.uniform(RARE, 1 - RARE))), 2)
        return atom(self.data.channels[channel], "<=" if self.rng.random() < 0.5 else ">=", threshold)

    def window(self) -> Interval:
        """At least 3 and at most half of the samples; every other one starts later than now."""
        if self.rng.random() >= BOUNDED:
            return ALL_TIME
        samples = int(self.data.lengths.min())
        start = int(self.rng.integers(1, samples // 3)) if self.rng.random() < 0.5 else 0
        return interval(start, start + int(self.rng.integers(2, samples // 2)))


def shorter(formula: Formula) -> Iterator[Formula]:
    """Every formula with one operator dropped, an operand in its place, and every formula inside.

    `F (p & q)` gives `p & q`, `F p`, `F q`, `p` and `q`.
    """
    yield from dict.fromkeys((*_drop_operators(formula), *_inside(formula)))


def wider(formula: Formula) -> Iterator[Formula]:
    """The formula with one of its bounded windows over all time, for each of them, and with all of them."""
    spots = [path for path, part in _parts(formula) if _is_bounded(part)]
    for path in spots:
        yield _widen(formula, {path})
    if len(spots) > 1:
        yield _widen(formula, set(spots))


def has_window(formula: Formula) -> bool:
    """Whether some window has an end or starts later than now."""
    return any(_is_bounded(part) for _, part in _parts(formula))


def _drop_operators(formula: Formula) -> Iterator[Formula]:
    inside = children(formula)
    yield from inside
    for i, part in enumerate(inside):
        for less in _drop_operators(part):
            yield replace_children(formula, (*inside[:i], less, *inside[i + 1 :]))


def _inside(formula: Formula) -> Iterator[Formula]:
    for part in children(formula):
        yield part
        yield from _inside(part)


NodePath = tuple[int, ...]


def _parts(formula: Formula, path: NodePath = ()) -> Iterator[tuple[NodePath, Formula]]:
    yield path, formula
    for i, part in enumerate(children(formula)):
        yield from _parts(part, (*path, i))


def _is_bounded(node: Formula) -> bool:
    over = getattr(node, "over", ALL_TIME)
    return not over.is_all_time


def _widen(formula: Formula, spots: set[NodePath], path: NodePath = ()) -> Formula:
    inside = tuple(_widen(part, spots, (*path, i)) for i, part in enumerate(children(formula)))
    if path in spots:
        return type(formula)(*inside)  # type: ignore[arg-type]
    return replace_children(formula, inside)


LENGTHS = (3, 4, 5, 6)
LEAST_SHARE = 0.25
"""Of each class, among the training and among the fresh traces."""
LEAST_LOSS = 0.03
"""Share of the fresh traces that every shorter or wider formula must get wrong."""
DRAWS = 20_000

Way = Literal["future", "past"]


@dataclass(frozen=True)
class PlantedProblem:
    """The formula that was planted, traces to learn it from, and fresh ones without noise."""

    formula: Formula
    train: Dataset
    fresh: Dataset

    __repr__ = short_repr

    @property
    def has_intervals(self) -> bool:
        return has_window(self.formula)


def plant_formula(
    seed: int = 0, cases: int = 500, samples: int = 50, channels: int = 2, length: int | None = None,
    intervals: bool | None = None, flip: float = 0.0, way: Way | None = None, fresh: int = 2000, noise: float = 0.0,
) -> PlantedProblem:  # fmt: skip
    """A formula of `G F & | U`, or `H O & | S`, and traces of `wander` that are good where it holds.

    What is None is drawn: a length of 3 to 6; whether any G, F, H or O has a window; the way it looks. The
    formula is one that cannot be simplified, holds for a quarter to three quarters of the traces, and gives more than
    3% of other verdicts when an operator is dropped, when only a part of it is kept, or when a window is left away.
    Exactly the share `flip` of the training labels is then turned over. White noise is added to the training
    traces, its standard deviation the share `noise` of the channel's; their labels stay those of the clean traces.
    Formula and fresh traces are the same with and without.
    """
    check_noise(noise, flip)
    cases, fresh = require_integer("a task", "cases", cases), require_integer("a task", "fresh", fresh)
    samples, channels = (
        require_integer("a task", "samples", samples, SHORTEST),
        require_integer("a task", "channels", channels),
    )
    seed = require_integer("a task", "seed", seed, 0)
    check_channel_count(channels)
    signals, draws, flips, blurs = (np.random.default_rng([seed, stream]) for stream in range(4))
    clean = wander_signals(signals, cases, samples, channels)
    train, unseen = (
        Dataset(values, channels=tuple(NAMES[:channels]), name=f"planted-{seed}")
        for values in (clean, wander_signals(signals, fresh, samples, channels))
    )
    formula = _draw_formula(train, unseen, draws, length, intervals, way)
    labelled = _with_labels(train, satisfied(formula, train) ^ choose_flips(flips, cases, flip))
    noisy = replace(labelled, values=add_noise(blurs, clean, noise).round(3))
    return PlantedProblem(formula, noisy, _with_labels(unseen, satisfied(formula, unseen)))


def _draw_formula(
    train: Dataset, unseen: Dataset, rng: np.random.Generator, length: int | None, intervals: bool | None,
    way: Way | None,
) -> Formula:  # fmt: skip
    """Draws until the traces need the formula; length and kind stay as drawn first, so that none is favoured."""
    drawn_length, drawn_windows, drawn_way = int(rng.choice(LENGTHS)), rng.random() < 0.5, rng.random() < 0.5
    length = drawn_length if length is None else length
    windows = bool(drawn_windows) if intervals is None else intervals
    way = way or ("future" if drawn_way else "past")
    template, draw = exactly_length(length, way, intervals=windows), FormulaSampler(train, rng)
    for _ in range(DRAWS):
        formula = draw.formula(template)
        if direction(formula) == way and has_window(formula) == windows and _is_needed(formula, train, unseen):
            return formula
    kind = f"length {length} with{'' if windows else 'out'} windows"
    raise FernnError(f"{DRAWS} formulas of {kind} were drawn, and none is needed. Ask for other ones or more traces.")


def _is_needed(formula: Formula, train: Dataset, unseen: Dataset) -> bool:
    if length_of(simplify(formula)) < length_of(formula):
        return False
    at: Literal["first", "last"] = "last" if direction(formula) == "past" else "first"
    good = satisfied(formula, unseen, at=at)
    for verdicts in (good, satisfied(formula, train, at=at)):
        if not LEAST_SHARE <= verdicts.mean() <= 1 - LEAST_SHARE:
            return False
    if not all(np.isfinite(robustness(formula, data, at=at)).all() for data in (train, unseen)):
        return False  # a window beyond the end of the trace decides
    nearby = chain(shorter(formula), wider(formula))
    return all(np.mean(satisfied(less, unseen, at=at) != good) > LEAST_LOSS for less in nearby)


def _with_labels(data: Dataset, good: Bools) -> Dataset:
    return replace(data, labels=good.astype(np.int64), classes=("bad", "good"))
