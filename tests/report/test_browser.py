"""The report in a browser: opened from disk, every request recorded."""

import json
import re

import numpy as np
import pytest
from made_runs import run_of, two_kinds

from fernn.data import Dataset, from_arrays
from fernn.report.page import write_report
from fernn.report.view.rival_view import find_question, gather_rivals
from fernn.runs import load_job

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def opened(chromium):
    """Opens a report; `asked` has every request of the page, `said` all that it complained of."""
    contexts = []

    def look(path, width=1280, scheme="light"):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.asked, page.said = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: (page.said.append("a dialog"), dialog.dismiss()))
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield look
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_report(run_of(two_kinds(), tmp_path_factory.mktemp("reports") / "run"))


def facts(page):
    return json.loads(page.locator("#facts").text_content())


def test_no_request_leaves_the_page(opened, report):
    page = opened(report)
    page.get_by_role("button", name=re.compile("^wrong")).click()
    page.locator("#front tbody tr").first.click()
    page.locator("#theme").click()
    page.mouse.wheel(0, 4000)
    page.wait_for_timeout(300)
    assert page.asked == [report.resolve().as_uri()]
    assert page.said == []


def test_the_policy_stops_what_would_leave(opened, report):
    page = opened(report)
    page.evaluate("() => { const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i); }")
    assert page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => 'went', () => 'stopped')") == "stopped"
    assert all("Content Security Policy" in text or "violates" in text for text in page.said)
    assert page.said


def test_the_wrong_ones_are_as_many_as_the_confusion_says(opened, report):
    page = opened(report)
    told = facts(page)
    counts = told["rules"][told["picked"]]["score"]["all"]
    wrong = counts["false_good"] + counts["false_bad"]
    assert wrong > 0
    button = page.get_by_role("button", name=re.compile("^wrong"))
    assert button.text_content() == f"wrong{wrong}"
    captions = page.locator("#right caption").all_text_contents()
    assert sum(int(re.search(r"(\d+) of", text)[1]) for text in captions) == wrong
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("#traces canvas").first.focus()
    names = set()
    for _ in range(3 * wrong):  # the arrow keys go through what is shown
        page.keyboard.press("ArrowDown")
        names.add(page.locator(".r-lanes b").first.text_content())
    assert len(names) == wrong


def test_another_entry_of_the_front_changes_the_rule_the_errors_and_the_lanes(opened, report):
    page = opened(report)
    told = facts(page)
    assert page.locator("#rule .r-source code").first.text_content() == told["rules"][1]["formula"]
    page.locator("#front tbody tr").nth(2).click()
    assert page.locator("#rule .r-source code").first.text_content() == told["rules"][2]["formula"]
    assert page.locator("#rule .r-math").get_attribute("aria-label") == told["rules"][2]["formula"]
    assert told["rules"][2]["sentence"] in page.locator("#rule").text_content()
    assert page.locator("#thresholds figure").count() == 2
    page.get_by_role("button", name="back to the picked rule").click()
    assert page.locator("#rule .r-source code").first.text_content() == told["rules"][1]["formula"]


def test_the_front_is_walked_with_the_keyboard(opened, report):
    page = opened(report)
    page.locator("#front button[tabindex='0']").focus()
    page.keyboard.press("ArrowUp")
    assert page.locator("#rule .r-source code").first.text_content() == facts(page)["rules"][0]["formula"]


def test_a_trace_that_is_chosen_is_taken_apart(opened, report):
    page = opened(report)
    chip = page.locator("#traces .r-chips button").nth(1)
    name = chip.text_content()
    chip.click()
    assert page.locator(".r-lanes b").text_content() == name
    assert page.locator("#traces .r-chips button[aria-pressed='true']").text_content() == name
    assert page.locator(".r-lanes svg text.mono").all_text_contents()[1] == "G (v <= 3)"


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window(opened, report, width, scheme):
    page = opened(report, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(re.search(r"\d+", paper)[0]) < 128) == (scheme == "dark")


def test_hostile_names_are_shown_and_do_nothing(opened, tmp_path):
    random = np.random.default_rng(3)
    names = tuple(f"{HOSTILE}{i}" for i in range(20))
    labels = np.arange(20) % 2
    data = Dataset(random.normal(size=(20, 1, 9)), labels, (f"{HOSTILE}bad", "good"), (HOSTILE,), cases=names)
    page = opened(write_report(run_of(data, tmp_path / "run", rules=(f'G ("{HOSTILE}" <= 1)',))))
    page.locator("#traces .r-chips button").nth(1).click()
    page.mouse.move(400, 500)
    assert page.said == []
    assert len(page.asked) == 1
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator("#rule").text_content()


def test_real_labels_and_runs_without_a_test_have_their_own_words(opened, tmp_path):
    random = np.random.default_rng(2)
    values = random.normal(size=(50, 1, 20)).cumsum(axis=2)
    real = from_arrays(values, values.max(axis=(1, 2)), channels=("v",), label_kind="real")
    page = opened(
        write_report(run_of(real, tmp_path / "real", rules=("F (v >= 0.5)",), reading={"label_kind": "real"}))
    )
    assert "mean absolute error" in page.locator("#rule").text_content()
    assert page.locator("#right").count() == 0
    assert page.said == []
    page = opened(write_report(run_of(two_kinds(), tmp_path / "untested", test=0)))
    assert "No traces were kept for the test" in page.locator("#rule").text_content()
    page = opened(write_report(run_of(two_kinds(), tmp_path / "killed", ended=None)))
    assert "has not ended" in page.locator(".r-warn").text_content()
    assert page.said == []


def test_rivals_are_seen_chosen_and_their_disputes_drawn(opened, tmp_path):
    run = run_of(two_kinds(), tmp_path / "run", rules=("G (v <= 3)",))
    error = json.loads((run / "front.json").read_text())["entries"][0]["train"]
    rows = [
        {"formulas": [text], "error": error} for text in ("G (v <= 3)", "!(F (v > 3))", "G (v <= 2.5) & F (w >= -50)")
    ]
    (run / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    job = load_job(run)
    find_question(gather_rivals(job.run, job.parts[0], job.data), job.run)  # as `fernn rivals` and the studio do
    page = opened(write_report(run))
    told = facts(page)
    section = page.locator("#rivals")
    assert "3 rules explain the training traces as well" in section.text_content()
    assert section.locator("tr.f-group").count() == 2
    assert "w >= -5033%" in section.text_content()  # one of three reads it
    name = told["rivals"]["disputed"][0]["case"]
    section.get_by_role("button", name=name, exact=True).click()
    assert page.locator(".r-lanes b").first.text_content() == name
    assert section.locator("figure svg").count() == 2
    section.get_by_role("button", name="G (v <= 2.5) & F (w >= -50)", exact=True).click()
    assert page.locator("#rule .r-source code").first.text_content() == "G (v <= 2.5) & F (w >= -50)"
    assert "A rival of the rule" in page.locator("#rule").text_content()
    assert "fernn rivals RUN" in section.text_content()
    assert page.said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def panels(page):
    """What is drawn over time, from top to bottom."""
    found = page.locator("#traces .f-panel canvas[role='img']").all()
    return [each.get_attribute("aria-label").split(": ")[0] for each in found]


def test_what_a_rule_compares_has_a_panel_and_a_lane(opened, tmp_path):
    rules = ("G (v <= 3)", "G (diff(v, 0.5 s) <= 2)", "G (2*v - abs(w) <= 4)")
    page = opened(write_report(run_of(two_kinds(), tmp_path / "run", rules=rules)))
    page.wait_for_function("() => document.querySelectorAll('#traces .f-grip').length === 1")
    assert panels(page) == ["v", "w", "diff(v, 0.5 s)"]
    assert page.locator("#traces .f-panel").nth(2).locator(".f-grip").text_content() == "2"
    told = facts(page)
    decided = told["lanes"][1][0]["deciding"]
    assert decided["windows"][0] in page.locator(".r-lanes p").first.text_content()
    assert page.locator(".r-lanes svg text.mono").all_text_contents()[:2] == ["v", "diff(v, 0.5 s)"]
    assert page.locator(".r-lanes svg .decided").count() == 1
    assert page.locator(".r-lanes svg .reads").count() == 1
    page.locator("#front tbody tr").nth(2).click()
    page.wait_for_function("() => document.querySelector('#traces .f-grip').textContent === '4'")
    assert panels(page) == ["v", "w", "2*v - abs(w)"]
    page.locator("#front tbody tr").nth(0).click()
    page.wait_for_function("() => document.querySelector('#traces .f-grip').textContent === '3'")
    assert panels(page) == ["v", "w"]
    assert page.said == []


def test_pointing_at_an_expression_tells_its_value(opened, tmp_path):
    data = two_kinds(cases=2, samples=5)
    values = np.zeros((2, 2, 5))
    values[1, 0] = [0, 0, 4, 4, 4]
    data = Dataset(values, [0, 1], data.classes, data.channels)
    page = opened(write_report(run_of(data, tmp_path / "run", rules=("F (since(v >= 3) <= 1)",), test=0)))
    panel = page.locator("#traces .f-panel").nth(2)
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    told = set()
    for down in range(18, int(box["height"]) - 36, 2):  # at the second sample it never held in either trace
        page.mouse.move(box["x"] + 48 + (box["width"] - 104) / 4, box["y"] + down)
        told |= set(page.locator(".f-tip span").all_text_contents())
    assert "since(v >= 3) = ∞ at 1" in told
    assert page.said == []
