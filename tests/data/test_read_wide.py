"""Wide files: one row a trace."""

import pytest

from fernn.data import inspect, read
from fernn.errors import FernnWarning


def test_numbers_alone_are_traces_without_labels(file):
    with pytest.warns(FernnWarning, match="no column looks like a label"):
        data = read(file("x.csv", "1.5,2,3\n4,5,6.5\n"))
    assert data.values.tolist() == [[[1.5, 2, 3]], [[4, 5, 6.5]]]
    assert data.labels is None
    assert read(file("x.csv", "1.5,2,3\n4,5,6.5\n"), label=None) == data


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1.5,2.5,good\n3.5,4.5,bad\n", "label"),
        ("good,1.5,2.5\nbad,3.5,4.5\n", "label"),
        ("1,1.5,2.5\n0,3.5,4.5\n", "label"),
        ("1.5,2.5,1\n3.5,4.5,0\n", "label"),
        ("1.5 2.5 1\n3.5 4.5 -1\n", "last"),
        ("1;1.5;2.5\n0;3.5;4.5\n", "first"),
        ("t0,t1,label\n1.5,2.5,ok\n3.5,4.5,fail\n", "label"),
        ("0,1,verdict\n1.5,2.5,1\n3.5,4.5,0\n", "verdict"),
        ("id,t0,t1,label\na,1.5,2.5,ok\nb,3.5,4.5,fail\n", "label"),
    ],
)
def test_the_label_may_be_first_or_last_with_or_without_a_header(file, text, label):
    data = read(file("x.csv", text), label)
    assert data.values.tolist() == [[[1.5, 2.5]], [[3.5, 4.5]]]
    assert data.positive.tolist() == [True, False]


def test_a_header_that_counts_samples_is_told(file):
    path = file("x.csv", "0,1,2\n5,6,7\n8,9,9\n")
    with pytest.warns(FernnWarning, match="taken for a header"):
        assert len(read(path, label=None)) == 2
    assert len(read(path, label=None, header=False)) == 3


def test_the_channel_can_be_named(file):
    data = read(file("x.csv", "1.5,2,3\n4,5,6.5\n"), label=None, channels=["v"], dt=0.5, unit="s")
    assert (data.channels, data.dt, data.time_unit) == (("v",), 0.5, "s")


def test_empty_cells_at_the_end_mean_a_shorter_trace(file):
    data, problems = inspect(file("x.csv", "1,2,3\n4,5,\n"), label=None)
    assert [trace.tolist() for trace in data.values] == [[[1, 2, 3]], [[4, 5]]]
    assert [p.kind for p in problems] == ["unequal-lengths"]


def test_an_empty_cell_inside_is_a_missing_value(file):
    data, problems = inspect(file("x.csv", "1,,3\n4,5,6\n7,-inf,9\n"), label=None, nonfinite="error")
    assert data is None
    assert [(p.kind, p.line, p.column) for p in problems] == [("missing", 1, "2"), ("infinite", 3, "2")]


def test_rows_of_another_length_are_told_with_their_line(file):
    data, problems = inspect(file("x.csv", "1,2,3\n4,5\n6,7,8\n"), label=None)
    assert data is None
    assert str(problems[0]) == (
        "x.csv line 2: 2 fields, the first row has 3 (missing: '3'). Fix the row or pass --bad-rows skip."
    )
    assert len(read(file("x.csv", "1,2,3\n4,5\n6,7,8\n"), None, bad_rows="skip", quiet=True)) == 2
