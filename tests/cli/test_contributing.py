"""The recipes of CONTRIBUTING, carried out as they are written: a file in its folder, a line in its table."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import fernn
from checks import CHECKS, Case
from fernn.data import load, write_csv
from fernn.data.readers import registry as readers
from fernn.formula import TARGETS, Target
from fernn.formula.export import target as targets
from fernn.learners import METHODS, Method, learner_registry

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(what: str) -> tuple[str, str]:
    """The file and the line of a recipe."""
    text = GUIDE.partition(f"## Add a {what}\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    line = re.search(r"`((?:\"\w+\": Method|Target|FileFormat)\(.*?\))[,.]?`", text.replace("\n", " "))
    assert line is not None
    return code, line[1]


@pytest.fixture
def put(monkeypatch, tmp_path):
    """Puts a file into the folder of a package."""

    def put(package, name, code):
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setattr(import_module(package), "__path__", [*import_module(package).__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"{package}.{name}", raising=False)
        return lambda: import_module(f"{package}.{name}")

    return put


@pytest.fixture
def limits(put, monkeypatch):
    code, line = recipe("learner")
    module = put("fernn.learners", "limits", code)
    ((name, method),) = eval(f"{{{line}}}", {"Method": Method}).items()
    monkeypatch.setattr(METHODS, "_known", METHODS.loaded | {name: method})
    monkeypatch.setitem(learner_registry.BUILT_IN, name, method)
    return module().Limits


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_the_learner_of_the_guide_does_what_every_learner_must(limits, check):
    check(Case(quick=limits(grid=6, folds=2), long=limits(grid=10**5, folds=0), real=False))


def test_the_learner_of_the_guide_is_used_by_its_name(limits, called):
    write_csv(load("cruise", cases=20), "cruise.csv")
    told = json.loads(called("learn", "cruise.csv", "--method", "limits", "--set", "grid=8", "--json").out)
    assert re.fullmatch(r"G \(v <= [\d.]+\)", told["formula"])
    assert "How many limits of each channel are tried. [default: 16]" in " ".join(
        called("methods", "limits").out.split()
    )
    assert learner_registry.learner_to_dict(replace(limits(), grid=3))["kind"] == "Limits"


def test_the_target_of_the_guide_is_written_listed_and_helped_with(put, called, monkeypatch):
    code, line = recipe("target")
    put("fernn.formula.export", "markdown", code)
    made = eval(line, {"Target": Target})
    monkeypatch.setattr(TARGETS, "_known", TARGETS.loaded | {made.name: made})
    assert targets.BUILT_IN[0].name in TARGETS
    done = called("export", "G[0,20] (v <= 3)", "--to", "markdown", "--dt", "0.1", "--unit", "s")
    assert "`G[0,20] (v <= 3)`" in done.out
    assert "2 s" in done.out
    assert "a quotation for a wiki" in called("export", "--list").out
    assert "json, markdown" in " ".join(called("export", "--help").out.split())


def test_the_reader_of_the_guide_reads_files(put, monkeypatch, tmp_path):
    code, line = recipe("reader")
    put("fernn.data.readers", "log", code)
    made = eval(line, {"FileFormat": readers.FileFormat})
    monkeypatch.setattr(readers, "_formats", {**readers._formats, **dict.fromkeys(made.suffixes, made)})
    (tmp_path / "drive.log").write_text("a ok 1 2 3\nb bad 7 8 9\nc ok 1 1 2\nd bad 9 9 9\n")
    data = fernn.read(tmp_path / "drive.log", good="ok")
    assert data.cases == ("a", "b", "c", "d")
    assert data.trace("b").tolist() == [[7.0, 8.0, 9.0]]


@pytest.mark.parametrize("what", ["learner", "reader", "target"])
def test_a_recipe_is_short(what):
    text = GUIDE.partition(f"## Add a {what}\n")[2].partition("\n## ")[0]
    words = re.sub(r"```python\n.*?```", "", text, flags=re.DOTALL).split("\n")
    assert len([line for line in words if line.strip()]) <= 10
