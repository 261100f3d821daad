"""Causes that are there are found; what is said of them is true."""

from __future__ import annotations

import json

import by_hand
import numpy as np
import pytest

import fernn
from checks import assert_goes_on_alike
from fernn.errors import DataError, FernnError, UnsupportedError
from fernn.formula import direction, horizon, length, parse
from fernn.learners.enumerative.threshold_margins import center_thresholds
from fernn.mining import TANK_CAUSE, Cause, mark_faults, report_faults, tank
from fernn.mining.fault_costs import disjunction, fault_costs, holds_at_samples
from fernn.mining.set_cover import Refinement

QUICK = {"folds": 0, "grid": 6, "max_length": 2}


def same_verdicts(fit, made):
    return (holds_at_samples(fit.formula, made) == holds_at_samples(parse(TANK_CAUSE), made)).all()


@pytest.fixture(scope="module")
def clean():
    return Cause().fit(tank(cases=10))


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_cause_is_found_exactly(seed):
    fit = Cause(folds=0).fit(tank(cases=10, seed=seed))
    assert fit.front.picked.train == 0
    assert fit.proved
    assert same_verdicts(fit, tank(cases=50, seed=99))


def test_with_wrong_marks_the_error_is_that_of_the_marks_and_the_cause_stays():
    made = tank(cases=16, seed=3, flip=0.05)
    fit = Cause(folds=2, max_length=3).fit(made)
    wrong = np.mean(made.flat != holds_at_samples(parse(TANK_CAUSE), made))
    assert fit.front.picked.train == pytest.approx(wrong, abs=0.005)
    assert same_verdicts(fit, tank(cases=50, seed=99))


@pytest.mark.parametrize(
    "cause", ["O[3,3] (a >= 2)", "b <= 0 & O[1,4] (a >= 2)", "a <= 1 S b >= 2", "H[1,2] (a >= 1) & b >= 1"]
)
def test_causes_of_every_usual_form_are_found(cause):
    rng = np.random.default_rng(7)
    X = [rng.integers(0, 3, (2, n)).astype(float) for n in (40, 25, 60, 31, 50, 12)]
    there = fernn.satisfied(cause, X, ["a", "b"], at="all")
    fit = Cause(folds=0, reach=6).fit(mark_faults(X, there, channels=["a", "b"]))
    assert fit.front.picked.train == 0
    assert len(fit.rules) == 1
    assert length(fit.formula) <= length(parse(cause))


@pytest.mark.parametrize("cause", ["a <= 0 B b >= 2", "a >= 2 T b <= 1"])
def test_causes_with_weak_operators_are_found_where_a_template_names_them(cause):
    rng = np.random.default_rng(7)
    X = [rng.integers(0, 3, (2, n)).astype(float) for n in (40, 25, 60, 31, 50, 12)]
    there = fernn.satisfied(cause, X, ["a", "b"], at="all")
    fit = Cause(templates=("?p B ?q", "?p T ?q"), folds=0).fit(mark_faults(X, there, channels=["a", "b"]))
    assert fit.front.picked.train == 0
    assert (fernn.satisfied(fit.formula, X, ["a", "b"], at="all")[0] == there[0]).all()


def test_templates_say_what_is_tried_and_what_is_fixed_stays():
    made = tank(cases=8)
    fit = Cause(templates=("O[?w] (valve <= 12)", "H[0,2] ?p{pump}"), folds=0).fit(made)
    for rule in fit.rules:
        text = str(rule)
        assert "(valve <= 12)" in text or text.startswith("H[0,2] (pump")
    assert {type(rule).__name__ for rule in fit.rules} <= {"Once", "Historically"}
    near = Cause(templates=("O[?w 6,8] ?p{valve}",), folds=0).fit(made)
    assert 6 <= near.formula.over.start <= near.formula.over.end <= 8


def test_no_rule_looks_ahead(clean):
    made = tank(cases=10)
    for entry in clean.front:
        assert direction(entry.formula) in ("past", "now")
        assert horizon(entry.formula)[1] == 0
    rng = np.random.default_rng(0)
    trace = made.data.values[0]
    before = fernn.satisfied(clean.formula, trace[None], made.data.channels, at="all")[0]
    for at in (1, 30, 77):
        other = trace.copy()
        other[:, at:] = rng.normal(50, 40, other[:, at:].shape)
        after = fernn.satisfied(clean.formula, other[None], made.data.channels, at="all")[0]
        assert (after[:at] == before[:at]).all()


def test_each_entry_errs_as_the_definition_says_and_less_than_all_shorter_ones(clean):
    made = tank(cases=10)
    errors = [entry.train for entry in clean.front]
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors)
    for entry in clean.front:
        said = np.asarray(fernn.satisfied(str(entry.formula), made.data, at="all")).ravel()
        assert entry.train == pytest.approx(np.mean(said != made.flat))
        assert entry.length == length(entry.formula)
    assert not np.isnan(clean.front.picked.validation)


def test_validation_is_on_traces_that_were_not_seen():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 1, 40))
    fit = Cause(folds=4, max_length=2, grid=8).fit(mark_faults(X, rng.random((12, 40)) < 0.3))
    assert fit.front[-1].validation > fit.front[-1].train
    assert fit.front.picked.length <= fit.front[-1].length


def test_where_nothing_can_be_held_out_that_is_said():
    for made in (tank(cases=1), mark_faults(np.tile(np.arange(20.0), (4, 1)), np.tile(np.arange(20) > 9, (4, 1)))):
        fit = Cause(max_length=2).fit(made)
        assert np.isnan(fit.front.picked.validation)
        assert "no validation" in " ".join(fit.notes)
    X = np.arange(60.0).reshape(3, 20)
    alone = np.zeros((3, 20), bool)
    alone[0, 3:7] = True
    assert "too few traces" in " ".join(Cause(max_length=1).fit(mark_faults(X, alone)).notes)


def test_samples_at_the_edges_of_a_fault_do_not_count_within_the_tolerance():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 60))
    X[:, 20:30] += 20
    late = np.zeros((6, 60), bool)
    for row in late:
        row[20 + rng.integers(0, 3) : 30 + rng.integers(0, 3)] = True
    made = mark_faults(X, late)
    strict, lenient = (Cause(tolerance=t, **QUICK).fit(made) for t in (0, 3))
    assert lenient.front.picked.train == 0 < strict.front.picked.train
    assert length(lenient.formula) == 1
    assert lenient.account.error == 0
    with pytest.raises(UnsupportedError, match="no faulty sample counts"):
        Cause(tolerance=40, **QUICK).fit(made)


@pytest.mark.slow
def test_costs_and_the_limit_decide_between_misses_and_false_alarms():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 50))
    made = mark_faults(X, X + rng.normal(size=X.shape) > 0.5)
    accounts = {
        name: Cause(**QUICK, **more).fit(made).account
        for name, more in {
            "even": {},
            "careful": {"miss_cost": 10},
            "calm": {"false_alarm_cost": 10},
            "limit": {"max_false_alarms": 0.01},
        }.items()
    }  # fmt: skip
    assert accounts["careful"].missed < accounts["even"].missed < accounts["calm"].missed
    assert accounts["limit"].false_alarms <= 0.01 * accounts["limit"].healthy < accounts["even"].false_alarms


@pytest.mark.parametrize("seed", range(5))
def test_settling_never_costs_more_and_leaves_thresholds_in_the_middle_of_their_gaps(seed):
    made = by_hand.noisy(seed, cases=4, samples=20, levels=9)
    judged = fault_costs(made)
    rules = (parse("O[1,3] (a >= 4.1)"), parse("b <= 2.2 & a >= 0.9"))
    settled = Refinement(6)(rules, judged)
    assert len(settled) == 2
    assert judged.standing(judged.holds_any(settled)) <= judged.standing(judged.holds_any(rules))
    assert by_hand.cost(by_hand.held(disjunction(settled), made), made) == judged.standing(judged.holds_any(settled))[1]
    again = center_thresholds(disjunction(settled), made.data, samples=True)
    assert (holds_at_samples(again, made) == holds_at_samples(disjunction(settled), made)).all()


def test_the_account_tells_each_fault_and_each_rule():
    a = np.zeros((2, 12))
    b = np.zeros((2, 12))
    faulty = np.zeros((2, 12), bool)
    faulty[0, 2:6], faulty[0, 8:10], faulty[1, 4:8] = True, True, True
    a[0, 3:6] = 1  # one sample late
    b[0, 4:6] = 1
    b[1, 4:9] = 1  # at once, and one sample too long
    a[1, 0:2] = 1  # a false alarm
    told = report_faults(
        [parse("a >= 0.5"), parse("b >= 0.5")], mark_faults(np.stack([a, b], 1), faulty, channels=["a", "b"])
    )
    assert [(e.case, e.start, e.end, e.rule, e.delay) for e in told.episodes] == [
        ("0", 2, 5, 0, 1), ("0", 8, 9, None, None), ("1", 4, 7, 1, 0),
    ]  # fmt: skip
    assert [(r.explains, r.alone, r.false_alarms) for r in told.rules] == [(3, 1, 2), (6, 4, 1)]
    assert (told.faulty, told.healthy, told.missed, told.false_alarms) == (10, 14, 3, 3)
    assert (told.detected, told.false_alarm_episodes) == (2, 1)
    assert told.error == 6 / 24


def test_the_result_is_plain_data_and_plain_words(clean):
    told = json.loads(json.dumps(clean.to_json()))
    assert told["schema"] == 1
    assert fernn.parse(told["formula"]) == clean.formula
    assert told["account"]["rules"][0]["alone"] > 0
    assert "earlier valve is at most" in str(clean)
    assert "faults seen, at once; 0 false alarms" in str(clean)


def test_an_interrupt_and_the_time_limit_keep_the_best_and_the_search_goes_on_from_there():
    made = tank(cases=6)
    whole = Cause(max_length=3, folds=2).fit(made)

    def stop(progress):
        raise KeyboardInterrupt

    cut = Cause(max_length=3, folds=2).fit(made, stop)
    assert cut.ended == "interrupted"
    assert len(cut.front) < len(whole.front)
    again = Cause(max_length=3, folds=2).fit(made, resume=json.loads(json.dumps(cut.state)))
    assert (again.front, again.ended) == (whole.front, "done")
    assert Cause(max_length=3, folds=2, time_limit=1e-6).fit(made).ended == "time limit"
    with pytest.raises(FernnError, match="another fit"):
        Cause(max_length=2, folds=2).fit(made, resume=cut.state)


def test_a_search_for_causes_ends_the_same_wherever_it_was_cut_off():
    assert_goes_on_alike(
        Cause(max_length=1, folds=2, grid=6), tank(cases=4), lambda fit: (fit.front, fit.proofs, fit.remarks)
    )


def test_progress_rises_and_tells_of_a_front_that_improves():
    seen = []
    Cause(max_length=2, folds=2).fit(tank(cases=6), seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert seen[0].front[-1].train >= seen[-1].front[-1].train


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_length": 0}, "max_length is at least 1"),
        ({"folds": 1}, "folds are 2 or more"),
        ({"miss_cost": -1}, "miss_cost"),
        ({"max_false_alarms": 2}, "share"),
        ({"templates": ("F ?p",)}, "looks back"),
        ({"templates": ("O (speed >= 3)",)}, "reads 'speed'"),
        ({"memory": "much"}, "memory"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, says):
    with pytest.raises(FernnError, match=says):
        Cause(**settings).fit(tank(cases=2, samples=30))


def test_a_limit_that_no_rule_keeps_to_is_told():
    made = tank(cases=2)
    with pytest.raises(UnsupportedError, match="max_false_alarms"):
        Cause(templates=("valve >= 0",), max_false_alarms=0.0, folds=0).fit(made)


def test_data_without_faults_or_with_nothing_else_are_refused():
    X = np.arange(10.0)[None]
    with pytest.raises(DataError, match="none of the 10 samples"):
        Cause().fit(mark_faults(X, np.zeros((1, 10))))
    with pytest.raises(DataError, match="every one of the 10 samples"):
        Cause().fit(mark_faults(X, np.ones((1, 10))))


def test_what_did_not_fit_into_memory_is_told_and_nothing_is_proved():
    fit = Cause(memory="1KB", max_length=2, folds=0).fit(tank(cases=4, flip=0.05))
    assert "did not fit into memory" in " ".join(fit.notes)
    assert not any(fit.proofs)
