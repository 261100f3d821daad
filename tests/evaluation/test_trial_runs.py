"""What a unit is judged by."""

import pytest

from fernn.evaluation.trial_runs import choose_entry, measure
from fernn.evaluation.trials import Trial, load_trial_data
from fernn.formula import length, parse
from fernn.learners import Entry, Front
from fernn.semantics import score


def front(*lengths, pick):
    entries = [Entry(parse("x >= 1"), n, 1 / n, 1 / n, 0.0, 0.0) for n in lengths]
    return Front(tuple(entries), pick)


def test_a_formula_that_is_too_long_is_not_judged_while_there_are_shorter_ones():
    assert choose_entry(front(2, 4, 6, pick=1), 6).length == 4
    assert choose_entry(front(2, 4, 6, pick=2), 5).length == 4
    assert choose_entry(front(5, 6, pick=1), 3).length == 5


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "fernn", "lattice", "paper"])
def test_the_error_is_that_of_the_printed_formula_on_traces_that_were_not_learned_from(method):
    found = measure(Trial("cruise", "paper", method, 2), limit=2)
    made = load_trial_data("cruise", "paper")
    assert found["mcr"] == score(found["formula"], made.test).mcr
    assert found["train"] == score(found["formula"], made.train).mcr
    assert found["found_length"] == length(parse(found["formula"])) <= 2
    assert found["floor"] <= found["mcr"]
    assert (found["cases"], found["learned_on"]) == (len(made.test), len(made.train))


@pytest.mark.slow
def test_an_unquantised_network_shows_its_own_verdicts_beside_those_of_its_formula():
    found = measure(Trial("intervals", "0", "paper, unquantised", 2), limit=1)
    assert 0 <= found["mixture"] <= 1
    assert found["front"][0][2] is None  # nothing was validated
