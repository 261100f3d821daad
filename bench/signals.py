"""Planted rules that read expressions: is their behaviour found by `signals="auto"`?

    python -m bench.signals                 20 tasks, clean and with 5% of the labels flipped
    python -m bench.signals --only 3 7      some of them
    python -m bench.signals --screening     how long screening takes on 300 channels x 200 traces x 200 samples

Traces are sums of a random walk and noise, 200 to learn from and 2000 to test on; the threshold of a rule is set so
that half of them satisfy it. A rule is found where what is learned errs on at most 1% of the fresh traces.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter

import numpy as np

from fernn.data import Dataset
from fernn.formula import Atom, Formula, parse
from fernn.formula.measures import map_nodes
from fernn.learners import Fernn
from fernn.learners.base import losses
from fernn.learners.screening import rank_signals
from fernn.semantics import robustness, satisfied

TASKS = (
    "G (diff(x) <= 0)",
    "F (diff(x, 5) >= 0)",
    "G (rate(y) >= 0)",
    "F (mean(x, 10) >= 0)",
    "G (mean(y, 2 s) <= 0)",
    "F (std(x, 12) >= 0)",
    "G (std(y, 20) <= 0)",
    "F (lowest(x, 6) >= 0)",
    "G (highest(y, 8) >= 0)",
    "F (abs(x) >= 0)",
    "G (abs(diff(y, 4)) <= 0)",
    "F (min(x, y) >= 0)",
    "G (max(x, y) >= 0)",
    "F (norm(x, y) >= 0)",
    "F (integral(x) >= 0)",
    "G (since(x >= -1) <= 0)",
    "F (count(y >= 0.5, 3 s) >= 0)",
    "F (x - y >= 0)",
    "G (x*y <= 0)",
    "G (z/w <= 0)",
)
CASES, FRESH, SAMPLES, DT = 200, 2000, 60, 0.1


def traces(cases: int, rng: np.random.Generator) -> Dataset:
    """Random walks with noise; the last two channels are positive."""
    walk = np.cumsum(rng.normal(size=(cases, 4, SAMPLES)), axis=2) * 0.3
    values = walk + rng.normal(size=(cases, 4, 1)) + 0.15 * rng.normal(size=walk.shape)
    values[:, 2:] = 5 + np.abs(values[:, 2:])
    return Dataset(values, channels=("x", "y", "z", "w"), dt=DT, time_unit="s")


def plant(text: str, seed: int) -> tuple[Formula, Dataset, Dataset]:
    """The rule with a threshold that half of the traces satisfy, traces to learn from and fresh ones."""
    rng = np.random.default_rng(seed)
    train, fresh = traces(CASES, rng), traces(FRESH, rng)
    node = parse(text)
    values = robustness(node, fresh)
    middle = float(np.median(values))
    near = np.unique(np.round(values, 9))  # whole numbers, as of a count, have no trace at the threshold itself
    if len(near) < 100:
        middle = float(near[np.argmin([abs((values >= v).mean() - 0.5) for v in near])]) - 0.5

    def move(each: Formula) -> Formula:
        if not isinstance(each, Atom):
            return each
        return replace(each, threshold=each.threshold + (middle if each.relation == ">=" else -middle))

    rule = map_nodes(node, move)
    return rule, *(replace(d, labels=satisfied(rule, d).astype(int), classes=("bad", "good")) for d in (train, fresh))


def flip(data: Dataset, share: float, seed: int) -> Dataset:
    """The labels of a share of the traces exchanged."""
    rng = np.random.default_rng([seed, 1])
    labels = np.array(data.labels)
    at = rng.permutation(len(data))[: round(share * len(data))]
    labels[at] = 1 - labels[at]
    return replace(data, labels=labels)


def run(numbers: list[int], noise: float) -> int:
    """Learn each task; gives how many were found."""
    found = 0
    for number in numbers:
        rule, train, fresh = plant(TASKS[number], number)
        began = perf_counter()
        fit = Fernn(signals="auto", time_limit=20).fit(flip(train, noise, number) if noise else train)
        wrong = float(losses(fit.formula, fresh).mean())
        found += wrong <= 0.01
        mark = "found" if wrong <= 0.01 else "-----"
        print(f"{number:2} {mark} {wrong:.4f} {perf_counter() - began:5.1f} s  {rule}   {fit.formula}", flush=True)
    print(f"{found} of {len(numbers)} found, with {noise:.0%} of the labels flipped", flush=True)
    return found


def screening_time() -> None:
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.normal(size=(200, 300, 200)), axis=2)
    data = Dataset(values, rng.integers(0, 2, 200), ("bad", "good"), tuple(f"c{i}" for i in range(300)))
    rank_signals(data.select(data.channels[:2]))  # compiles
    began = perf_counter()
    ranked = rank_signals(data)
    print(f"{len(ranked)} signals of 300 channels x 200 traces x 200 samples: {perf_counter() - began:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="*", default=range(len(TASKS)), help="numbers of tasks")
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.05], help="shares of labels to flip")
    parser.add_argument("--screening", action="store_true", help="only measure the time of screening")
    args = parser.parse_args()
    if args.screening:
        screening_time()
    else:
        for share in args.noise:
            run(list(args.only), share)
