"""CSV files that people open in a spreadsheet, which runs what begins with = and the like."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fernn.data import from_arrays, load, read, write_csv
from fernn.data.readers.dialect import escape_cell, unescape_cell
from fernn.data.streaming import Stream, open_source
from fernn.evaluation.trial_runs import TrialLog
from fernn.evaluation.trials import Trial

RUN = tuple("=+-@\t\r")
NAMES = ["=cmd|' /C calc'!A0", "+1+cmd()", "-2+3", "@SUM(A1)", "'=x", "''=x", "'plain", "-1", "+2.5e3", "=", "a;=cmd()"]


@given(st.text(st.sampled_from("=+-@'\t\r\n1.ae,;\" x"), max_size=6))
def test_a_cell_is_not_run_and_is_read_back(text):
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    if cell.startswith(RUN):
        float(cell)  # which spreadsheets take for a number


def strange():
    """Names in every place where there is one."""
    labels = ["=bad()", "good"] * 5 + ["=bad()"]
    values = [[[0.0, 1.0, float(i)]] * 2 for i in range(len(NAMES))]
    data = from_arrays(values, labels, channels=["=v", "-w"], cases=NAMES, good="good", name="x,=cmd()")
    return replace(data, groups=tuple(reversed(NAMES)), dt=0.5)


def test_names_of_all_kinds_read_back_from_cells_that_are_not_run(tmp_path):
    data = strange()
    path = write_csv(data, tmp_path / "x.csv")
    again = read(path)
    assert again == data
    assert (again.cases, again.groups, again.channels, again.classes) == (
        data.cases, data.groups, data.channels, data.classes,
    )  # fmt: skip
    assert [case for lot in Stream(open_source(path)) for case in lot.cases] == list(data.cases)
    note, *rows = path.read_text().splitlines()
    for row in csv.reader(rows):
        for cell in row:
            assert not cell.startswith(RUN) or float(cell) is not None
    for delimiter in ",;\t":  # a spreadsheet takes the note apart at any of them
        for cell in next(csv.reader([note], delimiter=delimiter)):
            assert not cell.strip().startswith(RUN)


def test_a_file_without_such_names_is_as_ever(tmp_path):
    text = write_csv(load("cruise", cases=3), tmp_path / "x.csv").read_text()
    assert "escaped" not in text.splitlines()[0]


def test_apostrophes_in_files_of_others_stay(tmp_path):
    (tmp_path / "x.csv").write_text("case,time,v\n'=a,0,1\n'=a,1,2\n")
    assert read(tmp_path / "x.csv", label=None).cases == ("'=a",)


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_eval_writes_no_cell_that_is_run(tmp_path, monkeypatch, stream):
    import sys

    from fernn.cli import main

    monkeypatch.chdir(tmp_path)
    write_csv(strange(), "x.csv")
    monkeypatch.setattr(sys, "argv", ["fernn", "eval", '"=v" >= 0', "x.csv", stream, "--out", "y.csv"])
    assert sys.modules[main.__module__]._code() in (0, 1)
    rows = list(csv.DictReader(io.StringIO(Path("y.csv").read_text())))
    assert [unescape_cell(row["case"]) for row in rows] == NAMES
    for row in rows:
        for cell in (row["case"], row["label"]):
            assert not cell.startswith(RUN) or float(cell) is not None


def test_the_table_of_a_comparison_has_no_cell_that_is_run(tmp_path):
    ledger = TrialLog.open(tmp_path / "c", "x")
    ledger.put(Trial("=data()", "0", "exact", 1), {"mcr": 0.5, "formula": "-x >= 1", "settings": json.dumps({})})
    (row,) = csv.DictReader(io.StringIO(ledger.write_table().read_text()))
    assert (row["data"], row["formula"]) == ("'=data()", "'-x >= 1")
    assert row["mcr"] == "0.5"
