"""A picture of a parameter set is coloured where the set says so."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from matplotlib.colors import to_hex

from fernn.data import load
from fernn.errors import UnsupportedError
from fernn.mining import parameter_set
from fernn.report import region
from fernn.report.plots.region_plot import ALLOWED


@pytest.fixture(scope="module")
def data():
    return load("cruise", cases=40)


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def is_allowed(axes, x, y):
    """Whether the topmost colour there is that of allowed values."""
    there = [p for p in axes.patches if p.get_path().contains_point((x, y), p.get_patch_transform())]
    return bool(there) and to_hex(there[-1].get_facecolor()) == ALLOWED.lower()


def inside(limits, count):
    """Numbers within the limits of an axis, at none of which two cells meet."""
    low, high = limits
    return np.linspace(low, high, count + 2)[1:-1] + 1e-7


def test_two_numbers_are_allowed_just_where_the_set_contains_them(data):
    found = parameter_set("G[0,?b] (v <= ?c)", data, 0.1, 0.1)
    figure = region(found)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("b", "c")
    asked = [(round(b), c) for b, c in product(inside(axes.get_xlim(), 23), inside(axes.get_ylim(), 23))]
    wanted = [found.contains({"b": b, "c": c}) for b, c in asked]
    assert [is_allowed(axes, b, c) for b, c in asked] == wanted
    assert 0 < sum(wanted) < len(wanted)
    (dot,) = axes.lines
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == tuple(found.picked.values.values())


@pytest.mark.slow
def test_no_window_that_ends_before_it_starts_is_allowed(data):
    found = parameter_set("G[?a,?b] (v <= 36)", data, 0.2, 0.2)
    figure = region(found)
    (axes,) = figure.axes
    places = [range(int(low) + 1, int(high) + 1) for low, high in (axes.get_xlim(), axes.get_ylim())]
    for a, b in product(places[0][::4], places[1][::4]):
        assert is_allowed(axes, a, b) == found.contains({"a": a, "b": b})
    assert "a window would end before it starts" in words(figure)


def test_one_number_has_both_errors_along_it(data):
    found = parameter_set("G (v <= ?c)", data, 0.1, 0.1)
    axes = region(found).axes[0]
    alarms, misses = [line for line in axes.lines if len(line.get_xdata()) > 2]
    highest = data.values[:, 0].max(axis=1)
    for line, wrong in (
        (alarms, lambda c: highest[data.positive] > c),
        (misses, lambda c: highest[~data.positive] <= c),
    ):
        np.testing.assert_allclose(line.get_ydata(), [wrong(c).mean() for c in line.get_xdata()])
    span = [p for p in axes.patches if to_hex(p.get_facecolor()) == ALLOWED.lower()]
    ends = [(p.get_x(), p.get_x() + p.get_width()) for p in span]
    bounds = found.bounds["c"]
    assert min(low for low, _ in ends) == pytest.approx(bounds.low)
    assert max(high for _, high in ends) == pytest.approx(bounds.high)


@pytest.mark.slow
def test_three_numbers_are_slices_through_the_recommended_point(data):
    found = parameter_set("G[?a,?b] (v <= ?c)", data, 0.1, 0.1, time_limit=600)
    figure = region(found)
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [("a", "b"), ("a", "c"), ("b", "c")]
    axes = figure.axes[1]
    for a, c in product(inside(axes.get_xlim(), 9), inside(axes.get_ylim(), 9)):
        values = dict(found.picked.values) | {"a": round(a), "c": c}
        if found.contains(values) is not None:
            assert is_allowed(axes, round(a), c) == found.contains(values)
    assert any("each panel has the others at these" in text for text in words(figure))


def test_an_empty_set_shows_what_comes_nearest(data):
    found = parameter_set("F (v >= ?c)", data, 0.0, 0.0)
    figure = region(found, title="Nothing")
    assert figure.get_suptitle() == "Nothing"
    assert any("proved that no values are allowed" in text for text in words(figure))
    assert any(text.startswith("nearest to the limits: c = ") for text in words(figure))


def test_what_is_undecided_is_grey_and_said(data):
    found = parameter_set("G (v <= ?c)", data, 0.1, 0.1)
    figure = region(replace(found, boxes=(), undecided=found.boxes, ended="time limit"))
    assert "undecided: the search ended early (time limit)" in words(figure)
    assert not [p for p in figure.axes[0].patches if to_hex(p.get_facecolor()) == ALLOWED.lower()]


def test_many_numbers_without_a_recommended_point_are_refused(data):
    found = parameter_set("G[?a,?b] (v <= ?c)", data, 0.1, 0.1, time_limit=600)
    with pytest.raises(UnsupportedError, match=r"3 open numbers.*Fill in all numbers but two"):
        region(replace(found, boxes=(), picked=None))
