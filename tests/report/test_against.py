"""A picture of traces against rules shows what the rules say and what they get wrong."""

from math import nan

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from matplotlib.colors import to_hex, to_rgb
from matplotlib.markers import TICKDOWN, TICKUP

from fernn import parse
from fernn.data import Dataset, from_arrays
from fernn.errors import DataError, SignalError, UnsupportedError
from fernn.learners import Fit, Front
from fernn.learners.base import Entry
from fernn.report import against
from fernn.report.plots.style import BAD, DARK, GOOD, PLAIN, RULES
from fernn.report.plots.trace_plot import _dots
from fernn.semantics import deciding


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
    found = [line for line in axes.lines if to_hex(line.get_color()) == colour.lower() and line.get_marker() != "o"]
    return [line for line in found if width is None or line.get_linewidth() == width]


def dots(axes, colour=None):
    """(time, value) of the deciding samples, in this colour or in all."""
    found = [line for line in axes.lines if line.get_marker() == "o"]
    kept = [line for line in found if colour is None or to_hex(line.get_color()) == colour.lower()]
    return sorted((float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in kept)


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
    figure = against(steps(), {"far": parse("G (x <= 100)")})
    assert any("100 is out of sight" in text for text in words(figure))
    assert figure.axes[0].get_ylim()[1] < 2
    assert [thresholds(axes) for axes in figure.axes] == [[]]
    figure = against(steps(), {"r": parse("G (y >= 0.5 & x - 2*y <= 1)")}, channels=["x"])
    assert any("y is not shown; x - 2*y is not shown" in text for text in words(figure))


def test_what_a_rule_compares_has_a_panel_below_the_channels_with_its_thresholds():
    data = steps(dt=0.5)
    figure = against(data, {"r": parse("G (2*diff(x, 1 s) <= 0.5)"), "s": parse("F[2,4] (x - 2*y >= -1)")})
    panels = {axes.get_ylabel() or axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(panels) == ["x", "y", "diff(x, 1 s)", "x - 2*y"]
    assert thresholds(panels["diff(x, 1 s)"]) == [(0.25, 0, 5, TICKUP)]
    assert thresholds(panels["x - 2*y"], RULES[1]) == [(-1, 1, 2, TICKDOWN)]
    assert thresholds(panels["x"]) == []
    rule = parse("G (2*diff(x, 1 s) <= 0.5)")
    decided = [(each.sample, i) for i, each in enumerate(deciding(rule, data))]
    x = data.values[:, 0]
    wanted = sorted((0.5 * at, x[i, at] - x[i, max(0, at - 2)]) for at, i in decided)
    assert np.allclose(dots(panels["diff(x, 1 s)"]), wanted)


def test_what_is_infinite_lies_at_the_edge_and_is_said():
    figure = against(steps(), {"r": parse("G (since(x >= 0.5) <= 3)")})
    assert "since(x >= 0.5): what is infinite is drawn at the edge" in words(figure)
    assert all(np.isfinite(line.get_ydata()).all() for line in figure.axes[1].lines)


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


@pytest.mark.slow
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
    with pytest.raises(UnsupportedError, match="expected a formula, or a front, a fit, a run or an outcome, got int"):
        against(steps(), 7)
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


def test_a_dot_is_where_the_definition_says_that_the_verdict_is_decided():
    """Of G the least sample, of H over a window the least in it, of an or the part that is greater."""
    data = steps()
    x, y = np.moveaxis(data.values, 1, 0)
    least = sorted(zip(x.argmin(axis=1).tolist(), x.min(axis=1).tolist(), strict=True))
    assert dots(against(data, "G (x >= 0.5)").axes[0]) == least
    late = sorted(zip((6 + x[:, 6:9].argmin(axis=1)).tolist(), x[:, 6:9].min(axis=1).tolist(), strict=True))
    assert dots(against(data, "H[2,4] (x >= 0.5)").axes[0]) == late
    first, second = against(data, "G (x >= 0.5) | G (y >= 0.5)").axes
    by_x = x.min(axis=1) >= y.min(axis=1)
    assert dots(first) == sorted(zip(x.argmin(axis=1)[by_x].tolist(), x.min(axis=1)[by_x].tolist(), strict=True))
    assert dots(second) == sorted(zip(y.argmin(axis=1)[~by_x].tolist(), y.min(axis=1)[~by_x].tolist(), strict=True))


def test_dots_are_of_the_traces_that_are_drawn_and_can_be_left_out():
    figure = against(steps(cases=400), "G (x >= 0.5)", most=20)
    assert len(dots(figure.axes[0])) == 20
    assert "the sample that decides what the rule says of a trace" in words(figure)
    figure = against(steps(), "G (x >= 0.5)", deciding=False)
    assert not dots(figure.axes[0])
    assert not any("decides" in text for text in words(figure))
    assert not dots(against(steps(), "F (x >= 0.5) | true").axes[0])


def test_the_dots_of_what_is_lifted_out_are_dark():
    data = steps()
    values = np.array(data.values)
    values[1, 0, 5] = -0.5  # a good one
    axes = against(Dataset(values, data.labels, data.classes, data.channels), "G (x >= 0.5)").axes[0]
    assert dots(axes, DARK[GOOD]) == [(5.0, -0.5)]
    assert len(dots(axes, GOOD)) == 9


def test_dots_of_unequal_traces_stand_on_their_traces():
    rows = [np.r_[np.ones(3), 9.0, np.ones(n)][None] for n in (2, 5, 7)]
    assert {x for x, _ in dots(against(from_arrays(rows, [0, 1, 1]), "F (x >= 4)").axes[0])} == {3.0}
    assert [x for x, _ in dots(against(from_arrays(rows, [0, 1, 1]), "O (x >= 4)").axes[0])] == [-7.0, -5.0, -2.0]


def test_a_peak_of_one_sample_in_a_long_trace_is_drawn():
    values = np.zeros((4, 1, 100_000))
    values[2, 0, 54_321] = 7.0
    axes = against(Dataset(values, [0, 0, 1, 1], ("bad", "good")), "F (x >= 4)").axes[0]
    assert max(line.get_ydata().max() for line in lines(axes, GOOD, 0.6)) == 7.0
    assert (54_321.0, 7.0) in dots(axes)
    assert max(len(line.get_xdata()) for line in axes.lines) < 1000


def test_without_labels_traces_are_grey_and_those_that_violate_the_rule_are_lifted_out():
    data = steps()
    figure = against(Dataset(data.values, None, (), data.channels), "G (x >= 0.5)")
    axes = figure.axes[0]
    assert not lines(axes, GOOD)
    assert not lines(axes, BAD)
    assert len(lines(axes, PLAIN, 0.6)) == 20
    assert len(lines(axes, DARK[PLAIN])) == 10
    assert "violates the rule: 10 traces" in words(figure)
    assert "median and 5% to 95% of 20 traces" in words(figure)
    assert "the rule: G (x >= 0.5)  (satisfied by 10 of 20 traces)" in words(figure)


def test_real_labels_are_colours_and_the_worst_guesses_are_lifted_out():
    data = steps(cases=12)
    labels = data.values[:, 0].max(axis=1) - 0.5
    labels[[3, 7]] += 2.0
    figure = against(Dataset(data.values, labels, (), data.channels), "F (x >= 0.5)")
    axes, scale = figure.axes
    assert scale.get_ylabel() == "label"
    assert scale.get_ylim() == pytest.approx((labels.min(), labels.max()))
    thin = {tuple(line.get_ydata()): line.get_color() for line in axes.lines if line.get_linewidth() == 0.6}
    light = [sum(to_rgb(thin[tuple(data.values[i, 0])])) for i in np.argsort(labels)]
    assert light == sorted(light)
    assert light[-1] > 2 * light[0]
    lifted = [line.get_ydata().tolist() for line in lines(axes, DARK[PLAIN])]
    assert lifted == [data.values[i, 0].tolist() for i in (3, 7)]
    assert any("mean absolute error 0.333" in text for text in words(figure))  # 2 of 12 are off by 2


def test_each_of_many_classes_has_its_colour():
    data = steps(cases=21)
    figure = against(Dataset(data.values, np.arange(21) % 3, ("a", "b", "c"), data.channels), "G (x >= 0.5)")
    assert [text.split(":")[0] for text in words(figure)[:3]] == ["a", "b", "c"]
    assert any("(satisfied by 10 of 21 traces)" in text for text in words(figure))


def test_a_result_shows_the_rule_that_it_picked():
    entries = [Entry(parse(text), n, 0.1, nan, nan, 1.0) for n, text in ((1, "x >= 0.4"), (2, "G (x >= 0.5)"))]
    found = Front(tuple(entries), 1)
    for result in (found, Fit(found, 1.0, "done", {}), "G (x >= 0.5)", parse("G (x >= 0.5)")):
        assert "the rule: G (x >= 0.5)  (error 0%)" in words(against(steps(), result))


def test_only_what_is_asked_for_is_judged_however_it_is_cut(monkeypatch):
    data = steps(cases=30)
    rule = parse("G (x >= 0.5 | F[1,3] (y <= 0.2))")
    cases = np.array([2, 3, 11, 29])
    wanted = [(((((one.channels[0], 1.0),),), one.sample)) for one in deciding(rule, data.subset(cases))]
    for block in (1, 300, 10**9):
        monkeypatch.setattr("fernn.report.witness_matrix.BLOCK", block)
        found = _dots(rule, data, cases)
        assert [*found] == cases.tolist()
        assert [tuple(one) for one in found.values()] == wanted
