"""Two ways to the parameters of a structure: exact sweeps, and simulated annealing as it was published."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import exp, inf

import numpy as np

from .parameters import Field, Place, Valuation
from .saved import plain
from .structures import Delayed, Structure
from .sweep import TINY, Windows, settled, sweep, swept

NEAR = 1e-3
"""Share of a channel's range within which a level that was drawn may be written with fewer digits."""


@dataclass(frozen=True, eq=False)
class Sweeping:
    """By sweeps; the simplest structures from two starts, the effect alone and the cause alone."""

    ground: Field
    windows: Windows
    pulse: Callable[[], None]
    _alone: dict[tuple[int, Delayed], Valuation] = field(default_factory=dict)

    def begun(self, structure: Structure) -> Valuation:
        found = []
        for part, other in ((1, 0), (0, 1)):
            name = part, structure.parts[part]
            if name not in self._alone:
                self._alone[name] = self._swept(structure, absent(self.windows), part)[0]
            found.append(self._swept(structure, self._alone[name], other))
        return min(found, key=lambda pair: pair[1])[0]

    def _swept(self, structure: Structure, start: Valuation, part: int) -> tuple[Valuation, float]:
        return sweep(structure, start, part, self.ground, self.windows, inf)

    def quick(self, structure: Structure, start: Valuation, part: int) -> Valuation:
        return self._swept(structure, start, part)[0]

    def thorough(self, structure: Structure, start: Valuation) -> Valuation:
        last = len(structure.parts) - 1
        found, _ = swept(structure, start, self.ground, self.windows, last, self.pulse)
        return settled(structure, found, self.ground, self.windows, self.pulse)[0]


def absent(windows: Windows) -> Valuation:
    """Of the simplest structures: a cause that is always there, and an effect that never is."""
    late = max(windows.tried, key=lambda window: window[0]) if windows.delayed else windows.tried[0]
    return Valuation(windows.outer[0], (Place(windows.tried[0], -inf, -inf), Place(late, inf, inf)))


@dataclass(eq=False)
class Annealing:
    """By simulated annealing: windows and thresholds drawn, then changed at random; worse is taken less and less.

    What is drawn for a structure depends on the seed, the structure and where it starts alone, so that a search that
    was cut off and goes on comes to what it would have come to.
    """

    ground: Field
    windows: Windows
    seed: int
    pulse: Callable[[], None]
    steps: int = 400
    hot: float = 0.1
    """A rise of the error, as a share, that is taken at first about one time in three."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def _restart(self, structure: Structure, start: Valuation) -> None:
        """Draws for this structure from here on."""
        text = json.dumps(plain(structure, start))
        digest = blake2b(text.encode(), digest_size=8).digest()
        self.random = np.random.default_rng([self.seed, int.from_bytes(digest, "big")])

    def begun(self, structure: Structure) -> Valuation:
        drawn = absent(self.windows)
        self._restart(structure, drawn)
        for part in range(2):
            drawn = self._moved(structure, drawn, part)
        return self._annealed(structure, drawn)

    def quick(self, structure: Structure, start: Valuation, part: int) -> Valuation:
        self._restart(structure, start)
        return self._annealed(structure, self._moved(structure, start, part))

    def thorough(self, structure: Structure, start: Valuation) -> Valuation:
        return start

    def _annealed(self, structure: Structure, start: Valuation) -> Valuation:
        total = float(self.ground.weights.sum())
        now = best = start
        error = least = self._error(structure, start)
        for step in range(self.steps):
            heat = self.hot * total * (1 - step / self.steps) + TINY
            part = int(self.random.integers(len(structure.parts) + 1))
            moved = self._moved(structure, now, part) if part < len(structure.parts) else self._when(structure, now)
            other = self._error(structure, moved)
            if other <= error or self.random.random() < exp((error - other) / heat):
                now, error = moved, other
            if error < least:
                best, least = now, error
            if step % 50 == 0:
                self.pulse()
        return best

    def _error(self, structure: Structure, valuation: Valuation) -> float:
        return sum(self.ground.errors(self.ground.verdicts(structure, valuation)))

    def _moved(self, structure: Structure, valuation: Valuation, part: int) -> Valuation:
        """One part elsewhere: a window and a level drawn anew, or the level a little changed."""
        place, kind = valuation.places[part], structure.parts[part]
        span = self.ground.ranges[kind.channel]
        if abs(place.high) < inf and self.random.random() < 0.5:
            level = place.high + span * 0.1 * self.random.normal()
            return valuation.at(part, Place(place.window, level - NEAR * span, level))
        allowed = self.windows.allowed(structure, valuation, part, self.ground.samples)
        if not allowed:
            return valuation
        window = allowed[int(self.random.integers(len(allowed)))]
        times = self.ground.times(valuation.when)[:1]
        heights = self.ground.heights(kind, times + window[0], self.ground.ends(times + window[1]))
        level = float(self.random.uniform(heights.min(), heights.max()))
        return valuation.at(part, Place(window, level - NEAR * span, level))

    def _when(self, structure: Structure, valuation: Valuation) -> Valuation:
        last = self.ground.samples - 1 - max(place.window[1] for place in valuation.places)
        allowed = [when for when in self.windows.outer if when[1] <= last]
        return replace(valuation, when=allowed[int(self.random.integers(len(allowed)))]) if allowed else valuation
