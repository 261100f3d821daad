"""The experiments as sections of the page: what the paper reports beside what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import Any

from ..data.sources.folder import missing
from ..formula import parse
from .cells import Cell, cell
from .experiments import EXPERIMENTS, REAL, RECORDED
from .ledger import Found, Ledger
from .markdown import table
from .measuring import wrong
from .methods import SHAPES
from .reported import LENGTHS, PRINTED, best, reported
from .reported import cell as in_paper
from .tasks import CONTINUOUS, LABELLING, task
from .unit import PAPER

Section = Iterator[str]
NAMES = {"cruise": "cct", "cruise continuous": "cct continuous"}
"""What stands in for what, where the recordings are not there."""


def there(ledger: Ledger, names: Sequence[str]) -> list[str]:
    """The data sets that were measured and can be read, stand-ins included."""
    measured = {unit.data for unit in ledger.runs if not _missing(unit.data)}
    return [name for name in dict.fromkeys([*names, *(own for own, of in NAMES.items() if of in names)])
            if name in measured]  # fmt: skip


def _missing(name: str) -> bool:
    plain = name.removesuffix(CONTINUOUS)
    return plain in RECORDED and bool(missing(plain))


def lengths_head(lengths: Sequence[int] = LENGTHS) -> list[str]:
    return [f"length {length}" for length in lengths]


def methods(ledger: Ledger) -> Section:
    """Errors, then seconds, by method and length."""
    rows = ("fernn", "exact", "paper", "paper, early stopping", "enumerative", "lattice", "lattice, published")
    for name in there(ledger, RECORDED):
        lines = [["the paper's best", *(_best(name, length) for length in LENGTHS)]]
        for method in rows:
            own = method in ("fernn", "exact")
            cells = [
                cell(ledger, method, name, n, best(name, n) if own else in_paper(method, name, n)) for n in LENGTHS
            ]
            if any(not isnan(each.ours) for each in cells):
                lines.append([method, *map(str, cells)])
        yield f"**{name}**, test error:"
        yield table(["", *lengths_head()], lines)
    yield "Seconds a fit, one core, median of the splits (the paper's in front, where it has them):"
    lines = []
    for name in there(ledger, RECORDED):
        for method in rows:
            cells = [cell(ledger, method, name, n, in_paper(method, name, n, "stopping")) for n in LENGTHS]
            if any(not isnan(each.ours) for each in cells):
                lines.append([f"{name}, {method}", *map(_seconds, cells)])
    yield table(["", *lengths_head()], lines)
    yield from figures(ledger, ["{}-error", "{}-seconds"], "Error and seconds on {}, by method and length")


def stopping(ledger: Ledger) -> Section:
    lines = []
    for name in there(ledger, RECORDED):
        for length in LENGTHS:
            pair = [
                cell(ledger, method, name, length, in_paper(method, name, length, "stopping"))
                for method in ("paper", "paper, early stopping")
            ]
            lines.append([f"{name}, {length}", *map(str, pair), *map(_seconds, pair)])
    yield table(["data, length", "no early stopping", "early stopping", "seconds", "seconds, early stopping"], lines)


def quantised(ledger: Ledger) -> Section:
    yield (
        "The paper reports the error of the unquantised network itself, *mixture*, which is no formula: that of the "
        "sign of its output, shown here for that reason only. *Read* is the formula that its weights are read as. "
        "Here all choices mix; in the authors' code the choice among whole networks stays quantised."
    )
    lines = []
    for name in there(ledger, RECORDED + REAL):
        rows = (
            ("quantised", "paper", "mcr", True), ("mixture", "paper, unquantised", "mixture", True),
            ("mixture, read", "paper, unquantised", "mcr", False),
        )  # fmt: skip
        for label, method, of, compared in rows:
            given = [in_paper(method, name, n, "quantised") if compared else None for n in LENGTHS]
            cells = [cell(ledger, method, name, n, paper, of=of) for n, paper in zip(LENGTHS, given, strict=True)]
            lines.append([f"{name}, {label}", *map(str, cells)])
    yield table(["", *lengths_head()], lines)


def continuous(ledger: Ledger) -> Section:
    """Labels are the robustness of a formula; errors are against the classes."""
    lines = []
    for name in there(ledger, REAL):
        plain = name.removesuffix(" continuous")
        labelling = LABELLING[plain]
        given = next((each for each in reported() if each.table == "continuous" and each.data == name), None)
        theirs = wrong(parse(labelling), task(plain, PAPER).test)
        ours = ledger.one("fernn", name, 6, PAPER)
        lines.append([
            name, f"`{labelling}`", f"{theirs:.3f}", "" if given is None else f"`{given.formula}` {given.mcr:.3f}",
            "" if ours is None else f"`{ours['formula']}` {ours['mcr']:.3f}",
        ])  # fmt: skip
    yield table(["", "labelling formula", "its error", "the paper's FERNN", "ours, up to length 6"], lines)
    yield (
        "The best that can be learned from these labels is the labelling formula, with its error. The paper gives "
        "its error as 0.069 on ECG (4 of 58) and 0.030 on CCT. By length:"
    )
    lines = []
    for name in there(ledger, REAL):
        for method in ("fernn", "exact", "paper"):
            own = method != "paper"
            cells = [
                cell(ledger, method, name, n, best(name, n) if own else in_paper(method, name, n, "quantised"))
                for n in LENGTHS
            ]
            label = "exact, on the signs of the labels" if method == "exact" else method
            lines.append([f"{name}, {label}", *map(str, cells)])
    yield table(["", *lengths_head()], lines)


def since(ledger: Ledger) -> Section:
    lines = []
    for name in there(ledger, RECORDED + REAL):
        for method in ("paper", "paper, no since", "fernn", "fernn, no since"):
            cells = [cell(ledger, method, name, n, in_paper(method, name, n)) for n in LENGTHS[1:]]
            if any(not isnan(each.ours) for each in cells):
                lines.append([f"{name}, {method}", *map(str, cells), _seconds(cells[-1])])
    yield table(["", *lengths_head(LENGTHS[1:]), "seconds, length 6"], lines)


def free(ledger: Ledger) -> Section:
    """The length is the method's own choice."""
    lines = []
    for name in there(ledger, RECORDED + REAL):
        given = in_paper("paper, up to", name, 6, "free")
        for method in ("paper, up to", "fernn", "exact"):
            each = cell(ledger, method, name, 6, given)
            if isnan(each.ours):
                continue
            shown = each.first or each.others[0]
            lines.append([f"{name}, {method}", str(each), _seconds(each), f"`{shown['formula']}`"])
        if given is not None:
            lines.append([f"{name}, as printed", f"{given.mcr:.2f}", f"{given.seconds:.0f}", f"`{given.formula}`"])
    yield table(["", "error", "seconds", "formula, on the paper's split where there is one"], lines)


def bounds(ledger: Ledger) -> Section:
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
    yield table(["", "error on fresh traces", "seconds", "windows (times found)", "formula of the first seed"], lines)


def pictures(ledger: Ledger) -> Section:
    lines = []
    for name in there(ledger, RECORDED):
        for method, found in finest(ledger, name).items():
            lines.append([f"{name}, {method}", f"`{found['formula']}`", f"{found['mcr']:.3f}", f"{found['train']:.3f}"])
        for method, formula in PRINTED.get(name, {}).items():
            both = task(name, PAPER)
            errors = (wrong(parse(formula), part) for part in (both.test, both.train))
            lines.append([f"{name}, the paper's {method}", f"`{formula}`", *(f"{error:.3f}" for error in errors)])
    yield table(["", "formula", "test error", "train"], lines)
    yield from figures(ledger, ["{}"], "The formulas against the traces of {}")


def figures(ledger: Ledger, names: Sequence[str], text: str) -> Section:
    """Those that were drawn, of every data set."""
    for data in there(ledger, RECORDED):
        for name in names:
            path = f"figures/{name.format(data)}.png"
            if (ledger.folder / path).is_file():
                yield f"![{text.format(data)}]({path})"


def finest(ledger: Ledger, name: str) -> dict[str, dict[str, str | float]]:
    """Of every method the formula that errs least in training on the paper's split, the shortest of equals."""
    found = {}
    for method in ("fernn", "exact", "paper", "enumerative", "lattice"):
        runs = [run for n in LENGTHS if (run := ledger.one(method, name, n, PAPER)) is not None]
        if runs:
            found[method] = min(runs, key=lambda run: (run["train"], run["found_length"]))
    return found


def rivals(ledger: Ledger) -> Section:
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
    for name in there(ledger, RECORDED):
        known: list[list[Any]] = []
        for length in (1, *LENGTHS):
            searched = ledger.one(SHAPES, name, length, PAPER)
            known += [] if searched is None else searched["shapes"]
            for method, thresholds in (("rivals, all thresholds", "all"), ("rivals", "grid")):
                found = ledger.one(method, name, length, PAPER)
                if found is not None and found["ended"] == "done":
                    lines.append(
                        [f"{name}, {length}", thresholds, *_best_there(found), *_as_good(known if searched else [])]
                    )
                    break
    head = ["data, length", "thresholds", "errors", "proved", "looked at", "ways", "formulas", "shapes", "test errors"]
    yield table(head, lines)


def _best_there(found: Found) -> list[str]:
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


SECTIONS: dict[str, Callable[[Ledger], Section]] = {
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
