"""Functions in atoms: what they give, that they read back, and who refuses them by name."""

import warnings
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fernn
from fernn.data import Dataset
from fernn.errors import FormulaError, SignalError, UnsupportedError
from fernn.formula import export_formula, from_json, parse, rename_channels, simplify, to_json, to_latex, to_sentence
from fernn.formula.expressions import FUNCTIONS, Call, Lag, Step, Sum
from fernn.semantics.explain import explain_case
from oracle import Sampled, as_trace, holds, rho
from strategies import CHANNELS, MIXED, function_atoms, grown, intervals, time_atoms, traces

pytestmark = pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")  # traces are short
STEP = 0.5
SEEN = st.recursive(
    st.one_of(function_atoms(), function_atoms(), time_atoms()),
    lambda inner: grown(inner, MIXED, intervals),
    max_leaves=4,
)


def sampled(trace):
    """One trace of samples half a second apart, as the package and as the definition take it."""
    made = Sampled(as_trace(trace, CHANNELS))
    made.step = STEP
    return Dataset(trace[None], channels=CHANNELS, dt=STEP, time_unit="s"), made


@settings(max_examples=300, deadline=None)
@given(SEEN, traces(longest=25, dtype=np.float64))
def test_functions_are_their_definition_at_every_sample(formula, trace):
    data, made = sampled(trace)
    wanted = np.array([rho(formula, made, t) for t in range(trace.shape[1])], float)
    assume(not np.isnan(wanted).any())
    try:
        found = fernn.robustness(formula, data, at="all")[0]
    except SignalError:  # a sum of infinite numbers: never where the definition has a number
        assert not np.isfinite(wanted).all()
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    sure = np.abs(wanted) > 1e-6
    verdicts = fernn.satisfied(formula, data, at="all")[0]
    assert (verdicts == [holds(formula, made, t) for t in range(trace.shape[1])])[sure].all()


@settings(max_examples=300, deadline=None)
@given(SEEN)
def test_what_is_printed_and_written_reads_back(formula):
    assert parse(str(formula)) == formula
    assert from_json(to_json(formula)) == formula
    assert to_latex(formula)
    assert to_sentence(formula)
    there = {name: f"{name} there" for name in fernn.formula.channels(formula)}
    back = {new: old for old, new in there.items()}
    assert rename_channels(rename_channels(formula, there), back) == formula


@settings(max_examples=100, deadline=None)
@given(SEEN, traces(longest=15, dtype=np.float64))
def test_a_simpler_formula_says_the_same(formula, trace):
    data, _ = sampled(trace)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = fernn.satisfied(formula, data, at="all")
            after = fernn.satisfied(simplify(formula), data, at="all")
    except SignalError:
        return
    assert np.array_equal(before, after)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("diff(x)", [0, 1, 2, 3]),
        ("diff(x, 2)", [0, 1, 3, 5]),
        ("diff(x, 1 s)", [0, 1, 3, 5]),
        ("rate(x)", [0, 2, 4, 6]),
        ("mean(x, 2)", [1, 1.5, 3, 5.5]),
        ("mean(x, 1 s)", [1, 1.5, 3, 5.5]),
        ("mean(x, 1000 ms)", [1, 1.5, 3, 5.5]),
        ("std(x, 2)", [0, 0.5, 1, 1.5]),
        ("lowest(x - 5, 2)", [-4, -4, -3, -1]),
        ("highest(abs(x - 5), 2)", [4, 4, 3, 2]),
        ("integral(x)", [0, 0.5, 1.5, 3.5]),
        ("since(x >= 4)", [inf, inf, 0, 1]),
        ("count(x > 1, 2)", [0, 1, 1, 0]),
        ("min(x, 3)", [1, 2, 3, 3]),
        ("max(x, y)", [1, 2, 4, 7]),
        ("norm(x, y)", [1, 2, 4, 7]),
        ("x*x", [1, 4, 16, 49]),
        ("x/y", [inf, inf, inf, inf]),
        ("y/y", [0, 0, 0, 0]),
        ("(x - 1)/2 + 1", [1, 1.5, 2.5, 4]),
    ],
)
def test_what_each_function_gives(expression, wanted):
    rows = np.array([[1.0, 2.0, 4.0, 7.0], [0.0] * 4])
    if expression == "count(x > 1, 2)":
        rows[0, 3] = 9.0
    data = Dataset(rows[None], channels=("x", "y"), dt=0.5, time_unit="s")
    data = replace(data, values=np.array([[[1.0, 2.0, 4.0, 1.0], [0.0] * 4]])) if "count" in expression else data
    data = replace(data, values=np.array([[[1.0, 2.0, 4.0, 3.0], [0.0] * 4]])) if "since" in expression else data
    assert fernn.robustness(f"{expression} >= 0", data, at="all")[0].tolist() == wanted


def test_sums_over_windows_do_not_drift():
    size, width = 1_000_000, 50
    rng = np.random.default_rng(0)
    x = 1e6 + rng.normal(size=size).cumsum() + 1e3 * rng.normal(size=size)
    data = Dataset(x[None, None], channels=("x",))
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    for name, reduce in (("mean", np.mean), ("std", np.std)):
        found = fernn.robustness(f"{name}(x, {width}) >= 0", data, at="all")[0][width - 1 :]
        np.testing.assert_allclose(found, reduce(windows, axis=1), rtol=1e-9)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 70), st.sampled_from([1, 2, 3, 5, 16, 20, 33, 64, 69, 600]),
    st.sampled_from([0, 1, 10, 60]), st.integers(0, 2**32 - 1), st.booleans(),
)  # fmt: skip
def test_means_in_single_precision_are_those_in_double_precision_rounded(cases, size, width, spread, seed, whole):
    """Whether all traces are of like size, some are not, or none; sixteen at a time or alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(cases, 2, size)) * 2.0 ** rng.integers(-spread, spread + 1, (cases, 2, size))
    X[rng.random((cases, 2, size)) < 0.1] = 0
    X = X.astype(np.float32)
    X[rng.random((cases, 2, size)) < 0.02] = np.float32(1e-44)
    text = f"mean(y, {width}) >= 0" if whole else f"G[0,3] (mean(y, {width}) <= 0.1 | y >= mean(x, 2))"
    at = "all" if whole else "first"
    found = fernn.robustness(text, X, ("x", "y"), at)
    assert found.dtype == np.float32
    rows = {name: np.float32(fernn.robustness(f"mean({name}, {k}) >= 0", X.astype(float), ("x", "y"), "all"))
            for name, k in (("y", width), ("x", 2))}  # fmt: skip
    for operator, best in (("G", np.min), ("F", np.max), ("H", np.min), ("O", np.max)):
        for atom, values in (("-2*mean(y, {}) <= 0.3", np.float32(0.3) + np.float32(2) * rows["y"]),
                             ("mean(y, {}) < 0.3", np.float32(0.3) - rows["y"])):  # fmt: skip
            verdicts = fernn.robustness(f"{operator} ({atom.format(width)})", X, ("x", "y"))
            assert (verdicts == best(values, axis=1)).all()
    if not whole:
        better = np.maximum(np.float32(0.1) - rows["y"], X[:, 1] - rows["x"])
        assert (found == better[:, :4].min(axis=1)).all()
    else:
        assert (found == rows["y"]).all()


def test_what_is_not_finite_is_found_among_means_too():
    X = np.random.default_rng(0).random((200, 1, 1000), np.float32)
    X[120, 0, 700] = np.nan
    with pytest.raises(SignalError, match="case 120, channel 'x', sample 700"):
        fernn.robustness("G (mean(x, 20) <= 1)", X, ["x"])


@pytest.mark.parametrize("width", [2, 7, 20])
def test_a_spread_is_exact_beside_a_jump_that_is_much_larger(width):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1e8, -3e7, 2.5], 41) + rng.normal(size=164)
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    found = fernn.robustness(f"std(x, {width}) >= 0", x[None], at="all")[0][width - 1 :]
    np.testing.assert_allclose(found, np.std(windows, axis=1), rtol=1e-12)
    assert (fernn.robustness(f"std(x, {width}) >= 0", np.full((1, 50), 0.1), at="all") == 0).all()


def test_traces_of_unequal_length_are_windows_of_their_own():
    rng = np.random.default_rng(0)
    some = [rng.normal(size=(1, size)) for size in (3, 9, 5)]
    together = fernn.robustness("G (std(x, 4) <= 2 & since(x > 0) <= 1)", some, ["x"])
    alone = [fernn.robustness("G (std(x, 4) <= 2 & since(x > 0) <= 1)", each[None], ["x"])[0] for each in some]
    assert together.tolist() == alone


def test_float32_is_computed_in_double_precision_and_rounded():
    x = np.array([[[0.1, 0.2, 0.3]]], np.float32)
    found = fernn.robustness("mean(x, 3) >= 0", x, ["x"], at="last")
    assert found.dtype == np.float32
    assert found[0] == np.float32(np.mean(x.astype(np.float64)))


@pytest.mark.parametrize(
    ("text", "says", "at", "hint"),
    [
        ("G (meen(x, 3) <= 2)", "there is no function 'meen'", 3, "did you mean 'mean'?"),
        ("G (average(x, 3) <= 2)", "there is no function 'average'", 3, "did you mean 'mean'?"),
        ("G (x <= maximum(y, z))", "there is no function 'maximum'", 8, "did you mean 'max'?"),
        ("G (x + sqrt(y) <= 2)", "there is no function 'sqrt'", 7, "there are abs, min"),
        ("G foo(x)", "there is no function or operator 'foo'", 2, "functions are abs, min"),
        ("y > 1 & mean(x) <= 2", "mean needs how far to look back, as in mean(x, 2 s)", 8, None),
        ("y > 1 & abs(x, y) <= 1", "abs takes 1 expression, found 2", 8, None),
        ("y > 1 & mean(x, y) <= 1", "mean takes 1 expression, found 2; then comes how far to look back", 8, None),
        ("y > 1 & since(x > 1, y > 2) <= 1", "expected ',' or ')'", 23, None),
        ("since(x > 1, 3) <= 1", "since takes 1 formula, found 2", 0, None),
        ("mean(x, 2, 3) <= 1", "mean takes nothing after how far to look back, 2", 9, None),
        ("abs(x, 2 s) <= 1", "abs takes no time to look back, found 2 s", 0, None),
        ("G (mean(x, 2 weeks) <= 1)", "times are in ns, us, ms, s, min, h; found 'weeks'", 11, None),
        ("G (mean(x > 2, 3) <= 2)", "mean is of expressions such as x - y, not of formulas", 10, "since and count"),
        ("G (since(x) <= 2)", "expected a comparison", 10, "since is of a formula, as in since(x > 3)"),
        ("count(x, 2 s) <= 2", "expected a comparison", 7, "count is of a formula, as in count(x > 3, 2 s)"),
        ("y - x/(2 - 2) <= 1", "division by zero", 6, None),
        ("x <= 2 s", "only since(...), alone on its side, is compared with a time", 7, "leave the unit out"),
        ("since(x > 1) + y <= 2 s", "only since(...), alone on its side", 22, "leave the unit out"),
        ("since(x > 1) <= 2 weeks", "expected an operator", 18, None),
    ],
)
def test_a_slip_is_shown_at_its_place_with_what_was_meant(text, says, at, hint):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert says in caught.value.message
    assert caught.value.at == at
    assert (caught.value.hint is None) if hint is None else hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("meen(x, 3) <= 2", "did you mean 'mean'"),
        ("mean(x) <= 2", r"mean needs how far to look back, as in mean\(x, 2 s\)"),
        ("mean(x, 2.5) <= 1", "2.5 is not whole"),
        ("mean(x, 2 weeks) <= 1", "times are in ns, us, ms, s, min, h; found 'weeks'"),
        ("abs(x, y) <= 1", "abs takes 1 expression, found 2"),
        ("min(x) <= 1", "min takes 2 or more expressions, found 1"),
        ("diff(x, 0) <= 1", "more than nothing"),
        ("x/0 <= 1", "division by zero"),
        ("since(x) <= 2", "expected a comparison"),
        ("abs(x <= 2", "close the parenthesis before"),
        ("abs(x", "is not closed"),
        ("(x - y <= 2", "is not closed"),
        ("abs() <= 2", "expected an expression"),
        ("since(F (x > 2)) <= 2", "since looks back, so it cannot be of F"),
    ],
)
def test_a_slip_is_shown_where_it_is(text, told):
    with pytest.raises(FormulaError, match=told) as caught:
        parse(text)
    assert caught.value.at is not None


def test_times_need_a_known_step():
    x = np.zeros((1, 1, 4))
    with pytest.raises(FormulaError, match="the time between samples is not known"):
        fernn.robustness("mean(x, 2 s) <= 1", x, ["x"])
    with pytest.raises(FormulaError, match="is per second"):
        fernn.robustness("rate(x) <= 1", x, ["x"])
    with pytest.raises(FormulaError, match=r"0.25 s is not a multiple of the time between samples, 0.1 s"):
        fernn.robustness("mean(x, 0.25 s) <= 1", Dataset(x, channels=("x",), dt=0.1, time_unit="s"))
    assert Lag(0.3, "s").samples(Step(0.1, "s")) == 3
    assert Lag(2, "min").samples(Step(500, "ms")) == 240


def test_data_read_in_pieces_know_their_step(tmp_path):
    from fernn.semantics.stream_evaluation import evaluate_file

    rng = np.random.default_rng(0)
    data = fernn.data.from_arrays(rng.normal(size=(8, 1, 30)), [0, 1] * 4, ["x"], dt=0.5, time_unit="s")
    fernn.data.write_csv(data, tmp_path / "d.csv")
    rule = "G (mean(x, 2 s) <= 0.7) & rate(x) <= 5"
    assert evaluate_file(rule, tmp_path / "d.csv", rows=37).score == fernn.score(rule, data)
    assert 0 < fernn.score(rule, data).mcr < 1
    unknown = replace(data, dt=None, time_unit=None)
    fernn.data.write_csv(unknown, tmp_path / "n.csv")
    with pytest.raises(FormulaError, match=r"--dt 0.1 --unit s"):
        evaluate_file(rule, tmp_path / "n.csv")


def test_parentheses_are_of_formulas_or_of_expressions():
    assert str(parse("((x - y)*2 <= 4) & (x >= 1)")) == "2*x - 2*y <= 4 & x >= 1"
    assert str(parse("(x + 1)*(y - 1) <= 4")) == "(x + 1)*(y - 1) <= 4"
    assert parse("min >= 3 & count <= 2") == parse('"min" >= 3 & "count" <= 2')  # channels, not functions
    assert fernn.length(parse("G (mean(abs(x), 5) <= 3)")) == 4
    assert fernn.formula.channels(parse("G (mean(x - y, 5) <= z)")) == ("x", "y", "z")


@pytest.mark.parametrize("target", ["rtamt", "breach"])
def test_targets_that_cannot_say_it_refuse_with_its_name(target):
    with pytest.raises(UnsupportedError, match=r"mean\(x, 5\)"):
        export_formula(parse("H (mean(x, 5) <= 3)"), target)


def test_what_looks_back_has_no_mirror():
    with pytest.raises(UnsupportedError, match="looks back"):
        fernn.mirror(parse("G (mean(x, 5) <= 3)"))


def test_an_explanation_says_what_the_function_read():
    data = Dataset(np.array([[[1.0, 2.0, 9.0, 2.0]]]), channels=("x",), dt=0.5, time_unit="s")
    told = explain_case("G (mean(x, 1 s) <= 5)", data, 0)
    assert (told.satisfied, told.witness.sample) == (False, 2)
    assert told.readings == {"mean(x, 1 s)": 5.5}
    assert "mean(x, 1 s) = 5.5" in str(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("abs(diff(v, 0.5 s)) <= 2", "the absolute value of the change of v within 0.5 s is at most 2"),
        ("diff(v) <= 2", "the change of v from sample to sample is at most 2"),
        ("diff(v - w, 5) <= 2", "the change of (v - w) within 0.5 s is at most 2"),
        ("rate(v) <= 2", "the change of v per second is at most 2"),
        ("mean(v, 20) <= 3", "the mean of v over the last 2 s is at most 3"),
        ("std(v*w, 2 min) > 3", "the standard deviation of (v*w) over the last 2 min is above 3"),
        ("lowest(v, 2 s) <= 3", "the lowest value of v over the last 2 s is at most 3"),
        ("highest(abs(v), 10) < 3", "the highest value of (the absolute value of v) over the last 1 s is below 3"),
        ("integral(v) < 3", "the integral of v over the time so far is below 3"),
        (
            "since(v > 3 & w < 1) <= 4",
            "the number of samples since (v is above 3 and w is below 1) last held is at most 4",
        ),
        ("count(v > 3, 9 s) >= 3", "how often (v is above 3) began to hold within the last 9 s is at least 3"),
        ("norm(v, w) <= 3", "the distance (norm) of v and w is at most 3"),
        ("norm(v - 1, w, x) <= 3", "the distance (norm) of (v - 1), w and x is at most 3"),
        ("max(abs(v), w, 3) <= 3", "the largest of (the absolute value of v), w and 3 is at most 3"),
        ("min(v, w) <= 3", "the smallest of v and w is at most 3"),
        ("v/w <= 2", "v/w is at most 2"),
        ("2*v - w <= 2", "2*v - w is at most 2"),
        ("2*v - abs(w) <= 2", "2 times v minus (the absolute value of w) is at most 2"),
        ("-abs(w) + 3*v <= 2", "minus (the absolute value of w) plus 3 times v is at most 2"),
        ("(abs(v) - 1)*w <= 2", "((the absolute value of v) minus 1) times w is at most 2"),
        ("abs(v)/(w + 1) <= 2", "(the absolute value of v) divided by (w + 1) is at most 2"),
        (
            "mean(v, 2 s) - mean(v, 9 s) <= 1",
            "(the mean of v over the last 2 s) minus (the mean of v over the last 9 s) is at most 1",
        ),
    ],
)
def test_functions_are_said_in_words(text, told):
    assert to_sentence(parse(f"G ({text})"), 0.1, "s") == f"At all times, {told}."


def test_without_a_clock_windows_of_functions_are_told_in_samples():
    assert (
        to_sentence(parse("G (mean(v, 20) <= 3)"))
        == "At all times, the mean of v over the last 20 samples is at most 3."
    )
    assert to_sentence(parse("G (std(v, 1) <= 3)")) == (
        "At all times, the standard deviation of v over the last sample is at most 3."
    )
    assert to_sentence(parse("G (diff(v, 3) <= 3)")) == "At all times, the change of v within 3 samples is at most 3."


def test_calls_that_make_no_sense_cannot_be_made():
    x = Sum((("x", 1.0),))
    for made in (
        lambda: Call("mean", (x,)), lambda: Call("nothing", (x,)), lambda: Call("abs", (x, x)),
        lambda: Call("abs", (x,), Lag(2)), lambda: Call("since", (x,)), lambda: Lag(-1), lambda: Lag(inf, "s"),
    ):  # fmt: skip
        with pytest.raises(FormulaError):
            made()
    assert all(name.isidentifier() for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("since(x > 3) <= 2 s", "since(x > 3) <= 2 s"),
        ("since(x > 3, s) <= 2", "since(x > 3) <= 2 s"),
        ("2 s >= since(x > 3)", "since(x > 3) <= 2 s"),
        ("2*since(x > 3) < 500 ms", "2*since(x > 3) < 500 ms"),
        ("x - since(x > 3, min) <= 2", "x - since(x > 3, min) <= 2"),
        ("1 s <= since(x > 3) <= 3 min", "since(x > 3) >= 1 s & since(x > 3) <= 3 min"),
        ("since(x > 3) <= 2", "since(x > 3) <= 2"),
    ],
)
def test_since_is_compared_with_a_time(text, printed):
    rule = parse(text)
    assert str(rule) == printed
    assert parse(printed) == rule
    assert from_json(to_json(rule)) == rule


@pytest.mark.parametrize(("dt", "unit"), [(0.1, "s"), (100, "ms"), (0.3, "s"), (1 / 3, "s"), (7, "us")])
def test_times_since_are_the_decimals_that_are_written(dt, unit):
    """3 samples of 0.1 s are 0.3 s, not 0.30000000000000004."""
    x = np.zeros((1, 1, 60))
    x[0, 0, 0] = 5
    data = Dataset(x, channels=("x",), dt=dt, time_unit=unit)
    seconds = {"s": 1, "ms": Fraction(1, 1000), "us": Fraction(1, 10**6)}[unit] * Fraction(repr(float(dt)))
    found = fernn.robustness("since(x > 3) >= 0 s", data, at="all")[0]
    assert found.tolist() == [float(n * seconds) for n in range(60)]
    for n in (1, 3, 7, 59):
        bound = fernn.satisfied(f"since(x > 3) <= {float(n * seconds)!r} s", data, at="all")[0]
        assert bound.tolist() == [k <= n for k in range(60)]


def test_a_time_since_needs_a_known_step():
    with pytest.raises(FormulaError, match=r"since\(x > 3, s\) is a time, and the time between samples is not known"):
        fernn.robustness("since(x > 3) <= 2 s", np.zeros((1, 1, 4)), ["x"])


def test_a_time_since_is_said_with_its_unit():
    assert to_sentence(parse("G (since(x > 3) <= 2 s)")) == (
        "At all times, the time since (x is above 3) last held is at most 2 s."
    )
    assert to_sentence(parse("x - since(x > 3, min) <= 2")) == (
        "At the first sample, x minus (the time since (x is above 3) last held in min) is at most 2."
    )
    assert to_latex(parse("since(x > 3) <= 2 s")) == r"\mathrm{since}\left(x > 3\right) \leq 2\,\mathrm{s}"
    told = explain_case("F[3,3] (since(x > 3) <= 0.1 s)", recording_with_a_peak(), 0)
    assert told.readings == {"since(x > 3, s)": 0.2}
    assert "x > 3 last held at sample 1" in str(told)


def recording_with_a_peak():
    return Dataset(np.array([[[0.0, 9.0, 0.0, 0.0]]]), channels=("x",), dt=0.1, time_unit="s")
