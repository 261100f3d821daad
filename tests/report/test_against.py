"""A picture of traces against rules shows what the rules say and what they get wrong."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from matplotlib.colors import to_hex
from matplotlib.markers import TICKDOWN, TICKUP

from fernn import parse
from fernn.data import Dataset, from_arrays, load
from fernn.errors import DataError, SignalError, UnsupportedError
from fernn.report import against
from fernn.report.plots.style import BAD, DARK, GOOD, RULES


def steps(channels=("x", "y"), samples=11, dt=None, cases=20):
    """Good traces about 1, bad ones about 0, in every channel."""
    y = np.arange(cases) % 2
    X = np.random.default_rng(0).uniform(-0.2, 0.2, (cases, len(channels), samples)) + y[:, None, None]
    return Dataset(X, y, ("bad", "good"), tuple(channels), dt=dt, time_unit="s" if dt else None)


def thresholds(axes, colour=RULES[0]):
    """(level, first, last, side) of the thresholds drawn in this colour."""
    own = [line for line in axes.lines if to_hex(line.get_color()) == colour.lower()]
    levels = [line for line in own if line.get_linestyle() != "None" and len(set(line.get_ydata())) == 1]
    sides = {line.get_ydata()[0]: line.get_marker() for line in own if line.get_marker() in (TICKUP, TICKDOWN)}
    return [(line.get_ydata()[0], *line.get_xdata(), sides[line.get_ydata()[0]]) for line in levels]


def lines(axes, colour, width=None):
    found = [line for line in axes.lines if to_hex(line.get_color()) == colour.lower()]
    return [line for line in found if width is None or line.get_linewidth() == width]


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_threshold_runs_over_its_window():
    figure = against(steps(), {"r": parse("F[2,4] G[0,3] (x >= 0.5)")})
    assert thresholds(figure.axes[0]) == [(0.5, 2, 7, TICKDOWN)]
    figure = against(steps(), {"r": parse("G (x <= 0.5)")})
    assert thresholds(figure.axes[0]) == [(0.5, 0, 10, TICKUP)]


def test_time_is_in_units_where_they_are_known():
    figure = against(steps(dt=0.1), {"r": parse("H[2,4] (x >= 0.5)")})
    (_, first, last, _) = thresholds(figure.axes[0])[0]
    assert (first, last) == pytest.approx((0.6, 0.8))
    assert figure.axes[0].get_xlabel() == "time (s)"
    assert against(steps(), {"r": "x >= 0.5"}).axes[0].get_xlabel() == "sample"


def test_ticks_stand_where_a_sample_counts_against_the_rule():
    figure = against(steps(), {"r": parse("!F (x >= 0.7) & (G[0,3] (-2*x > -1) -> F (x >= 0.2))")})
    sides = {level: side for level, _, _, side in thresholds(figure.axes[0])}
    assert sides == {0.7: TICKUP, 0.5: TICKDOWN, 0.2: TICKDOWN}


def test_an_atom_at_one_instant_is_a_short_mark_there():
    figure = against(steps(), {"r": parse("x >= 0.5")})
    ((_, first, last, _),) = thresholds(figure.axes[0])
    assert first + last == pytest.approx(0)
    assert 0 < last - first < 1


def test_each_channel_that_is_read_has_a_panel_in_the_order_of_the_data():
    data = steps(("a", "b", "c", "d"))
    rules = {"r": parse("G (d >= 0.5)"), "s": parse("F (b >= 0.5)")}
    assert [axes.get_ylabel() for axes in against(data, rules).axes] == ["b", "d"]
    assert [axes.get_ylabel() for axes in against(data, rules, channels=["c"]).axes] == ["c"]
    assert [axes.get_ylabel() for axes in against(data, {"r": parse("true")}).axes] == ["a", "b", "c", "d"]
    with pytest.raises(DataError, match="no channel 'e'"):
        against(data, rules, channels=["e"])


def test_the_legend_has_name_formula_and_error():
    data = steps()
    figure = against(data, {"mine": parse("G (x >= 0.5000001234)"), "all": parse("true")})
    assert "mine: G (x >= 0.5)  (error 0%)" in words(figure)
    assert "all: true  (error 50%)" in words(figure)
    assert "good: median and 5% to 95% of 10 traces" in words(figure)


def test_what_has_no_line_is_said_so():
    figure = against(steps(), {"sum": parse("G (x - 2*y >= -3)"), "far": parse("G (x <= 100)")})
    assert any("x - 2*y is not drawn" in text for text in words(figure))
    assert any("100 is out of sight" in text for text in words(figure))
    assert figure.axes[0].get_ylim()[1] < 2
    assert [thresholds(axes) for axes in figure.axes] == [[], []]
    figure = against(steps(), {"r": parse("G (y >= 0.5)")}, channels=["x"])
    assert any("y is not shown" in text for text in words(figure))


@pytest.mark.parametrize(("value", "near", "far"), [(5.0, 9.5, 11.0), (-5.0, -1.0, 5.5), (0.0, 0.5, 40.0)])
def test_a_threshold_far_from_a_channel_that_never_moves_is_out_of_sight(value, near, far):
    data = from_arrays(np.full((4, 1, 6), value), [0, 1, 0, 1], channels=["x"])
    figure = against(data, {"r": parse(f"G (x <= {near}) & F (x >= {far})")})
    assert [level for level, *_ in thresholds(figure.axes[0])] == [near]
    assert any(f"{far:g} is out of sight" in text for text in words(figure))


def test_what_the_first_rule_misjudges_is_lifted_out():
    data = steps()
    values = np.array(data.values)
    values[[0, 2, 4], 0, 3] = 0.9  # bad traces
    values[1, 0, 5] = -0.5  # a good one
    data = Dataset(values, data.labels, data.classes, data.channels)
    axes = against(data, {"r": parse("F[3,3] (x >= 0.5) & G (x >= -0.3)"), "s": parse("false")}).axes[0]
    assert len(lines(axes, DARK[BAD])) == 3
    assert len(lines(axes, DARK[GOOD])) == 1
    assert lines(axes, DARK[GOOD])[0].get_ydata().min() == -0.5
    figure = against(data, {"r": parse("F[3,3] (x >= 0.5) & G (x >= -0.3)")})
    assert "bad, but satisfies r: 3 traces" in words(figure)
    assert "good, but violates r: 1 trace" in words(figure)


def test_medians_are_thick_and_few_traces_thin():
    data = steps(cases=400)
    axes = against(data, {"r": parse("G (x >= 0.5)")}, most=20).axes[0]
    for colour, mask in ((GOOD, data.positive), (BAD, ~data.positive)):
        assert len(lines(axes, colour, 0.6)) == 10
        (median,) = lines(axes, colour, 2.4)
        np.testing.assert_allclose(median.get_ydata(), np.median(data.values[mask, 0], axis=0))
    with pytest.raises(UnsupportedError, match="2 or more; got 1"):
        against(data, {}, most=1)


def test_unequal_traces_share_the_end_that_past_rules_look_back_from():
    traces = [np.arange(n, dtype=float)[None] for n in (3, 6, 9)]
    data = from_arrays(traces, [0, 1, 1])
    axes = against(data, {"r": parse("O[1,2] (x >= 4)")}).axes[0]
    assert {line.get_xdata()[-1] for line in lines(axes, GOOD)} == {0}
    assert thresholds(axes)[0][:3] == (4, -2, -1)
    axes = against(data, {"r": parse("F[1,2] (x >= 4)")}).axes[0]
    assert {line.get_xdata()[0] for line in lines(axes, GOOD)} == {0}


@pytest.mark.parametrize("channels", [1, 7])
@pytest.mark.parametrize("samples", [1, 12, 20_000])
def test_any_size_is_drawn(channels, samples):
    names = [f"c{i}" for i in range(channels)]
    data = steps(names, samples)
    rule = parse(" & ".join(f"F[0,{samples}] ({name} >= 0.5)" for name in names))
    figure = against(data, {"r": rule, "s": parse("G (c0 >= 0.1)")})
    figure.canvas.draw()
    assert max(len(line.get_xdata()) for axes in figure.axes for line in axes.lines) < 1000
    assert [axes.get_ylabel() for axes in figure.axes if axes.axison] == names


@pytest.mark.parametrize("size", [1, 4, 7])
def test_no_words_overlap_or_leave_the_picture(size):
    names = [f"channel_{i}" for i in range(size)]
    long = " & ".join(f"F[2,{8 + i}] ({name} >= 0.{i}1)" for i, name in enumerate(names))
    rules = {f"rule {i}": parse(long) for i in range(6)} | {"short": parse("G (channel_0 >= 0.5)")}
    figure = against(steps(names), rules, title="A title")
    figure.canvas.draw()
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for axes in (axes for axes in figure.axes if axes.axison):
        texts += [axes.xaxis.label, axes.yaxis.label]
        for labels, (low, high), i in (
            (axes.get_xticklabels(), axes.get_xlim(), 0),
            (axes.get_yticklabels(), axes.get_ylim(), 1),
        ):
            texts += [label for label in labels if low <= label.get_position()[i] <= high]
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    page = figure.bbox
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0 + 1
        assert box.x1 - 1 <= page.x1
        assert page.y0 <= box.y0 + 1
        assert not any(box.padded(-2).overlaps(other.padded(-2)) for other in boxes[:i])


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(SignalError, match="both back and ahead"):
        against(steps(), {"r": parse("F O (x >= 0.5)")})
    with pytest.raises(DataError, match="two classes"):
        against(load("wander", cases=5), {"r": parse("F (x >= 0.5)")})
    with pytest.raises(SignalError, match="z"):
        against(steps(), {"r": parse("F (z >= 0.5)")})


def test_dollars_in_names_are_no_maths():
    """Between two of them, `^_` is no maths that can be read."""
    data = Dataset(np.eye(4)[:, None], np.arange(4) % 2, ("$^_$ bad", "$^_$ good"), ("$^_$",), dt=1.0, time_unit="$^_$")
    against(data, {"$^_$": parse('G ("$^_$" <= 0.5)')}, title="$^_$").canvas.draw()


def test_a_class_without_traces_is_left_out():
    data = steps()
    figure = against(data.subset(data.positive), {"r": parse("G (x >= 0.5)")})
    assert not lines(figure.axes[0], BAD)
    assert not any(text.startswith("bad:") for text in words(figure))


def test_long_rules_do_not_crush_the_panels():
    long = parse(" & ".join(f"F[0,{i}] (x >= 0.{i})" for i in range(1, 10)))
    short = against(steps(), {"r": parse("G (x >= 0.5)")})
    heights = [
        f.axes[0].get_window_extent().height for f in (short, against(steps(), {f"r{i}": long for i in range(9)}))
    ]
    assert heights[1] > 0.85 * heights[0]
