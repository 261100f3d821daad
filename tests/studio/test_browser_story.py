"""From a file to a rule for elsewhere, in a real browser."""

from __future__ import annotations

import re
import sys

import pytest
from browsing import DRIVES

import fernn
from fernn.data import read
from fernn.studio import jobs

FICKLE = """
import os, sys, time
from dataclasses import dataclass
from fernn.formula import parse
from fernn.learners import Entry, Fit, Front, Progress, silent
from fernn.runs import METHODS, Method
from fernn.studio import child

def front(*formulas):
    entries = [Entry(parse(text), 2 + i, 0.3 - i / 10, 0.3, 0.01, float("inf")) for i, text in enumerate(formulas)]
    return Front(tuple(entries), len(entries) - 1)

@dataclass(frozen=True)
class Fickle:
    seed: int = 0
    time_limit: float | None = None

    def fit(self, data, watch=silent, resume=None):
        while not os.path.exists(os.environ["GO_ON"]):
            watch(Progress(1.0, 0.1, 3, front("G (v <= 40)"), {}))
            time.sleep(0.05)
        return Fit(front("G (v <= 39)", "G (v <= 27)"), 2.0, "done", {})

METHODS["fernn"] = Method(Fickle, "fickle")
sys.exit(child.main())
"""
"""A learner that shows a rule until it may go on, and then finds others."""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "drive.csv").write_text(DRIVES)
    return read(tmp_path / "drive.csv")


def wrong(data, formula):
    """How many traces a formula gets wrong, by its definition."""
    return int((fernn.satisfied(fernn.parse(formula), data) != data.positive).sum())


@pytest.mark.slow
def test_the_whole_story_from_a_file_to_a_monitor_in_c(window, data):
    seen = window()
    page = seen.page
    page.get_by_role("button", name=re.compile("Drop a recording here")).wait_for()

    seen.upload()
    assert "good 12 good" in page.locator("#card").inner_text().replace("\n", " ")
    assert "24 traces × 2 channels × 10 samples" in page.locator("#card").inner_text()
    assert page.locator(".f-panel").count() == 2

    page.locator("#reading-fold > summary").click()
    page.get_by_label("w", exact=True).uncheck()
    page.wait_for_function("() => document.querySelectorAll('.f-panel').length === 1")

    seen.learn()
    picked = page.locator("#formula").input_value()
    assert wrong(data, picked) == 0
    assert page.locator(".f-front tr.chosen").inner_text().startswith(picked)

    page.locator(".f-front button").first.press("Home")  # the shortest of the front
    page.wait_for_function("picked => Studio.now.reading.formula !== picked", arg=picked)
    shortest = page.locator("#formula").input_value()
    assert shortest == page.locator(".f-front tbody button").first.inner_text()

    seen.write("G (v <= 22)")
    errors = wrong(data, "G (v <= 22)")
    assert errors > 0
    assert page.locator(".f-confusion caption").inner_text() == f"{errors} of 24 wrong"
    assert page.get_by_role("button", name=f"wrong {errors}").count() == 1

    page.locator("#tab-sensitivity").click()
    page.locator("#tab-panel figure svg").wait_for()
    page.locator("#tab-compare").click()
    page.get_by_label("formula to compare with").fill("G (v <= 27)")
    differ = int(
        (fernn.satisfied(fernn.parse("G (v <= 22)"), data) != fernn.satisfied(fernn.parse("G (v <= 27)"), data)).sum()
    )
    page.get_by_text(f"They differ on {differ} of 24 traces").wait_for()

    page.locator("#tab-rivals").click()
    page.get_by_role("button", name="Ask for rivals").click()
    page.get_by_text("explains the training traces as well").wait_for()

    page.locator("#tab-export").click()
    for name in ("Text", "LaTeX", "Python", "rtamt", "Breach", "JSON", "C"):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_function("name => document.querySelector('.written pre')", arg=name)
    page.wait_for_function("() => document.querySelector('.written pre').ariaLabel === 'monitor.c'")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "monitor.c"
    assert download.value.path().read_text() == fernn.formula.export_formula(
        fernn.parse("G (v <= 22)"), "c", data.dt, data.time_unit
    )


def test_pulling_a_threshold_changes_text_error_and_verdicts(window, data):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 28)")
    grip = page.get_by_role("slider")
    box = grip.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(box["x"] + 20, box["y"] + 9 + 10 * step)
    page.mouse.up()
    page.wait_for_function("() => Studio.state.formula !== 'G (v <= 28)'")
    pulled = page.locator("#formula").input_value()
    level = float(re.fullmatch(r"G \(v <= ([\d.]+)\)", pulled)[1])
    assert level < 28
    assert abs(level - float(grip.get_attribute("aria-valuenow"))) < 1e-9
    assert page.locator(".f-confusion caption").inner_text() == f"{wrong(data, pulled)} of 24 wrong"
    page.get_by_role("button", name="Undo the change").click()
    page.wait_for_function("() => document.getElementById('formula').value === 'G (v <= 28)'")


@pytest.mark.slow
def test_a_reload_restores_what_was_seen(window):
    page = (seen := window()).page
    seen.upload()
    seen.learn()
    seen.write("F (v >= 29)")
    page.locator("#tab-compare").click()
    page.get_by_label("formula to compare with").fill("G (v <= 27)")
    page.get_by_text("They differ on").wait_for()
    before = page.locator(".f-front table").inner_text(), page.locator(".f-confusion").inner_text(), page.url
    page.reload()
    page.get_by_text("They differ on").wait_for()
    page.locator("#open-report").wait_for()
    assert (page.locator(".f-front table").inner_text(), page.locator(".f-confusion").inner_text(), page.url) == before
    assert page.locator("#formula").input_value() == "F (v >= 29)"
    assert page.get_by_label("formula to compare with").input_value() == "G (v <= 27)"


@pytest.mark.slow
def test_two_tabs_show_two_formulas_and_the_way_back_leads_back(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 27)")
    other = seen.tab(page.url)
    other.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 27)'")
    other.locator("#formula").fill("G (v <= 21)")
    other.wait_for_function("() => Studio.state.formula === 'G (v <= 21)'")
    assert page.locator("#formula").input_value() == "G (v <= 27)"
    page.reload()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 27)'")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("dialog").get_by_role("button", name="intervals").click()
    page.wait_for_function("() => (Studio.now.traces || {}).name === 'intervals'")
    page.go_back()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 27)'")


@pytest.mark.slow
def test_an_earlier_run_opens_with_its_data_and_its_report(window):
    page = (seen := window()).page
    seen.upload()
    seen.learn()
    picked = page.locator("#formula").input_value()
    other = seen.tab()
    other.get_by_role("button", name="Runs", exact=True).click()
    other.get_by_role("dialog").get_by_role("button", name=picked).first.click()
    other.wait_for_function("text => (Studio.now.reading || {}).formula === text", arg=picked)
    with seen.context.expect_page() as opened:
        other.locator("#open-report").click()
    opened.value.wait_for_load_state()
    assert picked in opened.value.inner_text("body")


@pytest.mark.slow
@pytest.mark.parametrize("is_over", [False, True])
def test_after_a_reload_while_learning_the_page_ends_on_the_rule_that_the_run_picked(
    window, monkeypatch, tmp_path, is_over
):
    monkeypatch.setattr(jobs, "COMMAND", [sys.executable, "-c", FICKLE])
    monkeypatch.setenv("GO_ON", str(tmp_path / "go"))
    page = (seen := window()).page
    seen.upload()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 40)'")
    if is_over:  # it ends while nobody looks
        address = page.url
        page.goto("about:blank")
        (tmp_path / "go").touch()
        seen.studio.job(re.search(r"run=([^&]+)", address).group(1))
        page.goto(address)
    else:
        page.reload()
        page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 40)'")
        (tmp_path / "go").touch()
    page.locator("#open-report").wait_for()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 27)'")
    assert page.locator("#formula").input_value() == "G (v <= 27)"
    assert page.locator(".f-front tr.chosen").inner_text().startswith("G (v <= 27)")


@pytest.mark.slow
def test_a_rule_that_a_person_wrote_while_learning_stays_after_a_reload(window, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "COMMAND", [sys.executable, "-c", FICKLE])
    monkeypatch.setenv("GO_ON", str(tmp_path / "go"))
    page = (seen := window()).page
    seen.upload()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 40)'")
    seen.write("G (v <= 22)")
    page.reload()
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 22)'")
    (tmp_path / "go").touch()
    page.locator("#open-report").wait_for()
    page.wait_for_function("() => Studio.now.front.length === 2 && Studio.now.reading.formula === 'G (v <= 22)'")
    assert page.locator("#formula").input_value() == "G (v <= 22)"
