"""The same learner on shuffled labels, on drawings and on parts: kept, and not made again."""

import json
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import pytest

from fernn import parse
from fernn.data import from_arrays
from fernn.data.splits import blocks
from fernn.errors import DataError
from fernn.evaluation import bootstrap, nested_cv, permutation_test
from fernn.evaluation.resampling import Refit, draw_bootstrap, permute_labels, refit
from fernn.learners import Entry, Enumerative, Fernn, Fit, Front, Learner, Tree
from fernn.learners.base import losses

QUICK = Enumerative(max_length=2, grid=16, folds=0)


def spikes(seed=0, count=40, telling=True):
    random = np.random.default_rng(seed)
    X = random.normal(0, 1, (count, 1, 12))
    y = np.arange(count) % 2
    if telling:
        X[y == 0, 0, 6] += 8
    return from_arrays(X, y, ["x"], classes=["bad", "good"])


@dataclass
class Counting:
    """A learner of one rule that counts how often it is asked."""

    asked: int = 0

    def fit(self, data, watch=None, resume=None):
        self.asked += 1
        rule = parse("G (x <= 5)")
        entry = Entry(rule, 2, float(losses(rule, data).mean()), nan, nan, 0.0)
        return Fit(Front((entry,), 0), 0.0, "done", {})


def test_shuffled_labels_are_the_same_labels_elsewhere():
    data = spikes()
    dealt = permute_labels(data, 3)
    assert sorted(dealt.labels) == sorted(data.labels)
    assert (dealt.labels != data.labels).any()
    assert (permute_labels(data, 3).labels == dealt.labels).all()
    assert (np.asarray(dealt.values) == np.asarray(data.values)).all()


def test_a_group_gets_its_label_as_one():
    data = spikes()
    grouped = replace(data, labels=np.repeat([0, 1, 0, 1], 10), groups=tuple(np.repeat(list("abcd"), 10)))
    for seed in range(5):
        dealt = permute_labels(grouped, seed)
        for name in "abcd":
            assert len({label for label, g in zip(dealt.labels, dealt.groups, strict=True) if g == name}) == 1


def test_labels_of_a_pair_change_places_within_it():
    paired = replace(spikes(), groups=tuple(str(i // 2) for i in range(40)))
    dealt = [permute_labels(paired, seed) for seed in range(3)]
    assert all(each.labels[2 * i] != each.labels[2 * i + 1] for each in dealt for i in range(20))
    assert all(5 < (each.labels != paired.labels).sum() < 35 for each in dealt)


def test_drawings_take_whole_blocks_and_leave_others_to_test_on():
    data = replace(spikes(), groups=tuple(str(i // 2) for i in range(40)))
    taken, left = draw_bootstrap(data, 1)
    drawn = {case.rpartition(" (")[0] for case in taken.cases}
    assert drawn | set(left.cases) == set(data.cases)
    assert not drawn & set(left.cases)
    pairs = {str(i): {data.cases[2 * i], data.cases[2 * i + 1]} for i in range(20)}
    assert all(pair <= drawn or not pair & drawn for pair in pairs.values())
    assert int(blocks(data).max()) + 1 == 20


def test_what_is_kept_is_not_learned_again(tmp_path):
    learner, keep = Counting(), tmp_path / "repeats.jsonl"
    asked = [("shuffle", i) for i in range(4)]
    first = list(refit(learner, spikes(), asked, keep=keep))
    assert learner.asked == 4
    with keep.open("a") as handle:
        handle.write('{"kind": "shuffle", "seed": 9, "form')  # torn
    again = list(refit(learner, spikes(), [*asked, ("bootstrap", 0)], keep=keep))
    assert again[:4] == first
    assert learner.asked == 5
    line = json.loads(keep.read_text().splitlines()[0])
    assert line.pop("about")
    assert Refit(**line) == first[0]


FERNN = Fernn(max_length=2, restarts=4, rounds=2)
RESULTS = {
    "permutation test": lambda learner, keep, told: permutation_test(
        learner, spikes(2, telling=False), 9, keep=keep, progress=told
    ),
    "nested cv": lambda learner, keep, told: nested_cv(learner, spikes(2, telling=False), 4, keep=keep, progress=told),
    "bootstrap": lambda learner, keep, told: bootstrap(learner, spikes(), "G (x <= 5)", 6, keep=keep, progress=told),
}


@pytest.mark.parametrize("learner", [QUICK, FERNN, Tree(depth=1, grid=8, folds=0)], ids=["exact", "fernn", "tree"])
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_what_was_interrupted_again_and_again_ends_as_what_was_not(result, learner, tmp_path):
    """Between fits, and in the midst of one; and a last line that a killed process left torn."""
    keep = tmp_path / "repeats.jsonl"
    wanted = result(learner, None, lambda done, of: None)
    for stop in (1, 2, 4):

        def interrupt(done, of, stop=stop):
            if done == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            result(learner, keep, interrupt)
        assert len(keep.read_bytes().splitlines()) == stop
        with pytest.raises(KeyboardInterrupt):
            result(Cut(learner), keep, lambda done, of: None)
    with keep.open("a") as handle:
        handle.write('{"kind": "shuffle", "seed": 9, "form')
    assert result(learner, keep, lambda done, of: None) == wanted
    assert result(learner, keep, lambda done, of: None) == wanted


@dataclass
class Cut:
    """A learner whose every fit is interrupted."""

    learner: Learner

    def fit(self, data, watch=None, resume=None):
        return replace(self.learner.fit(data), ended="interrupted")


def test_what_another_learner_other_data_or_another_number_of_folds_gave_is_not_taken(tmp_path):
    keep, data = tmp_path / "repeats.jsonl", spikes()
    other = replace(QUICK, max_length=1)
    found = nested_cv(QUICK, data, 4, keep=keep)
    assert nested_cv(QUICK, data, 5, keep=keep) == nested_cv(QUICK, data, 5)
    assert nested_cv(QUICK, spikes(3), 4, keep=keep) == nested_cv(QUICK, spikes(3), 4)
    assert nested_cv(other, data, 4, keep=keep) == nested_cv(other, data, 4)
    size = keep.stat().st_size
    assert nested_cv(QUICK, data, 4, keep=keep) == found
    assert keep.stat().st_size == size


def test_results_that_a_time_limit_made_depend_on_the_machine_say_so():
    data = spikes()

    class Limited(Counting):
        def fit(self, data, watch=None, resume=None):
            fit = super().fit(data, watch, resume)
            return replace(fit, ended="time limit" if self.asked == 2 else "done")

    found = [
        permutation_test(Limited(), data, 3),
        nested_cv(Limited(), data, 3),
        bootstrap(Limited(), data, "G (x <= 5)", 3),
    ]
    assert [each.limited for each in found] == [1, 1, 1]
    for each, of in zip(found, (4, 3, 3), strict=True):
        assert f"the time limit stopped 1 of these {of} fits" in str(each)
        assert each.to_json()["limited"] == 1
    assert "time limit" not in str(permutation_test(Counting(), data, 3))


def test_a_rule_in_the_data_is_no_chance_and_one_in_noise_is():
    found = permutation_test(QUICK, spikes(), shuffles=19)
    assert found.error == 0
    assert found.p == 0.05
    assert "0 of 19" in str(found)
    assert permutation_test(QUICK, spikes(telling=False), shuffles=19).p > 0.05


def test_no_more_is_shuffled_once_the_answer_is_plain():
    learner = Counting()
    found = permutation_test(learner, spikes(telling=False), shuffles=500)
    assert found.as_good == 20
    assert learner.asked < 100


def test_nested_errors_are_those_of_rules_that_never_saw_the_part():
    data = spikes()
    found = nested_cv(QUICK, data, 4)
    assert sum(found.cases) == len(data)
    assert found.error == sum(found.wrong) / len(data)
    assert found.error <= 0.1
    assert nested_cv(QUICK, spikes(telling=False), 4).error > 0.25


def test_a_stable_rule_comes_up_again():
    found = bootstrap(QUICK, spikes(), "G (x <= 5)", bootstraps=6)
    assert found.agreement > 0.95
    assert dict(found.shapes)["G (x <= ?)"] == 1.0
    assert found.read == [("x", 1.0)]
    assert "100%" in str(found)


def test_labels_that_cannot_be_dealt_are_told():
    with pytest.raises(DataError, match="no labels"):
        permute_labels(replace(spikes(), labels=None, classes=()), 0)


def test_copies_within_a_group_get_their_label_together():
    data = spikes(count=12)
    doubled = from_arrays(np.concatenate([data.values, data.values]), [*data.labels, *data.labels], ["x"])
    grouped = replace(doubled, groups=tuple("ab"[i % 12 // 6] for i in range(24)))
    for seed in range(5):
        dealt = permute_labels(grouped, seed).labels
        assert (dealt[:12] == dealt[12:]).all()
