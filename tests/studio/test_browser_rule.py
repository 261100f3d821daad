"""What the page says of a rule while it is being changed, in a real browser."""

from __future__ import annotations

import sys
from math import nextafter

import pytest

from fernn.studio import child, jobs

COMPILES = f"""
import json, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
first = {{"seconds": 1.0, "share": 0.0, "tried": 0}}
for said in ({{"ready": True}}, {{"note": {child.COMPILING!r}}}, {{"progress": first}}):
    print(json.dumps(said), flush=True)
time.sleep(600)
"""
"""A process that has told of its compiling and of a progress that is none yet, and does not listen to a first stop."""
PARTS = (".sentence", ".errors", "#traces")


def is_grey(page):
    """Whether what is shown is marked as that of an earlier text."""
    marks = [page.locator(part).first.get_attribute("data-old") is not None for part in PARTS]
    assert len(set(marks)) == 1
    assert (page.locator("#rule").get_attribute("aria-busy") == "true") == marks[0]
    return marks[0]


@pytest.mark.slow
def test_what_is_shown_is_grey_until_the_text_that_stands_there_is_read(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 27)")
    assert not is_grey(page)
    page.locator("#formula").fill("G (v <= ")
    assert is_grey(page)
    page.locator("#formula-trouble").wait_for()
    assert is_grey(page)
    seen.write("G (v <= 26)")
    assert not is_grey(page)
    seen.context.set_offline(True)
    page.locator("#formula").fill("G (v <= 22)")
    page.get_by_text("The server does not answer").wait_for()
    assert is_grey(page)
    seen.context.set_offline(False)
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 22)'")
    assert not is_grey(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flat", "words"),
    [
        ([5e-324, 1], "above 0 up to 1"),
        ([-1, -5e-324], "from −1 and below 0"),
        ([nextafter(34.3, 99), nextafter(40.0, 0)], "above 34.3 and below 40"),
        ([nextafter(-2.5, 0), None], "above −2.5"),
        ([None, nextafter(0.1, 0)], "below 0.1"),
        ([None, 0.1], "up to 0.1"),
        ([2, None], "from 2 on"),
        ([1, 2], "from 1 up to 2"),
        ([1 / 3, 2 / 3], "from 0.33333 up to 0.66667"),
    ],
)
def test_a_range_that_ends_just_beside_a_round_number_is_told_by_that_number(window, flat, words):
    told = """flat => {
      const host = document.createElement("div");
      Fernn.sensitivity(host, [{ text: "v <= 1", value: 1, at: [0, 1], error: [0, 0], test: null, flat }]);
      return host.querySelector("p.f-note").textContent;
    }"""
    assert window().page.evaluate(told, flat) == f"Any threshold {words} gives the same verdicts."


@pytest.mark.slow
def test_a_change_can_be_undone_after_a_reload(window):
    page = (seen := window()).page
    seen.upload()
    seen.learn()
    picked = page.locator("#formula").input_value()
    undo = page.get_by_role("button", name="Undo the change")
    assert undo.count() == 0
    seen.write("G (v <= 22)")
    undo.wait_for()
    page.reload()
    undo.wait_for()
    assert page.locator("#formula").input_value() == "G (v <= 22)"
    assert "+" in page.locator(".errors").inner_text()  # what the change cost, too
    undo.click()
    page.wait_for_function("picked => Studio.now.reading.formula === picked", arg=picked)
    assert undo.count() == 0
    page.reload()
    page.wait_for_function("picked => (Studio.now.reading || {}).formula === picked", arg=picked)
    assert undo.count() == 0


def test_learning_that_compiles_first_says_so(window, monkeypatch):
    monkeypatch.setattr(jobs, "COMMAND", [sys.executable, "-c", COMPILES])
    monkeypatch.setattr(jobs, "PATIENCE", 600.0)  # it is there until it is stopped at once, however slow the page is
    page = (seen := window()).page
    seen.upload()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.locator("#progress").get_by_text(child.COMPILING).wait_for()
    assert page.locator("#spoken").inner_text() == child.COMPILING
    stop = page.locator("#stop-learning")
    stop.click()
    page.get_by_role("button", name="Stop at once").click()
    page.get_by_role("button", name="Learn", exact=True).wait_for()
