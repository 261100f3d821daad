"""Learners, export targets and engines that another package brings, used by every command that takes a name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from fernn.engines.resolve import ENGINES, EngineKind
from fernn.errors import FernnWarning, UnsupportedError
from fernn.formula import TARGETS, Target, export_formula, parse, register_target
from fernn.formula import plugins as plugins_module
from fernn.formula.plugins import Registry
from fernn.learners import METHODS, Fernn, register_learner
from fernn.learners.learner_registry import learner_from_dict, learner_to_dict

OUTSIDE = '''
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fernn import length, parse
from fernn.formula import Target
from fernn.learners import Entry, Fit
from fernn.learners.base import losses, make_front, silent

Path("loaded.txt").write_text("outside")


@dataclass(frozen=True)
class Fixed:
    """always the same rule"""

    rule: str = "G (v <= 34.3)"
    """The rule."""
    seed: int = 0

    def fit(self, data, watch=silent, resume=None, weights=None):
        formula = parse(self.rule)
        train = float(losses(formula, data).mean())
        entry = Entry(formula, length(formula), train, float("nan"), float("nan"), 1.0)
        return Fit(make_front([entry]), 0.1, "done", {})


def to_shout(formula, dt=None):
    return f"{formula} AT {dt}".upper()


SHOUT = Target("shout", to_shout, "the formula in capitals", "formula.shout", comment="--")


def make_threads(address, workers):
    Path("engine.txt").write_text(f"{address} {workers}")
    return ThreadPoolExecutor(workers or 1)
'''
POINTS = """[fernn.learners]
fixed = outside_of_fernn:Fixed
fernn = outside_of_fernn:Fixed
broken = outside_of_fernn:nowhere
worse = worse_than_that:Learner
[fernn.targets]
shout = outside_of_fernn:SHOUT
whisper = outside_of_fernn:to_shout
[fernn.engines]
threads = outside_of_fernn:make_threads
number = outside_of_fernn:length.__name__
"""


@pytest.fixture
def outside(tmp_path):
    """Runs a command beside an installed package that brings plug-ins, some of them broken."""
    place = tmp_path / "installed"
    place.mkdir()
    (place / "outside_of_fernn.py").write_text(OUTSIDE)
    (place / "worse_than_that.py").write_text("raise SystemExit('not today')\n")
    info = place / "outside_of_fernn-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-of-fernn\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    folder = tmp_path / "work"
    folder.mkdir()

    def call(*words, code=0, **environment):
        text = "import sys; from fernn.cli import main; main()"
        more = {"PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}
        done = subprocess.run(
            [sys.executable, "-c", text, *words],
            cwd=folder,
            env=os.environ | more | environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done

    call.folder = folder
    return call


@pytest.fixture
def recorded(outside):
    outside("generate", "cruise", "-o", "cruise.csv", "--cases", "20")
    return outside


def test_nothing_is_loaded_before_it_is_asked_for(recorded):
    assert "40 cases" in recorded("check", "cruise.csv").stdout
    recorded("export", "G (v <= 3)", "--to", "c")
    assert "shout" in recorded("export", "--help").stdout
    assert not (recorded.folder / "loaded.txt").exists()
    recorded("export", "G (v <= 3)", "--to", "shout")
    assert (recorded.folder / "loaded.txt").exists()


@pytest.mark.slow
def test_a_learner_from_outside_learns_is_kept_resumed_reported_and_compared(recorded):
    told = json.loads(recorded("learn", "cruise.csv", "--method", "fixed", "--out", "run", "--json").stdout)
    assert told["formula"] == "G (v <= 34.3)"
    settings = json.loads((recorded.folder / "run" / "settings.json").read_text())
    assert settings["method"] == "fixed"
    assert settings["learner"] == {"rule": "G (v <= 34.3)", "seed": 0}
    assert "finished" in recorded("learn", "--resume", "--out", "run").stderr
    recorded("report", "run", "-o", "page.html")
    assert "always the same rule" in (recorded.folder / "page.html").read_text()
    done = recorded("learn", "cruise.csv", "--method", "fixed", "--set", "rule=F (v >= 9)", "--seed", "3")
    assert "F (v >= 9)" in done.stdout
    words = ("--methods", "fixed", "--lengths", "2", "--splits", "2", "--baselines", "none", "--workers", "1")
    rows = json.loads(recorded("compare", "cruise.csv", *words, "--json").stdout)["rows"]
    assert [row["method"] for row in rows] == ["fixed"]
    assert rows[0]["formula of the first split"] == "G (v <= 34.3)"


def test_methods_lists_learners_from_outside_and_says_what_is_wrong_with_others(outside):
    done = outside("methods")
    assert "always the same rule" in done.stdout
    assert "broken" not in done.stdout
    assert "The default" in done.stdout  # the entry point of that name replaces nothing
    for name, why in (("broken", "nowhere"), ("worse", "not today")):
        (line,) = (line for line in done.stderr.splitlines() if repr(name) in line)
        assert "of the package outside-of-fernn" in line
        assert why in line
    shown = " ".join(outside("methods", "fixed").stdout.split())
    assert "--set rule=TEXT The rule. [default: G (v <= 34.3)]" in shown
    assert "--seed N The same seed gives the same rules. [default: 0]" in shown
    done = outside("methods", "broken", code=3)
    assert "the learner 'broken' (outside_of_fernn:nowhere of the package outside-of-fernn)" in done.stderr
    assert "did you mean 'fixed'?" in outside("methods", "fixd", code=3).stderr


def test_a_target_from_outside_is_written_and_listed(outside):
    done = outside("export", "G[0,2] (v <= 3)", "--to", "shout", "--dt", "0.5")
    head, meaning, text = done.stdout.splitlines()
    assert head == "-- G[0,2] (v <= 3)"
    assert "Samples are 0.5 time units apart" in meaning
    assert text == "G[0,2] (V <= 3) AT 0.5"
    listed = outside("export", "--list")
    assert "the formula in capitals" in listed.stdout
    assert "a C99 monitor" in listed.stdout
    assert "'whisper'" in listed.stderr
    assert "names a function, not a Target" in listed.stderr
    assert "--to is one of c, python" in outside("export", "true", "--to", "shoot", code=3).stderr


@pytest.mark.slow
def test_an_engine_from_outside_does_the_work(recorded):
    words = ("learn", "cruise.csv", "--max-length", "2", "--restarts", "4", "--set", "rounds=2", "--json")
    here = json.loads(recorded(*words).stdout)
    there = json.loads(recorded(*words, "--engine", "threads:2").stdout)
    assert (recorded.folder / "engine.txt").read_text() == "None 2"
    assert there["formula"] == here["formula"]
    (recorded.folder / "engine.txt").unlink()
    recorded(*words, FERNN_ENGINE="threads")
    assert (recorded.folder / "engine.txt").read_text() == "None None"
    assert "'number'" in recorded(*words, "--engine", "number", code=3).stderr
    assert "local, processes" in recorded(*words, "--engine", "thread", code=3).stderr


def test_a_settings_file_in_the_working_folder_chooses_no_engine_from_outside(recorded):
    (recorded.folder / "fernn.toml").write_text('engine = "threads"\n')
    done = recorded("learn", "cruise.csv", "--max-length", "1", code=3)
    assert "cannot choose what runs code" in done.stderr
    assert not (recorded.folder / "loaded.txt").exists()


@dataclass(frozen=True)
class Ours:
    """ours"""

    depth: int = 1

    def fit(self, data, watch=None, resume=None, weights=None): ...


@dataclass(frozen=True)
class Needy:
    depth: int

    def fit(self, data): ...


@pytest.fixture
def registered(monkeypatch):
    for registry in (METHODS, TARGETS, ENGINES):
        monkeypatch.setattr(registry, "_known", registry.loaded)


@pytest.mark.usefixtures("registered")
def test_a_learner_that_is_registered_can_be_sent_by_its_name():
    with pytest.raises(UnsupportedError, match="looked up by name"):
        learner_to_dict(Ours())
    register_learner("ours", Ours)
    told = learner_to_dict(Ours(depth=3))
    assert told == {"kind": "ours", "settings": {"depth": 3}}
    assert learner_from_dict(told) == Ours(depth=3)
    register_learner("ours", Ours)  # the same once more
    with pytest.raises(UnsupportedError, match="'fernn' already"):
        register_learner("fernn", Ours)
    for wrong in (3, Needy, Path):
        with pytest.raises(TypeError):
            register_learner("wrong", wrong)
    assert learner_to_dict(Fernn())["kind"] == "Fernn"


@pytest.mark.usefixtures("registered")
def test_a_target_that_is_registered_is_one_of_the_formats():
    register_target(Target("plain", str))
    assert export_formula(parse("G (x >= 1)"), "plain") == "G (x >= 1)"
    with pytest.raises(UnsupportedError, match="'c' already"):
        register_target(Target("c", str))


def test_a_maker_of_engines_gives_an_engine():
    with pytest.raises(UnsupportedError, match="which is no Engine"):
        EngineKind("odd", lambda address, workers: 3).start(None, None)


def test_a_registry_asks_for_entry_points_only_where_a_name_is_not_known(monkeypatch):
    def never(group):
        raise AssertionError

    monkeypatch.setattr(plugins_module, "find_entry_points", never)
    registry = Registry("fernn.nothing", "thing", {"a": 1}, lambda name, found: found)
    assert registry["a"] == 1
    assert "a" in registry
    with pytest.raises(AssertionError):
        registry.get("b")


def test_a_broken_plugin_is_told_once(monkeypatch):
    class Point:
        name, value, dist = "b", "nowhere:b", None

        def load(self):
            raise ImportError("no nowhere")

    monkeypatch.setattr(plugins_module, "find_entry_points", lambda group: (Point(),))
    registry = Registry("fernn.nothing", "thing", {"a": 1}, lambda name, found: found)
    with pytest.warns(FernnWarning, match=r"the thing 'b' \(nowhere:b\) cannot be used: no nowhere"):
        assert list(registry) == ["a"]
    assert list(registry) == ["a"]
    assert registry.names == ("a", "b")
    with pytest.raises(UnsupportedError, match="no nowhere"):
        registry.find("b", "--thing")
