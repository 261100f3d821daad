"""Categories and missing values: what formulas say of them, and what data do not allow is refused with its place."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fernn
from fernn.data import Dataset
from fernn.errors import FernnWarning, FormulaError, SignalError, UnsupportedError
from fernn.formula import (
    export_formula,
    from_json,
    mirror,
    parse,
    rename_channels,
    simplify,
    to_json,
    to_latex,
    to_sentence,
)
from fernn.formula.expressions import Call, Sum
from fernn.formula.nodes import is_in, is_missing
from fernn.semantics.explain import explain_case
from oracle import Sampled, holds, rho
from strategies import MIXED, atoms, category_atoms, grown, intervals, texts

ASKED = st.recursive(st.one_of(category_atoms(), atoms()), lambda inner: grown(inner, MIXED, intervals), max_leaves=5)


@st.composite
def recordings(draw):
    """{channel: values or texts, None where one is missing}."""
    size = draw(st.integers(1, 12))
    numbers = st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5, 2.0]))
    names = st.one_of(st.none(), texts)
    made = {name: draw(st.lists(numbers, min_size=size, max_size=size)) for name in ("x", "y", "a b")}
    return Sampled(made | {"mode": draw(st.lists(names, min_size=size, max_size=size))})


def dataset(trace, order):
    """The recording as the package has it, its categories in this order."""
    rows, absent = [], []
    for name, row in trace.items():
        absent.append([each is None for each in row])
        rows.append([np.nan if each is None else order.index(each) if name == "mode" else each for each in row])
    return Dataset(np.array([rows]), channels=tuple(trace), categories={"mode": order}, missing=np.array([absent]))


@settings(max_examples=300, deadline=None)
@given(ASKED, recordings(), st.randoms())
def test_categories_and_gaps_are_their_definition_at_every_sample_in_any_order(formula, trace, random):
    trace.number = float
    size = len(trace["mode"])
    order = sorted({each for each in trace["mode"] if each is not None})
    found = []
    for _ in range(2):
        random.shuffle(order)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FernnWarning)
            found.append(fernn.robustness(formula, dataset(trace, tuple(order)), at="all")[0].tolist())
            verdicts = fernn.satisfied(formula, dataset(trace, tuple(order)), at="all")[0].tolist()
            shorter = fernn.satisfied(simplify(formula), dataset(trace, tuple(order)), at="all")[0].tolist()
        assert verdicts == shorter == [holds(formula, trace, t) for t in range(size)]
    assert found[0] == found[1] == [rho(formula, trace, t) for t in range(size)]


@settings(max_examples=300, deadline=None)
@given(ASKED)
def test_what_is_printed_and_written_reads_back(formula):
    assert parse(str(formula)) == formula
    assert from_json(to_json(formula)) == formula
    assert mirror(mirror(formula)) == formula
    assert to_latex(formula)
    assert to_sentence(formula)
    there = {name: f"{name} there" for name in fernn.formula.channels(formula)}
    back = {new: old for old, new in there.items()}
    assert rename_channels(rename_channels(formula, there), back) == formula


@pytest.mark.parametrize(
    ("text", "same", "sentence"),
    [
        ('mode == "LAND"', 'mode == "LAND"', "mode is LAND"),
        ('mode != "LAND"', 'mode != "LAND"', "mode is not LAND"),
        ('mode in {"LAND", "HOLD", "LAND"}', 'mode in {"HOLD", "LAND"}', "mode is HOLD or LAND"),
        ('mode not in {"LAND", "HOLD"}', 'mode not in {"HOLD", "LAND"}', "mode is neither HOLD nor LAND"),
        ('mode in {"LAND"}', 'mode == "LAND"', "mode is LAND"),
        ('is(mode, "LAND") >= 0', 'mode == "LAND"', "mode is LAND"),
        ('is(mode, "LAND") < 0', 'mode != "LAND"', "mode is not LAND"),
        ("gear == 3", "gear == 3", "gear is 3"),
        ("gear != -0.5", "gear != -0.5", "gear is not -0.5"),
        ("gear in {3, 1e1, -2}", "gear in {-2, 3, 10}", "gear is -2, 3 or 10"),
        ("missing(x)", "missing(x)", "x is missing"),
        ("missing(x) >= 0", "missing(x)", "x is missing"),
        ('present("a b")', 'present("a b")', "a b is present"),
        ("in in {1} & present >= 2 & is < 1", "in == 1 & present >= 2 & is < 1", None),  # channels, not words
    ],
)
def test_the_short_form_is_printed_and_said(text, same, sentence):
    assert str(parse(text)) == same
    assert parse(same) == parse(text)
    if sentence is not None:
        assert fernn.length(parse(text)) == 1
        assert to_sentence(parse(f"G ({text})")) == f"At all times, {sentence}."


def test_terms_of_sums_and_functions_are_printed_as_calls():
    for text in (
        "mean(missing(x), 20) >= 0.5", 'since(mode == "LAND") <= 5', 'is(mode, "A", "B") + x >= 2', "missing(x) > 0",
        "is(gear, -1, 2) - missing(x) <= 1", "count(missing(x), 9) >= 2",
    ):  # fmt: skip
        assert str(parse(text)) == text
    assert str(parse("mean(present(x), 3) >= 0")) == "mean(-missing(x), 3) >= 0"
    assert fernn.length(parse("G (mean(missing(x), 20) >= 0.5)")) == 4
    assert fernn.length(parse('since(mode == "LAND") <= 5')) == 3
    assert fernn.formula.channels(parse('mode == "A" & missing(x)')) == ("mode", "x")


@pytest.mark.parametrize(
    ("text", "told", "at"),
    [
        ('mode < "LAND"', "texts have no order", 7),
        ('G (mode >= "LAND")', "texts have no order", 11),
        ("mode == LAND", 'a text goes in double quotes: "LAND"', 8),
        ("x + y == 3", "compare one channel", 0),
        ("(x - y) == 3", "compare one channel", 0),
        ("3 == x", "compare one channel", 0),
        ("x ==", "a text in double quotes, or a number", 4),
        ('mode in "A"', "expected the values in braces", 8),
        ('mode in {"A"', "is not closed", 8),
        ('mode in {"A", 3}', "with texts or with numbers", 0),
        ("mode in {}", "a text in double quotes, or a number", 9),
        ('mode == ""', "non-empty text", 0),
        ("x == 1e999", "too large", 5),
        ("is(mode) >= 0", "needs a value", 0),
        ("missing(x + y)", r"expected '\)'", 10),
        ("missing(x", "is not closed", 7),
        ("0 <= x == 3", "and end there", 7),
    ],
)
def test_a_slip_is_shown_where_it_is(text, told, at):
    with pytest.raises(FormulaError, match=told) as caught:
        parse(text)
    assert caught.value.at == at


def test_a_quoted_name_that_needs_its_quotes_is_still_a_channel():
    assert str(parse('x < "heart rate"')) == 'x - "heart rate" < 0'
    assert parse('"x" < "y"') == parse("x < y")
    assert parse("x < y") == parse("x - y < 0")


@pytest.mark.parametrize(
    ("text", "simpler"),
    [
        ('mode == "A" | mode == "B"', 'mode in {"A", "B"}'),
        ('mode == "A" | x > 1 | mode in {"B", "C"}', 'mode in {"A", "B", "C"} | x > 1'),
        ('!(mode == "A") & mode != "B"', 'mode not in {"A", "B"}'),
        ('mode == "A" & mode == "B"', 'mode == "A" & mode == "B"'),
        ("gear == 1 | gear == 2 | other == 3", "gear in {1, 2} | other == 3"),
        ("!missing(x)", "present(x)"),
        ("missing(x) | missing(x)", "missing(x)"),
        ("missing(x) | missing(y)", "missing(x) | missing(y)"),
    ],
)
def test_laws_of_categories(text, simpler):
    assert str(simplify(parse(text))) == simpler


def test_calls_that_make_no_sense_cannot_be_made():
    x = Sum((("x", 1.0),))
    for made in (
        lambda: Call("is", (x,)), lambda: Call("is", (x,), values=("a", 1.0)), lambda: Call("is", (x,), values=("",)),
        lambda: Call("is", (x,), values=(float("nan"),)), lambda: Call("missing", (x,), values=("a",)),
        lambda: Call("missing", (x.times(2.0),)), lambda: Call("abs", (x,), values=("a",)), lambda: is_in("x", ()),
        lambda: Call("is", (x,), values=("\ud800",)),
    ):  # fmt: skip
        with pytest.raises(FormulaError):
            made()


MODES = Dataset(
    np.array([[[0.0, 1, 1, 0], [1, 2, 3, 4]]]), channels=("mode", "x"), categories={"mode": ("HOLD", "LAND")}
)


@pytest.mark.parametrize(
    ("text", "told", "hint", "at"),
    [
        ("G (x > 1 & mode >= 1)", "mode holds categories, not numbers", 'mode == "HOLD"', 11),
        ("since(mean(mode, 3) >= 1) <= 2", "mode holds categories, not numbers", 'mode == "HOLD"', 6),
        ("mode == 1", "mode holds categories, and is compared with the number 1", 'it has "HOLD", "LAND"', 0),
        ('F (x == "LAND")', 'x holds numbers, and is compared with the text "LAND"', 'did you mean mode == "LAND"?', 3),
        ('x == "red"', 'x holds numbers, and is compared with the text "red"', "x == 3", 0),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_its_place(text, told, hint, at):
    for judge in (fernn.robustness, fernn.satisfied, fernn.signals, fernn.deciding):
        with pytest.raises(FormulaError) as caught:
            judge(text, MODES)
        assert caught.value.message.startswith(told)
        assert hint in caught.value.hint
        assert caught.value.at == at


def test_a_category_that_the_data_do_not_have_is_false_and_named():
    with pytest.warns(FernnWarning, match=r'mode is never "LNAD" in the data \(did you mean "LAND"\?\)'):
        assert not fernn.satisfied('mode == "LNAD"', MODES, at="all").any()
    with pytest.warns(FernnWarning, match="is never"):
        assert fernn.satisfied('mode != "LNAD"', MODES, at="all").all()


def test_numbers_are_compared_in_the_type_of_the_data():
    x = np.array([[0.1, 0.2, 0.3]], np.float32)
    assert fernn.satisfied("x == 0.1", x, at="all").tolist() == [[True, False, False]]
    assert fernn.robustness("x in {0.1, 0.3}", x, at="all").tolist() == [[1, -1, 1]]
    assert fernn.satisfied("x == 0.1", x.astype(np.float64), at="all").tolist() == [[False] * 3]


def test_in_an_array_nan_is_missing_where_the_formula_asks_for_it():
    x = np.array([[[1.0, np.nan, 3.0, np.nan], [1, 2, 3, np.inf]]])
    assert fernn.satisfied("missing(x)", x, ["x", "y"], at="all").tolist() == [[False, True, False, True]]
    assert fernn.robustness("F[2,inf) (present(x))", x, ["x", "y"]).tolist() == [1.0]
    assert fernn.robustness("mean(missing(x), 2) >= 0", x, ["x", "y"], at="all").tolist() == [[-1, 0, 0, 0]]
    for text in ("missing(x) | x >= 3", "x == 3", "missing(x) | mean(x, 2) <= 3"):
        with pytest.raises(SignalError, match=r"case 0, channel 'x', sample 1: found nan.*'missing'"):
            fernn.satisfied(text, x, ["x", "y"], at="all")
    found = fernn.satisfied("missing(x) & x == 3", x, ["x", "y"], at="all", nonfinite="missing")
    assert found.tolist() == [[False, False, False, True]]  # the last value is held
    assert not fernn.satisfied("missing(x)", x, ["x", "y"], at="all", nonfinite="hold").any()  # repaired and forgotten
    with pytest.raises(SignalError, match="channel 'y', sample 3: found inf"):
        fernn.satisfied("y >= 3", x, ["x", "y"], at="all", nonfinite="missing")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_texts_are_judged_as_they_are(library):
    frames = pytest.importorskip(library)
    columns = {"t": [0, 1, 2, 3], "mode": ["LAND", None, "HOLD", "LAND"], "x": [1.0, 2.0, None, 4.0]}
    frame = frames.DataFrame(columns)
    whole = frames.DataFrame(columns | {"mode": ["LAND", "LAND", "HOLD", "LAND"]})
    assert fernn.satisfied('mode == "LAND"', whole, at="all").tolist() == [[True, True, False, True]]
    assert fernn.satisfied('mode == "LAND" & t <= 2', whole, at="all").tolist() == [[True, True, False, False]]
    assert fernn.satisfied("missing(mode) | missing(x)", frame, at="all").tolist() == [[False, True, True, False]]
    with pytest.raises(SignalError, match="channel 'mode', sample 1"):
        fernn.satisfied('mode == "LAND"', frame, at="all")
    held = fernn.satisfied('mode == "LAND"', frame, at="all", nonfinite="missing")
    assert held.tolist() == [[True, True, False, True]]
    with pytest.raises(SignalError, match="'LAND' is not a number"):
        fernn.satisfied("mode >= 1", whole)
    with pytest.raises(FormulaError, match="x holds numbers"):
        fernn.satisfied('x == "LAND"', whole)
    assert fernn.satisfied('mode == "LAND"', whole["mode"], at="all").tolist() == [[True, True, False, True]]
    two = fernn.satisfied('F (mode == "HOLD")', [whole, frames.DataFrame({"mode": ["A", "B"]})])
    assert two.tolist() == [True, False]


def test_an_explanation_says_which_category_was_read():
    gaps = Dataset(np.ones((1, 1, 3)), channels=("x",), missing=np.array([[[False, True, False]]]))
    told = explain_case('G (mode == "HOLD")', MODES, 0)
    assert (told.satisfied, told.witness.sample, dict(told.readings)) == (False, 1, {"mode": "LAND"})
    assert "mode = LAND" in str(told)
    assert dict(explain_case("G (present(x))", gaps, 0).readings) == {"x": "missing"}
    assert dict(explain_case("G (missing(x))", gaps, 0).readings) == {"x": "present"}


@pytest.mark.parametrize("target", ["rtamt", "breach"])
def test_targets_that_cannot_say_it_refuse_with_its_name(target):
    with pytest.raises(UnsupportedError, match=r'is\(mode, "LAND"\)'):
        export_formula(parse('G (mode == "LAND")'), target)
    with pytest.raises(UnsupportedError, match=r"missing\(x\)"):
        export_formula(is_missing("x"), target)
