"""What a person sees when something is wrong, in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from browsing import DRIVES
from served import Served

from fernn.studio import jobs

HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_bad_file_says_what_is_wrong_where_and_what_to_do_and_can_be_read_another_way(window):
    page = (seen := window()).page
    lines = DRIVES.splitlines()
    lines[3] = lines[3].replace(",22,", ",oops,").replace(",26,", ",oops,")
    assert "oops" in lines[3]
    seen.choose("\n".join(lines), "broken.csv")
    page.locator("#problems").get_by_text("1 problem: the file cannot be read as it is").wait_for()
    told = page.locator("#problems").inner_text()
    assert "'oops' is not a number" in told
    assert "broken.csv line 4, column 'v'" in told
    assert "problem" in page.locator("#spoken").inner_text()
    assert page.get_by_role("button", name="Learn", exact=True).count() == 0
    page.get_by_label("if rows cannot be read").select_option("skip")
    page.locator(".f-panel").first.wait_for()
    assert page.get_by_role("button", name="Learn", exact=True).is_visible()


def test_a_file_above_the_limit_is_refused_before_it_is_sent(window, tmp_path):
    studio = Served(tmp_path / "runs", upload_limit=1000)
    page = (seen := window(studio)).page
    page.locator(".zone").wait_for()
    seen.choose(DRIVES, "large.csv")
    page.get_by_text("the limit for uploads is 1 kB").wait_for()
    assert not [address for address in seen.asked if "name=large.csv" in address]
    studio.close()


def test_a_slip_in_a_formula_is_shown_with_a_caret_and_the_last_picture_stays(window):
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 27)")
    page.locator("#formula").fill("G (v <= )")
    trouble = page.locator("#formula-trouble")
    trouble.wait_for()
    _, around, caret = trouble.inner_text().split("\n")
    assert around == "G (v <= )"
    assert caret.index("^") == around.index(")")
    assert page.locator("#formula").get_attribute("aria-invalid") == "true"
    assert page.locator(".f-confusion caption").inner_text() == "0 of 24 wrong"
    page.locator("#formula").fill("G (speed <= 27)")
    page.wait_for_function("() => document.getElementById('formula-trouble').textContent.includes(\"'speed'\")")
    seen.write("G (v <= 26)")
    assert trouble.is_hidden()


@pytest.mark.slow
def test_a_stop_keeps_the_best_so_far(window, monkeypatch):
    monkeypatch.setattr(jobs, "COMMAND", [sys.executable, str(Path(__file__).with_name("slow_child.py"))])
    monkeypatch.setenv("SLOW_STEPS", "36000")
    page = (seen := window()).page
    seen.upload()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.locator(".f-front tbody tr").first.wait_for()
    page.wait_for_function("() => Studio.now.reading")
    seen.context.pages[0].reload()  # a reload finds the job under way
    page.get_by_role("button", name="Stop, keep the best").click()
    page.get_by_role("button", name="Learn", exact=True).wait_for()
    page.locator("#run").get_by_text("ended: interrupted").wait_for()
    assert page.locator("#formula").input_value().startswith("G (v <= ")
    assert page.locator("#spoken").inner_text() == "Learning has ended: interrupted."


def test_settings_that_cannot_be_are_refused_in_words(window):
    page = (seen := window()).page
    seen.upload()
    page.get_by_label("length", exact=True).fill("2.5")
    page.evaluate("document.getElementById('learn').noValidate = true")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_text("max_length of the method fernn is a whole number").wait_for()


def test_hostile_names_of_files_channels_cases_and_labels_are_text(window):
    page = (seen := window()).page
    rows = [line.split(",") for line in DRIVES.splitlines()]
    rows[0][2] = HOSTILE
    for row in rows[1:]:
        row[0] = row[0].replace("good-1", HOSTILE)
        row[4] = HOSTILE if row[4] == "bad" else row[4]
    seen.upload("\n".join(",".join(row) for row in rows), f"{HOSTILE}.csv")
    page.locator("#card summary").click()
    assert HOSTILE in page.locator("#card").inner_text()
    page.locator("#formula").fill(f'G ("{HOSTILE}" <= 22)')
    page.wait_for_function("() => Studio.now.reading")
    page.locator("#tab-trace").click()
    page.locator(".lanes svg").wait_for()
    for tab in ("sensitivity", "export", "trace"):
        page.locator(f"#tab-{tab}").click()
    box = page.locator(".f-panel canvas").first.bounding_box()
    for across in range(60, 600, 40):
        page.mouse.move(box["x"] + across, box["y"] + 150)
    assert page.locator("img:not([src='fern.svg'])").count() == 0
    assert not seen.failures


def test_when_the_server_is_gone_the_page_says_so_and_goes_on_when_it_is_back(window, tmp_path):
    studio = Served(tmp_path / "runs")
    page = (seen := window(studio)).page
    seen.upload()
    seen.write("G (v <= 27)")
    seen.context.set_offline(True)
    page.locator("#formula").fill("G (v <= 22)")
    page.get_by_text("The server does not answer").wait_for()
    seen.context.set_offline(False)
    page.wait_for_function("() => (Studio.now.reading || {}).formula === 'G (v <= 22)'")
    assert page.locator("#gone").is_hidden()
    studio.close()


def test_after_a_restart_the_page_promises_nothing_and_a_reload_says_what_to_open(window, tmp_path):
    studio = Served(tmp_path / "runs")
    page = (seen := window(studio)).page
    seen.upload()
    seen.context.clear_cookies()  # to a studio that was started anew, that of the old one is worth as much
    page.locator("#formula").fill("G (v <= 22)")
    page.locator("#gone").get_by_text("Open the address that “fernn studio” printed").wait_for()
    assert "by itself" not in page.locator("#gone").inner_text()
    page.reload()
    page.get_by_role("heading", name="The studio does not know this page").wait_for()
    assert "?token=" in page.locator("body").inner_text()
    studio.close()
