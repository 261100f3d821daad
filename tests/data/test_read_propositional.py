"""Trace files of LTL learners."""

import pytest

from fernn.data import inspect, read


def test_positive_traces_come_first(file):
    data = read(file("x.trace", "1,0;0,1;1,1\n0,0\n---\n1,1;0,0\n"), quiet=True)
    assert data.channels == ("p", "q")
    assert data.classes == ("negative", "positive")
    assert data.positive.tolist() == [True, True, False]
    assert [trace.tolist() for trace in data.values] == [[[1, 0, 1], [0, 1, 1]], [[0], [0]], [[1, 0], [1, 0]]]


def test_what_follows_the_traces_names_the_propositions_or_is_skipped(file):
    text = "1,0\n---\n0,1\n---\nF,G,!,&,|\n---\n"
    assert read(file("x.trace", text + "door,alarm\n"), quiet=True).channels == ("door", "alarm")
    assert read(file("x.trace", text + "3\n---\nF p\n"), quiet=True).channels == ("p", "q")
    many = ",".join("1" * 13)
    assert read(file("x.trace", f"{many}\n---\n{many}\n"), quiet=True).channels[12] == "p12"


def test_every_bad_line_is_told_with_its_place(file):
    data, problems = inspect(file("x.trace", "1,0;2,1\n1,0\n---\n0,1;0\n1,1::0\n1\n"))
    assert data is None
    assert {(p.kind, p.line) for p in problems} == {("letter", 1), ("width", 4), ("lasso", 5), ("width", 6)}


@pytest.mark.parametrize(("text", "kind"), [("1,0\n0,1\n", "no-dashes"), ("1,0\n---\n", "empty"), ("", "no-dashes")])
def test_both_kinds_are_needed(file, text, kind):
    assert [p.kind for p in inspect(file("x.trace", text))[1]] == [kind]
