"""Files broken in ways that read without complaint elsewhere: open quotes, odd numbers, disguises."""

import gzip
import io
import os

import numpy as np
import pytest

from fernn.data import from_arrays, inspect, read
from fernn.data.readers.text_cells import parse_number
from fernn.errors import DataError

HEAD = "case,time,v,label\n"
FINE = "a,0,1.0,good\na,1,2.0,good\nb,0,3.0,bad\nb,1,4.0,bad\n"


def only(problems, kind):
    found = [p for p in problems if p.kind == kind]
    assert found, f"no {kind} among {[p.kind for p in problems]}"
    return found[0]


@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", " "])
def test_a_quote_that_is_never_closed_is_told_where_it_opens(file, end, delimiter):
    text = (HEAD + 'a,0,1,"good\na,1,2,good\nb,0,3,bad' + end).replace(",", delimiter)
    data, problems = inspect(file("x.csv", text))
    assert data is None
    assert only(problems, "unclosed-quote").line == 2


@pytest.mark.parametrize("rows", [10, 4_000, 8_001])
def test_an_open_quote_far_down_or_on_the_last_line(file, rows):
    text = HEAD + "".join(f"a,{i},1,good\n" for i in range(rows))
    assert only(inspect(file("x.csv", text + 'a,-1,1,"good'))[1], "unclosed-quote").line == rows + 2
    assert only(inspect(file("x.csv", text + 'a,-1,1,"good\n'))[1], "unclosed-quote").line == rows + 2
    assert read(file("x.csv", text), quiet=True).lengths.tolist() == [rows]


def test_a_quote_closed_by_a_later_one_is_told(file):
    text = HEAD + 'a,0,1,"good\na,1,2,good\nb,0,3,"bad"\nb,1,4,bad\n'
    assert only(inspect(file("x.csv", text))[1], "unclosed-quote").line == 2


def test_an_open_quote_in_the_header(file):
    assert only(inspect(file("x.csv", HEAD.replace("v", '"v') + FINE))[1], "unclosed-quote").line == 1


def test_a_point_is_no_part_of_a_number_with_a_decimal_comma(file):
    text = "case;time;v\na;0;1.500\na;1;2,5\n"
    data, problems = inspect(file("x.csv", text), label=None, decimal=",")
    problem = only(problems, "decimal-point")
    assert data is None
    assert (problem.line, problem.column, problem.case) == (2, "v", "a")


@pytest.mark.parametrize("cell", ["1_000", "١٢", "１２", "0x10", "1,5", "--1"])
def test_what_is_no_number(file, cell):
    assert parse_number(cell) is None
    data, _ = inspect(file("x.csv", f'case,time,v\na,0,1\na,1,"{cell}"\n'), label=None)
    assert data is None


@pytest.mark.parametrize(("cell", "decimal", "value"), [("1e3", ".", 1000), ("-1,5", ",", -1.5), (" 2 ", ".", 2)])
def test_what_is_a_number(cell, decimal, value):
    assert parse_number(cell, decimal) == value


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "a pipe" in only(inspect(tmp_path / "pipe.csv")[1], "not-a-file").what
    assert "a device" in only(inspect("/dev/zero")[1], "not-a-file").what


def test_a_file_that_may_not_be_read(file):
    path = file("x.csv", HEAD + FINE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert "Permission denied" in only(inspect(path)[1], "unreadable").what


def _npy():
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "says", "do"),
    [
        (gzip.compress((HEAD + FINE).encode(), mtime=0), "gzip", "gunzip"),
        (b"PK\x03\x04rest", "zip", ".npz"),
        (_npy(), ".npy", "savez"),
        (b"PAR1\x15\x00", "Parquet", ".parquet"),
        (b"\x01\x02\x00\x03", "byte 3 is NUL", "Export"),
        ((HEAD + FINE).encode("utf-16-le"), "UTF-16", "--encoding utf-16-le"),
    ],
)
def test_what_is_not_text_is_called_by_its_name(file, content, says, do):
    problem = only(inspect(file("x.csv", content))[1], "binary")
    assert says in problem.what
    assert do in problem.fix
    assert "latin-1" not in problem.fix


def test_text_that_begins_like_another_kind_of_file_is_still_text(file):
    assert read(file("x.csv", "PAR1,time\n1,0\n2,1\n"), None).channels == ("PAR1",)


def test_decimal_commas_between_commas_are_suspected(file):
    problem = only(inspect(file("x.csv", HEAD + "a,0,1,5,good\na,1,2,5,good\n"))[1], "ragged-row")
    assert "--decimal ','" in problem.fix
    assert "--decimal" not in only(inspect(file("x.csv", HEAD + "a,0,1,good,EXTRA\n" + FINE))[1], "ragged-row").fix


def test_other_separators_are_suspected(file):
    text = (HEAD + FINE).replace(",", "|")
    assert "--delimiter '|'" in only(inspect(file("x.csv", text), delimiter=",")[1], "wrong-delimiter").fix


def test_a_gap_among_the_labels_of_a_case_is_told(file):
    data, problems = inspect(file("x.csv", HEAD + FINE.replace("a,1,2.0,good", "a,1,2.0,")))
    problem = only(problems, "sparse-label")
    assert data.positive.tolist() == [True, False]
    assert (problem.severity, problem.line, problem.case) == ("warning", 3, "a")


def test_an_infinite_time_is_called_so(file):
    problem = only(inspect(file("x.csv", HEAD + FINE + "b,inf,1,bad\n"))[1], "missing-time")
    assert "infinite" in problem.what


def test_empty_labels_are_not_suggested_as_the_good_ones(file):
    text = HEAD + FINE.replace("good", "").replace("bad", "left turn") + "c,0,1,right\n"
    problems = inspect(file("x.csv", text))[1]
    assert only(problems, "missing-label")
    assert only(problems, "good").fix.endswith("--good 'left turn'.")


def test_near_names_are_suggested_files_and_data_sets(file, tmp_path):
    for name in ("a.csv", "b.csv", "drive.csv"):
        file(name, HEAD)
    what = only(inspect(tmp_path / "driev.csv")[1], "not-found").what
    assert "'drive.csv'" in what
    assert "'a.csv'" not in what
    assert "the data set 'cruise'" in only(inspect("crise")[1], "not-found").what


def test_masked_values_are_missing_values():
    X = np.ma.masked_array(np.ones((2, 3)), mask=[[0, 1, 0], [0, 0, 0]])
    with pytest.raises(DataError, match="1 masked value"):
        from_arrays(X)
    with pytest.raises(DataError, match="masked"):
        from_arrays(list(X))
    with pytest.raises(DataError, match="y has 1 masked value"):
        from_arrays(np.ones((2, 3)), np.ma.masked_array([0, 1], mask=[0, 1]))
    assert from_arrays(np.ma.masked_array(np.ones((2, 3)))).values.shape == (2, 1, 3)
