"""What stands in cells: words among numbers, odd numbers, dates. Nothing is read as something else without a word."""

from __future__ import annotations

import numpy as np
import pytest

from fernn.data import Dataset, from_arrays, inspect, read, sample_file
from fernn.errors import DataError

HEAD = "case,time,v,label\n"


def told(problems, kind):
    return [p for p in problems if p.kind == kind]


@pytest.mark.parametrize("label", ["label", None])
def test_a_column_of_words_is_left_out_and_named(file, label):
    text = "case,time,v,operator,label\na,0,1,Müller,good\na,1,2,Huber,good\nb,0,3,,bad\nb,1,4,7,bad\n"
    data, problems = inspect(file("x.csv", text), label)
    assert data.channels == ("v",)
    (problem,) = [p for p in told(problems, "text-column") if p.column == "operator"]
    assert problem.severity == "warning"
    assert "such as 'Müller' (1 of 3 are numbers), so it is left out" in problem.what
    named, _ = inspect(file("x.csv", text), label, channels=["v", "operator"])
    assert named.categories == {"operator": ("7", "Huber", "Müller")}  # as it is asked for by name
    many = "case,time,v,operator\n" + "".join(f"a,{i},{i},word{i}\n" for i in range(51))
    assert inspect(file("x.csv", many), None)[0].channels == ("v",)
    data, problems = inspect(file("x.csv", many), None, channels=["v", "operator"])
    assert data is None
    first = told(problems, "text")[0]
    assert (first.line, first.column, first.what) == (2, "operator", "'word0' is not a number")


def test_a_few_words_among_numbers_are_errors(file):
    rows = "".join(f"a,{i},{'off' if i in (3, 4) else i},good\n" for i in range(6))
    data, problems = inspect(file("x.csv", HEAD + rows + "b,0,1,bad\n"))
    assert data is None
    assert [(p.line, p.column) for p in told(problems, "text")] == [(5, "v"), (6, "v")]


def test_problems_of_one_column_do_not_hide_those_of_another(file):
    names = [f"c{i}" for i in range(30)]
    rows = [",".join(["a", str(t), *(["oops" if t < 8 else "1"] * 30), "good"]) for t in range(20)]
    text = "\n".join([",".join(["case", "time", *names, "label"]), *rows, ",".join(["b", "0", *["1"] * 30, "bad"])])
    _, problems = inspect(file("x.csv", text))
    words = told(problems, "text")
    shown = {p.column for p in words if p.line is not None}
    assert shown == set(names[:20])
    assert all(sum(p.column == name and p.line is not None for p in words) == 5 for name in shown)
    assert next(p.what for p in words if p.line is None) == "and 3 more like this, 8 in this column"
    assert words[-1].what == "and 80 more like this in 10 other columns"
    assert sum(p.count for p in words) == 8 * 30


def test_decimal_commas_are_one_problem_a_column_with_their_number(file):
    rows = "".join(f"a;{t};1,{t};{t};2,5;good\n" for t in range(1200))
    text = "case;time;pressure;flow;level;label\n" + rows + "b;0;1;2;3;bad\n"
    _, problems = inspect(file("x.csv", text))
    commas = told(problems, "decimal-comma")
    assert [(p.column, p.count, p.line) for p in commas] == [("pressure", 1200, 2), ("level", 1200, 2)]
    assert commas[0].what == "1,200 cells use a decimal comma, first '1,0'"
    assert read(file("x.csv", text), decimal=",", quiet=True).values[0][2, 0] == 2.5


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("1e400", "too large"),
        ("-1e999", "too large"),
        ("9" * 400, "too large"),
        ("0x1p3", "is not a number"),
        ("1_000", "is not a number"),
        ("١٢٣", "is not a number"),
        ("1.#INF", "is not a number"),
        ("#DIV/0!", "is not a number"),
        ("12 kPa", "is not a number"),
    ],
)
@pytest.mark.parametrize("nonfinite", ["error", "hold"])
@pytest.mark.parametrize("layout", ["tidy", "wide"])
def test_odd_numbers_are_errors_with_their_place(file, cell, says, nonfinite, layout):
    if layout == "tidy":
        text = HEAD + "a,0,1,good\na,1,2,good\na,2," + cell + ",good\nb,0,3,bad\nb,1,4,bad\n"
        place = (4, "v")
    else:
        text = "t0,t1,t2,label\n1,2,3,good\n4,5,6,bad\n1," + cell + ",6,bad\n"
        place = (4, "t1")
    data, problems = inspect(file("x.csv", text), nonfinite=nonfinite)
    assert data is None
    (problem,) = [p for p in problems if p.severity == "error"]
    assert (problem.line, problem.column) == place
    assert says in problem.what


@pytest.mark.parametrize(("cell", "kind"), [("inf", "infinite"), ("-Infinity", "infinite"), ("nan", "missing")])
def test_words_for_no_number_are_told_as_such(file, cell, kind):
    text = HEAD + f"a,0,1,good\na,1,{cell},good\nb,0,3,bad\nb,1,4,bad\n"
    assert inspect(file("x.csv", text), nonfinite="error")[0] is None
    data, problems = inspect(file("x.csv", text), nonfinite="hold")
    assert data.values[0].tolist() == [[1.0, 1.0]]
    (problem,) = told(problems, kind)
    assert (problem.line, problem.column, problem.fix) == (3, "v", "It is filled in with the last value.")


def test_a_number_too_large_in_a_series_file(file):
    text = "@problemName x\n@classLabel true a b\n@data\n1,1e400,2:a\n3,4,5:b\n"
    data, problems = inspect(file("x.ts", text), good="b", nonfinite="hold")
    assert data is None
    assert problems[0].line == 4


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "<f4", "f2", "u1", "?"])
def test_arrays_of_any_byte_order_become_native_floats(tmp_path, kind):
    X = np.arange(12).reshape(2, 2, 3).astype(kind)
    wanted = X.astype(np.float64)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([0, 1], dtype=">i8"), dt=np.array(0.5, ">f8"))
    for data in (
        read(tmp_path / "x.npz"),
        from_arrays(X, [0, 1], dt=0.5, channels=["x0", "x1"]),
        Dataset(X, channels=("x0", "x1")),
    ):
        assert data.values.dtype == np.dtype(float)
        assert data.values.dtype.isnative
        assert data.values.tolist() == wanted.tolist()
    assert read(tmp_path / "x.npz").dt == 0.5


@pytest.mark.parametrize(
    "values", [np.array([[["a", "b"]]]), np.zeros((1, 1, 2), complex), np.zeros((1, 1, 2), "M8[s]")]
)
def test_arrays_that_are_no_real_numbers_are_refused(values):
    with pytest.raises(DataError, match="found an array of"):
        Dataset(values)
    with pytest.raises(DataError, match=r"found an array of|what is no number"):
        from_arrays(values)


TIMES = {
    "german": ["07.03.2025 21:36:00,002", "07.03.2025 21:36:00,102", "07.03.2025 21:36:00,202"],
    "german with points": ["7.3.2025 21:36:00.002", "7.3.2025 21:36:00.102", "7.3.2025 21:36:00.202"],
    "offset": ["2025-03-07T21:36:00.002+01:00", "2025-03-07T21:36:00.102+01:00", "2025-03-07T21:36:00.202+01:00"],
    "mixed offsets": ["2025-03-07T21:36:00.002+01:00", "2025-03-07T20:36:00.102Z", "2025-03-07T14:06:00.202-0630"],
    "utc": ["2025-03-07T21:36:00.002Z", "2025-03-07T21:36:00.102Z", "2025-03-07T21:36:00.202Z"],
    "comma": ["2025-03-07 21:36:00,002", "2025-03-07 21:36:00,102", "2025-03-07 21:36:00,202"],
    "over a change of the clock": [
        "2025-10-26T02:59:59.95+02:00",
        "2025-10-26T02:00:00.05+01:00",
        "2025-10-26T01:00:00.15Z",
    ],
}


@pytest.mark.parametrize("form", TIMES)
def test_dates_as_people_and_machines_write_them(file, form):
    cells = TIMES[form]
    text = "case;time;v;label\n" + "".join(
        f"{case};{cell};{v};{label}\n" for case, label in (("a", "good"), ("b", "bad")) for v, cell in enumerate(cells)
    )
    data = read(file("x.csv", text), quiet=True)
    assert data.values[:, 0].tolist() == [[0.0, 1.0, 2.0]] * 2
    assert data.dt == pytest.approx(0.1)
    assert data.time_unit == "s"


@pytest.mark.parametrize(
    ("cells", "kind", "line"),
    [
        (["2025-03-07T21:36:00+01:00", "2025-03-07T21:36:01"], "mixed-zones", 3),
        (["2025-03-07T21:36:00", "2025-02-30T21:36:01"], "text", 3),
        (["03/07/2025 21:36", "03/07/2025 21:37"], "text", 2),
        (["2025-03-07T21:36:00", "soon"], "text", 3),
        (["2025-10-26 02:10:00", "2025-10-26 02:50:00", "2025-10-26 02:20:00", "2025-10-26 03:00:00"], "clock-back", 4),
    ],
)
def test_times_that_can_be_read_in_two_ways_are_not_guessed(file, cells, kind, line):
    text = HEAD + "".join(f"a,{cell},1,good\n" for cell in cells)
    data, problems = inspect(file("x.csv", text))
    assert data is None
    (problem, *_) = told(problems, kind)
    assert (problem.line, problem.column, problem.severity) == (line, "time", "error")


STEPS = "".join(f"{case},{i / 10},{i},{label}\n" for case, label in (("a", "good"), ("b", "bad")) for i in range(5))


def test_dt_that_contradicts_the_times_is_an_error(file):
    data, problems = inspect(file("x.csv", HEAD + STEPS), dt=5)
    assert data is None
    (problem,) = told(problems, "other-dt")
    assert (problem.line, problem.what) == (3, "dt is 5 (--dt), but the times in the file are 0.1 apart")
    assert read(file("x.csv", HEAD + STEPS), dt=0.1, quiet=True).dt == 0.1
    assert read(file("x.csv", HEAD + STEPS), dt=0.1005, quiet=True).dt == 0.1005


def test_dt_that_contradicts_the_names_of_wide_columns_is_an_error(file):
    text = "0.0,0.1,0.2,label\n1,2,3,good\n3,4,5,bad\n"
    assert told(inspect(file("x.csv", text), dt=5)[1], "other-dt")[0].severity == "error"
    assert read(file("x.csv", text), dt=0.1).dt == 0.1
    assert read(file("x.csv", text.replace("0.0,0.1,0.2", "0,1,2")), dt=5).dt == 5  # counted, not timed


def test_the_warning_of_uneven_times_knows_what_was_passed(file):
    text = HEAD + STEPS + "b,0.9,9,bad\n"
    (plain,) = told(inspect(file("x.csv", text))[1], "irregular")
    assert "pass --dt" in plain.fix
    (asked,) = told(inspect(file("x.csv", text), dt=0.1)[1], "irregular")
    assert asked.fix == "As --dt says, all samples are taken to be 0.1 apart. Resample if that is not meant."
    assert told(inspect(file("x.csv", text), dt=0.4)[1], "other-dt")


def test_dt_of_an_archive_that_is_replaced_is_told(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.arange(12.0).reshape(2, 1, 6), y=np.array([0, 1]), dt=0.1)
    data, problems = inspect(tmp_path / "x.npz", dt=5)
    assert data.dt == 5
    assert told(problems, "other-dt")[0].what == "the file says that samples are 0.1 apart, --dt says 5, which is taken"


def test_thousands_are_not_called_fractions(file):
    text = HEAD + 'a,0,"1,000",good\na,1,"12,500",good\nb,0,3,bad\nb,1,4,bad\n'
    (problem,) = told(inspect(file("x.csv", text))[1], "decimal-comma")
    assert problem.fix == "Write 1000 if that is meant; pass --decimal ',' if it is a fraction."


def test_a_spreadsheets_line_on_separators_is_no_row(file):
    rows = "case;time;v;label\na;0;1;good\na;1;2;good\nb;0;3;bad\nb;1;x;bad\n"
    data, problems = inspect(file("x.csv", "sep=;\r\n" + rows.replace("x", "4").replace("\n", "\r\n")))
    assert data.values.tolist() == [[[1.0, 2.0]], [[3.0, 4.0]]]
    assert not problems
    assert inspect(file("x.csv", "sep=;\n" + rows))[1][0].line == 6


def test_a_case_that_comes_back_without_times_is_told(file):
    text = "case,v,label\na,1,good\na,2,good\nb,3,bad\na,4,good\n"
    data, problems = inspect(file("x.csv", text))
    assert data.lengths.tolist() == [3, 1]
    (problem,) = told(problems, "scattered-case")
    assert (problem.line, problem.case, problem.severity) == (5, "a", "warning")
    timed = "case,time,v,label\na,0,1,good\na,1,2,good\nb,0,3,bad\na,2,4,good\n"
    assert not told(inspect(file("x.csv", timed))[1], "scattered-case")


def test_labels_that_differ_in_capitals_are_told(file):
    text = HEAD + "a,0,1,good\nb,0,3,bad\nc,0,2,Good\n"
    (problem,) = told(inspect(file("x.csv", text))[1], "similar-labels")
    assert "the label 'good' (1 case) differs from 'Good' (1 case) only in capitals" in problem.what


@pytest.mark.parametrize("y", [["a", None, "b"], [0.0, float("nan"), 1.0], np.array(["a", None, "b"], object)])
def test_a_missing_label_is_no_class(tmp_path, y):
    X = np.arange(9.0).reshape(3, 3)
    with pytest.raises(DataError, match="y has no label for case number 1"):
        from_arrays(X, y, good="b" if isinstance(y[0], str) else None)
    if isinstance(y[0], float):
        np.savez(tmp_path / "x.npz", X=X, y=np.array(y))
        with pytest.raises(DataError, match="case '1': the case has no label"):
            read(tmp_path / "x.npz")


def test_a_label_that_reads_like_a_missing_one_is_told(file):
    text = HEAD + "a,0,1,good\nb,0,3,bad\nc,0,2,NaN\n"
    for good in (None, "good"):
        (problem,) = told(inspect(file("x.csv", text), good=good)[1], "odd-label")
        assert problem.what == "the label 'NaN' is taken for the name of a class"


def test_names_and_labels_in_bytes_are_texts(tmp_path):
    np.savez(
        tmp_path / "x.npz", X=np.arange(6.0).reshape(2, 3), y=np.array([b"bad", b"good"]), cases=np.array([b"a", b"b"])
    )
    data = read(tmp_path / "x.npz")
    assert data.classes == ("bad", "good")
    assert data.cases == ("a", "b")


def test_a_sample_of_a_line_without_end_is_refused(tmp_path):
    (tmp_path / "line.csv").write_bytes(b"case,v\n" + b"1," * 10_000_000)
    with pytest.raises(DataError, match="come without a line end"):
        sample_file(tmp_path / "line.csv", tmp_path / "part.csv")
