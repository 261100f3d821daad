"""What is drawn of long traces, in a real browser: every corner of a line and every dot is a recorded sample."""

from __future__ import annotations

import numpy as np
import pytest

from fernn.data import from_arrays
from fernn.report import view

SAMPLES, SPIKE, STEP = 20_000, 13_337, 0.01
LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 48, 56, 20, 36, 330
"""Pixels around a single panel."""
RECORD = """() => {
  window.drawn = { lines: [], dots: [] };
  const pen = CanvasRenderingContext2D.prototype, { beginPath, moveTo, lineTo, arc } = pen;
  let isPlain = false; // a line of the grid or of a threshold, which begins with a move
  pen.beginPath = function () { isPlain = false; return beginPath.call(this); };
  pen.moveTo = function (x, y) { isPlain = true; return moveTo.call(this, x, y); };
  pen.lineTo = function (x, y) { if (!isPlain) window.drawn.lines.push([x, y]); return lineTo.call(this, x, y); };
  pen.arc = function (x, y, ...more) { window.drawn.dots.push([x, y]); return arc.call(this, x, y, ...more); };
}"""
DRAW = """([traces, reading]) => {
  const host = document.createElement("div");
  host.style.width = "800px";
  document.body.replaceChildren(host);
  window.shown = Fernn.traces(host, traces);
  window.shown.show(reading);
}"""
LATER = (
    """() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 400))"""
)
"""What is drawn once hands rest; nothing is asserted of how soon that is."""


@pytest.fixture(scope="module")
def spiky():
    """Two traces of small waves; the second one has a single sample far above."""
    time = np.arange(SAMPLES)
    values = np.stack([np.sin(time / 700), np.sin(time / 900)])[:, None]
    values[1, 0, SPIKE] = 9.0
    return from_arrays(values, [1, 0], channels=("v",), dt=STEP, time_unit="s")


def places(data, width, span):
    """Pixels of every sample: `[case, sample, xy]`."""
    low, high = data.ranges["v"]
    pad = 0.06 * (high - low)
    x = LEFT + (np.arange(SAMPLES) * STEP - span[0]) / (span[1] - span[0]) * (width - LEFT - RIGHT)
    values = np.stack(data.values)[:, 0]
    y = (HEIGHT - BOTTOM) + (values - (low - pad)) / (high - low + 2 * pad) * (TOP - (HEIGHT - BOTTOM))
    return np.stack([np.broadcast_to(x, y.shape), y], axis=2)


def samples_of(corners, where):
    """Which sample of which case each corner is, by its place; all of them must be some."""
    found = []
    for x, y in corners:
        at = int(np.clip(round(np.interp(x, where[0, :, 0], np.arange(SAMPLES))), 0, SAMPLES - 1))
        away = [np.hypot(*(where[case, at] - (x, y))) for case in range(len(where))]
        assert min(away) < 0.6, (x, y)
        found.append((int(np.argmin(away)), at))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("budget", [900_000, 20_000])
def test_corners_and_dots_are_samples_however_thin_and_the_page_says_that_some_are_left_out(window, spiky, budget):
    page = window().wait_for_start()
    page.evaluate(RECORD)
    traces = view.traces(spiky, budget=budget) | {"bands": [{}]}
    page.evaluate(DRAW, [traces, view.reading("G (v <= 5)", spiky)])
    page.evaluate(LATER)
    width = page.evaluate("document.querySelector('.f-panel canvas').getBoundingClientRect().width")
    where = places(spiky, width, (0, (SAMPLES - 1) * STEP))
    drawn = page.evaluate("window.drawn")
    assert (1, SPIKE) in samples_of(drawn["lines"], where)
    assert min(np.hypot(*(where[1, SPIKE] - dot)) for dot in drawn["dots"]) < 0.1
    every = round(SAMPLES / traces["bins"])
    assert (
        f"Of every {every} samples of a long trace the least and the greatest" in page.locator(".f-note").inner_text()
    )

    span = ((SPIKE - 60) * STEP, (SPIKE + 60) * STEP)
    page.evaluate("window.drawn = { lines: [], dots: [] }")
    page.evaluate("span => window.shown.zoom(...span)", span)
    page.evaluate(LATER)
    drawn = page.evaluate("window.drawn")
    where = places(spiky, width, span)
    assert (1, SPIKE) in samples_of([each for each in drawn["lines"] if LEFT <= each[0] <= width - RIGHT], where)
    assert min(np.hypot(*(where[1, SPIKE] - dot)) for dot in drawn["dots"]) < 0.1


@pytest.mark.slow
def test_zoomed_in_the_studio_draws_a_single_sample_as_one_and_not_as_a_triangle(window, spiky):
    rows = [
        f"{'ab'[c]},{t},{v!r},{'bg'[c == 0]}ood\n" for c in (0, 1) for t, v in enumerate(spiky.values[c][0].tolist())
    ]
    text = "case,time,v,label\n" + "".join(rows).replace("bood", "bad")
    page = (seen := window()).page
    seen.upload(text, "long.csv")
    seen.write("G (v <= 5)")
    page.evaluate(RECORD)
    page.evaluate("Studio.now.view.filter('bad')")
    span = [SPIKE - 60, SPIKE + 60]  # a time a sample
    page.evaluate("span => Studio.now.view.zoom(...span)", span)
    page.wait_for_function("() => !document.querySelector('#traces .f-note').textContent.includes('Of every')")
    page.evaluate("window.drawn = { lines: [], dots: [] }")
    page.evaluate("span => Studio.now.view.zoom(...span)", span)
    page.evaluate(LATER)
    width = page.evaluate("document.querySelector('.f-panel canvas').getBoundingClientRect().width")
    where = places(spiky, width, [edge * STEP for edge in span])
    drawn = page.evaluate("window.drawn")
    inside = [each for each in drawn["lines"] if LEFT - 1e-6 <= each[0] <= width - RIGHT + 1e-6]
    found = samples_of(inside, where)
    assert {at for _, at in found} == {*range(SPIKE - 60, SPIKE + 61)}
    assert {case for case, at in found if at in (SPIKE - 1, SPIKE, SPIKE + 1)} == {1}
    assert min(np.hypot(*(where[1, SPIKE] - dot)) for dot in drawn["dots"]) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"), (105.06700000000001, "105.067"), (13337 * 0.01, "133.37"), (12345.678, "12345.678"),
        (-2.5, "−2.5"), (1e-7, "1e−7"), (0, "0"), (3 * 1.1, "3.3"), (123456.789, "123456.789"),
    ],
)  # fmt: skip
def test_numbers_that_the_page_computes_have_all_digits_and_none_that_binary_has_left(window, value, text):
    page = window().page
    assert page.evaluate("value => Fernn.plain(value)", value) == text
    assert page.evaluate("value => Fernn.moment(value, { unit: 's' })", value) == f"{text} s"
    assert page.evaluate("value => Fernn.moment(value, { unit: null })", value) == text


def test_the_labels_of_an_axis_differ_also_far_from_zero(window):
    values = 100_000 + np.arange(12.0).reshape(2, 1, 6) / 10
    data = from_arrays(values, [0, 1], channels=("v",), dt=0.1, time_unit="s")
    page = window().wait_for_start()
    page.evaluate("""() => {
      window.written = [];
      const pen = CanvasRenderingContext2D.prototype, { fillText } = pen;
      pen.fillText = function (text, ...more) { window.written.push(text); return fillText.call(this, text, ...more); };
    }""")
    page.evaluate(DRAW, [view.traces(data), view.reading("G (v <= 100000.5)", data)])
    page.evaluate(LATER)
    written = page.evaluate("window.written")
    last = written[
        len(written) - 1 - written[::-1].index("v") :
    ]  # of the last drawing: the channel, then the time axis
    before = written[: len(written) - 1 - written[::-1].index("v")]
    levels = before[len(before) - 1 - before[::-1].index("time (s)") + 1 :] if "time (s)" in before else before
    assert len(levels) == len(set(levels)) > 2
    assert all(99_999 <= float(each) <= 100_002 for each in levels)
    assert last[-1] == "time (s)"
    assert {"0.1", "0.3"} <= set(last) or {"0.2", "0.4"} <= set(last)


def test_a_threshold_pulled_on_a_channel_with_a_weight_has_no_digits_that_binary_has_left(window):
    data = from_arrays(np.arange(20.0).reshape(2, 1, 10), [0, 1], channels=("v",))
    page = window().wait_for_start()
    given = page.evaluate(
        """([traces, reading]) => {
          const host = document.createElement("div"), given = [];
          host.style.width = "800px";
          document.body.replaceChildren(host);
          Fernn.traces(host, traces, { onDrag: (threshold, value) => given.push(value) }).show(reading);
          return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
            const grip = host.querySelector(".f-grip");
            for (let k = 0; k < 12; k++) grip.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
            done(given);
          })));
        }""",
        [view.traces(data), view.reading("G (0.1*v <= 1.1)", data)],
    )
    assert len(given) >= 12
    assert all(len(repr(value)) <= 8 for value in given), given
