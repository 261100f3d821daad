"""Sets of parameters against the definition: every cell of parameter space, judged one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.data import Dataset
from fernn.formula.expressions import Sum
from fernn.mining import ParameterSet, parameter_set, parse_parametric
from fernn.semantics import satisfied
from oracle import as_trace, sum_value

STRUCTURES = [
    "G (x <= ?c)",
    "G (x < ?c)",
    "F (x >= ?c)",
    "!F (x > ?c)",
    "?c <= x",
    "x > ?c -> F (y < 1)",
    "F[0,?b] (x >= 1)",
    "G[?a,3] (x > 0)",
    "O[?a,inf) (x >= 1)",
    "F[0,?b] (x >= ?c)",
    "H[1,?b] (x < ?c)",
    "F[?a,?b] (x >= ?c)",
    "!G[?w] (x >= ?c)",
    "(x <= ?c) U[0,?b] (y >= ?d)",
    "(x <= ?c) S[?a,2] (y > ?d)",
    "(x <= ?c) W[0,?b] (y >= ?d)",
    "(x <= ?c) W[?a,?b] (y > 1)",
    "!((x <= 1) B[?a,?b] (y > ?c))",
    "(x <= ?c) R[?a,?b] (y > 1)",
    "G (x <= ?c | x >= ?d)",
    "?c <= x <= ?d",
    "G (x > ?c -> F[0,?b] (y <= ?d))",
    "G (x <= ?c) & F (y <= ?c)",
    "G (x <= ?c) & F (y >= ?c)",
    "G (x < ?c) | F (y <= ?c) & x >= ?d",
    "F[?a,?a] (x >= ?c)",
    "G[0,?b] (x >= 0) & F[?b,4] (y >= ?c)",
    "G (2*x - y <= ?c)",
    "F (x - 0.3*y > ?c) & G[0,?b] (x > -1)",
    "F[?a,?b] (x >= 1) | G[?b,?d] (y < 1)",
    "G (diff(x) <= ?c)",
    "F[0,?b] (2*mean(x, 2) - y > ?c)",
    "G (since(x >= 1 & O[0,1] (y > 0)) <= ?c)",
    "F (count(x > 0, 3) >= ?c) & G[0,?b] (max(x, y) <= ?d)",
]


@st.composite
def datasets(draw, longest=5):
    """Few values, so that ties are common; traces of both classes, of equal or unequal length."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cases, longest = draw(st.integers(2, 6)), draw(st.integers(1, longest))
    sizes = random.integers(1, longest + 1, cases) if draw(st.booleans()) else [longest] * cases
    labels = random.permutation([0, 1, *random.integers(0, 2, cases - 2)])
    traces = tuple(random.choice([-1.0, 0.0, 0.3, 1.0], (2, size)) for size in sizes)
    return Dataset(traces, labels, ("bad", "good"), ("x", "y"))


def places(text, data):
    """Values of every cell of every parameter, as dictionaries: each value of the data, and between and around them."""
    asked = parse_parametric(text)
    axes = []
    for number, parameter in enumerate(asked.parameters):
        if parameter.kind == "end":
            axes.append([float(end) for end in range(int(data.lengths.max()) + 3)])
            continue
        atoms = [atom for atom, at in zip(asked.atoms, asked.thresholds, strict=True) if at == number]
        rows = [as_trace(trace, data.channels) for trace in data.values]
        sums = [sum_value(Sum(atom.weights), row, t) for atom in atoms for row in rows for t in range(len(row["x"]))]
        values = np.unique([value for value in sums if np.isfinite(value)] or [0.0])
        axes.append([values[0] - 1, *values, *(values[:-1] + values[1:]) / 2, values[-1] + 1])
    for point in product(*axes):
        yield dict(zip(asked.names, map(float, point), strict=True))


def keeps(text, values, data, false_alarms, misses):
    """Whether the formula with these values keeps to both limits; False where it is none."""
    asked = parse_parametric(text)
    if not asked.fits(values):
        return False
    verdicts = satisfied(asked.formula(values), data)
    return (~verdicts[data.positive]).mean() <= false_alarms and verdicts[~data.positive].mean() <= misses


limits = st.sampled_from([0.0, 0.25, 0.34, 0.5, 1.0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
@pytest.mark.parametrize("text", STRUCTURES)
def test_the_set_is_what_the_definition_says(text):
    @settings(max_examples=5, deadline=None)
    @given(datasets(), limits, limits)
    def check(data, false_alarms, misses):
        found = parameter_set(text, data, false_alarms, misses)
        wanted = [(values, keeps(text, values, data, false_alarms, misses)) for values in places(text, data)]
        assert found.is_exact
        assert [values for values, inside in wanted if inside != found.contains(values)] == []
        assert found.is_empty == (not any(inside for _, inside in wanted))
        if found.picked is not None:
            assert found.contains(found.picked.values)
            assert found.picked.false_alarms <= false_alarms
            assert found.picked.misses <= misses
        assert ParameterSet.from_json(found.to_json()) == found

    check()


def test_it_matters_not_where_boxes_are_cut_and_in_which_order(monkeypatch):
    random = np.random.default_rng(0)
    data = Dataset(random.normal(size=(8, 2, 4)), np.repeat([0, 1], 4), ("bad", "good"), ("x", "y"))
    texts = ["G (x <= ?c | y >= ?d)", "G (x <= ?c) & F (y >= ?c)", "F[?a,?b] (x >= ?c & y < 1)"]
    cut = [parameter_set(text, data, 0.34, 0.34) for text in texts]
    monkeypatch.setattr("fernn.mining.parameter_search.FEW", 0)
    monkeypatch.setattr("fernn.mining.parameter_search.CROWDED", 0)
    for text, before in zip(texts, cut, strict=True):
        after = parameter_set(text, data, 0.34, 0.34)
        assert after.is_exact
        assert before.bounds == after.bounds
        for values in list(places(text, data))[::31]:
            assert before.contains(values) == after.contains(values)


@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STRUCTURES), datasets(), limits, limits, st.integers(0, 6))
def test_what_a_stopped_search_claims_is_right(text, data, false_alarms, misses, boxes):
    found = parameter_set(text, data, false_alarms, misses, box_limit=boxes)
    assert found.ended == ("done" if found.is_exact else "box limit")
    assert (found.undecided_share > 0) == (not found.is_exact)
    for values in places(text, data):
        claimed = found.contains(values)
        assert claimed is None or claimed == keeps(text, values, data, false_alarms, misses)


@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STRUCTURES), datasets())
def test_nearest_has_the_fewest_misses_with_few_enough_false_alarms(text, data):
    found = parameter_set(text, data, 0.0, 0.0)
    if not found.is_empty:
        return
    verdicts = [satisfied(found.formula(values), data) for values in places(text, data) if found.structure.fits(values)]
    fewest = [held[~data.positive].mean() for held in verdicts if held[data.positive].all()]
    if not fewest:
        assert found.nearest is None
    else:
        assert found.nearest_proved
        assert (found.nearest.false_alarms, found.nearest.misses) == (0.0, min(fewest))


@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STRUCTURES), datasets())
def test_profiles_are_the_rates_of_the_formulas_along_each_parameter(text, data):
    found = parameter_set(text, data, 0.5, 0.5)
    for profile in found.profiles:
        at = (found.picked or found.nearest).values
        for value, alarms, misses in list(zip(profile.values, profile.false_alarms, profile.misses, strict=True))[::7]:
            verdicts = satisfied(found.formula({**at, profile.name: value}), data)
            assert alarms == pytest.approx((~verdicts[data.positive]).mean())
            assert misses == pytest.approx(verdicts[~data.positive].mean())
