"""What Python calls: one compiled function for all that is done with a network, kept on disk once compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..formula import parse
from ..semantics import lanes
from ..semantics.ondisk import compiled_on_disk, is_kept
from . import ends, forward, gradient, judging, polish, regress, thresholds
from . import explore as explore_module
from .explore import explore
from .forward import LANES, Desk, Net, Weights
from .gradient import Batch
from .thresholds import Levels
from .tiles import tiled
from .wiring import Wiring, wired

GRADIENT, EXPLORE, POLISH, JUDGE, REGRESS = range(5)
Floats = npt.NDArray[np.float64]


class Plan(NamedTuple):
    """The numbers of a task; each task reads its own."""

    loss: int = -1
    margin: float = 0.0
    first: int = 0
    last: int = 0
    alternatives: bool = False
    steps: int = 0
    per_step: int = 0
    rate: float = 0.0
    heat: float = 0.0
    seed: int = 0
    sweeps: int = 0
    free: bool = False
    reach: float = 0.0


def _engine() -> Any:
    """Compiled at its first call and kept on disk under the text of all that it calls."""

    def run(
        task: int, plan: Plan, net: Net, at: Weights, batch: Batch, levels: Levels, desk: Desk,
        value: Any, grad: Any, learn: Any, out: Any, verdicts: Any, movable: Any, stop: Any,
    ) -> float:  # fmt: skip
        if task == GRADIENT:
            return float(
                gradient.gradient(
                    net, at, batch, plan.first, plan.last, plan.loss, plan.margin, plan.alternatives, desk, grad, out
                )
            )
        if task == EXPLORE:
            return float(
                explore(
                    net, at, learn, batch, plan.per_step, plan.steps, plan.rate, plan.heat, plan.loss, plan.margin,
                    plan.seed, desk, grad, out, stop,
                )
            )  # fmt: skip
        if task == POLISH:
            return float(
                polish.polish(
                    net,
                    at,
                    batch,
                    levels,
                    value,
                    movable,
                    plan.seed,
                    plan.sweeps,
                    plan.free,
                    desk,
                    out,
                    verdicts,
                    stop,
                )
            )
        if task == JUDGE:
            return float(judging.judged(net, at, batch, desk, verdicts))
        return float(regress.regress(net, at, batch, plan.reach, movable, plan.sweeps, plan.free, desk, stop))

    return compiled_on_disk(
        lanes, forward, gradient, explore_module, judging, thresholds, ends, polish, regress, error_model="numpy"
    )(run)


_run = _engine()


def is_compiled() -> bool:
    """Whether an earlier run left compiled code on disk, so that the first call will be quick."""
    return is_kept(_run)


_NO_LEVELS = Levels(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
_NONE = np.zeros(0)
_NO_WINDOWS = np.zeros(0, np.int64)
_NO_VERDICTS = np.zeros((0, LANES), np.int8)
_NO_OUT = np.zeros((0, LANES), np.float32)
_NEVER = np.zeros(1, np.int64)
Flag = npt.NDArray[np.int64]
"""One number. What is being trained or polished ends soon after a thread sets it to anything but 0."""


def _desk(wiring: Wiring, batch: Batch) -> Desk:
    """Working memory for one tile."""
    nodes, row = len(wiring.nodes), batch.tiles.shape[2] * LANES
    return Desk(
        np.empty(nodes, np.int64),
        np.empty(nodes, np.float32),
        np.empty(nodes, np.float32),
        np.empty(nodes, np.int64),
        np.empty((nodes + 1) * row, np.float32),
    )


def _go(
    task: int,
    plan: Plan,
    wiring: Wiring,
    at: Weights,
    batch: Batch,
    levels: Levels = _NO_LEVELS,
    value: Floats = _NONE,
    grad: Floats = _NONE,
    learn: Floats = _NONE,
    out: npt.NDArray[np.float32] = _NO_OUT,
    verdicts: npt.NDArray[np.int8] = _NO_VERDICTS,
    movable: npt.NDArray[np.int64] = _NO_WINDOWS,
    stop: Flag = _NEVER,
) -> float:
    whole = plan._replace(seed=np.uint64(plan.seed))  # type: ignore[arg-type]
    desk = _desk(wiring, batch)
    return float(
        _run(task, whole, wiring.net, at, batch, levels, desk, value, grad, learn, out, verdicts, movable, stop)
    )


def warm_up() -> None:
    """Loads the compiled code, or compiles it, which takes some twenty seconds, once."""
    if not _run.signatures:
        wiring = wired(parse("H (x >= 0)"), ("x",))
        tiles = tiled(np.zeros((1, 1, 1)), reverse=False)
        weights = tiles.spread(np.ones(1))
        at = Weights(np.zeros(1, np.int64), wiring.constants, np.full((1, forward.PIECES, 2), -1, np.int64), True)
        judged(wiring, at, Batch(tiles.values, tiles.ends, weights, weights))


def loss_and_gradient(
    wiring: Wiring, at: Weights, batch: Batch, loss: int, margin: float = 0.0, first: int = 0, last: int | None = None
) -> tuple[float, Floats]:
    """Mean loss over the tiles `first` to `last` - 1, and its derivative by every weight."""
    grad, out = np.zeros(wiring.size), np.zeros(batch.ends.shape, np.float32)
    end = len(batch.tiles) if last is None else last
    plan = Plan(loss=loss, margin=margin, first=first, last=end, alternatives=True)
    return _go(GRADIENT, plan, wiring, at, batch, grad=grad, out=out), grad


def outputs(wiring: Wiring, at: Weights, batch: Batch) -> npt.NDArray[np.float32]:
    """The network's output for every trace, `[tile, lane]`."""
    out = np.zeros(batch.ends.shape, np.float32)
    _go(GRADIENT, Plan(last=len(batch.tiles)), wiring, at, batch, grad=np.zeros(wiring.size), out=out)
    return out


def explored(wiring: Wiring, at: Weights, batch: Batch, learn: Floats, plan: Plan, stop: Flag = _NEVER) -> None:
    """Trains `at` in place: see `explore`."""
    grad, out = np.zeros(wiring.size), np.zeros(batch.ends.shape, np.float32)
    _go(EXPLORE, plan, wiring, at, batch, grad=grad, learn=learn, out=out, stop=stop)


def polished(
    wiring: Wiring,
    at: Weights,
    batch: Batch,
    levels: Levels,
    value: Floats,
    movable: npt.NDArray[np.int64],
    plan: Plan,
    stop: Flag = _NEVER,
) -> float:
    """Settles `at` and the thresholds `value` in place: see `polish`; the weight misjudged then."""
    z, verdicts = np.zeros(batch.ends.shape, np.float32), np.zeros(batch.ends.shape, np.int8)
    return _go(POLISH, plan, wiring, at, batch, levels, value, out=z, verdicts=verdicts, movable=movable, stop=stop)


def regressed(
    wiring: Wiring, at: Weights, batch: Batch, movable: npt.NDArray[np.int64], plan: Plan, stop: Flag = _NEVER
) -> float:
    """Settles `at` in place for real-valued labels: see `regress`; the weighted sum of deviations then."""
    return _go(REGRESS, plan, wiring, at, batch, movable=movable, stop=stop)


def judged(wiring: Wiring, at: Weights, batch: Batch) -> npt.NDArray[np.int8]:
    """1 where a trace satisfies what the network says, `[tile, lane]`."""
    verdicts = np.zeros(batch.ends.shape, np.int8)
    _go(JUDGE, Plan(), wiring, at, batch, verdicts=verdicts)
    return verdicts
