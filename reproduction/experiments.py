"""The experiments of the paper as data: which methods, on which data, up to which lengths, on which splits.

A run that several experiments need is made once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from fernn.data.datasets.paper_recordings import why_missing
from fernn.errors import UnsupportedError
from fernn.evaluation.trial_runs import TrialLog
from fernn.evaluation.trials import CONTINUOUS, PAPER_SPLIT, SHAPES, Trial
from reproduction.paper_numbers import LENGTHS

SEEDS = tuple(str(seed) for seed in range(10))
SPLITS = (PAPER_SPLIT, *SEEDS)
RECORDED = ("cct", "ecg", "hapt", "lyft")
REAL = ("cct" + CONTINUOUS, "ecg" + CONTINUOUS)


@dataclass(frozen=True)
class Block:
    """All combinations of these."""

    methods: tuple[str, ...]
    data: tuple[str, ...] = RECORDED
    lengths: tuple[int, ...] = LENGTHS
    splits: tuple[str, ...] = SPLITS
    quick: tuple[str, ...] = (PAPER_SPLIT,)
    """The splits of a quick run."""
    quick_lengths: tuple[int, ...] = ()
    """The lengths of a quick run, if not all."""

    def units(self, quick: bool) -> Iterator[Trial]:
        lengths = (quick and self.quick_lengths) or self.lengths
        for data in self.data:
            for split in self.quick if quick else self.splits:
                for method in self.methods:
                    yield from (Trial(data, split, method, length) for length in lengths)


@dataclass(frozen=True)
class Experiment:
    """What the paper asked, and the runs that answer it."""

    title: str
    blocks: tuple[Block, ...]

    def units(self, quick: bool) -> Iterator[Trial]:
        for block in self.blocks:
            yield from block.units(quick)


OURS = Block(("fernn", "exact"), quick=(PAPER_SPLIT, "0", "1"))
EXPERIMENTS: dict[str, Experiment] = {
    "methods": Experiment(
        "Error and time of every method",
        (
            OURS,
            Block(("paper", "paper, early stopping", "enumerative", "lattice")),
            Block(("lattice, published",), lengths=(6,)),
        ),
    ),
    "stopping": Experiment("Early stopping", (Block(("paper", "paper, early stopping")),)),
    "quantised": Experiment(
        "Quantised and unquantised choices",
        (
            Block(("paper",), RECORDED + REAL),
            Block(("paper, unquantised",), RECORDED + REAL, quick_lengths=(2, 4, 6)),
        ),
    ),
    "continuous": Experiment(
        "Real-valued labels", (Block(("paper", "fernn"), REAL), Block(("exact",), REAL, splits=SPLITS))
    ),
    "since": Experiment(
        "With and without Since",
        (
            Block(("paper",), RECORDED + REAL, LENGTHS[1:]),
            Block(("paper, no since",), RECORDED + REAL, LENGTHS[1:]),
            Block(("fernn", "fernn, no since"), RECORDED, LENGTHS[1:]),
        ),
    ),
    "free": Experiment(
        "Free choice of the length up to 6",
        (Block(("paper, up to", "fernn"), RECORDED + REAL, (6,)), Block(("exact",), RECORDED, (6,))),
    ),
    "bounds": Experiment(
        "Learned time bounds",
        (Block(("fernn, windows", "exact, windows", "paper, windows"), ("intervals",), (2,), SEEDS, SEEDS),),
    ),
    "pictures": Experiment(
        "The best formulas against the traces",
        (Block(("paper", "fernn", "exact", "enumerative", "lattice"), splits=(PAPER_SPLIT,)),),
    ),
    "rivals": Experiment(
        "How many formulas are as good as the best",
        (
            Block(("rivals, all thresholds",), lengths=LENGTHS[:3], splits=(PAPER_SPLIT,)),
            Block(("rivals",), splits=(PAPER_SPLIT,)),
            Block((SHAPES,), lengths=(1, *LENGTHS), splits=(PAPER_SPLIT,), quick_lengths=(1, 2, 3, 4)),
        ),
    ),
}
"""By name, in the order of the page."""


def stand_in(data: str) -> str:
    """What is used where the recordings are not there: the simulated train for the paper's."""
    return data.replace("cct", "cruise")


def available_data(ledger: TrialLog, names: Sequence[str]) -> list[str]:
    """The data sets that were measured and can be read, stand-ins included."""
    measured = {unit.data for unit in ledger.runs if not _is_missing(unit.data)}
    return [name for name in dict.fromkeys([*names, *map(stand_in, names)]) if name in measured]


def _is_missing(name: str) -> bool:
    plain = name.removesuffix(CONTINUOUS)
    return plain in RECORDED and bool(why_missing(plain))


def plan_trials(names: Collection[str], quick: bool) -> tuple[list[Trial], list[str]]:
    """The units of these experiments, each once, split by split, the paper's first; and what is left out, and why.

    All experiments if none are named.

    Without the paper's recordings the simulated train stands in for its CCT data.
    """
    left_out: list[str] = []
    units: dict[Trial, None] = {}
    absent: dict[str, str] = {}
    for name in names or EXPERIMENTS:
        for unit in experiment(name).units(quick):
            plain = unit.data.removesuffix(CONTINUOUS)
            if plain in RECORDED and plain not in absent:
                absent[plain] = why_missing(plain)
            if not absent.get(plain):
                units[unit] = None
            elif plain == "cct":
                units[replace(unit, data=stand_in(unit.data))] = None
    for plain, why in absent.items():
        if why:
            instead = "; the simulated train, cruise, stands in for it" if plain == "cct" else ""
            left_out.append(f"{plain}: {why}{instead}")
    return sorted(units, key=lambda unit: SPLITS.index(unit.split)), left_out


def experiment(name: str) -> Experiment:
    """By name."""
    if name not in EXPERIMENTS:
        raise UnsupportedError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
