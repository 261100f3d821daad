"""Tests that may be looked at after every trace, and stopped at any time.

Someone who does not believe in a claim bets against it. Under the claim no way of betting makes money on average, so to
see the stake multiplied by a hundred has a chance of at most one in a hundred, however often one looks (Ville, 1939).
Bets of several sizes are placed side by side; the capital is their mean.
"""

from __future__ import annotations

import numpy as np

from ..data.dataset import Floats

SIZES = 16
TINY = 1e-9


class Bets:
    """Bets of several sizes, and what became of each after every trace."""

    def __init__(self, count: int) -> None:
        self._path = [np.zeros(count)]

    def placed(self, won: Floats) -> float:
        """The logarithm of the capital, after one more trace has multiplied each stake by `exp(won)`."""
        self._path.append(self._path[-1] + won)
        return log_mean(self._path[-1])

    def since(self, at: int) -> int:
        """From which trace on, counted from 0, some bet won the most until after `at` of them."""
        gains = [float((self._path[at] - before).max()) for before in self._path[:at]]
        return int(np.argmax(gains))


class RateBets(Bets):
    """Against: errors happen with a share of at most `rate`."""

    def __init__(self, rate: float) -> None:
        super().__init__(SIZES)
        self.rate = rate
        self._sizes = np.linspace(0.05, 0.95, SIZES) / rate  # the whole stake would be 1 / rate

    def take(self, is_error: bool) -> float:
        """The logarithm of the capital after one more trace."""
        return self.placed(np.log1p(self._sizes * (float(is_error) - self.rate)))


class EvennessBets(Bets):
    """Against: the numbers that come are even on 0 to 1, each by itself.

    Half of the bets are on numbers near 0, the others on numbers near 1.
    """

    def __init__(self) -> None:
        super().__init__(2 * SIZES)

    def take(self, number: float) -> float:
        """The logarithm of the capital after one more number."""
        power = np.linspace(0.1, 0.9, SIZES)
        sides = [np.log(power) + (power - 1) * np.log(max(side, TINY)) for side in (number, 1 - number)]
        return self.placed(np.concatenate(sides))


def log_mean(logs: Floats) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).mean()))
