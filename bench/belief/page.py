"""The measurements as docs/promises.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fernn.evaluation.comparison import markdown_table

from ..heading import Aim, heading
from ..store import Store
from . import coverage, nested, rivals, shuffling, watching

NEAR = 0.02


def page(store: Store) -> str:
    return "\n\n".join(_sections(store)) + "\n"


def aims(store: Store) -> Iterator[Aim]:
    found = list(store.found("rivals").values())
    text = "planted formulas, no noise: the planted behaviour is among the rivals"
    there = sum(each["on_data"] for each in found)
    yield Aim(text, "every time", f"{there} of {len(found)}", there == len(found) if found else None)
    covered = store.found("coverage")
    for unit, each in covered.items():
        alpha = float(unit.partition("/")[2])
        far = abs(each["coverage"] - (1 - alpha))
        text = f"conformal coverage on {unit.partition('/')[0]}, {coverage.REPETITIONS} repetitions"
        yield Aim(text, f"{1 - alpha:g} within {NEAR:g}", f"{each['coverage']:.4f}", far <= NEAR)
    tried = store.found("nested")
    for unit in nested.SETUPS:
        each = tried.get(unit)
        share = None if each is None else each["held"] / each["repetitions"]
        low, high = nested.LEAST, nested.MOST if unit in nested.AIMED else 1.0
        wanted = f"{low:.0%} to {high:.0%}" if unit in nested.AIMED else f"at least {low:.0%}"
        text = f"the 95% interval of nested cross-validation holds the true error: {unit}"
        told = "-" if share is None else f"{share:.1%}"
        yield Aim(text, wanted, told, None if share is None else low <= share <= high)
    noise = [each["p"] for unit, each in store.found("shuffling").items() if "as it is" not in unit]
    false = float(np.mean([p <= shuffling.LEVEL for p in noise])) if noise else 0.0
    text = f"false alarms of the shuffling test on {len(noise)} label-shuffled sets"
    yield Aim(text, f"at most {shuffling.LEVEL:g}", f"{false:.2f}", false <= shuffling.LEVEL if noise else None)
    calm = store.found("watching").get("nothing changes")
    text = f"false alarms of `fernn drift` on {watching.STREAMS} streams of 300 traces"
    met = None if calm is None else calm["raised"] <= watching.ALARM
    yield Aim(text, f"at most {watching.ALARM:g}", "-" if calm is None else f"{calm['raised']:.2f}", met)


def _sections(store: Store) -> Iterator[str]:
    yield from heading("Are the promises kept?", "bench-belief", store, aims(store))
    yield "## Rivals of planted formulas"
    yield (
        f"{len(rivals.SEEDS)} formulas planted by `bench.planted`, FERNN with {rivals.LIMIT:g} s each; where its"
        f" best rule still errs in training, {rivals.MORE} other seeds (`fernn rivals --seeds`). `data`: "
        "some rival judges all training traces as the planted formula does. `apart`: on how many of 2000 fresh "
        "traces the nearest rival differs from it."
    )
    rows = [
        (unit, f"`{each['planted']}`", str(each["rivals"]), str(each["groups"]), "yes" if each["on_data"] else "**no**",
         f"{each['on_fresh']:.4f}", f"{each['seconds']:.1f}")
        for unit, each in store.found("rivals").items()
    ]  # fmt: skip
    yield markdown_table(("seed", "planted", "rivals", "groups", "data", "apart", "seconds"), rows)
    yield "## Verdicts that may be `cannot say`"
    yield "Learned on a third of the traces, calibrated on a third, tested on a third; drawn anew each time."
    parts = [
        (unit, f"{each['coverage']:.4f} ± {each['error']:.4f}", f"{each['unsaid']:.3f}", f"{each['wrong']:.3f}")
        for unit, each in store.found("coverage").items()
    ]
    yield markdown_table(("data / alpha", "coverage", "cannot say", "wrong"), parts)
    yield "## Nested cross-validation"
    yield (
        "Many drawings of each setup; 5 folds of an exact search up to length 2, where nothing else "
        "is said. The true error is that of the rule learned from all traces of the drawing, counted on "
        f"{nested.FRESH:,} others. `counted`: how many an interval would hold that takes the traces for judged by that "
        "one rule."
    )
    lines = [
        (unit, f"{each['error']:.3f}", f"{each['held']} of {each['repetitions']}", f"{each['width']:.2f}",
         str(each["counted"]))
        for unit, each in store.found("nested").items()
    ]  # fmt: skip
    yield markdown_table(("setup", "true error", "held", "mean width", "counted"), lines)
    yield "## Shuffled labels"
    told = [each for unit, each in store.found("shuffling").items() if "as it is" not in unit]
    real = store.found("shuffling").get("ecg, as it is/0")
    yield (
        "Exact search up to length 2 on two fifths of ECG, labels shuffled once, then tested against "
        f"{shuffling.SHUFFLES} shuffles: p at most {shuffling.LEVEL:g} in "
        f"{sum(each['p'] <= shuffling.LEVEL for each in told)} of {len(told)} sets. "
        + ("" if real is None else f"With the labels as they are, p is {real['p']:.3f}.")
    )
    yield "## Watching"
    yield (
        f"The rule `{watching.RULE}` on streams of 300 traces of the simulated train, as they are and with all speeds "
        "a little higher."
    )
    seen = [
        (unit, f"{each['raised']:.2f}", "-" if each["after"] is None else f"{each['after']:g}")
        for unit, each in store.found("watching").items()
    ]
    yield markdown_table(("", "share of streams with an alarm", "after so many traces (median)"), seen)
