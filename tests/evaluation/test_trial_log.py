"""Runs on disk: what is there is not done again, and nothing is lost."""

import csv

import pytest

from fernn.errors import RunError
from fernn.evaluation.trial_runs import RUNS, TrialLog
from fernn.evaluation.trials import Trial

UNIT = Trial("ecg", "paper", "fernn", 2)
FOUND = {"mcr": 0.1, "formula": "G (x <= 1) | F (y >= 2)", "found_length": 5, "seconds": 1.5}


def test_what_was_measured_is_found_again(tmp_path):
    TrialLog.open(tmp_path, "now").put(UNIT, FOUND)
    again = TrialLog.open(tmp_path, "now")
    assert again.has(UNIT)
    assert again.one("fernn", "ecg", 2, "paper")["formula"] == FOUND["formula"]
    assert not again.has(Trial("ecg", "0", "fernn", 2))


def test_what_another_version_measured_is_done_again_unless_it_is_kept(tmp_path):
    TrialLog.open(tmp_path, "before").put(UNIT, FOUND)
    assert not TrialLog.open(tmp_path, "now").has(UNIT)
    assert TrialLog.open(tmp_path, "now", keep=True).has(UNIT)
    later = TrialLog.open(tmp_path, "now")
    later.put(UNIT, FOUND | {"mcr": 0.3})
    later.write_runs()
    del later
    assert TrialLog.open(tmp_path, "now").one("fernn", "ecg", 2, "paper")["mcr"] == 0.3
    assert len((tmp_path / RUNS).read_text().splitlines()) == 1


def test_a_line_that_was_cut_off_is_left_out_and_a_damaged_one_is_told(tmp_path):
    TrialLog.open(tmp_path, "now").put(UNIT, FOUND)
    whole = (tmp_path / RUNS).read_text()
    (tmp_path / RUNS).write_text(whole + whole[: len(whole) // 2])
    assert len(TrialLog.open(tmp_path, "now").runs) == 1
    (tmp_path / RUNS).write_text("nonsense\n" + whole)
    with pytest.raises(RunError, match=r"runs\.jsonl line 1"):
        TrialLog.open(tmp_path, "now")


def test_after_a_cut_off_line_the_next_run_is_not_lost(tmp_path):
    TrialLog.open(tmp_path, "now").put(UNIT, FOUND)
    whole = (tmp_path / RUNS).read_text()
    (tmp_path / RUNS).write_text(whole + whole[: len(whole) // 2])
    other = Trial("ecg", "0", "fernn", 2)
    TrialLog.open(tmp_path, "now").put(other, FOUND)
    assert set(TrialLog.open(tmp_path, "now").runs) == {UNIT, other}


def test_two_processes_do_not_write_in_one_folder(tmp_path):
    held = TrialLog.open(tmp_path, "now")
    with pytest.raises(RunError, match="another process"):
        TrialLog.open(tmp_path, "now")
    assert held.runs == {}


def test_the_table_has_a_line_for_every_run(tmp_path):
    made = TrialLog.open(tmp_path, "now")
    for split in ("paper", "0"):
        made.put(Trial("ecg", split, "fernn", 2), FOUND)
    with made.write_table().open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["split"], row["length"], row["found_length"]) for row in rows] == [
        ("0", "2", "5"),
        ("paper", "2", "5"),
    ]
    assert rows[0]["formula"] == FOUND["formula"]


def test_runs_of_one_split_that_had_other_traces_are_told(tmp_path):
    made = TrialLog.open(tmp_path, "now")
    made.put(UNIT, FOUND | {"trained_on": "a", "tested_on": "b"})
    made.put(Trial("ecg", "paper", "exact", 2), FOUND | {"trained_on": "a", "tested_on": "b"})
    assert made.uneven() == []
    made.put(Trial("ecg", "paper", "exact", 3), FOUND | {"trained_on": "c", "tested_on": "b"})
    assert made.uneven() == ["ecg/paper"]


def test_what_was_measured_with_other_settings_is_done_again(tmp_path):
    made = TrialLog.open(tmp_path, "now", keep=True)
    made.put(UNIT, FOUND | {"settings": "Fernn(max_length=2)"})
    assert made.has(UNIT, "Fernn(max_length=2)")
    assert not made.has(UNIT, "Fernn(max_length=2, seed=1)")
