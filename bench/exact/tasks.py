"""Tasks for learners of LTLf: traces of 0s and 1s, labelled by a planted formula, in the format of flie and Scarlet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import fernn
from fernn.data import Dataset, from_arrays

FORMULAS = (
    "G !p", "F p", "F p & G !q", "F p & F q", "G (!p | F q)", "G !p | F q", "F (p & F q)", "G (p | q)", "F G p",
    "p & F q", "G (p | X q)", "F (p & X q)", "p | X X q", "G !p | G !q", "F (p & q)", "G (!q | G !p)", "(!p) U q",
    "p & G (!p | X q)", "F (p & X F q)", "G (!p | X !q)", "(p | q) U (q & F p)",
)  # fmt: skip
"""Absence, existence, response, precedence and the like; X is the next letter."""
SIZES = ((10, 6, 2), (50, 15, 3), (100, 50, 6))
"""(traces of each kind, letters on average, propositions)"""


@dataclass(frozen=True)
class Task:
    name: str
    data: Dataset

    def text(self) -> str:
        """As a .trace file."""
        kinds = []
        for wanted in (True, False):
            at = np.flatnonzero(self.data.positive == wanted)
            lines = [";".join(",".join(str(int(b)) for b in letter) for letter in self.data.values[i].T) for i in at]
            kinds.append("\n".join(lines))
        return "\n---\n".join(kinds) + "\n"


def read(text: str) -> fernn.Formula:
    """A formula of the list in fernn's words: propositions are channels of 0 and 1."""
    words = []
    for word in text.replace("(", " ( ").replace(")", " ) ").replace("!", " ! ").split():
        words.append({"X": "F[1,1]", "p": "(p >= 0.5)", "q": "(q >= 0.5)"}.get(word, word))
    return fernn.parse(" ".join(words))


def tasks(seed: int = 0) -> Iterator[Task]:
    """Every formula in every size. Traces differ in how often each proposition holds, so that both kinds occur."""
    for number, text in enumerate(FORMULAS):
        formula = read(text)
        for traces, letters, width in SIZES:
            rng = np.random.default_rng([seed, number, traces])
            names = tuple("pqrstuvw"[:width])
            found: dict[bool, list[np.ndarray]] = {True: [], False: []}
            while min(len(kind) for kind in found.values()) < traces:
                some = [_trace(rng, letters, width) for _ in range(500)]
                held = fernn.satisfied(formula, some, names)
                for trace, good in zip(some, held, strict=True):
                    if len(found[bool(good)]) < traces:
                        found[bool(good)].append(trace)
            X = found[True] + found[False]
            y = [1] * traces + [0] * traces
            data = from_arrays(X, y, classes=["negative", "positive"], channels=list(names))
            yield Task(f"{text}, {2 * traces} traces", data)


def _trace(rng: np.random.Generator, letters: int, width: int) -> np.ndarray:
    size = int(rng.integers(max(5, letters // 2), min(100, 2 * letters) + 1))
    often = rng.choice([0.0, 0.02, 0.2, 0.5, 0.8, 0.98, 1.0], (width, 1))
    trace = (rng.random((width, size)) < often).astype(float)
    if rng.random() < 0.5:  # a change somewhere, so that what begins one way may end another
        at = int(rng.integers(size))
        trace[:, at:] = rng.random((width, size - at)) < rng.choice([0.0, 0.05, 0.5, 1.0], (width, 1))
    return trace
