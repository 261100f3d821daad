"""Reading in pieces gives the traces that reading as a whole does."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fernn.data import read
from fernn.data.streaming import Stream, can_stream, is_large, open_source
from fernn.data.streaming.spill import SpillTable
from fernn.data.streaming.stream_summary import StreamingMedian
from fernn.errors import DataError

pl = pytest.importorskip("polars")
SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(autouse=True)
def _here(monkeypatch, request):
    """Files are not tried by another process first, which takes longer than all else."""
    if "damaged" not in request.node.name:
        monkeypatch.setattr(sys, "executable", "")


@st.composite
def recordings(draw):
    """Rows of cases one after the other: unequal lengths, gaps, times in any order within a case, bare labels."""
    rows = []
    moments = draw(st.sampled_from([None, "even", "mixed"]))
    gaps, sparse = draw(st.booleans()), draw(st.booleans())
    for case in range(draw(st.integers(1, 7))):
        label = draw(st.sampled_from(["good", "bad"]))
        size = draw(st.integers(1, 9))
        order = draw(st.permutations(range(size))) if moments == "mixed" else range(size)
        for at, i in enumerate(order):
            value = draw(st.sampled_from([0.0, -0.0, 1.5, -2.25, 1e9]))
            missing = gaps and i > 0 and draw(st.integers(0, 4)) == 0
            row = {"case": f"c{case}", "v": None if missing else value, "w": float(draw(st.integers(-3, 3)))}
            row |= {} if moments is None else {"time": i * 0.5 + (0.1 if moments == "mixed" and i == 2 else 0)}
            rows.append(row | {"label": "" if sparse and at else label})
    return pl.DataFrame(rows, schema_overrides={"v": pl.Float64})


def as_read(path, **options):
    """As one dataset: case by case its values, and the label as text."""
    data = read(path, quiet=True, nonfinite="hold", label_kind="class", **options)
    labels = [data.classes[int(k)] for k in data.labels]
    return {case: (label, data.trace(case)) for case, label in zip(data.cases, labels, strict=True)}, data.dt


def as_streamed(path, rows, **options):
    stream = Stream(open_source(path, {"nonfinite": "hold", "good": "good", **options}), rows)
    found = {}
    for lot in stream:
        for case, label, trace in zip(lot.cases, lot.labels, lot.traces(), strict=True):
            assert case not in found
            found[case] = (label, trace)
    return found, stream.dt


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for case, (label, trace) in wanted.items():
        assert found[case][0] == label
        assert_array_equal(found[case][1], trace)
        assert_array_equal(np.signbit(found[case][1]), np.signbit(trace))


def has_both(frame):
    return {"good", "bad"} <= set(frame["label"])


@SLOW
@given(frame=recordings().filter(has_both), rows=st.integers(1, 40), steps=st.booleans())
def test_a_parquet_file_in_pieces_has_the_traces_of_the_whole(frame, rows, steps, tmp_path):
    path = tmp_path / "a.parquet"
    frame.write_parquet(path, row_group_size=7)
    wanted, dt = as_read(path, steps=steps)
    found, also = as_streamed(path, rows, steps=steps)
    assert_same(found, wanted)
    assert also == dt


@SLOW
@given(frame=recordings().filter(has_both), rows=st.integers(1, 40))
def test_a_text_file_in_pieces_has_the_traces_of_the_whole(frame, rows, tmp_path):
    path = tmp_path / "a.csv"
    frame.write_csv(path)
    wanted, dt = as_read(path)
    found, also = as_streamed(path, rows)
    assert_same(found, wanted)
    assert also == dt


@SLOW
@given(frame=recordings().filter(has_both), rows=st.integers(1, 40), data=st.data())
def test_a_folder_has_the_traces_of_its_files_one_after_the_other(frame, rows, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    cuts = sorted(data.draw(st.lists(st.integers(0, frame.height), max_size=4)))
    for i, (low, high) in enumerate(zip([0, *cuts], [*cuts, frame.height], strict=True)):
        frame[low:high].write_parquet(folder / f"{i}.parquet")
    whole = folder.parent / "whole.parquet"
    frame.write_parquet(whole)
    wanted, dt = as_read(whole)
    found, also = as_streamed(folder, rows)
    assert_same(found, wanted)
    assert also == dt
    parts = [as_streamed_part(folder, rows, i) for i in range(len(cuts) + 1)]
    assert_same({case: trace for part in parts for case, trace in part.items()}, wanted)
    assert sum(map(len, parts)) == len(wanted)


def as_streamed_part(folder, rows, number):
    stream = Stream(open_source(folder, {"nonfinite": "hold"}), rows, number)
    return {
        case: (label, trace)
        for lot in stream
        for case, label, trace in zip(lot.cases, lot.labels, lot.traces(), strict=True)
    }


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_a_wide_file_has_a_trace_on_every_row(tmp_path, rows):
    path = tmp_path / "wide.csv"
    lines = [f"{i},{i + 0.5},{'' if i % 3 == 0 else 2 * i},{'good' if i % 2 else 'bad'}" for i in range(11)]
    path.write_text("\n".join(["t0,t1,t2,label", *lines]))
    wanted, _ = as_read(path)
    found, _ = as_streamed(path, rows)
    assert_same(found, wanted)


@pytest.mark.parametrize("rows", [2, 3, 1000])
def test_a_file_without_a_case_column_is_one_case_and_a_folder_one_of_each_file(tmp_path, rows):
    folder = tmp_path / "drives"
    (folder / "late").mkdir(parents=True)
    for name, shift in (("a", 0), ("late/b", 5)):
        pl.DataFrame({"time": [0.0, 1.0, 2.0, 3.0], "v": [shift + 1.0, 2.0, 3.0, 4.0]}).write_parquet(
            folder / f"{name}.parquet"
        )
    lots = list(Stream(open_source(folder, {"label": None}), rows))
    assert [case for lot in lots for case in lot.cases] == ["a", "late/b"]
    (alone,) = Stream(open_source(folder / "a.parquet", {"label": None}), rows)
    assert_array_equal(alone.traces()[0], [[1.0, 2.0, 3.0, 4.0]])


@pytest.mark.parametrize("rows", [2, 4, 1000])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_case_whose_rows_are_scattered_is_refused_with_its_place_and_what_to_do(tmp_path, rows, ending):
    frame = pl.DataFrame({"drive": list("aabbccaa"), "t": [0, 1, 0, 1, 0, 1, 2, 3], "v": [1.0] * 8, "label": [1] * 8})
    path = tmp_path / f"x.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    wanted = (
        rf"x.{ending} line {8 if ending == 'csv' else 7}, case 'a': rows of other cases stand between .*"
        rf"Sort the rows by case first: polars.scan_{ending}\(IN\)\.sort\('drive', 't'\)\.sink_{ending}\(OUT\)\."
    )
    with pytest.raises(DataError, match=wanted):
        list(Stream(open_source(path, {"case": "drive", "time": "t"}), rows))


def test_a_row_without_a_case_does_not_end_the_case_around_it(tmp_path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"case": ["a", "a", None, "a", "b"], "v": [1.0, 2.0, 9.0, 3.0, 4.0]}).write_parquet(path)
    for rows in (1, 2, 3, 10):
        found = {}
        for lot in Stream(open_source(path, {"bad_rows": "skip"}), rows):
            found |= dict(zip(lot.cases, lot.traces(), strict=True))
        assert_array_equal(found["a"], [[1.0, 2.0, 3.0]])
        assert_array_equal(found["b"], [[4.0]])


def test_what_is_wrong_is_told_with_the_file_and_the_row(tmp_path):
    frame = pl.DataFrame({"case": ["a"] * 3 + ["b"] * 3, "v": [1.0, 2.0, 3.0, 4.0, None, 6.0]})
    frame[:3].write_parquet(tmp_path / "one.parquet")
    frame[3:].write_parquet(tmp_path / "two.parquet")
    with pytest.raises(DataError, match=r"two.parquet line 2, column 'v', case 'b': the value is missing"):
        list(Stream(open_source(tmp_path, {"nonfinite": "error"}), 2))


def test_files_of_a_folder_have_the_same_columns(tmp_path):
    pl.DataFrame({"case": ["a"], "v": [1.0]}).write_parquet(tmp_path / "one.parquet")
    pl.DataFrame({"case": ["b"], "w": [1.0]}).write_parquet(tmp_path / "two.parquet")
    with pytest.raises(DataError, match=r"two.parquet has other columns than one.parquet"):
        open_source(tmp_path)


def test_a_damaged_file_of_a_folder_is_named(tmp_path):
    pl.DataFrame({"case": ["a"], "v": [1.0]}).write_parquet(tmp_path / "one.parquet")
    (tmp_path / "two.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match=r"two.parquet is not a readable Parquet file"):
        open_source(tmp_path)


def test_a_file_is_large_where_its_columns_are_more_than_is_allowed(tmp_path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"case": ["a"] * 10_000, "v": [1.0] * 10_000}).write_parquet(path)
    size = path.stat().st_size
    assert 40 * size < 10_000 * 2 * 8
    assert is_large(path, 40 * size)
    assert not is_large(path, 1_000_000)
    assert is_large(tmp_path)
    assert not can_stream(tmp_path / "nothing.csv")


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 10), st.sampled_from([1, 2**58 + 3]))
@settings(deadline=None)
def test_a_key_that_comes_twice_is_found_however_little_is_kept_in_memory(numbers, at_once, apart):
    kept = SpillTable(at_once)
    keys = [number * apart for number in numbers]
    for i, key in enumerate(keys):
        kept.add([key], [i])
    first: dict[int, int] = {}
    pairs = [(first[key], i) for i, key in enumerate(keys) if first.setdefault(key, i) != i]
    assert (kept.first_duplicate() is None) == (not pairs)
    if pairs:
        assert kept.first_duplicate() == min(pairs, key=lambda pair: pair[1])
    assert sorted(np.concatenate([*kept.groups()]).tolist()) == sorted([key, i] for i, key in enumerate(keys))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60),
    st.integers(1, 12),
    st.integers(1, 9),
)
@settings(deadline=None, max_examples=40)
def test_going_through_numbers_a_few_times_finds_the_one_at_any_place(numbers, bits, kept):
    values = np.array(numbers) + 0.0
    for rank in (0, (len(values) - 1) // 2, len(values) // 2, len(values) - 1):
        middle = StreamingMedian(bits, kept)
        for step in range(65):
            for part in np.array_split(values, 3):
                middle.take(part)
            if step == 0:
                middle.rank = rank
            middle.narrow()
            if middle.value is not None:
                break
        assert middle.value == np.sort(values)[rank]
