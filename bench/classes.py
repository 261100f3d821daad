"""Rules for classes, measured; writes the tables of docs/classes.md.

On the series that come with aeon, in the parts in which they come, and of one class alone on simulated and real faults.

python -m bench.classes              seeds 0 to 4
python -m bench.classes --seeds 1    fewer
python -m bench.classes --only one   one class alone
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import NamedTuple

import numpy as np

from fernn.data import Dataset, from_arrays, load, series, split
from fernn.errors import FernnError
from fernn.evaluation import evaluate_detection
from fernn.formula import parse
from fernn.learners import Fernn
from fernn.learners.classes import OnePerClass, Ordered, Tightest, read_rules
from fernn.semantics import score

PAGE = Path(__file__).parent.parent / "docs" / "classes.md"
BEGIN, END = "<!-- measured -->", "<!-- end -->"
SHORT = 5


class Measured(NamedTuple):
    """What one fit came to: the test error of what is printed, the longest formula in it, seconds, and its text."""

    error: float
    longest: int
    seconds: float
    text: str


def each(train: Dataset, test: Dataset, seed: int) -> Measured:
    return _rules(OnePerClass(Fernn(max_length=SHORT, seed=seed)), train, test)


def in_order(train: Dataset, test: Dataset, seed: int) -> Measured:
    return _rules(Ordered(Fernn(max_length=SHORT, seed=seed)), train, test)


def window(train: Dataset, test: Dataset, seed: int) -> Measured:
    start = perf_counter()
    entry = Fernn(intervals=True, seed=seed).fit(train).front.picked
    text = str(entry.formula)
    return Measured(score(parse(text), test).mcr, entry.length, perf_counter() - start, text)


def _rules(learner: OnePerClass | Ordered, train: Dataset, test: Dataset) -> Measured:
    start = perf_counter()
    rules = read_rules(learner.fit(train).rules.to_json())
    longest = max(rule.length for rule in rules.rules)
    return Measured(rules.error(test), longest, perf_counter() - start, str(rules))


TASKS: tuple[tuple[str, str, Callable[[Dataset, Dataset, int], Measured], str], ...] = (
    ("BasicMotions", "a formula a class", each, "at most 0.05"),
    ("BasicMotions", "an ordered list", in_order, ""),
    ("ItalyPowerDemand", "one formula with windows", window, "at most 0.04"),
)


def nine_sigma(seed: int) -> tuple[Dataset, Dataset]:
    """Noise in three channels; a fault is nine standard deviations at one sample of one of them."""
    random = np.random.default_rng(seed)
    values, labels = random.normal(0, 1, (640, 3, 30)), np.repeat([1, 0], [340, 300])
    away = 9 * random.choice((-1, 1), 300)
    values[np.arange(340, 640), random.integers(0, 3, 300), random.integers(0, 30, 300)] += away
    data = from_arrays(values, labels, ["a", "b", "c"], classes=["bad", "good"])
    return data.subset(range(40)), data.subset(range(40, 640))


WINDOW = 30  # rows


def skab(seed: int) -> tuple[Dataset, Dataset]:
    """SKAB's valve runs in windows of 30 rows: good where no row is marked, bad where most are."""
    values, labels = [], []
    for path in sorted(Path(os.environ.get("FERNN_DATA", ""), "skab").glob("valve1-*.csv")):
        rows = np.genfromtxt(path, delimiter=";", skip_header=1, usecols=range(1, 10))
        for start in range(0, len(rows) - WINDOW + 1, WINDOW):
            part = rows[start : start + WINDOW]
            if part[:, 8].max() == 0 or part[:, 8].mean() > 0.5:
                values.append(part[:, :8].T)
                labels.append(int(part[:, 8].max() == 0))
    if not values:
        raise FernnError("SKAB is not there")
    return split(from_arrays(np.array(values), labels, classes=["bad", "good"]), 0.5, seed)


ALONE: dict[str, Callable[[int], tuple[Dataset, Dataset]]] = {
    "nine standard deviations at one sample of one of three channels": nine_sigma,
    "cruise, half of the good learned from": lambda seed: split(load("cruise", cases=200, seed=seed), 0.5, seed),
    "ECG, the same": lambda seed: split(load("ecg"), 0.5, seed),
    "SKAB valve runs in windows of 30 s, the same": skab,
}


def one_class(seeds: range) -> Iterator[str]:
    """What is caught and flagged, with the ranges and without."""
    yield f"Seeds 0 to {len(seeds) - 1} together; `before`: the shortest formulas alone (`ranges=False`)."
    yield ""
    yield "| data | known faults caught | good traces flagged | caught before | flagged before |"
    yield "|---|---|---|---|---|"
    for name, made in ALONE.items():
        cells = []
        try:
            for ranges in (True, False):
                found = [
                    evaluate_detection(Tightest(ranges=ranges, seed=seed).fit(train).rules, train, test)
                    for seed in seeds
                    for train, test in [made(seed)]
                ]
                for counts in ([(f.caught, f.faults) for f in found], [(f.flagged, f.good) for f in found]):
                    some, of = (sum(each) for each in zip(*counts, strict=True))
                    cells.append(f"{some:,} of {of:,} ({some / of:.1%})")
        except FernnError as problem:
            print(f"{name}: left out: {problem}", flush=True)
            continue
        yield f"| {name} | {' | '.join(cells)} |"


def write(begin: str, end: str, lines: list[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(begin)[0], page.split(end)[1]
    body = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n{body}\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=("many", "one"))
    given = parser.parse_args()
    seeds = range(given.seeds)
    if given.only != "many":
        lines = []
        for line in one_class(seeds):
            lines.append(line)
            print(line, flush=True)
        write("<!-- one class -->", "<!-- one class end -->", lines)
    if given.only != "one":
        many_classes(seeds)


def many_classes(seeds: range) -> None:
    rows = [
        "| data | rules | aim | test error, seed 0 | mean of all seeds | worst | longest formula | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    texts = []
    for name, what, work, aim in TASKS:
        train, test = (series(name, part, quiet=True) for part in ("train", "test"))
        work(train, test, 0)  # compiles
        found = [work(train, test, seed) for seed in seeds]
        errors = [each.error for each in found]
        numbers = f"{errors[0]:.4f} | {mean(errors):.4f} | {max(errors):.4f} | {max(each.longest for each in found)}"
        rows.append(f"| {name} | {what} | {aim} | {numbers} | {mean(each.seconds for each in found):.0f} |")
        texts.append(f"{name}, {what}:\n\n```\n{found[0].text}\n```")
        print(rows[-1], flush=True)
    told = f"Seeds 0 to {len(seeds) - 1}; learned on the part TRAIN, tested on TEST, as the archive has them.\n"
    write(BEGIN, END, [told, *rows, "", "With seed 0:", "", *texts])


if __name__ == "__main__":
    main()
