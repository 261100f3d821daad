"""What stands in a cell, and which of two numbers is better."""

from math import isnan

import numpy as np
import pytest
from reproduction.cells import cell, no_higher, verdict
from reproduction.paper_numbers import PaperNumber

from fernn.evaluation.trial_runs import TrialLog
from fernn.evaluation.trials import Trial


@pytest.mark.parametrize(
    ("paper", "ours", "cases", "said"),
    [
        (0.47, 0.07, 56, "better"),
        (0.07, 0.47, 56, "worse"),
        (0.10, 0.21, 56, "equal"),  # two standard errors of a difference of two shares near 0.155 are 0.137
        (0.10, 0.26, 56, "worse"),  # near 0.18, 0.145
        (0.0, 0.005, 10**9, "equal"),  # rounding
        (0.03, 0.0, 10_000, "better"),
        (0.0, 0.0, 40, "equal"),
    ],
)
def test_equal_is_what_rounding_and_chance_may_differ_by(paper, ours, cases, said):
    assert verdict(paper, ours, cases) == said


def test_two_equally_good_classifiers_are_rarely_told_apart():
    rng = np.random.default_rng(0)
    for error, cases in ((0.1, 56), (0.3, 72), (0.03, 400)):
        pairs = rng.binomial(cases, error, (500, 2)) / cases
        told = [verdict(round(a, 2), b, cases) != "equal" for a, b in pairs]
        assert np.mean(told) < 0.06


@pytest.mark.parametrize(
    ("ours", "paper", "said"),
    [(0.0349, 0.03, True), (0.035, 0.03, False), (0.2964, 0.296, True), (0.2966, 0.296, False)],
)
def test_no_higher_rounds_ours_as_the_papers_number_is_rounded(ours, paper, said):
    assert no_higher(ours, PaperNumber("stopping", "ecg", "paper", 2, paper)) == said


def test_errors_on_ecg_are_divided_as_the_authors_divide_theirs(tmp_path):
    four = cell(
        ledger(tmp_path, paper=4 / 56), "fernn", "ecg", 2, PaperNumber("pictures", "ecg", "enumerative", 2, 0.069)
    )
    assert four.on_paper_split == pytest.approx(4 / 58)
    assert no_higher(four.ours, four.paper)
    assert four.measured() == "0.071"


def ledger(tmp_path, **errors):
    made = TrialLog.open(tmp_path, "now")
    for split, mcr in errors.items():
        made.put(Trial("ecg", split.strip("s"), "fernn", 2), {"mcr": mcr, "cases": 56, "seconds": 2.0})
    return made


def test_a_cell_shows_the_papers_number_ours_on_its_split_and_the_spread_of_the_others(tmp_path):
    found = cell(
        ledger(tmp_path, paper=0.25, s0=0.1, s1=0.2), "fernn", "ecg", 2, PaperNumber("stopping", "ecg", "paper", 2, 0.5)
    )
    assert str(found) == "0.50 → 0.250 (0.150 ± 0.071) +"
    assert found.ours == pytest.approx(0.25 * 56 / 58)
    assert found.seconds == 2.0


def test_of_rebuilt_data_the_mean_is_compared(tmp_path):
    made = TrialLog.open(tmp_path, "now")
    for split, mcr in (("paper", 0.5), ("0", 0.2), ("1", 0.3)):
        made.put(Trial("lyft", split, "fernn", 2), {"mcr": mcr, "cases": 72, "seconds": 1.0})
    assert cell(made, "fernn", "lyft", 2).ours == pytest.approx(0.25)


def test_a_cell_of_which_nothing_was_measured_is_empty(tmp_path):
    found = cell(ledger(tmp_path), "fernn", "ecg", 2, PaperNumber("stopping", "ecg", "paper", 2, 0.5))
    assert str(found) == ""
    assert found.verdict is None
    assert isnan(found.seconds)
