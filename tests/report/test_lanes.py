"""A picture of one trace shows every part of the formula as the definition has it, and the way to what decides."""

from math import inf, isinf

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import ConnectionPatch

import oracle
from fernn import parse
from fernn.data import Dataset, from_arrays, load
from fernn.errors import DataError, SignalError
from fernn.formula import walk
from fernn.report import lanes
from fernn.report.plots.style import BAD, GOOD
from fernn.report.plots.subformula_plot import LOOK
from fernn.report.reach import reach, window
from strategies import MIXED, formulas

RULE = "G[0,4] (x >= 0.1 | F[1,3] (y <= 0.5)) & F (x >= 0.9)"


def wave(samples=12, dt=None):
    """Two channels, two cases."""
    t = np.arange(samples)
    values = np.stack([[np.sin(t), np.cos(t)], [np.cos(t) - 1, np.sin(t)]])
    return Dataset(values, [0, 1], ("bad", "good"), ("x", "y"), dt, "s" if dt else None, ("left", "right"))


def by_name(figure):
    """The axes of each lane, by the text of its part."""
    return {axes.get_title(loc="left").strip(): axes for axes in figure.axes if axes.get_title(loc="left")}


def curve(axes):
    return next(line for line in axes.lines if line.get_color() == "#333333")


def dots(axes, marker="o"):
    return [(float(d.get_xdata()[0]), float(d.get_ydata()[0])) for d in axes.lines if d.get_marker() == marker]


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def definition(part, data, case):
    """Its robustness at every sample, word for word."""
    trace = dict(zip(data.channels, data.values[case].tolist(), strict=True))
    return [oracle.rho(part, trace, t) for t in range(len(trace["x"]))]


def test_every_part_has_a_lane_outermost_first_with_its_robustness():
    data = wave()
    figure = lanes(data, RULE, "right")
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["x", "y"]
    titles = [axes.get_title(loc="left") for axes in figure.axes[2:]]
    parts = list(walk(parse(RULE)))
    assert [title.strip() for title in titles] == [str(part) for part in parts]
    depths = [0, 1, 2, 3, 3, 4, 1, 2]
    assert [len(title) - len(title.lstrip()) for title in titles] == [4 * depth for depth in depths]
    for part in parts:
        wanted = [value if not isinf(value) else np.nan for value in definition(part, data, 1)]
        np.testing.assert_allclose(curve(by_name(figure)[str(part)]).get_ydata(), wanted, atol=1e-12)


def test_a_part_that_occurs_twice_has_one_lane():
    assert len(lanes(wave(), "F (x >= 0.5) & G (x >= 0.5)", 0).axes) == 1 + 4


def fills(axes):
    """(colour, hatch) of what is filled."""
    return {(to_hex(f.get_facecolor()[0]) if len(f.get_facecolor()) else None, f.get_hatch()) for f in axes.collections}


def test_lanes_are_filled_by_sign_and_hatched_where_infinite():
    axes = by_name(lanes(wave(), "F[10,11] (x >= 0)", 0))
    assert fills(axes["x >= 0"]) == {(GOOD.lower(), None), (BAD.lower(), None)}
    assert (None, "////") in {(None, hatch) for _, hatch in fills(axes["F[10,11] (x >= 0)"])}
    above = by_name(lanes(wave(), "x >= -9", 0))["x >= -9"]
    assert fills(above) == {(GOOD.lower(), None)}
    low, high = above.get_ylim()
    assert low < 0 < high


def test_the_way_leads_from_the_verdict_to_the_sample_that_decides():
    data = wave()
    figure = lanes(data, "H[2,5] (x >= 0.5)", 0)
    row = data.values[0, 0]
    at = 6 + int(row[6:10].argmin())
    lane = by_name(figure)
    assert dots(lane["H[2,5] (x >= 0.5)"], "D") == [(11.0, pytest.approx(row[at] - 0.5))]
    assert dots(lane["x >= 0.5"]) == [(at, pytest.approx(row[at] - 0.5))]
    assert dots(figure.axes[0]) == [(at, row[at])]
    assert len([artist for artist in figure.artists if isinstance(artist, ConnectionPatch)]) == 1
    (bar,) = [line for line in lane["x >= 0.5"].lines if line.get_color() == LOOK["color"]]
    assert list(bar.get_xdata()) == [6, 9]
    assert f"the way down to what decides: x = {row[at]:.7g} at sample {at}" in words(figure)


@pytest.mark.slow
def test_judged_elsewhere_the_way_begins_there():
    figure = lanes(wave(), "F O (x >= 0.5)", 0, at=3)
    assert dots(by_name(figure)["F O (x >= 0.5)"], "D")[0][0] == 3
    with pytest.raises(SignalError, match="both back and ahead"):
        lanes(wave(), "F O (x >= 0.5)", 0)


def test_title_and_legend_say_who_and_when():
    figure = lanes(wave(dt=0.5), "F (x >= 0.5)", "right")
    assert figure.get_suptitle() == "case right (good) violates the rule"
    assert any(text.startswith("judged at sample 0 (0 s): robustness -0.5") for text in words(figure))
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert lanes(wave(), "true", 0, title="Mine").get_suptitle() == "Mine"


def test_where_no_sample_decides_that_is_said():
    for text in ("true", "F[90,91] (x >= 0)"):
        figure = lanes(wave(), text, 0)
        assert "an empty window or a constant decides: no sample does" in words(figure)
        assert not any(dots(axes) for axes in figure.axes)


def test_long_traces_keep_their_extremes():
    values = np.zeros((1, 1, 100_000))
    values[0, 0, [40_001, 70_001]] = 5.0, -6.0
    figure = lanes(from_arrays(values), "O[0,80000] (x <= -4)", 0)
    lane = curve(by_name(figure)["x <= -4"])
    assert {*lane.get_ydata()} == {-9.0, -4.0, 2.0}
    assert lane.get_xdata()[np.argmax(lane.get_ydata())] == 70_001
    assert max(len(line.get_xdata()) for axes in figure.axes for line in axes.lines) < 1000


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 2, 30])
@pytest.mark.parametrize("text", ["x >= 0.5", RULE, "(x <= 1) S[1,3] (y >= 0)", "x - 2*y >= 0"])
def test_any_length_is_drawn(samples, text):
    lanes(wave(samples), text, 1).canvas.draw()


def test_a_case_that_is_not_there_is_refused():
    data = load("cruise", cases=5)
    with pytest.raises(DataError, match="no case 'normal-77'"):
        lanes(data, "G (v <= 34)", "normal-77")
    with pytest.raises(DataError, match="no case number 99"):
        lanes(data, "G (v <= 34)", 99)


@given(formulas(MIXED), st.integers(1, 20), st.data())
@settings(deadline=None, max_examples=200)
def test_a_window_has_the_samples_that_its_atom_is_read_at(formula, samples, data):
    """The reach of an operator right above atoms, which is checked against the definition elsewhere."""
    at = data.draw(st.integers(0, samples - 1))
    a, b = parse("x >= 0"), parse("y >= 0")
    for node in walk(formula):
        if hasattr(node, "over"):
            flat = type(node)(*([a, b] if hasattr(node, "left") else [a]), node.over)
            found = reach(flat, samples, at)
            for atom in (a, b):
                runs = tuple((first, last) for one, first, last in found if one == atom)
                if hasattr(node, "left") or atom == a:
                    assert window(flat, atom, at, samples) == runs
    assert window(parse("x >= 0 & y >= 0"), a, 0, samples) == ()
    assert inf not in window(parse("G (x >= 0)"), a, 0, samples)[0]
