"""The library of search spaces holds what it says, and holes are filled as they allow."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings

from fernn.errors import FormulaError
from fernn.formula import (
    And,
    AnyOf,
    Interval,
    Or,
    Since,
    Until,
    atom,
    atoms_open,
    choices,
    direction,
    exactly_length,
    expand_template,
    fill_template,
    interval,
    is_template,
    length,
    mirror,
    paper_length,
    paper_up_to,
    parse,
    reactive,
    up_to_length,
    walk,
    windows_open,
)
from strategies import templates


def shapes_of_length(n, pairs):
    """How many there are, by counting: two operators before a formula, so many between two."""
    counts = [0, 1]
    for size in range(2, n + 1):
        between = sum(counts[left] * counts[size - 1 - left] for left in range(1, size - 1))
        counts.append(2 * counts[size - 1] + pairs * between)
    return counts[n]


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("since", [True, False])
@pytest.mark.parametrize("way", ["future", "past"])
def test_a_length_holds_every_shape_once(n, since, way):
    shapes = list(expand_template(exactly_length(n, way, since)))
    assert len(shapes) == len(set(shapes)) == shapes_of_length(n, 3 if since else 2)
    for shape in shapes:
        names = [hole.name for hole in walk(shape) if hole in atoms_open(shape)]
        assert length(shape) == n
        assert direction(shape) in (way, "now")
        assert names == [f"p{i}" for i in range(1, len(names) + 1)]
        assert since or not any(isinstance(node, (Until, Since)) for node in walk(shape))


def test_up_to_a_length_is_all_lengths_short_ones_first():
    assert list(expand_template(up_to_length(5))) == [
        f for n in range(1, 6) for f in expand_template(exactly_length(n))
    ]
    assert str(exactly_length(1)) == "?p1"
    assert str(up_to_length(3)) == "{?p1; ?{G, F} ?p1; ?{G, F} ?{G, F} ?p1; ?p1 ?{&, |, U} ?p2}"
    assert str(up_to_length(3, "past", since=False)) == "{?p1; ?{H, O} ?p1; ?{H, O} ?{H, O} ?p1; ?p1 ?{&, |} ?p2}"
    assert up_to_length(4, "past") == mirror(up_to_length(4))


def test_with_intervals_every_unary_operator_has_its_own_window():
    for shape in expand_template(up_to_length(5, intervals=True)):
        timed = [node.over for node in walk(shape) if hasattr(node, "over") and not isinstance(node, Until)]
        assert [over.name for over in timed] == [f"w{i}" for i in range(1, len(timed) + 1)]
        assert windows_open(shape) == tuple(timed)


# With two channels: choices and trainable numbers as counted in the authors' networks. An atom is a choice of a
# channel, and for each channel a weight and a threshold. Networks of one length above 2 end in a choice of one.
@pytest.mark.parametrize(
    ("template", "blocks", "numbers"),
    [
        (paper_length(2), 2, 8),
        (paper_length(3), 6 - 1, 19 - 1),
        (paper_length(4), 7 - 1, 23 - 1),
        (paper_length(5), 13 - 1, 41 - 1),
        (paper_length(6), 11 - 1, 35 - 1),
        (paper_up_to(6), 19, 60),
    ],
)
def test_the_networks_of_the_paper_have_their_choices(template, blocks, numbers):
    atoms, made = atoms_open(template), choices(template)
    assert len(made) + len(atoms) == blocks
    assert sum(len(choice.options) for choice in made) + len(atoms) * (2 + 2 * 2) == numbers


def test_the_networks_of_the_paper_as_text():
    assert str(paper_length(4, direction="past")) == (
        "{?{H, O} (?p1 ?{&, |, S} ?p2); ?{H, O} ?p1 S ?p2; ?p2 S ?{H, O} ?p1}"
    )
    assert str(paper_length(4, since=False)) == "?{G, F} (?p1 ?{&, |} ?p2)"
    assert str(paper_up_to(3)) == "{?{G, F} ?p1; {?{G, F} ?{G, F} ?p1; ?p1 U ?p2}}"
    for n in range(2, 7):
        assert {length(shape) for shape in expand_template(paper_length(n))} == {n}
        assert not any(isinstance(node, Until) for node in walk(paper_length(n, since=False)))


def test_reactive_is_cause_and_effect():
    shapes = list(expand_template(reactive()))
    assert parse("F[?w1] (G[?w2] ?p1 -> F[?w4] ?p3)") in shapes
    assert parse("F[?w1] (G[?w2] ?p1 & F[?w3] ?p2 -> F[?w4] ?p3 | G[?w5] ?p4)") in shapes
    assert len(shapes) == (2 + 2 * 4) ** 2
    assert parse("O (H ?p1 -> O ?p3)") in list(expand_template(reactive("past", intervals=False)))


@pytest.mark.parametrize(
    "make",
    [lambda: up_to_length(0), lambda: paper_length(1), lambda: paper_up_to(7), lambda: up_to_length(3, "sideways")],
)
def test_a_template_that_is_not_there_is_refused(make):
    with pytest.raises(FormulaError, match=r"of (a|this) template is"):
        make()


def test_holes_in_the_order_of_their_first_mention():
    template = parse("{G[?v] ?q; ?p} & (?q ?{&, |} F[?w] ?p) & {G[?v] ?q; ?p}")
    assert [hole.name for hole in atoms_open(template)] == ["q", "p"]
    assert [hole.name for hole in windows_open(template)] == ["v", "w"]
    assert [str(choice) for choice in choices(template)] == ["{G[?v] ?q; ?p}", "?q ?{&, |} F[?w] ?p"]


def test_one_name_for_two_holes_is_refused():
    with pytest.raises(FormulaError, match=r"\?p is open in two ways"):
        atoms_open(And(parse("?p"), parse("?p{x}")))
    with pytest.raises(FormulaError, match=r"\?w is open in two ways"):
        windows_open(Or(parse("G[?w] ?p"), parse("G[?w 0,5] ?p")))


def test_equal_choices_are_settled_together():
    assert list(map(str, expand_template(parse("{?p; ?q} & G {?p; ?q}")))) == ["?p & G ?p", "?q & G ?q"]
    assert len(list(expand_template(parse("{?p; ?q} & G {?p; ?r}")))) == 4
    assert len(list(expand_template(parse("{{?p; ?q}; {?p; ?q} & ?r}")))) == 4


@settings(max_examples=200, deadline=None)
@given(templates(leaves=5))
def test_what_is_settled_and_filled_is_a_formula(template):
    taken = dict.fromkeys(choices(template), 0)
    some = {hole.name: atom((hole.channels or ("x",))[0], hole.relations[0], 1) for hole in atoms_open(template)}
    windows = {hole.name: interval(*hole.spans[0]) for hole in windows_open(template)}
    formula = fill_template(template, some, windows, taken)
    assert not is_template(formula)
    assert formula == fill_template(next(expand_template(template)), some, windows)
    assert length(formula) <= length(template)


@pytest.mark.parametrize(
    ("text", "given_", "message"),
    [
        ("?p & ?q", {"atoms": {"p": atom("x", ">=", 1)}}, r"the atom \?q is not given"),
        ("G[?w] ?p", {"atoms": {"p": atom("x", ">=", 1)}}, r"the window \?w is not given"),
        ("{?p; ?q}", {"atoms": {"p": atom("x", ">=", 1)}}, r"which option of {\?p; \?q} is not given"),
        ("{?p; ?q}", {"choices": {parse("{?p; ?q}"): 2}}, "has 2 options, counted from 0; found 2"),
        ("?p{x}", {"atoms": {"p": atom("y", ">=", 1)}}, "may read x, found 'y' in y >= 1"),
        ("v <= ?c", {"atoms": {"c": atom("v", ">=", 1)}}, "may compare with <=, found v >= 1"),
        ("G[?w 0,5] (x > 1)", {"windows": {"w": interval(2, 6)}}, r"\[\?w 0,5\] cannot be \[2,6\]"),
        ("G[?w] (x > 1)", {"windows": {"w": Interval(((0, 1), (3, 4)))}}, r"\[\?w\] cannot be \[0,1\]u\[3,4\]"),
    ],
)
def test_what_is_missing_or_not_allowed_is_said(text, given_, message):
    with pytest.raises(FormulaError, match=message):
        fill_template(parse(text), **given_)


def test_only_the_holes_of_the_options_taken_are_needed():
    template = parse("{G[?w*2] ?p; F (?q & ?r)}")
    assert isinstance(template, AnyOf)
    two = Interval(((0, 1), (5, inf)))
    formula = fill_template(template, {"p": atom("x", "<", 3)}, {"w": two}, {template: 0})
    assert str(formula) == "G[0,1]u[5,inf) (x < 3)"
