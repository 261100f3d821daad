"""A planted formula: drawn at random, kept only where the traces need all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from ..data import Dataset
from ..data.datasets.synthetic import (
    NAMES,
    SHORTEST,
    Bools,
    add_noise,
    check_channels,
    check_noise,
    choose_flips,
    require_integer,
    wander_signals,
)
from ..errors import FernnError
from ..formula import Formula, direction, exactly_length, simplify
from ..formula import length as length_of
from ..plain import short_repr
from ..semantics import robustness, satisfied
from .drawing import Draw
from .needs import has_window, shorter, wider

LENGTHS = (3, 4, 5, 6)
LEAST_SHARE = 0.25
"""Of each class, among the training and among the fresh traces."""
LEAST_LOSS = 0.03
"""Share of the fresh traces that every shorter or wider formula must get wrong."""
DRAWS = 20_000

Way = Literal["future", "past"]


@dataclass(frozen=True)
class Planted:
    """The formula that was planted, traces to learn it from, and fresh ones without noise."""

    formula: Formula
    train: Dataset
    fresh: Dataset

    __repr__ = short_repr

    @property
    def has_intervals(self) -> bool:
        return has_window(self.formula)


def task(
    seed: int = 0, cases: int = 500, samples: int = 50, channels: int = 2, length: int | None = None,
    intervals: bool | None = None, flip: float = 0.0, way: Way | None = None, fresh: int = 2000, noise: float = 0.0,
) -> Planted:  # fmt: skip
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
    check_channels(channels)
    signals, draws, flips, blurs = (np.random.default_rng([seed, stream]) for stream in range(4))
    clean = wander_signals(signals, cases, samples, channels)
    train, unseen = (
        Dataset(values, channels=tuple(NAMES[:channels]), name=f"planted-{seed}")
        for values in (clean, wander_signals(signals, fresh, samples, channels))
    )
    formula = _accepted(train, unseen, draws, length, intervals, way)
    labelled = _labelled(train, satisfied(formula, train) ^ choose_flips(flips, cases, flip))
    noisy = replace(labelled, values=add_noise(blurs, clean, noise).round(3))
    return Planted(formula, noisy, _labelled(unseen, satisfied(formula, unseen)))


def _accepted(
    train: Dataset, unseen: Dataset, rng: np.random.Generator, length: int | None, intervals: bool | None,
    way: Way | None,
) -> Formula:  # fmt: skip
    """Draws until the traces need the formula; length and kind stay as drawn first, so that none is favoured."""
    drawn_length, drawn_windows, drawn_way = int(rng.choice(LENGTHS)), rng.random() < 0.5, rng.random() < 0.5
    length = drawn_length if length is None else length
    windows = bool(drawn_windows) if intervals is None else intervals
    way = way or ("future" if drawn_way else "past")
    template, draw = exactly_length(length, way, intervals=windows), Draw(train, rng)
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


def _labelled(data: Dataset, good: Bools) -> Dataset:
    return replace(data, labels=good.astype(np.int64), classes=("bad", "good"))
