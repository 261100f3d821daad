"""Reports from the command line."""

import json

import numpy as np
import pytest

from fernn.data import from_arrays, write_csv


@pytest.fixture
def drive(tmp_path):
    """A file of traces, in the folder that commands are called in."""
    random = np.random.default_rng(0)
    values = random.normal(size=(40, 1, 12)).cumsum(axis=2)
    write_csv(from_arrays(values, (values.max(axis=(1, 2)) <= 2).astype(int), channels=("v",)), tmp_path / "drive.csv")
    return ["learn", "drive.csv", "--max-length", "2", "--restarts", "2", "--quiet"]


@pytest.mark.slow
def test_learning_ends_with_a_report_and_says_where(called, drive, tmp_path):
    done = called(*drive)
    assert done.code == 0, done.err
    assert "report: runs/data-1/report.html" in done.out.splitlines()
    page = (tmp_path / "runs" / "data-1" / "report.html").read_text()
    (tmp_path / "elsewhere").mkdir()
    again = called("report", "runs/data-1", "-o", "elsewhere/again.html")
    assert again.out == "report: elsewhere/again.html\n"
    assert (tmp_path / "elsewhere" / "again.html").read_text() == page


def test_programs_are_told_too_and_who_wants_none_gets_none(called, drive, tmp_path):
    assert json.loads(called(*drive, "--out", "one", "--json").out)["report"] == "one/report.html"
    told = json.loads(called("report", "one", "--json").out)
    assert told == {"report": "one/report.html", "bytes": (tmp_path / "one" / "report.html").stat().st_size}
    assert json.loads(called(*drive, "--out", "two", "--json", "--no-report").out)["report"] is None
    assert not (tmp_path / "two" / "report.html").exists()


def test_a_report_that_fails_is_a_warning_and_the_run_is_kept(called, drive, tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("fernn.report.page.write_result_report", broken)
    done = called(*drive, "--out", "run")
    assert done.code == 0
    assert "warning: the report could not be written (of all things); the run itself is in run" in done.err
    assert json.loads((tmp_path / "run" / "front.json").read_text())["ended"] == "done"
    assert "report:" not in done.out


def test_what_is_no_run_and_what_is_a_folder_are_told(called, drive, tmp_path):
    assert called("report", "nowhere").code == 2
    called(*drive, "--out", "run", "--no-report")
    (tmp_path / "folder").mkdir()
    done = called("report", "run", "-o", "folder")
    assert done.code == 2
    assert "folder is a folder; a report is a file" in done.err
    (tmp_path / "drive.csv").rename(tmp_path / "moved.csv")
    assert "fernn report run --data FILE" in called("report", "run").err
    assert called("report", "run", "--data", "moved.csv").code == 0
