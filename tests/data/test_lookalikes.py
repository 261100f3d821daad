"""Labels that are another one written differently, and labels that occur once: told by name, before learning."""

import unicodedata

import numpy as np
import pytest

from fernn.data import from_arrays, inspect, read
from fernn.data.label_parsing import lookalikes
from fernn.errors import FernnWarning


@pytest.mark.parametrize(
    ("counts", "label", "common", "how"),
    [
        ({"i.O.": 40, "n.i.O.": 30, "n.i.O": 1}, "n.i.O", "n.i.O.", "dots"),
        ({"good": 40, "Good": 30, "bad": 30}, "Good", "good", "capitals"),
        ({"not ok": 9, "not-ok": 8}, "not-ok", "not ok", "blanks"),
        ({"not ok": 9, "not  ok": 3}, "not  ok", "not ok", "blanks"),
        ({"g\u00fct": 5, unicodedata.normalize("NFD", "g\u00fct"): 4}, "gu\u0308t", "g\u00fct", "Unicode"),
        ({"normal": 50, "nromal": 2}, "nromal", "normal", "one character"),
        ({"normal": 50, "norml": 1, "anomaly": 50}, "norml", "normal", "one character"),
    ],
)
def test_a_label_that_is_another_one_misspelt_is_found(counts, label, common, how):
    (found,) = lookalikes(counts)
    assert (found.label, found.common) == (label, common)
    assert how in found.how


@pytest.mark.parametrize(
    "counts",
    [
        {"ok": 40, "nok": 1},
        {"1": 40, "2": 1, "-1": 30},
        {"A+": 30, "A-": 1},
        {"fault1": 40, "fault2": 1},
        {"left": 40, "lift": 30},
        {"normal": 15, "norml": 2},  # not ten times as many
        {"valid": 50, "invalid": 1},
        {"1.0": 9, "1": 9},
    ],
)
def test_labels_that_may_be_meant_are_left_alone(counts):
    assert lookalikes(counts) == []


def written(path, labels):
    rows = [f"{case},{t},{case * t},{label}" for case, label in enumerate(labels) for t in range(3)]
    path.write_text("\n".join(["case,time,v,label", *rows]) + "\n", encoding="utf-8")
    return path


LABELS = ["i.O."] * 20 + ["n.i.O."] * 12 + ["n.i.O"]


@pytest.mark.parametrize("good", [None, "i.O."])
def test_reading_names_the_label_and_where_it_is(tmp_path, good):
    _, problems = inspect(written(tmp_path / "a.csv", LABELS), good=good)
    (problem,) = [each for each in problems if each.kind == "similar-labels"]
    assert "'n.i.O' (1 case)" in problem.what
    assert "'n.i.O.' (12 cases)" in problem.what
    assert problem.case == "32"
    with pytest.warns(FernnWarning, match=r"'n\.i\.O' \(1 case\) differs from 'n\.i\.O\.'"):
        read(tmp_path / "a.csv", good=good)


def test_a_label_that_occurs_once_is_named(tmp_path):
    _, problems = inspect(written(tmp_path / "a.csv", ["good"] * 9 + ["bad"]))
    assert [(each.kind, each.case) for each in problems if each.kind == "single-case"] == [("single-case", "9")]
    assert "'bad' occurs once" in problems[-1].what
    _, problems = inspect(written(tmp_path / "b.csv", ["good", "bad"]))
    assert "single-case" not in {each.kind for each in problems}


def test_labels_in_arrays_are_looked_at_too():
    X = np.random.default_rng(0).normal(size=(33, 1, 4))
    with pytest.warns(FernnWarning, match="'n.i.O'"):
        data = from_arrays(X, LABELS)
    assert len(data.classes) == 3


def test_a_classifier_warns_before_it_learns():
    sklearn = pytest.importorskip("fernn.learners.sklearn")
    X = np.random.default_rng(0).normal(size=(40, 1, 4))
    with pytest.warns(FernnWarning, match="only in capitals"):
        sklearn.FernnClassifier(2, restarts=1, rounds=1).fit(X, ["Good"] * 20 + ["good"] * 20)
