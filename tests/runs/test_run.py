"""What a run keeps, and what it refuses."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from math import inf, isnan, nan

import pytest
from slow import FOUND, Slow, front_at

from fernn.data import load
from fernn.errors import DataError, RunError
from fernn.formula import parse
from fernn.learners import Entry, Enumerative, Front, Progress
from fernn.runs import Run, error, fit_in_run, new_folder, parts, run, run_folders
from fernn.runs.run import LOCK

DATA = load("cruise", cases=10)


def made(folder, data=DATA, **settings):
    return Run.create(folder, {"method": "fernn", "learner": settings}, data)


def test_a_finished_run_reads_back_what_was_learned(tmp_path):
    one = made(tmp_path / "a", seed=3)
    fit = fit_in_run(Slow(pause=0), DATA, one)
    one.finish(fit, [0.25] * len(fit.front))
    again = Run.open(tmp_path / "a")
    assert again.front() == fit.front
    assert again.test() == (0.25,) * len(fit.front)
    assert again.ended == "done"
    assert again.settings["learner"] == {"seed": 3}
    assert again.settings["schema"] == 1
    assert again.settings["data"]["fingerprint"] == DATA.fingerprint
    again.resume()
    assert again.state == fit.state
    for name in ("settings.json", "front.json", "state.json"):
        assert "Infinity" not in (tmp_path / "a" / name).read_text(), "JSON that every reader takes"


def test_the_history_has_a_line_for_every_formula_that_joined_the_front(tmp_path):
    one = made(tmp_path / "a")
    one.finish(fit_in_run(Slow(pause=0), DATA, one))
    rows = one.history()
    assert [row["formula"] for row in rows] == [f"G (v <= {threshold})" for *_, threshold in FOUND]
    assert [row["restarts"] for row in rows] == [step for step, *_ in FOUND]
    assert [row["length"] for row in rows] == [length for _, length, *_ in FOUND]
    assert rows == sorted(rows, key=lambda row: row["seconds"])
    assert {"train", "validation"} <= rows[0].keys()


def test_what_is_not_known_yet_is_null_and_infinity_a_word(tmp_path):
    entry = Entry(parse("G (v <= 3)"), 2, 0.1, nan, nan, inf)
    one = made(tmp_path / "a")
    one.record(Progress(1.0, 0.1, 1, Front((entry,), 0), {}))
    told = json.loads((tmp_path / "a" / "front.json").read_text(), parse_constant=pytest.fail)["entries"][0]
    assert (told["validation"], told["margin"]) == (None, "inf")
    back = one.front()[0]
    assert isnan(back.validation)
    assert back.margin == inf
    assert one.history()[0]["validation"] is None


def test_a_torn_last_line_is_left_out_and_cut_on_resume(tmp_path):
    one = made(tmp_path / "a")
    one.finish(fit_in_run(Slow(pause=0), DATA, one))
    whole = one.history()
    with open(tmp_path / "a" / "history.jsonl", "ab") as handle:
        handle.write(b'{"seconds": 9, "formula": "G (v \xe2\x89')
    again = Run.open(tmp_path / "a")
    assert again.history() == whole
    again.resume()
    assert again.history() == whole
    assert (tmp_path / "a" / "history.jsonl").read_text().count("\n") == len(whole)


def test_lines_later_than_the_state_are_cut_since_they_will_be_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", 1e9)  # the state of the first step only
    one = made(tmp_path / "a")
    with pytest.raises(MemoryError):
        fit_in_run(Slow(pause=0.002), DATA, one, broken_after(7))
    assert len(one.history()) == 3
    del one
    again = Run.open(tmp_path / "a")
    again.resume()
    assert again.state["step"] == 1
    assert len(again.history()) == 1
    fit = fit_in_run(Slow(pause=0.002), DATA, again)
    again.finish(fit)
    assert [row["formula"] for row in again.history()] == [f"G (v <= {threshold})" for *_, threshold in FOUND]
    assert again.front() == front_at(12)


def broken_after(steps):
    def watch(progress):
        if progress.restarts == steps:
            raise MemoryError

    return watch


def test_an_interrupted_learner_that_does_not_listen_keeps_its_last_front(tmp_path):
    def watch(progress):
        if progress.restarts == 7:
            raise KeyboardInterrupt

    for polite in (True, False):
        fit = fit_in_run(Slow(pause=0, polite=polite), DATA, None, watch)
        assert fit.ended == "interrupted"
        assert fit.front == front_at(7)
        assert fit.state["step"] == 7


def test_the_state_is_written_seldom_and_the_front_only_when_it_changed(tmp_path, monkeypatch):
    now, written = [0.0], []
    monkeypatch.setattr(run, "monotonic", lambda: now[0])
    monkeypatch.setattr(run, "write_text", lambda path, text: written.append((now[0], path.name)))
    one = Run(tmp_path, {})
    for tick in range(41):  # ten seconds, four times a second
        now[0] = tick / 4
        one.record(Progress(now[0], 0.1, tick, front_at(5 if tick < 20 else 12), {}))
    states = [at for at, name in written if name == "state.json"]
    assert states[0] == 0
    assert all(0.5 <= b - a <= 1 for a, b in pairwise(states))
    assert [at for at, name in written if name == "front.json"] == [0, 5]


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(RunError, match="there is no folder"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(RunError, match="is not a run"):
        Run.open(tmp_path)
    (tmp_path / "settings.json").write_text('{"editor": "dark"}')
    with pytest.raises(RunError, match="is not a run"):
        Run.open(tmp_path)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(RunError, match="is not JSON"):
        Run.open(tmp_path)
    (tmp_path / "settings.json").write_text('{"schema": 99, "data": {}}')
    with pytest.raises(RunError, match=r"schema 99.*Update fernn"):
        Run.open(tmp_path)


def test_a_run_is_never_written_over(tmp_path):
    made(tmp_path / "a")
    with pytest.raises(RunError, match="--resume --out"):
        made(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("")
    with pytest.raises(RunError, match="other files"):
        made(tmp_path / "b")
    (tmp_path / "c").write_text("")
    with pytest.raises(RunError, match="is a file"):
        made(tmp_path / "c")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / ".settings.json.tmp").write_text("left by a crash")
    made(tmp_path / "d")


def test_other_data_is_refused(tmp_path):
    one = made(tmp_path / "a")
    one.check(DATA)
    with pytest.raises(DataError, match="not the data of the run"):
        one.check(load("cruise", cases=10, seed=1))


def test_one_process_at_a_time_writes_a_run(tmp_path):
    one = made(tmp_path / "a")
    with pytest.raises(RunError, match="another process"):
        Run.open(tmp_path / "a").resume()
    one.finish(fit_in_run(Slow(pause=0), DATA, one))
    Run.open(tmp_path / "a").resume()


def test_where_folders_cannot_be_locked_a_file_in_them_is(tmp_path, monkeypatch):
    """As on Windows: `fcntl` is not there."""
    pytest.importorskip("filelock", reason="filelock is not installed")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    test_one_process_at_a_time_writes_a_run(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / LOCK).touch()  # left by a process that was killed
    made(tmp_path / "b")


def test_a_run_that_found_nothing_can_be_discarded(tmp_path):
    one = made(tmp_path / "a")
    one.discard()
    assert not (tmp_path / "a").exists()
    two = made(tmp_path / "a")
    two.finish(fit_in_run(Slow(pause=0), DATA, two))
    two.discard()
    assert Run.open(tmp_path / "a").front() == front_at(12), "one that found something stays"


def test_new_folders_are_numbered(tmp_path):
    assert new_folder("my data/x", tmp_path / "runs").name == "my-data-x-1"
    second = new_folder("my data/x", tmp_path / "runs")
    assert second.name == "my-data-x-2"
    made(second)
    assert run_folders(tmp_path / "runs") == [second]


def test_the_settings_on_disk_are_plain(tmp_path):
    made(tmp_path / "a", guesses=["G (v <= 3)"])
    assert json.loads((tmp_path / "a" / "settings.json").read_text())["learner"]["guesses"] == ["G (v <= 3)"]


def test_the_test_part_is_not_learned_on():
    train, held = parts(DATA, 0.3, seed=1)
    assert not set(train.cases) & set(held.cases)
    assert len(train) + len(held) == len(DATA)
    assert parts(DATA, 0) == (DATA, None)


def test_the_error_of_real_labels_is_the_mean_distance():
    from fernn.data import from_arrays

    data = from_arrays([[1.0, 2.0], [3.0, 9.0]], [1.5, -1.0], channels=["v"], label_kind="real")
    assert error(parse("G (v <= 4)"), data) == (abs(2 - 1.5) + abs(-5 - -1)) / 2


def test_a_changed_certificate_is_not_repeated_in_the_notes(tmp_path):
    data = load("cruise", cases=12)
    fit = Enumerative(max_length=2, grid=2, folds=0).fit(data)
    run = Run.create(tmp_path / "run", {"method": "enumerative", "learner": {}}, data)
    run.finish(fit)
    (said,) = [note for note in run.notes if note.startswith("certificate: ")]
    assert said == fit.certificate.note
    path = tmp_path / "run" / "certificate.json"
    content = json.loads(path.read_text())
    for change in (
        {"statement": "It is always right."},
        {"certified": not content["certified"]},
        {"least": {"1": "nan"}},
    ):
        path.write_text(json.dumps(content | change))
        (said,) = [note for note in run.notes if note.startswith("certificate: ")]
        assert "cannot be relied on" in said
        assert "always right" not in said
    front = tmp_path / "run" / "front.json"
    front.write_text(front.read_text().replace("No formula of this space", "No formula whatever"))
    path.write_text(json.dumps(content))
    assert not any("whatever" in note for note in run.notes)
