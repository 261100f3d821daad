"""Learning as a person does it: what is said, what is kept, and how it is taken up again."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from pathlib import Path

import pytest

from fernn.cli.output import table, truncate
from fernn.cli.progress import duration_text
from fernn.data import from_arrays, load, split, write_csv
from fernn.learners import Front
from fernn.learners.learner_registry import BUILT_IN
from fernn.runs import METHODS, Method, run
from fernn.semantics import score

QUICK = ("--max-length", "2", "--restarts", "2", "--time-limit", "5")


def slow_learner():
    place = Path(__file__).parent.parent / "runs" / "slow.py"
    spec = importlib.util.spec_from_file_location("slow_for_commands", place)
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Slow


Slow = slow_learner()


@pytest.fixture
def fernn(called):
    """The command in this process, in a folder with a recording in it."""
    write_csv(load("cruise", cases=20), "cruise.csv")

    return called


@pytest.fixture
def slow(monkeypatch):
    """The learner is a slow one, whose settings this sets."""

    def sets(**settings):
        method = type("Set", (Method,), {"defaults": Method(Slow, "").defaults | settings})
        monkeypatch.setitem(METHODS, "fernn", method(Slow, "", kernel=BUILT_IN["fernn"].kernel))

    sets(pause=0)
    return sets


def files(folder):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def test_learning_prints_the_front_the_sentence_and_commands_that_can_be_pasted(fernn, monkeypatch):
    done = fernn("learn", "cruise.csv", "--out", "first", *QUICK)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["length", "train", "validation", "test", "formula"]
    assert sum(line.startswith("->") for line in done.out.splitlines()) == 1
    assert "At all times, v is at most" in done.out
    assert "run: first" in done.out
    assert "learned on 32 traces" in done.out
    assert "tested on 8 others" in done.out
    commands = [shlex.split(line) for line in done.out.split("next:\n")[1].splitlines()]
    assert [words[1] for words in commands] == ["eval", "explain", "monitor", "export"]
    for words in commands:
        monkeypatch.setattr(sys, "stdin", open("cruise.csv"))  # noqa: SIM115
        assert fernn(*words[1:]).code in (0, 1), words


def test_the_test_error_is_that_of_the_printed_formula_on_traces_not_learned_on(fernn):
    done = fernn("learn", "cruise.csv", "--json", "--seed", "5", "--test", "0.3", *QUICK)
    told = json.loads(done.out)
    train, held = split(load("cruise", cases=20), 0.3, 5)
    assert (told["learned_on"], told["tested_on"]) == (len(train), len(held))
    for row in told["front"]:
        assert row["test"] == score(row["formula"], held).mcr
        assert row["train"] == pytest.approx(score(row["formula"], train).mcr)
    assert [row["formula"] for row in told["front"] if row["picked"]] == [told["formula"]]
    assert told["sentence"].startswith("At ")
    assert told["measure"] == "mcr"
    assert told["ended"] in ("done", "time limit")
    assert told["run"] == "runs/cruise-1"


def test_the_run_says_what_was_learned_from_what(fernn, tmp_path):
    fernn("learn", "cruise.csv", "--out", "first", *QUICK)
    settings = json.loads(Path("first/settings.json").read_text())
    assert settings["schema"] == 1
    assert settings["fernn"]
    assert settings["method"] == "fernn"
    assert settings["learner"]["max_length"] == 2
    assert settings["learner"]["miss_cost"] == 1.0
    assert settings["split"] == {"test": 0.2, "seed": 0}
    assert settings["file"] == str(tmp_path / "cruise.csv")
    assert settings["data"]["fingerprint"] == load("cruise", cases=20).fingerprint
    told = json.loads(Path("first/front.json").read_text())
    assert all("test" in row for row in told["entries"])
    assert len(Front.from_json(told)) == len(told["entries"])
    lines = Path("first/history.jsonl").read_text().splitlines()
    assert {"seconds", "restarts", "length", "train", "validation", "formula"} <= json.loads(lines[-1]).keys()


def test_every_option_reaches_the_learner(fernn, slow, monkeypatch):
    from fernn.formula import parse
    from fernn.learners import Fernn, Fit

    seen = []

    class Seen(Fernn):
        def fit(self, data, watch=None, resume=None):
            seen.append(self)
            fit = Slow(pause=0).fit(data, watch)
            return Fit(fit.front, fit.seconds, "done", {})

    monkeypatch.setitem(METHODS, "fernn", Method(Seen, {}))
    words = shlex.split(
        "--max-length 3 --past --no-since --intervals --atoms linear --class-weight balanced --miss-cost 5"
    )
    words += shlex.split("--false-alarm-cost 0.5 --seed 7 --time-limit 9 --restarts 11")
    done = fernn("learn", "cruise.csv", *words, "--guess", "H (v <= 3)", "--guess", "O (v >= 9)")
    assert done.code == 0, done.err
    assert seen[-1] == Seen(
        max_length=3, direction="past", since=False, intervals=True, atoms="linear", class_weight="balanced",
        miss_cost=5.0, false_alarm_cost=0.5, seed=7, time_limit=9.0, restarts=11,
        guesses=(parse("H (v <= 3)"), parse("O (v >= 9)")),
    )  # fmt: skip
    assert fernn("learn", "cruise.csv").code == 0
    assert seen[-1] == Seen(), "what is not said is left to the learner"


def test_without_a_test_share_no_test_error_is_claimed(fernn, slow):
    done = fernn("learn", "cruise.csv", "--test", "0")
    assert done.code == 0, done.err
    assert "no test error is known" in done.out
    assert "test" not in done.out.splitlines()[0].split()
    assert "learned on 40 traces" in done.out
    assert "test" not in json.loads(Path("runs/cruise-1/front.json").read_text())["entries"][0]
    assert json.loads(fernn("learn", "cruise.csv", "--test", "0", "--json").out)["front"][0]["test"] is None


def test_runs_are_numbered_and_never_written_over(fernn, slow):
    for number in (1, 2):
        assert f"run: runs/cruise-{number}" in fernn("learn", "cruise.csv").out
    before = files("runs/cruise-1")
    done = fernn("learn", "cruise.csv", "--out", "runs/cruise-1")
    assert done.code == 2
    assert "fernn learn --resume --out runs/cruise-1" in done.err
    assert files("runs/cruise-1") == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["bare.csv"], 2, "has no labels"),
        (["bare.csv", "--label", "x"], 2, "'x'"),
        (["one.csv"], 2, "all 4 traces"),
        (["three.csv", "--one-class"], 3, "3 classes (a, b, c)"),
        (["nowhere.csv"], 2, "nowhere.csv"),
        ([], 3, "FILE"),
        (["cruise.csv", "--test", "1"], 3, "--test"),
        (["cruise.csv", "--method", "magic"], 3, "--method is one of fernn"),
        (["cruise.csv", "--atoms", "round"], 3, "axis or linear"),
        (["cruise.csv", "--class-weight", "heavy"], 3, "balanced"),
        (["cruise.csv", "--guess", "G (v <= "], 3, "^"),
        (["cruise.csv", "--guess", "G (w <= 3)"], 3, "reads 'w'"),
        (["cruise.csv", "--restarts", "0"], 3, "restarts"),
        (["two.csv", "--good", "a", "--test", "0.99"], 2, "--test 0"),
        (["--resume"], 3, "--out RUN"),
        (["--resume", "--out", "nowhere"], 2, "no folder 'nowhere'"),
        (["--resume", "--out", "."], 2, "is not a run"),
    ],
)
def test_mistakes_are_told_and_leave_no_run(fernn, words, code, says):
    write_csv(from_arrays([[1.0, 2.0], [3.0, 4.0]], channels=["v"]), "bare.csv")
    rows = [f"{name}{i},{i},{name}\n" for name in "abc" for i in range(4)]
    Path("three.csv").write_text("case,v,label\n" + "".join(rows))
    Path("two.csv").write_text("case,v,label\n" + "".join(f"{i},{i},{'ab'[i % 2]}\n" for i in range(8)))
    Path("one.csv").write_text("case,v,label\n" + "".join(rows[:4]))
    done = fernn("learn", *words)
    assert done.code == code, done.err
    assert says in done.err
    assert not Path("runs").exists()
    if code == 2:
        assert json.loads(fernn("learn", *words, "--json").out)["exit"] == 2


def test_a_learner_that_refuses_leaves_its_folder_free(fernn, monkeypatch):
    from fernn.errors import DataError

    class Picky(Slow):
        def fit(self, data, watch=None, resume=None):
            raise DataError("too little data")

    monkeypatch.setitem(METHODS, "fernn", Method(Picky, {}))
    done = fernn("learn", "cruise.csv", "--out", "run")
    assert done.code == 2
    assert "too little data" in done.err
    assert not Path("run").exists()


def test_a_finished_run_says_so_and_prints_its_front(fernn, slow):
    first = fernn("learn", "cruise.csv", "--out", "run")
    before = files("run")
    for words in (["--out", "run"], ["run"], ["cruise.csv", "--out", "run"]):
        again = fernn("learn", "--resume", *words)
        assert again.code == 0, again.err
        assert "run is finished" in again.err
        shown = again.out.replace(f"{Path.cwd()}/", "")  # the run knows where its data are
        assert shown.split("learned on")[0] == first.out.split("learned on")[0]
    assert files("run") == before


def test_a_run_stopped_by_its_time_limit_goes_on(fernn, slow):
    slow(pause=0.001)
    told = json.loads(fernn("learn", "cruise.csv", "--out", "run", "--time-limit", "0", "--json").out)
    assert told["ended"] == "time limit"
    assert len(told["front"]) == 1
    again = json.loads(fernn(*shlex.split(told["resume"])[1:], "--time-limit", "100", "--json").out)
    assert again["ended"] == "done"
    assert len(again["front"]) == 3
    assert again["resume"] is None


def test_a_run_keeps_its_settings_and_its_data(fernn, slow):
    fernn("learn", "cruise.csv", "--out", "run", "--time-limit", "0")
    done = fernn("learn", "--resume", "--out", "run", "--seed", "4", "--dt", "2")
    assert done.code == 3
    assert "--seed, --dt" in done.err
    write_csv(load("cruise", cases=20, seed=1), "cruise.csv")
    done = fernn("learn", "--resume", "--out", "run")
    assert done.code == 2
    assert "not the data of the run" in done.err
    Path("cruise.csv").unlink()
    done = fernn("learn", "--resume", "--out", "run")
    assert done.code == 2
    assert "fernn learn FILE --resume --out run" in done.err
    write_csv(load("cruise", cases=20), "moved.csv")
    assert fernn("learn", "moved.csv", "--resume", "--out", "run").code == 0


def test_real_labels_are_judged_by_the_mean_absolute_error(fernn, slow):
    data = from_arrays([[float(i), i + 1.0] for i in range(30)], [i / 7 for i in range(30)], channels=["v"])
    write_csv(data, "real.csv")
    done = fernn("learn", "real.csv", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["measure"] == "mae"
    _, held = split(data, 0.2, 0)
    (row,) = [row for row in told["front"] if row["picked"]]
    limit = float(row["formula"].split()[-1].rstrip(")"))
    wanted = [abs(limit - trace.max() - label) for trace, label in zip(held.values, held.labels, strict=True)]
    assert row["test"] == pytest.approx(sum(wanted) / len(wanted))
    assert "mean absolute error" in fernn("learn", "real.csv").out


def test_a_disk_that_cannot_be_written_does_not_stop_learning(fernn, slow, monkeypatch):
    real = run.write_text

    def full(path, text):
        if path.name != "settings.json":
            raise OSError(28, "No space left on device", str(path))
        real(path, text)

    monkeypatch.setattr(run, "write_text", full)
    done = fernn("learn", "cruise.csv", "--out", "run")
    assert done.code == 0, done.err
    assert "the run could not be kept (No space left on device: run/" in done.err
    assert "G (v <= 34)" in done.out


def test_no_progress_is_drawn_for_files_and_none_at_all_when_quiet(fernn, slow):
    slow(pause=0.05, steps=30)
    done = fernn("learn", "cruise.csv")
    assert "\x1b" not in done.err
    assert "\r" not in done.err
    lines = [line for line in done.err.splitlines() if "restart" in line]
    assert 2 <= len(lines) <= 3, "one a second at most, and the last one at the end"
    assert "G (v <= 34)" in lines[-1]
    slow(pause=0)
    quiet = fernn("learn", "cruise.csv", "--quiet")
    assert "restart" not in quiet.err
    assert "->" in quiet.out


def test_the_first_run_says_that_it_compiles(fernn, slow, monkeypatch):
    from fernn.semantics import jit_cache

    monkeypatch.setattr(jit_cache, "is_compiled", lambda kernel: False)
    assert "compiling (first run only" in fernn("learn", "cruise.csv").err
    monkeypatch.setattr(jit_cache, "is_compiled", lambda kernel: True)
    assert "compiling" not in fernn("learn", "cruise.csv").err


def test_times_are_short_and_lines_are_cut_to_the_columns_they_take():
    assert [duration_text(s) for s in (0.4, 59.9, 125, 3780)] == ["0 s", "59 s", "2 min 5 s", "1 h 3 min"]
    assert truncate("abcdef", 6) == "abcdef"
    assert truncate("abcdef", 5) == "abcd…"
    assert truncate("速度速度", 5) == "速…"


def test_columns_of_a_table_line_up_where_letters_are_wide_or_accents_stand_alone():
    cells = pytest.importorskip("rich.cells", reason="rich is not installed")
    rows = [["速度", 1.5, "|"], ["vitesse", -20, "|"], ["de\u0301bit", 300, "|"], ["ﾊﾝｶｸ 全角", None, "|"]]
    lines = table(["channel", "値", "|"], rows).splitlines()
    assert len({cells.cell_len(line) for line in lines}) == 1
    assert all(line.endswith("  |") for line in lines)


def test_an_exact_search_leaves_a_certificate_that_can_be_checked(fernn):
    done = fernn(
        "learn", "cruise.csv", "--method", "enumerative", "--max-length", "3", "--grid", "4", "--out", "run", "-q"
    )
    assert done.code == 0
    assert "certificate: No formula of this space makes fewer errors on this data." in done.out
    assert "rivals: " in done.out
    assert {"certificate.json", "rivals.json"} <= {path.name for path in Path("run").iterdir()}
    checked = fernn("certify", "run", "cruise.csv")
    assert checked.code == 0
    assert "stands: checked whole, all" in checked.out
    told = json.loads(fernn("certify", "run/certificate.json", "cruise.csv", "--json").out)
    assert told["stands"]
    assert told["all"]
    assert told["verdict"] == "stands"
    assert told["cases"] < told["of"]  # what was kept for the test is no part of it
    spot = fernn("certify", "run", "cruise.csv", "--samples", "30")
    assert spot.code == 0

    content = json.loads(Path("run/certificate.json").read_text())
    content["front"][0]["misjudged"] += 1
    Path("forged.json").write_text(json.dumps(content))
    forged = fernn("certify", "forged.json", "cruise.csv")
    assert forged.code == 1
    assert "wrong: " in forged.out
    write_csv(load("cruise", cases=21), "other.csv")
    assert "is not the data of the certificate" in fernn("certify", "run", "other.csv").out


def test_a_certificate_that_is_none_is_told(fernn):
    assert "there is no nowhere" in fernn("certify", "nowhere", "cruise.csv").err
    Path("text.json").write_text("no")
    assert "is not JSON" in fernn("certify", "text.json", "cruise.csv").err
    Path("other.json").write_text("{}")
    told = fernn("certify", "other.json", "cruise.csv")
    assert "no certificate of fernn" in told.err
    assert told.code == 2


def test_settings_of_another_method_are_refused(fernn):
    done = fernn("learn", "cruise.csv", "--method", "enumerative", "--restarts", "3")
    assert done.code == 3
    assert "--restarts 3 is known to --method fernn and paper; enumerative has no such setting" in done.err


@pytest.mark.parametrize("method", ["enumerative", "lattice", "tree"])
def test_every_method_learns_by_its_name(fernn, method):
    found = fernn("learn", "cruise.csv", "--method", method, "--folds", "0", "--max-length", "5", "--json")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    assert told["front"][-1]["test"] <= 0.3
    assert fernn("learn", "--resume", "--out", told["run"]).code == 0


def test_any_setting_can_be_set(fernn):
    found = fernn("learn", "cruise.csv", "--method", "tree", "--set", "depth=1", "--set", "purity=error", "--json")
    assert found.code == 0, found.err
    chosen = json.loads((Path(json.loads(found.out)["run"]) / "settings.json").read_text())["learner"]
    assert (chosen["depth"], chosen["purity"]) == (1, "error")
    assert "NAME=VALUE" in fernn("learn", "cruise.csv", "--set", "depth").err
    wrong = fernn("learn", "cruise.csv", "--set", "depht=2")
    assert wrong.code == 3
    assert "has no such setting" in wrong.err


def test_methods_are_listed_and_shown(fernn):
    listed = fernn("methods").out
    assert all(name in listed for name in METHODS)
    shown = fernn("methods", "tree")
    assert "--set node_length=N" in shown.out
    assert "The most conditions and operators in the formula of one node. [default: 2]" in " ".join(shown.out.split())
    assert json.loads(fernn("methods", "tree", "--json").out)["settings"]["depth"] == 3
    assert fernn("methods", "forest").code == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [("depth=two", "a whole number"), ("depth=2.5", "a whole number"), ("intervals=no", "true or false"),
     ("purity=luck", "'gini' or 'entropy' or 'error'"), ("seed=-1", "0 or more"), ("min_leaf=x", "a number")],
)  # fmt: skip
def test_a_setting_of_another_kind_is_refused_before_anything_is_written(fernn, given, says):
    found = fernn("learn", "cruise.csv", "--method", "tree", "--set", given)
    assert found.code == 3
    assert says in found.err
    assert not Path("runs").exists()


def test_a_series_file_is_learned_from_by_one_class_against_the_rest(called, tmp_path):
    rows = [f"{i / 10},{v},0:{name}" for i in range(8) for name, v in (("low", 1), ("high", 9 + i), ("middle", 5))]
    (tmp_path / "s.ts").write_text("\n".join(["@univariate true", "@classLabel true low middle high", "@data", *rows]))
    words = ("learn", "s.ts", *QUICK, "--seed", "0", "--json")
    found = called(*words, "--good", "high", "--out", "run")
    assert found.code == 0, found.err
    assert min(entry["train"] for entry in json.loads(found.out)["front"]) == 0
    all_of_them = called(*words, "--out", "other")
    assert all_of_them.code == 0, all_of_them.err
    assert [rule["class"] for rule in json.loads(all_of_them.out)["rules"]["rules"]] == ["low", "middle", "high"]
