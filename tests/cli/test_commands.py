"""The commands as a person runs them: what they say, and how they leave."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
from typer.main import get_command

from fernn.cli.main import app
from fernn.formula.export import from_json
from fernn.formula.parser import parse
from fernn.runs import METHODS

FERNN = [sys.executable, "-c", "from fernn.cli import main; main()"]


def fernn(*words, feed=None, cwd=None):
    return subprocess.run([*FERNN, *words], input=feed, capture_output=True, text=True, cwd=cwd, timeout=300)


@pytest.fixture(scope="module")
def cruise(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cruise")
    done = fernn("generate", "cruise", "-o", "cruise.csv", "--cases", "20", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_help_lists_the_commands_without_loading_numba():
    done = fernn("--help")
    assert done.returncode == 0
    for command in ("learn", "demo", "check", "eval", "explain", "monitor", "export", "simplify", "generate", "sample"):
        assert command in done.stdout
    probe = "import sys, fernn.cli; print([m for m in ('numba', 'numpy', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout.strip() == "[]"


def test_help_shows_at_most_sixteen_commands_in_groups(called):
    lines = called("--help").out.splitlines()
    assert [line for line in ("Learn:", "Look:", "Use:", "Check a rule:", "More:") if line not in lines] == []
    rows = [line.split(maxsplit=1) for line in lines[lines.index("Learn:") : lines.index("More:")] if line[:2] == "  "]
    names = [name for name, _ in rows]
    assert 10 < len(names) <= 16
    assert names[-4:] == ["believe", "rivals", "ask", "formula"]
    assert [said for _, said in rows if not said.endswith(".") or said.endswith("...")] == []  # all fits in the line


COMMANDS = ("learn", "compare", "cause", "check", "eval", "explain", "params", "sample", "studio", "certify")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen_and_help_all_shows_every_option(called, command):
    few, all_of_it = called(command, "--help").out, called(command, "--help-all").out
    assert len(few.splitlines()) <= 48
    assert "--bad-rows" not in few
    assert "{" not in all_of_it.replace("{FILE}", "").partition("Arguments:")[2]  # what stands for a list is filled in
    known = {
        name
        for param in get_command(app).commands[command].params
        for name in param.opts
        if not getattr(param, "hidden", False) and name.startswith("--")
    }
    assert len(known) >= 18
    assert [name for name in sorted(known) if f"{name} " not in all_of_it and f"{name}\n" not in all_of_it] == []


def test_learn_shows_a_dozen_options_and_the_settings_of_single_methods_still_work(called):
    few, all_of_it = called("learn", "--help").out, called("learn", "--help-all").out
    shown = [line.split()[0] for line in few.splitlines() if line.startswith("  --")]
    assert shown == [
        "--label", "--good", "--group", "--method", "--max-length", "--intervals", "--set", "--test", "--seed",
        "--time-limit", "--out", "--resume", "--engine", "--help-all",
    ]  # fmt: skip
    assert "fernn, enumerative, lattice, tree, maxsat, paper" in few.replace("\n" + " " * 19, " ")
    hidden = {name for param in get_command(app).commands["learn"].params if param.hidden for name in param.opts}
    assert hidden >= {"--restarts", "--grid", "--exact", "--max-misses", "--memory", "--folds", "--preset"}
    assert [name for name in hidden if name in all_of_it.split()] == []
    for name in sorted(hidden):
        assert any(name in called("methods", method).out.split() for method in ("fernn", "enumerative", "maxsat"))


def test_every_setting_of_every_method_has_a_sentence_and_says_how_it_is_given(called):
    for name, method in METHODS.items():
        assert [key for key, said in method.sentences.items() if not (said and said.endswith("."))] == []
        lines = called("methods", name).out.splitlines()
        ways = [line for line in lines if line.startswith("--")]
        assert len(ways) == len(method.defaults)
        for key in method.defaults:
            assert any(
                f"--set {key}=" in way or way.startswith(f"--{key.replace('_', '-')} ") or key == "length"
                for way in ways
            )


def test_a_setting_without_an_option_is_suggested_as_one(called):
    done = called("learn", "x.csv", "--most-rivals", "3")
    assert done.code == 3
    assert "a setting of the method enumerative: write --set most_rivals=VALUE" in done.err
    assert "did you mean 'rounds'" in called("learn", "x.csv", "--set", "round=3").err


def test_commands_about_a_formula_are_under_formula_and_the_old_names_say_so():
    new, old = fernn("formula", "simplify", "!(x < 1)"), fernn("simplify", "!(x < 1)")
    assert (new.returncode, new.stdout, new.stderr) == (0, old.stdout, "")
    assert old.stderr.strip() == "note: fernn simplify is now called fernn formula simplify"
    assert "note: fernn watch is now called fernn drift" in fernn("watch", "no run", "no.csv").stderr
    assert fernn("formula", "simplify", "x <").returncode == 3


def test_check_shows_the_card_and_every_problem(cruise, tmp_path):
    done = fernn("check", "cruise.csv", cwd=cruise)
    assert done.returncode == 0
    assert "40 cases x 1 channel x 101 samples" in done.stdout
    (tmp_path / "bad.csv").write_text("case,time,v,label\na,0,1,good\na,1,x,good\nb,0,2,bad,9\nb,1,,bad\n")
    done = fernn("check", "bad.csv", "--json", "--nonfinite", "error", cwd=tmp_path)
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert told["card"] is None
    assert {problem["line"] for problem in told["problems"]} >= {3, 4, 5}
    assert all(problem["fix"] for problem in told["problems"])


def test_a_named_data_set_is_looked_over_and_takes_no_options_that_cannot_apply():
    told = json.loads(fernn("check", "cruise", "--json").stdout)
    assert {p["kind"] for p in told["problems"]} == {"duplicate-traces", "contradiction"}
    for words in (["--good", "anomaly"], ["--channels", "v"], ["--dt", "1"], ["--label-kind", "real"]):
        done = fernn("check", "cruise", *words)
        assert done.returncode == 3
        assert f"cruise is a data set that is taken as it is: {words[0]} cannot apply" in done.stderr
    bare = json.loads(fernn("check", "cruise", "--label", "", "--steps", "--json").stdout)["card"]
    assert [c["name"] for c in bare["channels"]] == ["v", "v_diff"]
    assert bare["classes"] == []


@pytest.mark.slow
def test_eval_judges_every_trace_and_counts_errors(cruise):
    done = fernn("eval", "G (v <= 34.3)", "cruise.csv", "--json", cwd=cruise)
    assert done.returncode == 1, "some traces violate it"
    told = json.loads(done.stdout)
    assert told["formula"] == "G (v <= 34.3)"
    assert len(told["traces"]) == 40
    wrong = sum(t["satisfied"] != (t["label"] == "normal") for t in told["traces"])
    assert told["score"]["mcr"] == wrong / 40 < 0.1
    assert all((t["robustness"] > 0) == t["satisfied"] for t in told["traces"])
    people = fernn("eval", "G (v <= 34.3)", "cruise.csv", cwd=cruise)
    assert "At all times, v is at most 34.3." in people.stdout
    assert "fernn explain" in people.stdout
    assert fernn("eval", "G (v <= 1000)", "cruise.csv", cwd=cruise).returncode == 0


def test_eval_reads_files_without_labels_and_windows_in_seconds(tmp_path):
    (tmp_path / "t.csv").write_text("case,time,v\na,0.0,1\na,0.5,5\na,1.0,1\n")
    done = fernn("eval", "F[0.5,1] (v >= 4)", "t.csv", "--time-units", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["formula"] == "F[1,2] (v >= 4)"
    assert "score" not in json.loads(done.stdout)


@pytest.mark.slow
def test_explain_names_the_sample_that_decides(tmp_path):
    (tmp_path / "t.csv").write_text("case,time,v\na,0,1\na,1,9\na,2,1\nb,0,1\nb,1,2\n")
    done = fernn("explain", "G (v <= 4)", "t.csv", "--case", "a", cwd=tmp_path)
    assert done.returncode == 1
    assert "decided at sample 1" in done.stdout
    assert "v = 9" in done.stdout
    told = json.loads(fernn("explain", "G (v <= 4)", "t.csv", "--case", "a", "--json", cwd=tmp_path).stdout)
    wanted = {"atom": "v <= 4", "sample": 1, "readings": {"v": 9.0}, "value": 9.0, "windows": []}
    assert told["deciding"] == wanted
    missing = fernn("explain", "G (v <= 4)", "t.csv", "--case", "c", cwd=tmp_path)
    assert missing.returncode == 2
    assert "no case 'c'" in missing.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["eval", "G (v <= )", "cruise.csv"], 3, "^"),
        (["eval", "G (w <= 1)", "cruise.csv"], 3, "reads 'w'"),
        (["eval", "G (v <= 1)", "nowhere.csv"], 2, "nowhere.csv"),
        (["eval", "O F (v <= 1)", "cruise.csv"], 3, "--at first"),
        (["eval", "G (v <= 1)", "cruise.csv", "--at", "all"], 3, "--at is"),
        (["eval", "-v <= 1", "cruise.csv"], 3, "behind --"),
        (["eval", "G (v <= 1)", "cruise.csv", "--decimal", "x"], 3, "decimal"),
        (["eval", "G[0,1000000000000000000000] (v <= 1)", "cruise.csv"], 3, "at most"),
        (["generate", "cruise", "-o", "x.parquet"], 3, ".csv or .npz"),
        (["generate", "cruise", "-o", "x.csv", "--seed", "-1"], 3, "seed"),
        (["eval", "G (v <= 1)"], 3, "FILE"),
        (["eval", "G (v <= 1)", "cruise.csv", "--colour"], 3, "--colour"),
        (["eval", "G[0,0.5] (v <= 1)", "cruise.csv", "--time-units"], 3, "--dt"),
        (["evla"], 3, "evla"),
        (["export", "v <= 1", "--to", "cobol"], 3, "cobol"),
        (["export", "v <= 1 S v >= 0", "--to", "breach"], 3, "no Since"),
        (["generate", "trains", "-o", "x.csv"], 3, "cruise, intervals or tank"),
        (["monitor", "H F (v <= 1)"], 3, "past operator"),
    ],
)
def test_mistakes_are_told_apart_by_exit_code(cruise, words, code, says):
    done = fernn(*words, cwd=cruise, feed="")
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_export_and_simplify_print_what_they_make(tmp_path):
    text = "G (x >= 1) & G (y >= 2)"
    assert from_json(fernn("export", text, "--to", "json").stdout) == parse(text)
    assert fernn("export", text, "--to", "c", "-o", "m.c", "--name", "rule", cwd=tmp_path).returncode == 0
    assert "double rule_robustness(" in (tmp_path / "m.c").read_text()
    assert fernn("simplify", text).stdout.strip() == "G (x >= 1 & y >= 2)"
    told = json.loads(fernn("simplify", text, "--json").stdout)
    assert (told["length"], told["simplified_length"]) == (5, 4)


def test_monitor_speaks_when_the_verdict_falls():
    done = fernn("monitor", "G (v <= 34.3)", feed="v\n24\n30\n36\n25\n")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "sample 0: undecided, robustness -inf to 10.3",
        "sample 2: violated, robustness -inf to -1.7",
        "after 4 samples: violated, robustness -1.7",
    ]
    lines = fernn("monitor", "H (v <= 5)", "--json", "--every", feed='{"v": 1}\n\n{"v": 2, "w": "text"}\n').stdout
    assert [json.loads(line)["satisfied"] for line in lines.splitlines()] == [True, True, True]


def test_monitor_reads_texts_and_empty_cells():
    rule = 'H (mode in {"LAND", "3"} | missing(v) | v >= 2)'
    feeds = (
        "mode,v\nLAND,1\nHOLD,\n3,1\nNA,1\nHOLD,1\n",
        "\n".join(
            json.dumps({"mode": mode, "v": v})
            for mode, v in (("LAND", 1), ("HOLD", None), ("3", 1), (None, 1), ("HOLD", 1))
        ),
    )
    for feed in feeds:
        lines = fernn("monitor", rule, "--json", "--every", feed=feed).stdout.splitlines()
        assert [json.loads(line)["satisfied"] for line in lines] == [True] * 4 + [False] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("feed", "says"),
    [
        ("v\n1\nabc\n", "line 3"),
        ("v;w\n1;2\n1;\nx;3\n", "line 4"),
        ('{"v": 1}\n{"v"\n', "line 2: not JSON"),
        ('{"v": 1}\n[1]\n', "line 2: expected an object"),
        ("v,w\n1,2\n1\n", "line 3: 1 fields, the header has 2"),
        ("v,w\n1,2\n1,2,3\n", "line 3: 3 fields, the header has 2"),
        ("w\n1\n", "lacks the channel 'v'"),
        ("", "no sample"),
        ("v\n", "no sample"),
    ],
)
def test_monitor_points_at_lines_it_cannot_read(feed, says):
    done = fernn("monitor", "G (v <= 34.3)", feed=feed)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_monitor_reads_what_fernn_writes(cruise):
    feed = "\n".join((cruise / "cruise.csv").read_text().splitlines()[:20]) + "\n"
    assert fernn("monitor", "G (v <= 100)", feed=feed).returncode == 0
    assert (
        fernn(
            "monitor",
            "G (v <= 100)",
            feed='\ufeff{"v": 1}\nnot json\n{"v": 2}\n',
        ).returncode
        == 2
    )
    done = fernn("monitor", "G (v <= 100)", "--bad-rows", "skip", feed='\ufeff{"v": 1}\nnot json\n{"v": 2}\n')
    assert "after 2 samples" in done.stdout


def test_errors_are_json_too_when_asked():
    done = fernn("simplify", "G (v <= ", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["exit"] == 3


def test_the_next_command_can_be_pasted(tmp_path):
    (tmp_path / "my file.csv").write_text("case,time,heart rate\n$(id) x,0,1\n$(id) x,1,5\n")
    done = fernn("eval", '"heart rate" <= 0', "my file.csv", "--at", "last", cwd=tmp_path)
    command = done.stdout.splitlines()[-1].removeprefix("why? fernn ")
    again = fernn(*shlex.split(command), cwd=tmp_path)
    assert again.returncode == 1
    assert "violates" in again.stdout


@pytest.mark.slow
@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(
    "bad",
    [
        '{"v": %s}' % ("9" * 400),
        '{"v": -%s}' % ("9" * 5000),
        '{"v": 1e400}',
        '{"v": 9007199254740993}',
        '{"v": NaN}',
        '{"v": "1"}',
        '{"v": null}',
        '{"v": [1]}',
        '{"w": 1}',
        "[" * 100_000,
        '{"v": ' + "[" * 100_000,
        "9" * 5000,
        '{"v": 1',
        "\x00",
        '{"v": 1e308, "w": 1e308}',
    ],
)
def test_a_line_that_cannot_be_used_is_located_and_never_a_verdict(bad, skip):
    words = ["monitor", "G (v + w <= 34.3)", *(["--bad-rows", "skip"] if skip else [])]
    done = fernn(*words, feed='{"v": 1, "w": 2}\n' + bad + '\n{"v": 50, "w": 1}\n')
    assert done.returncode == (1 if skip else 2)
    assert "standard input line 2: " in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 1500


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad", ["9" * 400, "1" * 200_000, '"' + "1" * 200_000, "a\x00b", "nan", "-inf", "1e400", "0x10"]
)
def test_a_cell_that_is_no_finite_number_is_located_and_never_a_verdict(bad):
    done = fernn("monitor", "G (v <= 34.3)", feed=f"v,w\n1,1\n{bad},2\n50,3\n")
    assert done.returncode == 2
    assert "standard input line 3: " in done.stderr
    assert len(done.stderr) < 1500


def test_bytes_that_are_no_text_are_located():
    feed = b"v,w\n1,1\n\xff\xfe,2\n"
    done = subprocess.run([*FERNN, "monitor", "G (v <= 34.3)"], input=feed, capture_output=True, timeout=120)
    assert (done.returncode, b"standard input line 3: " in done.stderr) == (2, True)


def test_messages_stay_short_whatever_was_typed(tmp_path):
    long = "a" * 100_000
    (tmp_path / "long.csv").write_text(f"case,t,{long},label\n1,0,{long},a\n2,0,1,b\n")
    for words in (
        ["simplify", long],
        ["simplify", f"G (x >= 1 & {long})"],
        ["eval", "x >= 1", long],
        ["eval", "x >= 1", "long.csv"],
        ["eval", f"{long} >= 1", "long.csv"],
        ["check", "long.csv"],
        [long],
        ["eval", f"--{long}"],
        ["eval", "x >= 1", "long.csv", "--good", long],
    ):
        done = fernn(*words, cwd=tmp_path)
        assert done.returncode != 0
        assert len(done.stderr) + len(done.stdout) < 3000, words[0]
        assert "Traceback" not in done.stderr


def test_monitor_goes_on_when_told_to():
    done = fernn("monitor", "G (v <= 34.3)", "--bad-rows", "skip", feed="v\n1\nabc\n2\n")
    assert done.returncode == 0
    assert "after 2 samples: satisfied" in done.stdout


def test_an_interrupted_monitor_gives_its_verdict():
    process = subprocess.Popen(
        [*FERNN, "monitor", "G (v <= 5)", "--every"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("v\n1\n2\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("sample 0")
    assert process.stdout.readline().startswith("sample 1")
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "after 2 samples: satisfied, robustness 3" in out
    assert "Traceback" not in err


def test_a_reader_that_leaves_early_is_no_error(cruise):
    command = " ".join(f"'{word}'" for word in [*FERNN, "eval", "G (v <= 34.3)", "cruise.csv", "--all"])
    done = subprocess.run(f"{command} | head -2", shell=True, capture_output=True, text=True, cwd=cruise)
    assert "Traceback" not in done.stderr
