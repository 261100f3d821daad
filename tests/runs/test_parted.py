"""A folder of files judged on workers, each of which reads its own."""

import subprocess
import sys

import numpy as np
import pytest

from fernn.engine import engine_of
from fernn.engine.choosing import close_all
from fernn.errors import DataError
from fernn.runs.parted import judged_by_parts
from fernn.semantics.chunks import judged

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
    yield engine_of("processes:2")
    close_all()


def test_the_files_add_up_to_the_folder(folder, engine):
    heard = []
    there = judged_by_parts(RULE, str(folder), engine=engine, told=lambda done, of: heard.append((done, of)))
    here = judged(RULE, folder)
    assert there.judged.tally == here.tally
    assert there.judged.score == here.score
    assert there.complete
    assert heard == [(i, 4) for i in range(5)]


def test_a_file_that_cannot_be_read_is_named(folder, engine):
    (folder / "2.parquet").write_bytes(b"PAR1 not at all PAR1")
    with pytest.raises(DataError, match=r"2\.parquet"):
        judged_by_parts(RULE, str(folder), engine=engine)


def test_a_case_that_comes_back_in_a_later_file_is_refused(folder, engine):
    first = pl.read_parquet(folder / "0.parquet")
    first[:60].write_parquet(folder / "9.parquet")
    with pytest.raises(DataError, match="comes back in a later file"):
        judged_by_parts(RULE, str(folder), engine=engine)


def test_a_row_without_an_id_at_the_end_of_a_file_counts_no_case_twice(folder, engine):
    for number in (0, 1):
        frame = pl.read_parquet(folder / f"{number}.parquet").with_columns(pl.col("case").cast(pl.String))
        lost = frame[-1:].with_columns(pl.lit(None, pl.String).alias("case"))
        pl.concat([lost, frame, lost]).write_parquet(folder / f"{number}.parquet")
    for number in (2, 3):
        frame = pl.read_parquet(folder / f"{number}.parquet").with_columns(pl.col("case").cast(pl.String))
        frame.write_parquet(folder / f"{number}.parquet")
    options = {"bad_rows": "skip"}
    here = judged(RULE, folder, options)
    for rows in (None, 1, 97):
        assert judged_by_parts(RULE, str(folder), options, rows=rows, engine=engine).judged.tally == here.tally


def test_ids_that_are_whole_in_one_file_and_not_in_the_next_are_refused(folder):
    frame = pl.read_parquet(folder / "1.parquet")
    frame.with_columns(pl.col("case").cast(pl.Float64)).write_parquet(folder / "1.parquet")
    with pytest.raises(DataError, match="whole numbers in some files"):
        judged(RULE, folder)


def test_the_command_says_the_same_wherever_it_is_done(folder):
    def said(*more):
        words = [sys.executable, "-c", "from fernn.cli import main; main()", "eval", RULE, str(folder), "--json", *more]
        return subprocess.run(words, capture_output=True, text=True)

    here, there = said(), said("--engine", "processes:2")
    assert there.returncode == here.returncode, there.stderr
    assert there.stdout == here.stdout
