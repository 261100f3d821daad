"""Signals that rules read besides the channels: named by the user, or found by screening."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fernn.data import Dataset
from fernn.errors import UnsupportedError
from fernn.formula import Atom, parse
from fernn.learners import Enumerative, Fernn, Tree
from fernn.learners.base import losses
from fernn.learners.lattice.lattice import Lattice
from fernn.learners.screening import (
    ERROR,
    all_candidates,
    make_screening,
    rank_signals,
    screen_signals,
    short_number_between,
)
from fernn.learners.screening_kernels import best_thresholds
from fernn.learners.signals import (
    candidate_pairs,
    extend_data,
    functions_of,
    name_signals,
    parse_expression,
    rule_length,
    spell_signals,
)
from fernn.semantics import robustness, satisfied


def planted(formula, cases=80, samples=40, channels=("x", "y"), seed=0, dt=None):
    """Smooth random traces, labelled by a formula whose threshold is the median of what it compares."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(cases, len(channels), samples))
    values = np.cumsum(steps, axis=2) * 0.4 + rng.normal(size=(cases, len(channels), 1))
    bare = Dataset(values, channels=channels, dt=dt, time_unit=None if dt is None else "s")
    node = parse(formula)
    at = float(np.median(robustness(node, bare)))
    atom = node.inner
    sign = 1 if atom.relation == ">=" else -1
    moved = replace(node, inner=Atom(atom.weights, atom.relation, atom.threshold + sign * at))
    good = satisfied(moved, bare)
    return replace(bare, labels=good.astype(int), classes=("bad", "good")), moved


def test_an_expression_is_read_from_its_text():
    assert str(parse_expression("2*x - diff(y, 3)")) == "2*x - diff(y, 3)"
    assert parse_expression("x + 1").constant == 1


def test_further_channels_hold_what_the_oracle_says_of_their_expressions():
    data, _ = planted("G (x <= 0)", cases=3, samples=9)
    texts = ["diff(x, 2)", "mean(abs(diff(y)), 4)", "x - y", "norm(x, y)"]
    extended = extend_data(data, map(parse_expression, texts))
    assert extended.channels == ("x", "y", *texts)
    for case, trace in enumerate(data.values):
        named = dict(zip(data.channels, trace.tolist(), strict=True))
        for text, t in product(texts, range(9)):
            wanted = oracle.sum_value(parse_expression(text), named, t)
            assert extended.values[case][extended.channels.index(text), t] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("text", ["G (diff(x) <= 2)", "F (mean(x, 3) >= 1 & y <= 2)", "x - y >= 1 U diff(x) > 0"])
def test_names_and_expressions_of_signals_are_each_others_inverse(text):
    formula = parse(text)
    signals = {str(each): each for each in functions_of([formula])}
    named = name_signals(formula, signals)
    assert not any(node.calls for node in [*_atoms(named)])
    assert spell_signals(named, signals) == formula


def _atoms(formula):
    from fernn.formula import walk

    return (node for node in walk(formula) if isinstance(node, Atom))


def test_a_rule_over_signals_is_as_long_as_it_is_printed():
    data, _ = planted("G (x <= 0)", cases=4)
    extended = extend_data(data, [parse_expression("mean(abs(diff(x)), 4)")])
    named = parse('G ("mean(abs(diff(x)), 4)" <= 1)')
    assert rule_length(named, extended) == 5
    assert rule_length(parse("G (x <= 1)"), extended) == 2


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=12),
    st.sampled_from([0, 1, -1]),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=12, max_size=12),
)
@settings(max_examples=200, deadline=None)
def test_the_best_threshold_errs_as_little_as_any(rows, joined, base):
    """Against all thresholds, both ways, tried one by one."""
    values, good, weights = (np.array(column) for column in zip(*rows, strict=True))
    base = np.array(base[: len(rows)])
    found = np.empty((1, 5))
    best_thresholds(values[None].astype(float), good, weights.astype(float), 0.1, np.zeros(1), base, joined, found)
    is_open = joined * base >= 0
    sides = good[is_open]
    distinct = np.unique(values[is_open])
    tried = []
    for low, high in pairwise(distinct):
        for above in (values > (low + high) / 2, values < (low + high) / 2):
            verdict = above if joined == 0 else above & (base > 0) if joined > 0 else above | (base > 0)
            tried.append(float(weights[verdict != good].sum() / weights.sum()))
    if not tried or sides.all() or not sides.any():
        assert found[0, ERROR] == np.inf
    else:
        assert found[0, ERROR] == pytest.approx(min(tried))


@pytest.mark.parametrize("past", [False, True])
def test_the_rule_of_a_condition_errs_as_the_sweep_says(past):
    """Every feature of a screening, written as a formula and judged by the exact semantics."""
    data, _ = planted("G (diff(x) <= 0)", cases=30, samples=17)
    ragged = Dataset(
        tuple(t[:, : 17 - i % 4] for i, t in enumerate(data.values)), data.labels, data.classes, ("x", "y")
    )
    for each in (data, ragged):
        screening = make_screening(each, np.ones(30), True, past, all_candidates(each, ["x"]))
        found = screening.sweep()
        for feature in range(0, len(found), 7):
            if np.isfinite(found[feature, ERROR]):
                formula = screening.condition(feature, found[feature]).formula(past)
                assert losses(formula, each).mean() == pytest.approx(found[feature, ERROR]), str(formula)


def test_a_short_number_lies_between():
    for low, high in [(0.1, 0.2), (-3.0, 5.0), (1e-9, 2e-9), (99.98, 100.01), (-0.5, -0.499)]:
        value = short_number_between(low, high)
        assert low < value < high
        assert len(repr(value)) <= 8


PLANTED = ["G (diff(x, 4) <= 0)", "F (mean(x, 8) >= 0)", "G (std(x, 8) <= 0)", "F (x - y >= 0)"]


@pytest.mark.parametrize("text", PLANTED)
def test_screening_finds_the_signal_that_a_rule_reads(text):
    data, _ = planted(text)
    ranked = rank_signals(data, intervals=False)
    wanted = str(parse_expression(text[3:].rsplit(" ", 2)[0]))
    assert wanted in [str(each.signal) for each in ranked[:3]]
    assert losses(ranked[0].formula(False), data).mean() <= 0.03


def test_signals_of_data_with_a_known_step_look_back_by_times():
    data, _ = planted("G (diff(x, 4) <= 0)", dt=0.5)
    assert "diff(x, 2 s)" in [str(each) for each in screen_signals(data, intervals=False)]


def test_channels_of_one_vector_have_a_norm():
    data = Dataset(np.ones((1, 3, 4)), channels=("acc_x", "acc_y", "acc_z"))
    assert "norm(acc_x, acc_y, acc_z)" in [str(each) for each in candidate_pairs(data, data.channels)]


LEARNERS = [
    Fernn(signals=("diff(x, 4)",), max_length=4, rounds=3, restarts=16),
    Enumerative(signals=("diff(x, 4)",), max_length=3, folds=0),
    Tree(signals=("diff(x, 4)",), depth=1, folds=0),
    Lattice(signals=("diff(x, 4)",), folds=0, max_parts=2),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_learner_reads_the_signals_it_is_given(learner):
    data, _ = planted("G (diff(x, 4) <= 0)")
    told = []
    fit = learner.fit(data, told.append)
    assert "diff(x, 4)" in str(fit.formula)
    assert '"' not in str(fit.front)
    for entry in fit.front:
        assert parse(str(entry.formula)) == entry.formula
        assert entry.train == pytest.approx(losses(entry.formula, data).mean())
    assert fit.front.picked.train <= 0.05
    assert all('"' not in str(progress.front) for progress in told)


def test_a_template_may_read_functions():
    data, _ = planted("G (diff(x, 4) <= 0)")
    fit = Enumerative(template=parse("G (?p & diff(y) <= 100)"), signals=("diff(x, 4)",), folds=0).fit(data)
    assert "diff(x, 4)" in str(fit.formula)


def test_a_fit_goes_on_with_the_signals_that_it_began_with():
    data, _ = planted("F (mean(x, 8) >= 0)")
    settings = Fernn(signals="auto", rounds=4, restarts=8, max_length=4)
    states = []
    whole = settings.fit(data, lambda progress: states.append(progress.state))
    assert states[0]["signals"]
    assert str(settings.fit(data, resume=states[0]).front) == str(whole.front)


def test_signals_that_are_screened_are_learned_from():
    data, _ = planted("F (mean(x, 8) >= 0)")
    fit = Fernn(signals="auto", rounds=3, restarts=16, max_length=4).fit(data)
    assert fit.front.picked.train <= 0.02
    assert str(fit.formula).startswith("F (mean(x, ")


def test_a_certificate_names_the_signals_and_stands_on_the_data_as_recorded(tmp_path):
    from fernn.learners.enumerative.audit import audit
    from fernn.learners.enumerative.certificate import Certificate
    from fernn.runs.job import select_certified

    data, _ = planted("G (diff(x, 4) <= 0)", cases=24)
    fit = Enumerative(signals=("diff(x, 4)",), max_length=3, folds=0).fit(data)
    proof = Certificate.from_json(fit.artifacts["certificate.json"])
    assert "diff(x, 4)" in proof.statement
    assert audit(proof, select_certified(proof, data)).problems == ()


def test_unknown_kinds_of_signals_are_refused():
    data, _ = planted("G (x <= 0)")
    with pytest.raises(UnsupportedError, match="raw"):
        Fernn(signals="all").fit(data)


@pytest.mark.parametrize("signals", ["auto", ("diff(x, 4)",)])
def test_causes_of_faults_are_looked_for_in_signals(signals):
    from fernn.mining import Cause
    from fernn.mining.fault_marks import FaultMarks

    data, _ = planted("G (x <= 0)", cases=12)
    marked = FaultMarks(data, tuple(satisfied("diff(x, 4) >= 1.5", data, at="all")))
    fit = Cause(signals=signals, max_length=1, folds=0).fit(marked)
    assert fit.front[0].train <= 0.01
    assert all(parse(str(rule)) == rule for rule in fit.rules)
    assert "diff(x, 4)" in str(fit.formula)
    assert fit.account.error <= 0.01


def with_modes(cases=60, samples=30, seed=3):
    """A numeric channel, and modes of which LAND comes only in bad traces; some values are missing in bad ones."""
    rng = np.random.default_rng(seed)
    bad = np.arange(cases) % 2 == 0
    modes = rng.integers(0, 2, (cases, samples)).astype(float)
    modes[np.flatnonzero(bad), rng.integers(0, samples, bad.sum())] = 2
    values = np.stack([rng.normal(size=(cases, samples)), modes], axis=1)
    return values, np.where(bad, 0, 1)


LEARN_MODES = [Fernn(max_length=2, rounds=2, restarts=16), Enumerative(max_length=2, folds=0), Tree(depth=1, folds=0)]


@pytest.mark.parametrize("learner", LEARN_MODES, ids=lambda learner: type(learner).__name__)
def test_categories_are_conditions_and_their_codes_are_not_numbers(learner):
    values, labels = with_modes()
    texts = {"mode": ("HOLD", "CRUISE", "LAND")}
    data = Dataset(values, labels, ("bad", "good"), ("x", "mode"), categories=texts)
    fit = learner.fit(data)
    assert str(fit.formula) == 'G (mode != "LAND")'
    assert fit.front.picked.length == 2
    other = Dataset(values[:, :, ::-1], labels, ("bad", "good"), ("x", "mode"), categories=texts)
    assert losses(fit.formula, other).mean() == 0


def test_that_a_value_is_missing_is_a_condition():
    values, labels = with_modes()
    mask = np.zeros(values.shape, bool)
    mask[labels == 0, 0, 7] = True
    data = Dataset(values[:, :1], labels, ("bad", "good"), ("x",), missing=mask[:, :1])
    assert str(Enumerative(max_length=2, folds=0).fit(data).formula) == "G (present(x))"


def test_a_file_with_words_is_learned_from(tmp_path):
    from fernn import learn

    values, labels = with_modes()
    rows = ["case,t,x,mode,label"]
    for case, (trace, label) in enumerate(zip(values, labels, strict=True)):
        for t in range(values.shape[2]):
            mode = ("HOLD", "CRUISE", "LAND")[int(trace[1, t])]
            rows.append(f"{case},{t},{trace[0, t]},{mode},{('bad', 'good')[label]}")
    (tmp_path / "flights.csv").write_text("\n".join(rows))
    found = learn(str(tmp_path / "flights.csv"), out=tmp_path / "run", good="good", max_length=2, rounds=2)
    assert str(found.formula) == 'G (mode != "LAND")'
    assert "mode is never LAND" in found.sentence or "mode is not LAND" in found.sentence
    assert type(found).load(tmp_path / "run").formula == found.formula


def test_an_envelope_bounds_signals_of_one_class():
    from fernn.learners.classes import Tightest

    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.normal(size=(30, 1, 50)), axis=2) * 0.1
    jump = slow.copy()
    jump[:, :, 25:] += 2.0  # within the range, but faster than anything recorded
    good, bad = (Dataset(np.clip(each, -3, 3), channels=("x",)) for each in (slow, jump))
    for signals in ("auto", ("diff(x)",)):
        rules = Tightest(signals=signals, made=60).fit(good).rules
        formula = rules.entries[rules.pick].formula
        assert parse(str(formula)) == formula
        assert satisfied(formula, good).all()
        assert "diff(x)" in str(formula)
        assert not satisfied(formula, bad).any()
