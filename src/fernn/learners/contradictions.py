"""Where what is known and what was recorded do not agree: said before anything is learned."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..data import Dataset
from ..data.problems import plural, quote_names, unknown_channel
from ..errors import DataError
from ..formula import Formula, channels
from ..formula.printer import format_number
from ..semantics import satisfied
from .prior import Prior, Range

UNLIKE = 0.75
"""Share of pairs of a good and a bad trace that are the other way round from which a monotone channel is doubted."""


def contradictions(prior: Prior, data: Dataset) -> Iterator[str]:
    """What the data say against the prior; what makes the prior meaningless for them is a DataError."""
    _check_names(prior, data)
    for formula in prior.must_hold:
        yield from _violated(formula, data)
    for name, within in prior.ranges.items():
        yield from _unit(name, within)
        yield from _outside(name, within, data)
    if len(data.classes) == 2:
        for name in prior.monotone:
            yield from _reversed(name, prior, data)


def _check_names(prior: Prior, data: Dataset) -> None:
    read = [name for formula in (*prior.must_hold, prior.template) if formula is not None for name in channels(formula)]
    said = {"without": prior.without, "ranges": prior.ranges, "monotone": prior.monotone}
    for place, names in (("a formula of the prior", read), *said.items()):
        for name in names:
            if name not in data.channels:
                raise DataError(f"{unknown_channel(name, data.channels, f'{data.name} has', f'{place} names')}.")
    if set(data.channels) <= set(prior.without):
        raise DataError(f"the rule is to do without every channel of {data.name}: {quote_names(prior.without)}.")


def _violated(formula: Formula, data: Dataset) -> Iterator[str]:
    """Good traces of which it does not hold."""
    if len(data.classes) != 2:
        return
    broken = [data.cases[i] for i in np.flatnonzero(data.positive & ~satisfied(formula, data))]
    if broken:
        good = int(data.positive.sum())
        yield (
            f"{formula} must hold, but {len(broken)} of {plural(good, 'good trace')} of {data.name} "
            f"violate{'s' * (len(broken) == 1)} it: {quote_names(broken, 5)}. The rule will judge them bad."
        )


def _outside(name: str, within: Range, data: Dataset) -> Iterator[str]:
    """Recorded values that the range leaves out."""
    row = data.channels.index(name)
    values = np.concatenate([trace[row] for trace in data.values])
    beyond = int(((values < within.low) | (values > within.high)).sum())
    if values.max() <= within.low or values.min() >= within.high:
        raise DataError(
            f"thresholds on {name} are to be from {within}, but all of it is recorded from "
            f"{format_number(values.min())} to {format_number(values.max())}: no such "
            "threshold tells two traces apart. Check the range, and its unit."
        )
    if beyond:
        yield (
            f"thresholds on {name} are to be from {within}; {beyond} of {len(values)} samples are recorded outside, "
            f"from {format_number(values.min())} to {format_number(values.max())}. They count as they are, "
            "thresholds stay inside."
        )


def _unit(name: str, within: Range) -> Iterator[str]:
    """The unit of the range against that in the name of the channel: `v [m/s]`, `speed (km/h)`."""
    if within.unit is None:
        return
    said = re.search(r"[\[(]([^\])]+)[\])]\s*$", name)
    if said is None:
        yield f"the range of {name} is in {within.unit}; the data do not say in which unit {name} is."
    elif said[1].strip() != within.unit.strip():
        raise DataError(
            f"the range of {name!r} is in {within.unit}, its name says {said[1].strip()}. Convert the range."
        )


def _reversed(name: str, prior: Prior, data: Dataset) -> Iterator[str]:
    """A channel whose mean is mostly on the other side than the prior says."""
    row = data.channels.index(name)
    means = np.array([trace[row].mean() for trace in data.values])
    good, bad = means[data.positive], means[~data.positive]
    if not len(good) or not len(bad):
        return
    larger = float((good[:, None] > bad).mean() + (good[:, None] == bad).mean() / 2)
    wrong = larger if prior.monotone[name] == "larger is worse" else 1 - larger
    if wrong > UNLIKE:
        side = "larger" if prior.monotone[name] == "larger is worse" else "smaller"
        yield (
            f"{name}: {prior.monotone[name]}, but in {wrong:.0%} of the pairs of a good and a bad trace the good one "
            f"has the {side} mean of {name}."
        )
