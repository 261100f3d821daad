"""The search finds what going through all formulas one by one finds."""

import numpy as np
import pytest

from brute import all_formulas, fillings, least, noisy, verdicts
from fernn.formula import interval, length, mirror, parse
from fernn.learners.enumerative import enumerator as search
from fernn.learners.enumerative.bitpack import pack_data
from fernn.learners.enumerative.enumeration import collect_rivals
from fernn.learners.enumerative.exploration import ExactSpace, Exploration

EVEN = None


@pytest.fixture(autouse=True)
def _merge_and_bound_however_few(monkeypatch):
    monkeypatch.setattr(search, "FEW", 0)


def explored(data, space, weights=EVEN, future=True, **more):
    weights = np.ones(len(data)) if weights is EVEN else weights
    found = Exploration(pack_data(data, weights, future, **more), space, 1 << 28)
    for stage in found.stages:
        found.race(stage)
    return found


def errors(best):
    return {n: pytest.approx(error) for n, error in best.items()}


@pytest.mark.slow
@pytest.mark.parametrize("future", [True, False])
@pytest.mark.parametrize(("samples", "ragged"), [(5, False), (12, True), (70, True)])
def test_no_formula_is_overlooked(samples, ragged, future):
    data = noisy(samples, 30, samples, ragged)
    space = ExactSpace(max_length=4, grid=2, every=True)
    found = explored(data, space, future=future)
    every = all_formulas(found.atoms, 4, future)
    wanted = least([f for fs in every.values() for f in fs], data, np.ones(len(data)), future)
    assert found.best == errors(wanted)


@pytest.mark.slow
def test_nor_at_length_five():
    data = noisy(2, 40, 5)
    found = explored(data, ExactSpace(max_length=5, grid=1, every=True))
    every = all_formulas(found.atoms, 5, True)
    wanted = least([f for fs in every.values() for f in fs], data, np.ones(len(data)), True)
    assert found.best == errors(wanted)


def test_weights_count():
    data = noisy(3, 40, 5)
    for weights in (np.where(data.positive, 2.5, 1.0), np.random.default_rng(0).uniform(0.1, 3, 40)):
        found = explored(data, ExactSpace(max_length=4, grid=2, every=True), weights)
        every = all_formulas(found.atoms, 4, True)
        wanted = least([f for fs in every.values() for f in fs], data, weights, True)
        assert found.best == errors(wanted)


def test_negated_until_and_windows_are_in_the_space_when_asked_for():
    data = noisy(4, 30, 5)
    windows = (interval(1, 1), interval(1, 3))
    space = ExactSpace(max_length=4, grid=1, every=True, negation=True, windows=windows)
    found = explored(data, space)
    every = all_formulas(found.atoms, 4, True, negation=True, windows=windows)
    wanted = least([f for fs in every.values() for f in fs], data, np.ones(len(data)), True)
    assert found.best == errors(wanted)


def test_bounds_leave_out_nothing_that_matters():
    for seed in range(4):
        data = noisy(seed, 60, 6)
        space = ExactSpace(max_length=5, grid=3)
        made = pack_data(data, np.ones(len(data)), True)
        with_bounds, without = (Exploration(made, space, 1 << 28, prune=prune) for prune in (True, False))
        for stage in with_bounds.stages:
            with_bounds.race(stage)
            without.race(stage)
        assert with_bounds.best == without.best
        assert sum(c.bounded for c in with_bounds.counts.values()) > 0
        assert sum(c.bounded for c in without.counts.values()) == 0


def test_every_formula_is_accounted_for():
    found = explored(noisy(0, 40, 5), ExactSpace(max_length=5, grid=3))
    for counts in found.counts.values():
        assert counts.generated == counts.merged + counts.bounded + counts.scored


def test_thresholds_of_one_class_only_cannot_be_better():
    """Leaving out the gaps between values of one class changes no least error."""
    for seed in range(6):
        data = noisy(seed, 20, 4, levels=12)
        best = [
            explored(data, ExactSpace(max_length=4, thresholds="exact", every=every)).best for every in (True, False)
        ]
        assert best[0] == best[1]


def test_limits_are_kept():
    data = noisy(5, 40, 5)
    free = explored(data, ExactSpace(max_length=3, grid=2, every=True))
    strict = explored(data, ExactSpace(max_length=3, grid=2, every=True), most_missed=2.0)
    every = [f for fs in all_formulas(free.atoms, 3, True).values() for f in fs]
    kept = [f for f in every if (data.positive & ~verdicts(f, data, True)).sum() <= 2]
    assert strict.best == errors(least(kept, data, np.ones(len(data)), True))


@pytest.mark.slow
@pytest.mark.parametrize(
    "template",
    [
        "G ?p & F ?q",
        "G (?p -> F ?q)",
        "F (?p & G (a >= 1))",
        "?p U ?q",
        "!(?p U ?q)",
        "{G ?p; F (?p | ?q); ?p}",
        "G (?p -> F ?p)",
        "(a <= ?c) U (b > ?d)",
        "F[1,2] ?p",
        "{G; F} ({G; F} ?p)",
        "!(F ?p) | G (?q & ?r)",
        "{F {?p & ?q; ?p}; {G ?p; ?p} | {?q; F (?q & ?r)}}",
        "{G ?p; ?p} & F ?q",
        "{G ?p; F (?p U ?q)}",
        "F (?p U ?q)",
        "?p W ?q",
        "?p R ?q",
        "?p ?{U, W, R} ?q",
        "G (?p W ?q) | ?r",
        "F (?p R (?q & ?r))",
        "!(?p W ?q)",
        "(?p & F ?p) | G ?q",
        "{G ?r; !?p & F ?q}",
        "F (a >= ?c)",
    ],
)
def test_templates_are_searched_whole(template):
    if template.startswith("{G; F}"):
        template = "{G {G ?p; F ?p}; F {G ?p; F ?p}}"
    data = noisy(6, 30, 5)
    shape = parse(template)
    space = ExactSpace(max_length=0, template=mirror(shape), grid=2, every=True)
    found = explored(data, space)
    atoms = tuple(explored(data, ExactSpace(max_length=1, grid=2, every=True)).atoms)
    atoms += tuple(type(a)(a.weights, {">=": ">", "<=": "<"}[a.relation], a.threshold) for a in atoms)
    wanted = least(fillings(shape, atoms), data, np.ones(len(data)), True)
    assert found.best == errors(wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "template", ["?p B ?q", "?p T ?q", "H (?p B ?q)", "O (?p T ?q)", "O[1,3] (?p B ?q)", "H[2,2] (?p T ?q)"]
)
@pytest.mark.parametrize("future", [False, True])
def test_weak_operators_are_searched_whole_on_traces_of_unequal_length(template, future):
    shape = parse(template)
    for seed in range(4):
        data = noisy(seed, 30, 12, ragged=True)
        found = explored(data, ExactSpace(max_length=0, template=shape, grid=2, every=True), future=future)
        atoms = explored(data, ExactSpace(max_length=1, grid=2, every=True), future=future).atoms
        every = fillings(mirror(shape) if future else shape, tuple(atoms))
        assert found.best == errors(least(every, data, np.ones(len(data)), future))


@pytest.mark.slow
def test_open_windows_are_searched():
    data = noisy(7, 30, 5)
    shape = parse("F[?w] ?p | G[?v] ?q")
    found = explored(data, ExactSpace(max_length=0, template=mirror(shape), grid=1, every=True))
    atoms = explored(data, ExactSpace(max_length=1, grid=1, every=True)).atoms
    windows = [interval(a, b) for a in range(5) for b in range(a, 5)]
    assert found.best == errors(least(fillings(shape, atoms, windows), data, np.ones(len(data)), True))


def test_what_is_kept_says_what_it_is_kept_for():
    data = noisy(8, 40, 6)
    found = explored(data, ExactSpace(max_length=5, grid=2))
    for n, error in found.best.items():
        kept = found.collect_best(n, found.empty_hits(4096))
        assert kept.state[0] > 0
        for hit in range(int(kept.state[0])):
            for formula in found.formulas(kept, hit):
                held = verdicts(formula, data, True)
                assert (held != data.positive).sum() == error
                assert length(formula) == n
                assert np.array_equal(held, found.ground.layout.unflagged(kept.verdicts[hit]))


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_rivals_are_all_ways_to_judge_as_well(tolerance):
    data = noisy(9, 30, 5)
    found = explored(data, ExactSpace(max_length=4, grid=2, every=True))
    wanted = {}
    every = all_formulas(found.atoms, 4, True)
    limit = min(found.best.values()) + tolerance * len(data)
    for n, formulas in every.items():
        for formula in formulas:
            held = verdicts(formula, data, True)
            if (held != data.positive).sum() <= limit + 1e-9:
                wanted.setdefault(held.tobytes(), n)
    kept = collect_rivals(found, tolerance, 10_000, complete=True)
    assert kept.complete
    assert {verdicts(r.formula, data, True).tobytes(): r.length for r in kept} == wanted
    assert not collect_rivals(found, 0.5, 3, complete=True).complete


def test_many_threads_find_the_same(monkeypatch):
    from fernn.semantics import threads

    data = noisy(10, 200, 9)
    space = ExactSpace(max_length=5, grid=12, since=False)
    told = []
    for count in ("1", "3"):
        monkeypatch.setenv("FERNN_THREADS", count)
        threads._pool.cache_clear()
        found = explored(data, space)
        told.append(
            (found.best, [[str(r.formulas), r.count] for r in collect_rivals(found, 0.01, 5000, complete=True)])
        )
    threads._pool.cache_clear()
    assert told[0] == told[1]


def test_what_does_not_fit_into_memory_is_said():
    data = noisy(11, 40, 6, levels=8)
    made = pack_data(data, np.ones(len(data)), True)
    small = Exploration(made, ExactSpace(max_length=5, grid=8), memory=20_000)
    for stage in small.stages:
        small.race(stage)
    assert small.dropped[3] > 0
    assert len(small.families[3]) > 0
