"""One text of a formula means one thing: in every command, in every export, under the same options."""

from __future__ import annotations

import csv
import inspect
import json
import shutil
import subprocess

import numpy as np
import pytest

from fernn.cli.main import app
from fernn.formula.export import from_json
from fernn.formula.parser import parse
from oracle import Sampled, holds

TEXT = "H (H[0,2] (valve >= 0.5) -> pressure > 3)"
FINE = TEXT.replace("[0,2]", "[0,20]")
"""What the text says at 0.1 s a sample if its windows are in seconds."""
OPTIONS = {"none": [], "dt": ["--dt", "0.1"], "time units": ["--time-units"], "both": ["--dt", "0.1", "--time-units"]}
STEP = 0.1


def traces():
    """Open valves of many lengths, the pressure low at some time: the two readings disagree on most of them."""
    rng = np.random.default_rng(4)
    made = {}
    for number in range(12):
        valve = np.zeros(60)
        begin = int(rng.integers(0, 20))
        valve[begin : begin + (2, 5, 12, 25, 30, 40)[number % 6]] = 1
        pressure = np.full(60, 5.0)
        pressure[begin + (1, 4, 8, 22)[number % 4]] = 1
        made[f"run {number}"] = np.stack([valve, pressure])
    return made


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """The same traces with times 0.1 apart, and without any."""
    folder = tmp_path_factory.mktemp("one meaning")
    for name, timed in (("timed.csv", True), ("bare.csv", False)):
        with open(folder / name, "w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["case", *(["time"] if timed else []), "valve", "pressure", "label"])
            for number, (case, trace) in enumerate(traces().items()):
                for i, (valve, pressure) in enumerate(trace.T.tolist()):
                    label = "bad" if number % 2 else "good"
                    writer.writerow([case, *([f"{i * STEP:.1f}"] if timed else []), valve, pressure, label])
    return folder


def meant(options, dt_known):
    """The verdicts by the definition, or None where the options cannot be served."""
    if "--time-units" not in options:
        formula = parse(TEXT)
    elif "--dt" in options or dt_known:
        formula = parse(FINE)
    else:
        return None
    return judged(formula)


found = traces()


def by_eval(called, folder, file, options):
    done = called("eval", TEXT, str(folder / file), "--json", *options)
    return done if done.code > 1 else {row["case"]: row["satisfied"] for row in json.loads(done.out)["traces"]}


def by_eval_in_pieces(called, folder, file, options):
    done = called("eval", TEXT, str(folder / file), "--json", "--stream", "--piece-rows", "70", *options)
    return done if done.code > 1 else {row["case"]: row["satisfied"] for row in json.loads(done.out)["traces"]}


def by_explain(called, folder, file, options):
    told = {}
    for case in found:
        done = called("explain", TEXT, str(folder / file), "--case", case, "--json", *options)
        if done.code > 1:
            return done
        told[case] = json.loads(done.out)["satisfied"]
    return told


def by_params(called, folder, file, options):
    """The formula in which the threshold of the pressure was open."""
    text = TEXT.replace("> 3", "> ?c")
    done = called("params", text, str(folder / file), "--fpr", "1", "--fnr", "1", "--json", *options)
    return done if done.code > 1 else judged(json.loads(done.out)["text"].replace("?c", "3"))


def by_monitor(called, folder, file, options):
    told = {}
    for case, trace in found.items():
        feed = "valve,pressure\n" + "".join(f"{valve},{pressure}\n" for valve, pressure in trace.T.tolist())
        done = called("monitor", TEXT, *options, answers=feed)
        if done.code > 1:
            return done
        told[case] = done.code == 0
    return told


def by_c(called, folder, file, options):
    done = called("export", TEXT, "--to", "c", "-o", "m.c", *options)
    if done.code > 1:
        return done
    subprocess.run(["gcc", "-std=c99", "-O1", "-DFERNN_MAIN", "m.c", "-lm", "-o", "m"], check=True)
    told = {}
    for case, trace in found.items():
        feed = "".join(f"{valve} {pressure}\n" for valve, pressure in trace.T.tolist())
        told[case] = float(subprocess.run(["./m"], input=feed, text=True, capture_output=True).stdout) >= 0
    return told


def by_python(called, folder, file, options):
    done = called("export", TEXT, "--to", "python", *options)
    if done.code > 1:
        return done
    space = {}
    exec(done.out, space)
    return {
        case: space["robustness"]({"valve": trace[0].tolist(), "pressure": trace[1].tolist()}) >= 0
        for case, trace in found.items()
    }


def by_json(called, folder, file, options):
    done = called("export", TEXT, "--to", "json", *options)
    return done if done.code > 1 else judged(from_json(done.out))


def by_rtamt(called, folder, file, options):
    rtamt = pytest.importorskip("rtamt")
    done = called("export", TEXT, "--to", "rtamt", *options)
    if done.code > 1:
        return done
    told = {}
    for case, trace in found.items():
        spec = rtamt.StlDiscreteTimeSpecification()
        for name in ("valve", "pressure"):
            spec.declare_var(name, "float")
        spec.spec = done.out
        spec.parse()
        rows = {"time": list(range(60)), "valve": trace[0].tolist(), "pressure": trace[1].tolist()}
        told[case] = spec.evaluate(rows)[-1][1] > 0
    return told


def by_breach(called, folder, file, options):
    """Breach counts time: what it is given divided by the time between samples are samples again."""
    done = called("export", TEXT, "--to", "breach", *options)
    if done.code > 1:
        return done
    end = float(done.out.split("hist_[0, ")[1].split("]")[0])
    return judged(TEXT.replace("[0,2]", f"[0,{round(end / (STEP if '--dt' in options else 1))}]"))


def by_latex(called, folder, file, options):
    done = called("export", TEXT, "--to", "latex", *options)
    return done if done.code > 1 else judged(TEXT.replace("[0,2]", f"[0,{done.out.split('_{[0,')[1].split(']')[0]}]"))


def by_simplify(called, folder, file, options):
    done = called("simplify", TEXT, *options)
    return done if done.code > 1 else judged(done.out.strip())


def by_equiv(called, folder, file, options):
    pytest.importorskip("z3")
    done = called("equiv", TEXT, TEXT, "--json", "-T", "3", *options)
    return done if done.code > 1 else judged(json.loads(done.out)["first"])


def by_template(called, folder, file, options):
    """`learn` keeps to the template; the run says in samples what it was."""
    words = ["learn", str(folder / file), "--template", "H[0,2] (valve >= ?c)", "--test", "0", "--no-report"]
    done = called(*words, "--restarts", "2", "--quiet", "--out", "run", *options)
    if done.code:
        return done
    with open("run/settings.json") as handle:
        kept = json.load(handle)["learner"]["template"]
    shutil.rmtree("run")
    return judged(TEXT.replace("H[0,2] (valve >= 0.5)", kept.replace("?c", "0.5")))


def by_prior(called, folder, file, options):
    prior = json.dumps({"must_hold": [TEXT.replace("> 3", "> -9")]})
    words = ["learn", str(folder / file), "--prior", prior, "--test", "0", "--no-report", "--max-length", "2"]
    done = called(*words, "--past", "--restarts", "2", "--quiet", "--out", "run", *options)
    if done.code:
        return done
    with open("run/settings.json") as handle:
        kept = json.load(handle)["prior"]["must_hold"][0]
    shutil.rmtree("run")
    return judged(kept.replace("> -9", "> 3"))


def judged(formula):
    formula = parse(formula) if isinstance(formula, str) else formula
    named = {case: dict(zip(("valve", "pressure"), trace.tolist(), strict=True)) for case, trace in found.items()}
    return {case: holds(formula, trace, 59) for case, trace in named.items()}


WITH_FILE = [by_eval, by_eval_in_pieces, by_explain, by_params, by_template, by_prior]
WITHOUT_FILE = [
    by_monitor, by_c, by_python, by_json, by_rtamt, by_breach, by_latex, by_simplify, by_equiv,
]  # fmt: skip


def test_the_two_readings_of_the_text_disagree():
    """Or else the tests below could not fail."""
    assert judged(TEXT) != judged(FINE)
    assert set(judged(TEXT).values()) == set(judged(FINE).values()) == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("way", [*WITH_FILE, *WITHOUT_FILE])
@pytest.mark.parametrize("file", ["timed.csv", "bare.csv"])
def test_every_command_gives_the_verdicts_of_the_definition_or_refuses(called, recordings, way, options, file):
    if way in WITHOUT_FILE and file == "timed.csv":
        pytest.skip("needs no file")
    if way is by_c and shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    wanted = meant(options, dt_known=file == "timed.csv")
    told = way(called, recordings, file, options)
    if wanted is None:
        assert told.code == 3
        assert "has no known time between samples: pass --dt, or leave out --time-units" in told.err
        assert "satisfied" not in told.out
    else:
        assert told == wanted


@pytest.mark.parametrize("way", [by_eval, by_eval_in_pieces, by_explain, by_monitor, by_c, by_python, by_json])
def test_a_rule_with_functions_over_times_gets_the_verdicts_of_the_definition(called, recordings, monkeypatch, way):
    rule = "H (mean(valve, 0.5 s) >= 0.8 -> since(abs(rate(pressure)) > 30) > 4)"
    monkeypatch.setitem(globals(), "TEXT", rule)
    named = {case: Sampled(zip(("valve", "pressure"), trace.tolist(), strict=True)) for case, trace in found.items()}
    for trace in named.values():
        trace.step = STEP
    wanted = {case: holds(parse(rule), trace, 59) for case, trace in named.items()}
    assert set(wanted.values()) == {True, False}
    monkeypatch.setitem(globals(), "judged", lambda formula: wanted if formula == parse(rule) else None)
    assert way(called, recordings, "bare.csv", ["--dt", "0.1", "--unit", "s"]) == wanted
    if way is not by_json:
        done = way(called, recordings, "bare.csv", ["--dt", "0.1"])
        assert done.code == 3
        assert "--dt 0.1 --unit s" in done.err


def test_times_in_functions_are_compared_by_the_time_between_samples(called):
    pytest.importorskip("z3")
    words = ["equiv", "H (lowest(x, 0.2 s) <= 1)", "H (min(x, x - diff(x)) <= 1)", "-T", "3", "--dt"]
    same, other = called(*words, "0.1", "--unit", "s"), called(*words, "0.05", "--unit", "s")
    assert "equivalent up to rounding" in same.out
    assert "'lowest(x, 0.2 s)'" in same.out
    assert (same.code, other.code) == (4, 1)


def test_every_command_that_takes_a_formula_takes_the_option_that_changes_windows():
    names = {"formula", "structure", "first", "template", "guess", "prior"}
    taking = set()
    for command in app.registered_commands:
        given = inspect.signature(command.callback).parameters
        if names & given.keys():
            taking.add(command.name)
            assert "time_units" in given, command.name
            assert "dt" in given or "run" in given, f"{command.name}: the time between samples"
        else:
            assert "time_units" not in given, command.name
    assert taking == {"eval", "explain", "monitor", "export", "simplify", "equiv", "params", "plot", "learn", "cause"}


@pytest.mark.parametrize(
    "words", [["monitor", TEXT], ["export", TEXT, "--to", "c"], ["simplify", TEXT], ["eval", TEXT]]
)
def test_whoever_gives_a_time_between_samples_is_told_that_windows_count_samples(called, recordings, words):
    words = [*words, str(recordings / "bare.csv")] if words[0] == "eval" else words
    feed = "valve,pressure\n1,5\n"
    note = "windows in a formula count samples, here up to 2, which is 0.2 s with --dt 0.1"
    assert note in called(*words, "--dt", "0.1", "--unit", "s", answers=feed).err
    assert "windows" not in called(*words, "--dt", "0.1", "--time-units", answers=feed).err
    assert "windows" not in called(*words, answers=feed).err
    assert "windows" not in called(words[0], "H (valve <= 9)", *words[2:], "--dt", "0.1", answers=feed).err


@pytest.mark.parametrize("to", ["c", "python", "rtamt", "breach", "latex", "json"])
def test_an_export_says_what_its_windows_mean(called, to):
    head = called("export", TEXT, "--to", to, "--dt", "0.1", "--unit", "s", "--time-units").out
    if to == "json":
        assert json.loads(head) | {"dt": 0.1, "unit": "s", "windows": "samples"} == json.loads(head)
        return
    assert "Windows count samples. Samples are 0.1 s apart: 20 samples are 2 s." in head
    bare = called("export", TEXT, "--to", to).out
    assert "Windows count samples. The time between samples was not given." in bare


def test_a_name_or_a_unit_cannot_break_out_of_the_head(called):
    for to in ("rtamt", "breach", "latex", "c", "python"):
        done = called("export", "H[0,2] (x > 1)", "--to", to, "--dt", "1", "--unit", 's */ \n"""\\ \u2028 oops')
        assert done.code == 0, done.err
        if to == "python":
            exec(done.out, {})
        elif to == "c":
            assert done.out.count("*/") == called("export", "H[0,2] (x > 1)", "--to", "c", "--dt", "1").out.count("*/")
        else:
            assert len(done.out.splitlines()) == 3


@pytest.mark.parametrize("dt", ["0", "-1", "nan", "inf"])
def test_a_time_between_samples_is_a_positive_number(called, recordings, dt):
    for words in (["export", TEXT, "--to", "c"], ["monitor", TEXT], ["simplify", TEXT], ["equiv", TEXT, TEXT],
                  ["eval", TEXT, str(recordings / "bare.csv")]):  # fmt: skip
        done = called(*words, "--dt", dt, answers="valve,pressure\n1,1\n")
        assert done.code == 3
        assert "time between samples" in done.err


def test_open_ends_of_windows_are_found_in_samples_so_time_units_are_refused(called, recordings):
    for text in ("H[0,?b] (pressure > 3)", "H[?w] (pressure > 3)"):
        done = called("params", text, str(recordings / "timed.csv"), "--time-units")
        assert done.code == 3
        assert "counted in samples" in done.err or "found in samples" in done.err


def test_time_units_without_a_formula_to_read_are_refused(called, recordings):
    done = called("learn", str(recordings / "timed.csv"), "--time-units")
    assert done.code == 3
    assert "none of them is given" in done.err
