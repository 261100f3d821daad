"""Disks that are full, folders that may not be written to, and links that lead elsewhere."""

import errno
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from fernn.cli import main
from fernn.data import atomic_write as atomic
from fernn.data import load, write_csv
from fernn.errors import FernnError, RunError, suppress_warnings
from fernn.learners import Fernn
from fernn.report.page import write_report
from fernn.runs import Run, load_job, new_folder, plan, run_job, start_job
from fernn.runs.rivals import try_seeds
from fernn.runs.run import folder_name

LEARN = ("learn", "d.csv", "--max-length", "2", "--restarts", "4", "--set", "rounds=2", "-q")


@pytest.fixture
def called(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_csv(load("cruise", cases=15), "d.csv")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["fernn", *words])
        capsys.readouterr()
        code = sys.modules[main.__module__]._code()
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def full_after(monkeypatch, count, number=errno.ENOSPC):
    """The disk has room for so many more files; the system does not say which one has none."""
    fsync, left = os.fsync, [count]

    def failing(handle):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", failing)


def test_a_full_disk_is_told_with_its_path_and_leaves_no_run(called, monkeypatch):
    full_after(monkeypatch, 0)
    code, out, err = called(*LEARN)
    assert (code, out) == (2, "")
    assert "cannot write to runs/cruise-1/settings.json: no space left on device." in err
    assert "--out" in err
    assert "None" not in err
    assert os.listdir() == ["d.csv"]


def test_a_disk_that_fills_up_while_it_learns_costs_the_run_and_not_the_rule(called, monkeypatch):
    full_after(monkeypatch, 2)  # the settings, and the folder that they lie in
    code, out, err = called(*LEARN)
    assert code == 0
    assert "G (v" in out
    assert "the run could not be kept (No space left on device: runs/cruise-1/" in err
    assert "--out" in err
    assert "run: " not in out
    assert os.listdir() == ["d.csv"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("words", [LEARN, ("demo", "--seconds", "0.1", "-q"), ("compare", "d.csv", "--splits", "1")])
def test_a_folder_that_may_not_be_written_to_is_told_with_what_to_do(called, monkeypatch, number, words):
    def refused(self, *_, **__):
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr(Path, "mkdir", refused)
    code, _, err = called(*words)
    assert code == 2
    folder = "comparison" if words[0] == "compare" else "runs"
    assert f"cannot write to {folder}: {os.strerror(number).lower()}. Choose another folder with --out." in err


def test_data_of_any_name_get_a_run_and_a_name_of_any_length_is_answered(called, tmp_path):
    assert len(os.fsencode(folder_name("é" * 500))) <= 200
    assert new_folder("../../" + "x" * 500, tmp_path / "runs").parent == tmp_path / "runs"
    assert folder_name("../..") == folder_name("/") == "run"
    code, _, err = called(*LEARN, "--out", "x" * 300)
    assert code == 2
    assert "file name too long. Choose another folder with --out" in err
    assert sorted(os.listdir()) == ["d.csv", "runs"]


@pytest.mark.slow
def test_a_comparison_stays_below_its_folder_whatever_the_data_are_called(called, tmp_path):
    write_csv(load("cruise", cases=15), "e.csv")
    text = Path("e.csv").read_text().replace('"name": "cruise"', '"name": "../../outside"')
    (tmp_path / "inner").mkdir()
    os.chdir("inner")
    Path("e.csv").write_text(text)
    assert '"name": "../../outside"' in text
    code, _, err = called("compare", "e.csv", "--methods", "exact", "--lengths", "1", "--splits", "1", "--baselines",
                          "majority", "-q")  # fmt: skip
    assert code == 0, err
    assert sorted(os.listdir()) == ["comparison", "e.csv"]
    assert not (tmp_path / "outside").exists()


def test_work_that_ends_in_an_error_leaves_no_empty_folder(called):
    code, _, _ = called(*LEARN, "--good", "nobody")
    assert code == 2
    code, _, err = called("learn", "d.csv", "--sample", "1", "--template", "G (w <= ?)", "-q")
    assert code != 0, err
    assert os.listdir() == ["d.csv"]
    os.mkdir("mine")
    assert called(*LEARN, "--template", "G (w <= ?)", "--out", "mine")[0] != 0
    assert os.listdir("mine") == []  # it was there before


def test_a_line_that_cannot_be_added_is_told_with_its_path(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*history\.jsonl'"):
        atomic.append_line(tmp_path / "history.jsonl", "{}")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run, and beside it a file that nobody may change through it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "victim").write_text("precious\n")
    with suppress_warnings():
        data = load("cruise", cases=15)
        write_csv(data, tmp_path / "d.csv")
        planned = plan("cruise", {}, "fernn", {"max_length": 2, "rounds": 1, "restarts": 4}, 0.2)
        run_job(start_job(load("cruise"), planned, "cruise", tmp_path / "run"))
    return tmp_path / "run"


def led_away(run, name):
    """The file becomes a link to the other one."""
    if (run / name).exists():
        (run / name).unlink()
    (run / name).symlink_to(run.parent / "victim")


def test_a_report_is_not_written_through_a_link(run):
    led_away(run, "report.html")
    with suppress_warnings():
        path = write_report(run)
    assert (run.parent / "victim").read_text() == "precious\n"
    assert not path.is_symlink()
    assert path.read_text().startswith("<!")


def test_a_report_that_is_asked_for_elsewhere_follows_the_users_own_link(run):
    (run.parent / "shared").mkdir()
    (run.parent / "latest.html").symlink_to(run.parent / "shared" / "report.html")
    with suppress_warnings():
        write_report(run, run.parent / "latest.html")
    assert (run.parent / "latest.html").is_symlink()
    assert (run.parent / "shared" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["history.jsonl", "front.json", "state.json", "certificate.json"])
def test_a_run_that_is_gone_on_with_is_not_written_through_links(run, name):
    (run / "front.json").write_text(json.dumps(json.loads((run / "front.json").read_text()) | {"ended": "interrupted"}))
    content = (run / name).read_bytes() if (run / name).exists() else b""
    if name in ("front.json", "state.json"):  # which are read as well
        shutil.copy(run / name, run.parent / "victim")
    before = (run.parent / "victim").read_bytes()
    led_away(run, name)
    with suppress_warnings():
        job = load_job(run)
        job.run.resume()
        fit = Fernn(max_length=2, rounds=2, restarts=4).fit(job.parts[0], job.run.record)
        job.run.finish(fit)
        job.run.add_notes((), {"certificate.json": {"schema": 1}})
    assert (run.parent / "victim").read_bytes() == before
    assert not (run / name).is_symlink()
    assert content != b"" or name == "certificate.json"


def test_lines_are_not_added_through_a_link(run):
    led_away(run, "seeds.jsonl")
    with suppress_warnings(), pytest.raises(RunError, match="symbolic link"):
        try_seeds(load_job(run), 1)
    assert (run.parent / "victim").read_text() == "precious\n"


def test_a_link_in_the_place_of_the_file_beside_is_not_written_through(tmp_path):
    """The name that new content is first written under could be known to whoever made the folder."""
    from threading import get_ident

    (tmp_path / "victim").write_text("precious\n")
    (tmp_path / f".front.json.{os.getpid()}-{get_ident()}.tmp").symlink_to(tmp_path / "victim")
    atomic.write_text(tmp_path / "front.json", "{}")
    assert (tmp_path / "victim").read_text() == "precious\n"
    assert (tmp_path / "front.json").read_text() == "{}"


@pytest.mark.slow
def test_a_comparison_is_not_written_through_links(called, tmp_path):
    words = (
        "compare",
        "d.csv",
        "--methods",
        "exact",
        "--lengths",
        "1",
        "--splits",
        "1",
        "--baselines",
        "majority",
        "-q",
    )
    assert called(*words)[0] == 0
    folder, elsewhere = next((tmp_path / "comparison").iterdir()), tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("README.md", "runs.csv"):
        (elsewhere / name).write_text("precious\n")
        (folder / name).unlink()
        (folder / name).symlink_to(elsewhere / name)
    if (folder / "figures").is_dir():
        shutil.rmtree(folder / "figures")
        (folder / "figures").symlink_to(elsewhere)
    assert called(*words)[0] == 0
    assert sorted(os.listdir(elsewhere)) == ["README.md", "runs.csv"]
    assert {file.read_text() for file in elsewhere.iterdir()} == {"precious\n"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("report", "run", "-o", "new/x.html"), ("plot", "run", "--kind", "front", "-o", "new/x.png"),
        ("eval", "G (v <= 3)", "d.csv", "--out", "new/x.csv"), ("generate", "cruise", "-o", "new/x.csv"),
        ("sample", "d.csv", "-o", "new/x.csv"), ("export", "G (v <= 3)", "--to", "c", "-o", "new/x.c"),
        ("params", "G (v <= ?c)", "d.csv", "--out", "new/x.json"), ("ask", "run", "-o", "new/x.csv"),
        ("params", "G (v <= ?c)", "d.csv", "--picture", "new/x.svg"),
    ],
)  # fmt: skip
def test_a_file_is_not_written_to_a_folder_that_is_not_there(run, called, words):
    code, out, err = called(*words)
    assert code in (2, 3)
    assert out == ""
    assert "cannot be written: there is no folder new" in err
    assert not Path("new").exists()


def test_a_run_that_cannot_be_created_is_refused_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FernnError, match="--out"):
        Run.create(tmp_path / "file" / "run", {}, load("cruise", cases=5))
