"""One sample of a network as straight-line code, forward and back. Every node has a name, so all is in registers.

    w3  a weight, the same for all traces of a restart      x0  a channel at this sample      s5  the signal of node 5
    y5  the result of an operator along time so far         b5  the one before this sample
    g5  the adjoint of node 5 at this sample                h5  what later samples sent back, not handed over yet
    d3  the derivative by w3, added up

The text holds numbers and these names only. It is Triton where it is compiled for a card, and runs as it is on tensors
where `tl` has torch's functions of the same names. What it computes is that of `mixed` and `adjoint`; a quantised
network is one whose losing options have the weight 0.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..forward import ATOM, CHOICE, LINEAR, MAX, MIN, NEG, PAPER_SINCE, RUN_MAX, RUN_MIN, SINCE, WIN_MAX, WIN_MIN
from ..wiring import Wiring

ALONG_TIME = (RUN_MIN, RUN_MAX, SINCE, PAPER_SINCE)


@dataclass(frozen=True)
class Text:
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


def text(wiring: Wiring) -> Text:
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
    write = _Writer(nodes, options, channels, first, infinite)
    return Text(channels, count, len(nodes) - 1, along, lowest, first, write.forward(), write.back())


@dataclass(frozen=True)
class _Writer:
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


def functions(source: str, space: dict[str, Any]) -> dict[str, Any]:
    """What a text around such code defines. Triton asks for the source, so it is put where Python keeps such."""
    name = f"<network {len(source)} {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    made = {"__name__": __name__, **space}
    exec(compile(source, name, "exec"), made)  # made of numbers and of the names above, nothing else
    return made
