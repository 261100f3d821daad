"""A merged template is smaller and says no less, judged by the definition."""

from __future__ import annotations

from itertools import islice, permutations
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fernn.formula import (
    AnyAtom,
    AnyOf,
    Formula,
    atom,
    atoms_open,
    choices,
    expand_template,
    fill_template,
    length,
    merge_template,
    paper_up_to,
    parse,
    simplify,
    up_to_length,
)
from fernn.formula.nodes import Always, And, Eventually, Or, Until
from fernn.formula.templates import MOST_SHAPES, canonical_form
from fernn.semantics import robustness
from oracle import as_trace, rho

CHANNELS = ("x", "y", "z")


def fillings(shape: Formula, atoms):
    """The shape with different atoms in its holes, in every order."""
    holes = [hole.name for hole in atoms_open(shape)]
    for order in permutations(atoms, len(holes)):
        yield fill_template(shape, dict(zip(holes, order, strict=True)))


def behaviour(formula, traces):
    """Its robustness at every sample of every trace, by the definition."""
    return tuple(rho(formula, trace, t) for trace in traces for t in range(len(trace["x"])))


def random_world(seed, atoms):
    random = np.random.default_rng(seed)
    some = [atom(CHANNELS[i % 3], random.choice([">=", "<="]), float(random.normal())) for i in range(atoms)]
    traces = [as_trace(random.normal(size=(3, size)), CHANNELS) for size in (1, 2, 3, 5)]
    return some, traces


def says_no_less(after, before, seed):
    """For every shape before and every filling, a shape after that behaves the same."""
    atoms, traces = random_world(seed, max(len(atoms_open(shape)) for shape in before))
    said = {behaviour(formula, traces) for shape in after for formula in fillings(shape, atoms)}
    return all(behaviour(formula, traces) in said for shape in before for formula in fillings(shape, atoms))


holes = st.sampled_from([AnyAtom("p"), AnyAtom("q"), AnyAtom("r")])


def small_templates():
    def grow(inner):
        return st.one_of(
            st.builds(lambda a: AnyOf((Always(a), Eventually(a))), inner),
            st.builds(lambda a, b: AnyOf((And(a, b), Or(a, b), Until(a, b))), inner, inner),
            st.builds(lambda node, a: node(a), st.sampled_from([Always, Eventually]), inner),
            st.builds(lambda node, a, b: node(a, b), st.sampled_from([And, Or, Until]), inner, inner),
            st.builds(AnyOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        )

    return st.recursive(holes, grow, max_leaves=5)


@settings(max_examples=200, deadline=None)
@given(small_templates(), st.integers(0, 2**32 - 1))
def test_merging_keeps_every_behaviour_and_adds_none(template, seed):
    before = list(islice(expand_template(template), 60))
    assume(len(before) < 60)
    after = list(expand_template(merge_template(template)))
    assert set(after) <= set(before)
    assert says_no_less(after, before, seed)


@pytest.mark.parametrize("template", [up_to_length(4), up_to_length(5, "past"), paper_up_to(5), paper_up_to(4, False)])
def test_merging_the_library_keeps_every_behaviour(template):
    assert says_no_less(list(expand_template(merge_template(template))), list(expand_template(template)), 5)


@pytest.mark.slow
@pytest.mark.parametrize("template", [up_to_length(6), up_to_length(6, "past", since=False), paper_up_to(6)])
def test_what_says_different_things_is_all_that_is_found_different(template):
    """The laws see every equality there is: as many forms as there are behaviours, atoms exchanged at will."""
    random = np.random.default_rng(3)
    traces = [random.normal(size=(3, size)) for size in random.integers(1, 9, 2000)]
    forms = {canonical_form(shape) for shape in expand_template(template)}
    behaviours = set()
    for form in forms:
        atoms = [atom(name, ">=", 0) for name in CHANNELS]
        seen = [np.concatenate(robustness(f, traces, CHANNELS, at="all")).tobytes() for f in fillings(form, atoms)]
        behaviours.add(min(seen))
    assert len(behaviours) == len(forms)


def test_how_much_smaller_the_space_becomes():
    before = up_to_length(6)
    after = merge_template(before)
    assert len(list(expand_template(before))) == 594
    assert len({canonical_form(shape) for shape in expand_template(before)}) == 129
    assert len(list(expand_template(after))) == 165
    assert len(before.options) == 38
    assert len(after.options) == 24


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("?{G, F} ?{G, F} ?p", "?{G, F} ?{G, F} ?p"),
        ("{?{G, F} ?p; ?{G, F} ?{G, F} ?p}", "{?{G, F} ?p; F G ?p}"),
        ("{?p & ?q; ?q & ?p; ?p U ?q; ?q U ?p}", "?p ?{&, U} ?q"),
        ("{?p & G ?q; G ?q & ?p; G ?p & ?q}", "?p & G ?q"),
        ("{?p & ?q; ?p & ?s{x}}", "{?p & ?q; ?p & ?s{x}}"),
        ("{G ?p & G ?q; ?r}", "{G ?p & G ?q; ?r}"),
        ("{G ?p & G ?q; G (?r & ?q)}", "G (?r & ?q)"),
        ("{G[?v] ?p; G[?w] ?q; G ?p}", "?{G[?v], G} ?p"),
        ("{F[?v] F[?w] ?p; F[?v] ?p}", "{F[?v] F[?w] ?p; F[?v] ?p}"),
        ("{x > 1 & ?p; ?p & x > 1; x > 2 & ?p}", "{x > 1 & ?p; x > 2 & ?p}"),
        ("{?p; ?p & ?p; {?q; ?p | ?q}}", "{?p; ?p | ?q}"),
        ("?p", "?p"),
        ("{?p}", "?p"),
    ],
)
def test_merging_by_example(text, after):
    assert str(merge_template(parse(text))) == after


def test_choices_that_would_become_one_stay_apart():
    """Without the last option of each, two choices would be equal, and so one choice: `?p & G ?q` would be lost."""
    template = parse("{?p; G ?q; ?p & ?p} & {?p; G ?q; ?p | ?p}")
    assert says_no_less(list(expand_template(merge_template(template))), list(expand_template(template)), 1)


def test_a_template_too_large_to_expand_stays_as_it_is():
    template = parse(" & ".join(f"?{{G, F}} ?a{i}" for i in range(15)))
    assert MOST_SHAPES < 2**15
    assert merge_template(template) == template


def test_the_shortest_way_to_say_a_thing_stays():
    template = up_to_length(5, intervals=True)
    before, after = ({}, {})
    for found, shapes in ((before, expand_template(template)), (after, expand_template(merge_template(template)))):
        for shape in shapes:
            form = canonical_form(shape)
            found[form] = min(length(shape), found.get(form, inf))
    assert before == after


@settings(max_examples=300, deadline=None)
@given(small_templates(), st.integers(0, 2**32 - 1))
def test_simplify_keeps_what_a_template_can_say(template, seed):
    """The same choices and atoms give the same values before and after."""
    simpler = simplify(template)
    atoms, traces = random_world(seed, 3)
    named = dict(zip(("p", "q", "r"), atoms, strict=True))
    for number in range(2):
        taken = {choice: number for part in (template, simpler) for choice in choices(part)}
        one, other = (fill_template(part, named, None, taken) for part in (template, simpler))
        assert behaviour(one, traces) == behaviour(other, traces)
