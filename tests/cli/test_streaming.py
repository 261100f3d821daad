"""Commands on recordings that are read in pieces."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from fernn.data import load, write_csv

pl = pytest.importorskip("polars")
RULE = "G (v <= 34.3)"


def drives(folder):
    """Parquet files with column names of their own; bad traces exceed 2."""
    random = np.random.default_rng(7)
    count, length = 120, 10
    top = np.where(np.arange(count) % 3 == 0, 3.0, 1.5)
    frame = pl.DataFrame({
        "drive": np.repeat(np.arange(count), length), "t": np.tile(np.arange(length) * 0.5, count),
        "v": (random.uniform(0.8, 1, (count, length)) * top[:, None]).ravel(),
        "quality": np.repeat(np.where(top > 2, "bad", "ok"), length),
    })  # fmt: skip
    folder.mkdir()
    for i, low in enumerate(range(0, frame.height, 333)):
        frame[low : low + 333].write_parquet(folder / f"{i}.parquet")
    return frame


OPTIONS = ("--label", "quality", "--case-column", "drive", "--time", "t", "--good", "ok")


@pytest.fixture
def cruise(tmp_path, monkeypatch):
    """The simulated train as CSV, as Parquet and as a folder whose files cut through cases."""
    monkeypatch.setattr(sys, "executable", "")
    data = load("cruise", cases=30, seed=3)
    write_csv(data, tmp_path / "cruise.csv")
    frame = pl.read_csv(tmp_path / "cruise.csv", comment_prefix="#").drop("group")
    frame.write_csv(tmp_path / "cruise.csv")
    frame.write_parquet(tmp_path / "cruise.parquet")
    (tmp_path / "cruise").mkdir()
    for i, low in enumerate(range(0, frame.height, 1_111)):
        frame[low : low + 1_111].write_parquet(tmp_path / "cruise" / f"{i:03}.parquet")
    return data


@pytest.mark.parametrize("file", ["cruise.csv", "cruise.parquet", "cruise"])
@pytest.mark.parametrize("rows", ["17", "100000"])
def test_eval_in_pieces_gives_the_score_and_the_traces_of_eval(called, cruise, file, rows):
    whole = json.loads(called("eval", RULE, "cruise.parquet", "--json", "--no-stream", "--out", "a.csv").out)
    done = called("eval", RULE, file, "--json", "--stream", "--piece-rows", rows, "--out", "b.csv")
    told = json.loads(done.out)
    assert done.code == 1
    assert told["score"] == whole["score"]
    assert told["satisfied"] == whole["satisfied"]
    assert told["count"] == len(whole["traces"])
    assert told["complete"] is True
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert told["traces"] == whole["traces"]
    assert len(whole["traces"]) > 20  # more than are listed in text


def test_eval_lists_the_same_traces_first(called, cruise):
    whole = called("eval", RULE, "cruise.parquet", "--no-stream").out.splitlines()
    parts = called("eval", RULE, "cruise.parquet", "--stream").out.splitlines()
    assert parts[:24] == whole[:24]
    assert [line for line in parts if "MCR" in line] == [line for line in whole if "MCR" in line]


def test_a_file_larger_than_the_limit_is_read_in_pieces_by_itself(called, cruise):
    done = called("eval", RULE, "cruise.csv", "--memory-limit", "1000")
    assert "read in pieces" in done.out
    assert "read in pieces" not in called("eval", RULE, "cruise.csv").out


def test_check_in_pieces_shows_the_same_card(called, cruise):
    whole = json.loads(called("check", "cruise.parquet", "--json", "--no-stream").out)
    for file, rows in (("cruise.parquet", "23"), ("cruise", "1000000"), ("cruise.csv", "5000")):
        told = json.loads(called("check", file, "--json", "--stream", "--piece-rows", rows).out)
        assert told["card"] == whole["card"] | {"fingerprint": ""}


def test_check_in_pieces_tells_all_that_is_wrong(called, tmp_path):
    rows = [f"c{i},{t},{'' if i == 3 and t == 2 else t},{i % 2}" for i in range(6) for t in range(4)]
    rows[5] = "c1,1,what,1"
    (tmp_path / "x.csv").write_text("\n".join(["case,time,v,label", *rows]))
    whole = json.loads(called("check", "x.csv", "--json", "--no-stream").out)
    done = called("check", "x.csv", "--json", "--stream", "--piece-rows", "3")
    told = json.loads(done.out)
    assert done.code == 2
    places = [[(p["kind"], p["line"], p["column"], p["case"]) for p in each["problems"]] for each in (whole, told)]
    assert sorted(places[0]) == sorted(places[1])


def test_copies_and_contradictions_are_counted_in_pieces(called, tmp_path):
    random = np.random.default_rng(1)
    traces = random.integers(0, 3, (40, 3))
    rows = [f"c{i},{t},{v},{i % 2}" for i, trace in enumerate(traces) for t, v in enumerate(trace)]
    (tmp_path / "x.csv").write_text("\n".join(["case,time,v,label", *rows]))
    whole, told = (
        json.loads(called("check", "x.csv", "--json", flag).out)["card"] for flag in ("--no-stream", "--stream")
    )
    assert whole["contradictions"] > 0
    assert whole | {"fingerprint": ""} == told


def test_time_units_go_by_the_time_of_all_rows(called, tmp_path):
    rows = [f"c{i},{t / 4},{(7 * i + t) % 5},{i % 2}" for i in range(30) for t in range(9)]
    (tmp_path / "x.csv").write_text("\n".join(["case,time,v,label", *rows]))
    asked = ("eval", "F[0,1] (v >= 4)", "x.csv", "--time-units", "--json")
    whole, parts = (json.loads(called(*asked, flag).out) for flag in ("--no-stream", "--stream"))
    assert parts["formula"] == whole["formula"]
    assert parts["score"] == whole["score"]


def test_a_step_that_changes_later_is_an_error_where_windows_are_in_time_units(called, tmp_path):
    rows = [f"c{i},{t * (1 if i < 9000 else 2)},{t}" for i in range(9100) for t in range(4)]
    (tmp_path / "x.csv").write_text("\n".join(["case,time,v", *rows]))
    done = called("eval", "F[0,2] (v >= 3)", "x.csv", "--time-units", "--stream", "--piece-rows", "4000")
    assert done.code == 2
    assert "Pass --dt" in done.err


def test_what_cannot_be_read_in_pieces_says_so(called, tmp_path):
    np.savez(tmp_path / "x.npz", X=np.zeros((2, 1, 3)))
    done = called("eval", "G (x <= 1)", "x.npz", "--stream")
    assert done.code == 2
    assert "read as a whole" in done.err


def test_watch_in_pieces_says_what_watch_says(called, cruise):
    assert called("learn", "cruise.csv", "--max-length", "2", "--restarts", "4", "--out", "run", "-q").code == 0
    whole = json.loads(called("drift", "run", "cruise.parquet", "cruise.csv", "--json").out)
    asked = ("drift", "run", "cruise.parquet", "cruise.csv", "--json", "--stream", "--piece-rows", "777")
    assert json.loads(called(*asked).out) == whole


def test_what_was_counted_before_a_ctrl_c_is_given(called, cruise, monkeypatch):
    monkeypatch.setattr("fernn.cli.common_options.RowProgress.__call__", lambda self, stream: stream.cases >= 10)
    done = called("eval", RULE, "cruise.parquet", "--stream", "--piece-rows", "505", "--json", "--out", "x.csv")
    told = json.loads(done.out)
    assert done.code == 130
    assert "interrupted" in done.err
    assert told["complete"] is False
    assert 10 <= told["count"] < len(cruise)
    assert len(Path("x.csv").read_text().splitlines()) == told["count"] + 1
    assert len(told["traces"]) == told["count"]


def test_labels_of_all_traces_are_classes_in_pieces_too(called, tmp_path):
    rows = "".join(f"{i},0,{i},{('walk', 'run', 'sit')[i % 3]}\n" for i in range(40))
    (tmp_path / "x.csv").write_text(f"case,time,v,label\n{rows}")
    whole, parts = (
        json.loads(called("eval", "v >= 20", "x.csv", "--good", "sit", "--json", f).out)
        for f in ("--no-stream", "--stream")
    )
    assert parts["traces"] == whole["traces"]
    assert {trace["label"] for trace in whole["traces"]} == {"sit", "not sit"}


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_eval_on_an_engine_says_nothing_of_no_traces_after_an_early_ctrl_c(called, cruise, monkeypatch, flags):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fernn.runs.out_of_core.run_units", pressed)
    monkeypatch.setattr("fernn.engines.resolve._default", None)
    done = called("eval", RULE, "cruise", "--engine", "processes:1", *flags)
    assert done.code == 130
    assert done.err.splitlines()[-1].startswith("interrupted before any trace was judged")
    if flags:
        assert (json.loads(done.out)["count"], json.loads(done.out)["complete"]) == (0, False)
    else:
        assert done.out == ""


def test_watch_on_an_engine_says_nothing_of_no_traces_after_an_early_ctrl_c(called, cruise, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    called("learn", "cruise.csv", "--max-length", "1", "--restarts", "4", "--out", "run", "--no-report")
    monkeypatch.setattr("fernn.runs.out_of_core.run_units", pressed)
    monkeypatch.setattr("fernn.engines.resolve._default", None)
    done = called("drift", "run", "cruise", "--engine", "processes:1")
    assert (done.code, done.out) == (130, "")
    assert "interrupted before any trace was judged" in done.err


@pytest.mark.parametrize("engine", [(), ("--engine", "processes:1")])
def test_check_says_that_a_ctrl_c_leaves_nothing_to_say(called, cruise, monkeypatch, engine):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fernn.cli.common_options.RowProgress.__call__", lambda *_: True)
    monkeypatch.setattr("fernn.runs.out_of_core.run_units", pressed)
    monkeypatch.setattr("fernn.engines.resolve._default", None)
    done = called("check", "cruise", *engine)
    assert done.code == 130
    assert done.err.splitlines()[-1] == "interrupted: nothing can be said of a part"
    assert done.out == ""


def test_a_broken_file_of_a_folder_is_told_in_whole_words_and_one_without_bytes_is_called_empty(called, tmp_path):
    drives(tmp_path / "big")
    (tmp_path / "big" / "1.parquet").write_bytes(b"no parquet file")
    done = called("check", "big", *OPTIONS)
    assert done.code == 2
    assert "1.parquet is not a readable Parquet file (" in done.out
    told = done.out.split("Parquet file (")[1].split("). Check how")[0]
    assert told.endswith(("...", "PAR1 or PARE")), told
    (tmp_path / "big" / "1.parquet").write_bytes(b"")
    (tmp_path / "alone.parquet").write_bytes(b"")
    assert "1.parquet: the file is empty" in called("check", "big", *OPTIONS).out
    assert "alone.parquet: the file is empty" in called("check", "alone.parquet").out


def test_a_sample_of_a_folder_is_refused_with_the_commands_that_take_one(called, tmp_path):
    drives(tmp_path / "big")
    done = called("sample", "big", "-o", "part.csv", *OPTIONS)
    assert done.code == 3
    assert "big is a folder" in done.err
    assert "fernn learn takes a sample itself (--sample)" in done.err
    assert "eval, check, drift and learn read all" in called("compare", "big", *OPTIONS).err
    for command in ("eval", "check", "learn", "drift"):
        assert "Parquet files" in " ".join(called(command, "--help").out.split("--help")[0].split())


def test_a_file_that_cannot_be_written_is_called_by_its_own_name(called, cruise):
    for stream in ("--stream", "--no-stream"):
        done = called("eval", RULE, "cruise.csv", "--out", "nodir/x.csv", stream)
        assert done.code == 3
        said = "nodir/x.csv cannot be written: there is no folder nodir. Make it, or name another file."
        assert done.err.splitlines()[-1] == said


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_a_robustness_of_zero_has_no_sign(called, tmp_path, stream):
    (tmp_path / "x.csv").write_text("case,time,v\na,0,1\na,1,1\nb,0,3\nb,1,3\n")
    for rule in ("G (v < 1)", "!(v >= 1)", "G (v <= 1)"):
        done = called("eval", rule, "x.csv", stream, "--out", "y.csv")
        assert ["a", "0"] in [line.split()[:2] for line in done.out.splitlines()]
        assert "a,0.0," in Path("y.csv").read_text()
        traces = json.loads(called("eval", rule, "x.csv", stream, "--json").out)["traces"]
        assert str(next(t["robustness"] for t in traces if t["case"] == "a")) == "0.0"


def test_ids_with_blanks_and_bytes_of_another_encoding_are_read_as_they_are_as_a_whole(called, tmp_path):
    (tmp_path / "x.csv").write_text("case,time,v\na  b,0,1\na  b,1,2\nc,0,3\n")
    whole, parts = (
        json.loads(called("eval", "F (v >= 2)", "x.csv", "--json", f).out) for f in ("--no-stream", "--stream")
    )
    assert sorted(t["case"] for t in parts["traces"]) == sorted(t["case"] for t in whole["traces"]) == ["a b", "c"]
    (tmp_path / "y.csv").write_bytes("case,time,v\nä,0,1\n".encode("latin-1"))
    done = called("eval", "F (v >= 2)", "y.csv", "--stream")
    assert done.code == 2
    assert "--encoding" in done.err


@pytest.fixture
def sampled_run(called, tmp_path, monkeypatch):
    """A run that learned from a sample of such files."""
    monkeypatch.setattr(sys, "executable", "")
    frame = drives(tmp_path / "big")
    frame.write_csv(tmp_path / "later.csv")
    frame.drop("quality").write_csv(tmp_path / "unlabelled.csv")
    small = ("--sample", "0.005", "--max-length", "2", "--restarts", "4", "--out", "run", "-q")
    assert called("learn", "big", *OPTIONS, *small).code == 0


@pytest.mark.parametrize("file", ["big", "later.csv", "unlabelled.csv", "run/sample.npz"])
def test_a_run_that_learned_from_a_sample_watches_recordings_with_the_columns_of_its_data(called, sampled_run, file):
    done = called("drift", "run", file)
    assert done.code == 0, done.err
    assert "the rule holds" in done.out
    assert ("error 0 %" in done.out) == (file != "unlabelled.csv")


def test_rules_for_classes_learned_from_a_sample_judge_recordings_with_the_columns_of_their_data(called, sampled_run):
    small = ("--sample", "0.005", "--max-length", "2", "--restarts", "4", "--out", "classes", "-q", "--classes", "each")
    assert called("learn", "big", *OPTIONS[:-2], *small).code == 0
    for file in ("later.csv", "classes/sample.npz"):
        done = called("classify", "classes", file)
        assert done.code == 0, done.err
        assert "error 0.0000" in done.out
