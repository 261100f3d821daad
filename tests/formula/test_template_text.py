"""Templates as text: what is printed parses back, what stands for what, and mistakes shown with their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from fernn.errors import FormulaError
from fernn.formula import (
    FORMATS,
    AnyAtom,
    AnyOf,
    OpenInterval,
    atom,
    channels,
    direction,
    horizon,
    is_template,
    length,
    mirror,
    parse,
    rename_channels,
    show,
    to_sentence,
)
from fernn.semantics import Monitor, deciding, robustness, satisfied, signals
from strategies import formulas, templates

inf = float("inf")


@settings(max_examples=1000, deadline=None)
@given(templates(leaves=10))
def test_every_template_reads_back_as_it_was(template):
    assert parse(str(template)) == template
    assert mirror(mirror(template)) == template


@settings(max_examples=200, deadline=None)
@given(templates(leaves=6))
def test_windows_in_time_units_read_back(template):
    assert parse(show(template, dt=0.1), dt=0.1) == template


@given(formulas())
def test_a_formula_without_holes_is_no_template(formula):
    assert not is_template(formula)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("?", "?p1"),
        ("? & ? | ?p1", "?p2 & ?p3 | ?p1"),
        ("G ? & F ?", "G ?p1 & F ?p2"),
        ("?p{x, y}", "?p{x, y}"),
        ("?{ x , y }", "?p1{x, y}"),
        ("?p{x} & G ?p", "?p{x} & G ?p{x}"),
        ("?{x, >=}", "x >= ?p1"),
        ("?{>=, >}", "?p1{>=, >}"),
        ('?"left foot"{"heart rate"}', '?"left foot"{"heart rate"}'),
        ("v ≤ ?c", "v <= ?c"),
        ("v >= ?", "v >= ?p1"),
        ("?c <= v", "v >= ?c"),
        ("0 <= v <= ?c", "v >= 0 & v <= ?c"),
        ("?a <= v <= ?b", "v >= ?a & v <= ?b"),
        ("v <= ?c & G ?c", "v <= ?c & G (v <= ?c)"),
        ("{x >= 1; G ?p ; ?p}", "{x >= 1; G ?p; ?p}"),
        ("{G ?p; F ?p}", "?{G, F} ?p"),
        ("{G ?; F ?}", "{G ?p1; F ?p2}"),
        ("?{always, eventually} ?", "?{G, F} ?p1"),
        ("{?p & ?q; ?p | ?q; ?p U ?q}", "?p ?{&, |, U} ?q"),
        ("? ?{and, or, since} ?", "?p1 ?{&, |, S} ?p2"),
        ("?p ?{&, |} ?q | ?r", "?p ?{&, |} (?q | ?r)"),
        ("x > 1 -> ?{G, F} ?p ?{&, U} ?q", "x > 1 -> ?{G, F} ?p ?{&, U} ?q"),
        ("?{G[0,5], F} ?p", "?{G[0,5], F} ?p"),
        ("?{G[0,5], F[0,5]} ?p", "?{G, F}[0,5] ?p"),
        ("?{!, G} ?p", "?{!, G} ?p"),
        ("?p ?{&, U[?w]} ?q", "?p ?{&, U[?w]} ?q"),
        ("{?p}", "{?p}"),
        ("G[?] ? & F[?] ?", "G[?w1] ?p1 & F[?w2] ?p2"),
        ("G[?w 0,20] ?p & F[?w] ?p", "G[?w 0,20] ?p & F[?w 0,20] ?p"),
        ("G[?w*2 0,20) ?p", "G[?w*2 0,19] ?p"),
        ("G[?w 8,inf) ?p", "G[?w 8,inf) ?p"),
        ("G[? 0,5 u 8,20] ?p", "G[?w1 0,5 u 8,20] ?p"),
        ("?{G, F}[?*2] ?p", "?{G, F}[?w1*2] ?p"),
    ],
)
def test_ways_to_write_a_template(text, same):
    assert str(parse(text)) == same
    assert parse(same) == parse(text)


def test_what_the_holes_are():
    assert parse("?p") == AnyAtom("p")
    assert parse("?p{x, y}") == AnyAtom("p", ("x", "y"))
    assert parse("v <= ?c") == AnyAtom("c", ("v",), ("<=",))
    assert parse("{?p; x > 1}") == AnyOf((AnyAtom("p"), atom("x", ">", 1)))
    assert parse("G[?w*2 3,9] ?p").over == OpenInterval(((3, 9),), "w", 2)
    assert parse("G[?w] ?p").over != parse("G ?p").over


@pytest.mark.parametrize(
    ("text", "message", "at", "hint"),
    [
        ("?{G, x} ?p", "expected an operator such as G or &, found 'x'", 5, None),
        ("?{x, G}", "expected a channel", 5, 'a channel named G goes in quotes: "G"'),
        ("?{&, |} ?p", "expected a channel", 2, None),
        ("?p ?{G, F} ?q", "expected an operator such as & or U", 3, None),
        ("?p ?{&, G} ?q", "'G' does not stand between two formulas", 8, None),
        ("?p ?{&, |} ?q ?{&, |} ?r", "side by side: add parentheses", 14, None),
        ("?p ?{&, U}[0,5] ?q", "a window for all of these", 10, "?{&, U[0,5]}"),
        ("?p ?q", "expected an operator", 3, None),
        ("?1", "expected an operator", 1, "begins with a letter"),
        ("{?p; ?q", "this '{' is not closed", 0, None),
        ("{?p, ?q}", "expected an operator, ';' or '}', found ','", 3, None),
        ("{}", "expected a formula", 1, None),
        ("?p{}", "expected a channel", 3, None),
        ("?p{x", "expected ',' and another channel, or '}'", 4, None),
        ("?p{x, x}", "named once", 2, None),
        ("?p{x} & ?p{y}", "?p is ?p{x} before this", 8, "another name"),
        ("v <= ?c & w <= ?c", "?c is v <= ?c before this", 15, "another name"),
        ("2*v <= ?c", "bounds one channel", 7, None),
        ("v + 1 <= ?c", "bounds one channel", 9, None),
        ("?a <= ?b", "bounds one channel", 0, None),
        ("v <= ?c + 1", "expected an operator", 8, None),
        ("G[?w*0] ?p", "how many pieces", 5, None),
        ("G[?w 5,2] ?p", "from the smaller to the larger", 1, None),
        ("G[?w 0,5 ?p", "the end of the window", 9, None),
        ("G[?w]u[0,5] ?p", "an open window stands alone", 5, None),
        ("G[0,5]u[?w] ?p", "an open window stands alone", 8, None),
        ("G[?w 0,5] ?p & F[?w 0,6] ?q", "?w is [?w 0,5] before this", 17, "another name"),
        ("?{G, F} " * 40 + "?p", "with every option written out", 0, "fewer"),
    ],
)
def test_a_mistake_in_a_template_is_shown_with_its_place(text, message, at, hint):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert message in error.message
    assert error.at == at
    assert (hint or "") in (error.hint or "")
    assert str(error).splitlines()[2].index("^") - 2 == at


@pytest.mark.parametrize("text", ["G ?p", "x <= ?c", "{x >= 1; x >= 2}", "G[?w] (x >= 1)", "x >= 1 S[?w] x >= 2"])
def test_what_is_open_cannot_be_judged_or_exported(text):
    template = parse(text)
    traces = np.zeros((2, 1, 5))
    judges = [lambda f, judge=judge: judge(f, traces, ["x"]) for judge in (robustness, satisfied, signals, deciding)]
    for reading in (*judges, Monitor, to_sentence, *FORMATS.values()):
        with pytest.raises(FormulaError, match=r"has open choices: .*; fill them or learn them"):
            reading(template)


def test_facts_about_templates():
    template = parse("{G[?w 0,20] ?p{x, y}; F[3,4] (z <= ?c & ?q)} -> y >= 1")
    assert length(template) == 6
    assert length(parse("!?p")) == 1
    assert channels(template) == ("x", "y", "z")
    assert horizon(template) == (0, 20)
    assert horizon(parse("O[?w] ?p")) == (inf, 0)
    assert direction(template) == "future"
    assert str(mirror(template)) == "{H[?w 0,20] ?p{x, y}; O[3,4] (z <= ?c & ?q)} -> y >= 1"
    assert (
        str(rename_channels(template, {"x": "u", "z": "a b"}))
        == '{G[?w 0,20] ?p{u, y}; F[3,4] ("a b" <= ?c & ?q)} -> y >= 1'
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: AnyAtom(""),
        lambda: AnyAtom("p", ("x", "x")),
        lambda: AnyAtom("p", ("",)),
        lambda: AnyAtom("p", (), ()),
        lambda: AnyAtom("p", (), ("=",)),
        lambda: AnyOf(()),
        lambda: OpenInterval(name=""),
        lambda: OpenInterval(pieces=0),
        lambda: OpenInterval(((5, 2),), "w"),
    ],
)
def test_holes_that_make_no_sense_are_refused(make):
    with pytest.raises(FormulaError):
        make()
