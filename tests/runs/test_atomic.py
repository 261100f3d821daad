"""A file has its old content or its new one, whatever happens in between."""

from __future__ import annotations

import os

import pytest

from fernn.data import atomic_write as atomic


class Crash(BaseException):
    """The process ends here: nothing after it runs, not even what tidies up."""


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_crash_before_the_new_file_is_in_place_keeps_the_old_one(tmp_path, monkeypatch, moment):
    file = tmp_path / "state.json"
    atomic.write_text(file, "old")

    def crash(*_, **__):
        raise Crash

    monkeypatch.setattr(os, moment, crash)
    monkeypatch.setattr(type(file), "unlink", crash)
    with pytest.raises(Crash):
        atomic.write_text(file, "new" * 1000)
    monkeypatch.undo()
    assert file.read_text() == "old"
    atomic.write_text(file, "newer")
    assert file.read_text() == "newer"
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"], "what the crash left is gone"


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_text(tmp_path / "front.json", "{}")
    assert list(tmp_path.iterdir()) == []


def test_the_new_content_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (order.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("replace"), replace(a, b)))
    atomic.write_text(tmp_path / "front.json", "{}")
    assert order == ["fsync", "replace", "fsync"]


def test_a_line_cut_short_by_a_full_disk_is_taken_back(tmp_path, monkeypatch):
    file = tmp_path / "history.jsonl"
    atomic.append_line(file, "one")
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:2]))
    with pytest.raises(OSError, match="No space left"):
        atomic.append_line(file, "two")
    monkeypatch.undo()
    atomic.append_line(file, "three")
    assert file.read_text() == "one\nthree\n"
