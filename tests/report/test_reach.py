"""Where atoms are read, against the definition of the language made to say where it reads."""

import warnings
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fernn import parse, robustness
from fernn.errors import FormulaError, SignalError
from fernn.formula import Atom, walk
from fernn.formula.measures import map_nodes
from fernn.report.reach import reach
from strategies import FUTURE, MIXED, PAST, formulas


class Watched(list):
    """A row of samples that remembers which of them were asked for."""

    def __init__(self, size):
        super().__init__([0.0] * size)
        self.read = set()

    def __getitem__(self, sample):
        self.read.add(sample)
        return super().__getitem__(sample)


def numbered(formula):
    """The formula with a channel of its own for every atom, c0, c1, ... as they are met."""
    count = iter(range(1000))
    return map_nodes(
        formula, lambda node: Atom(((f"c{next(count)}", 1.0),), ">=", 0.0) if isinstance(node, Atom) else node
    )


def looked_at(formula, samples):
    """`{channel: samples}` of each atom, as `reach` has them, judged at sample `at`."""

    def at(place):
        found = {}
        for atom, first, last in reach(formula, samples, place):
            found.setdefault(atom.channels[0], set()).update(range(first, last + 1))
        return found

    return at


@pytest.mark.slow
@given(formulas(MIXED), st.integers(1, 30), st.data())
@settings(deadline=None, max_examples=400)
def test_an_atom_is_read_where_the_definition_reads_it(formula, samples, data):
    formula = numbered(formula)
    at = data.draw(st.integers(0, samples - 1))
    names = [node.channels[0] for node in walk(formula) if isinstance(node, Atom)] or ["c0"]
    trace = {name: Watched(samples) for name in names}
    oracle.rho(formula, trace, at)
    assert looked_at(formula, samples)(at) == {name: row.read for name, row in trace.items() if row.read}


@given(st.one_of(formulas(PAST), formulas(FUTURE)), st.integers(2, 25), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=200)
def test_a_sample_that_can_change_the_verdict_lies_in_the_reach(formula, samples, seed):
    random = np.random.default_rng(seed)
    trace = random.normal(0, 2, (2, samples))
    found = reach(formula, samples)
    touched = np.repeat(trace[None], 2 * samples, axis=0)
    for channel in range(2):
        for sample in range(samples):
            touched[channel * samples + sample, channel, sample] += random.choice([-9, 9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty windows
        before = robustness(formula, trace[None], ["x", "y"])[0]
        after = robustness(formula, touched, ["x", "y"])
    for i in np.flatnonzero(after != before):
        name, sample = "xy"[i // samples], i % samples
        assert any(name in atom.channels and first <= sample <= last for atom, first, last in found)


@given(st.sampled_from("FO"), st.integers(1, 20), st.data())
@settings(deadline=None)
def test_each_sample_in_the_reach_of_nested_windows_can_decide(word, samples, data):
    """One high sample among low ones satisfies F[a,b] F[c,d] just where the two windows add up to it."""
    windows = [sorted(data.draw(st.lists(st.integers(0, 8), min_size=2, max_size=2))) for _ in range(2)]
    text = " ".join(f"{word}[{a},{b}]" for a, b in windows)
    formula = parse(f"{text} (x >= 0)")
    found = {sample for _, first, last in reach(formula, samples) for sample in range(first, last + 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decisive = robustness(formula, 2.0 * np.eye(samples)[:, None, :] - 1) > 0
    assert found == set(np.flatnonzero(decisive).tolist())


@pytest.mark.parametrize(
    ("text", "samples", "wanted"),
    [
        ("G (x <= 1)", 5, [("x <= 1", 0, 4)]),
        ("x >= 1 & y < 2", 5, [("x >= 1", 0, 0), ("y < 2", 0, 0)]),
        ("H[1,2] (x >= 1)", 5, [("x >= 1", 2, 3)]),
        ("F[0,1]u[5,7] (x >= 1)", 7, [("x >= 1", 0, 1), ("x >= 1", 5, 6)]),
        ("F[9,10] (x >= 1)", 5, []),
        ("x >= 1 U[2,3] y >= 1", 9, [("x >= 1", 0, 2), ("y >= 1", 2, 3)]),
        ("x >= 1 S y >= 1", 4, [("x >= 1", 1, 3), ("y >= 1", 0, 3)]),
        ("G[0,3] (x > 0.9) -> F[4,8] (x > -0.5)", 10, [("x <= 0.9", 0, 3), ("x > -0.5", 4, 8)]),
        ("!F (x >= 1)", 3, [("x < 1", 0, 2)]),
        ("true", 3, []),
    ],
)
def test_some_by_hand(text, samples, wanted):
    assert [(str(atom), first, last) for atom, first, last in reach(parse(text), samples)] == wanted


def test_long_traces_and_far_windows_take_no_longer():
    atom = parse("x >= 0")
    assert reach(parse("G[0,1000000000] F (x >= 0)"), 10**9) == [(atom, 0, 10**9 - 1)]
    assert inf not in {last for *_, last in reach(parse("O[5,inf) (x >= 0)"), 9)}


def test_what_has_no_answer_is_refused():
    with pytest.raises(SignalError, match="both back and ahead"):
        reach(parse("F O (x >= 0)"), 5)
    assert reach(parse("F O (x >= 0)"), 5, at=2)
    with pytest.raises(SignalError, match="no sample 5"):
        reach(parse("F (x >= 0)"), 5, at=5)
    with pytest.raises(FormulaError, match="open choices"):
        reach(parse("F ?p"), 5)
