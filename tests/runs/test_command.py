"""The command that makes a run again."""

import json
import shlex
import sys

import numpy as np
import pytest

from fernn.cli import main
from fernn.data import from_arrays, write_csv
from fernn.errors import DataError
from fernn.formula import parse
from fernn.learners import Prior, Range, read_prior
from fernn.runs import METHODS, plan
from fernn.runs.command import command, suggestions

GIVEN = [
    ("fernn", {}),
    ("fernn", {"max_length": 3, "seed": 7, "time_limit": 2.5, "restarts": 8}),
    ("fernn", {"direction": "past", "since": False, "intervals": True, "class_weight": "balanced", "miss_cost": 2.0}),
    ("fernn", {"template": "G (?p -> F[?w 0,9] ?q)", "guesses": ["G (v <= 3)", "-v >= -2"], "atoms": "linear"}),
    ("enumerative", {"grid": 8, "tolerance": 0.01, "max_misses": 0.1, "memory": "1GB", "exhaust": True}),
    ("enumerative", {"thresholds": "exact", "max_length": 3, "max_false_alarms": 0.25}),
    ("tree", {"depth": 2, "seed": 1, "folds": 0}),
    ("lattice", {"preset": "published"}),
    ("maxsat", {"max_error": 0.1}),
    ("paper", {"length": 3}),
]


@pytest.fixture
def understood(monkeypatch):
    """What `fernn learn` makes of a command: the plan of its run."""

    def read(text):
        words = shlex.split(text)
        assert words[:2] == ["fernn", "learn"]
        found = []

        def learn_from(file, reading, settings, method, *, test, classes, order, prior, **_):
            known = None if prior is None else read_prior(prior)
            found.append(plan(file, reading, method, settings, test, known, classes, order))
            raise SystemExit(0)

        monkeypatch.setattr("fernn.pipeline.learn_from", learn_from)
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit):
            sys.modules[main.__module__]._code()
        return found[0]

    return read


@pytest.mark.parametrize(("method", "given"), GIVEN, ids=lambda each: each if isinstance(each, str) else ",".join(each))
def test_every_setting_comes_back(understood, method, given):
    planned = plan("drive.csv", {}, method, given, test=0.25)
    again = understood(command(planned))
    assert again["learner"] == planned["learner"]
    assert (again["method"], again["split"]) == (planned["method"], planned["split"])


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_each_setting_of_each_method_can_be_said(understood, name):
    """Numbers one more, words and flags turned: whatever a run may have been given."""
    for key, value in METHODS[name].defaults.items():
        other = {bool: lambda v: not v, int: lambda v: v + 1, float: lambda v: v + 0.5}.get(type(value))
        if other is not None:
            planned = plan("drive.csv", {}, name, {key: other(value)})
            assert understood(command(planned))["learner"] == planned["learner"]


PRIORS = [
    Prior(must_hold=(parse("G (v <= 60)"),), without=("w",)),
    Prior(ranges={"it's": Range(20, 40.5, "km/h")}, monotone={"v": "larger is worse"}),
    Prior(ranges={"v": Range(low=-1e-3)}, template=parse("G ?p & G ?q")),
]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_what_is_known_before_comes_back(understood, prior):
    planned = plan("drive.csv", {}, "enumerative", {"max_length": 3}, prior=prior)
    assert "--prior" in command(planned)
    assert Prior.from_json(understood(command(planned))["prior"]) == prior
    assert understood(command(planned)) | {"reading": {}} == planned


@pytest.mark.parametrize(
    ("kind", "method", "given"),
    [
        ("each", "fernn", {"max_length": 3, "class_weight": "balanced", "time_limit": 4.0}),
        ("each", "enumerative", {"grid": 8}),
        ("list", "fernn", {"intervals": True, "seed": 4}),
        ("list", "tree", {"depth": 2}),
        ("ranked", "fernn", {"restarts": 9}),
        ("one", "fernn", {"share": 0.05, "since": True, "made": 300, "seed": 3, "direction": "past"}),
        ("one", "fernn", {}),
    ],
)
def test_rules_for_classes_come_back(understood, kind, method, given):
    planned = plan("drive.csv", {}, method, given, 0.3, classes=kind)
    planned |= {"order": ["low", "mid", "high"]} if kind == "ranked" else {}
    assert understood(command(planned)) | {"reading": {}} == planned


def test_weights_of_classes_come_back(understood):
    planned = plan("drive.csv", {}, "fernn", {"class_weight": {"bad": 3.0, "good": 1.0}, "false_alarm_cost": 0.1})
    assert understood(command(planned))["learner"] == planned["learner"]


def test_how_the_data_are_read_comes_back(understood):
    reading = {"label": "kind", "good": "-1", "channels": ["a", "b"], "delimiter": ";", "steps": True, "case": "run id"}
    again = understood(command(plan("my drive's.csv", reading)))
    assert {name: again["reading"][name] for name in reading} == reading
    assert again["file"] == "my drive's.csv"


def test_every_way_of_reading_comes_back(understood):
    reading = {"label_kind": "real", "layout": "tidy", "header": False, "decimal": ",", "encoding": "latin-1",
               "bad_rows": "skip", "nonfinite": "hold", "dt": 0.1, "unit": "s", "memory_limit": 10**9, "time": "t",
               "group": "patient"}  # fmt: skip
    again = understood(command(plan("drive.csv", reading)))["reading"]
    assert {name: again[name] for name in reading} == reading


def test_a_prior_that_is_no_json_is_told():
    with pytest.raises(DataError, match="is not JSON"):
        read_prior('{"without": [}')


def test_no_label_column_and_a_file_elsewhere_are_said(understood):
    again = understood(command(plan("gone.csv", {"label": None}), file="here.csv"))
    assert again["reading"]["label"] is None
    assert again["file"] == "here.csv"


def test_the_command_of_a_run_gives_its_front_again(tmp_path, monkeypatch):
    random = np.random.default_rng(4)
    values = random.normal(size=(60, 2, 20)).cumsum(axis=2)
    good = (values[:, 0].max(axis=1) <= 2.5) ^ (random.random(60) < 0.1)
    write_csv(from_arrays(values, good.astype(int), channels=("v", "w")), tmp_path / "drive.csv")
    lines = (tmp_path / "drive.csv").read_text().splitlines()
    rows = [line for line in lines if not line.startswith("#")]  # without what fernn notes about itself
    (tmp_path / "drive.csv").write_text("\n".join([rows[0].replace("label", "kind"), *rows[1:]]) + "\n")
    monkeypatch.chdir(tmp_path)
    settings = "--label kind --good 0 --max-length 3 --restarts 6 --seed 5 --no-since --test 0.3"
    fronts = []
    words = ["fernn", "learn", "drive.csv", *settings.split(), "--out", "first", "--quiet", "--no-report"]
    for folder in ("first", "second"):
        monkeypatch.setattr(sys, "argv", words)
        assert sys.modules[main.__module__]._code() == 0
        front = json.loads((tmp_path / folder / "front.json").read_text())
        fronts.append((front["pick"], front["entries"]))
        said = command(json.loads((tmp_path / folder / "settings.json").read_text()))
        words = [*shlex.split(said), "--out", "second", "--quiet", "--no-report"]
    assert fronts[0] == fronts[1]


TWO = from_arrays(np.random.default_rng(0).normal(size=(8, 2, 9)), [0, 1] * 4, ["v", "w"])
STEPS, SIGNALS = {"steps=True"}, {"signals='auto'"}
READ = {"label": "kind", "good": "ok", "decimal": ",", "delimiter": ";"}


@pytest.mark.parametrize(
    ("method", "given", "settings"),
    [
        ("fernn", {}, {"intervals=True", *SIGNALS, "direction='past'", "atoms='linear'", *STEPS}),
        ("fernn", {"intervals": True, "direction": "past"}, {*SIGNALS, "atoms='linear'", "steps=True"}),
        ("fernn", {"atoms": "linear", "max_length": 2, "signals": "auto"},
         {"max_length=6", "intervals=True", "direction='past'", *STEPS}),
        ("enumerative", {"intervals": True}, {*SIGNALS, "direction='past'", "atoms='differences'", *STEPS}),
        ("fernn", {"template": "G (?p -> F ?q)"}, {"steps=True"}),
    ],
)  # fmt: skip
def test_what_was_not_tried_is_suggested_as_a_command_that_reads_alike(understood, method, given, settings):
    planned = plan("drive.csv", READ, method, given)
    *ways, more = suggestions(planned, TWO, "here.csv")
    assert {way.setting for way in ways} == settings
    assert (more.setting, more.command) == ("", "")
    assert "runs" in more.what
    for way in ways:
        again = understood(way.command)
        name, _, value = way.setting.partition("=")
        place = again["reading"] if name == "steps" else again["learner"]
        assert str(place[name]) == value.strip("'")
        assert again["reading"].items() >= READ.items()
        assert again["file"] == "here.csv"
        assert {k: v for k, v in again["learner"].items() if k != name} == {
            k: v for k, v in planned["learner"].items() if k != name
        }


def test_what_the_data_do_not_allow_is_not_suggested():
    alone = suggestions(plan("drive.csv", {}), TWO.select(["v"]))
    assert not any("atoms" in way.setting for way in alone)
    changes = from_arrays(np.asarray(TWO.values), [0, 1] * 4, ["v", "v_diff"])
    assert not any("steps" in way.setting for way in suggestions(plan("drive.csv", {}), changes))
    still = from_arrays(np.asarray(TWO.values)[:, :, :1], [0, 1] * 4, ["v", "w"])
    assert [way.setting for way in suggestions(plan("drive.csv", {}), still)] == ["atoms='linear'", ""]
    assert all(
        "--one-class" in way.command
        for way in suggestions(plan("a.csv", {}, "fernn", {}, 0.2, classes="one"), TWO)[:-1]
    )
