"""Trees as clauses: every tree once, and no meaning lost."""

import numpy as np
import pytest

pytest.importorskip("z3", reason="needs fernn[verify]")

import z3
from words import every_word, leaves

import fernn
from brute import all_formulas
from fernn.formula import interval
from fernn.learners.maxsat_encoding import Trees, decode_tree, is_a, literal_name

pytestmark = pytest.mark.filterwarnings("ignore")  # empty windows at the ends are as meant


def every_tree(trees):
    """The formula of every way to satisfy the clauses."""
    solver = z3.Solver()
    for clause in trees.clauses():
        solver.add(z3.Or([z3.Bool(x) if x == literal_name(x) else z3.Not(z3.Bool(literal_name(x))) for x in clause]))
    found = []
    while solver.check() == z3.sat:
        model = solver.model()
        signs = [sign for sign in model.decls() if sign.name()[0] in "kc"]
        true = {sign.name() for sign in signs if z3.is_true(model[sign])}
        found.append(decode_tree(true.__contains__, trees, tuple("pqr"[: trees.propositions])))
        solver.add(z3.Or([z3.Not(sign()) for sign in signs if sign.name() in true]))
    return found


def meaning(formula, words, channels):
    return np.concatenate(fernn.satisfied(formula, words, channels, at="all")).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("propositions", "longest", "until", "next"),
    [(2, 4, True, True), (1, 4, False, True), (1, 5, True, False)],
)
def test_what_the_rules_leave_says_all_that_can_be_said(propositions, longest, until, next):
    words = every_word(propositions, 5 if propositions == 1 else 3)
    names = list("pqr"[:propositions])
    windows = (interval(1, 1),) if next else ()
    brute = all_formulas(leaves(propositions), longest, True, until, windows=windows)
    said, possible = set(), set()
    for n in range(1, longest + 1):
        kept = every_tree(Trees(n, propositions, until, next))
        assert len(set(kept)) == len(kept)
        assert all(fernn.length(formula) == n for formula in kept)
        said |= {meaning(formula, words, names) for formula in kept}
        possible |= {meaning(formula, words, names) for formula in brute[n]}
        assert said == possible
        assert len(kept) < len(brute[n]) or n == 1


def test_a_tree_that_is_not_there_cannot_be():
    trees = Trees(2, 1, until=False, next=False)
    assert {str(f) for f in every_tree(trees)} == {"F (p >= 0.5)", "F (p <= 0.5)", "G (p >= 0.5)", "G (p <= 0.5)"}
    assert is_a(0, "and") not in {x for clause in trees.clauses() for x in clause}
