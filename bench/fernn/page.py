"""The measurements as docs/fernn.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fernn.evaluation.comparison import markdown_table

from ..heading import heading
from ..store import Store
from .accuracy import DATA, LENGTHS, SPLITS
from .aims import aims
from .figures import errors, floors, peak, recovered, seconds, speedup, splits
from .paper import WHOLE
from .planted import FLIPS, RECOVERED
from .steps import RESTARTS, SAMPLES, THREADS, TRACES

PAPER = {
    "hapt": (0.00, 0.00, 0.00, 0.00, 0.00),
    "cct": (0.03, 0.03, 0.03, 0.03, 0.03),
    "ecg": (0.10, 0.47, 0.47, 0.47, 0.47),
    "lyft": (0.30, 0.50, 0.50, 0.50, 0.50),
}
"""The paper's quantised networks of each length, one split, one seed; other tables have 0.10 for HAPT, 0.50 for CCT."""


def page(store: Store) -> str:
    return "\n\n".join(_sections(store)) + "\n"


def _sections(store: Store) -> Iterator[str]:
    yield from heading("FERNN, measured", "bench-fernn", store, aims(store))
    yield from _accuracy(store)
    yield from _bounds(store)
    yield from _planted(store)
    yield from _speed(store)


def _accuracy(store: Store) -> Iterator[str]:
    yield "## Error on unseen traces"
    yield (
        f"Mean test error and standard deviation over {len(SPLITS)} splits, 80 to 20, that keep copies and groups on "
        "one side. `Fernn(max_length=6, seed=split)` is fitted once a split; a column is the most accurate "
        "formula of its front up to that length, *picked* the one that is picked. *Floor* is what no rule can avoid: "
        "identical test traces with different labels. The paper's figures are of one split and one seed each, for "
        "networks of exactly that length."
    )
    head = ("", *(f"length {length}" for length in LENGTHS), "picked", "floor", "seconds", "memory")
    lines = []
    for name in DATA:
        for each in (False, True):
            found = splits(store, name, each)
            if not found:
                continue
            cells = [_mean(errors(found, length)) for length in LENGTHS]
            pick = np.array([split["picked"]["mcr"] for split in found])
            lines.append(
                (f"{name}, a fit for each length" if each else name, *cells, _mean(pick), f"{floors(found).mean():.4f}",
                 f"{seconds(found).mean():.1f}", f"{peak(found) / 1e6:.0f} MB")
            )  # fmt: skip
        lines.append((f"{name}, paper", *(f"{mcr:.2f}" for mcr in PAPER[name]), "", "", "", ""))
    yield markdown_table(head, lines)
    if missing := [name for name in DATA if not splits(store, name)]:
        yield f"Not measured, because `FERNN_DATA` does not hold them: {', '.join(missing)}."
    if any(splits(store, name) for name in DATA):
        yield "Picked on the first split:"
        first = ((name, splits(store, name)[:1]) for name in DATA)
        yield markdown_table(
            ("", "formula", "test error"),
            (
                (name, f"`{one[0]['picked']['formula']}`", f"{one[0]['picked']['mcr']:.4f}")
                for name, one in first
                if one
            ),
        )


def _bounds(store: Store) -> Iterator[str]:
    found = store.found("bounds")
    if not found:
        return
    yield "## Time bounds"
    yield (
        "The paper's artificial data, `intervals`: the classes differ at samples 1 and 2. `Fernn(max_length=2, "
        "intervals=True)` learns from 100 traces of each class and is judged on 1000 fresh ones of each. The paper's "
        "network found `G[1,3] (x >= 0.42)`, with an error of 0.08."
    )
    lines = ((unit, f"`{each['formula']}`", f"{each['mcr']:.4f}") for unit, each in found.items())
    yield markdown_table(("seed", "formula", "error"), lines)


def _planted(store: Store) -> Iterator[str]:
    if not store.found("planted"):
        return
    yield "## Planted formulas"
    yield (
        "`bench.planted`: a random formula of length 3 to 6 labels 500 random traces; with *flipped*, a "
        "tenth of these labels is then turned over. The learner is told which way the formula looks and whether it has "
        f"windows. Recovered is an error of at most {RECOVERED:g} against the clean labels of 2000 fresh traces, by "
        "the formula of least validation error on the front, or by the picked one."
    )
    lines = []
    for kind in FLIPS:
        counts = [recovered(store, kind, entry) for entry in ("best", "picked")]
        took = np.mean([each["seconds"] for each in store.found("planted", f"{kind}/").values()] or [0.0])
        lines.append((kind, *(f"{right} of {tried}" for right, tried in counts), f"{took:.1f}"))
    yield markdown_table(("labels", "recovered, least validation error", "recovered, picked", "seconds, mean"), lines)
    lost = [
        (unit, each) for unit, each in store.found("planted").items()
        if max(each["best"]["mcr"], each["picked"]["mcr"]) > RECOVERED
    ]  # fmt: skip
    if lost:
        yield "Not recovered by one of the two or by both:"
        yield markdown_table(
            ("", "planted", "least validation error", "", "picked", ""),
            (
                (unit, f"`{each['planted']}`", f"`{each['best']['formula']}`", f"{each['best']['mcr']:.4f}",
                 f"`{each['picked']['formula']}`", f"{each['picked']['mcr']:.4f}")
                for unit, each in lost
            ),
        )  # fmt: skip


def _speed(store: Store) -> Iterator[str]:
    yield "## Speed"
    if steps := store.found("steps").get("steps"):
        yield (
            f"**Gradient steps.** One full-batch step, forward and gradient, of {RESTARTS} restarts of the network "
            f"`paper_up_to(6)` over {TRACES} traces of {SAMPLES} samples and two channels, float32, in one run and by "
            f"turns. Compiled: {steps['seconds']['compiled'] * 1000:.1f} ms on {THREADS} threads, "
            f"{steps['rate']['compiled'] / 1e6:.0f} million restart-trace-samples a second. "
            f"torch cells, in the fastest of three ways ({steps['way']}): "
            f"{steps['seconds'][steps['way']] * 1000:.0f} ms, "
            f"{steps['rate']['torch'] / 1e6:.1f} million. That is {steps['times']:.1f} times. "
            f"The gradients agree to {steps['apart']:.0e}."
        )
    theirs = store.found("paper")
    lines = [
        (name, f"{seconds(splits(store, name)).mean():.1f}" if splits(store, name) else "-", str(each["epochs"]),
         f"{each['seconds']:.1f}", f"{each['whole']:,.0f}", f"{times:,.0f}" if (times := speedup(store, name)) else "-")
        for name, each in theirs.items()
    ]  # fmt: skip
    if lines:
        yield (
            f'**Beside the paper\'s training.** `PaperFernn(length=6, up_to=True, backend="torch")` on the training '
            f"traces of the first split: so many epochs were run, on one thread or all, whichever is faster, and the "
            f"time of {WHOLE} is extrapolated from them."
        )
        head = ("", "default, seconds", "epochs run", "seconds", f"{WHOLE} epochs, seconds", "times ours")
        yield markdown_table(head, lines)
    if compiled := store.found("compiling").get("first"):
        first, second = compiled["first"], compiled["second"]
        yield (
            f"**Compiling.** A small fit with an empty cache takes {first['seconds']:.0f} s and "
            f"{first['peak'] / 1e6:.0f} MB, imports included; the same in the next process "
            f"{second['seconds']:.1f} s and {second['peak'] / 1e6:.0f} MB. "
            "All other times on this page are taken after compilation."
        )


def _mean(found: np.ndarray) -> str:
    return f"{found.mean():.4f} ± {found.std(ddof=1) if len(found) > 1 else 0:.4f}"
