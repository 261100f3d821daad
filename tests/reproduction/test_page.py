"""The page of the reproduction, from runs that were made up."""

import pytest
from reproduction.cells import cell, contests, reason
from reproduction.experiments import EXPERIMENTS, plan_trials
from reproduction.page import page
from reproduction.paper_numbers import PaperNumber

from fernn.evaluation.trial_runs import TrialLog, TrialsOutcome
from fernn.evaluation.trials import SHAPES, Trial

WHERE = {"processor": "a machine", "cores": "2", "fernn": "0"}
NOTHING = TrialsOutcome((), False, 0)


def found(unit, mcr):
    base = {
        "mcr": mcr, "train": mcr, "formula": "G (x <= 1)", "found_length": 2, "seconds": 1.0, "cases": 50,
        "limit": 40.0, "learned_on": 200, "ended": "done", "front": [[2, mcr, None, "G (x <= 1)"]], "floor": 0.0,
        "mixture": 0.04, "certified": True, "looked_at": 12_345, "ways": 3, "formulas": 7, "all_ways": True,
    }  # fmt: skip
    if unit.method == SHAPES:
        base["shapes"] = [["G ?p1", 0.1, 0.2, "G (x <= 1)", True], ["F ?p1", 0.1, 0.3, "F (x <= 1)", True]]
    return base


def made_up(folder, mcr, quick=True, names=EXPERIMENTS):
    ledger = TrialLog.open(folder, "now")
    for unit in plan_trials(names, quick)[0]:
        ledger.put(unit, found(unit, mcr))
    return ledger


def line(text, start):
    """The cells of the row that begins so."""
    (row,) = [row for row in text.splitlines() if row.startswith(f"| {start} |")]
    return [part.strip() for part in row[1:-1].split("|")]


@pytest.mark.usefixtures("recordings")
def test_the_papers_numbers_stand_beside_ours(tmp_path):
    text = page(made_up(tmp_path, 0.25), EXPERIMENTS, True, WHERE, [], NOTHING)
    stopping = text.split("## 2.")[1].split("## 3.")[0]
    assert line(stopping, "ecg, 2")[1:3] == ["0.10 → 0.250 =", "0.09 → 0.250 ="]
    assert line(stopping, "ecg, 3")[1] == "0.47 → 0.250 +"
    assert line(stopping, "hapt, 2")[1] == "0.00 → 0.250 -"
    assert line(stopping, "lyft, 6")[3] == "4747 → 1.0"
    quantised = text.split("## 3.")[1].split("## 4.")[0]
    assert line(quantised, "ecg, mixture")[1] == "0.05 → 0.040 ="
    assert line(quantised, "ecg, mixture, read")[1] == "0.250"
    since = text.split("## 5.")[1].split("## 6.")[0]
    assert line(since, "cct continuous, paper, no since")[4] == "0.50 → 0.250 +"
    bounds = text.split("## 7.")[1].split("## 8.")[0]
    assert line(bounds, "fernn, windows")[1] == "0.08 → (0.250 ± 0.000) -"
    rivals = text.split("## 9.")[1].split("## The methods")[0]
    assert line(rivals, "ecg, 4")[1:] == ["all", "50 of 200", "yes", "12,345", "3", "7", "8 of 8", "0.200 to 0.300"]
    assert line(rivals, "ecg, 6")[1:] == ["grid", "50 of 200", "yes", "12,345", "3", "7", "", ""]
    assert "| hapt | 200 x 1 x 10 | 97 | 33 of 40 | 97 | 0 |" in text
    assert "| cct | 2000 x 1 x 101 | 1936 | 0 of 400 | 1936 | 64 | 0.0320 | 0.0325 | 0.0300 |" in text


@pytest.mark.usefixtures("recordings")
def test_the_page_counts_the_cells_in_which_ours_is_no_higher(tmp_path):
    ledger = made_up(tmp_path, 0.25)
    held = list(contests(ledger))
    assert len(held) == 36
    met = [each.name for each in held if each.met(alone=True, split=True)]
    assert "ecg, up to length 6" in met  # the paper: 0.47
    assert "ecg, length 2" not in met  # 0.05
    text = page(ledger, EXPERIMENTS, True, WHERE, [], NOTHING)
    row = line(text, "FERNN alone: no higher than the paper's best of any method")
    assert row[1] == f"{len(met)} of 36"


@pytest.mark.usefixtures("recordings")
def test_without_a_number_of_one_of_them_nothing_is_said(tmp_path):
    ledger = TrialLog.open(tmp_path, "now")
    ledger.put(Trial("ecg", "paper", "fernn", 2), found(Trial("ecg", "paper", "fernn", 2), 0.0))
    (only,) = [each for each in contests(ledger) if each.met(alone=True, split=True) is not None]
    assert only.met(alone=False, split=True) is None
    assert only.met(alone=True, split=False) is None


def test_without_recordings_there_is_a_page_of_the_simulated_train(tmp_path, monkeypatch):
    monkeypatch.delenv("FERNN_DATA", raising=False)
    text = page(made_up(tmp_path, 0.25), EXPERIMENTS, True, WHERE, ["cct: FERNN_DATA is not set"], NOTHING)
    assert "**cruise**, test error:" in text
    assert "→" not in text.split("## 1.")[1].split("## 2.")[0]  # nothing of the paper's stands beside other data


@pytest.mark.usefixtures("recordings")
def test_runs_of_recordings_that_are_gone_do_not_spoil_the_page(tmp_path, monkeypatch):
    ledger = made_up(tmp_path, 0.25)
    monkeypatch.delenv("FERNN_DATA")
    assert "## 7. Learned time bounds" in page(ledger, ["bounds"], True, WHERE, [], NOTHING)


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("FERNN_DATA", raising=False)
    came = TrialsOutcome(("intervals/0/fernn/2: it broke",), True, 12)
    text = page(TrialLog.open(tmp_path, "now"), ["bounds"], True, WHERE, [], came)
    assert "12 runs are missing" in text
    assert "- intervals/0/fernn/2: it broke" in text


def test_reasons_are_what_the_other_splits_say(tmp_path):
    ledger = TrialLog.open(tmp_path, "now")

    def put(method, *errors):
        for split, mcr in zip(("paper", "0", "1"), errors, strict=True):
            ledger.put(Trial("hapt", split, method, 2), {"mcr": mcr, "cases": 40, "seconds": 1.0})
        return cell(ledger, method, "hapt", 2, PaperNumber("stopping", "hapt", method, 2, 0.1))

    assert "harder than others" in reason(put("fernn", 0.5, 0.05, 0.1))
    assert reason(put("paper", 0.5, 0.1, 0.4)).startswith(
        "one start of one network: on the other splits it errs 0.100 to"
    )
    assert reason(put("enumerative", 0.5, 0.1, 0.4)).startswith("this method")
    assert reason(put("exact", 0.5, 0.3, 0.4)).startswith("not explained")


@pytest.mark.usefixtures("recordings")
def test_who_learns_the_labels_has_the_error_of_the_formula_that_gave_them(tmp_path):
    ledger = TrialLog.open(tmp_path, "now")
    for mcr, said in ((4 / 56, "the labels are the robustness"), (0.45, "one split only")):
        ledger.put(Trial("ecg continuous", "paper", "fernn", 4), {"mcr": mcr, "cases": 56, "seconds": 1.0})
        assert reason(cell(ledger, "fernn", "ecg continuous", 4)).startswith(said)
