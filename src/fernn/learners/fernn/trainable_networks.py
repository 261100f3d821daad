"""Networks with learned windows, and their loss and gradient over batches of traces.

An offset, counted from the judged sample, is in the window where its weight is >= 0. Spans of such offsets and the
gaps between them alternate. While there are more spans than a window may have, the span or gap whose weights have the
smallest sum goes: a gap is bridged, a span left out. A window that would be empty keeps the offset of the largest
weight, the nearest of equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.arrays import Bools, Floats, Floats32, Ints
from ...errors import FormulaError, UnsupportedError
from ...formula import Formula, Interval, Since, Trigger, WeakSince
from ...formula.measures import orient
from ...formula.nodes import OpenInterval, walk
from ...semantics import simd as lanes
from ...semantics.jit_cache import njit_on_disk
from . import mixed_kernels, quantised_kernels
from .compiled_network import loss_and_gradient, outputs
from .mixed_kernels import MixedSignals
from .quantised_kernels import LANES, PIECES, WIN_MAX, WIN_MIN, Net, RestartWeights, TileBatch
from .template_network import TemplateNetwork, atom_decoder, decode


@njit_on_disk(error_model="numpy")
def mask_spans(weights: Any, allowed: Any, pieces: int, spans: Any) -> None:
    """Fills `spans[piece] = (first, last)`, both offsets included, and -1 behind the last piece."""
    width = weights.size
    first, last = np.empty(width, np.int64), np.empty(width, np.int64)
    total = np.empty(width)
    count, best = 0, -1
    for i in range(width):
        weight = weights[i] if allowed[i] else -np.inf
        if weight > -np.inf and (best < 0 or weight > weights[best]):
            best = i
        is_used = weight >= 0
        if count > 0 and is_used == (count % 2 == 1):  # spans are at even places, gaps at odd ones
            total[count - 1] += weight
            last[count - 1] = i
        elif count > 0 or is_used:
            first[count], last[count], total[count] = i, i, weight
            count += 1
    spans[:] = -1
    if count == 0:
        spans[0, 0], spans[0, 1] = best, best
        return
    if count % 2 == 0:
        count -= 1
    low = 0
    while count > 2 * pieces - 1:
        k = low + int(np.argmin(np.abs(total[low : low + count])))
        count -= 2
        if k == low:
            low += 2
        elif k < low + count + 1:
            total[k - 1] += total[k] + total[k + 1]
            last[k - 1] = last[k + 1]
            for j in range(k, low + count):
                first[j], last[j], total[j] = first[j + 2], last[j + 2], total[j + 2]
    for piece in range((count + 1) // 2):
        spans[piece, 0], spans[piece, 1] = first[low + 2 * piece], last[low + 2 * piece]


def offsets_allowed(over: OpenInterval, width: int) -> Bools:
    """Which offsets 0 to `width` - 1 an open window may hold; refuses what the compiled loops cannot run over."""
    if width <= over.start:
        raise FormulaError(f"a mask of width {width} has no offset within {over}")
    if over.pieces > PIECES:
        raise UnsupportedError(f"{over} may have {over.pieces} pieces, the compiled loops run over {PIECES}")
    return np.array([any(a <= i <= b for a, b in over.spans) for i in range(width)], dtype=np.bool_)


def interval_of(weights: npt.ArrayLike, over: OpenInterval) -> Interval:
    """The window that these weights, one per offset, stand for."""
    values = np.asarray(weights, np.float32)
    spans = np.empty((PIECES, 2), np.int64)
    mask_spans(values, offsets_allowed(over, values.size), over.pieces, spans)
    return Interval(tuple((int(a), int(b)) for a, b in spans if a >= 0))


BATCHES = 4
"""In an epoch."""


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """Batch i of an epoch is the i-th quarter of each class, shuffled for that epoch.

    `kinds` are the numbers of the cases of each class. The batches of an epoch depend on the seed and the number
    of the epoch alone.
    """

    kinds: tuple[Ints, ...]
    seed: int

    @property
    def batches(self) -> int:
        """In an epoch: fewer than four only if there are not enough cases."""
        return min(BATCHES, max(len(kind) for kind in self.kinds))

    def cases(self, number: int) -> Ints:
        """The cases of a batch, counted through all epochs."""
        epoch, turn = divmod(number, self.batches)
        return _shuffle(self, epoch)[turn]


@lru_cache(maxsize=1)
def _shuffle(plan: BatchPlan, epoch: int) -> list[Ints]:
    """The batches of an epoch."""
    random, count = np.random.default_rng([plan.seed, epoch]), plan.batches
    kinds = [random.permutation(kind) for kind in plan.kinds]
    return [
        np.concatenate([kind[len(kind) * i // count : len(kind) * (i + 1) // count] for kind in kinds])
        for i in range(count)
    ]


def plan_batches(labels: Floats, weights: Floats, classes: bool, seed: int) -> BatchPlan:
    """Cases of no weight are in no batch; with `classes` the labels are +1 and -1, otherwise all are one class."""
    sides = [labels > 0, labels <= 0] if classes else [np.ones(len(labels), dtype=bool)]
    kinds = [np.flatnonzero(side & (weights > 0)) for side in sides]
    return BatchPlan(tuple(kind for kind in kinds if len(kind)), seed)


class TraceBatches:
    """Labelled traces from which batches are laid out in tiles; time is reversed if `reverse`."""

    def __init__(self, traces: Sequence[Floats], labels: Floats, weights: Floats, reverse: bool) -> None:
        count, channels = len(traces), traces[0].shape[0]
        self.samples = max(trace.shape[1] for trace in traces)
        # One more, empty: it fills up the last tile of a batch.
        self._values = np.zeros((count + 1, channels, self.samples), np.float32)
        self._ends = np.full(count + 1, -1, np.int64)
        for i, trace in enumerate(traces):
            self._values[i, :, : trace.shape[1]] = trace[:, ::-1] if reverse else trace
            self._ends[i] = trace.shape[1] - 1
        self._labels, self._weights = (np.append(each, 0.0).astype(np.float32) for each in (labels, weights))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def aligned(self) -> tuple[Floats, Floats, Floats]:
        """(values `[case, channel, time]`, labels, weights), and one more case, empty, at the end.

        Every trace ends at the last sample, its first one repeated before it: operators over all time take no notice.
        """
        values = self._values.astype(np.float64)
        for i, end in enumerate(self._ends[:-1]):
            gap = self.samples - 1 - end
            values[i] = np.concatenate([np.repeat(values[i, :, :1], gap, 1), values[i, :, : end + 1]], 1)
        return values, self._labels.astype(np.float64), self._weights.astype(np.float64)

    def batch(self, cases: Ints) -> TileBatch:
        """These cases, in this order."""
        filled = np.append(cases, np.full(-len(cases) % LANES, -1, np.int64)).reshape(-1, LANES)
        values = self._values[filled].transpose(0, 2, 3, 1)  # [tile, channel, time, lane]
        return TileBatch(np.ascontiguousarray(values), self._ends[filled], self._labels[filled], self._weights[filled])


class QuantisedNetwork:
    """The network of a wiring whose open windows have `width` weights: theta are the weights that are learned.

    `by_size` says which of the two rules is used.
    """

    def __init__(self, wiring: TemplateNetwork, width: int, by_size: bool = True) -> None:
        for node in walk(wiring.template):
            if isinstance(node, Since | WeakSince | Trigger) and isinstance(node.over, OpenInterval):
                raise UnsupportedError(
                    f"the compiled loops learn no window of S, B, T, U, W and R, as in {node}; "
                    "the torch cells do, but for B and W"
                )
        self.wiring, self.width, self.by_size = wiring, width, by_size
        self._spans = wiring.fixed_spans()
        self._masks = [
            (number, int(base), offsets_allowed(over, width), over.pieces)
            for number, (over, base) in enumerate(zip(wiring.windows, wiring.masks, strict=True))
            if isinstance(over, OpenInterval)
        ]
        self.options = _options(wiring)
        self.sides = _sides(wiring)
        self._as_is, self._by_size = self.sides

    @property
    def size(self) -> int:
        return self.wiring.learned

    def at(self, theta: Floats) -> RestartWeights:
        """The quantised weights, as the compiled loops take them."""
        real = theta.astype(np.float32)
        folded = self._as_is * real + self._by_size * np.abs(real)
        sizes = np.append(np.abs(folded) if self.by_size else folded, -np.inf)
        for number, base, allowed, pieces in self._masks:
            mask_spans(real[base : base + self.width], allowed, pieces, self._spans[number])
        weights = np.concatenate([folded, self.wiring.constants])
        return RestartWeights(sizes[self.options].argmax(1), weights, self._spans, False)

    def pulled(self, theta: Floats, grad: Floats) -> Floats:
        """From the gradient by the quantised weights to that by theta."""
        return grad[: self.size] * (self._as_is + self._by_size * np.sign(theta))

    def formula(self, theta: Floats) -> Formula:
        """Its robustness is what the network computes; it looks the way the network does."""
        winners, weights, spans, _ = self.at(theta)
        blocks = self.wiring.blocks
        factors = [weights[base + w] if count else 1.0 for w, (base, count, _) in zip(winners, blocks, strict=True)]
        atom = atom_decoder(self.wiring, winners, weights)
        formula = decode(self.wiring, winners, spans, self.width, factors, atom)
        return orient(formula, self.wiring.future)


class QuantisedBackend:
    """Loss and gradient of a quantised network over batches of traces, by trace-back in compiled loops.

    `formula` is that of the winners.
    """

    def __init__(self, network: QuantisedNetwork, traces: TraceBatches, plan: BatchPlan, loss: int) -> None:
        self.network, self.traces, self.deal, self.loss = network, traces, plan, loss
        self._last: tuple[int, TileBatch] | None = None

    @property
    def batches(self) -> int:
        return self.deal.batches

    @property
    def size(self) -> int:
        return self.network.size

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        loss, grad = loss_and_gradient(self.network.wiring, self.network.at(theta), self.batch(number), self.loss)
        return loss, self.network.pulled(theta, grad)

    def batch(self, number: int) -> TileBatch:
        """The batch of this number, laid out once for all restarts that ask for it in turn."""
        if self._last is None or self._last[0] != number:
            self._last = number, self.traces.batch(self.deal.cases(number))
        return self._last[1]

    def robustness(self, theta: Floats) -> Floats32:
        """What the network computes for every trace."""
        batch = self.traces.batch(np.arange(len(self.traces)))
        out: Floats32 = outputs(self.network.wiring, self.network.at(theta), batch)
        return out.reshape(-1)[: len(self.traces)]

    def formula(self, theta: Floats) -> Formula:
        return self.network.formula(theta)


def _options(wiring: TemplateNetwork) -> Ints:
    """The places of the weights of each choice, `[block, option]`; -1 where there is none: it never wins."""
    table = np.full((len(wiring.blocks), int(wiring.blocks[:, 1].max(initial=1))), -1, np.int64)
    for block, (base, count, _) in enumerate(wiring.blocks):
        table[block, :count] = np.arange(base, base + count)
    return table


def _sides(wiring: TemplateNetwork) -> tuple[Floats32, Floats32]:
    """(a, b): the network computes with `a theta + b |theta|`.

    An atom that may only bound from one side has its factors taken by their size, and its choice too; a
    channel that a linear atom may not read has neither.
    """
    as_is, by_size = np.ones(wiring.learned, np.float32), np.zeros(wiring.learned, np.float32)
    for block, options in enumerate(wiring.hole_options):
        base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
        if wiring.linear:
            size = len(wiring.channels)
            as_is[base : base + size] = [c in options.channel for c in range(size)]
            if count == 1 and options.side[0]:
                place = base + options.channel[0]
                as_is[place], by_size[place] = 0.0, options.side[0]
        elif options.side[0]:
            as_is[base : base + 2 * count] = 0.0
            by_size[base : base + count] = 1.0
            by_size[base + count : base + 2 * count] = options.side
    return as_is, by_size


def _engine() -> Any:
    """Compiled at its first call and kept on disk under the text of all that it calls."""

    def run(net: Net, theta: Any, batch: TileBatch, loss: int, rows: MixedSignals, grad: Any, out: Any) -> float:
        return float(mixed_kernels.mixture_gradient(net, theta, batch, loss, rows, grad, out))

    return njit_on_disk(lanes, quantised_kernels, mixed_kernels, error_model="numpy")(run)


_run = _engine()


class MixingBackend(QuantisedBackend):
    """Loss and gradient of a mixing network over batches of traces, in float32, by compiled loops.

    `network` says how weights are read. There are no windows: where one lies beyond the trace it is infinite, and a
    sum with it says nothing.
    """

    def __init__(self, network: QuantisedNetwork, traces: TraceBatches, plan: BatchPlan, loss: int) -> None:
        wiring = network.wiring
        for node, cell in zip(wiring.nodes, wiring.cells, strict=True):
            if node[0] in (WIN_MIN, WIN_MAX):
                raise UnsupportedError(
                    f"choices that mix need operators over all time, found {cell}: an empty window is infinite, and "
                    "mixes with nothing. Quantised networks take it, and the torch cells where no choice mixes it"
                )
        super().__init__(network, traces, plan, loss)
        self._net, count = wiring.net, len(wiring.nodes)
        self._rows = MixedSignals(
            np.full((count, traces.samples * LANES), np.nan, np.float32),  # what is read before it is written shows
            np.full((count, traces.samples * LANES), np.nan, np.float32),
            np.empty((count, len(wiring.channels) + 1), np.float32),
            np.empty(count, np.int64),
        )

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        loss, grad, _ = self._ran(theta, self.batch(number), self.loss)
        return loss, self.network.pulled(theta, grad)

    def robustness(self, theta: Floats) -> Floats32:
        """What the network computes for every trace."""
        count = len(self.traces)
        *_, out = self._ran(theta, self.traces.batch(np.arange(count)), -1)
        return out.reshape(-1)[:count]

    def _ran(self, theta: Floats, batch: TileBatch, loss: int) -> tuple[float, Floats, Floats32]:
        grad, out = np.zeros(self.network.wiring.size), np.zeros(batch.ends.shape, np.float32)
        loss = _run(self._net, self.network.at(theta).theta, batch, loss, self._rows, grad, out)
        return float(loss), grad, out
