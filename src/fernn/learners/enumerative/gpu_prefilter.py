"""A prefilter on the GPU: it says which pairs may be within the bounds, and the CPU scores these again.

Each job is brought to one of the queries of `gpu_kernels.py`: words are turned around, and a yes adds to the errors.

O (a & b)           some sample has a and b                      met
H (a | b)           none has neither                             not met
H (a -> b)          none has a without b                         not met
a S b               b was later than the last sample without a   met
H (a S b)           a or b everywhere, and b at first            not met
O (a S b)           some sample has b                            met
a & b, a | b, ...   verdicts alone, thirty-two traces a word

Weights are whole numbers there, so that sums are exact and no candidate is lost. Where all traces weigh the same,
errors are counted. Otherwise a weight is rounded down to a whole number of small units: what a candidate errs in units
is then never more than what it errs, and less by at most one a trace.

The CPU goes through the same chunks in the same order as without a GPU, so bounds sink, leads change and candidates
are filed as they would. Only those are left out that are beyond the bounds, or, in a race, behind one that errs less:
which of several equal ones leads is decided as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...data.arrays import Bools, Ints, Ints32
from ...engines.gpu import torch_device
from .behaviour_table import BehaviourTable, VerdictSide
from .bitpack import Bits, Packed
from .scoring import ALL, ANY, BLOCK, NEAR, Objective
from .scoring_jobs import EVER, NOW
from .word_operators import AND, IMPLIES, NOT_SINCE, OR, SINCE

MEETS, LOOK, LATER, BITS = range(4)
"""What is asked of pairs, as in `kernels.py`; LOOK is its SINCE."""


@dataclass(frozen=True)
class Tile:
    """Pairs that one program works on. Numbers are powers of two."""

    left: int = 16
    right: int = 512
    warps: int = 8
    chunk: int = 32
    """Traces (of BITS, words of them) between two looks at whether all pairs of the tile err too much already."""
    registers: int = 128
    """Of a thread at most; 0 for as many as it takes."""


TILES = {MEETS: Tile(), LOOK: Tile(registers=168), LATER: Tile(), BITS: Tile(chunk=8)}
"""By what is asked. A benchmark may put others in their place before a search begins."""


def tile_sizes(*kinds: int) -> tuple[int, int, int]:
    """Lefts, rights and traces that tiles of all these kinds divide."""
    sizes = [TILES[kind] for kind in kinds]
    return max(t.left for t in sizes), max(t.right for t in sizes), max(t.chunk for t in sizes)


TOP = 1 << 29
"""Units of all traces together at most; also a bound that nothing exceeds."""


@dataclass(frozen=True, eq=False)
class IntegerWeights:
    each: Ints32
    """Of every place; 0 where there is no trace."""
    size: float
    """The weight of a unit."""
    slack: int
    """By how many units a sum may be too small."""
    noise: float
    """By how much the sums of the processor may be off."""

    def most(self, weight: float) -> int:
        """No fewer units than any candidate has that errs at most so much; below 0 where there is none."""
        if not weight < np.inf:
            return TOP
        if weight < 0 and weight + self.noise < 0:
            return -1
        return int(min(TOP, np.floor((weight + self.noise) / self.size) + (self.slack > 0)))

    def sure(self, weight: float) -> int:
        """A candidate of so many units errs at most so much."""
        if not weight < np.inf:
            return TOP
        return int(max(-1, min(TOP, np.floor((weight - self.noise) / self.size) - self.slack - (self.slack > 0))))

    def bounds(self, bounds: Any) -> Ints32:
        return np.array([self.most(float(bound)) for bound in bounds], np.int32)


def integer_weights(judge: Objective, traces: int) -> IntegerWeights:
    """Of a judge's traces, which are at the first places."""
    weights = np.asarray(judge.each, np.float64)
    total, one = float(weights.sum()), float(weights[0])
    even = bool((weights[:traces] == one).all()) and traces < TOP
    noise = 0.0 if even and one == round(one) else 4 * np.finfo(float).eps * len(judge.good) * total
    if even:
        each = np.zeros(len(weights), np.int32)
        each[:traces] = 1
        return IntegerWeights(each, one, 0, noise)
    size = total / TOP
    return IntegerWeights(np.floor(weights / size * (1 - 1e-12)).astype(np.int32), size, traces + 1, noise)


TRANSFER_BYTES = 1 << 28
"""Bytes turned around at a time."""


class DeviceRows:
    """The behaviour table on the GPU: each row is copied once. Good and bad traces take turns, as far as they go."""

    def __init__(self, table: BehaviourTable, device: Any, good: Bools, multiple: int) -> None:
        import torch

        self.shelf, self.device = table, device
        layout = table.layout
        self.traces = len(layout.order)
        self.padded = -(-self.traces // multiple) * multiple
        self.words, self.wide = layout.words, layout.bits == 64
        self.dtype = torch.int64 if self.wide else torch.int32
        self.order = _interleave_classes(good[: self.traces])
        self._order = torch.from_numpy(self.order).to(device)
        self._plain = {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[layout.bits]
        self._shape = layout.words, layout.places
        self._rows = torch.empty((0, *self._shape), dtype=self._plain, device=device)
        self._have = 0
        self._block = max(1, TRANSFER_BYTES // table.bytes)
        self.valid = self.of_words(layout.valid)

    def of_words(self, words: Packed) -> Any:
        """`[trace, word, 1]` of `[word, place]`."""
        return self._transpose(self._to_device(words[None]))

    def _to_device(self, words: Packed) -> Any:
        """`[row, word, place]` on the GPU."""
        import torch

        signed = words.view(f"i{words.itemsize}") if words.itemsize > 1 else words
        return torch.from_numpy(np.ascontiguousarray(signed)).to(self.device)

    def _transpose(self, rows: Any) -> Any:
        """`[trace, word, row]`, every word of 32 or 64 bits, of `[row, word, place]`."""
        rows = rows.index_select(2, self._order).permute(2, 1, 0).to(self.dtype)
        return rows & 0xFFFF if self.shelf.layout.bits == 16 else rows

    def _take(self) -> None:
        """Copy new rows of the behaviour table to the GPU."""
        import torch

        count = self.shelf.count
        if count > len(self._rows):
            wider = torch.empty((max(2 * len(self._rows), count), *self._shape), dtype=self._plain, device=self.device)
            wider[: self._have] = self._rows[: self._have]
            self._rows = wider
        for start in range(self._have, count, self._block):
            new = self.shelf.rows.content[start : min(start + self._block, count)].view(self.shelf.layout.dtype)
            self._rows[start : start + len(new)] = self._to_device(new.reshape(len(new), *self._shape))
        self._have = max(self._have, count)

    def side(self, ids: Ints, multiple: int) -> Any:
        """The words of these rows; rows of nothing fill it up to a multiple, and traces of nothing at the end."""
        import torch

        self._take()
        width = -(-len(ids) // multiple) * multiple
        out = torch.zeros((self.padded, self.words, width), dtype=self.dtype, device=self.device)
        at = torch.from_numpy(ids).to(self.device)
        for start in range(0, len(ids), self._block):
            part = at[start : start + self._block]
            out[: self.traces, :, start : start + len(part)] = self._transpose(self._rows.index_select(0, part))
        return out


def _interleave_classes(good: Bools) -> Ints:
    """Places such that any stretch of them has about the same share of good ones: errors then show early."""
    place = np.empty(len(good))
    for side in (good, ~good):
        place[side] = (np.arange(side.sum()) + 0.5) / max(int(side.sum()), 1)
    return np.argsort(place, kind="stable")


def last_set_bit(side: Any) -> Any:
    """`[trace, 1, row]`: the number of the last sample whose bit is set, counted from 1; 0 where there is none."""
    import torch

    wide = side.dtype == torch.int64
    best = torch.zeros((len(side), 1, side.shape[2]), dtype=torch.int32, device=side.device)
    for word in range(side.shape[1]):
        x = side[:, word].to(torch.int64)
        for half in range(2 if wide else 1):
            part = (x >> (32 * half)) & 0xFFFFFFFF
            exponent = torch.frexp(part.to(torch.float64)).exponent.to(torch.int32)  # 1 + the number of its top bit
            start = word * (64 if wide else 32) + 32 * half
            best[:, 0] = torch.where(part != 0, exponent + start, best[:, 0])
    return best


MOST_PLANES = 30


@dataclass(frozen=True, eq=False)
class PairQuery:
    """A query about pairs: `left` and `right` are sides; the rest as in `gpu_kernels.prefilter_pairs`."""

    kind: int
    left: Any
    right: Any
    weight: Ints32
    passing: Ints32
    base: Ints32
    base_passing: Ints32
    looked: Any = None
    should: Ints32 | None = None
    counts: Ints32 | None = None
    words: int = 1
    turned: bool = False


class QueryBuilder:
    """Builds the queries of one search."""

    def __init__(self, content: DeviceRows, units: IntegerWeights, judge: Objective) -> None:
        self.content, self.units = content, units
        places = np.unpackbits(np.ascontiguousarray(judge.good).view(np.uint8), bitorder="little").astype(bool)
        self.good = places[content.order]
        self.each = units.each[content.order]
        self.judge = judge

    def of_words(self, op: int, mode: int, window: int, mask: Packed, left: Ints, right: Ints) -> PairQuery | None:
        """`left op right` seen through a window, somewhere or everywhere; None for what bits can say."""
        content = self.content
        lefts, rights, _ = tile_sizes(MEETS, LOOK, LATER)
        a, b = content.side(left, lefts), content.side(right, rights)
        looked = content.of_words(mask)
        kind, turned = MEETS, False
        traces = content.traces
        flip = mode == ALL
        if (op, mode) == (AND, ANY):
            a[:traces] &= looked
        elif (op, mode) == (OR, ALL):
            a[:traces] = ~a[:traces] & looked
            b = ~b
        elif (op, mode) == (IMPLIES, ALL):
            a[:traces] &= looked
            b = ~b
        elif op not in (SINCE, NOT_SINCE):
            return None
        elif window == NOW:
            kind, flip = LATER, op == NOT_SINCE
            a[:traces] = ~a[:traces] & content.valid
            a, b = last_set_bit(a).clamp_(min=1), last_set_bit(b)
        elif window == EVER and (mode == ANY) == (op == SINCE):
            a[:traces] = content.valid
        elif window == EVER:
            a[:traces] = ~a[:traces] & content.valid
            a[:, 0] |= 1
            b = ~b
        else:
            kind, turned = LOOK, (mode == ANY) != (op == SINCE)
        return PairQuery(
            kind, a, b, *self._yes(flip, TILES[kind].chunk), self._padded(looked) if kind == LOOK else None,
            words=1 if kind == LATER else content.words, turned=turned,
        )  # fmt: skip

    def _padded(self, looked: Any) -> Any:
        import torch

        padded = torch.zeros((self.content.padded, self.content.words), dtype=looked.dtype, device=looked.device)
        padded[: self.content.traces] = looked[:, :, 0]
        return padded

    def _yes(self, flip: bool, step: int) -> tuple[Ints32, Ints32, Ints32, Ints32]:
        """What a yes adds to errors and to bad traces judged good, and what both have without; `flip`: yes is no."""
        sign = -1 if flip else 1
        bad = np.where(self.good, 0, self.each)
        weight, passing = sign * np.where(self.good, -self.each, self.each), sign * bad
        base, base_passing = (bad, bad) if flip else (self.each - bad, 0 * bad)
        rounds = self.content.padded // step
        sums = _cumulative_sums(base, rounds, step), _cumulative_sums(base_passing, rounds, step)
        return self._filled(weight), self._filled(passing), *sums

    def _filled(self, values: Any) -> Ints32:
        return np.pad(values, (0, self.content.padded - len(values))).astype(np.int32)

    def of_bits(self, op: int, left: Bits, right: Bits) -> PairQuery:
        """`left & right`, `left | right` or `left -> right` of verdicts. Words whose traces weigh differently are asked
        several times, once for each binary digit of the weights."""
        turned = op != AND  # a | b is not (not a and not b), a -> b is not (a and not b)
        good = np.ascontiguousarray(self.judge.good).view(np.uint32)
        at, masks, worth = self._asked_words
        lefts, rights, step = tile_sizes(BITS)
        rounds = -(-len(at) // step)
        spare = rounds * step - len(at)
        should = good[at] ^ np.uint32(0xFFFFFFFF if turned else 0)
        weight, should, counts, passing = (
            np.pad(values, (0, spare)) for values in (worth, should, masks, masks & ~good[at])
        )
        none = np.zeros(rounds + 1, np.int32)
        a = self._placed(left, at, spare, lefts, op == OR)
        b = self._placed(right, at, spare, rights, turned)
        return PairQuery(
            BITS, a, b, weight.astype(np.int32), passing.view(np.int32), none, none, None, should.view(np.int32),
            counts.view(np.int32), turned=turned,
        )  # fmt: skip

    @cached_property
    def _asked_words(self) -> tuple[Any, Any, Any]:
        return _planes(self.units.each.reshape(-1, 32), np.ascontiguousarray(self.judge.care).view(np.uint32))

    def _placed(self, bits: Bits, at: Any, spare: int, multiple: int, inverted: bool) -> Any:
        """`[word asked, 1, row]`"""
        import torch

        device = self.content.device
        rows = torch.from_numpy(np.ascontiguousarray(bits).view(np.int32)).to(device)
        columns = rows.t().index_select(0, torch.from_numpy(at).to(device))
        columns = ~columns if inverted else columns
        width = -(-len(bits) // multiple) * multiple
        padded = torch.zeros((len(at) + spare, 1, width), dtype=torch.int32, device=device)
        padded[: len(at), 0, : len(bits)] = columns
        return padded


def _cumulative_sums(values: Any, rounds: int, step: int) -> Ints32:
    """`[round]`: the sum over all traces of the rounds before; the last is that of all."""
    filled = np.pad(values, (0, rounds * step - len(values))).reshape(rounds, step)
    return np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int32)


def _planes(each: Any, care: Any) -> tuple[Any, Any, Any]:
    """Words to be asked, which of their bits count, and for how much; weights are `[word, bit]`."""
    at: list[int] = []
    masks: list[int] = []
    worth: list[int] = []
    for word, weights in enumerate(each):
        if not care[word]:
            continue
        used = weights[: int(care[word]).bit_count()]
        if (used == used[0]).all():
            rows = [(int(care[word]), int(used[0]))]
        else:
            bits = ((used[:, None] >> np.arange(MOST_PLANES)) & 1).astype(np.uint64)
            planes = (bits << np.arange(len(used), dtype=np.uint64)[:, None]).sum(axis=0)
            rows = [(int(plane), 1 << digit) for digit, plane in enumerate(planes.tolist()) if plane]
        at += [word] * len(rows)
        masks += [mask for mask, _ in rows]
        worth += [weight for _, weight in rows]
    return np.array(at, np.int64), np.array(masks, np.uint32), np.array(worth, np.int64)


Codes = Ints
"""`right << 32 | left`, sorted."""
MAX_PAIRS = 1 << 22
"""Pairs that can be handed back at a time."""
WRITERS = 1024
"""Programs that go over tiles again."""


class Launch:
    """A query with all that stays the same while stretches of the rights are launched."""

    def __init__(
        self, question: PairQuery, units: IntegerWeights, judge: Objective, lengths: tuple[Any, Any], longer: int,
        paired: bool,
    ) -> None:  # fmt: skip
        import torch

        self.question, self.units, self.judge = question, units, judge
        self.longer, self.paired = longer, paired
        self.tile = TILES[question.kind]
        self.device = question.left.device
        self.lefts, self.rights = (len(each) for each in lengths)
        self.shortest = longer + int(lengths[0].min()) + int(lengths[1].min())
        self.longest = longer + int(lengths[0].max()) + int(lengths[1].max())
        self._left = self._to_device(_pad_lengths(lengths[0], question.left.shape[2]))
        self._right = self._to_device(_pad_lengths(lengths[1], question.right.shape[2]))
        self._none = torch.zeros(1, dtype=torch.int32, device=self.device)
        q = question
        self._tables = [
            self._none if each is None else self._to_device(each)
            for each in (q.weight, q.passing, q.should, q.counts, q.base, q.base_passing)
        ]
        self._codes = torch.empty(MAX_PAIRS, dtype=torch.int64, device=self.device)

    def _to_device(self, values: Any) -> Any:
        import torch

        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def find(self, first: int, last: int, bounds: Any, tighten: bool) -> Codes | None:
        """Of rights `first` to `last`; None where there are more than ROOM. `first` is a multiple of the tile.

        In a race, to `tighten`, those that err least are enough, and all of these are there.
        """
        import torch

        tile, judge, units = self.tile, self.judge, self.units
        grid = -(-self.lefts // tile.left) * -(-(last - first) // tile.right)
        table = np.full(1 << (len(bounds) - 1).bit_length(), -1, np.int32)
        table[: len(bounds)] = units.bounds(bounds)
        limit_table = self._to_device(table)
        tiles = torch.empty(grid, dtype=torch.int32, device=self.device)
        state = torch.zeros(2, dtype=torch.int64, device=self.device)
        limits = (
            units.most(judge.most_missed), units.most(judge.most_passed), units.sure(judge.most_missed),
            units.sure(judge.most_passed),
        )  # fmt: skip
        for write in (False, True):
            self._go(
                min(grid, WRITERS) if write else grid, write, tighten, first, last, limit_table, tiles, state, limits
            )
        count = int(state[1])
        if count > len(self._codes):
            return None
        codes: Codes = self._codes[:count].sort().values.cpu().numpy()
        return codes

    def _go(
        self, grid: int, write: bool, tighten: bool, first: int, last: int, bounds: Any, tiles: Any, state: Any,
        limits: tuple[int, int, int, int],
    ) -> None:  # fmt: skip
        from ...engines.gpu import is_interpreted
        from .gpu_kernels import prefilter_pairs

        q, tile = self.question, self.tile
        more = {} if is_interpreted() or write or not tile.registers else {"maxnreg": tile.registers}
        within = limits[0] < self.units.most(np.inf) or limits[1] < self.units.most(np.inf)
        prefilter_pairs[(grid,)](
            q.left, q.right[:, :, first:], self._none if q.looked is None else q.looked, *self._tables, bounds,
            self._left, self._right[first:], tiles, self._codes, state, self.lefts, first, last, q.left.shape[2],
            q.right.shape[2], len(q.base) - 1, self.longer, self.shortest, self.longest, len(self._codes),
            self.units.slack, *limits,
            KIND=q.kind, WORDS=q.words, WIDE=q.left.element_size() == 8, TURNED=q.turned, LIMITS=within,
            TIGHTEN=tighten, PAIRED=self.paired, MIXED=self.shortest < self.longest, WRITE=write,
            LENGTHS=len(bounds), LEFT=tile.left, RIGHT=tile.right, CHUNK=tile.chunk, num_warps=tile.warps, **more,
        )  # fmt: skip


def _pad_lengths(lengths: Any, width: int) -> Any:
    return np.pad(np.asarray(lengths, np.int32), (0, width - len(lengths)))


WORDS_AHEAD = 1 << 37
"""Words of pairs asked about at once, less than a second's work."""
Work = Callable[[int, int, Any, bool, Any], None]


class Prefilter:
    """`rescore(lefts, rights, bounds, tighten, into)` judges the pairs left, `block` rights at once."""

    def __init__(self, launch: Launch, rescore: Callable[..., None], block: int) -> None:
        self.launch, self.again, self.block = launch, rescore, block
        self.found: Codes | None = np.empty(0, np.int64)
        self.low = self.high = 0
        self.crowded = False
        """Whether so many are within the bounds that the GPU is of no help."""

    def work(self, low: int, high: int, bounds: Any, tighten: bool, every: Work) -> Work | None:
        """What to do about rights `low` to `high`, a chunk of the processor: None for nothing, `every` for all."""
        if high > self.high and not self.crowded:
            self._ask(low, high, bounds, tighten)
        if self.found is None or self.crowded:
            return every
        start, end = np.searchsorted(self.found, [low << 32, high << 32])
        return self._listed if end > start else None

    def _ask(self, low: int, high: int, bounds: Any, tighten: bool) -> None:
        """As many chunks as can be asked about at once; fewer where too many pairs are left."""
        launch, chunk = self.launch, high - low
        step, question = launch.tile.right, launch.question
        each = launch.lefts * question.left.shape[0] * question.words
        count = max(1, WORDS_AHEAD // max(1, each * chunk))
        while True:
            end = min(low + count * chunk, launch.rights)
            first = low // step * step
            codes = launch.find(first, end, bounds, tighten)
            if codes is not None or count == 1:
                break
            count = -(-min(count, -(-(launch.rights - low) // chunk)) // 8)
        self.found, self.low, self.high = codes, low, end
        self.crowded = codes is None

    def _listed(self, low: int, high: int, bounds: Any, tighten: bool, into: Any) -> None:
        """The pairs that are left of rights `low` to `high`, in the order of the processor."""
        assert self.found is not None
        start, end = np.searchsorted(self.found, [low << 32, high << 32])
        if start == end:
            return
        codes = self.found[start:end]
        lefts, rights = codes & 0xFFFFFFFF, codes >> 32
        order = np.lexsort((rights, lefts, (rights - low) // self.block))
        self.again(lefts[order], rights[order], bounds, tighten, into)


MIN_BYTES = 1 << 25
"""Bytes of words from which on a job is prefiltered; less is done before the GPU has started."""


class GpuScorer:
    """Prefilters of jobs on the GPU, to which words are copied when a job first needs them."""

    def __init__(self, device: Any, table: BehaviourTable) -> None:
        self.device, self.shelf = device, table
        self._builder: QueryBuilder | None = None

    def _query_builder(self, judge: Objective) -> QueryBuilder:
        """Limits apart, a search has one judge."""
        if self._builder is None:
            good = np.unpackbits(np.ascontiguousarray(judge.good).view(np.uint8), bitorder="little").astype(bool)
            content = DeviceRows(self.shelf, self.device, good, tile_sizes(MEETS, LOOK, LATER)[2])
            self._builder = QueryBuilder(content, integer_weights(judge, content.traces), judge)
        return self._builder

    def bit_pairs(
        self, op: int, a: VerdictSide, b: VerdictSide, paired: bool, longer: int, judge: Objective,
        rescore: Callable[..., None], cost: int,
    ) -> Prefilter | None:  # fmt: skip
        """Scouts `a op b`; None where the job is too small. `cost` is the bytes that a right takes."""
        if cost * len(b.ids) < MIN_BYTES:
            return None
        question = self._query_builder(judge).of_bits(op, a.bits, b.bits)
        return self._start(question, judge, (a.ids, b.ids), longer, paired, rescore, BLOCK)

    def word_pairs(
        self, op: int, mode: int, window: int, mask: Packed, left: Ints, right: Ints, paired: bool, longer: int,
        judge: Objective, score: Callable[..., None], cost: int,
    ) -> Prefilter | None:  # fmt: skip
        """Scouts `left op right` in a window; None where the job is too small, or needs no words."""
        if cost * len(right) < MIN_BYTES:
            return None
        question = self._query_builder(judge).of_words(op, mode, window, mask, left, right)
        return self._start(question, judge, (left, right), longer, paired, score, max(1, NEAR // self.shelf.bytes))

    def _start(
        self, question: PairQuery | None, judge: Objective, sides: tuple[Ints, Ints], longer: int, paired: bool,
        rescore: Callable[..., None], block: int,
    ) -> Prefilter | None:  # fmt: skip
        if question is None:
            return None
        lengths = self.shelf.rows.lengths
        of = lengths[sides[0]], lengths[sides[1]]
        return Prefilter(Launch(question, self._query_builder(judge).units, judge, of, longer, paired), rescore, block)


def open_scorer(device: str, table: BehaviourTable) -> GpuScorer | None:
    """None for the processor."""
    place = torch_device(device)
    return None if place is None else GpuScorer(place, table)
