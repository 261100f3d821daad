"""The page of the reproduction: the experiments as sections, the best formulas, the aims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from fernn.data import Dataset, paper_split
from fernn.data.checks import duplicate_groups, unavoidable_errors
from fernn.data.splits import blocks
from fernn.evaluation.comparison import markdown_table
from fernn.evaluation.trial_runs import TrialLog, TrialsOutcome
from fernn.evaluation.trials import (
    CONTINUOUS,
    LABELLING,
    METHODS,
    PAPER_SPLIT,
    SHAPES,
    TrialResult,
    irreducible_error,
    load_trial_data,
    load_whole,
)
from fernn.formula import parse
from fernn.semantics import score
from reproduction.cells import MARKS, Cell, Contest, cell, contests, reason
from reproduction.experiments import EXPERIMENTS, REAL, RECORDED, available_data, plan_trials
from reproduction.paper_numbers import CITATION, LENGTHS, PRINTED, best, in_paper, paper_numbers


def formulas(ledger: TrialLog) -> Iterator[str]:
    lines = []
    for name in available_data(ledger, RECORDED):
        for method, found in finest(ledger, name).items():
            lines.append([f"{name}, {method}", f"`{found['formula']}`", f"{found['mcr']:.3f}", f"{found['train']:.3f}"])
        for method, formula in PRINTED.get(name, {}).items():
            both = load_trial_data(name, PAPER_SPLIT)
            errors = (score(parse(formula), part).mcr for part in (both.test, both.train))
            lines.append([f"{name}, the paper's {method}", f"`{formula}`", *(f"{error:.3f}" for error in errors)])
    yield markdown_table(["", "formula", "test error", "train"], lines)


def finest(ledger: TrialLog, name: str) -> dict[str, TrialResult]:
    """Of every method the formula that errs least in training on the paper's split, the shortest of equals."""
    found = {}
    for method in ("fernn", "exact", "paper", "enumerative", "lattice"):
        runs = [run for n in LENGTHS if (run := ledger.one(method, name, n, PAPER_SPLIT)) is not None]
        if runs:
            found[method] = min(runs, key=lambda run: (run["train"], run["found_length"]))
    return found


def rivals(ledger: TrialLog) -> Iterator[str]:
    yield (
        "On the training traces of the paper's split. *Errors* is the least that any formula of this length or less "
        "makes, proved by going through all of them: with every threshold that makes a difference, where the search "
        "ended in time, or on a grid of 32 thresholds a channel, so that finer ones may err less. *Ways* are the "
        "different verdicts on these traces that err as little, *formulas* the shortest that give them, as far as "
        "they behave differently. *Shapes* counts formulas with open atoms, of those of this length or less that say "
        "different things, which err as little as the best of them with some atoms; *test errors* are the least and "
        "the greatest of their best formulas on the test traces: the training traces cannot tell them apart."
    )
    lines = []
    for name in available_data(ledger, RECORDED):
        known: list[list[Any]] = []
        for length in (1, *LENGTHS):
            searched = ledger.one(SHAPES, name, length, PAPER_SPLIT)
            known += [] if searched is None else searched["shapes"]
            for method, thresholds in (("rivals, all thresholds", "all"), ("rivals", "grid")):
                found = ledger.one(method, name, length, PAPER_SPLIT)
                if found is not None and found["ended"] == "done":
                    lines.append(
                        [f"{name}, {length}", thresholds, *_best_there(found), *_as_good(known if searched else [])]
                    )
                    break
    head = ["data, length", "thresholds", "errors", "proved", "looked at", "ways", "formulas", "shapes", "test errors"]
    yield markdown_table(head, lines)


def _best_there(found: TrialResult) -> list[str]:
    least = min(row[1] for row in found["front"])
    more = "" if found.get("all_ways") else "at least "
    return [
        f"{round(least * found['learned_on'])} of {found['learned_on']}", "yes" if found.get("certified") else "no",
        f"{found.get('looked_at', 0):,}", f"{more}{found.get('ways', 0):,}", f"{more}{found.get('formulas', 0):,}",
    ]  # fmt: skip


def _as_good(known: list[list[Any]]) -> list[str]:
    """`12 of 42` shapes that err least in training, and their test errors."""
    if not known:
        return ["", ""]
    least = min(row[1] for row in known)
    tests = [row[2] for row in known if row[1] <= least + 1e-9]
    return [f"{len(tests)} of {len(known)}", f"{min(tests):.3f} to {max(tests):.3f}"]


Section = Iterator[str]


def lengths_head(lengths: Sequence[int] = LENGTHS) -> list[str]:
    return [f"length {length}" for length in lengths]


def figures(ledger: TrialLog, names: Sequence[str], text: str) -> Section:
    """Those that were drawn, of every data set."""
    for data in available_data(ledger, RECORDED):
        for name in names:
            path = f"figures/{name.format(data)}.png"
            if (ledger.folder / path).is_file():
                yield f"![{text.format(data)}]({path})"


def methods(ledger: TrialLog) -> Section:
    """Errors, then seconds, by method and length."""
    rows = ("fernn", "exact", "paper", "paper, early stopping", "enumerative", "lattice", "lattice, published")
    for name in available_data(ledger, RECORDED):
        lines = [["the paper's best", *(_best(name, length) for length in LENGTHS)]]
        for method in rows:
            own = method in ("fernn", "exact")
            cells = [
                cell(ledger, method, name, n, best(name, n) if own else in_paper(method, name, n)) for n in LENGTHS
            ]
            if any(not isnan(each.ours) for each in cells):
                lines.append([method, *map(str, cells)])
        yield f"**{name}**, test error:"
        yield markdown_table(["", *lengths_head()], lines)
    yield "Seconds a fit, one core, median of the splits (the paper's in front, where it has them):"
    lines = []
    for name in available_data(ledger, RECORDED):
        for method in rows:
            cells = [cell(ledger, method, name, n, in_paper(method, name, n, "stopping")) for n in LENGTHS]
            if any(not isnan(each.ours) for each in cells):
                lines.append([f"{name}, {method}", *map(_seconds, cells)])
    yield markdown_table(["", *lengths_head()], lines)
    yield from figures(ledger, ["{}-error", "{}-seconds"], "Error and seconds on {}, by method and length")


def stopping(ledger: TrialLog) -> Section:
    lines = []
    for name in available_data(ledger, RECORDED):
        for length in LENGTHS:
            pair = [
                cell(ledger, method, name, length, in_paper(method, name, length, "stopping"))
                for method in ("paper", "paper, early stopping")
            ]
            lines.append([f"{name}, {length}", *map(str, pair), *map(_seconds, pair)])
    head = ["data, length", "no early stopping", "early stopping", "seconds", "seconds, early stopping"]
    yield markdown_table(head, lines)


def quantised(ledger: TrialLog) -> Section:
    yield (
        "The paper reports the error of the unquantised network itself, *mixture*, which is no formula: that of the "
        "sign of its output, shown here for that reason only. *Read* is the formula that its weights are read as. "
        "Here all choices mix; in the authors' code the choice among whole networks stays quantised."
    )
    lines = []
    for name in available_data(ledger, RECORDED + REAL):
        rows = (
            ("quantised", "paper", "mcr", True), ("mixture", "paper, unquantised", "mixture", True),
            ("mixture, read", "paper, unquantised", "mcr", False),
        )  # fmt: skip
        for label, method, of, compared in rows:
            given = [in_paper(method, name, n, "quantised") if compared else None for n in LENGTHS]
            cells = [cell(ledger, method, name, n, paper, of=of) for n, paper in zip(LENGTHS, given, strict=True)]
            lines.append([f"{name}, {label}", *map(str, cells)])
    yield markdown_table(["", *lengths_head()], lines)


def continuous(ledger: TrialLog) -> Section:
    """Labels are the robustness of a formula; errors are against the classes."""
    lines = []
    for name in available_data(ledger, REAL):
        plain = name.removesuffix(CONTINUOUS)
        labelling = LABELLING[plain]
        given = next((each for each in paper_numbers() if each.table == "continuous" and each.data == name), None)
        theirs = score(parse(labelling), load_trial_data(plain, PAPER_SPLIT).test).mcr
        ours = ledger.one("fernn", name, 6, PAPER_SPLIT)
        lines.append([
            name, f"`{labelling}`", f"{theirs:.3f}", "" if given is None else f"`{given.formula}` {given.mcr:.3f}",
            "" if ours is None else f"`{ours['formula']}` {ours['mcr']:.3f}",
        ])  # fmt: skip
    yield markdown_table(["", "labelling formula", "its error", "the paper's FERNN", "ours, up to length 6"], lines)
    yield (
        "Who learns these labels exactly has the labelling formula, with its error; the paper gives that as 0.069 on "
        "ECG (4 of 58) and 0.030 on CCT. By length:"
    )
    lines = []
    for name in available_data(ledger, REAL):
        for method in ("fernn", "exact", "paper"):
            own = method != "paper"
            cells = [
                cell(ledger, method, name, n, best(name, n) if own else in_paper(method, name, n, "quantised"))
                for n in LENGTHS
            ]
            label = "exact, on the signs of the labels" if method == "exact" else method
            lines.append([f"{name}, {label}", *map(str, cells)])
    yield markdown_table(["", *lengths_head()], lines)


def since(ledger: TrialLog) -> Section:
    lines = []
    for name in available_data(ledger, RECORDED + REAL):
        for method in ("paper", "paper, no since", "fernn", "fernn, no since"):
            cells = [cell(ledger, method, name, n, in_paper(method, name, n)) for n in LENGTHS[1:]]
            if any(not isnan(each.ours) for each in cells):
                lines.append([f"{name}, {method}", *map(str, cells), _seconds(cells[-1])])
    yield markdown_table(["", *lengths_head(LENGTHS[1:]), "seconds, length 6"], lines)


def free(ledger: TrialLog) -> Section:
    """The length is the method's own choice."""
    lines = []
    for name in available_data(ledger, RECORDED + REAL):
        given = in_paper("paper, up to", name, 6, "free")
        for method in ("paper, up to", "fernn", "exact"):
            each = cell(ledger, method, name, 6, given)
            if isnan(each.ours):
                continue
            shown = each.first or each.others[0]
            lines.append([f"{name}, {method}", str(each), _seconds(each), f"`{shown['formula']}`"])
        if given is not None:
            lines.append([f"{name}, as printed", f"{given.mcr:.2f}", f"{given.seconds:.0f}", f"`{given.formula}`"])
    yield markdown_table(["", "error", "seconds", "formula, on the paper's split where there is one"], lines)


def bounds(ledger: TrialLog) -> Section:
    """Windows on the artificial data, whose classes differ at samples 1 and 2."""
    paper = in_paper("paper, windows", "intervals", 2)
    lines = []
    for method in ("fernn, windows", "exact, windows", "paper, windows"):
        each = cell(ledger, method, "intervals", 2, paper)
        if each.others:
            seen = Counter(_window(found["formula"]) for found in each.others).most_common(4)
            said = ", ".join(f"{window} ({times})" for window, times in seen)
            lines.append([method, str(each), f"{each.seconds:.2f}", said, f"`{each.others[0]['formula']}`"])
    if paper is not None:
        lines.append(["the paper's", f"{paper.mcr:.2f}", "", _window(paper.formula), f"`{paper.formula}`"])
    head = ["", "error on fresh traces", "seconds", "windows (times found)", "formula of the first seed"]
    yield markdown_table(head, lines)


def pictures(ledger: TrialLog) -> Section:
    yield from formulas(ledger)
    yield from figures(ledger, ["{}"], "The formulas against the traces of {}")


SECTIONS: dict[str, Callable[[TrialLog], Section]] = {
    "methods": methods,
    "stopping": stopping,
    "quantised": quantised,
    "continuous": continuous,
    "since": since,
    "free": free,
    "bounds": bounds,
    "pictures": pictures,
    "rivals": rivals,
}
assert SECTIONS.keys() == EXPERIMENTS.keys()


def _best(name: str, length: int) -> str:
    found = best(name, length)
    return "" if found is None else f"{found.mcr:.2f} ({found.method.removeprefix('paper, ')})"


def _seconds(each: Cell) -> str:
    if isnan(each.seconds):
        return ""
    ours = f"{each.seconds:.1f}"
    return f"{each.paper.seconds:.0f} → {ours}" if each.paper is not None and each.paper.seconds else ours


def _window(formula: str) -> str:
    head, bracket, rest = formula.partition("[")
    return "[" + rest.split(" ")[0] if bracket and len(head) <= 2 else "none"


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
    ledger: TrialLog, names: Iterable[str], quick: bool, where: Mapping[str, str], left_out: Sequence[str],
    came: TrialsOutcome,
) -> str:  # fmt: skip
    """The whole of it, from what was measured."""
    chosen = {*names, *(name for name in EXPERIMENTS if _is_there(ledger, name))}
    parts = [*_head(ledger, quick, where, left_out, came), *_aims(ledger), *_data(ledger)]
    for number, name in enumerate(EXPERIMENTS, 1):
        if name in chosen:
            parts += [f"## {number}. {EXPERIMENTS[name].title}", *SECTIONS[name](ledger)]
    return "\n\n".join([*parts, *_how(ledger), *_worse(ledger)]) + "\n"


def _is_there(ledger: TrialLog, name: str) -> bool:
    """Whether an earlier run made this experiment, at least as a quick run does."""
    return all(unit in ledger.runs for unit in plan_trials([name], quick=True)[0])


def _head(
    ledger: TrialLog, quick: bool, where: Mapping[str, str], left_out: Sequence[str], came: TrialsOutcome
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


def _aims(ledger: TrialLog) -> Iterator[str]:
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
    yield markdown_table(["", "on the paper's split", "in the mean of the other splits"], lines)
    missed = [each for each in contests(ledger) if each.met(False, True) is False or each.met(False, False) is False]
    if missed:
        yield "Cells in which it is higher, on one of them or both:"
        head = ["", "the paper's best", "FERNN", "exact search"]
        rows = [[each.name, _of(each), each.fernn.measured(), each.exact.measured()] for each in missed]
        yield markdown_table(head, rows)


def _of(each: Contest) -> str:
    return f"{each.paper.mcr:g} ({each.paper.method})"


def _count(met: list[bool | None]) -> str:
    known = [each for each in met if each is not None]
    return f"{sum(known)} of {len(known)}" if known else ""


def _data(ledger: TrialLog) -> Iterator[str]:
    """Copies and contradictions, and the least error that they leave."""
    lines = []
    for name in available_data(ledger, RECORDED):
        data = load_whole(name)
        train, test = paper_split(data)
        pairs, forced = unavoidable_errors(data)
        lines.append([
            name, f"{len(data)} x {data.n_channels} x {int(data.lengths.max())}",
            f"{len(np.unique(duplicate_groups(data)))}",
            f"{_seen(train, test)} of {len(test)}", f"{len(np.unique(blocks(data)))}", f"{pairs}",
            f"{forced / len(data):.4f}", f"{irreducible_error(train):.4f}", f"{irreducible_error(test):.4f}",
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
    yield markdown_table(["", size, "distinct", "leaked", "blocks", *both], lines)


def _seen(train: Dataset, test: Dataset) -> int:
    known = {trace.tobytes() for trace in train.values}
    return sum(trace.tobytes() in known for trace in test.values)


def _worse(ledger: TrialLog) -> Iterator[str]:
    compared = [each for each in _all(ledger) if each.verdict is not None]
    worse = [each for each in compared if each.verdict == "worse"]
    yield "## Every cell that is worse, and why"
    counts = ", ".join(f"{sum(each.verdict == kind for each in compared)} {kind}" for kind in MARKS)
    yield f"Cells that were compared with a number of the paper: {len(compared)}; {counts}."
    if worse:
        lines = [[f"{each.method}, {each.data}, {each.length}", str(each), reason(each)] for each in worse]
        yield markdown_table(["method, data, length", "cell", "why"], lines)


def _all(ledger: TrialLog) -> Iterator[Cell]:
    """Every cell for which the paper has a number, its variants first, then ours beside its best."""
    known = set()
    for given in paper_numbers():
        if (given.method, given.data, given.length) not in known:
            known.add((given.method, given.data, given.length))
            of = "mixture" if given.method == "paper, unquantised" else "mcr"
            yield cell(ledger, given.method, given.data, given.length, given, of=of)
    for method in ("fernn", "exact"):
        for data in RECORDED + REAL:
            for length in LENGTHS:
                yield cell(ledger, method, data, length, best(data, length))


def _how(ledger: TrialLog) -> Iterator[str]:
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
    yield markdown_table(["method", "what it is"], [[name, how.about] for name, how in METHODS.items() if name in used])
