"""The quantised network as a function of its real-valued weights.

    forward      q = onehot(k) W[k],  k = argmax |W|, or argmax W          for every choice; of equals the first wins
    backward     the gradient by q counts as the gradient by W

So the weights that lose learn as well, and one that is pushed down far enough wins by its size, as a negation. By its
value it does not; then W[k] is negative only where all are. Windows are quantised likewise, see `masks`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError
from ..formula import Formula, Since
from ..formula.interval import OpenInterval
from ..formula.measures import facing
from ..formula.nodes import walk
from .batches import Deal, Traces
from .engine import loss_and_gradient, outputs
from .forward import Weights
from .gradient import Batch
from .masks import offsets_allowed, settle
from .readout import read, scaled_atoms
from .wiring import Wiring

Floats = npt.NDArray[np.float64]


class Quantised:
    """The network of a wiring whose open windows have `width` weights: theta are the weights that are learned.

    `by_size` says which of the two rules is used.
    """

    def __init__(self, wiring: Wiring, width: int, by_size: bool = True) -> None:
        for node in walk(wiring.template):
            if isinstance(node, Since) and isinstance(node.over, OpenInterval):
                raise UnsupportedError(
                    f"the compiled loops learn no window of S and U, as in {node}; the torch cells do"
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

    def at(self, theta: Floats) -> Weights:
        """The quantised weights, as the compiled loops take them."""
        real = theta.astype(np.float32)
        folded = self._as_is * real + self._by_size * np.abs(real)
        sizes = np.append(np.abs(folded) if self.by_size else folded, -np.inf)
        for number, base, allowed, pieces in self._masks:
            settle(real[base : base + self.width], allowed, pieces, self._spans[number])
        weights = np.concatenate([folded, self.wiring.constants])
        return Weights(sizes[self.options].argmax(1), weights, self._spans, False)

    def pulled(self, theta: Floats, grad: Floats) -> Floats:
        """From the gradient by the quantised weights to that by theta."""
        return grad[: self.size] * (self._as_is + self._by_size * np.sign(theta))

    def formula(self, theta: Floats) -> Formula:
        """Its robustness is what the network computes; it looks the way the network does."""
        winners, weights, spans, _ = self.at(theta)
        blocks = self.wiring.blocks
        factors = [weights[base + won] if count else 1.0 for won, (base, count, _) in zip(winners, blocks, strict=True)]
        made = scaled_atoms(self.wiring, winners, weights)
        found = read(self.wiring, winners, spans, self.width, factors, made)
        return facing(found, self.wiring.future)


class Compiled:
    """Loss and gradient of a quantised network over batches of traces, by trace-back in compiled loops.

    `formula` is that of the winners.
    """

    def __init__(self, network: Quantised, traces: Traces, deal: Deal, loss: int) -> None:
        self.network, self.traces, self.deal, self.loss = network, traces, deal, loss
        self._last: tuple[int, Batch] | None = None

    @property
    def batches(self) -> int:
        return self.deal.batches

    @property
    def size(self) -> int:
        return self.network.size

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        loss, grad = loss_and_gradient(self.network.wiring, self.network.at(theta), self.batch(number), self.loss)
        return loss, self.network.pulled(theta, grad)

    def batch(self, number: int) -> Batch:
        """The batch of this number, laid out once for all restarts that ask for it in turn."""
        if self._last is None or self._last[0] != number:
            self._last = number, self.traces.batch(self.deal.cases(number))
        return self._last[1]

    def robustness(self, theta: Floats) -> npt.NDArray[np.float32]:
        """What the network computes for every trace."""
        batch = self.traces.batch(np.arange(len(self.traces)))
        out: npt.NDArray[np.float32] = outputs(self.network.wiring, self.network.at(theta), batch)
        return out.reshape(-1)[: len(self.traces)]

    def formula(self, theta: Floats) -> Formula:
        return self.network.formula(theta)


def _options(wiring: Wiring) -> npt.NDArray[np.int64]:
    """The places of the weights of each choice, `[block, option]`; -1 where there is none: it never wins."""
    table = np.full((len(wiring.blocks), int(wiring.blocks[:, 1].max(initial=1))), -1, np.int64)
    for block, (base, count, _) in enumerate(wiring.blocks):
        table[block, :count] = np.arange(base, base + count)
    return table


def _sides(wiring: Wiring) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
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
