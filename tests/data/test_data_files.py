"""What is written reads back equal: CSV, NPZ, and Parquet written by others."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from some_data import datasets

from fernn.data import from_arrays, inspect, load, read, save, write_csv
from fernn.errors import DataError


@given(datasets())
@settings(deadline=None)
def test_csv_gives_back_an_equal_dataset(data):
    with tempfile.TemporaryDirectory() as folder:
        assert read(write_csv(data, Path(folder) / "x.csv"), quiet=True) == data


@given(datasets())
@settings(deadline=None)
def test_npz_gives_back_an_equal_dataset(data):
    with tempfile.TemporaryDirectory() as folder:
        path = save(data, Path(folder) / "x.npz")
        assert load(path) == data
        assert read(path, quiet=True) == data


def test_the_note_yields_to_what_is_asked_for(tmp_path):
    data = from_arrays([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], good="b", dt=0.5, name="first")
    path = write_csv(data, tmp_path / "x.csv")
    again = read(path, good="a", name="second", dt=0.502)
    assert (again.classes, again.name, again.dt) == (("b", "a"), "second", 0.502)


def test_a_written_file_is_plain_csv_below_its_first_line(tmp_path):
    path = write_csv(from_arrays([[1.0, 2.5]], ["ok"], dt=0.1), tmp_path / "x.csv")
    assert path.read_text().splitlines()[1:] == ["case,time,x,label", "0,0.0,1.0,ok", "0,0.1,2.5,ok"]


@pytest.mark.parametrize("note", ["[]", "{", '{"classes": 3, "dt": -1, "layout": "odd"}'])
def test_a_strange_note_is_a_comment(file, note):
    assert read(file("x.csv", f"# fernn {note}\ncase,time,v\na,0,1\na,1,2\n"), label=None).dt == 1


def test_arrays_saved_by_others(tmp_path):
    X = np.arange(12.0).reshape(2, 2, 3)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([1, -1]), channels=["v", "w"], dt=0.1, cases=["a", "b"])
    data = read(tmp_path / "x.npz")
    assert np.array_equal(data.values, X)
    assert (data.classes, data.channels, data.dt, data.cases) == (("-1", "1"), ("v", "w"), 0.1, ("a", "b"))
    assert read(tmp_path / "x.npz", label=None, channels=["w"]).values.tolist() == X[:, 1:].tolist()


def test_gaps_in_arrays_are_told_and_repaired(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]))
    data, problems = inspect(tmp_path / "x.npz", nonfinite="error")
    assert data is None
    assert [(p.kind, p.case, p.column) for p in problems] == [("missing", "0", "x")]
    assert problems[0].what == "sample 1 is missing"
    assert read(tmp_path / "x.npz", nonfinite="interpolate", quiet=True).values[0, 0].tolist() == [1, 2, 3]


def test_pickled_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="pickled"):
        read(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Y": [1]}, "no array 'X'"),
        ({"X": [1.0]}, "shape"),
        ({"X": [["a"]]}, "numbers"),
        ({"X": np.ones((0, 2, 2))}, "no cases"),
        ({"X": np.ones((2, 2, 0))}, "no samples"),
        ({"X": np.ones((2, 0))}, "no samples"),
        ({"X": [[1.0], [2.0]], "y": ["good", ""]}, "case '1': the case has no label"),
    ],
)
def test_archives_of_other_things_are_told(tmp_path, arrays, message):
    np.savez(tmp_path / "x.npz", **{k: np.array(v) for k, v in arrays.items()})
    with pytest.raises(DataError, match=message):
        read(tmp_path / "x.npz")


def test_a_file_that_only_claims_to_be_an_archive(file):
    with pytest.raises(DataError, match="not an NPZ archive"):
        read(file("x.npz", b"hello"))


def test_parquet_is_read_as_tidy(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is optional")
    rows = {
        "case": [2, 2, 1, 1],
        "time": [0.1, 0.0, 0.0, 0.1],
        "v": [1, 2, 3, 4],
        "label": ["ok"] * 2 + ["bad"] * 2,
    }
    polars.DataFrame(rows).write_parquet(tmp_path / "x.parquet")
    data = read(tmp_path / "x.parquet")
    assert data.values.tolist() == [[[2, 1]], [[3, 4]]]
    assert (data.cases, data.classes, data.dt) == (("2", "1"), ("bad", "ok"), 0.1)


def test_gaps_in_parquet_are_told_with_their_row(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is optional")
    polars.DataFrame({"case": ["a", "a"], "time": [0, 1], "v": [1.0, None]}).write_parquet(tmp_path / "x.parquet")
    problems = inspect(tmp_path / "x.parquet", label=None, nonfinite="error")[1]
    assert [(p.kind, p.line, p.case) for p in problems] == [("missing", 2, "a")]


def test_a_file_that_only_claims_to_be_parquet(file):
    pytest.importorskip("polars", reason="polars is optional")
    with pytest.raises(DataError, match="not a readable Parquet"):
        read(file("x.parquet", b"hello"))


def test_saving_elsewhere_than_npz_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"\.npz"):
        save(from_arrays([[1.0]]), tmp_path / "x.csv")
