"""What is printed parses back, and what cannot be read is pointed at."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.errors import FormulaError
from fernn.formula import (
    And,
    Atom,
    Interval,
    Not,
    Or,
    atom,
    channels,
    direction,
    horizon,
    interval,
    length,
    mirror,
    parse,
    rename_channels,
    show,
    thresholds,
    to_sentence,
    with_thresholds,
)
from fernn.formula.grammar import CONTEXTUAL, RESERVED
from strategies import formulas

inf = float("inf")


@settings(max_examples=1000, deadline=None)
@given(formulas(leaves=12))
def test_every_formula_reads_back_as_it_was(formula):
    assert parse(str(formula)) == formula
    assert hash(parse(str(formula))) == hash(formula)


@given(st.text(min_size=1), st.floats(allow_nan=False, allow_infinity=False))
def test_any_name_and_any_number_reads_back(name, number):
    formula = atom(name, "<=", number)
    assert parse(str(formula)) == formula


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_a_channel_may_be_named_like_an_operator(word):
    assert parse(str(atom(word, ">", 1.0))) == atom(word, ">", 1.0)


@pytest.mark.parametrize("word", sorted(CONTEXTUAL))
def test_a_word_that_is_an_operator_only_between_formulas_names_a_channel_without_quotes(word):
    assert str(atom(word, ">=", 3.0)) == f"{word} >= 3"
    for text in (f"{word} >= 3", f"G {word} <= 1", f"2*{word} - {word}.a < {word}", f"0 <= {word} <= 5",
                 f"G[0,5] ({word} >= 1 -> F {word} < 0)", f"x >= {word}", f"({word} > 1) U ({word} < 2)"):  # fmt: skip
        assert set(channels(parse(text))) <= {word, f"{word}.a", "x"}
        assert parse(str(parse(text))) == parse(text)
    both = parse(f"{word} >= 1 {word}[0,5] {word} >= 2")
    assert both == type(both)(atom(word, ">=", 1.0), atom(word, ">=", 2.0), interval(0, 5))
    assert parse(str(both)) == both
    assert parse(f"?{{{word}, x}}") == parse(f'?p1{{"{word}", x}}')
    assert len(parse(f"?p ?{{{word}, U}} ?q").options) == 2


@pytest.mark.parametrize("text", ["x >= 1 W", "W W W", "x R y", "T (x >= 1)", "x >= 1 W y >= 1 U z >= 1", "B"])
def test_a_contextual_operator_in_a_wrong_place_is_an_error(text):
    with pytest.raises(FormulaError):
        parse(text)


@pytest.mark.parametrize(
    ("short", "long"), [("W", "weak_until"), ("R", "release"), ("B", "weak_since"), ("T", "trigger")]
)
def test_long_names_of_weak_operators(short, long):
    assert parse(f"x >= 1 {long}[2,5] y <= 3") == parse(f"x >= 1 {short}[2,5] y <= 3")
    assert str(parse(f"x >= 1 {long} y <= 3")) == f"(x >= 1) {short} (y <= 3)"


@pytest.mark.parametrize("word", ["nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity", "Infinity"])
def test_words_for_no_finite_number_are_no_thresholds_and_a_channel_of_that_name_is_quoted(word):
    for text in (f"x >= {word}", f"x <= -{word}", f"{word} > 1", f"2*{word} > 1", f"0 <= x <= {word}"):
        with pytest.raises(FormulaError, match=f'thresholds are finite numbers.*"{word}"') as caught:
            parse(text)
        assert caught.value.at == text.index(word)
    assert parse(f'"{word}" > 1') == atom(word, ">", 1.0) == parse(str(atom(word, ">", 1.0)))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("x >= 1 & " + "y >= 2 & " * 100 + "z =< 3", None),
        ("z =< 3 & " + "y >= 2 & " * 100_000, 2),
        ("a" * 1_000_000 + " b >= 3", 1_000_001),
        ('"' + "a" * 1_000_000, 0),
        ("x >= " + "9" * 1_000_000, 5),
        ("F[0." + "3" * 1_000_000 + "] (x >= 1)", 2),
        ("?p{" + "a" * 1_000_000 + ", >=, >=}", None),
        ("x >= 1\n& " + "é" * 1_000_000 + " $", 1_000_010),
    ],
)
def test_an_error_shows_a_stretch_around_the_place_however_long_the_text(text, at):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert len(str(error)) < 800
    assert at is None or error.at == at
    _, line, caret = str(error).split("\n")[:3]
    end = len(line) if error.at == len(text) else caret.index("^")
    shown = line[2:end].removeprefix("... ")
    assert text[: error.at].split("\n")[-1].endswith(shown)
    assert error.at == len(text) or line[caret.index("^")] == text[error.at]


@settings(max_examples=200)
@given(formulas(leaves=12))
def test_mirror_twice_is_the_identity(formula):
    assert mirror(mirror(formula)) == formula
    assert length(mirror(formula)) == length(formula)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("always (x > 1 and not eventually y < 3)", "G (x > 1 & !F (y < 3))"),
        ("□ (x ≥ 1 ∧ y ≤ 2) → ◇ z > 0", "G (x >= 1 & y <= 2) -> F (z > 0)"),
        ("3 <= x", "x >= 3"),
        ("0 <= x <= 5", "x >= 0 & x <= 5"),
        ("-x + 3 >= 2*y - 1", "-x - 2*y >= -4"),
        ("x + x > y - 1", "2*x - y > -1"),
        ("G[1,5) (x > 0)", "G[1,4] (x > 0)"),
        ("F[3] (x > 0)", "F[3,3] (x > 0)"),
        ("F[0,1]u[5,7] (x > 0)", "F[0,1]u[5,7] (x > 0)"),
        ("F[5,7]u[0,1]u[2,3] (x > 0)", "F[0,3]u[5,7] (x > 0)"),
        ("F[2,inf] (u > 0)", "F[2,inf) (u > 0)"),
        ("F[0,1] u > 0", "F[0,1] (u > 0)"),
        ("a>1 & b>1 | c>1 -> d>1 -> e>1", "a > 1 & b > 1 | c > 1 -> (d > 1 -> e > 1)"),
        ("(a>1 | b>1) & c>1", "(a > 1 | b > 1) & c > 1"),
        ("a > 1 & (b > 1 & c > 1)", "a > 1 & (b > 1 & c > 1)"),
        ("x >= 1 U[2,3] y >= 2", "(x >= 1) U[2,3] (y >= 2)"),
        ('"heart rate" <= 90', '"heart rate" <= 90'),
        ("!x > 3", "!(x > 3)"),
    ],
)
def test_other_ways_to_write_it(text, same):
    assert str(parse(text)) == same
    assert parse(same) == parse(text)


@pytest.mark.parametrize(
    ("text", "message", "at", "hint"),
    [
        ("G (v <= )", "expected a number, found ')'", 8, None),
        ("alwyas (x >= 1)", "no function or operator", 0, "did you mean 'always'?"),
        ("x >= 1 adn y >= 2", "expected an operator", 7, None),
        ("x = 3", "expected a comparison", 2, "write =="),
        ("x => 3", "expected a comparison", 2, "did you mean >= ?"),
        ("F >= 3", "expected a formula, found '>='", 2, 'a channel named F goes in quotes: "F"'),
        ("G[5,2] x >= 1", "from the smaller to the larger", 1, None),
        ("G[2,2) x >= 1", "is empty", 1, None),
        ("G[inf,inf) x >= 1", "cannot start at infinity", 1, None),
        ("G[0.5,1] x >= 1", "windows count samples, 0.5 is not whole", 2, "dt"),
        ("G[-1,2] x >= 1", "expected a number of samples", 2, None),
        ("(x >= 1", "this '(' is not closed", 0, None),
        ("x >= 1)", "expected an operator", 6, None),
        ("x >= 1 & y", "expected a comparison such as >= after 'y'", 10, None),
        ("heart rate >= 3", "expected a comparison", 6, 'in quotes: "heart rate"'),
        ("'a b' >= 3", "cannot read", 0, "double quotes"),
        ('"a b >= 3', "not closed", 0, None),
        ("", "expected a formula, found the end", 0, None),
        ("g (x >= 1)", "no function or operator", 0, "capital letters: G"),
        ("a>1 U b>1 S c>1", "side by side", 10, None),
        ("x - x >= 1", "at least one channel", 0, None),
        ("1 <= 2", "at least one channel", 0, None),
        ("a > 1 > b > 2", "at most two comparisons", 0, None),
        ("x >= 1e999", "too large", 5, None),
        ("x >= 3 &\n y = 2", "expected a comparison", 12, "write =="),
    ],
)
def test_a_mistake_is_shown_with_its_place(text, message, at, hint):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert message in error.message
    assert error.at == at
    assert (hint or "") in (error.hint or "")
    lines = str(error).splitlines()
    assert lines[2].index("^") - 2 == at - (text.rfind("\n", 0, at) + 1)


def test_deep_nesting_is_refused_rather_than_crashing():
    with pytest.raises(FormulaError, match="nesting"):
        parse("(" * 2000 + "x > 1" + ")" * 2000)
    with pytest.raises(FormulaError, match="nesting"):
        parse("!" * 2000 + "x > 1")
    with pytest.raises(FormulaError, match="in a row"):
        parse(" & ".join(["x > 1"] * 2000))
    assert length(parse(" & ".join(["x > 1"] * 100))) == 199


def test_windows_in_time_units():
    assert parse("F[0.3,1] (x > 0)", dt=0.1) == parse("F[3,10] (x > 0)")
    assert show(parse("F[3,10]u[12,inf) (x > 0)"), dt=0.1) == "F[0.3,1]u[1.2,inf) (x > 0)"
    with pytest.raises(FormulaError, match="not a multiple of the time between samples"):
        parse("F[0.25,1] (x > 0)", dt=0.1)
    with pytest.raises(FormulaError, match="positive"):
        parse("x > 0", dt=-1)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x >= 1", 1), ("!(x >= 1)", 1), ("G (x >= 1)", 2), ("F (x >= 1 & y >= 2)", 4), ("G !(x >= 1)", 2),
        ("!G (x >= 1)", 3), ("x >= 1 S y >= 2", 3), ("F (x >= 1) & G (x >= 2)", 5), ("2*x - y <= 1", 1),
        ("x >= 1 -> true", 3), ("F[0,1]u[5,7] (x >= 1)", 2),
    ],
)  # fmt: skip
def test_length_is_counted_as_the_paper_counts(text, count):
    assert length(parse(text)) == count


def test_facts_and_exchanges():
    formula = parse("G[0,5] (x >= 1 -> F[2,3] (y < 2)) | H (x < 3)")
    assert channels(formula) == ("x", "y")
    assert direction(formula) == "mixed"
    assert direction(parse("x > 1")) == "now"
    assert horizon(formula) == (inf, 8)
    assert thresholds(formula) == (1, 2, 3)
    assert str(with_thresholds(formula, [4, 5, 6])) == "G[0,5] (x >= 4 -> F[2,3] (y < 5)) | H (x < 6)"
    assert channels(rename_channels(formula, {"x": "speed"})) == ("speed", "y")
    with pytest.raises(FormulaError, match="no channel 'z'"):
        rename_channels(formula, {"z": "a"})
    with pytest.raises(FormulaError, match="has 3 thresholds, 1 were given"):
        with_thresholds(formula, [1])


@pytest.mark.parametrize(
    "build",
    [
        lambda: Atom((), ">=", 1.0),
        lambda: Atom((("x", 1.0),), "==", 1.0),
        lambda: Atom((("x", 1.0),), ">=", float("nan")),
        lambda: Atom((("x", inf),), ">=", 1.0),
        lambda: Atom((("", 1.0),), ">=", 1.0),
        lambda: Interval(()),
        lambda: interval(3, 2),
        lambda: interval(-1, 2),
        lambda: interval(0.5, 2),
    ],
)
def test_values_that_are_no_formula_are_refused(build):
    with pytest.raises(FormulaError):
        build()


def test_formulas_combine_with_python_operators():
    a, b = parse("x > 1"), parse("y > 1")
    assert (a & b, a | b, ~a) == (And(a, b), Or(a, b), Not(a))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("G (v <= 34.3)", "At all times, v is at most 34.3."),
        ("F[18,19] (demand >= 0.76)", "At some time from samples 18 to 19, demand is at least 0.76."),
        ("H (x > 1)", "At all times, x is above 1."),
        ("O[0,5] (x > 1)", "At some time from 0 to 5 samples before the end, x is above 1."),
        ("x > 1", "At the first sample, x is above 1."),
        (
            "G (x > 1 -> F[0,10] (y < 2))",
            "Whenever x is above 1, then at some time within the next 10 samples y is below 2.",
        ),
        (
            "G (flow <= 31.5 | F[0,10] (y < 2))",
            "Whenever flow is above 31.5, then at some time within the next 10 samples y is below 2.",
        ),
        (
            "H (O[0,10] (y < 2) | flow >= 31.5)",
            "Whenever flow is below 31.5, then at some time within the last 10 samples y is below 2.",
        ),
        ("!(x > 1 U y > 2)", "It is not so that x is above 1 until y is above 2."),
        ("!F (x > 1)", "At all times, x is at most 1."),
        ("G (2*x - y >= 1 | z < 0)", "At all times, 2*x - y is at least 1 or z is below 0."),
        ("F (x > 1) & G (y > 2)", "At some time, x is above 1; and at all times, y is above 2."),
        ("G[3,inf) (x > 1)", "At all times from sample 3 on, x is above 1."),
        ("x > 1 S[2,3] y > 2", "X is above 1 ever since, 2 to 3 samples earlier, y is above 2."),
        ("true", "Anything goes."),
        ("v <= 3 W b >= 1", "V is at most 3 until b is at least 1, or throughout."),
        (
            "v <= 3 W[2,5] b >= 1",
            "V is at most 3 until, 2 to 5 samples later, b is at least 1, or throughout the next 5 samples.",
        ),
        ("!(v <= 3 W b >= 1)", "It is not so that (v is at most 3 until b is at least 1, or throughout)."),
        ("b >= 1 R v <= 3", "V is at most 3 up to and including the first time that b is at least 1, or throughout."),
        (
            "b >= 1 R[2,5] v <= 3",
            "At all times from 2 to 5 samples later v is at most 3, unless b is at least 1 before that.",
        ),
        ("v <= 3 B b >= 1", "V is at most 3 ever since b is at least 1, or throughout."),
        ("b >= 1 T v <= 3", "V is at most 3 from the last time that b is at least 1 on, or throughout."),
        (
            "b >= 1 T[0,5] v <= 3",
            "At all times within the last 5 samples v is at most 3, unless b is at least 1 after that.",
        ),
    ],
)
def test_a_formula_in_plain_english(text, sentence):
    assert to_sentence(parse(text)) == sentence


def test_a_sentence_in_seconds():
    assert to_sentence(parse("F[18,19] (x > 1)"), dt=0.5, unit="s") == "At some time from 9 to 9.5 s, x is above 1."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F[27,27] (x > 1)", "At 2.7 s, x is above 1."),
        ("G[295,inf) (x > 1)", "At all times from 29.5 s on, x is above 1."),
        ("G[27,27] (x > 1)", "At 2.7 s, if there is such a sample, x is above 1."),
        ("G[0,0] (x > 1)", "At the first sample, x is above 1."),
        ("O[0,0] (x > 1)", "At the last sample, x is above 1."),
        ("O[27,27] (x > 1)", "At 2.7 s before the end, x is above 1."),
        ("H[3,9] (x > 1)", "At all times from 0.3 to 0.9 s before the end, x is above 1."),
        ("F[2,5]u[8,8]u[12,inf) (x > 1)", "At some time from 0.2 to 0.5 s or at 0.8 s or from 1.2 s on, x is above 1."),
        ("G F[27,27] (x > 1)", "At all times, 2.7 s later x is above 1."),
        ("(x > 1) U[3,3] (y > 2)", "X is above 1 until, 0.3 s later, y is above 2."),
    ],
)
def test_a_sentence_says_each_time_once_with_its_unit(text, sentence):
    assert to_sentence(parse(text), dt=0.1, unit="s") == sentence


@settings(max_examples=500)
@given(st.integers(0, 10**9), st.sampled_from([0.1, 0.01, 0.001, 0.3, 1 / 3, 0.7, 1e-6, 0.0333, 2.5, 1e-9, 60.0]))
def test_a_window_in_time_units_reads_back_and_has_no_digits_to_spare(samples, dt):
    formula = parse(f"F[{samples},inf) (x > 1)")
    text = show(formula, dt)
    assert parse(text, dt) == formula
    exact = Fraction(repr(dt)) * samples  # as the decimals that are written
    assert float(text[2 : text.index(",")] if samples else 0) == float(exact)


@settings(max_examples=300)
@given(formulas())
def test_every_formula_has_a_sentence(formula):
    text = to_sentence(formula)
    assert text.endswith(".")
    assert "None" not in text


def test_a_notebook_shows_a_formula_with_its_names_escaped():
    shown = parse('G ("<i>v" <= 3)')._repr_html_()
    assert "<i>" not in shown
    assert "&lt;i&gt;v" in shown
    assert "At all times" in shown
    assert parse("G ?p")._repr_html_() == "<div><code>G ?p</code></div>"
