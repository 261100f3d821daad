"""Propositional traces for the tests."""

from __future__ import annotations

from itertools import product

import numpy as np

import fernn
from fernn.data import Dataset, from_arrays
from fernn.formula import Formula
from fernn.formula.nodes import FALSE, TRUE


def leaves(propositions: int) -> list[Formula]:
    atoms = [fernn.parse(f"{name} {side} 0.5") for name in "pqr"[:propositions] for side in (">=", "<=")]
    return [*atoms, TRUE, FALSE]


def every_word(propositions: int, longest: int) -> list[np.ndarray]:
    """All traces of up to so many letters."""
    letters = list(product([0.0, 1.0], repeat=propositions))
    return [np.array(word).T for n in range(1, longest + 1) for word in product(letters, repeat=n)]


def random_words(seed: int, propositions: int, count: int, longest: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 2, (propositions, rng.integers(1, longest + 1))).astype(float) for _ in range(count)]


def labelled(words: list[np.ndarray], good) -> Dataset:
    names = list("pqr"[: len(words[0])])
    return from_arrays(words, np.asarray(good).astype(int), classes=["no", "yes"], channels=names)


def noisy(seed: int, propositions: int = 2, count: int = 24, longest: int = 5) -> Dataset:
    """Labels at random, so that no short formula is right about all."""
    rng = np.random.default_rng(seed)
    return labelled(random_words(seed, propositions, count, longest), [0, 1, *rng.integers(0, 2, count - 2)])
