"""Tidy files: one row a sample."""

import time

import numpy as np
import pytest

from fernn.data import inspect, read
from fernn.errors import FernnWarning, UnsupportedError

TIDY = """case,time,v,rpm,label
a,0.0,1.5,10,good
a,0.1,2.5,20,good
b,0.0,3.5,30,bad
b,0.1,4.5,40,bad
"""


def test_a_tidy_file_becomes_cases_by_channels_by_time(file):
    data = read(file("drive.csv", TIDY))
    assert data.values.tolist() == [[[1.5, 2.5], [10, 20]], [[3.5, 4.5], [30, 40]]]
    assert (data.cases, data.channels, data.classes) == (("a", "b"), ("v", "rpm"), ("bad", "good"))
    assert data.positive.tolist() == [True, False]
    assert (data.dt, data.name, data.groups) == (0.1, "drive", None)


def test_rows_in_any_order_give_the_same_traces(file):
    head, *rows = TIDY.splitlines()
    mixed = "\n".join([head, rows[1], rows[2], rows[0], rows[3]])
    assert np.array_equal(read(file("a.csv", mixed)).values, read(file("b.csv", TIDY)).values)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "|", ":"])
def test_the_delimiter_is_found_by_looking(file, delimiter):
    assert read(file("drive.csv", TIDY.replace(",", delimiter))) == read(file("drive.csv", TIDY))


def test_decimal_commas_when_asked_for(file):
    text = TIDY.replace(",", ";").replace(".", ",")
    assert read(file("drive.csv", text), decimal=",") == read(file("drive.csv", TIDY))


def test_windows_files_with_a_byte_order_mark(file):
    path = file("drive.csv", b"\xef\xbb\xbf" + TIDY.replace("\n", "\r\n").encode())
    assert read(path).cases == ("a", "b")


def test_columns_by_their_names(file):
    text = "who,when,v,w,verdict,car\n1,5,1,2,yes,k\n1,7,1,2,yes,k\n2,5,3,4,no,l\n2,7,3,4,no,l\n"
    data = read(file("x.csv", text), "verdict", case="who", time="when", channels=["w"], group="car", unit="ms")
    assert (data.channels, data.groups, data.dt, data.time_unit) == (("w",), ("k", "l"), 2.0, "ms")
    assert data.classes == ("no", "yes")


def test_a_label_on_one_row_of_the_case_is_enough(file):
    text = "case,time,v,label\na,0,1,1\na,1,2,\nb,0,3,\nb,1,4,0\n"
    assert read(file("x.csv", text)).positive.tolist() == [True, False]


def test_case_ids_stay_text(file):
    assert read(file("x.csv", "case,time,v\n007,0,1\n7,0,2\n"), label=None).cases == ("007", "7")


def test_a_file_without_a_case_column_is_one_case(file):
    data = read(file("drive.csv", "time,v\n0,1\n2,5\n4,3\n"), label=None)
    assert (data.cases, data.values.tolist(), data.dt) == (("drive",), [[[1, 5, 3]]], 2)


def test_without_times_the_order_of_the_rows_counts(file):
    data = read(file("x.csv", "case,v\na,1\na,3\nb,5\nb,4\n"), label=None)
    assert data.values.tolist() == [[[1, 3]], [[5, 4]]]
    assert data.dt is None


def test_iso_dates_are_seconds(file):
    text = "case,time,v\na,2024-01-01T00:00:00Z,1\na,2024-01-01T00:00:00.500Z,2\na,2024-01-01T00:00:01Z,3\n"
    data = read(file("x.csv", text), label=None)
    assert (data.dt, data.time_unit) == (0.5, "s")


def test_rounded_clocks_are_even_enough(file):
    rows = "\n".join(f"a,{i / 300:.4f},{i}" for i in range(50))
    with pytest.warns(FernnWarning, match="irregular"):
        assert read(file("x.csv", "case,time,v\n" + rows), label=None).dt is None
    rows = "\n".join(f"a,{i / 300:.6f},{i}" for i in range(50))
    assert read(file("x.csv", "case,time,v\n" + rows), label=None).dt == pytest.approx(1 / 300, rel=1e-4)


def test_real_valued_labels(file):
    text = "case,time,v,label\na,0,1,0.25\nb,0,2,-1.5\nc,0,3,7\n"
    assert read(file("x.csv", text)).labels.tolist() == [0.25, -1.5, 7.0]
    assert read(file("x.csv", text), label_kind="class").classes == ("-1.5", "0.25", "7")


@pytest.mark.parametrize(("how", "filled"), [("hold", [1, 1, 1, 5, 5]), ("interpolate", [1, 7 / 3, 11 / 3, 5, 5])])
def test_gaps_are_filled_as_asked(file, how, filled):
    text = "case,time,v\na,0,1\na,1,\na,2,nan\na,3,5\na,4,inf\n"
    assert read(file("x.csv", text), None, nonfinite=how, quiet=True).values[0, 0] == pytest.approx(filled)


def test_cases_with_gaps_are_dropped_when_asked(file):
    text = "case,time,v,label\na,0,1,0\na,1,NA,0\nb,0,1,1\nb,1,2,1\nc,0,3,0\nc,1,4,0\n"
    data, problems = inspect(file("x.csv", text), nonfinite="drop_case")
    assert data.cases == ("b", "c")
    assert "1 of 3 cases" in next(p.what for p in problems if p.kind == "dropped")


def test_bad_rows_are_skipped_when_asked(file):
    text = "case,time,v\na,0,1\na,1,2,EXTRA\na,2,oops\na,3,4\na,3,9\n"
    with pytest.warns(FernnWarning, match="line 3"):
        data = read(file("x.csv", text), None, bad_rows="skip")
    assert data.values.tolist() == [[[1, 4]]]


def test_quiet_is_quiet(file, recwarn):
    read(file("x.csv", "case,time,v,label\na,0,1,1\nb,0,2,1\n"), quiet=True)
    assert not recwarn.list


def test_quoted_cells_may_hold_anything(file):
    text = 'case,time,v,label\n"a, the\nfirst",0,1,good\n"say ""b""",0,2,bad\nc,0,x,bad\n'
    _, problems = inspect(file("x.csv", text))
    assert [(p.kind, p.line) for p in problems] == [("text", 5)]
    assert read(file("x.csv", text), bad_rows="skip", quiet=True).cases == ("a, the first", 'say "b"')


def test_comments_blank_lines_and_closing_delimiters_do_not_count(file):
    text = "# from the bench\n\ncase,time,v,\n\na,0,1,\na,1,2,\n\n"
    data = read(file("x.csv", text), label=None)
    assert (data.channels, data.values.tolist()) == (("v",), [[[1, 2]]])


@pytest.mark.parametrize(
    "options",
    [
        {"layout": "long"},
        {"decimal": "x"},
        {"bad_rows": "ask"},
        {"nonfinite": "foo"},
        {"delimiter": "::"},
        {"delimiter": '"'},
        {"dt": -1},
        {"dt": float("nan")},
        {"encoding": "utf-99"},
        {"encoding": "rot13"},
        {"memory_limit": 0},
    ],
)
def test_a_wrong_value_of_an_option_is_bad_usage_not_bad_data(file, options):
    with pytest.raises(UnsupportedError, match=next(iter(options))):
        inspect(file("drive.csv", TIDY), **options)


def test_a_hundred_thousand_rows_take_about_a_second_of_the_processor(file):
    rows = "".join(f"c{i // 100},{i % 100 / 10},{i % 37}.25,{i // 100 % 2}\n" for i in range(100_000))
    path = file("big.csv", "case,time,v,label\n" + rows)
    start = time.process_time()  # which a busy machine does not stretch
    assert len(read(path, quiet=True)) == 1000
    assert time.process_time() - start < 5
