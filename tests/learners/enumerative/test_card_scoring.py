"""The search on a card finds what the search on the processor finds.

Where there is no card the kernels run in Triton's interpreter, where there is no Triton what they do in NumPy.
"""

import os
from importlib.util import find_spec

import numpy as np
import plain_card
import pytest

from brute import noisy
from checks import spikes
from fernn.engines.gpu import torch_device
from fernn.errors import UnsupportedError
from fernn.formula import interval, mirror, parse
from fernn.learners import Enumerative
from fernn.learners.enumerative import enumerator as search
from fernn.learners.enumerative import gpu_prefilter
from fernn.learners.enumerative.bitpack import pack_data
from fernn.learners.enumerative.exploration import ExactSpace, Exploration
from fernn.learners.enumerative.gpu_prefilter import integer_weights
from fernn.learners.enumerative.scoring import ALL, ANY
from fernn.learners.enumerative.scoring_jobs import EVER, NOW
from fernn.learners.enumerative.word_operators import AND, IMPLIES, NOT_SINCE, OR, SINCE

HAS_CARD = False
if find_spec("torch"):
    import torch

    HAS_CARD = torch.cuda.is_available()


@pytest.fixture(params=["triton", "plain"])
def kernels(request, monkeypatch):
    """Small jobs go to the card too, in small tiles."""
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(search, "FEW", 0)
    monkeypatch.setattr(gpu_prefilter, "MIN_BYTES", 0)
    for kind in gpu_prefilter.TILES:
        chunk = 2 if kind == gpu_prefilter.BITS else 32
        monkeypatch.setitem(gpu_prefilter.TILES, kind, gpu_prefilter.Tile(32, 64, 4, chunk, registers=0))
    if request.param == "plain":
        monkeypatch.setattr(
            gpu_prefilter, "torch_device", lambda device: None if device == "cpu" else torch.device("cpu")
        )
        monkeypatch.setattr(gpu_prefilter.Launch, "find", plain_card.find)
    else:
        if not HAS_CARD:
            monkeypatch.setenv("TRITON_INTERPRET", "1")  # asked for when triton is first imported
        pytest.importorskip("triton", reason="triton is not installed: it comes with the CUDA builds of torch")
    return request.param


def explored(data, space, device, weights=None, **more):
    weights = np.ones(len(data)) if weights is None else weights
    found = Exploration(pack_data(data, weights, True, **more), space, 1 << 28, device=device)
    for stage in found.stages:
        found.race(stage)
    return found


def assert_same_hits(one, other):
    assert one.state.tolist() == other.state.tolist()
    count = int(one.state[0])
    for name in ("verdicts", "errors", "lengths", "gaps", "times"):
        np.testing.assert_array_equal(getattr(one, name)[:count], getattr(other, name)[:count], name)
    told = one.gaps[:count] >= 0
    np.testing.assert_array_equal(one.made[:count][told], other.made[:count][told])


def assert_same(one, other):
    assert one.best == other.best
    assert one.bounds.tolist() == other.bounds.tolist()
    assert one.counts == other.counts
    leads = one.search.lead, other.search.lead
    assert [lead.errors[0] for lead in leads[:1]] == [lead.errors[0] for lead in leads[1:]]
    assert leads[0].made[0, 0].tolist() == leads[1].made[0, 0].tolist()
    for n in one.best:
        assert_same_hits(one.collect_best(n, one.empty_hits(4096)), other.collect_best(n, other.empty_hits(4096)))


PLAIN = ExactSpace(max_length=3, grid=2, every=True)
WINDOWS = (interval(1, 1), interval(1, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("samples", "count", "space", "weights", "more"),
    [
        (5, 30, ExactSpace(max_length=4, grid=1, every=True), "even", {}),
        (12, 70, PLAIN, "even", {}),
        (30, 40, ExactSpace(max_length=3, grid=2, every=True, negation=True, windows=WINDOWS), "even", {}),
        (140, 40, ExactSpace(max_length=3, grid=2, every=True, negation=True, windows=WINDOWS[1:]), "even", {}),
        (6, 70, PLAIN, "tenths", {}),
        (6, 70, PLAIN, "classes", {}),
        (6, 70, PLAIN, "all", {}),
        (6, 70, PLAIN, "even", {"most_missed": 20.0, "most_passed": 20.0}),
        (6, 70, PLAIN, "all", {"most_missed": 12.0}),
    ],
)
def test_what_is_found_is_the_same(kernels, samples, count, space, weights, more):
    data = noisy(samples, count, samples, ragged=True)
    weighed = {
        "even": np.ones(count),
        "tenths": np.full(count, 0.3),
        "classes": np.where(data.positive, 2.5, 1.0),
        "all": np.random.default_rng(0).uniform(0.1, 3, count),
    }[weights]
    assert_same(*(explored(data, space, device, weighed, **more) for device in ("cpu", "cuda")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "template", ["G (?p -> F ?q)", "{?p; G ?p} & F ?q", "(?p U ?q) | ?r", "!(?p U ?q)", "?p ?{W, R} ?q"]
)
def test_so_it_is_for_templates(kernels, template):
    data = noisy(6, 30, 5)
    space = ExactSpace(max_length=0, template=mirror(parse(template)), grid=2, every=True)
    assert_same(*(explored(data, space, device) for device in ("cpu", "cuda")))


def test_everything_within_a_bound_is_collected(kernels):
    data = noisy(3, 40, 5)
    one, other = (explored(data, PLAIN, device) for device in ("cpu", "cuda"))
    bounds = np.full(PLAIN.longest + 1, 14.0)
    assert_same_hits(one.collect(bounds, one.empty_hits(4096)), other.collect(bounds, other.empty_hits(4096)))
    assert_same_hits(one.collect(bounds, one.empty_hits(20)), other.collect(bounds, other.empty_hits(20)))


def test_nothing_is_lost_where_more_is_within_the_bounds_than_there_is_room_for(kernels, monkeypatch):
    monkeypatch.setattr(search, "CHUNK", 1 << 12)
    data = noisy(3, 40, 5)
    one = explored(data, PLAIN, "cpu")
    bounds = np.full(PLAIN.longest + 1, 18.0)
    wanted = one.collect(bounds, one.empty_hits(4096))
    asked = []
    plain = gpu_prefilter.Launch.find

    def find(launch, first, last, *rest):
        found = plain(launch, first, last, *rest)
        asked.append(found is not None and len(found) <= 8)
        return found if asked[-1] else None

    monkeypatch.setattr(gpu_prefilter, "MAX_PAIRS", 8)
    monkeypatch.setattr(gpu_prefilter.Launch, "find", find)
    other = explored(data, PLAIN, "cuda")
    assert_same(one, other)
    assert_same_hits(wanted, other.collect(bounds, other.empty_hits(4096)))
    assert True in asked
    assert False in asked


def test_a_long_job_is_asked_about_in_stretches(kernels, monkeypatch):
    monkeypatch.setattr(search, "CHUNK", 1 << 12)
    monkeypatch.setattr(search, "SHORT", 1 << 10)
    monkeypatch.setattr(gpu_prefilter, "WORDS_AHEAD", 1 << 14)
    data = noisy(8, 70, 9)
    space = ExactSpace(max_length=3, grid=4, every=True)
    assert_same(*(explored(data, space, device) for device in ("cpu", "cuda")))


@pytest.mark.parametrize(
    ("op", "mode", "window"),
    [
        (AND, ANY, EVER), (AND, ANY, 2), (OR, ALL, EVER), (OR, ALL, 2), (IMPLIES, ALL, EVER),
        *((op, mode, window) for op in (SINCE, NOT_SINCE) for mode in (ANY, ALL) for window in (NOW, EVER, 2)),
    ],
)  # fmt: skip
def test_the_pairs_listed_are_those_that_err_no_more_than_the_bound(kernels, op, mode, window):
    """By the definition of the operators, one sample after the other."""
    data = noisy(9, 24, 7, ragged=True)
    made = Exploration(pack_data(data, np.ones(24), False), ExactSpace(1, grid=2, every=True), 1 << 20, device="cuda")
    over = interval(1, 3)
    assert made.search.window(over) == 2
    ids, layout = made.families[1], made.ground.layout
    signals = [layout.unpacked(made.shelf.rows.content[k].view(layout.dtype).reshape(layout.words, -1)) for k in ids]
    errors = {}
    for i, left in enumerate(signals):
        for j, right in enumerate(signals):
            verdicts = [_verdict(op, mode, window, over, a, b) for a, b in zip(left, right, strict=True)]
            errors[i, j] = int((np.array(verdicts) != data.positive).sum())
    bound = float(np.median(list(errors.values()))) - 0.5
    wanted = {pair for pair, error in errors.items() if error <= bound}
    asked = made.search.gpu
    mask = made.search.views.looked(window)
    job = asked.word_pairs(op, mode, window, mask, ids, ids, False, 1, made.ground.judge, None, 1)
    found = job.launch.find(0, len(ids), np.full(4, bound), False)
    assert {(int(code & 0xFFFFFFFF), int(code >> 32)) for code in found} == wanted
    assert 0 < len(wanted) < len(errors)


def _verdict(op, mode, window, over, a, b) -> bool:
    held, since = [], False
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        since = y or (x and since)
        held.append({AND: x and y, OR: x or y, IMPLIES: not x or y, SINCE: since, NOT_SINCE: not since}[op])
    ago = held[::-1]
    shown = {NOW: ago[:1], EVER: ago, 2: [x for k, x in enumerate(ago) if 1 <= k <= 3]}[window]
    return any(shown) if mode == ANY else all(shown)


def test_fronts_certificates_and_rivals_are_the_same(kernels):
    data = spikes(60)
    one, other = (
        Enumerative(max_length=3, grid=4, thresholds="grid", folds=0, tolerance=0.02, device=device).fit(data)
        for device in ("cpu", "cuda")
    )
    assert [str(entry) for entry in one.front] == [str(entry) for entry in other.front]
    assert one.certificate.to_json() == other.certificate.to_json()
    assert one.rivals.to_json() == other.rivals.to_json()


@pytest.mark.parametrize("weigh", [np.ones_like, lambda w: 0.1 * np.ones_like(w), lambda w: w])
def test_units_never_exceed_weights(weigh):
    """Whatever traces a candidate gets wrong: if its weight is within a bound, so are its units."""
    rng = np.random.default_rng(4)
    data = noisy(0, 90, 3)
    made = pack_data(data, weigh(rng.uniform(0.01, 5, 90)), True)
    found = integer_weights(made.judge, 90)
    for _ in range(300):
        wrong = rng.random(90) < rng.random()
        weight, count = float(made.judge.each[:90][wrong].sum()), int(found.each[:90][wrong].sum())
        assert count <= found.most(weight)
        assert found.most(weight) - count <= found.slack + 1
        if count <= found.sure(weight):
            assert count * found.size <= weight + 1e-9
    assert found.most(-1e-3) == -1
    assert (found.each[90:] == 0).all()


@pytest.mark.skipif(HAS_CARD or os.environ.get("TRITON_INTERPRET") == "1", reason="there is a card")
def test_without_a_card_it_is_said_what_is_missing():
    with pytest.raises(UnsupportedError, match=r"device='cuda' needs .*Use device='cpu'"):
        Enumerative(max_length=1, device="cuda").fit(spikes(20))


def test_other_devices_are_refused():
    with pytest.raises(UnsupportedError, match="device is 'cpu' or 'cuda', got 'tpu'"):
        torch_device("tpu")
