"""The experiments as sections of the page: what the paper reports beside what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import isnan

from ..formula import parse
from ..semantics import score
from .best import formulas, rivals
from .cells import Cell, cell
from .experiments import EXPERIMENTS, REAL, RECORDED, there
from .ledger import Ledger
from .markdown import table
from .reported import LENGTHS, best, in_paper, reported
from .tasks import CONTINUOUS, LABELLING, task
from .unit import PAPER

Section = Iterator[str]


def lengths_head(lengths: Sequence[int] = LENGTHS) -> list[str]:
    return [f"length {length}" for length in lengths]


def figures(ledger: Ledger, names: Sequence[str], text: str) -> Section:
    """Those that were drawn, of every data set."""
    for data in there(ledger, RECORDED):
        for name in names:
            path = f"figures/{name.format(data)}.png"
            if (ledger.folder / path).is_file():
                yield f"![{text.format(data)}]({path})"


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
        plain = name.removesuffix(CONTINUOUS)
        labelling = LABELLING[plain]
        given = next((each for each in reported() if each.table == "continuous" and each.data == name), None)
        theirs = score(parse(labelling), task(plain, PAPER).test).mcr
        ours = ledger.one("fernn", name, 6, PAPER)
        lines.append([
            name, f"`{labelling}`", f"{theirs:.3f}", "" if given is None else f"`{given.formula}` {given.mcr:.3f}",
            "" if ours is None else f"`{ours['formula']}` {ours['mcr']:.3f}",
        ])  # fmt: skip
    yield table(["", "labelling formula", "its error", "the paper's FERNN", "ours, up to length 6"], lines)
    yield (
        "Who learns these labels exactly has the labelling formula, with its error; the paper gives that as 0.069 on "
        "ECG (4 of 58) and 0.030 on CCT. By length:"
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
    yield from formulas(ledger)
    yield from figures(ledger, ["{}"], "The formulas against the traces of {}")


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
