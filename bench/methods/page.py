"""The measurements as docs/methods.md, and in short in docs/learners.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fernn.evaluation.comparison import markdown_table

from ..fernn.accuracy import DATA, SPLITS
from ..fernn.planted import FLIPS, RECOVERED
from ..heading import Aim, heading
from ..store import Found, Store
from .compared import COMPARED, SETTINGS
from .planted import LEARNERS, LIMIT, SEEDS

LEARNERS_PAGE = Path(__file__).resolve().parents[2] / "docs" / "learners.md"
BEGIN, END = "<!-- made by make bench-methods: begin -->", "<!-- made by make bench-methods: end -->"
SECONDS, NEAR = 60.0, 0.02
TREES = ("tree, depth 2", "3 trees, depth 2")
WHEN = {
    "fernn": "many channels or samples, long rules, windows, real-valued labels; the first to try",
    "enumerative": "up to some thousand traces and length 5 or 6: the best there is, with a proof, and all its rivals",
    "lattice": "rules with windows; rules that predict: if this early, then that later",
    "tree, depth 3": "a first look, several regimes (one rule here, another there); fast",
    "3 trees, depth 2": "accuracy before brevity",
}
"""Which one when."""


def page(store: Store) -> str:
    _into_learners(store)
    return "\n\n".join(_sections(store)) + "\n"


def _of(store: Store, method: str, name: str) -> list[Found]:
    return list(store.found("accuracy", f"{method}/{name}/").values())


def _mcr(found: list[Found], which: str = "accurate") -> np.ndarray:
    return np.array([each[which]["mcr"] for each in found])


def aims(store: Store) -> Iterator[Aim]:
    for name in DATA:
        found = _of(store, "lattice", name)
        if found:
            ours, theirs = _mcr(found).mean(), np.mean([each["printed"] for each in found])
            text = f"lattice on {name}: test error, beside the formula that the paper prints for it"
            yield Aim(text, f"at most {theirs:.4f}", f"{ours:.4f}", bool(ours <= theirs))
            took = np.mean([each["seconds"] for each in found])
            yield Aim(f"lattice on {name}: seconds", f"at most {SECONDS:g}", f"{took:.1f}", bool(took <= SECONDS))
    best = {method: _mcr(_of(store, method, "ecg")).mean() for method in COMPARED if _of(store, method, "ecg")}
    for method in TREES:
        if method in best:
            first = min(best, key=lambda each: best[each])
            yield Aim(
                f"{method} on ecg: test error above that of the best method, {first}", f"at most {NEAR:g}",
                f"{best[method] - best[first]:.4f}", bool(best[method] - best[first] <= NEAR + 1e-9),
            )  # fmt: skip


def _sections(store: Store) -> Iterator[str]:
    yield from heading("The methods beside each other", "bench-methods", store, aims(store))
    yield "## Error on unseen traces"
    yield (
        f"Mean test error and standard deviation over {len(SPLITS)} splits, 80 to 20, that keep copies on one side, "
        "the same for all. Each method gives a front; the formula judged is the one of least validation error, "
        "in *picked* the one that is picked (the shortest within one standard error of it). Methods without "
        "validation give their most accurate in training. *Floor* is what no rule can avoid: identical test traces "
        "with different labels. *Printed* is the formula that the paper prints for the lattice method, or its effect "
        "alone where that errs less, judged on the same test traces."
    )
    head = ("", *DATA)
    yield markdown_table(head, _rows(store, lambda found: _mean(_mcr(found))))
    yield "Picked:"
    yield markdown_table(head, _rows(store, lambda found: _mean(_mcr(found, "picked")), extra=False))
    yield "Seconds a fit (of processor time, on two cores), validation included:"
    yield markdown_table(
        head, _rows(store, lambda found: f"{_took(found, 'seconds'):.1f} ({_took(found, 'cpu'):.1f})", False)
    )
    yield "Length of the formula, mean:"
    yield markdown_table(
        head, _rows(store, lambda found: f"{np.mean([f['accurate']['length'] for f in found]):.1f}", False)
    )
    yield "Formulas of the first split:"
    lines = [
        (f"{method}, {name}", f"`{found[0]['accurate']['formula']}`", f"{found[0]['accurate']['mcr']:.4f}")
        for method in COMPARED for name in DATA if (found := _of(store, method, name))
    ]  # fmt: skip
    yield markdown_table(("", "formula", "test error"), lines)
    yield "The settings: " + "; ".join(f"*{method}* {text}" for method, text in SETTINGS.items()) + "."
    yield from _planted(store)


def _rows(store: Store, cell, extra: bool = True) -> Iterator[tuple[str, ...]]:
    for method in COMPARED:
        found = [_of(store, method, name) for name in DATA]
        if any(found):
            yield (method, *(cell(each) if each else "-" for each in found))
    if extra and (some := [_of(store, next(iter(COMPARED)), name) for name in DATA]):
        for key in ("floor", "printed"):
            yield (key, *(f"{np.mean([f[key] for f in each]):.4f}" if each else "-" for each in some))


def _planted(store: Store) -> Iterator[str]:
    if not store.found("planted"):
        return
    yield "## Planted formulas"
    yield (
        f"`bench.planted`, {len(SEEDS)} seeds: a random formula of length 3 to 6 labels 500 random traces;"
        f" with *flipped*, a tenth of the labels is turned over. A fit may take {LIMIT:g} s. The error is against the "
        f"clean labels of 2000 fresh traces; recovered is one of at most {RECOVERED:g}. The exact search goes up to "
        "length 4 here; the lattice method, which looks ahead, gets past tasks reversed."
    )
    lines = [
        (f"{method}, {kind}", f"{np.mean([f['mcr'] for f in found]):.4f}",
         f"{np.median([f['mcr'] for f in found]):.4f}", f"{sum(f['mcr'] <= RECOVERED for f in found)} of {len(found)}",
         f"{np.mean([f['seconds'] for f in found]):.1f}")
        for kind in FLIPS for method in LEARNERS
        if (found := list(store.found("planted", f"{kind}/{method}/").values()))
    ]  # fmt: skip
    yield markdown_table(("", "error, mean", "median", "recovered", "seconds"), lines)


def _into_learners(store: Store) -> None:
    """The table `which one when`."""
    lines = []
    for method, when in WHEN.items():
        cells = []
        for name in DATA:
            found = _of(store, method, name)
            cells.append(f"{_mcr(found).mean():.3f}, {_took(found, 'seconds'):.1f} s" if found else "-")
        plain = method.split(",")[0]
        planted = list(store.found("planted", f"clean/{plain}/").values()) if "3 trees" not in method else []
        right = f"{sum(f['mcr'] <= RECOVERED for f in planted)} of {len(planted)}" if planted else "-"
        lines.append((method, when, *cells, right))
    head = ("method", "when", *DATA, "planted")
    text = LEARNERS_PAGE.read_text()
    before, rest = text.split(BEGIN)
    LEARNERS_PAGE.write_text(f"{before}{BEGIN}\n\n{markdown_table(head, lines)}\n\n{END}{rest.split(END)[1]}")


def _mean(found: np.ndarray) -> str:
    return f"{found.mean():.4f} ± {found.std(ddof=1) if len(found) > 1 else 0:.4f}"


def _took(found: list[Found], which: str) -> float:
    return float(np.mean([each[which] for each in found]))
