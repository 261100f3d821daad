"""A folder of files judged on workers, each of which reads its own."""

import subprocess
import sys

import numpy as np
import pytest

from fernn import parse
from fernn.data.streaming import Stream, open_source
from fernn.data.streaming.stratified_sample import sample_stream
from fernn.data.streaming.stream_summary import summarize_stream
from fernn.engines import resolve_engine
from fernn.engines.resolve import close_all
from fernn.errors import DataError
from fernn.learners.base import Entry, Front
from fernn.runs.out_of_core import judge_by_parts, judge_on_all, judge_on_all_by_parts, summarize_by_parts
from fernn.semantics.stream_evaluation import evaluate_file, evaluate_stream, trace_verdicts

pl = pytest.importorskip("polars", reason="polars is not installed")
RULE = "G[0,30] (v <= 1.5) | F (w >= 2.9)"


@pytest.fixture
def folder(tmp_path):
    """Files that end in the middle of a trace."""
    random = np.random.default_rng(5)
    rows, length = 9_000, 60
    frame = pl.DataFrame({
        "case": np.arange(rows) // length, "time": np.arange(rows) % length * 0.1,
        "v": random.normal(size=rows), "w": random.normal(size=rows),
        "label": np.repeat(random.integers(0, 2, rows // length), length),
    })  # fmt: skip
    (tmp_path / "drives").mkdir()
    for i, first in enumerate(range(0, rows, 2_350)):
        frame[first : first + 2_350].write_parquet(tmp_path / "drives" / f"{i}.parquet")
    return tmp_path / "drives"


@pytest.fixture(scope="module")
def engine():
    yield resolve_engine("processes:2")
    close_all()


def test_the_files_add_up_to_the_folder(folder, engine):
    heard = []
    there = judge_by_parts(RULE, open_source(folder), engine=engine, progress=lambda done, of: heard.append((done, of)))
    here = evaluate_file(RULE, folder)
    assert there.judged.tally == here.tally
    assert there.judged.score == here.score
    assert there.complete
    assert heard == [(i, 4) for i in range(5)]


def test_a_file_that_cannot_be_read_is_named(folder, engine):
    (folder / "2.parquet").write_bytes(b"PAR1 not at all PAR1")
    with pytest.raises(DataError, match=r"2\.parquet"):
        judge_by_parts(RULE, open_source(folder), engine=engine)


def test_a_case_that_comes_back_in_a_later_file_is_refused(folder, engine):
    first = pl.read_parquet(folder / "0.parquet")
    first[180:240].write_parquet(folder / "9.parquet")
    wanted = r"9\.parquet line 1, case '3': rows of other .* began at line 181 of 0\.parquet.*sort\('case', 'time'\)"
    with pytest.raises(DataError, match=wanted):
        judge_by_parts(RULE, open_source(folder), engine=engine)
    with pytest.raises(DataError, match=wanted):
        evaluate_file(RULE, folder)


@pytest.mark.slow
def test_a_row_without_an_id_at_the_end_of_a_file_counts_no_case_twice(folder, engine):
    for number in (0, 1):
        frame = pl.read_parquet(folder / f"{number}.parquet").with_columns(pl.col("case").cast(pl.String))
        lost = frame[-1:].with_columns(pl.lit(None, pl.String).alias("case"))
        pl.concat([lost, frame, lost]).write_parquet(folder / f"{number}.parquet")
    for number in (2, 3):
        frame = pl.read_parquet(folder / f"{number}.parquet").with_columns(pl.col("case").cast(pl.String))
        frame.write_parquet(folder / f"{number}.parquet")
    options = {"bad_rows": "skip"}
    here = evaluate_file(RULE, folder, options)
    for rows in (None, 1, 97):
        assert judge_by_parts(RULE, open_source(folder, options), rows=rows, engine=engine).judged.tally == here.tally


def test_ids_that_are_whole_in_one_file_and_not_in_the_next_are_refused(folder):
    frame = pl.read_parquet(folder / "1.parquet")
    frame.with_columns(pl.col("case").cast(pl.Float64)).write_parquet(folder / "1.parquet")
    with pytest.raises(DataError, match="whole numbers in some files"):
        evaluate_file(RULE, folder)


def test_a_folder_is_looked_over_as_in_one_process_what_is_wrong_with_it_included(folder, engine):
    heard = []
    source = open_source(folder)
    here = summarize_stream(source)
    assert here[0] is not None
    assert summarize_by_parts(source, engine=engine, progress=lambda done, of: heard.append(done)) == here
    assert heard[:5] == [0, 1, 2, 3, 4]
    frame = pl.read_parquet(folder / "2.parquet")
    pl.concat([frame[:500], frame[500:600].with_columns(v=pl.lit(None, pl.Float64)), frame[600:]]).write_parquet(
        folder / "2.parquet"
    )
    frame[:0].write_parquet(folder / "1b.parquet")
    pl.read_parquet(folder / "3.parquet").with_columns(time=pl.lit(1.0)).write_parquet(folder / "3.parquet")
    source = open_source(folder)
    found, problems = summarize_stream(source, 200)
    assert found is None
    assert {p.file for p in problems if p.count == 1} == {"2.parquet", "2.parquet and 3.parquet"}
    assert summarize_by_parts(source, 200, engine) == (found, problems)


def test_an_error_is_told_as_in_one_process(folder, engine):
    frame = pl.read_parquet(folder / "2.parquet")
    frame.with_columns(v=pl.when(pl.int_range(pl.len()) == 77).then(None).otherwise("v")).write_parquet(
        folder / "2.parquet"
    )
    with pytest.raises(DataError) as here:
        evaluate_file(RULE, folder, {"nonfinite": "error"})
    with pytest.raises(DataError) as there:
        judge_by_parts(RULE, open_source(folder, {"nonfinite": "error"}), engine=engine)
    assert str(there.value) == str(here.value)
    assert "2.parquet" in str(here.value)


def test_every_trace_comes_back_in_order(folder, engine):
    lots = []
    judge_by_parts(RULE, open_source(folder), rows=500, engine=engine, each=lots.append)
    found = [trace_verdicts(each) for each in evaluate_stream(parse(RULE), Stream(open_source(folder)))]
    for k in range(4):
        assert [x for lot in lots for x in lot[k]] == [x for lot in found for x in lot[k]]


def test_what_is_learned_from_a_sample_is_judged_by_all_files(folder, engine):
    source = open_source(folder)
    rules = [parse("G (v <= 2)"), parse("F (w >= 1) & G (v <= 2.5)")]
    front = Front(tuple(Entry(rule, 2, 0.0, 0.0, 0.0, 0.0) for rule in rules), 1)
    some = sample_stream(source, 20_000).data
    assert judge_on_all_by_parts(front, some, source, engine) == judge_on_all(front, some, source)


def said(*words):
    run = [sys.executable, "-c", "from fernn.cli import main; main()", *map(str, words)]
    return subprocess.run(run, capture_output=True, text=True)


def heard(done):
    """What was said besides, but for how far it was."""
    return [line for line in done.stderr.splitlines() if not line.startswith("files ")]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [
    ["eval", RULE, "FOLDER", "--json"],
    ["eval", RULE, "FOLDER", "--time-units", "--out", "OUT"],
    ["eval", RULE, "FOLDER", "--nonfinite", "drop_case"],
    ["check", "FOLDER"],
])  # fmt: skip
def test_the_command_says_the_same_wherever_it_is_done(folder, tmp_path, asked):
    frame = pl.read_parquet(folder / "1.parquet")
    gap = pl.when(pl.int_range(pl.len()) == 99).then(None).otherwise("w")
    if "drop_case" in asked:
        frame.with_columns(w=gap).write_parquet(folder / "1.parquet")
    names = {"FOLDER": folder, "OUT": tmp_path / "rows.csv"}
    words = [names.get(word, word) for word in asked]
    here = said(*words)
    rows = names["OUT"].read_text() if "OUT" in asked else None
    there = said(*words, "--engine", "processes:2")
    assert there.returncode == here.returncode, there.stderr
    assert there.stdout == here.stdout
    assert heard(there) == heard(here)
    assert "on processes:2: 0 of 4" in there.stderr
    assert rows is None or names["OUT"].read_text() == rows


@pytest.mark.slow
def test_watching_is_the_same_wherever_it_is_done(folder, tmp_path):
    run = tmp_path / "run"
    learned = said(
        "learn", folder, "--sample", "0.05", "--max-length", "2", "--restarts", "4", "--out", run, "--engine",
        "processes:2", "-q",
    )  # fmt: skip
    assert learned.returncode == 0, learned.stderr
    assert "files judged by all on processes:2" in learned.stderr
    here, there = said("drift", run, folder, "--json"), said("drift", run, folder, "--json", "--engine", "processes:2")
    assert there.returncode == here.returncode, there.stderr
    assert there.stdout == here.stdout


@pytest.mark.slow
def test_a_single_file_is_read_here_and_that_is_said(folder):
    done = said("check", folder / "0.parquet", "--stream", "--engine", "processes:2")
    assert "one file, which is read here" in done.stderr
    assert done.stdout == said("check", folder / "0.parquet", "--stream").stdout
