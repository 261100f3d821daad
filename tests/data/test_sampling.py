"""A part of a large file: whole cases, each class by its share."""

import random
from io import BytesIO
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fernn.data import load, read, sample_file, write_csv
from fernn.data import sampling as stretching
from fernn.data.sampling import contiguous_rows
from fernn.errors import DataError, UnsupportedError


@pytest.fixture
def cruise(tmp_path):
    return write_csv(load("cruise", cases=40), tmp_path / "cruise.csv")


def test_a_sample_has_whole_cases_and_the_shares_of_the_classes(cruise, tmp_path):
    whole = read(cruise)
    taken = sample_file(cruise, tmp_path / "part.csv", cruise.stat().st_size // 4)
    part = read(taken.path)
    assert taken.path.stat().st_size <= cruise.stat().st_size // 4
    assert taken.met == {"normal": 40, "anomaly": 40}
    assert taken.kept == {name: int((part.labels == k).sum()) for k, name in enumerate(part.classes)}
    assert all(8 <= count <= 10 for count in taken.kept.values())
    assert part.classes == whole.classes
    for case, trace in zip(part.cases, part.values, strict=True):
        assert (whole.values[whole.cases.index(case)] == trace).all()


def test_a_sample_as_large_as_the_file_is_the_file(cruise, tmp_path):
    taken = sample_file(cruise, tmp_path / "part.csv", 10**9)
    assert taken.path.read_bytes() == cruise.read_bytes()


def test_the_same_seed_takes_the_same_cases_and_another_others(cruise, tmp_path):
    most = cruise.stat().st_size // 8
    made = [
        sample_file(cruise, tmp_path / f"{i}.csv", most, seed).path.read_bytes() for i, seed in enumerate((0, 0, 1))
    ]
    assert made[0] == made[1] != made[2]


def test_cases_whose_rows_are_scattered_stay_whole(tmp_path):
    rows = [f"{c},{t},{c * t}.5,{'bad' if c % 3 else 'good'}" for c in range(30) for t in range(20)]
    random.Random(0).shuffle(rows)
    path = tmp_path / "mixed.csv"
    path.write_text("case,time,x,label\n" + "\n".join(rows) + "\n")
    part = read(sample_file(path, tmp_path / "part.csv", path.stat().st_size // 3).path)
    assert 8 <= len(part) < 12
    assert set(part.lengths) == {20}


def test_a_rare_class_keeps_a_case_whatever_the_size(tmp_path):
    rows = [f"{c},{t},1.0,{'bad' if c == 77 else 'good'}" for c in range(200) for t in range(10)]
    path = tmp_path / "rare.csv"
    path.write_text("case,time,x,label\n" + "\n".join(rows) + "\n")
    taken = sample_file(path, tmp_path / "part.csv", 2000)
    assert taken.kept["bad"] == 1
    assert taken.kept["good"] > 10


def test_quoted_cells_may_hold_delimiters_and_line_ends(tmp_path):
    path = tmp_path / "quoted.csv"
    rows = [f'"run\n{c}, ä",{t},{c}.25,{"bad" if c % 2 else "good"}' for c in range(20) for t in range(5)]
    path.write_text("case,time,x,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    part = read(sample_file(path, tmp_path / "part.csv", path.stat().st_size // 2).path)
    assert set(part.lengths) == {5}
    assert all(case.startswith("run ") and case.endswith(", ä") for case in part.cases)


def test_of_a_wide_file_each_row_is_a_case(tmp_path):
    path = tmp_path / "wide.csv"
    rows = [",".join([*(f"{c}.{t}" for t in range(9)), "01"[c % 2]]) for c in range(50)]
    path.write_text("t0,t1,t2,t3,t4,t5,t6,t7,t8,label\n" + "\n".join(rows) + "\n")
    part = read(sample_file(path, tmp_path / "part.csv", path.stat().st_size // 2).path)
    assert 20 <= len(part) <= 25
    assert set(part.lengths) == {9}


def test_what_cannot_be_sampled_is_told_and_nothing_is_written(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("time,x,label\n0,1,a\n1,2,a\n")
    into = tmp_path / "part.csv"
    with pytest.raises(DataError, match="--case-column"):
        sample_file(path, into)
    with pytest.raises(DataError, match="cannot be read"):
        sample_file(tmp_path / "none.csv", into)
    with pytest.raises(DataError, match="no column 'verdict'"):
        sample_file(path, into, label="verdict")
    with pytest.raises(UnsupportedError, match="convert it first"):
        sample_file(path, into, encoding="utf-16")
    with pytest.raises(DataError, match=r"x\.npz: a sample is taken of tables as text"):
        sample_file(tmp_path / "x.npz", into)
    path.write_text("case,time,x,label\n")
    with pytest.raises(DataError, match="no row under it"):
        sample_file(path, into)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.csv"]


@given(
    st.lists(st.tuples(st.sampled_from(["a", "ab", "b", ""]), st.sampled_from(["1", "22"])), min_size=1), st.booleans()
)
def test_stretches_are_the_rows_of_the_file_whatever_the_blocks(rows, ends):
    text = "\n".join(f"{value},{case}" for case, value in rows) + "\n" * ends
    for block in (3, 7, 1 << 20):
        with mock.patch.object(stretching, "BLOCK_BYTES", block):
            found = list(contiguous_rows(BytesIO(text.encode()), ",", 1, 0))
        assert "".join(text[each.first : each.end] for each in found) == text
        for each in found:
            lines = text[each.first : each.end].splitlines()
            assert {line.split(",")[1] for line in lines} == {each.cells[1]}


def test_a_sample_that_is_all_says_so(cruise, tmp_path):
    assert "all of" in str(sample_file(cruise, tmp_path / "part.csv", 10**9))
    assert "80 cases" in str(sample_file(cruise, tmp_path / "part.csv", 10**9))
