"""How two formulas stand to each other, against all traces of a few values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn import parse, robustness, satisfied
from fernn.errors import FernnError, FormulaError, UnsupportedError
from fernn.evaluation import relate
from fernn.formula import Always, And, Atom, Eventually, Not, Or, Release, Step, Until, WeakUntil, interval

pytest.importorskip("z3", reason="equivalence is proved by z3")

LEVELS = (0.5, 1.0, 1.5, 2.0, 2.5)  # between, and on, the thresholds 1 and 2


@st.composite
def formulas(draw, depth=2):
    if depth == 0 or draw(st.booleans()):
        return Atom((("x", 1.0),), draw(st.sampled_from([">=", "<", "<=", ">"])), draw(st.sampled_from([1.0, 2.0])))
    inner = formulas(depth - 1)
    kind = draw(st.sampled_from(["G", "F", "U", "W", "R", "&", "|", "!"]))
    if kind in "GF":
        over = draw(st.sampled_from([interval(0), interval(0, 1), interval(1, 2)]))
        return {"G": Always, "F": Eventually}[kind](draw(inner), over)
    if kind == "!":
        return Not(draw(inner))
    return {"U": Until, "W": WeakUntil, "R": Release, "&": And, "|": Or}[kind](draw(inner), draw(inner))


@given(formulas(), formulas())
@settings(max_examples=60, deadline=None)
def test_a_relation_is_what_all_traces_of_all_values_show(f, g):
    found = relate(f, g, 3)
    only_f = only_g = False
    for samples in (1, 2, 3):
        X = np.array(list(product(LEVELS, repeat=samples)))[:, None, :]
        holds, other = satisfied(f, X, ["x"], at="first"), satisfied(g, X, ["x"], at="first")
        only_f |= bool((holds & ~other).any())
        only_g |= bool((other & ~holds).any())
    assert (found.only_first is not None) == only_f
    assert (found.only_second is not None) == only_g
    for trace, one, another in ((found.only_first, f, g), (found.only_second, g, f)):
        if trace is not None:
            assert satisfied(one, trace[None], found.channels, at="first")[0]
            assert not satisfied(another, trace[None], found.channels, at="first")[0]


@pytest.mark.parametrize(
    ("f", "g", "word", "samples"),
    [
        ("F G (v >= 1)", "G F (v >= 1)", "equivalent", None),
        ("!F (v > 3)", "G (v <= 3)", "equivalent", None),
        ("G (v <= 3)", "G[0,5] (v <= 3)", "stronger", 7),
        ("F (x >= 1) & F (y >= 1)", "F (x >= 1 & y >= 1)", "weaker", 2),
        ("H (v <= 3)", "O (v >= 1)", "different", 1),
    ],
)
def test_the_trace_that_tells_formulas_apart_is_as_short_as_can_be(f, g, word, samples):
    found = relate(f, g, 8)
    assert found.word == word
    traces = [trace for trace in (found.only_first, found.only_second) if trace is not None]
    assert [trace.shape[1] for trace in traces[:1]] == ([] if samples is None else [samples])
    assert (found.length == 0) == (word == "equivalent")


def test_formulas_may_be_the_same_within_a_range_of_values():
    assert relate("G (v <= 3)", "G (v <= 4)", 3, {"v": (0.0, 2.5)}).is_equivalent
    assert not relate("G (v <= 3)", "G (v <= 4)", 3, {"v": (0.0, 3.5)}).is_equivalent


def test_a_trace_is_found_within_ranges_that_leave_thresholds_and_ends_only():
    found = relate("G (v <= 25)", "G[0,2] (v <= 25)", 6, {"v": (20.0, 41.0)})
    assert found.word == "stronger"
    assert found.only_second.shape == (1, 4)
    assert ((found.only_second >= 20) & (found.only_second <= 41)).all()


def test_what_cannot_be_compared_is_told():
    with pytest.raises(FernnError, match="one looks back and the other ahead"):
        relate("H (v <= 3)", "F (v <= 3)", 4)
    with pytest.raises(FormulaError):
        relate("G (v <=", "v >= 1", 4)
    with pytest.raises(FernnError, match="no answer within 0 s"):
        relate("G (v <= 3)", "F (v <= 3)", 4, time_limit=0)


def test_a_proof_of_a_thousand_samples_needs_no_solver():
    found = relate("G G (v <= 3)", "G (v <= 3)", 1000)
    assert found.is_equivalent
    assert str(found) == "equivalent on all traces"
    assert robustness(parse("G (v <= 3)"), [[1.0]], ["v"])[0] == 2


def test_a_law_does_not_hold_across_samples():
    with pytest.raises(FernnError, match="one looks back"):
        relate("G[0,0] (x >= 0)", "O[0,0] (x >= 0)", 3)


@pytest.mark.parametrize(
    ("f", "g", "sums"),
    [
        ("x + y + z >= 1", "z + y + x >= 1", ("x + y + z", "z + y + x")),
        ("3*x + 3*y >= 3", "x + y >= 1", ("3*x + 3*y", "x + y")),
        ("G (x + y + z >= 1)", "!F (z + y + x < 1)", ("x + y + z", "z + y + x")),
    ],
)
def test_sums_written_differently_are_the_same_up_to_rounding_only(f, g, sums):
    found = relate(f, g)
    assert found.word == "equivalent up to rounding"
    assert not found.is_equivalent
    assert found.sums == sums
    assert all(each in found.caveats[0] for each in sums)
    assert found.rounded is not None
    assert len({bool(satisfied(each, found.rounded[None], found.channels)[0]) for each in (f, g)}) == 2


@pytest.mark.parametrize(
    ("f", "g"),
    [
        ("x + y >= 1", "y + x >= 1"),  # two terms commute in floats
        ("x + y + z >= 1 & x >= 0", "x >= 0 & y + x + z >= 1"),
        ("F (-x - y >= -1)", "!G (x + y > 1)"),
        ("x >= 1 & x < 1.0000000000000002", "x >= 1 & x <= 1"),  # no float is between them
        ("0.3*x >= 1 & F (0.3*x > 1)", "F (0.3*x > 1) & 0.3*x >= 1"),
    ],
)
def test_what_floats_cannot_tell_apart_is_equivalent(f, g):
    assert relate(f, g).is_equivalent


def test_a_relation_is_one_of_the_floats_as_they_are_compared():
    found = relate("x >= 1", "x >= 1 & x < 1.0000000000000002 | x > 1.0000000000000002")
    assert found.only_first.tolist() == [[1.0000000000000002]]
    found = relate("x > 0.1 & x >= 0.1000000001", "x >= 0.1000000001")
    assert found.is_equivalent
    assert "float32" in found.caveats[0]


def test_exactly_means_bit_by_bit():
    found = relate("x + y + z >= 1", "z + y + x >= 1", 1, exact=True, time_limit=300)
    assert found.word == "different"
    for trace, holds, fails in ((found.only_first, found.first, found.second),):
        assert satisfied(holds, trace[None], found.channels)[0]
        assert not satisfied(fails, trace[None], found.channels)[0]
    assert relate("2*x >= 2", "x >= 1").word == "equivalent up to rounding"
    assert relate("2*x >= 2", "x >= 1", exact=True, time_limit=300).is_equivalent


def test_a_formula_is_compared_at_the_sample_it_is_judged_at():
    found = relate("O[0,0] (x >= 1)", "x >= 1")
    assert found.word == "different"
    assert found.only_first.shape == (1, 2)


def test_traces_are_as_long_as_windows_need_and_what_is_not_covered_is_said():
    found = relate("G[0,30] (x <= 1)", "G[0,29] (x <= 1)", time_limit=600)
    assert found.word == "stronger"
    assert found.only_second.shape == (1, 31)
    short = relate("G[0,30] (x <= 1)", "G[0,29] (x <= 1)", 20, time_limit=600)
    assert short.is_equivalent
    assert not short.is_covered
    assert short.caveats == (
        "Compared on traces of up to 20 samples; windows reach 31: longer traces are not covered.",
    )
    endless = relate("F (x >= 1) & G (x <= 3)", "G (x <= 3) & F (x >= 1 & x <= 3)")
    assert endless.is_equivalent
    assert endless.is_covered
    assert "longer traces are not covered" in endless.caveats[0]


@pytest.mark.parametrize(
    ("f", "g", "word"),
    [
        ("G (abs(x) <= 1)", "G (x <= 1 & x >= -1)", "equivalent up to rounding"),
        ("G (mean(x, 2) <= 1)", "G (lowest(x, 2) <= 1)", "stronger"),
        ("H (highest(x, 3) <= 1)", "H[0,2] (x <= 1)", "stronger"),
        ("H (highest(x, 3) <= 1)", "H (x <= 1)", "equivalent up to rounding"),
        (
            "H (mean(x, 1 s) <= 1)",
            "H (0.5*x + 0.5*highest(x, 2) - 0.5*max(diff(x), 0) <= 1)",
            "equivalent up to rounding",
        ),
        ("G (mean(x, 1 s) <= 1)", "G (x - 0.5*diff(x) <= 1)", "equivalent up to rounding"),
        ("G (rate(x) <= 1)", "G (2*diff(x) <= 1)", "equivalent up to rounding"),
        ("H (since(x > 1) <= 2)", "H O[0,2] (x > 1)", "equivalent up to rounding"),
        ("H (since(x > 1) <= 1 s)", "H O[0,2] (x > 1)", "equivalent up to rounding"),
        ("G (x in {1, 2})", "G (x >= 1 & x <= 2)", "stronger"),
        ("H (count(x > 1, 3) <= 0)", "H (x <= 1)", "equivalent up to rounding"),
        ("H (integral(x) <= 1 & x <= 0)", "H (x <= 0)", "equivalent up to rounding"),
        ("G (std(x, 5) <= 2)", "!F (std(x, 5) > 2)", "equivalent"),
        ("G (std(x, 5) <= 2) U (x*y > 1)", "G (std(x, 5) <= 2) & F (x*y > 1) | x*y > 1", "equivalent"),
        ("G (2*y - std(x, 5) <= 2)", "G[0,4] G (std(x, 5) - 2*y >= -2)", "equivalent"),
    ],
)
def test_functions_are_compared_as_they_are_defined_from_the_first_sample_on(f, g, word):
    step = Step(0.5, "s")
    found = relate(f, g, 5, step=step)
    assert found.word == word
    for trace, one, another in ((found.only_first, f, g), (found.only_second, g, f)):
        if trace is not None:
            assert satisfied(one, trace[None], found.channels, step=step)[0]
            assert not satisfied(another, trace[None], found.channels, step=step)[0]
    assert found.sums == () or word == "stronger" or any(name in found.caveats[0] for name in found.sums)


def test_a_function_that_is_no_sum_is_refused_by_name_where_it_matters():
    with pytest.raises(UnsupportedError, match=r"sums of samples, and std\(x, 5\) is none"):
        relate("G (std(x, 5) <= 2)", "G (std(x, 5) <= 3)")
    with pytest.raises(FormulaError, match="the time between samples is not known"):
        relate("G (mean(x, 1 s) <= 2)", "G (mean(x, 1 s) <= 3)")


def test_traces_are_as_long_as_functions_look_back():
    assert relate("G (mean(x, 4) <= 2)", "G (mean(x, 5) <= 2)").word == "different"
    assert relate("G (diff(x, 6) <= 2)", "G[0,5] (diff(x, 6) <= 2)").only_second.shape == (1, 7)
    assert relate("G (abs(x) <= 2)", "G (max(x, -x) <= 2)").is_covered
