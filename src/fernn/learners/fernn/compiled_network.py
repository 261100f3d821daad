"""The compiled network as Python calls it: traces in tiles, and one compiled function, cached on disk, for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...data.arrays import Floats, Floats32, Ints
from ...formula import parse
from ...semantics import simd as lanes
from ...semantics.jit_cache import njit_on_disk
from . import polish_kernels, quantised_kernels
from .polish_kernels import Levels
from .quantised_kernels import LANES, Net, RestartWeights, TileBatch, Workspace, explore
from .template_network import TemplateNetwork, compile_template


@dataclass(frozen=True, eq=False)
class Tiles:
    """`values[tile, channel, time, lane]`; `ends[tile, lane]` is the judged sample, -1 where there is no trace.

    `order[i]` is the place of trace i: tile `order[i] // LANES`, lane `order[i] % LANES`.
    """

    values: Floats32
    ends: Ints
    order: Ints

    def spread(self, per_trace: npt.ArrayLike, empty: float = 0.0) -> Floats32:
        """Numbers per trace at the traces' places, `[tile, lane]`."""
        values = np.asarray(per_trace, np.float32)
        flat = np.full(self.ends.size, empty, np.float32)
        flat[self.order] = values
        return flat.reshape(self.ends.shape)

    def gathered(self, tiled: Floats32) -> Floats32:
        """From `[..., tile, lane]` back to `[..., trace]`."""
        return tiled.reshape(*tiled.shape[:-2], -1)[..., self.order]


def tile_traces(traces: Floats | tuple[Floats, ...], reverse: bool, order: Ints | None = None) -> Tiles:
    """Traces `[channel, time]` in tiles, time reversed if asked; shorter ones are padded at the end with zeros.

    `order` puts trace i at place `order[i]`; traces in neighbouring places share a tile.
    """
    count, channels = len(traces), traces[0].shape[0]
    places = np.arange(count) if order is None else order
    longest = max(trace.shape[1] for trace in traces)
    tiles = -(-count // LANES)
    flat = np.zeros((tiles * LANES, channels, longest), np.float32)
    ends = np.full(tiles * LANES, -1, np.int64)
    for place, trace in zip(places, traces, strict=True):
        samples = trace.shape[1]
        flat[place, :, :samples] = trace[:, ::-1] if reverse else trace
        ends[place] = samples - 1
    values = flat.reshape(tiles, LANES, channels, longest).transpose(0, 2, 3, 1)
    return Tiles(np.ascontiguousarray(values), ends.reshape(tiles, LANES), places)


GRADIENT, EXPLORE, POLISH, JUDGE, REGRESS = range(5)


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
        task: int, plan: Plan, net: Net, at: RestartWeights, batch: TileBatch, levels: Levels, work: Workspace,
        value: Any, grad: Any, learn: Any, out: Any, verdicts: Any, movable: Any, stop: Any,
    ) -> float:  # fmt: skip
        if task == GRADIENT:
            return float(
                quantised_kernels.gradient(
                    net, at, batch, plan.first, plan.last, plan.loss, plan.margin, plan.alternatives, work, grad, out
                )
            )
        if task == EXPLORE:
            return float(
                explore(
                    net, at, learn, batch, plan.per_step, plan.steps, plan.rate, plan.heat, plan.loss, plan.margin,
                    plan.seed, work, grad, out, stop,
                )
            )  # fmt: skip
        if task == POLISH:
            return float(
                polish_kernels.polish(
                    net, at, batch, levels, value, movable, plan.seed, plan.sweeps, plan.free, work, out, verdicts, stop
                )
            )
        if task == JUDGE:
            return float(quantised_kernels.judge(net, at, batch, work, verdicts))
        return float(polish_kernels.regress(net, at, batch, plan.reach, movable, plan.sweeps, plan.free, work, stop))

    return njit_on_disk(lanes, quantised_kernels, polish_kernels, error_model="numpy")(run)


run_network = _engine()
_NO_LEVELS = Levels(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
_NONE = np.zeros(0)
_NO_WINDOWS = np.zeros(0, np.int64)
_NO_VERDICTS = np.zeros((0, LANES), np.int8)
_NO_OUT = np.zeros((0, LANES), np.float32)
_NEVER = np.zeros(1, np.int64)
Flag = Ints
"""One number. What is being trained or polished ends soon after a thread sets it to anything but 0."""


def _make_workspace(wiring: TemplateNetwork, batch: TileBatch) -> Workspace:
    """Working memory for one tile."""
    nodes, row = len(wiring.nodes), batch.tiles.shape[2] * LANES
    return Workspace(
        np.empty(nodes, np.int64), np.empty(nodes, np.float32), np.empty(nodes, np.float32),
        np.empty(nodes, np.int64), np.empty((nodes + 1) * row, np.float32),
    )  # fmt: skip


def _run_compiled(
    task: int, plan: Plan, wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch, levels: Levels = _NO_LEVELS,
    value: Floats = _NONE, grad: Floats = _NONE, learn: Floats = _NONE, out: Floats32 = _NO_OUT,
    verdicts: npt.NDArray[np.int8] = _NO_VERDICTS, movable: Ints = _NO_WINDOWS, stop: Flag = _NEVER,
) -> float:  # fmt: skip
    seeded = plan._replace(seed=np.uint64(plan.seed))  # type: ignore[arg-type]
    work = _make_workspace(wiring, batch)
    return float(
        run_network(task, seeded, wiring.net, at, batch, levels, work, value, grad, learn, out, verdicts, movable, stop)
    )


def warm_up() -> None:
    """Loads the compiled code, or compiles it, which takes some twenty seconds, once."""
    if not run_network.signatures:
        wiring = compile_template(parse("H (x >= 0)"), ("x",))
        tiles = tile_traces(np.zeros((1, 1, 1)), reverse=False)
        weights = tiles.spread(np.ones(1))
        at = RestartWeights(
            np.zeros(1, np.int64), wiring.constants, np.full((1, quantised_kernels.PIECES, 2), -1, np.int64), True
        )
        judge_traces(wiring, at, TileBatch(tiles.values, tiles.ends, weights, weights))


def loss_and_gradient(
    wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch, loss: int, margin: float = 0.0, first: int = 0,
    last: int | None = None,
) -> tuple[float, Floats]:  # fmt: skip
    """Mean loss over the tiles `first` to `last` - 1, and its derivative by every weight."""
    grad, out = np.zeros(wiring.size), np.zeros(batch.ends.shape, np.float32)
    end = len(batch.tiles) if last is None else last
    plan = Plan(loss=loss, margin=margin, first=first, last=end, alternatives=True)
    return _run_compiled(GRADIENT, plan, wiring, at, batch, grad=grad, out=out), grad


def outputs(wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch) -> Floats32:
    """The network's output for every trace, `[tile, lane]`."""
    out = np.zeros(batch.ends.shape, np.float32)
    _run_compiled(GRADIENT, Plan(last=len(batch.tiles)), wiring, at, batch, grad=np.zeros(wiring.size), out=out)
    return out


def explore_weights(
    wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch, learn: Floats, plan: Plan, stop: Flag = _NEVER
) -> None:
    """Trains `at` in place: see `explore`."""
    grad, out = np.zeros(wiring.size), np.zeros(batch.ends.shape, np.float32)
    _run_compiled(EXPLORE, plan, wiring, at, batch, grad=grad, learn=learn, out=out, stop=stop)


def polish_weights(
    wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch, levels: Levels, value: Floats, movable: Ints,
    plan: Plan, stop: Flag = _NEVER,
) -> float:  # fmt: skip
    """Settles `at` and the thresholds `value` in place: see `polish`; the weight misjudged then."""
    z, verdicts = np.zeros(batch.ends.shape, np.float32), np.zeros(batch.ends.shape, np.int8)
    return _run_compiled(
        POLISH, plan, wiring, at, batch, levels, value, out=z, verdicts=verdicts, movable=movable, stop=stop
    )


def regress_weights(
    wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch, movable: Ints, plan: Plan, stop: Flag = _NEVER
) -> float:
    """Settles `at` in place for real-valued labels: see `regress`; the weighted sum of deviations then."""
    return _run_compiled(REGRESS, plan, wiring, at, batch, movable=movable, stop=stop)


def judge_traces(wiring: TemplateNetwork, at: RestartWeights, batch: TileBatch) -> npt.NDArray[np.int8]:
    """1 where a trace satisfies what the network says, `[tile, lane]`."""
    verdicts = np.zeros(batch.ends.shape, np.int8)
    _run_compiled(JUDGE, Plan(), wiring, at, batch, verdicts=verdicts)
    return verdicts
