"""A learner that takes its time, tells of it, and can go on: what the tests of runs need and no more.

As a script it is the `fernn` command with this learner in the place of the real one, whose steps and
pause it takes from the environment.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from fernn.formula import parse
from fernn.learners import Entry, Fit, Front, Progress, silent

FOUND = ((1, 2, 0.5, 40), (3, 2, 0.3, 35), (6, 4, 0.2, 33), (9, 5, 0.1, 34))
"""(step, length, error, threshold): what is found when."""
HOLD = float(os.environ.get("SLOW_HOLD", "inf"))
"""The step at which it stays until it is interrupted, however long that takes."""


@dataclass(frozen=True)
class Slow:
    """Needs `steps` steps of `pause` seconds; each makes the state longer, to `bulk` bytes in all."""

    steps: int = int(os.environ.get("SLOW_STEPS", "12"))
    pause: float = float(os.environ.get("SLOW_PAUSE", "0.05"))
    bulk: int = 100_000
    polite: bool = "SLOW_RUDE" not in os.environ
    """Whether it ends its fit itself when interrupted."""
    seed: int = 0
    time_limit: float | None = None
    max_length: int = 6
    restarts: int = 64

    def fit(self, data: Any, watch: Any = silent, resume: dict[str, Any] | None = None) -> Fit:
        step, seconds, ended = 0, 0.0, "done"
        if resume is not None:
            step, seconds = resume["step"], resume["seconds"]
        began = time.perf_counter()
        progress = None
        try:
            while step < self.steps:
                time.sleep(self.pause)
                step += 1
                took = seconds + time.perf_counter() - began
                state = {"step": step, "seconds": took, "bulk": "x" * (self.bulk * step // self.steps)}
                progress = Progress(took, step / self.steps, step, front_at(step), state)
                watch(progress)
                while step >= HOLD:
                    time.sleep(0.02)
                    watch(progress)
                if self.time_limit is not None and took - seconds >= self.time_limit:
                    ended = "time limit"
                    break
        except KeyboardInterrupt:
            if not self.polite or progress is None:
                raise
            ended = "interrupted"
            watch(progress)
        return Fit(front_at(step), seconds + time.perf_counter() - began, ended, state)


def front_at(step: int) -> Front:
    """What is found after so many steps."""
    best: dict[int, Entry] = {}
    for when, length, error, threshold in FOUND:
        if when <= max(step, 1):
            best[length] = Entry(parse(f"G (v <= {threshold})"), length, error, error, 0.01, float("inf"))
    return Front(tuple(best[length] for length in sorted(best)), len(best) - 1)


if __name__ == "__main__":
    from fernn.cli import main
    from fernn.runs import METHODS, Method

    METHODS["fernn"] = Method(Slow, {})
    main()
