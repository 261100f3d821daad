"""A rule on data read in pieces says what it says of the dataset."""

import json
import os
import subprocess
import sys
import textwrap
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fernn import parse
from fernn.data import read
from fernn.data.streaming import open_source
from fernn.errors import FernnError, FormulaError
from fernn.semantics import robustness, satisfied, score
from fernn.semantics.running_metrics import count_verdicts, merge_metrics, resolve_labels
from fernn.semantics.stream_evaluation import count_parts, evaluate_file, evaluate_part, merge_parts

pl = pytest.importorskip("polars")
SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
FORMULAS = ["G (v <= 1)", "F[1,3] (w > 0)", "O (v >= 2) & H (w <= 2)", "(v >= 0) U[0,4] (w <= -1)", "v + 2*w >= 1"]


@pytest.fixture(autouse=True)
def _here(monkeypatch, request):
    """Files are not tried by another process first."""
    if "memory" not in request.node.name:
        monkeypatch.setattr(sys, "executable", "")


@st.composite
def recordings(draw):
    seed = draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    lengths = draw(st.one_of(st.just([4] * 9), st.lists(st.integers(1, 8), min_size=2, max_size=12)))
    rows = sum(lengths)
    cases = np.repeat([f"c{i}" for i in range(len(lengths))], lengths)
    labels = np.repeat([["bad", "good"][i % 2] for i in range(len(lengths))], lengths)
    values = random.integers(-3, 4, (2, rows)).astype(float)
    return pl.DataFrame({"case": cases, "v": values[0], "w": values[1], "label": labels})


def cut(frame, folder, cuts):
    for i, (low, high) in enumerate(pairwise([0, *sorted(cuts), frame.height])):
        frame[low:high].write_parquet(folder / f"{i:03}.parquet")


@SLOW
@given(frame=recordings(), text=st.sampled_from(FORMULAS), rows=st.integers(1, 50), data=st.data())
def test_counts_errors_and_closest_calls_are_those_of_the_dataset(frame, text, rows, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    whole = folder.parent / "whole.parquet"
    frame.write_parquet(whole)
    cut(frame, folder, data.draw(st.lists(st.integers(0, frame.height), max_size=3)))
    known = read(whole, quiet=True)
    values, holds = robustness(text, known), satisfied(text, known)
    for path in (whole, folder):
        found = evaluate_file(text, path, rows=rows)
        assert found.tally.traces == len(known)
        assert found.tally.samples == frame.height
        assert found.tally.satisfied == holds.sum()
        assert found.classes == known.classes
        assert found.score == score(text, known)
        assert found.tally.lowest.robustness == values.min()
        assert found.tally.lowest.case == known.cases[int(values.argmin())]
        order = np.lexsort((abs(values), holds == known.positive))
        assert [trace.case for trace in found.shown(5)] == [known.cases[i] for i in order[:5]]
        assert [trace.robustness for trace in found.shown(5)] == values[order[:5]].tolist()


@SLOW
@given(frame=recordings(), rows=st.integers(1, 50), data=st.data())
def test_parts_judged_one_by_one_add_up_to_the_whole(frame, rows, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    cut(frame, folder, data.draw(st.lists(st.integers(0, frame.height), max_size=4)))
    source = open_source(folder)
    told = [evaluate_part(source, number, "F (v >= 2)", rows=rows) for number in range(count_parts(folder))]
    assert merge_parts(json.loads(json.dumps(told)), source) == evaluate_file("F (v >= 2)", folder)


@given(st.lists(st.tuples(st.integers(-4, 4), st.sampled_from("abc")), min_size=1, max_size=90), st.data())
@settings(deadline=None)
def test_a_tally_does_not_know_where_it_was_cut(traces, data):
    values = np.array([value for value, _ in traces], float)
    labels = [label for _, label in traces]
    cases = [str(i) for i in range(len(traces))]
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(traces)), max_size=4))), len(traces)]
    pieces = [
        count_verdicts(cases[a:b], values[a:b], values[a:b] >= 0, labels[a:b], 3 * (b - a))
        for a, b in pairwise(cuts)
        if a < b
    ]
    whole = count_verdicts(cases, values, values >= 0, labels, 3 * len(traces))
    assert merge_metrics(pieces) == whole
    if {"a", "b"} <= set(labels):
        found = resolve_labels(whole, good="a", kind="class").score
        assert found.false_good == sum(value >= 0 and label != "a" for value, label in traces)
        assert found.false_bad == sum(value < 0 and label == "a" for value, label in traces)


@pytest.mark.slow
def test_many_different_numbers_are_real_labels_and_no_classes():
    count = 25_000
    labels = [str(i / 7) for i in range(count)]
    values = np.linspace(-1, 1, count)
    parts = [
        count_verdicts(
            labels[a : a + 5_000], values[a : a + 5_000], values[a : a + 5_000] > 0, labels[a : a + 5_000], 5_000
        )
        for a in range(0, count, 5_000)
    ]
    found = resolve_labels(merge_metrics(parts))
    assert found.classes == ()
    assert found.tally.traces == count
    assert len(found.tally.counts) == 2


def test_a_channel_that_is_not_there_is_told_before_anything_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("case,time,v\na,0,1\na,1,2\n")
    with pytest.raises(FormulaError, match="the formula reads 'speed', x has 'v'"):
        evaluate_file("G (speed <= 1)", path)


def test_a_sum_that_overflows_is_an_error_as_it_is_in_a_dataset(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("case,time,v,w\na,0,1e308,1e308\na,1,2,2\n")
    with pytest.raises(FernnError, match="overflows"):
        evaluate_file(parse("G (v + w <= 1)"), path)


MEASURED = textwrap.dedent("""
    import resource, sys
    from fernn.semantics.stream_evaluation import evaluate_file
    evaluate_file("G (v <= 4) & F (w >= 0)", sys.argv[1])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
""")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts otherwise")
def test_eight_times_the_data_take_no_more_memory(tmp_path):
    random = np.random.default_rng(0)
    rows, length = 800_000, 400
    frame = pl.DataFrame(
        {
            "case": np.repeat(np.arange(rows // length), length),
            "time": np.tile(np.arange(length) * 0.1, rows // length),
            "v": random.normal(size=rows),
            "w": random.normal(size=rows),
        }
    )
    used = []
    for files in (1, 8):
        folder = tmp_path / f"{files}"
        folder.mkdir()
        for i in range(files):
            shifted = frame.with_columns(case=pl.col("case") + i * rows)
            shifted.write_parquet(folder / f"{i}.parquet", row_group_size=100_000)
        told = subprocess.run(
            [sys.executable, "-c", MEASURED, str(folder)],
            capture_output=True, text=True, check=True, env=os.environ | {"POLARS_MAX_THREADS": "1"},
        )  # fmt: skip
        used.append(int(told.stdout.split()[-1]))
    columns = 7 * rows * 4 * 8 / 1024
    assert used[1] - used[0] < columns / 4, f"{used} kB"
