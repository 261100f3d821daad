"""Series files of aeon and sktime."""

import numpy as np
import pytest

from fernn.data import inspect, read

HEAD = """# made here
@problemName Small
@timeStamps false
@univariate false
@dimensions 2
@classLabel true ok bad
@data
"""


def test_channels_stand_between_colons_and_the_label_is_last(file):
    data = read(file("small.ts", HEAD + "1,2,3:4,5,6:ok\n-1,2.5e1,0:0,0,1:bad\n"), quiet=True)
    assert data.values.tolist() == [[[1, 2, 3], [4, 5, 6]], [[-1, 25, 0], [0, 0, 1]]]
    assert (data.channels, data.classes, data.cases) == (("x0", "x1"), ("bad", "ok"), ("1", "2"))
    assert data.positive.tolist() == [True, False]
    assert data.name == "small"


def test_lengths_may_differ_and_channels_may_be_named(file):
    path = file("small.ts", HEAD + "1,2:3,4:ok\n\n# between\n7:8:bad\n")
    data = read(path, channels=["v", "w"], dt=0.5, quiet=True)
    assert [trace.tolist() for trace in data.values] == [[[1, 2], [3, 4]], [[7], [8]]]
    assert (data.channels, data.dt) == (("v", "w"), 0.5)


def test_capitals_in_the_header_do_not_matter(file):
    head = "@PROBLEMNAME a\n@Univariate TRUE\n@EqualLength true\n@serieslength 2\n@ClassLabel true 1 2\n@DATA\n"
    data = read(file("a_TRAIN.ts", head + "1,2:1\n3,4:2.0\n"), quiet=True)
    assert data.values.tolist() == [[[1, 2]], [[3, 4]]]
    assert (data.classes, data.cases) == (("1", "2"), ("train-1", "train-2"))


def test_one_of_several_classes_is_set_against_the_rest(file):
    path = file("a.ts", "@univariate true\n@classLabel true a b c\n@data\n1:a\n2:b\n3:c\n4:b\n")
    data = read(path, good="B", quiet=True)
    assert (data.classes, data.positive.tolist()) == (("not b", "b"), [False, True, False, True])
    assert read(path, quiet=True).classes == ("a", "b", "c")
    assert [p.kind for p in inspect(path, good="d")[1]] == ["good"]


def test_a_header_of_classes_means_classes_however_many(file):
    names = [str(i) for i in range(1, 31)]
    rows = "".join(f"{i}:{i}\n" for i in names)
    data = read(file("a.ts", f"@univariate true\n@classLabel true {' '.join(names)}\n@data\n{rows}"), quiet=True)
    assert data.classes == tuple(names)
    assert data.labels.tolist() == list(range(30))
    path = file("b.ts", "@univariate true\n@classLabel true 1 2\n@data\n1:1\n2:2\n")
    assert read(path, label_kind="real", quiet=True).labels.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "good", "classes", "labels"),
    [
        ("1 2 3", None, ("1", "2", "3"), [1, 2, 1]),
        ("3 1 2", None, ("3", "1", "2"), [2, 0, 2]),
        ("1 2 3", "1", ("not 1", "1"), [0, 0, 0]),
        ("1 2 3", "2", ("not 2", "2"), [1, 0, 1]),
        ("3 2", None, ("2", "3"), [0, 1, 0]),
        ("2 3", 2, ("3", "2"), [1, 0, 1]),
        ("3.0 2.0", None, ("2.0", "3.0"), [0, 1, 0]),
    ],
)
def test_classes_are_those_of_the_header_whatever_cases_there_are(file, header, good, classes, labels):
    path = file("a.ts", f"@univariate true\n@classLabel true {header}\n@data\n5:2\n6:3\n7:2\n")
    data = read(path, good=good, quiet=True)
    assert (data.classes, data.labels.tolist()) == (classes, labels)


def test_a_good_class_that_is_not_in_the_header_is_an_error(file):
    path = file("a.ts", "@univariate true\n@classLabel true 1 2 3\n@data\n5:2\n")
    (problem,) = inspect(path, good="4")[1]
    assert (problem.kind, problem.severity) == ("good", "error")


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "a.ts"
    path.write_bytes(b"\xef\xbb\xbf@univariate true\r\n@classLabel true 1 2\r\n@data\r\n1,2:1\r\n3,4:2\r\n")
    assert read(path, quiet=True).values.tolist() == [[[1, 2]], [[3, 4]]]


def test_labels_may_be_real_or_absent_or_not_wanted(file):
    real = read(file("a.ts", "@univariate true\n@targetLabel true\n@data\n1,2:0\n3,4:1\n"), quiet=True)
    assert (real.classes, real.labels.tolist()) == ((), [0.0, 1.0])
    assert read(file("b.ts", "@univariate true\n@classLabel false\n@data\n1,2\n3,4\n"), quiet=True).labels is None
    path = file("c.ts", "@univariate true\n@classLabel true a b\n@data\n1:a\n2:b\n")
    assert read(path, label=None, quiet=True).labels is None


def test_a_question_mark_is_a_missing_value(file):
    path = file("a.ts", "@univariate true\n@classLabel true 1 2\n@data\n\n1,?,3:1\n4,5,6:2\n")
    data, problems = inspect(path, nonfinite="error")
    assert data is None
    assert [(p.kind, p.line, p.column, p.case) for p in problems] == [("missing", 5, "x", "1")]
    assert read(path, nonfinite="interpolate", quiet=True).values[0].tolist() == [[1, 2, 3]]
    assert read(path, nonfinite="drop_case", quiet=True).cases == ("2",)


def test_every_bad_row_is_told_with_its_line(file):
    rows = "1,2:3,4:ok\n1,2:ok\n1,x:2,3:ok\n1,2:3:ok\n1,2:3,4:okay\n1,2:3,4:\n1_0,2:3,4:ok\n(0,1):(0,2):ok\n"
    path = file("a.ts", HEAD + rows)
    told = {p.line: p.what for p in inspect(path)[1] if p.line}
    assert "1 channel before the label, expected 2" in told[9]
    assert "channel 0, value 1: 'x' is not a number" in told[10]
    assert "channel 1 has 1 value, channel 0 has 2" in told[11]
    assert "class 'okay' is not among those of @classLabel" in told[12]
    assert "(did you mean 'ok'?)" in told[12]
    assert "no label" in told[13]
    assert sum(p.count for p in inspect(path)[1]) == 7
    assert read(path, bad_rows="skip", quiet=True).cases == ("1",)


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("t,v\n0,1\n", "no-data", 1),
        ("@univariate true\n", "no-data", None),
        ("", "no-data", None),
        ("@univariate true\n@data\n", "empty", None),
        ("@timestamps true\n@data\n(0,1):1\n", "timestamps", 1),
        ("@dimensions two\n@data\n1\n", "header", 1),
        ("@univariate true\n@classLabel true\n@data\n1:1\n", "header", 2),
        ("@equalLength true\n@seriesLength 3\n@classLabel false\n@data\n1,2\n", "row", 5),
    ],
)
def test_a_header_that_does_not_fit_is_told(file, text, kind, line):
    data, problems = inspect(file("a.ts", text))
    assert data is None
    assert [(p.kind, p.line) for p in problems] == [(kind, line)]


def test_columns_cannot_be_asked_for(file):
    path = file("a.ts", "@univariate true\n@classLabel true 1 2\n@data\n1:1\n2:2\n")
    assert [p.kind for p in inspect(path, "quality", case="id")[1]] == ["no-columns", "no-columns"]
    assert [p.kind for p in inspect(path, channels=["a", "b"])[1]] == ["no-channel"]
    assert [p.kind for p in inspect(path, marks="fault")[1]] == ["wide-marks"]


def test_every_number_is_read_as_python_reads_it(file):
    cells = ["1", "-0.5", "1e-3", "+2", "8.6429E-4", "100000000000000000000", "0.1"]
    data = read(file("a.ts", f"@univariate true\n@classLabel false\n@data\n{','.join(cells)}\n"), quiet=True)
    assert np.array_equal(data.values[0, 0], [float(cell) for cell in cells])
