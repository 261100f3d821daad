"""Everything that can be wrong with a file is told: where, what, and what to do."""

import sys

import numpy as np
import pytest

from fernn.data import inspect, read
from fernn.data.problems import Problem, ProblemLog
from fernn.errors import DataError, FernnWarning

HEAD = "case,time,v,label\n"
FINE = "a,0,1.0,good\na,1,2.0,good\nb,0,3.0,bad\nb,1,4.0,bad\n"


def told(path, **options):
    return inspect(path, **options)[1]


def only(problems, kind):
    found = [p for p in problems if p.kind == kind]
    assert found, f"no {kind} among {[p.kind for p in problems]}"
    return found[0]


def test_a_file_without_problems_has_none(file):
    data, problems = inspect(file("drive.csv", HEAD + FINE))
    assert len(data) == 2
    assert problems == ()


def test_a_problem_reads_as_one_line():
    problem = Problem("text", "error", "'x' is not a number", "Fix it.", "drive.csv", 3, "v", "a")
    assert str(problem) == "drive.csv line 3, column 'v', case 'a': 'x' is not a number. Fix it."


def test_a_row_with_too_many_fields(file):
    problem = only(told(file("drive.csv", HEAD + "a,0,1,good,EXTRA\n" + FINE)), "ragged-row")
    assert str(problem) == (
        "drive.csv line 2, case 'a': 5 fields, the header has 4 (extra: 'EXTRA'). Fix the row or pass --bad-rows skip."
    )


def test_a_row_with_too_few_fields(file):
    problem = only(told(file("drive.csv", HEAD + FINE + "b,2,1\n")), "ragged-row")
    assert (problem.line, problem.case, problem.what) == (6, "b", "3 fields, the header has 4 (missing: 'label')")


def test_traces_of_unequal_length_are_allowed_and_told(file):
    data, problems = inspect(file("x.csv", HEAD + FINE + "b,2,5,bad\n"))
    assert data.lengths.tolist() == [2, 3]
    assert only(problems, "unequal-lengths").severity == "warning"


@pytest.mark.parametrize("cell", ["", "NaN", "NA", "null", "?"])
def test_a_missing_value(file, cell):
    problem = only(told(file("x.csv", HEAD + FINE + f"b,2,{cell},bad\n"), nonfinite="error"), "missing")
    assert (problem.severity, problem.line, problem.column, problem.case) == ("error", 6, "v", "b")
    assert "--nonfinite" in problem.fix


def test_an_infinite_value(file):
    problem = only(told(file("x.csv", HEAD + FINE + "b,2,-inf,bad\n")), "infinite")
    assert (problem.line, problem.column, problem.case) == (6, "v", "b")
    assert "-inf" in problem.what


def test_a_case_with_nothing_to_repair_from(file):
    problems = told(file("x.csv", HEAD + FINE + "c,0,,bad\nc,1,,bad\n"), nonfinite="hold")
    assert (only(problems, "all-missing").case, only(problems, "missing").severity) == ("c", "warning")


def test_one_class_only(file):
    problem = only(told(file("x.csv", HEAD + "a,0,1,good\nb,0,2,good\n")), "one-class")
    assert problem.severity == "warning"
    assert "'good'" in problem.what


def test_text_among_the_numbers(file):
    problem = only(told(file("x.csv", HEAD + FINE + "b,2,fast,bad\n")), "text")
    assert (problem.line, problem.column, problem.case) == (6, "v", "b")
    assert "'fast' is not a number" in problem.what


def test_the_wrong_delimiter(file):
    problem = only(told(file("x.csv", (HEAD + FINE).replace(",", ";")), delimiter=","), "wrong-delimiter")
    assert problem.line == 1
    assert "--delimiter ';'" in problem.fix


def test_a_decimal_comma(file):
    text = "case;time;v;label\na;0;3,14;good\na;1;3,15;good\nb;0;2,7;bad\n"
    problem = only(told(file("x.csv", text)), "decimal-comma")
    assert (problem.line, problem.column, problem.case) == (2, "v", "a")
    assert "--decimal ','" in problem.fix


def test_a_time_that_comes_twice_in_a_case(file):
    problem = only(told(file("x.csv", HEAD + FINE + "a,1,9,good\n")), "duplicate-time")
    assert (problem.line, problem.case) == (6, "a")
    assert "first on line 3" in problem.what


def test_times_that_repeat_without_a_case_column_ask_for_one(file):
    problem = only(told(file("x.csv", "who,time,v\n1,0,1\n2,0,2\n"), label=None), "duplicate-time")
    assert "--case" in problem.fix


def test_a_row_without_a_time_or_a_case(file):
    problems = told(file("x.csv", HEAD + FINE + "b,,1,bad\n,3,1,bad\n"))
    assert only(problems, "missing-time").line == 6
    assert only(problems, "missing-case").line == 7


def test_one_case_with_two_labels(file):
    problem = only(told(file("x.csv", HEAD + FINE + "a,2,9,bad\n")), "two-labels")
    assert (problem.line, problem.case) == (6, "a")
    assert "'good' (line 2)" in problem.what


def test_a_case_without_a_label(file):
    assert only(told(file("x.csv", HEAD + FINE + "c,0,9,\n")), "missing-label").case == "c"


def test_labels_that_do_not_tell_which_is_good(file):
    text = HEAD + FINE.replace("good", "left").replace("bad", "right")
    problem = only(told(file("x.csv", text)), "good")
    assert "'left', 'right'" in problem.what
    assert "--good" in problem.fix
    assert read(file("x.csv", text), good="left").classes == ("right", "left")


def test_a_good_label_that_nobody_has(file):
    assert "did you mean 'good'" in only(told(file("x.csv", HEAD + FINE), good="goood"), "good").what


def test_copies_of_a_trace_are_counted(file):
    problems = told(file("x.csv", HEAD + FINE + "c,0,3,bad\nc,1,4,bad\n"))
    problem = only(problems, "duplicate-traces")
    assert (problem.severity, problem.case) == ("warning", "c")
    assert "1 of 3 traces" in problem.what
    assert not [p for p in problems if p.kind == "contradiction"]


def test_copies_in_both_classes_put_a_floor_under_every_error(file):
    problem = only(told(file("x.csv", HEAD + FINE + "c,0,3,good\nc,1,4,good\n")), "contradiction")
    assert "at least 1 of 3 cases" in problem.what


def test_the_wrong_encoding_names_the_byte_and_the_line(file):
    path = file("x.csv", HEAD + FINE.replace("b,", "é,"), encoding="latin-1")
    problem = only(told(path), "encoding")
    assert problem.line == 4
    assert "0xe9 at position 1" in problem.what
    assert "--encoding latin-1" in problem.fix
    assert read(path, encoding="latin-1").cases == ("a", "é")


def test_utf_16_is_recognised(file):
    path = file("x.csv", HEAD + FINE, encoding="utf-16")
    assert "--encoding utf-16" in only(told(path), "encoding").fix


@pytest.mark.parametrize("text", ["", "\n\n", HEAD, "# note\n"])
def test_an_empty_file_or_a_header_alone(file, text):
    data, problems = inspect(file("x.csv", text))
    assert data is None
    assert [p.kind for p in problems] == ["empty"]


def test_a_file_that_is_not_there_and_a_folder(file, tmp_path):
    file("drive.csv", HEAD)
    problem = only(told(tmp_path / "dirve.csv"), "not-found")
    assert "'drive.csv'" in problem.what
    assert only(told(tmp_path), "folder").fix


@pytest.mark.parametrize(
    ("options", "kind", "hint"),
    [
        ({"label": "lable"}, "no-label-column", "did you mean 'label'"),
        ({"case": "cas"}, "no-case-column", "did you mean 'case'"),
        ({"time": "tme"}, "no-time-column", "did you mean 'time'"),
        ({"channels": ["V2"]}, "no-channel-column", "'case', 'time', 'v', 'label'"),
        ({"group": "car"}, "no-group-column", "the columns are"),
    ],
)
def test_a_column_that_is_not_there(file, options, kind, hint):
    problem = only(told(file("x.csv", HEAD + FINE), **options), kind)
    assert hint in problem.what
    assert "Pass --" in problem.fix


def test_a_label_column_under_another_name_is_suggested(file):
    text = (HEAD + FINE).replace("label", "target")
    assert "did you mean 'target'" in only(told(file("x.csv", text)), "no-label-column").what


def test_a_column_named_twice_and_no_channel_at_all(file):
    assert only(told(file("x.csv", "case,time,v,v\na,0,1,2\n"), label=None), "twice-named")
    assert only(told(file("x.csv", "case,time\na,0\n"), label=None), "no-channel")


def test_a_tidy_file_needs_names(file):
    assert "--layout wide" in only(told(file("x.csv", "1,2,3\n4,5,6\n"), layout="tidy"), "no-header").fix


def test_irregular_sampling_leaves_dt_unknown(file):
    data, problems = inspect(file("x.csv", HEAD + FINE + "b,5,1,bad\n"))
    problem = only(problems, "irregular")
    assert data.dt is None
    assert (problem.severity, problem.line, problem.case) == ("warning", 6, "b")
    assert "usual step is 1, here it is 4" in problem.what


def test_a_file_larger_than_memory_is_not_read(file):
    path = file("x.csv", HEAD + FINE)
    problem = only(told(path, memory_limit=10), "too-large")
    assert "10 bytes" in problem.what
    assert f"{path.stat().st_size} bytes" in problem.what
    assert "--memory-limit" in problem.fix


def test_the_size_of_an_archive_is_what_it_unpacks_to(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((10, 1, 1000)))
    assert (tmp_path / "x.npz").stat().st_size < 10_000
    assert only(told(tmp_path / "x.npz", memory_limit=10_000), "too-large")


def test_a_field_that_is_not_csv(file):
    assert only(told(file("x.csv", HEAD + FINE + "a,2," + "1" * 200_000)), "csv").line == 6


def test_all_problems_are_told_at_once(file):
    text = HEAD + FINE + "b,2,fast,bad\nb,3,,bad\nb,4,1\nb,0,1,good\n"
    assert {p.kind for p in told(file("x.csv", text), nonfinite="error")} >= {
        "text",
        "missing",
        "ragged-row",
        "duplicate-time",
    }


def test_repeated_problems_are_counted_after_the_fifth(file):
    text = HEAD + FINE + "".join(f"b,{i},?,bad\n" for i in range(2, 44))
    missing = [p for p in told(file("x.csv", text), nonfinite="error") if p.kind == "missing"]
    assert [p.line for p in missing] == [6, 7, 8, 9, 10, None]
    assert str(missing[-1]) == "x.csv, column 'v': and 37 more like this, 42 in this column."
    assert sum(p.count for p in missing) == 42


def test_errors_come_before_warnings():
    log = ProblemLog("x.csv")
    log.add("one-class", "warning", "w", "f")
    log.add("text", "error", "e", "f")
    assert [p.severity for p in log.problems()] == ["error", "warning"]
    assert log.failed


def test_read_raises_with_every_error_and_carries_the_problems(file):
    with pytest.raises(DataError, match=r"line 6.*\n.*line 7") as caught:
        read(file("x.csv", HEAD + FINE + "b,2,fast,bad\nb,3,,bad\n"), nonfinite="error")
    assert {p.kind for p in caught.value.problems} >= {"text", "missing"}


def test_read_warns_once_for_all_warnings(file):
    with pytest.warns(FernnWarning) as caught:
        read(file("x.csv", HEAD + "a,0,1,good\nb,0,1,good\n"))
    assert len(caught) == 1
    assert "one side" in str(caught[0].message)


def test_parquet_without_polars_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    assert "pip install 'fernn[io]'" in only(told(file("x.parquet", b"PAR1")), "no-polars").fix


def test_a_problem_that_asks_for_a_choice_says_among_what(file):
    text = HEAD + FINE.replace("good", "left").replace("bad", "right")
    assert only(told(file("x.csv", text)), "good").choices == ("left", "right")
    assert only(told(file("x.csv", HEAD + FINE), good="goood"), "good").choices == ("bad", "good")
