"""Formulas by what they mean."""

import pytest

from fernn import parse
from fernn.data import load
from fernn.evaluation.equivalence import (
    CLASSES_FILE,
    equivalence_classes,
    load_classes,
    save_classes,
    sufficient_samples,
)

SAME = [
    [parse(text) for text in ("G (v <= 30)", "G G (v <= 30)", "!(F (v > 30))", "G (v <= 31)")],
    [parse("F (v >= 20)")],
]


@pytest.fixture(scope="module")
def data():
    return load("cruise", cases=5)


def texts(found):
    return [[str(formula) for formula in row] for row in found.classes]


def test_what_the_solver_proves_to_be_the_same_is_one_sense(data):
    pytest.importorskip("z3", reason="meanings are proved by z3")
    found = equivalence_classes(SAME, data, 4, 60.0)
    assert texts(found) == [["G (v <= 30)", "G G (v <= 30)", "!F (v > 30)"], ["G (v <= 31)"], ["F (v >= 20)"]]
    assert found.is_settled
    assert "3 meanings on traces of up to 4 samples" in str(found)


def test_without_time_or_a_solver_only_laws_speak_and_that_is_said(data, monkeypatch):
    pytest.importorskip("z3", reason="what takes time is z3")
    late = equivalence_classes(SAME, data, 4, 0.0)
    assert not late.is_settled
    assert "time was up" in str(late)
    monkeypatch.setattr("fernn.evaluation.equivalence.find_spec", lambda name: None)
    alone = equivalence_classes(SAME, data, 4, 60.0)
    assert len(alone) >= 3
    assert "not installed" in str(alone)
    assert equivalence_classes([SAME[0][:2], SAME[1]], data, 4, 60.0).is_settled  # laws, and the data, tell all


def test_what_was_found_is_kept_for_the_same_formulas_only(data, tmp_path):
    found = equivalence_classes([SAME[0][:2], SAME[1]], data, 4, 60.0)
    save_classes(tmp_path, found)
    groups = [SAME[0][:2], SAME[1]]
    assert load_classes(tmp_path, groups, 4) == found
    assert load_classes(tmp_path, groups, 5) is None
    assert load_classes(tmp_path, [SAME[0], SAME[1]], 4) is None
    for content in ("", "[", "{}", '{"classes": [{"formulas": [3]}]}', '{"classes": 1, "length": "x", "how": {}}'):
        (tmp_path / CLASSES_FILE).write_text(content)
        assert load_classes(tmp_path, groups, 4) is None


def test_traces_are_as_long_as_windows_ask_for(data):
    assert sufficient_samples([parse("G (v <= 3)")], data) == 8
    assert sufficient_samples([parse("G[0,12] (v <= 3)")], data) == 14
    assert sufficient_samples([parse("G[0,70] (v <= 3)"), parse("O[3,inf] (v <= 3)")], data) == 8
