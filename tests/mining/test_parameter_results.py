"""What a parameter set says of itself, how it is stopped, drawn and refused."""

from __future__ import annotations

import json
from math import inf
from xml.etree import ElementTree

import numpy as np
import pytest

from fernn.data import Dataset, from_arrays, load
from fernn.errors import DataError, FormulaError, UnsupportedError
from fernn.mining import ParameterSet, ValueRange, parameter_set, sketch, to_svg


def traces(*rows, labels, channels=("x",)):
    return Dataset(tuple(np.array([row], float) for row in rows), np.array(labels), ("bad", "good"), channels)


TWO = traces([1, 3], [2, 5, 1], labels=[1, 0])
"""The good trace reaches 3, the bad one 5."""


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("G (x <= ?c)", ValueRange(3, 5, True, False)),
        ("G (x < ?c)", ValueRange(3, 5, False, True)),
        ("!F (x > ?c)", ValueRange(3, 5, True, False)),
        ("!F (x >= ?c)", ValueRange(3, 5, False, True)),
        ("!(F (x >= ?c))", ValueRange(3, 5, False, True)),
    ],
)
def test_equality_at_values_of_the_data_is_right(text, allowed):
    found = parameter_set(text, TWO, 0, 0)
    assert found.boxes == ((allowed,),)
    assert found.bounds == {"c": allowed}
    assert [found.contains({"c": c}) for c in (3, 4, 5)] == [3 in allowed, True, 5 in allowed]


def test_a_set_of_several_pieces_lists_them_all():
    data = traces([1], [4], [2], labels=[1, 1, 0])
    found = parameter_set("?c <= x & x <= 1 | x <= ?c & x >= 4", data, 0.5, 0)
    assert [box[0].describe("c") for box in sorted(found.boxes, key=lambda box: box[0].low)] == ["c <= 1", "c >= 4"]


def test_ranges_are_told_as_people_write_them():
    assert ValueRange(34.3, 45.3, False, True).describe("c") == "34.3 < c <= 45.3"
    assert ValueRange(2, 2, True, True).describe("b") == "b = 2"
    assert ValueRange(2, inf, True, False).describe("b") == "b >= 2"
    assert ValueRange(-inf, 2, False, False).describe("b") == "b < 2"
    assert ValueRange().describe("b") == "any b"


def test_an_interrupted_search_keeps_what_it_knows():
    data = load("cruise", cases=20)

    def watch(progress):
        if progress.boxes == 9:
            raise KeyboardInterrupt

    found = parameter_set("G (v <= ?c | v >= ?d)", data, 0.05, 0.2, watch=watch)
    whole = parameter_set("G (v <= ?c | v >= ?d)", data, 0.05, 0.2)
    assert found.ended == "interrupted"
    assert not found.is_exact
    assert not found.is_empty
    assert 0 < found.undecided_share < 1
    assert whole.ended == "done"
    assert whole.undecided_share == 0
    for c in np.linspace(20, 50, 13):
        for d in np.linspace(20, 50, 13):
            values = {"c": float(c), "d": float(d)}
            assert found.contains(values) in (None, whole.contains(values))


def test_a_time_limit_of_nothing_leaves_all_undecided():
    found = parameter_set("G (x <= ?c)", TWO, 0, 0, time_limit=-1)
    assert (found.ended, found.boxes, found.is_empty, found.undecided_share) == ("time limit", (), False, 1.0)
    assert found.contains({"c": 4.0}) is None
    assert found.bounds == {}


def test_sets_are_kept_as_json():
    for text in ("G (x <= ?c)", "F[0,?b] (x >= ?c)"):
        found = parameter_set(text, TWO, 0, 0)
        assert ParameterSet.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found
    with pytest.raises(DataError, match="lacks"):
        ParameterSet.from_json({"schema": 1})
    with pytest.raises(DataError, match="schema 9"):
        ParameterSet.from_json(found.to_json() | {"schema": 9})


@pytest.mark.parametrize(
    ("text", "data", "limits", "error", "says"),
    [
        ("G (w <= ?c)", TWO, (0, 0), FormulaError, "reads 'w'"),
        ("G (x <= ?c)", TWO, (1.5, 0), FormulaError, "false_alarms is a share"),
        ("G (x <= ?c)", TWO, (0, -0.1), FormulaError, "misses is a share"),
        ("G (x <= ?c)", TWO, (0, float("nan")), FormulaError, "misses is a share"),
        ("G (x <= ?c)", traces([1], [2], labels=[1, 1]), (0, 0), DataError, "traces of both classes"),
        ("G (x <= ?c)", Dataset(np.zeros((2, 1, 3))), (0, 0), DataError, "two classes"),
    ],
)
def test_what_cannot_be_asked_is_refused(text, data, limits, error, says):
    with pytest.raises(error, match=says):
        parameter_set(text, data, *limits)


@pytest.mark.parametrize("text", ["G (v <= ?c)", "G[0,?b] (v <= ?c)", "G[?a,?b] (v <= 36)", "G (v <= ?c | v > ?d)"])
@pytest.mark.parametrize("misses", [0.0, 0.2])
def test_pictures_are_drawn_of_one_and_two_parameters(text, misses):
    data = load("cruise", cases=15)
    for boxes in (inf, 3):
        found = parameter_set(text, data, 0.0, misses, box_limit=boxes)
        root = ElementTree.fromstring(to_svg(found))
        assert root.tag.endswith("svg")
        assert text in "".join(root.itertext())
        drawn = sketch(found)
        assert ("#" in drawn.split("\n", 1)[1]) == bool(found.boxes)
        assert ("@" in drawn) == (found.picked is not None)


def test_pictures_of_three_parameters_are_refused():
    found = parameter_set("F[?a,?b] (x >= ?c)", TWO, 0, 0)
    for draw in (to_svg, sketch):
        with pytest.raises(UnsupportedError, match="one or two"):
            draw(found)


def test_a_set_beyond_the_traces_can_be_drawn():
    X = np.tile([[[9.0, 9.0, 0.0]]], (4, 1, 1))
    data = from_arrays(X, [0, 0, 1, 1], ["v"], classes=["bad", "good"])
    found = parameter_set("G[?w] (v <= -1)", data, 0, 1)
    assert "w" in sketch(found)


def test_a_recommended_window_can_be_moved_as_far_as_is_said():
    X = np.tile([[[9.0, 9.0, 0.0]]], (4, 1, 1))
    data = from_arrays(X, [0, 0, 1, 1], ["v"], classes=["bad", "good"])
    found = parameter_set("G[?a,?b] (v <= 9)", data, 0, 1)
    by = int(found.margin * 3)
    for name in ("a", "b"):
        for move in (-by, by):
            assert found.contains({**found.picked.values, name: found.picked.values[name] + move}) is not False
