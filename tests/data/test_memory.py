"""Reading keeps to the memory limit, or says early that it cannot: measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fernn.data import inspect, read
from fernn.data.file_checks import text_memory

LIMIT = 20_000_000
MORE = 64_000_000  # bytes that are not for the file's sake: a block of rows as text, lines as they are looked at
READ = """
import sys
from fernn.data import inspect
from fernn.cli.main import app

def most():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1000 for line in lines if line.startswith("VmHWM"))

small, file, limit, command = sys.argv[1:]
if command == "read":
    inspect(small)
    before = most()
    data, problems = inspect(file, memory_limit=int(limit))
    told = "" if data is not None else str(problems[0])
else:
    app([command, small, "--stream"], standalone_mode=False)
    before = most()
    told = app([command, file, "--memory-limit", limit], standalone_mode=False)
print(most() - before, told)
"""
SHAPES = {
    "tidy": ("case,time,v,w,label\n", lambda i: f"c{i // 100},{i % 100},0.{i % 9973},{i % 7},{i // 100 % 2}\n"),
    "short": ("case,t,v,label\n", lambda i: f"{i // 100},{i % 100},{i % 7},{i // 100 % 2}\n"),
    "wide": ("", lambda i: ",".join(str(k % 97 + 0.25) for k in range(i, i + 2000)) + f",{i % 2}\n"),
}


def written(path, shape, size):
    head, row = SHAPES[shape]
    with open(path, "w") as handle:
        written, i = handle.write(head), 0
        while written < size:
            written += handle.write(row(i))
            i += 1
    return path


def grown(tmp_path, file, limit, command="read"):
    small = written(tmp_path / "small.csv", "tidy", 20_000)
    words = [sys.executable, "-c", READ, str(small), str(file), str(limit), command]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    growth, _, rest = told.partition(" ")
    return int(growth), rest


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the peak of memory")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_needs_more_than_the_limit_is_refused_before_it_is_read(tmp_path, shape):
    file = written(tmp_path / "large.csv", shape, 18_000_000)  # on disk less than the limit
    growth, told = grown(tmp_path, file, LIMIT)
    assert growth < LIMIT
    assert "large.csv: reading this file of 18.0 MB takes about" in told
    assert "more than the memory limit (20.0 MB)" in told
    assert all(way in told for way in ("fernn sample", "--memory-limit BYTES", "--stream", "Parquet"))


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_takes_no_more_than_was_said(tmp_path, shape):
    file = written(tmp_path / "large.csv", shape, 6_000_000)
    limit = text_memory(file) + 1
    growth, told = grown(tmp_path, file, limit)
    assert told == ""
    assert growth < limit + MORE


@pytest.mark.slow
def test_in_pieces_a_file_larger_than_the_limit_keeps_to_it(tmp_path):
    file = written(tmp_path / "large.csv", "tidy", 30_000_000)
    growth, told = grown(tmp_path, file, LIMIT, "check")
    assert told == "0"
    assert growth < LIMIT + MORE


@pytest.mark.parametrize("content", [b"," * 30_000_000, b"1" * 30_000_000, b"v,w\n1,2\n" + b"7;" * 15_000_000])
def test_a_line_without_end_is_refused_after_a_look(tmp_path, content):
    file = tmp_path / "line.csv"
    file.write_bytes(content)
    growth, told = grown(tmp_path, file, 1_000_000_000)
    assert growth < LIMIT
    assert "8.0 MB come without a line end; no row of a table is so long" in told


@pytest.mark.slow
def test_a_table_of_forty_thousand_columns_is_read(tmp_path):
    names = ",".join(f"t{i}" for i in range(40_000))
    rows = [",".join(str((i + k) % 11 / 4) for i in range(40_000)) + f",{label}" for k, label in enumerate("abab")]
    file = tmp_path / "wide.csv"
    for text in ("\n".join([names + ",label", *rows]), "\n".join(rows)):
        file.write_text(text)
        data = read(file, good="b", quiet=True)
        assert data.values.shape == (4, 1, 40_000)
        assert data.values[2, 0, :3].tolist() == [0.5, 0.75, 1.0]
    file.write_text("\n".join([names + ",label", *rows[:2], rows[2].replace(",0.5,", ",half,", 1), rows[3]]))
    data, problems = inspect(file, good="b")
    assert data is None
    at = rows[2].split(",").index("0.5", 1)
    assert (problems[0].line, problems[0].column) == (4, f"t{at}")


def test_a_field_that_is_too_long_is_told_on_its_own_line(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("case,time,v,label\na,0,1,good\na,1," + "9" * 200_000 + ",good\nb,0,1,bad\n")
    _, problems = inspect(file)
    assert problems[0].line == 3
