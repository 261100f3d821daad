"""The best formulas: those of every method beside those that the paper prints, and how many are as good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formula import parse
from ..semantics import score
from .experiments import RECORDED, there
from .ledger import Ledger
from .markdown import table
from .methods import SHAPES
from .reported import LENGTHS, PRINTED
from .tasks import task
from .unit import PAPER, Found


def formulas(ledger: Ledger) -> Iterator[str]:
    lines = []
    for name in there(ledger, RECORDED):
        for method, found in finest(ledger, name).items():
            lines.append([f"{name}, {method}", f"`{found['formula']}`", f"{found['mcr']:.3f}", f"{found['train']:.3f}"])
        for method, formula in PRINTED.get(name, {}).items():
            both = task(name, PAPER)
            errors = (score(parse(formula), part).mcr for part in (both.test, both.train))
            lines.append([f"{name}, the paper's {method}", f"`{formula}`", *(f"{error:.3f}" for error in errors)])
    yield table(["", "formula", "test error", "train"], lines)


def finest(ledger: Ledger, name: str) -> dict[str, Found]:
    """Of every method the formula that errs least in training on the paper's split, the shortest of equals."""
    found = {}
    for method in ("fernn", "exact", "paper", "enumerative", "lattice"):
        runs = [run for n in LENGTHS if (run := ledger.one(method, name, n, PAPER)) is not None]
        if runs:
            found[method] = min(runs, key=lambda run: (run["train"], run["found_length"]))
    return found


def rivals(ledger: Ledger) -> Iterator[str]:
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
