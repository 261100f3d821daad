"""What stands in a cell, and which of two numbers is better."""

from math import isnan

import pytest

from fernn.compare.cells import cell, no_higher, verdict
from fernn.compare.ledger import Ledger
from fernn.compare.reported import Reported
from fernn.compare.unit import Unit


@pytest.mark.parametrize(
    ("paper", "ours", "cases", "said"),
    [
        (0.47, 0.07, 56, "better"),
        (0.07, 0.47, 56, "worse"),
        (0.10, 0.107, 56, "equal"),  # rounding
        (0.10, 0.071, 56, "equal"),  # one standard error of 0.0855 on 56 traces is 0.037
        (0.10, 0.056, 56, "better"),  # one of 0.078 is 0.036, and 0.005 for rounding
        (0.03, 0.0, 10_000, "better"),
        (0.0, 0.0, 40, "equal"),
    ],
)
def test_equal_is_what_rounding_and_chance_may_differ_by(paper, ours, cases, said):
    assert verdict(paper, ours, cases) == said


def test_no_higher_rounds_ours_as_the_paper_rounds():
    assert no_higher(0.0349, 0.03)
    assert not no_higher(0.035, 0.03)
    assert no_higher(0.284, 0.296)


def ledger(tmp_path, **errors):
    made = Ledger.opened(tmp_path, "now")
    for split, mcr in errors.items():
        made.put(Unit("ecg", split.strip("s"), "fernn", 2), {"mcr": mcr, "cases": 56, "seconds": 2.0})
    return made


def test_a_cell_shows_the_papers_number_ours_on_its_split_and_the_spread_of_the_others(tmp_path):
    found = cell(
        ledger(tmp_path, paper=0.25, s0=0.1, s1=0.2), "fernn", "ecg", 2, Reported("stopping", "ecg", "paper", 2, 0.5)
    )
    assert str(found) == "0.50 → 0.250 (0.150 ± 0.071) +"
    assert found.ours == 0.25
    assert found.seconds == 2.0


def test_of_rebuilt_data_the_mean_is_compared(tmp_path):
    made = Ledger.opened(tmp_path, "now")
    for split, mcr in (("paper", 0.5), ("0", 0.2), ("1", 0.3)):
        made.put(Unit("lyft", split, "fernn", 2), {"mcr": mcr, "cases": 72, "seconds": 1.0})
    assert cell(made, "fernn", "lyft", 2).ours == pytest.approx(0.25)


def test_a_cell_of_which_nothing_was_measured_is_empty(tmp_path):
    found = cell(ledger(tmp_path), "fernn", "ecg", 2, Reported("stopping", "ecg", "paper", 2, 0.5))
    assert str(found) == ""
    assert found.verdict is None
    assert isnan(found.seconds)
