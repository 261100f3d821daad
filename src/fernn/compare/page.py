"""The page of the reproduction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..data import Dataset, paper_split
from ..data.checks import duplicate_groups, unavoidable_errors
from ..data.splits import blocks
from .aims import Contest, contests
from .cells import MARKS, Cell, cell
from .experiments import EXPERIMENTS, REAL, RECORDED, planned, there
from .ledger import Ledger
from .markdown import table
from .methods import METHODS
from .reasons import reason
from .reported import CITATION, LENGTHS, best, reported
from .running import Outcome
from .sections import SECTIONS
from .tasks import floor, whole

LEGEND = (
    "A cell reads *paper → ours*: the number that the paper reports, our error on the paper's split (of each class "
    "the first rows, 80% of the smaller class, for training), in brackets mean and standard deviation over random "
    f"splits (ten in a full run) that keep copies and groups on one side, and the verdict: `{MARKS['better']}` ours "
    f"is better, `{MARKS['equal']}` equal within noise (rounding, and two standard errors of the difference of two "
    f"shares of so many test traces), `{MARKS['worse']}` worse. On Lyft, whose recordings are rebuilt from another "
    "scene, the mean is compared. The authors divide their errors on ECG by 58, where the test set has 56 traces "
    "(0.47 is 27 of 58, the error of never saying good): ours are shown as shares of the test traces, and divided "
    "by 58 too before they are compared."
)


def page(
    ledger: Ledger, names: Iterable[str], quick: bool, where: Mapping[str, str], left_out: Sequence[str], came: Outcome
) -> str:  # fmt: skip
    """The whole of it, from what was measured."""
    chosen = {*names, *(name for name in EXPERIMENTS if _is_there(ledger, name))}
    parts = [*_head(ledger, quick, where, left_out, came), *_aims(ledger), *_data(ledger)]
    for number, name in enumerate(EXPERIMENTS, 1):
        if name in chosen:
            parts += [f"## {number}. {EXPERIMENTS[name].title}", *SECTIONS[name](ledger)]
    return "\n\n".join([*parts, *_how(ledger), *_worse(ledger)]) + "\n"


def _is_there(ledger: Ledger, name: str) -> bool:
    """Whether an earlier run made this experiment, at least as a quick run does."""
    return all(unit in ledger.runs for unit in planned([name], quick=True)[0])


def _head(
    ledger: Ledger, quick: bool, where: Mapping[str, str], left_out: Sequence[str], came: Outcome
) -> Iterator[str]:
    command = "fernn reproduce --quick" if quick else "make reproduce"
    limits = " or ".join(f"{each:g}" for each in sorted({found.get("limit", 0.0) for found in ledger.runs.values()}))
    wall, busy = (sum(found.get(each, 0.0) for found in ledger.runs.values()) / 3600 for each in ("seconds", "cpu"))
    yield "# The paper's comparison, made again"
    yield f"{CITATION}. Every experiment, by one command: `{command}`, which goes on where it was interrupted."
    yield (
        f"{where['processor']}, {where['cores']} cores, a fit a core. "
        + ", ".join(f"{name} {found}" for name, found in list(where.items())[2:])
        + f". {len(ledger.runs):,} runs, {wall:.1f} hours of fitting in all, {busy:.1f} of processor time. "
        f"Any fit had {limits} s. All runs are in [runs.jsonl](runs.jsonl), one a line, and in [runs.csv](runs.csv)."
    )
    if ledger.sources not in ([], [ledger.source]):
        yield "**Some of these runs were made by an earlier version of the source.**"
    if left_out:
        yield "Left out:\n\n" + "\n".join(f"- {line}" for line in left_out)
    if came.interrupted:
        yield f"**Interrupted: {came.missing} runs are missing; the same command goes on.**"
    if came.failed:
        yield "No result:\n\n" + "\n".join(f"- {line}" for line in came.failed)
    yield LEGEND


def _aims(ledger: Ledger) -> Iterator[str]:
    """The better of our FERNN and the exact search beside the best that the paper reports for any method."""
    lines = []
    for text, only in (("any method", False), ("any method whose result is a formula", True)):
        held = list(contests(ledger, only))
        for who, alone in (
            ("whichever of FERNN and the exact search errs less on the test traces", False),
            ("FERNN alone", True),
        ):
            counts = [_count([each.met(alone, split) for each in held]) for split in (True, False)]
            lines.append([f"{who}: no higher than the paper's best of {text}", *counts])
    if not any(cell for line in lines for cell in line[1:]):
        return
    yield "## In short"
    yield (
        "In how many cells our error, rounded as the paper's number is, is no higher than the least that "
        "the paper reports there. The cells are the lengths 2 to 6 on every data set, and the free choice of the "
        "length."
    )
    yield table(["", "on the paper's split", "in the mean of the other splits"], lines)
    missed = [each for each in contests(ledger) if each.met(False, True) is False or each.met(False, False) is False]
    if missed:
        yield "Cells in which it is higher, on one of them or both:"
        head = ["", "the paper's best", "FERNN", "exact search"]
        yield table(head, [[each.name, _of(each), each.fernn.measured(), each.exact.measured()] for each in missed])


def _of(each: Contest) -> str:
    return f"{each.paper.mcr:g} ({each.paper.method})"


def _count(met: list[bool | None]) -> str:
    known = [each for each in met if each is not None]
    return f"{sum(known)} of {len(known)}" if known else ""


def _data(ledger: Ledger) -> Iterator[str]:
    """Copies and contradictions, and the least error that they leave."""
    lines = []
    for name in there(ledger, RECORDED):
        data = whole(name)
        train, test = paper_split(data)
        pairs, forced = unavoidable_errors(data)
        lines.append([
            name, f"{len(data)} x {data.n_channels} x {int(data.lengths.max())}",
            f"{len(np.unique(duplicate_groups(data)))}",
            f"{_seen(train, test)} of {len(test)}", f"{len(np.unique(blocks(data)))}", f"{pairs}",
            f"{forced / len(data):.4f}", f"{floor(train):.4f}", f"{floor(test):.4f}",
        ])  # fmt: skip
    if not lines:
        return
    yield "## The data"
    yield (
        "*Distinct*: traces that differ. *Leaked*: test traces of the paper's split that are in its training set "
        "too. *Blocks*: what the random splits keep on one side, copies and groups. *In both*: traces that stand in "
        "both classes, of which any classifier gets one wrong; the *floor* is the least error that this leaves, of "
        "all traces, and of the two parts of the paper's split."
    )
    size, both = "traces x channels x samples", ("in both", "floor", "of training", "of test")
    yield table(["", size, "distinct", "leaked", "blocks", *both], lines)


def _seen(train: Dataset, test: Dataset) -> int:
    known = {trace.tobytes() for trace in train.values}
    return sum(trace.tobytes() in known for trace in test.values)


def _worse(ledger: Ledger) -> Iterator[str]:
    compared = [each for each in _all(ledger) if each.verdict is not None]
    worse = [each for each in compared if each.verdict == "worse"]
    yield "## Every cell that is worse, and why"
    counts = ", ".join(f"{sum(each.verdict == kind for each in compared)} {kind}" for kind in MARKS)
    yield f"Cells that were compared with a number of the paper: {len(compared)}; {counts}."
    if worse:
        lines = [[f"{each.method}, {each.data}, {each.length}", str(each), reason(each)] for each in worse]
        yield table(["method, data, length", "cell", "why"], lines)


def _all(ledger: Ledger) -> Iterator[Cell]:
    """Every cell for which the paper has a number, its variants first, then ours beside its best."""
    known = set()
    for given in reported():
        if (given.method, given.data, given.length) not in known:
            known.add((given.method, given.data, given.length))
            of = "mixture" if given.method == "paper, unquantised" else "mcr"
            yield cell(ledger, given.method, given.data, given.length, given, of=of)
    for method in ("fernn", "exact"):
        for data in RECORDED + REAL:
            for length in LENGTHS:
                yield cell(ledger, method, data, length, best(data, length))


def _how(ledger: Ledger) -> Iterator[str]:
    used = {unit.method for unit in ledger.runs}
    uneven = ledger.uneven()
    yield "## The methods"
    if uneven:
        yield f"**Not all runs of {', '.join(uneven)} had the same traces: the data changed between them.**"
    yield (
        "All get the same training traces and have the same time. Length counts atoms and operators; a negation of "
        "an atom is free. Ours are the best up to a length, the paper's networks have exactly that length, and their "
        "Until, `left U (left & right)` when it is printed in full, counts as one operator. Our spaces also have "
        "formulas without a temporal operator, about the first sample, which the paper's have not: on Lyft they tell "
        "the classes apart from length 3 on. The formula judged is the one that a method gives back: of a front, the "
        "picked one, which is chosen without the test traces. Every error is that of the printed formula, evaluated "
        "exactly. The paper's variants choose the greatest weight (`winner='value'`), as its authors' code does; the "
        "seed of a split is also that of the method."
    )
    yield table(["method", "what it is"], [[name, how.about] for name, how in METHODS.items() if name in used])
