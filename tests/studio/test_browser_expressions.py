"""Rules with functions of channels in a real browser: typed, drawn, pulled, looked at closely."""

from __future__ import annotations

import re

import numpy as np
import pytest

import fernn

LONG = "case,time,v,label\n" + "".join(
    f"{case},{t / 10},{np.sin(t / 300) + case * t / 5000:.4f},{'good' if case < 2 else 'bad'}\n"
    for case in range(4)
    for t in range(12_000)
)


def panels(page):
    found = page.locator("#traces .f-panel canvas[role='img']").all()
    return [(each.get_attribute("aria-label") or "").split(": ")[0] for each in found]


def wait_for_panels(page, *names):
    page.wait_for_function(
        "names => [...document.querySelectorAll(\"#traces .f-panel canvas[role='img']\")]"
        ".map((each) => (each.getAttribute('aria-label') || '').split(': ')[0]).join() === names.join()",
        arg=list(names),
    )


@pytest.mark.slow
def test_a_rule_with_functions_is_typed_drawn_and_pulled(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (diff(v, 2) <= 14)")
    wait_for_panels(page, "v", "w", "diff(v, 2)")
    grip = page.get_by_role("slider")
    assert grip.get_attribute("aria-label") == "threshold of diff(v, 2) <= 14"
    box = grip.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(box["x"] + 20, box["y"] + 9 + 6 * step)
    page.mouse.up()
    page.wait_for_function("() => Studio.state.formula !== 'G (diff(v, 2) <= 14)'")
    pulled = page.locator("#formula").input_value()
    level = float(re.fullmatch(r"G \(diff\(v, 2\) <= ([\d.]+)\)", pulled)[1])
    assert level < 14
    data = seen.studio.studio.datasets.data(page.evaluate("Studio.now.data")).data
    wrong = int((fernn.satisfied(pulled, data) != data.positive).sum())
    assert page.locator(".f-confusion caption").inner_text() == f"{wrong} of 24 wrong"
    grip.focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("pulled => Studio.state.formula !== pulled", arg=pulled)
    assert page.evaluate("document.activeElement.className") == "f-grip"  # the handle stays in the hand
    seen.write("G (v <= 27)")
    wait_for_panels(page, "v", "w")


@pytest.mark.slow
def test_a_slip_in_a_function_is_shown_where_it_is(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 27)")
    page.locator("#formula").fill("G (meen(v, 2) <= 3)")
    page.get_by_text("there is no function 'meen'; did you mean 'mean'?").wait_for()
    assert page.locator("#formula-trouble").inner_text().splitlines()[1:] == ["G (meen(v, 2) <= 3)", "   ^"]
    page.locator("#formula").fill("G (mean(v, 2 s) <= 3)")
    page.get_by_text("the time between samples is not known").wait_for()


@pytest.mark.slow
def test_one_trace_and_sensitivity_tell_of_functions(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (mean(v, 3) <= 27)")
    page.locator(".lanes svg .decided").wait_for()
    assert "mean(v, 3) at sample" in page.locator(".lanes p").first.inner_text()
    assert page.locator(".lanes svg text.mono").all_text_contents()[:2] == ["v", "mean(v, 3)"]
    page.locator("#tab-sensitivity").click()
    page.locator(".f-many figcaption").get_by_text("mean(v, 3) <= 27").wait_for()


@pytest.mark.slow
def test_zooming_in_brings_all_samples_of_an_expression(window):
    page = (seen := window()).page
    seen.upload(LONG, "long.csv")
    seen.write("G (mean(v, 50) <= 2)")
    wait_for_panels(page, "v", "mean(v, 50)")
    with page.expect_response(lambda answer: answer.url.endswith("/expressions")) as answer:
        page.evaluate("Studio.now.view.zoom(100, 130)")
    told = answer.value.json()
    assert told["at"] is None  # nothing is left out
    assert min(told["lengths"]) >= 300
    assert [each["name"] for each in told["channels"]] == ["mean(v, 50)"]
