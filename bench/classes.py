"""Rules for classes on the series that come with aeon, in the parts in which they come; writes docs/classes.md's table.

python -m bench.classes             seeds 0 to 4
python -m bench.classes --seeds 1   fewer
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import NamedTuple

from fernn.data import Dataset, series
from fernn.formula import parse
from fernn.learners import Fernn
from fernn.learners.classes import OnePerClass, Ordered, read_rules
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
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
    body = "\n".join([told, *rows, "", "With seed 0:", "", *texts])
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
