"""Names tell the layout: words are channels, a run of numbers is the samples of a trace."""

import pytest

from fernn.data import inspect, read


def kinds(problems):
    return [p.kind for p in problems]


@pytest.mark.parametrize(
    ("text", "channels", "values"),
    [
        ("v,w\n1,2\n3,4\n5,6\n", ("v", "w"), [[1, 3, 5], [2, 4, 6]]),
        ("v\n1\n2\n3\n", ("v",), [[1, 2, 3]]),
        ("clock,v\n0,1\n1,3\n2,5\n", ("clock", "v"), [[0, 1, 2], [1, 3, 5]]),
    ],
)
def test_columns_named_by_words_are_channels_of_one_case_and_the_guess_is_told(file, text, channels, values):
    data, problems = inspect(file("drive.csv", text), label=None)
    assert (data.cases, data.channels, data.values.tolist()) == (("drive",), channels, [values])
    assert kinds(problems) == ["guessed-layout"]
    for flag in ("--layout", "--case-column", "--time"):
        assert flag in problems[0].fix


def test_a_label_beside_words_is_the_label_of_the_one_case(file):
    data, problems = inspect(file("x.csv", "v,label\n1,good\n2,good\n"))
    assert (data.values.tolist(), data.classes) == ([[[1, 2]]], ("good",))
    assert "guessed-layout" in kinds(problems)


def test_two_labels_without_a_case_column_ask_for_one(file):
    _, problems = inspect(file("x.csv", "v,label\n1,good\n2,bad\n"))
    assert problems[0].kind == "two-labels"
    assert "--case-column" in problems[0].fix
    assert "--layout wide" in problems[0].fix


@pytest.mark.parametrize("options", [{"layout": "tidy"}, {"case": "who"}, {"channels": ["v"]}, {"time": "w"}])
def test_what_was_asked_for_is_no_guess(file, options):
    assert inspect(file("x.csv", "who,v,w\n1,2,3\n2,3,4\n"), label=None, **options)[1] == ()


def test_a_column_of_seconds_is_the_time(file):
    data = read(file("x.csv", "sec,v\n0,1\n2,3\n4,5\n"), None)
    assert (data.channels, data.dt) == (("v",), 2.0)


@pytest.mark.parametrize("names", ["t0,t1,t2", "t_0,t_1,t_2", "0.0,0.1,0.2", "time 1 s,time 2 s,time 3 s"])
def test_names_that_count_time_up_are_samples(file, names):
    data, problems = inspect(file("x.csv", f"id,{names},label\na,1,2,3,ok\nb,4,5,7,bad\n"))
    assert data.values.tolist() == [[[1, 2, 3]], [[4, 5, 7]]]
    assert problems == ()


def test_few_numbered_names_might_be_channels_so_that_is_told(file):
    path = file("x.csv", "x_0,x_1\n1,2\n3,4\n")
    data, problems = inspect(path, label=None)
    assert len(data) == 2
    assert "--layout tidy" in problems[0].fix
    assert read(path, None, layout="tidy").channels == ("x_0", "x_1")


def test_wide_when_asked_for_whatever_the_names(file):
    assert len(read(file("x.csv", "v,w\n1,2\n3,4\n"), None, layout="wide")) == 2


@pytest.mark.parametrize("text", ["# time,v\n0,1\n2,3\n4,5\n", "# bench 7\n# time v\n0 1\n2 3\n4 5\n"])
def test_a_header_that_numpy_savetxt_wrote_as_a_comment(file, text):
    data, problems = inspect(file("x.csv", text), label=None)
    assert (data.channels, data.dt, data.values.tolist()) == (("v",), 2.0, [[[1, 3, 5]]])
    assert kinds(problems) == ["commented-header"]


def test_a_comment_is_no_header_above_a_header_or_when_told_so(file):
    assert read(file("x.csv", "# one,two\ntime,v\n0,1\n1,2\n"), None).channels == ("v",)
    assert len(read(file("x.csv", "# time,v\n0,1\n2,3\n4,5\n"), None, header=False)) == 3


@pytest.mark.parametrize("text", ["a,0,1.5,good\na,1,2.5,good\nb,0,1.5,bad\n"])
def test_tidy_rows_without_a_header_ask_for_one(file, text):
    data, problems = inspect(file("x.csv", text))
    assert data is None
    assert kinds(problems) == ["no-header"]
    assert "case,time,v,label" in problems[0].fix


def test_a_first_row_taken_for_names_is_doubted_when_it_holds_numbers(file):
    _, problems = inspect(file("x.csv", "a,north,1.5,good\na,north,2.5,good\n"))
    assert problems[0].kind == "no-label-column"
    assert "write a line of names above it" in problems[0].fix


def test_columns_without_a_name_are_told(file):
    text = "case,time,v,,label\na,0,1,7,good\na,1,2,8,good\nb,0,3,9,bad\nb,1,4,9,bad\n"
    data, problems = inspect(file("x.csv", text))
    assert data.channels == ("v",)
    assert kinds(problems) == ["unnamed-column"]
    assert "column 4" in problems[0].what
    assert inspect(file("x.csv", "case,time,v,,w\na,0,1,,2\na,1,2,,3\n"), label=None)[1] == ()


def test_an_index_column_that_pandas_wrote_is_not_a_sample(file):
    data, problems = inspect(file("x.csv", ",t0,t1\n0,1.5,2.5\n1,3.5,4.5\n"), label=None)
    assert data.values.tolist() == [[[1.5, 2.5]], [[3.5, 4.5]]]
    assert kinds(problems) == ["unnamed-column"]


@pytest.mark.parametrize("head", ["case,time,v,label\na,0,1,ok\na,1,2,ok\n", "t0,t1,label\n1,2,ok\n3,4,bad\n"])
def test_a_column_of_words_that_nobody_asked_for_is_left_out_and_told(file, head):
    data, problems = inspect(file("x.csv", head), label=None)
    assert data is not None
    assert [(p.kind, p.column) for p in problems] == [("text-column", "label")]
    assert "--channels" in problems[0].fix
