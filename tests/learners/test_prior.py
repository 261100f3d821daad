"""What is known before is kept to, and where the data contradict it that is said."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from fernn.data import Dataset, write_csv
from fernn.errors import DataError, FernnError, FernnWarning, FormulaError, UnsupportedError
from fernn.formula import Atom, channels, parse, walk
from fernn.learners import Enumerative, Fernn, Prior, Range, Tree, constrain, read_prior
from fernn.learners.constraints import violations
from fernn.learners.enumerative.audit import audit
from fernn.learners.enumerative.certificate import Certificate
from fernn.runs.job import select_certified
from fernn.semantics import satisfied

LEARNERS = [Fernn(max_length=4, rounds=6, restarts=16), Enumerative(max_length=4, folds=0)]
IDS = ["fernn", "enumerative"]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=IDS)


def made(n: int = 60, name: str = "v") -> Dataset:
    """Good where v stays below 1.5 and w above -2."""
    values = np.random.default_rng(0).normal(size=(n, 3, 8)).cumsum(axis=2).round(2)
    good = (values[:, 0].max(1) <= 1.5) & (values[:, 1].min(1) >= -2)
    return Dataset(values, good.astype(int), ("bad", "good"), (name, "w", "u"), name="made")


def fitted(learner, prior, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernnWarning)
        return constrain(learner, prior).fit(data)


def bounds(formula, channel):
    return [
        (node.relation, node.threshold) for node in walk(formula) if isinstance(node, Atom) and channel in node.channels
    ]


@each_learner
def test_a_forbidden_channel_is_not_read(learner):
    front = fitted(learner, Prior(without=("v",)), made()).front
    assert front
    assert all("v" not in channels(entry.formula) for entry in front)


@each_learner
def test_thresholds_stay_in_their_range_and_errors_are_those_of_the_data_as_they_are(learner):
    data = made()
    front = fitted(learner, Prior(ranges={"v": Range(0.0, 1.0)}), data).front
    assert any(bounds(entry.formula, "v") for entry in front)
    for entry in front:
        assert all(0 <= threshold <= 1 for _, threshold in bounds(entry.formula, "v"))
        assert entry.train == pytest.approx(np.mean(satisfied(entry.formula, data) != data.positive))


def test_a_range_loses_no_rule_that_lies_in_it():
    data = made()
    free, held = Enumerative(max_length=4, folds=0, thresholds="exact"), Prior(ranges={"v": Range(1.0, 2.0)})
    assert free.fit(data).front[-1].train == fitted(free, held, data).front[-1].train == 0


@each_learner
def test_a_monotone_channel_is_bounded_one_way(learner):
    prior = Prior(monotone={"v": "larger is better", "w": "larger is worse"})
    for entry in fitted(learner, prior, made()).front:
        assert all(relation in (">=", ">") for relation, _ in bounds(entry.formula, "v"))
        assert all(relation in ("<=", "<") for relation, _ in bounds(entry.formula, "w"))


@pytest.mark.parametrize("learner", [Fernn(max_length=4), LEARNERS[1]], ids=IDS)
def test_what_agrees_with_the_planted_rule_still_finds_it(learner):
    data = made()
    prior = Prior(monotone={"v": "larger is worse", "w": "larger is better"}, ranges={"v": Range(-1, 3)})
    assert fitted(learner, prior, data).front[-1].train == 0


@each_learner
def test_the_rule_implies_what_must_hold(learner):
    data = made()
    must = parse("G (w >= -2)")
    front = fitted(learner, Prior(must_hold=(must,)), data).front
    for trace_set in (data, made(200)):
        for entry in front:
            assert not (satisfied(entry.formula, trace_set) & ~satisfied(must, trace_set)).any()
    assert front[-1].train == 0
    for entry in front:
        assert entry.train == pytest.approx(np.mean(satisfied(entry.formula, data) != data.positive))


def test_what_must_hold_is_all_of_the_rule_where_it_leaves_one_class():
    values = np.array([[[1.0, 2]], [[2, 1]], [[9, 9]], [[8, 9]]])
    data = Dataset(values, np.array([1, 1, 0, 0]), ("bad", "good"), ("v",), name="four")
    front = fitted(Fernn(), Prior(must_hold=(parse("G (v <= 5)"),)), data).front
    assert [str(entry.formula) for entry in front] == ["G (v <= 5)"]


@each_learner
def test_good_traces_that_violate_what_must_hold_are_named(learner):
    data = made()
    broken = data.positive & ~satisfied(parse("G (v <= 1)"), data)
    with pytest.warns(FernnWarning, match=f"{broken.sum()} of {data.positive.sum()} good traces") as caught:
        fit = constrain(learner, Prior(must_hold=(parse("G (v <= 1)"),))).fit(data)
    first = data.cases[int(np.flatnonzero(broken)[0])]
    assert any(repr(first) in str(warning.message) for warning in caught)
    assert any("must hold" in note for note in fit.notes)


def test_values_outside_of_a_range_are_counted_and_a_range_without_values_is_refused():
    data = made()
    values = data.values[:, 0]
    outside = int(((values < 0) | (values > 1)).sum())
    with pytest.warns(FernnWarning, match=f"{outside} of {values.size} samples"):
        constrain(LEARNERS[1], Prior(ranges={"v": Range(0, 1)})).fit(data)
    with pytest.raises(DataError, match="no such threshold tells two traces apart"):
        constrain(LEARNERS[1], Prior(ranges={"v": Range(1000, 2000)})).fit(data)


def test_a_unit_that_differs_from_that_of_the_channel_is_refused_and_one_that_cannot_be_checked_is_told():
    prior = Prior(ranges={"v [m/s]": Range(0, 1, "km/h")})
    with pytest.raises(DataError, match=r"in km/h, its name says m/s"):
        constrain(LEARNERS[1], prior).fit(made(name="v [m/s]"))
    with pytest.warns(FernnWarning, match="do not say in which unit v is"):
        constrain(LEARNERS[1], Prior(ranges={"v": Range(0, 1, "km/h")})).fit(made())


def test_a_direction_against_the_data_is_doubted():
    with pytest.warns(FernnWarning, match="larger is better, but in .* the good one has the smaller mean of v"):
        constrain(LEARNERS[1], Prior(monotone={"v": "larger is better"})).fit(made())


@pytest.mark.parametrize(
    ("prior", "why"),
    [
        ({"template": "G (v <= ?c)", "without": ["v"]}, "it reads 'v', which it is to do without"),
        ({"must_hold": ["G (v >= 3)"], "monotone": {"v": "larger is worse"}}, "the wrong way"),
        ({"template": "G (v >= ?c)", "monotone": {"v": "larger is worse"}}, "the wrong way only"),
        ({"must_hold": ["G (v <= 60)"], "ranges": {"v": [0, 40]}}, "outside of 0 to 40"),
        ({"ranges": {"v": [0, 40]}, "without": ["v"]}, "ranges speaks of 'v'"),
        ({"must_hold": ["v <= 3"]}, "looks back or ahead"),
        ({"ranges": {"v": [4, 4]}}, "from a smaller to a larger"),
        ({"monotone": {"v": "up"}}, "larger is worse"),
        ({"sort": 1}, "found 'sort'"),
        ({"ranges": {"v": 3}}, "an object was expected"),
        ([], "an object was expected"),
    ],
)
def test_a_prior_that_contradicts_itself_or_is_none_is_refused(prior, why):
    with pytest.raises((FernnError, FormulaError), match=why):
        Prior.from_json(prior)


def test_negations_turn_the_way_of_a_bound():
    prior = Prior(monotone={"v": "larger is worse"})
    assert not list(violations(parse("!(F (v > 3)) & (G (v >= 3) -> G (v <= 4))"), prior))
    assert len(list(violations(parse("!(F (v < 3)) | (G (v <= 3) -> G (v >= 4))"), prior))) == 3
    assert len(list(violations(parse("G (w - 2*v <= 3)"), prior))) == 1


@pytest.mark.parametrize(
    ("learner", "prior", "why"),
    [
        (Tree(), Prior(monotone={"v": "larger is worse"}), "takes no template"),
        (Fernn(atoms="linear"), Prior(ranges={"v": Range(0, 1)}), "atoms on one channel"),
        (Fernn(direction="past"), Prior(must_hold=(parse("G (v <= 3)"),)), "looks future, the rule past"),
        (Fernn(template=parse("G ?p")), Prior(template=parse("F ?p")), "two templates"),
    ],
)
def test_what_a_learner_cannot_keep_to_is_refused(learner, prior, why):
    with pytest.raises(UnsupportedError, match=why):
        fitted(learner, prior, made())


def test_a_tree_keeps_to_what_needs_no_template():
    data = made()
    prior = Prior(without=("u",), ranges={"v": Range(0, 2)})
    for entry in fitted(Tree(depth=2, folds=0), prior, data).front:
        assert not list(violations(entry.formula, prior))


def test_a_channel_that_is_not_in_the_data_is_named():
    with pytest.raises(DataError, match=r"without names 'vv'.*did you mean 'v'"):
        constrain(Fernn(), Prior(without=("vv",))).fit(made())


def test_a_certificate_can_be_checked_with_the_data_as_the_prior_shows_them():
    data = made()
    fit = fitted(Enumerative(max_length=2, folds=0), Prior(ranges={"v": Range(0, 1)}, without=("u",)), data)
    proof = Certificate.from_json(json.loads(json.dumps(fit.artifacts["certificate.json"])))
    assert audit(proof, select_certified(proof, data)).stands


def test_a_prior_is_read_from_toml_and_from_json_and_written_back(tmp_path):
    file = tmp_path / "prior.toml"
    file.write_text(
        'must_hold = ["G (v <= 60)"]\nwithout = ["u"]\n[ranges]\nw = [0, 40]\nv = {high = 70, unit = "m/s"}\n'
        '[monotone]\nv = "larger is worse"\n'
    )
    prior = read_prior(file)
    assert prior.ranges == {"w": Range(0, 40), "v": Range(high=70, unit="m/s")}
    (tmp_path / "prior.json").write_text(json.dumps(prior.to_json()))
    assert read_prior(tmp_path / "prior.json") == prior
    (tmp_path / "bad.toml").write_text("must_hold = [")
    with pytest.raises(DataError, match=r"bad\.toml is not TOML"):
        read_prior(tmp_path / "bad.toml")


def test_the_command_keeps_to_the_prior_says_the_contradictions_and_goes_on_with_it(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fernn.cli.main import app

    monkeypatch.chdir(tmp_path)
    write_csv(made(), tmp_path / "made.csv")
    (tmp_path / "prior.toml").write_text('must_hold = ["G (v <= 1)"]\nwithout = ["u"]\n')
    words = ["learn", "made.csv", "--prior", "prior.toml", "--method", "enumerative", "--max-length", "3", "-q"]
    done = CliRunner().invoke(app, [*words, "--folds", "0", "--out", "run"])
    assert done.exit_code == 0, done.output
    assert "must hold, but" in done.output
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["prior"]["must_hold"] == ["G (v <= 1)"]
    front = json.loads((tmp_path / "run" / "front.json").read_text())
    assert all("u" not in channels(parse(row["formula"])) for row in front["entries"])
    again = CliRunner().invoke(app, ["learn", "--resume", "--out", "run", "--prior", "prior.toml"])
    assert again.exit_code != 0
