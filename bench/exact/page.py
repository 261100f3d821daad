"""The measurements as docs/exact.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fernn.evaluation.comparison import markdown_table

from ..fernn.accuracy import DATA, LENGTHS, SPLITS
from ..heading import Aim, heading
from ..store import Found, Store
from .ltlf import PATIENCE
from .tasks import SIZES

FERNN = Path(__file__).resolve().parents[1] / "fernn.json"
WALL = 30.0
RATE, NUMPY_TIMES, RTAMT_TIMES, SCARLET_TIMES = 20e6, 1000.0, 100_000.0, 100.0
ATOMS = {"ecg": 128, "cct": 48, "hapt": 1}
BOLT = "7.5 ms, 127 times Scarlet, by its authors"


def page(store: Store) -> str:
    return "\n\n".join(_sections(store)) + "\n"


def aims(store: Store) -> Iterator[Aim]:
    for unit, found in store.found("exhausting").items():
        name, length, until = unit.split("/")
        atoms = f", at least {ATOMS[name]} atoms" if ATOMS[name] > 1 else ""
        text = f"{name} exhausted up to length {length} {until}{atoms}, certified"
        met = found["seconds"] <= WALL and found["certified"] and not found["dropped"] and found["atoms"] >= ATOMS[name]
        yield Aim(text, f"at most {WALL:g} s", f"{found['seconds']:.2f} s, {found['atoms']} atoms", met)
    rate = store.found("rate").get("ecg", {}).get("rate")
    if rate:
        yield Aim("candidates scored a second, one core, ecg", "at least 20 million",
                  f"{rate['words'] / 1e6:.0f} million", rate["words"] >= RATE)  # fmt: skip
        for name, least in (("numpy", NUMPY_TIMES), ("rtamt", RTAMT_TIMES)):
            times = rate["words"] / rate[name]
            yield Aim(f"the same, times {name}'s", f"at least {least:,.0f}", f"{times:,.0f}", times >= least)
    if found := list(store.found("ltlf").values()):
        yield from _ltlf_aims(found)


def _ltlf_aims(found: list[Found]) -> Iterator[Aim]:
    solved = [f for f in found if f["scarlet"]["seconds"] is not None]
    times = float(np.median([_beside(f) / f["seconds"] for f in found]))
    least = "at least " if len(solved) < len(found) else ""
    yield Aim(f"LTLf, {len(found)} tasks: median of Scarlet's time over ours", f"at least {SCARLET_TIMES:g}",
              f"{least}{times:.0f}", times >= SCARLET_TIMES)  # fmt: skip
    longer = sum(f["scarlet"]["length"] is not None and f["length"] > f["scarlet"]["length"] for f in found)
    yield Aim("LTLf: formulas longer than Scarlet's", "none", str(longer), longer == 0)
    wrong = sum(f["wrong"] > 0 for f in found)
    yield Aim("LTLf: formulas that are wrong about a trace", "none", str(wrong), wrong == 0)


def _beside(found: Found) -> float:
    """Scarlet's seconds; where it gave up, at least those it had."""
    seconds = found["scarlet"]["seconds"]
    return PATIENCE if seconds is None else float(seconds)


def _sections(store: Store) -> Iterator[str]:
    yield from heading("The exact search, measured", "bench-exact", store, aims(store))
    yield from _exhausted(store)
    yield from _rate(store)
    yield from _ltlf(store)
    yield from _accuracy(store)


def _exhausted(store: Store) -> Iterator[str]:
    found = store.found("exhausting")
    if not found:
        return
    yield "## Whole spaces"
    yield (
        "The training part of the first split, thresholds from a grid, all lengths gone through even where nothing "
        "can be better (`exhaust=True`), both cores, after compilation. The time is that of the whole fit without "
        "validation: atoms, search, the best of each length, rivals, certificate. *Formulas* are all that can be "
        "made of one representative of each behaviour; *merged* ones judge like another, *bounded* ones cannot be "
        "better, the rest was scored. *Ways* are the different verdicts on the training traces that err as little "
        "as the best formula."
    )
    head = ("", "traces x samples", "atoms", "seconds", "formulas", "merged", "bounded", "scored", "errors", "ways")
    yield markdown_table(head, (
        (unit.replace("/", ", "), f"{f['traces']} x {f['samples']}", str(f["atoms"]), f"{f['seconds']:.2f}",
         f"{f['generated']:,}", f"{f['merged']:,}", f"{f['bounded']:,}", f"{f['scored']:,}",
         f"{f['error']:g}", f"{f['rivals']}{'' if f['complete'] else ' or more'}")
        for unit, f in found.items()
    ))  # fmt: skip
    yield "What the certificates say:"
    yield "\n".join(f"- {unit.replace('/', ', ')}: {f['statement']} `{f['formula']}`" for unit, f in found.items())


def _rate(store: Store) -> Iterator[str]:
    found = store.found("rate").get("ecg")
    if not found:
        return
    rate = found["rate"]
    yield "## Candidates a second"
    yield (
        f"ECG, {found['traces']} traces of {found['samples']} samples, up to length 6 with U, one core. Without "
        f"bounds, so that all {found['scored']:,} candidates that are not merged are scored; storing and merging "
        f"behaviours is in the time, {found['seconds']:.1f} s. NumPy and rtamt evaluate formulas of length 6 from the "
        "same atoms one by one, NumPy on all traces at once in Boolean arrays. "
        f"That is {rate['words']:,.0f} a second here, {rate['numpy']:,.0f} for NumPy, {rate['rtamt']:.2f} for rtamt."
    )


def _ltlf(store: Store) -> Iterator[str]:
    found = list(store.found("ltlf").values())
    if not found:
        return
    solved = [f for f in found if f["scarlet"]["seconds"] is not None]
    yield "## Smallest LTLf formulas"
    sizes = ", ".join(f"{2 * t} traces of {n} letters on average over {w} propositions" for t, n, w in SIZES)
    yield (
        f"{len(found)} tasks: {len(found) // len(SIZES)} planted formulas, {sizes}. Scarlet (F G X & | !) and "
        f"`fernn.exact.smallest` (these and U) get the same traces in turn; Scarlet has {PATIENCE:g} s a task, and "
        f"gave up on {len(found) - len(solved)}. Times are of the search alone, without reading files. "
        "Lengths are counted as fernn counts them, negations of propositions free."
    )
    ours = np.array([f["seconds"] for f in found])
    theirs = np.array([_beside(f) for f in found])
    sure = sum(f["smallest"] for f in found)
    yield markdown_table(("", "fernn", "Scarlet"), [
        ("median", f"{np.median(ours) * 1e3:.1f} ms", f"{np.median(theirs) * 1e3:.0f} ms"),
        ("slowest", f"{ours.max():.2f} s", "gave up" if len(solved) < len(found) else f"{theirs.max():.1f} s"),
        ("proved smallest", f"{sure} of {len(found)}", "-"),
        ("mean length where both found one", f"{np.mean([f['length'] for f in solved]):.2f}",
         f"{np.mean([f['scarlet']['length'] or 0 for f in solved]):.2f}"),
    ])  # fmt: skip
    yield (
        f"Per task, Scarlet's time is {np.median(theirs / ours):.0f} times ours in the median, counting {PATIENCE:g} s "
        f"where it gave up. The best published tool, Bolt (Rust), takes a median of {BOLT}, on other tasks."
    )


def _accuracy(store: Store) -> Iterator[str]:
    yield "## Error on unseen traces"
    yield (
        f"Mean test error and standard deviation over {len(SPLITS)} splits, beside FERNN's on the same splits "
        "([fernn.md](fernn.md)). `Enumerative(max_length=6)`, thresholds of a grid of 32 a channel, refined; "
        "a column is the most accurate formula of its front up to that length. *Train* is the error on the training "
        "traces at length 6; no formula of the space has less before its thresholds are refined."
    )
    kept = json.loads(FERNN.read_text())["parts"]["accuracy"] if FERNN.is_file() else {}
    lines = []
    for name in DATA:
        for method, units in (("enumerative", store.found("accuracy", f"{name}/")), ("FERNN", _of(kept, name))):
            rows = list(units.values())
            if not rows:
                continue
            cells = [_mean([row["mcr"][str(length)] for row in rows]) for length in LENGTHS]
            train = f"{np.mean([row['train']['6'] for row in rows]):.4f}" if method == "enumerative" else ""
            seconds = [row["seconds"]["6"] if isinstance(row["seconds"], dict) else row["seconds"] for row in rows]
            pick = _mean([row["picked"]["mcr"] for row in rows])
            lines.append((f"{name}, {method}", *cells, pick, train, f"{np.mean(seconds):.1f}"))
    yield markdown_table(("", *(f"length {length}" for length in LENGTHS), "picked", "train", "seconds"), lines)
    if missing := [name for name in DATA if not store.found("accuracy", f"{name}/")]:
        yield f"Not measured, because `FERNN_DATA` does not hold them: {', '.join(missing)}."


def _of(kept: dict[str, Found], name: str) -> dict[str, Found]:
    return {unit: found for unit, found in kept.items() if unit.startswith(f"{name}/") and unit.count("/") == 1}


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.4f} ± {np.std(values):.4f}"
