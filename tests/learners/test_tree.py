"""Trees: the best split is the best of all formulas, and the formula read from a tree judges as the tree does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fernn
from brute import all_formulas, noisy
from fernn.data import from_arrays
from fernn.errors import UnsupportedError
from fernn.formula import atom, direction
from fernn.learners import Enumerative, Tree
from fernn.learners.tree import IMPURITY, FormulaTree, SplitSearch, build_tree, cases_reaching, prunings, vote

SPLITS = [fernn.parse(text) for text in ("G (a >= 0.5)", "F (b >= 1.5)", "a <= 0.5", "F (a >= 1.5 & b <= 0.5)")]


def gain(purity, held, good, weights):
    """Written out: the impurity of the whole less that of the parts."""

    def impure(part):
        total = weights[part].sum()
        return 0.0 if total == 0 else IMPURITY[purity](weights[part & good].sum() / total) * total / weights.sum()

    return impure(np.ones(len(good), bool)) - impure(held) - impure(~held)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("purity", IMPURITY)
@pytest.mark.parametrize("length", [2, 3])
def test_no_formula_of_the_space_parts_better(seed, purity, length):
    data = noisy(seed)
    weights = np.random.default_rng(seed).choice([1.0, 1.0, 3.0], len(data))
    space, future = Enumerative(length, since=False, thresholds="exact").space(data)
    formula, gained = SplitSearch(data, weights, space, future, 10**8, lambda: None).best(purity)
    atoms = [atom(name, side, level) for name in "ab" for side in (">=", "<=") for level in (0.5, 1.5)]
    every = [f for found in all_formulas(atoms, length, True, since=False).values() for f in found]
    most = max(gain(purity, fernn.satisfied(f, data), data.positive, weights) for f in every)
    assert gained == pytest.approx(most)
    if formula is not None:
        assert gain(purity, fernn.satisfied(formula, data), data.positive, weights) == pytest.approx(gained)


@st.composite
def trees(draw):
    splits = {"": draw(st.sampled_from(SPLITS))}
    for path in ("y", "n", "yy", "yn", "ny", "nn"):
        if path[:-1] in splits and draw(st.booleans()):
            splits[path] = draw(st.sampled_from(SPLITS))
    ends = [path + way for path in splits for way in "yn" if path + way not in splits]
    return FormulaTree(splits, {path: draw(st.booleans()) for path in ends})


@given(trees(), st.integers(0, 50))
def test_the_formula_of_a_tree_judges_as_the_tree(tree, seed):
    data = noisy(seed)
    masks = cases_reaching(tree.splits, data)
    wanted = np.zeros(len(data), bool)
    for path, verdict in tree.leaves.items():
        wanted[masks[path]] = verdict
    assert (fernn.satisfied(tree.formula, data) == wanted).all()


@given(st.lists(st.sampled_from(SPLITS), min_size=1, max_size=4), st.integers(0, 50), st.data())
def test_a_vote_counts_what_each_has_to_say(formulas, seed, data):
    traces = noisy(seed)
    says = [data.draw(st.sampled_from([0.5, 1.0, 2.0, 3.5])) for _ in formulas]
    for_it = sum(say * fernn.satisfied(f, traces) for say, f in zip(says, formulas, strict=True))
    assert (fernn.satisfied(vote(formulas, says), traces) == (for_it > sum(says) / 2)).all()


def test_prunings_shrink_to_one_split_and_err_more_and_more():
    data = noisy(3, 60)
    weights = np.ones(len(data))
    tree = build_tree({"": SPLITS[0], "y": SPLITS[1], "n": SPLITS[2], "ny": SPLITS[3]}, data, weights)
    found = list(prunings(tree, data, weights))
    assert [len(each.splits) for each in found] == sorted({len(each.splits) for each in found}, reverse=True)
    assert list(found[-1].splits) == [""]
    errors = [(fernn.satisfied(each.formula, data) != data.positive).mean() for each in found]
    assert errors == sorted(errors)


def corners():
    """Good where both channels rise: no formula of length 2 says so."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (200, 2, 5))
    high = X[:, :, 0] > 0.5
    X[high[:, 0], 0, 2], X[high[:, 1], 1, 3] = 2.0, 2.0
    return from_arrays(X, high.all(axis=1).astype(int), ["a", "b"], classes=["bad", "good"])


def test_depth_makes_what_one_formula_cannot():
    data = corners()
    assert Tree(depth=1, folds=0).fit(data).front[-1].train > 0.15
    deep = Tree(depth=3, folds=0).fit(data)
    assert deep.front[-1].train == 0
    longest = max(entry.length for entry in deep.front)
    short = Tree(depth=3, folds=0, max_length=longest - 1).fit(data)
    assert max(entry.length for entry in short.front) < longest


def test_a_small_leaf_is_not_made():
    data = corners()
    for entry in Tree(depth=3, folds=0, min_leaf=30, pruning=False).fit(data).front:
        held = fernn.satisfied(entry.formula, data)
        assert min(held.sum(), (~held).sum()) >= 30


def test_past_trees_look_back():
    data = corners()
    front = Tree(depth=2, direction="past", folds=0).fit(data).front
    assert all(direction(entry.formula) == "past" for entry in front)


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"purity": "luck"}, "purity"), ({"depth": 0}, "depth"), ({"trees": 9}, "vote"), ({"folds": 1}, "folds")],
)
def test_bad_settings_are_refused(settings, says):
    with pytest.raises(UnsupportedError, match=says):
        Tree(**settings).fit(corners())


@pytest.mark.parametrize("seed", range(6))
def test_a_finished_tree_resumes_to_itself(seed):
    data = noisy(seed, 40)
    learner = Tree(depth=3, node_length=1, folds=0, trees=1 + 2 * (seed % 2))
    fit = learner.fit(data)
    assert learner.fit(data, resume=fit.state).front == fit.front


def test_without_pruning_there_is_one_tree():
    assert len(Tree(depth=3, node_length=1, folds=0, pruning=False).fit(noisy(0)).front) == 1


@pytest.mark.parametrize("seed", range(8))
def test_no_leaf_is_lighter_than_allowed_where_that_can_be(seed):
    data = noisy(seed, 40)
    space, future = Enumerative(1, thresholds="exact").space(data)
    ones = np.ones(len(data))
    formula, gained = SplitSearch(data, ones, space, future, 10**8, lambda: None).best("gini", ones, 15.0)
    atoms = [atom(name, side, level) for name in "ab" for side in (">=", "<=") for level in (0.5, 1.5)]
    fair = [f for f in atoms if 15 <= fernn.satisfied(f, data).sum() <= 25]
    most = max((gain("gini", fernn.satisfied(f, data), data.positive, ones) for f in fair), default=0.0)
    assert gained == pytest.approx(most if most > 1e-9 else 0.0)
    if formula is not None:
        assert 15 <= fernn.satisfied(formula, data).sum() <= 25


@pytest.mark.parametrize("scale", [1 / 24, 1000.0])
def test_the_scale_of_weights_does_not_matter(scale):
    data = noisy(2)
    fit = Tree(node_length=1, folds=0).fit(data)
    assert [e.formula for e in Tree(node_length=1, folds=0).fit(data, weights=np.full(24, scale)).front] == [
        e.formula for e in fit.front
    ]
