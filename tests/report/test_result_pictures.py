"""Pictures of results: methods beside each other, and fronts."""

from math import inf, nan

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from matplotlib.colors import to_hex

from fernn import parse
from fernn.errors import UnsupportedError
from fernn.learners import Front
from fernn.learners.base import Entry
from fernn.report import bars, front
from fernn.report.plots.style import BAD, GOOD, METHODS

CELLS = {"one": {"2": (0.2, 0.05), "10": (0.0, 0.0)}, "two": {"3": (0.1, 0.02), "10": (0.3, nan)}}


def dots(axes, colour, marker=None):
    """(x, y) of the dots in this colour."""
    own = [line for line in axes.lines if to_hex(line.get_color()) == colour.lower()]
    alone = [line for line in own if len(line.get_xdata()) == 1 and line.get_marker() != "None"]
    kept = [line for line in alone if marker is None or line.get_marker() == marker]
    return sorted((float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in kept)


def names(figure):
    figure.canvas.draw()
    axes = figure.axes[0]
    return [t.get_text() for t in axes.get_xticklabels()], [t.get_text() for t in axes.get_yticklabels()]


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_each_cell_stands_over_its_position_and_a_missing_one_leaves_a_gap():
    figure = bars(CELLS, "error")
    assert names(figure)[0] == ["2", "3", "10"]
    axes = figure.axes[0]
    assert [(round(x), y) for x, y in dots(axes, METHODS[0])] == [(0, 0.2), (2, 0.0)]
    assert [(round(x), y) for x, y in dots(axes, METHODS[1])] == [(1, 0.1), (2, 0.3)]
    assert words(figure) == ["one", "two"]


def test_spreads_are_lines_about_the_mean():
    axes = bars(CELLS, "error").axes[0]
    spreads = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_zorder() == 3]
    np.testing.assert_allclose(spreads, [(0.15, 0.25), (0.08, 0.12)])


def test_names_that_are_no_numbers_stand_as_met():
    assert names(bars({"a": {"lyft": (1, 0), "cct": (2, 0)}, "b": {"ecg": (1, 0)}}, "s"))[0] == ["lyft", "cct", "ecg"]


def test_zero_is_in_sight_on_a_linear_scale_and_named_on_a_log_scale():
    low, high = bars(CELLS, "error").axes[0].get_ylim()
    assert low < 0 < high
    figure = bars(CELLS, "error", log=True)
    axes = figure.axes[0]
    assert names(figure)[1][0] == "0"
    assert axes.get_yticks()[0] == dots(axes, METHODS[0])[1][1] > axes.get_ylim()[0] > 0
    assert axes.get_yticks()[0] < 0.1
    figure = bars({"one": {"2": (0.2, 0.05)}}, "error", log=True)
    assert "0" not in names(figure)[1]


def test_what_a_paper_reports_is_a_hollow_diamond_beside_its_method():
    axes = bars(CELLS, "error", marks={"two": {"3": 0.15}, "paper": {"3": 0.4, "5": nan}}).axes[0]
    assert [(round(x), y) for x, y in dots(axes, METHODS[1], "D")] == [(1, 0.15)]
    assert dots(axes, METHODS[1], "D")[0][0] == dots(axes, METHODS[1])[0][0]
    assert [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "D"] == ["none", "none"]
    assert len(dots(axes, METHODS[2], "D")) == 1


def test_what_is_reported_below_zero_stands_there():
    axes = bars({"one": {"2": (0.5, 0.0)}}, "change", marks={"one": {"2": -0.3}}).axes[0]
    assert [y for _, y in dots(axes, METHODS[0], "D")] == [-0.3]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("marks", [{}, {"one": {"3": inf}}])
def test_what_is_infinite_leaves_a_gap(log, marks):
    figure = bars({"one": {"2": (0.2, inf), "3": (inf, 0.1), "4": (inf, inf)}}, "error", marks, log)
    assert names(figure)[0] == ["2", "3", "4"]
    axes = figure.axes[0]
    assert [(round(x), y) for x, y in dots(axes, METHODS[0])] == [(0, 0.2)]
    assert not [
        line for line in axes.lines if to_hex(line.get_color()) == METHODS[0].lower() and len(line.get_xdata()) > 1
    ]


def test_dollars_in_names_are_no_maths():
    """Between two of them, `^_` is no maths that can be read."""
    odd = "$^_$"
    figure = bars({odd: {odd: (1.0, 0.1), "5 $^_$ 6": (2.0, 0.1)}}, odd, {odd: {odd: 1.0}}, title=odd, xlabel=odd)
    assert names(figure)[0] == [odd, "5 $^_$ 6"]
    found = Front((Entry(parse('G ("$^_$" <= 1)'), 2, 0.1, nan, nan, inf),), 0)
    front(found, ylabel=odd, title=odd).canvas.draw()


def test_the_positions_have_a_name_under_them():
    assert bars(CELLS, "error", xlabel="length").axes[0].get_xlabel() == "length"
    assert bars(CELLS, "error").axes[0].get_xlabel() == ""


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("cells", [{}, {"a": {}}, {"a": {"2": (0.0, 0.0)}}, {"a": {"2": (nan, nan)}}])
def test_nothing_and_nothing_but_zeros_are_drawn_too(cells, log):
    bars(cells, "error", log=log).canvas.draw()


def test_a_log_scale_refuses_what_is_below_zero():
    with pytest.raises(UnsupportedError, match="no place for -1"):
        bars({"a": {"2": (-1.0, 0.0)}}, "error", log=True)
    low, _ = bars({"a": {"2": (-1.0, 0.0), "3": (1.0, 0.0)}}, "change").axes[0].get_ylim()
    assert low < -1


@pytest.mark.parametrize("count", [1, 4, 20])
def test_many_methods_fit(count):
    cells = {f"a method, number {i}": dict.fromkeys(("cct", "ecg"), (1.0 + i, 0.1)) for i in range(count)}
    figure = bars(cells, "seconds", log=True)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for legend in figure.legends for text in legend.get_texts()]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    assert figure.axes[0].get_window_extent().height > 150
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines if line.get_marker() != "None"}
    assert len(looks) == count


def some_front(validated=True):
    rules = [("G (v <= 39.8123456)", 2, 0.12, 0.13), ("G (v <= 39.8 & v >= 10)", 4, 0.06, 0.05), ("true", 6, 0.0, 0.2)]
    made = [Entry(parse(t), n, e, v if validated else nan, 0.01 if validated else nan, inf) for t, n, e, v in rules]
    return Front(tuple(made), 1 if validated else 2)


def test_a_front_has_its_errors_and_the_picked_rule_ringed():
    figure = front(some_front(), {2: 0.14, 6: 0.1})
    axes = figure.axes[0]
    rows = [[*map(float, line.get_ydata())] for line in axes.lines]
    assert [0.12, 0.06, 0.0] in rows
    assert [0.13, 0.05, 0.2] in rows
    assert dots(axes, "#000000") == [(4.0, 0.05)]
    bars_drawn = sorted(row for row in rows if len(row) == 2 and row != [0.14, 0.1])
    np.testing.assert_allclose(bars_drawn, [(0.04, 0.06), (0.12, 0.14), (0.19, 0.21)])
    (test,) = [line for line in axes.lines if to_hex(line.get_color()) == BAD.lower()]
    assert test.get_xdata() == pytest.approx([2, 6], abs=0.2)
    assert "2: G (v <= 39.81)" in words(figure)


def test_a_front_without_validation_has_its_training_errors():
    figure = front(some_front(False))
    assert dots(figure.axes[0], "#000000") == [(6.0, 0.0)]
    assert words(figure)[:2] == ["training", "2: G (v <= 39.81)"]
    assert not [
        line for line in figure.axes[0].lines if to_hex(line.get_color()) == GOOD.lower() and len(line.get_ydata())
    ]


def test_a_test_error_of_no_rule_is_refused():
    with pytest.raises(UnsupportedError, match="of length 3, but the front has the lengths 2, 4, 6"):
        front(some_front(), {3: 0.1})


def test_a_front_without_rules_is_refused():
    with pytest.raises(UnsupportedError, match="needs at least one rule"):
        front(Front((), 0))
