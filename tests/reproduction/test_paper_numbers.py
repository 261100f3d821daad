"""The paper's numbers, as the package carries them, against what is printed."""

from math import isnan

import pytest
from reproduction.paper_numbers import PRINTED, best, in_paper, paper_numbers

from fernn.evaluation.trials import METHODS
from fernn.formula import parse


@pytest.mark.parametrize(
    ("method", "data", "length", "mcr", "seconds"),
    [
        ("paper", "ecg", 2, 0.10, 177.3),
        ("paper, early stopping", "ecg", 2, 0.09, 112.1),
        ("paper, early stopping", "hapt", 5, 0.10, 18.2),
        ("paper, unquantised", "ecg", 3, 0.78, None),
        ("paper, unquantised", "lyft", 5, 0.07, None),
        ("paper, no since", "cct", 6, 0.50, 2187.82),
        ("paper, no since", "ecg continuous", 5, 0.03, 785.06),
        ("paper, up to", "hapt", 6, 0.00, 470.41),
        ("enumerative", "lyft", 2, 0.296, None),
    ],
)
def test_cells_are_those_of_the_printed_tables(method, data, length, mcr, seconds):
    found = in_paper(method, data, length)
    assert (found.mcr, found.seconds) == (mcr, seconds)


def test_every_table_is_there_in_full():
    count = {
        table: sum(each.table == table for each in paper_numbers())
        for table in {each.table for each in paper_numbers()}
    }
    assert count == {
        "stopping": 40,
        "quantised": 60,
        "since": 24,
        "free": 6,
        "pictures": 12,
        "continuous": 2,
        "bounds": 1,
    }
    assert {each.method for each in paper_numbers()} <= METHODS.keys()
    assert all(0 <= each.mcr < 1 or isnan(each.mcr) for each in paper_numbers())


def test_the_best_of_a_cell_is_that_of_any_method_or_of_those_that_give_formulas():
    assert best("lyft", 2).mcr == 0.296
    assert best("ecg", 4).method == "paper, unquantised"
    assert best("ecg", 4, formulas_only=True).mcr == 0.47
    assert best("ecg", 7) is None


def test_the_best_formulas_are_those_of_the_printed_list():
    names = {"FERNN": "paper", "enumerative": "enumerative"}
    for data, formulas in PRINTED.items():
        for name, method in names.items():
            (found,) = [
                each
                for each in paper_numbers()
                if each.table == "pictures" and (each.data, each.method) == (data, method)
            ]
            assert parse(formulas[name]) == parse(found.formula)


def test_printed_formulas_can_be_read():
    for formulas in PRINTED.values():
        for text in formulas.values():
            assert str(parse(text))
