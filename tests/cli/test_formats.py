"""Every command reads a file by the same rules: what its name and its first bytes say it is."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

from fernn.data import Draft, register_reader, to_dataset
from fernn.data.readers import registry

CASES = (("a", 0, "ok"), ("b", 10, "bad"), ("c", 1, "ok"), ("d", 11, "bad"))
ROWS = [f"{case},{t},{v + t},{-t},{label}\n" for case, v, label in CASES for t in range(3)]
TABLE = "case,time,v,w,label\n" + "".join(ROWS)
TRACES = "1,0;0,1;1,1\n1,1;1,0;1,0\n---\n0,0;0,0;0,1\n0,0;0,1;0,0\n"
SERIES = "@problemName x\n@classLabel true bad ok\n@data\n0,1,2:ok\n9,8,9:bad\n1,1,1:ok\n9,9,9:bad\n"
COMMANDS = {
    "check": ["check", "FILE"],
    "eval": ["eval", "G (v <= 5)", "FILE"],
    "explain": ["explain", "G (v <= 5)", "FILE", "--case", "a"],
    "sample": ["sample", "FILE", "-o", "part.csv"],
    "learn": ["learn", "FILE", "--method", "enumerative", "--max-length", "2", "--out", "run"],
    "cause": ["cause", "FILE", "--label-per-sample", "label", "--faulty", "bad"],
    "params": ["params", "G (v <= ?c)", "FILE"],
    "compare": ["compare", "FILE"],
    "check in pieces": ["check", "FILE", "--stream"],
    "eval in pieces": ["eval", "G (v <= 5)", "FILE", "--stream"],
}


def packed(names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, TABLE)
    return held.getvalue()


WRONG = {
    "a.csv": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
    "b.csv": (packed(["x.csv"]), "a zip archive"),
    "c.csv": (gzip.compress(TABLE.encode()), "a gzip archive"),
    "d.csv": (packed(["[Content_Types].xml", "xl/workbook.xml"]), "an Excel workbook"),
    "e.csv": (b"%PDF-1.4\n1 0 obj\n", "a PDF document"),
    "f.tsv": (b"PAR1" + bytes(20) + b"PAR1", "a Parquet file"),
    "g.csv": (SERIES.encode(), "a series file of aeon and sktime"),
    "h.txt": (TRACES.encode(), "a TRACE file"),
    "i.trace": (b"\x89PNG\r\n\x1a\n\x00\x00", "a PNG image"),
    "j.ts": (gzip.compress(SERIES.encode()), "a gzip archive"),
    "k.npz": (TABLE.encode(), "not an NPZ archive"),
    "l.parquet": (TABLE.encode(), "not a readable Parquet file"),
}
WHOLE = ("not in pieces", "read as a whole", "a sample is taken of tables")


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_not_what_its_name_says_is_refused(called, tmp_path, command, name):
    content, wanted = WRONG[name]
    (tmp_path / name).write_bytes(content)
    found = called(*[name if word == "FILE" else word for word in COMMANDS[command]])
    assert found.code == 2, found
    told = found.err + found.out
    assert name in told
    assert wanted in told or any(word in told for word in WHOLE)
    assert not (tmp_path / "part.csv").exists()


@pytest.mark.parametrize("name", ["x.traces", "x.trace", "x.ts", "x.npz", "x.parquet", "x.csv", "x.tsv", "x.txt"])
def test_the_same_file_is_read_or_refused_by_name(called, tmp_path, name):
    ending = name.split(".")[1]
    if ending in ("trace", "traces"):
        (tmp_path / name).write_text(TRACES)
    elif ending == "ts":
        (tmp_path / name).write_text(SERIES)
    elif ending == "npz":
        np.savez(tmp_path / name, X=np.zeros((2, 1, 3)), y=np.array([0, 1]))
    elif ending == "parquet":
        pytest.importorskip("polars").read_csv(io.StringIO(TABLE)).write_parquet(tmp_path / name)
    else:
        (tmp_path / name).write_text(TABLE.replace(",", "\t") if ending == "tsv" else TABLE)
    assert called("check", name).code == 0
    sampled = called("sample", name, "-o", "part.csv")
    if ending in ("csv", "tsv", "txt"):
        assert sampled.code == 0
        assert called("check", "part.csv").code == 0
    else:
        assert sampled.code == 2
        assert f"{name}: a sample is taken of tables as text (CSV)" in sampled.err


def test_options_of_reading_apply_to_trace_files(called, tmp_path):
    (tmp_path / "x.trace").write_text(TRACES)
    from fernn.data import read

    assert read("x.trace").classes == ("negative", "positive")
    assert read("x.trace", good="negative").classes == ("positive", "negative")
    assert read("x.trace", channels=["q"], dt=0.5, unit="s").channels == ("q",)
    assert read("x.trace", dt=0.5, unit="s").dt == 0.5
    assert read("x.trace", label=None).labels is None
    assert "no channel 'z'" in called("check", "x.trace", "--channels", "z").out


def test_learn_tells_the_warnings_that_check_tells(called, tmp_path):
    lines = TABLE.replace("label\n", "label,who\n", 1).splitlines()
    (tmp_path / "x.csv").write_text(
        "\n".join([lines[0], *(f"{line},note {i}" for i, line in enumerate(lines[1:])), "d,9,1,1,bad,Huber\n"])
    )
    warned = [line for line in called("check", "x.csv").out.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 3  # a column of words, an uneven step, unequal lengths
    for words in (["learn", "x.csv", "--method", "enumerative", "--max-length", "2"], ["eval", "G (v <= 5)", "x.csv"]):
        told = [line for line in called(*words).err.splitlines() if line.startswith("warning: ")]
        assert told == warned
    pieces = [line for line in called("check", "x.csv", "--stream").out.splitlines() if line.startswith("warning: ")]
    sampled = called(
        "learn", "x.csv", "--method", "enumerative", "--max-length", "2", "--sample", "1", "--out", "two"
    ).err
    told = [line for line in sampled.splitlines() if line.startswith("warning: ")]
    assert [line for line in pieces if "traces have" not in line] == told
    assert "learning from all of its 4 traces" in sampled
    assert called("check", "x.csv", "--dt", "5").code == 2
    assert called("check", "x.csv", "--dt", "5", "--stream").code == 2


def read_log(path, options, log):
    rows = [line.split() for line in path.read_text(encoding=options.encoding).splitlines()]
    traces = [np.array([[float(cell) for cell in row[2:]]]) for row in rows]
    return to_dataset(Draft(traces, [row[0] for row in rows], ["v"], [row[1] for row in rows]), options, "log", log)


def test_a_reader_from_outside_is_read_by_the_commands(called, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_formats", dict(registry._formats))
    register_reader(".log", read_log, is_text=True)
    (tmp_path / "drive.log").write_text("a ok 1 2 3\nb bad 7 8 9\nc ok 1 1 2\nd bad 9 9 9\n")
    checked = called("check", "drive.log")
    assert checked.code == 0
    assert "4 cases x 1 channel x 3 samples" in checked.out
    judged = called("eval", "G (v <= 5)", "drive.log")
    assert judged.code == 1
    assert "0 'ok' traces violate the rule, 0 'bad' traces satisfy it" in judged.out
    for refused, why in (("sample", "this is a log file"), ("check", "read as a whole, not in pieces")):
        words = ("-o", "part.csv") if refused == "sample" else ("--stream",)
        told = called(refused, "drive.log", *words)
        assert told.code != 0
        assert why in told.out + told.err
