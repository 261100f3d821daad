"""Traces with a label at every sample, from arrays and from files of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from fernn.errors import DataError
from fernn.mining import inspect_fault_marks, mark_faults, read_fault_marks, tank

ROWS = "case,time,v,{}\na,0,1,{}\na,1,2,{}\na,2,3,{}\nb,0,4,{}\nb,1,5,{}\n"


@pytest.fixture
def wrote(tmp_path):
    def write(text, name="plant.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def kinds(problems):
    return [(p.kind, p.severity) for p in problems]


@pytest.mark.parametrize(
    "cells",
    ["0 1 1 0 0", "false true true false false", "False True True False False", "ok fault fault ok ok",
     "normal anomaly anomaly normal normal", "0.0 1.0 1 0 0", "good BAD BAD good good", "no yes yes no no"],
)  # fmt: skip
def test_usual_marks_are_understood(wrote, cells):
    made = read_fault_marks(wrote(ROWS.format("state", *cells.split())), "state", quiet=True)
    assert made.data.channels == ("v",)
    assert [row.tolist() for row in made.faulty] == [[False, True, True], [False, False]]
    assert made.data.cases == ("a", "b")
    assert made.data.dt == 1


def test_other_marks_are_named(wrote):
    file = wrote(ROWS.format("state", "run", "Hot", "Hot", "run", "idle"))
    with pytest.raises(DataError, match=r"plant.csv, column 'state': cannot tell .* 'Hot', 'idle', 'run' .*--faulty"):
        read_fault_marks(file, "state")
    assert read_fault_marks(file, "state", "hot", quiet=True).flat.sum() == 2
    with pytest.raises(DataError, match=r"no row says 'idl' \(did you mean 'idle'\?\)"):
        read_fault_marks(file, "state", "idl")
    assert read_fault_marks(wrote(ROWS.format("state", *"01200")), "state", 2, quiet=True).flat.sum() == 1


def test_rows_in_any_order_keep_their_marks(wrote):
    text = "case,time,v,fault\na,2,3,0\na,0,1,1\nb,1,5,0\na,1,2,0\nb,0,4,1\n"
    made = read_fault_marks(wrote(text), "fault", quiet=True)
    assert [row.tolist() for row in made.faulty] == [[True, False, False], [True, False]]


@pytest.mark.parametrize(
    ("cells", "column", "says"),
    [
        ("0 1 1 0 0", "falt", "no column 'falt' (did you mean 'fault'?)"),
        ("0 0 0 0 0", "fault", "it is '0' on every row, so there is no fault"),
        ("ok ok ok ok ok", "fault", "there is no fault"),
        ("1 1 1 1 1", "fault", "nothing but faults"),
        ("0 1 nan 0 0", "fault", "line 4, column 'fault', case 'a': nothing says whether there is a fault"),
        ("0 1 ? 0 0", "fault", "--bad-rows skip"),
        ("nan nan nan nan nan", "fault", "no row says"),
    ],
)
def test_what_cannot_be_read_is_told_where_it_is(wrote, cells, column, says):
    with pytest.raises(DataError) as error:
        read_fault_marks(wrote(ROWS.format("fault", *cells.split())), column)
    assert says in str(error.value)


def test_a_row_without_a_mark_can_be_skipped(wrote):
    made, problems = inspect_fault_marks(wrote(ROWS.format("fault", *"01?00")), "fault", bad_rows="skip")
    assert made.data.lengths.tolist() == [2, 2]
    assert ("missing-mark", "warning") in kinds(problems)


def test_problems_of_the_channels_are_told_as_ever(wrote):
    file = wrote("case,time,v,fault\na,0,fast,0\na,1,2\na,2,,1\na,2,3,0\n")
    _, problems = inspect_fault_marks(file, "fault", nonfinite="error")
    assert {"text", "ragged-row", "missing", "duplicate-time"} <= {p.kind for p in problems}
    assert inspect_fault_marks(file.parent / "nowhere.csv", "fault")[1][0].kind == "not-found"


@pytest.mark.parametrize("text", ["t0,t1,t2,fault\n1,2,3,0\n4,5,6,1\n", "1,2,3,4\n5,6,7,8\n"])
def test_files_with_a_row_a_trace_are_refused(wrote, text):
    with pytest.raises(DataError, match="need a row a sample"):
        read_fault_marks(wrote(text), "fault")


def test_labels_of_traces_are_no_channel_and_steps_are_of_channels_only(wrote):
    file = wrote("case,time,v,label,fault\na,0,1,1,0\na,1,3,1,1\nb,0,1,0,0\n")
    made = read_fault_marks(file, "fault", steps=True, quiet=True)
    assert made.data.channels == ("v", "v_diff")
    assert read_fault_marks(file, "fault", channels=["v", "label"], quiet=True).data.channels == ("v", "label")


def test_what_is_written_is_read_again(tmp_path):
    made = tank(cases=3, samples=20, seed=4)
    again = read_fault_marks(made.write_csv(tmp_path / "tank.csv"), "fault")
    assert again.data == made.data
    assert (again.flat == made.flat).all()
    assert again.fingerprint == made.fingerprint
    with pytest.raises(DataError, match="'valve' already"):
        made.write_csv(tmp_path / "tank.csv", "valve")


def test_archives_hold_a_mark_for_every_sample(tmp_path):
    rng = np.random.default_rng(0)
    X, bad = rng.normal(size=(3, 2, 5)), rng.random((3, 5)) < 0.5
    np.savez(tmp_path / "even.npz", X=X, bad=bad)
    assert (read_fault_marks(tmp_path / "even.npz", "bad").flat == bad.ravel()).all()
    np.savez(tmp_path / "uneven.npz", X=X.reshape(2, -1), lengths=[3, 12], bad=np.where(bad.ravel(), "fault", "ok"))
    assert [len(row) for row in read_fault_marks(tmp_path / "uneven.npz", "bad", quiet=True).faulty] == [3, 12]
    np.savez(tmp_path / "wrong.npz", X=X, bad=bad[:, 0], gaps=np.where(bad, 1.0, np.nan))
    for column, says in (("bad", "15 samples together"), ("gaps", "nothing but faults"), ("good", "no array 'good'")):
        with pytest.raises(DataError, match=says):
            read_fault_marks(tmp_path / "wrong.npz", column)


def test_parquet_holds_marks_too(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"case": ["a"] * 4, "time": range(4), "v": [1.0, 2, 3, 4], "bad": [False, True, True, False]}
    )
    frame.write_parquet(tmp_path / "plant.parquet")
    assert read_fault_marks(tmp_path / "plant.parquet", "bad", quiet=True).faulty[0].tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_marks_fit_their_traces():
    X = np.zeros((2, 5))
    for faulty, says in (
        (np.zeros((1, 5)), "2 traces need as many rows"),
        (np.zeros((2, 4)), "5 samples"),
        (np.full((2, 5), 0.5), "found 0.5|found np.float64"),
    ):
        with pytest.raises(DataError, match=says):
            mark_faults(X, faulty)


def test_the_tolerance_leaves_out_samples_on_both_sides_of_an_edge():
    made = mark_faults(np.zeros((1, 10)), [[0, 0, 0, 1, 1, 1, 1, 1, 0, 0]])
    assert np.flatnonzero(~made.counted(1)[0]).tolist() == [2, 3, 7, 8]
    assert made.counted(0)[0].all()
    assert np.flatnonzero(made.counted(3)[0]).tolist() == []


def test_copies_and_groups_stay_together():
    X = np.random.default_rng(0).normal(size=(8, 6))
    X[1] = X[0]
    made = mark_faults(X, X > 0, groups=[0, 1, 2, 2, 3, 3, 4, 5])
    for train, held in made.folds(3):
        for one, other in ((0, 1), (2, 3), (4, 5)):
            assert (str(one) in held.data.cases) == (str(other) in held.data.cases)
        assert len(train) + len(held) == 8
        assert [row.tolist() for row in held.faulty] == [(t[0] > 0).tolist() for t in held.data.values]
