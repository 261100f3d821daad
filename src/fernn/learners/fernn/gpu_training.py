"""Training of thousands of restarts at once on a GPU: generated code of one sample, weight tables, epochs on tensors.

A network is written as the code of one sample, forward and back. Every node has a name, so all is in registers:

    w3  a weight, the same for all traces of a restart      x0  a channel at this sample      s5  the signal of node 5
    y5  the result of an operator along time so far         b5  the one before this sample
    g5  the adjoint of node 5 at this sample                h5  what later samples sent back, not handed over yet
    d3  the derivative by w3, added up

The text holds numbers and these names only. It is Triton where it is compiled for a GPU (`gpu_network_kernel.py`), and
runs as it is on tensors, slowly, where `tl` has torch's functions of the same names. What it computes is that of
`mixed_kernels.py`; a quantised network is one whose losing options have the weight 0.

From the weights that are learned to those that this code reads:

    v[j] = sum of ext[one] ext[other]       over the pairs of j: an atom's factor on a channel is q[k] f[k], and so on

`ext` are per restart the weights that count at their choices (q, with 0 for losers), all weights, what is fixed, 0, 1.
The gradient by q counts as the gradient by the weight. On a GPU the operations of an epoch are recorded once and
played back, as a CUDA graph: there are hundreds, each too short to be worth sending one by one.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from ...errors import UnsupportedError
from .quantised_kernels import (
    ATOM,
    CHOICE,
    LINEAR,
    MAX,
    MIN,
    NEG,
    PAPER_SINCE,
    RUN_MAX,
    RUN_MIN,
    SINCE,
    TANH,
    WIN_MAX,
    WIN_MIN,
)
from .template_network import TemplateNetwork
from .trainable_networks import BatchPlan, QuantisedNetwork, TraceBatches
from .training import Restarts, Schedule

ALONG_TIME = (RUN_MIN, RUN_MAX, SINCE, PAPER_SINCE)


@dataclass(frozen=True)
class SampleCode:
    """The code of one sample, and the names that stay from one sample to the next."""

    channels: int
    weights: int
    root: int
    along: tuple[int, ...]
    """The operators along time."""
    lowest: tuple[bool, ...]
    """Of each of them, whether it starts from -inf; otherwise from +inf."""
    first: dict[int, int]
    """The number of the first weight of each atom (one per channel, then the bias) and of each choice."""
    forward: tuple[str, ...]
    back: tuple[str, ...]


def sample_code(wiring: TemplateNetwork) -> SampleCode:
    """The code of a network without windows."""
    nodes = [tuple(int(each) for each in node) for node in wiring.nodes]
    for (kind, *_), cell in zip(nodes, wiring.cells, strict=True):
        if kind in (WIN_MIN, WIN_MAX):
            raise UnsupportedError(f"a card trains operators over all time, found {cell}; device='cpu' takes windows")
    channels, first, count = len(wiring.channels), dict[int, int](), 0
    for n, (kind, _, b, _) in enumerate(nodes):
        if kind in (ATOM, LINEAR, CHOICE):
            first[n], count = count, count + (b if kind == CHOICE else channels + 1)
    along = tuple(n for n, node in enumerate(nodes) if node[0] in ALONG_TIME)
    lowest = tuple(nodes[n][0] != RUN_MIN for n in along)
    options, infinite = [int(each) for each in wiring.options], not np.isfinite(wiring.constants).all()
    write = _CodeWriter(nodes, options, channels, first, infinite)
    return SampleCode(channels, count, len(nodes) - 1, along, lowest, first, write.forward(), write.back())


@dataclass(frozen=True)
class _CodeWriter:
    nodes: list[tuple[int, ...]]
    options: list[int]
    channels: int
    first: dict[int, int]
    infinite: bool
    """Whether there are constants, so that a weight of 0 must keep out what it multiplies."""

    def forward(self) -> tuple[str, ...]:
        lines = []
        for n, (kind, a, b, _) in enumerate(self.nodes):
            if kind in (RUN_MIN, RUN_MAX):
                lines.append(f"y{n} = tl.{'maximum' if kind == RUN_MAX else 'minimum'}(y{n}, s{a})")
            elif kind == SINCE:
                lines.append(f"y{n} = tl.maximum(s{b}, tl.minimum(s{a}, y{n}))")
            elif kind == PAPER_SINCE:
                lines.append(f"y{n} = tl.minimum(s{a}, tl.maximum(y{n}, s{b}))")
            lines.append(f"s{n} = y{n}" if kind in ALONG_TIME else self.now(n))
        return tuple(lines)

    def now(self, n: int) -> str:
        """A node that needs this sample only."""
        kind, a, b, _ = self.nodes[n]
        if kind in (ATOM, LINEAR):
            base = self.first[n]
            terms = [f"w{base + c} * x{c}" for c in range(self.channels)]
            return f"s{n} = {' + '.join(terms)} + w{base + self.channels}"
        if kind == NEG:
            return f"s{n} = -s{a}"
        if kind == CHOICE:
            terms = [f"w{self.first[n] + k} * s{self.options[a + k]}" for k in range(b)]
            if self.infinite:
                terms = [f"tl.where(w{self.first[n] + k} != 0.0, {term}, 0.0)" for k, term in enumerate(terms)]
            return f"s{n} = {' + '.join(terms)}"
        return f"s{n} = tl.{'maximum' if kind == MAX else 'minimum'}(s{a}, s{b})"

    def back(self) -> tuple[str, ...]:
        """Of equals the left decides, and the nearest sample, as in `adjoint`."""
        lines = [self.now(n) for n in range(len(self.nodes)) if self.nodes[n][0] not in ALONG_TIME]
        got: dict[int, list[str]] = {}
        for n in range(len(self.nodes) - 1, -1, -1):
            kind, a, b, _ = self.nodes[n]
            if n in got:
                lines.append(f"g{n} = {' + '.join(got[n])}")
            if kind in (ATOM, LINEAR):
                base = self.first[n]
                lines += [f"d{base + c} = d{base + c} + g{n} * x{c}" for c in range(self.channels)]
                lines.append(f"d{base + self.channels} = d{base + self.channels} + g{n}")
            elif kind == NEG:
                got.setdefault(a, []).append(f"(-g{n})")
            elif kind == CHOICE:
                for k in range(b):
                    j, m = self.first[n] + k, self.options[a + k]
                    value = f"tl.where(tl.abs(s{m}) < float('inf'), s{m}, 0.0)" if self.infinite else f"s{m}"
                    lines.append(f"d{j} = d{j} + g{n} * {value}")
                    got.setdefault(m, []).append(f"w{j} * g{n}")
            else:
                lines += self.decided(n, got)
        return tuple(lines)

    def decided(self, n: int, got: dict[int, list[str]]) -> list[str]:
        """Lines that say who decided at node n; what operands get goes to `got`."""
        kind, a, b, _ = self.nodes[n]
        if kind in (MIN, MAX):
            got.setdefault(a, []).append(f"tl.where(c{n}, g{n}, 0.0)")
            got.setdefault(b, []).append(f"tl.where(c{n}, 0.0, g{n})")
            return [f"c{n} = s{a} {'>=' if kind == MAX else '<='} s{b}"]
        held = f"h{n} = h{n} + g{n}"
        if kind in (RUN_MIN, RUN_MAX):
            got.setdefault(a, []).append(f"u{n}")
            hit = f"c{n} = s{a} {'>=' if kind == RUN_MAX else '<='} b{n}"
            return [held, hit, f"u{n} = tl.where(c{n}, h{n}, 0.0)", f"h{n} = tl.where(c{n}, 0.0, h{n})"]
        if kind == PAPER_SINCE:  # left, if it is the least; then right, if it is no worse than what was
            one, other, first, then = a, b, f"s{a} <= tl.maximum(b{n}, s{b})", f"s{b} >= b{n}"
        else:
            one, other, first, then = b, a, f"s{b} >= tl.minimum(s{a}, b{n})", f"s{a} <= b{n}"
        got.setdefault(one, []).append(f"u{n}")
        got.setdefault(other, []).append(f"v{n}")
        return [
            held, f"c{n} = {first}", f"u{n} = tl.where(c{n}, h{n}, 0.0)", f"h{n} = tl.where(c{n}, 0.0, h{n})",
            f"e{n} = {then}", f"v{n} = tl.where(e{n}, h{n}, 0.0)", f"h{n} = tl.where(e{n}, 0.0, h{n})",
        ]  # fmt: skip


def define_functions(source: str, space: dict[str, Any]) -> dict[str, Any]:
    """What a text around such code defines. Triton asks for the source, so it is put where Python keeps such."""
    name = f"<network {len(source)} {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    made = {"__name__": __name__, **space}
    exec(compile(source, name, "exec"), made)  # made of numbers and of the names above, nothing else
    return made


Pair = tuple[int, int]


class TensorWeights:
    """The way there and back, in tables; `mixing` lets every option count."""

    def __init__(self, network: QuantisedNetwork, code: SampleCode, mixing: bool, device: Any, dtype: Any) -> None:
        wiring, size = network.wiring, network.size
        self.by_size, self.dtype, self.mixing = network.by_size, dtype, mixing
        pairs = _pairs(network, code)
        block_of, option_of = np.full(size, -1), np.full(size, -1)
        for kind, _, _, block in wiring.nodes:
            if kind in (ATOM, CHOICE):
                base, count = wiring.blocks[block, :2]
                block_of[base : base + count], option_of[base : base + count] = block, np.arange(count)
        nothing = 2 * size + len(wiring.constants)

        def tensor(values: Any, kind: Any = torch.int64) -> Any:
            return torch.as_tensor(np.asarray(values), dtype=kind, device=device)

        self.ones, self.others = (tensor(_table([[p[i] for p in each] for each in pairs], nothing)) for i in (0, 1))
        back: list[list[Pair]] = [[] for _ in range(size)]
        for j, each in enumerate(pairs):
            for a, b in each:
                for mine, other in ((a, b), (b, a)):
                    if mine < 2 * size:
                        back[mine % size].append((j, other))
        self.slots = tensor(_table([[j for j, _ in each] for each in back], 0))
        self.partners = tensor(_table([[other for _, other in each] for each in back], nothing))
        self.options = tensor(np.where(network.options < 0, size, network.options))
        self.block_of, self.option_of = tensor(np.maximum(block_of, 0)), tensor(option_of)
        self.free = tensor(block_of < 0, torch.bool)
        self.as_is, self.sized = (tensor(each, torch.float64) for each in network.sides)
        self.fixed = tensor([*wiring.constants, 0.0, 1.0], dtype)

    def extended(self, theta: Any) -> Any:
        """`ext` for weights `[restart, weight]`."""
        real = theta.to(torch.float32).to(self.dtype)  # as the compiled loops see them, which may decide who wins
        folded = self.as_is.to(self.dtype) * real + self.sized.to(self.dtype) * real.abs()
        count = len(theta)
        counting = folded
        if not self.mixing:
            sizes = folded.abs() if self.by_size else folded
            sizes = torch.cat([sizes, torch.full_like(sizes[:, :1], -torch.inf)], 1)
            won = sizes[:, self.options].argmax(2)
            counting = torch.where(self.free | (won[:, self.block_of] == self.option_of), folded, 0.0)
        return torch.cat([counting, folded, self.fixed.expand(count, -1)], 1)

    def read(self, ext: Any) -> Any:
        """What the code of a sample reads, `[restart, weight of it]`."""
        return (ext[:, self.ones] * ext[:, self.others]).sum(2).contiguous()

    def pulled(self, theta: Any, ext: Any, grad: Any) -> Any:
        """From the gradient by what is read to that by theta, in float64."""
        return (grad[:, self.slots] * ext.double()[:, self.partners]).sum(2) * (self.as_is + self.sized * theta.sign())


def _pairs(network: QuantisedNetwork, code: SampleCode) -> list[list[Pair]]:
    """For each weight that is read, the places in `ext` whose products add up to it."""
    wiring, size = network.wiring, network.size
    one, channels = 2 * size + len(wiring.constants) + 1, len(wiring.channels)
    pairs: list[list[Pair]] = []
    for n, (kind, _, options, block) in enumerate(wiring.nodes):
        if n not in code.first:
            continue
        base, count, off = (int(each) for each in wiring.blocks[block])
        if kind == CHOICE:
            pairs += [[(base + k, one)] for k in range(options)]
        elif kind == LINEAR:  # what is fixed lies behind the weights, here behind both kinds of them
            pairs += [[(size + base + c, one)] for c in range(channels + 1)]
        else:
            reads = [int(wiring.channel_of[off + k]) for k in range(count)]
            for c in range(channels):
                pairs.append([(base + k, size + base + count + k) for k in range(count) if reads[k] == c])
            pairs.append([(base + k, size + base + 2 * count + k) for k in range(count)])
    return pairs


def _table(rows: list[list[int]], fill: int) -> Any:
    """Rows of one length."""
    table = np.full((len(rows), max((1, *map(len, rows)))), fill, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


_TORCH = SimpleNamespace(maximum=torch.maximum, minimum=torch.minimum, where=torch.where, abs=torch.abs)
Samples = Callable[..., Any]


@lru_cache(maxsize=8)
def _sample_functions(wiring: TemplateNetwork) -> tuple[SampleCode, Samples, Samples]:
    """One sample forward and one back, as functions of tuples of tensors."""
    code = sample_code(wiring)
    weights, channels = _names("w", range(code.weights)), _names("x", range(code.channels))
    y, b, h = (_names(letter, code.along) for letter in "ybh")
    s, d = _names("s", code.along), _names("d", range(code.weights))
    lines = [
        "def forward(w, x, y):", *_unpack((weights, "w"), (channels, "x"), (y, "y")), *code.forward,
        f"return s{code.root}, ({y})",
    ]  # fmt: skip
    back = [
        f"def back(w, x, s, b, h, d, g{code.root}):",
        *_unpack((weights, "w"), (channels, "x"), (s, "s"), (b, "b"), (h, "h"), (d, "d")),
        *code.back,
        f"return ({h}), ({d})",
    ]
    source = "\n".join("\n    ".join(part) for part in (lines, back))
    made = define_functions(source, {"tl": _TORCH})
    return code, made["forward"], made["back"]


def _names(letter: str, numbers: Any) -> str:
    return "".join(f"{letter}{n}, " for n in numbers)


def _unpack(*pairs: tuple[str, str]) -> list[str]:
    return [f"({names}) = {whole}" for names, whole in pairs if names]


def tensor_losses(
    wiring: TemplateNetwork, weights: Any, x: Any, labels: Any, counts: Any, loss: int
) -> tuple[Any, Any, Any]:
    """(sum of losses `[restart]`, its derivative by each weight `[restart, weight]`, outputs `[restart, case]`).

    `weights[restart, weight]`; `x[channel, time, case]`, judged at the last sample; `counts` is how much each case
    counts. With `loss` negative only the outputs are computed. Losses are float64: whether one improves may hang on
    the last digits.
    """
    code, forward, back = _sample_functions(wiring)
    w = tuple(weights.T.unsqueeze(-1))
    zero = torch.zeros(weights.shape[0], x.shape[2], dtype=weights.dtype, device=weights.device)
    y = tuple(zero - inf if low else zero + inf for low in code.lowest)
    past = [y]
    out = zero
    for t in range(x.shape[1]):
        out, y = forward(w, x[:, t].unbind(0), y)
        out = out + zero
        past.append(y)
    if loss < 0:
        return zero.sum(1), weights * 0, out
    value, g = slope(loss, labels.double(), out.double())
    held, found = (zero,) * len(y), (zero,) * code.weights
    g = (g * counts).to(zero.dtype)
    for t in range(x.shape[1] - 1, -1, -1):
        held, found = back(w, x[:, t].unbind(0), past[t + 1], past[t], held, found, g)
        g = zero
    return (value * counts).sum(1), torch.stack([each.sum(1) for each in found], 1), out


def slope(loss: int, labels: Any, out: Any) -> tuple[Any, Any]:
    """(loss, its derivative by the output), as in `gradient.slope`."""
    if loss == TANH:
        out = torch.tanh(out)
        return (labels - out).abs(), torch.where(out > labels, 1.0, -1.0) * (1.0 - out * out)
    return (labels - out).abs(), torch.sign(out - labels)


AHEAD = 64
"""Epochs, at most, whose batches are dealt ahead."""
CASE_MULTIPLE = 32
"""Batches are filled up to a multiple of this many cases."""


@dataclass(frozen=True, eq=False)
class GpuTask:
    """What is trained on what: all that does not depend on where the restarts stand."""

    network: QuantisedNetwork
    traces: TraceBatches
    deal: BatchPlan
    loss: int
    mixing: bool
    schedule: Schedule


class GpuTrainer:
    """Trains restarts on a device. `dtype` is that of signals; weights are float64, as in the compiled loops."""

    def __init__(self, setting: GpuTask, device: str, dtype: Any = torch.float32, kernel: bool | None = None) -> None:
        self.setting, self.device = setting, torch.device(device)
        wiring = setting.network.wiring
        self.weights = TensorWeights(setting.network, sample_code(wiring), setting.mixing, self.device, dtype)
        on_card = self.device.type == "cuda"
        self.losses: Any = tensor_losses
        if on_card if kernel is None else kernel:
            from . import gpu_network_kernel as compiled

            self.losses = compiled.kernel_losses
        values, labels, counts = setting.traces.aligned()
        self.x = self._tensor(values.transpose(1, 2, 0), dtype)  # [channel, time, case]
        self.labels, self.counts = self._tensor(labels, dtype), self._tensor(counts, dtype)
        cases = [len(each) for each in _batches(setting.deal, 0)]
        self.lanes = -(-max(cases) // CASE_MULTIPLE) * CASE_MULTIPLE
        self.dealt = self._tensor(np.full((AHEAD, len(cases), self.lanes), len(labels) - 1), torch.int64)
        self.turn = self._tensor(np.zeros(1), torch.int64)
        self.at: dict[str, Any] = {}
        self.graph: Any = None

    def run(self, restarts: Restarts, epochs: int) -> Restarts:
        """After so many further epochs, at most AHEAD, or fewer where the schedule ends before."""
        first = restarts.epochs
        epochs = min(epochs, AHEAD, self.setting.schedule.epochs - first)
        self._take(restarts)
        dealt = [[self.filled(cases) for cases in _batches(self.setting.deal, first + k)] for k in range(epochs)]
        self.dealt[:epochs] = torch.from_numpy(np.array(dealt)).to(self.device)
        self.turn.zero_()
        for _ in range(epochs):
            self._epoch()
        return Restarts(**{name: each.cpu().numpy().copy() for name, each in self.at.items()})

    def filled(self, cases: Any) -> Any:
        """The cases of a batch, and as many of the empty one as it takes to fill its lanes."""
        return np.append(cases, np.full(self.lanes - len(cases), self.x.shape[2] - 1))

    def outputs(self, theta: Any) -> Any:
        """What each restart computes for every trace, `[restart, case]`."""
        read = self.weights.read(self.weights.extended(self._tensor(theta, torch.float64)))
        filled = -(-self.x.shape[2] // CASE_MULTIPLE) * CASE_MULTIPLE
        x = torch.nn.functional.pad(self.x, (0, filled - self.x.shape[2])).contiguous()
        none = x.new_zeros(filled)
        *_, out = self.losses(self.setting.network.wiring, read, x, none, none, -1)
        return out[:, : len(self.setting.traces)].cpu().numpy()

    def loss_and_gradient(self, theta: Any, cases: Any) -> tuple[Any, Any]:
        """Mean losses `[restart]` over these cases, filled up, and their derivatives by theta."""
        setting = self.setting
        ext = self.weights.extended(theta)
        x, counts = self.x[:, :, cases].contiguous(), self.counts[cases]
        total, found, _ = self.losses(
            setting.network.wiring, self.weights.read(ext), x, self.labels[cases], counts, setting.loss
        )
        weight = counts.double().sum()
        return total.double() / weight, self.weights.pulled(theta, ext, found.double() / weight)

    def _tensor(self, values: Any, dtype: Any) -> Any:
        return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def _take(self, restarts: Restarts) -> None:
        """Puts them where the recorded operations look for them."""
        given = {each.name: torch.from_numpy(np.array(getattr(restarts, each.name))) for each in fields(restarts)}
        if not self.at or self.at["theta"].shape != given["theta"].shape:
            self.graph, self.at = None, {name: each.to(self.device) for name, each in given.items()}
        for name, each in given.items():
            self.at[name].copy_(each)

    def _epoch(self) -> None:
        if self.device.type != "cuda":
            self._one()
        elif self.graph is None:  # the first is run as it is, which compiles what is to be compiled
            stream = torch.cuda.Stream(self.device)
            stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(stream):
                self._one()
            torch.cuda.current_stream(self.device).wait_stream(stream)
            torch.cuda.synchronize(self.device)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._one()
        else:
            self.graph.replay()

    def _one(self) -> None:
        """An epoch of every restart that has not stopped, in place."""
        at = self.at
        going = at["stopped"] == 0
        row = going.unsqueeze(1)
        losses = []
        for i in range(self.dealt.shape[1]):
            cases = self.dealt[:, i].index_select(0, self.turn)[0]
            loss, g = self.loss_and_gradient(at["theta"], cases)
            losses.append(loss)
            steps = at["steps"] + 1
            done = steps.double()
            m, v = 0.9 * at["m"] + 0.1 * g, 0.999 * at["v"] + 0.001 * g * g
            size = at["rate"] * (1 - 0.999**done).sqrt() / (1 - 0.9**done)
            theta = at["theta"] - size.unsqueeze(1) * m / (v.sqrt() + 1e-7)
            for name, new in (("theta", theta), ("m", m), ("v", v)):
                at[name].copy_(torch.where(row, new, at[name]))
            at["steps"].copy_(torch.where(going, steps, at["steps"]))
        at["epoch"].add_(going)
        at["loss"].copy_(torch.where(going, torch.stack(losses).mean(0), at["loss"]))
        self._judge(going)
        self.turn.add_(1)

    def _judge(self, going: Any) -> None:
        """What follows from the loss of the last epoch: as `training` has it, for all at once."""
        at, schedule = self.at, self.setting.schedule
        number = at["epoch"] - 1
        better = going & (at["loss"] < at["best"])
        worse = going & ~better
        stop = torch.zeros_like(worse)
        if schedule.quiet is not None:
            stop = stop | (worse & (number - at["improved"] >= schedule.quiet))
        if schedule.most_cuts is not None:
            stop = stop | (worse & (at["cuts"] >= schedule.most_cuts))
        patience = torch.where(at["cuts"] > 0, schedule.patience, schedule.first_patience)
        cut = worse & ~stop & (number - at["marked"] > patience)
        at["best"].copy_(torch.where(better, at["loss"], at["best"]))
        at["best_theta"].copy_(torch.where(better.unsqueeze(1), at["theta"], at["best_theta"]))
        at["improved"].copy_(torch.where(better, number, at["improved"]))
        at["marked"].copy_(torch.where(better | cut, number, at["marked"]))
        at["stopped"].copy_(at["stopped"] | stop)
        at["rate"].copy_(torch.where(cut, at["rate"] * schedule.cut, at["rate"]))
        at["cuts"].add_(cut)
        for name in ("m", "v"):
            at[name].masked_fill_(cut.unsqueeze(1), 0.0)
        at["steps"].masked_fill_(cut, 0)


def _batches(deal: BatchPlan, epoch: int) -> list[Any]:
    return [deal.cases(epoch * deal.batches + i) for i in range(deal.batches)]
