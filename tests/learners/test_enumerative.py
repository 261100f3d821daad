"""The exact learner beyond what every learner must pass."""

import numpy as np
import pytest

import fernn
from brute import noisy
from checks import spikes
from fernn.data import from_arrays, load, split
from fernn.errors import FernnError, UnsupportedError
from fernn.learners import Enumerative
from fernn.learners.base import parse_bytes


def test_exact_thresholds_are_the_best_of_all():
    """No threshold of any value makes `G`, `F` or both of one channel err less."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1, (30, 1, 4))
    data = from_arrays(X, rng.integers(0, 2, 30), classes=["bad", "good"])
    fit = Enumerative(max_length=2, thresholds="exact", folds=0).fit(data)
    values = np.unique(X)
    tried = [values[0] - 1, *((values[1:] + values[:-1]) / 2), values[-1] + 1]
    wrong = [
        fernn.score(f"{op} (x {side} {value!r})", data).mcr
        for op in ("F[0,0]", "G", "F")
        for side in (">=", "<=")
        for value in map(float, tried)
    ]
    assert fit.front[-1].train == pytest.approx(min(wrong))


def test_the_past_is_judged_at_the_last_sample():
    rng = np.random.default_rng(1)
    X = rng.normal(0, 1, (60, 1, 8))
    data = from_arrays(X, (X[:, 0, -1] > 0.2).astype(int), classes=["bad", "good"])
    fit = Enumerative(max_length=2, direction="past", folds=3).fit(data)
    assert fit.front[0].train == 0
    assert fernn.score(fit.formula, data).mcr == 0


def test_limits_are_kept_by_every_formula_of_the_front():
    data = spikes(200)
    fit = Enumerative(max_length=4, grid=8, max_misses=0.05, folds=0).fit(data)
    for entry in fit.front:
        held = fernn.satisfied(entry.formula, data)
        assert held[~data.positive].mean() <= 0.05 + 1e-9
    with pytest.raises(UnsupportedError, match="no formula of the space keeps to"):
        Enumerative(max_length=1, grid=2, max_misses=0.0, max_false_alarms=0.0, folds=0).fit(data)


def test_a_limit_that_a_coarse_grid_cannot_keep_is_kept_by_refining():
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 60, (80, 1, 20))
    y = (X[:, 0].max(axis=1) <= 58.5).astype(int)
    data = from_arrays(X, y, classes=["bad", "good"])
    fit = Enumerative(max_length=2, thresholds="grid", grid=6, max_false_alarms=0.0, folds=0).fit(data)
    assert fit.front[-1].train == 0


def test_limits_that_are_shares_of_sums_are_not_rounded_away():
    X = np.arange(200.0).reshape(200, 1, 1)
    y = np.r_[np.zeros(71), np.ones(100), np.zeros(29)].astype(int)
    data = from_arrays(X, y, classes=["bad", "good"])
    fit = Enumerative(max_length=1, thresholds="exact", max_misses=0.29, folds=0).fit(data)
    assert fit.certificate.error == 29


@pytest.mark.parametrize(
    ("template", "rule"),
    [
        ("?p W ?q", "(a <= 0) W (b >= 1)"),
        ("?p ?{U, W, R} ?q", "(a >= 0) R (b <= 1)"),
        ("?p B ?q", "(a <= 0) B (b >= 1)"),
        ("O (?p T ?q)", "O ((a >= 1) T (b <= 0))"),
    ],
)
def test_weak_operators_are_searched_where_a_template_names_them(template, rule):
    random = np.random.default_rng(0)
    X = [random.choice([-1.0, 0.0, 1.0, 2.0], (2, n)) for n in random.integers(1, 70, 120)]
    data = from_arrays(X, fernn.satisfied(rule, X, ["a", "b"]).astype(int), ["a", "b"], classes=["bad", "good"])
    fit = Enumerative(template=fernn.parse(template), folds=0).fit(data)
    assert fit.front.picked.train == 0
    assert (fernn.satisfied(fit.formula, data) == data.positive).all()


def test_what_a_template_fixes_stays():
    data = spikes(100)
    for thresholds in ("grid", "exact"):
        fit = Enumerative(template=fernn.parse("F (?p & b >= 0.123)"), thresholds=thresholds, folds=0).fit(data)
        assert all("b >= 0.123" in str(entry.formula) for entry in fit.front)


def test_an_atom_in_two_places_may_have_very_many_thresholds():
    values = np.arange(600.0)
    data = from_arrays(values.reshape(600, 1, 1), (values <= 498).astype(int), classes=["bad", "good"])
    fit = Enumerative(template=fernn.parse("?p & F ?p"), thresholds="exact", folds=0).fit(data)
    assert fit.certificate.error == 0


def test_the_margin_is_the_widest_of_equals():
    """Of thresholds that tell the classes apart, the one in the middle."""
    X = np.concatenate([np.full((10, 1, 3), 1.0), np.full((10, 1, 3), 9.0)])
    data = from_arrays(X, [0] * 10 + [1] * 10, classes=["bad", "good"])
    entry = Enumerative(max_length=2).fit(data).front.picked
    assert entry.formula == fernn.parse("x >= 5")
    assert entry.margin == pytest.approx(0.5)


def test_validation_is_of_the_whole_search():
    """On noise the training error falls with length, the validation error does not."""
    rng = np.random.default_rng(3)
    data = from_arrays(rng.normal(0, 1, (60, 2, 5)), rng.integers(0, 2, 60), classes=["bad", "good"])
    front = Enumerative(max_length=4, grid=16).fit(data).front
    assert front[-1].train < 0.3
    assert front[-1].validation > 0.35


def test_differences_of_channels_are_atoms_when_asked_for():
    rng = np.random.default_rng(4)
    X = rng.normal(0, 1, (80, 2, 5))
    y = ((X[:, 0] - X[:, 1]).max(axis=1) > 1.5).astype(int)
    data = from_arrays(X, y, classes=["bad", "good"], channels=["a", "b"])
    fit = Enumerative(max_length=2, atoms="differences", thresholds="exact", folds=0).fit(data)
    assert fit.front[-1].train == 0
    assert "a - b" in str(fit.front[-1].formula)


def test_a_grid_is_refined():
    data = load("cruise", cases=100)
    coarse = Enumerative(max_length=2, thresholds="grid", grid=8, folds=0).fit(data)
    fine = Enumerative(max_length=2, thresholds="exact", folds=0).fit(data)
    assert coarse.front[-1].train == fine.front[-1].train


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"memory": "much"}, "memory is a size such as '2GB'"),
        ({"atoms": "linear"}, "atoms are 'axis' or 'differences'"),
        ({"max_length": 0}, "max_length is a whole number, at least 1"),
        ({"pieces": 3, "intervals": True}, "pieces is at most 2"),
        ({"template": fernn.parse("F[?w*3] ?p")}, "1 or 2 pieces"),
        ({"max_misses": 5.0}, "max_misses is a share"),
        ({"folds": 1}, "0 for no validation"),
        ({"preset": "other"}, "preset is None or 'published'"),
        ({"template": fernn.parse("G (O ?p)")}, "mixes past and future"),
        ({"template": fernn.parse("?p U[0,3] ?q")}, "U, S and their like over all time only"),
        ({"template": fernn.parse("G[?w] ?p & F[?w] ?q")}, "two places at once"),
        ({"template": fernn.parse("G (zzz >= ?c)")}, "an open condition reads 'zzz', the data have 'a', 'b'"),
    ],
)
def test_bad_settings_are_told(settings, said):
    with pytest.raises(UnsupportedError, match=said):
        Enumerative(**{"folds": 0, **settings}).fit(spikes())


def test_real_labels_are_left_to_others():
    data = from_arrays(np.zeros((4, 1, 3)), [0.1, 0.2, 0.3, 0.4])
    with pytest.raises(UnsupportedError, match="for real labels use the method fernn"):
        Enumerative().fit(data)


def test_a_resumed_search_ends_as_an_unbroken_one():
    data = spikes(100)
    whole = Enumerative(max_length=4, grid=6, folds=0).fit(data)
    first = Enumerative(max_length=4, grid=6, folds=0, time_limit=1e-6).fit(data)
    assert first.ended == "time limit"
    rest = Enumerative(max_length=4, grid=6, folds=0).fit(data, resume=first.state)
    assert rest.front == whole.front
    assert rest.certificate.to_json()["lengths"] == whole.certificate.to_json()["lengths"]


def test_atoms_are_kept_whatever_they_take():
    fit = Enumerative(max_length=3, grid=60, thresholds="grid", memory="1KB", folds=0).fit(spikes(100))
    assert fit.certificate.holds


def test_sizes_of_memory():
    assert [parse_bytes(text) for text in ("2GB", "500 MB", "1.5GiB", 4096)] == [
        2 * 10**9,
        500 * 10**6,
        3 * 2**29,
        4096,
    ]


def test_test_errors_are_those_of_unseen_traces():
    train, test = split(load("cruise", cases=100), seed=1)
    fit = Enumerative(max_length=3).fit(train)
    assert fernn.score(fit.formula, test).mcr < 0.1


def test_one_hole_keeps_one_threshold():
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 1, 12))
    data = from_arrays(X, (X[:, 0].max(axis=1) > 1.5).astype(int), ["x"], classes=["bad", "good"])
    fit = Enumerative(template=fernn.parse("F (?p & F[1,1] ?p)"), grid=8, thresholds="grid", folds=0).fit(data)
    for entry in fit.front:
        assert len(set(fernn.formula.thresholds(entry.formula))) == 1


def test_the_published_method_goes_on_only_from_its_own_state():
    learner = Enumerative(preset="published", max_length=2)
    state = learner.fit(noisy(1, 40, 5)).state
    with pytest.raises(FernnError, match="another fit"):
        learner.fit(noisy(2, 40, 5), resume=state)
