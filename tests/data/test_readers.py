"""One table of file formats, which every command reads, and to which other packages can add."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fernn
from fernn.data import FileFormat, inspect, register_reader
from fernn.data.readers import registry
from fernn.data.readers.registry import BUILT_IN, TEXT, file_format
from fernn.data.streaming import can_stream
from fernn.errors import DataError, UnsupportedError

LOG = "a ok 1 2 3\nb bad 7 8 9\nc ok 1 1 2\nd bad 9 9 9\n"
GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"
READER = GUIDE.read_text().partition("## Add a reader")[2].partition("```python\n")[2].partition("```")[0]
"""The reader by which the guide explains how one is added."""
MORE = """
from fernn.data import FileFormat

LOG = FileFormat("log", (".log",), read_log, is_text=True)
BROKEN = 3
"""
space: dict[str, Any] = {}
exec(READER, space)
read_log = space["read_log"]


@pytest.fixture
def log_file(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_formats", dict(registry._formats))
    register_reader(".LOG", read_log, is_text=True)
    path = tmp_path / "drive.log"
    path.write_text(LOG)
    return path


def test_a_reader_from_outside_reads_a_file(log_file):
    data = fernn.read(log_file, good="ok")
    assert data.name == "drive"
    assert data.cases == ("a", "b", "c", "d")
    assert data.classes == ("bad", "ok")
    assert data.trace("b").tolist() == [[7.0, 8.0, 9.0]]
    assert fernn.read(log_file, label=None).labels is None


def test_what_a_reader_from_outside_finds_wrong_is_told_with_its_place(log_file):
    log_file.write_text("a ok 1\nb\n")
    data, problems = inspect(log_file)
    assert data is None
    assert str(problems[0]) == "drive.log line 2: the row has no samples. Write a case, a label and numbers."
    log_file.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(DataError, match="a PNG image, not text"):
        fernn.read(log_file)


def test_a_reader_from_outside_is_not_read_in_pieces(log_file):
    assert not can_stream(log_file)


def test_a_suffix_has_one_reader(log_file):
    register_reader("log", read_log, is_text=True)  # the same once more
    with pytest.raises(UnsupportedError, match=r"\.csv files are read as text already"):
        register_reader(".csv", read_log)
    with pytest.raises(UnsupportedError, match=r"\.log files are read as log already"):
        register_reader((".log", ".other"), print)
    assert file_format(Path("x.other")) == TEXT
    with pytest.raises(UnsupportedError, match="at least one suffix"):
        register_reader((), read_log)


def test_every_format_has_a_reader_and_suffixes_of_its_own():
    suffixes = [suffix for form in BUILT_IN for suffix in form.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    for form in BUILT_IN:
        module, _, function = str(form.reader).partition(":")
        assert callable(getattr(__import__(f"fernn.data.readers{module}", fromlist=[function]), function))
        assert all(file_format(Path(f"x{suffix.upper()}")) is form for suffix in form.suffixes)
    assert file_format(Path("README")) is file_format(Path("x.nobody-knows")) is TEXT
    assert isinstance(TEXT, FileFormat)


def test_an_installed_package_brings_a_reader(tmp_path):
    (tmp_path / "logs_of_ours.py").write_text(READER + MORE)
    info = tmp_path / "logs_of_ours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: logs-of-ours\nVersion: 1.0\n")
    points = "[fernn.readers]\nbroken = logs_of_ours:BROKEN\nlog = logs_of_ours:LOG\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "drive.log").write_text(LOG)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import fernn\n"
        "from fernn.cli import main\n"
        "print(fernn.read('drive.log').cases)\n"
        "sys.argv = ['fernn', 'check', 'drive.log']\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "('a', 'b', 'c', 'd')" in ended.stdout
    assert "4 cases x 1 channel x 3 samples" in ended.stdout
    assert "'broken'" in ended.stderr
    assert "names a int, not a FileFormat" in ended.stderr
