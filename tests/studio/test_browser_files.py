"""Files that are not written as expected, in a real browser: the page has what it takes to read them."""

from __future__ import annotations

import pytest
from browsing import DRIVES

ROWS = [line.split(",") for line in DRIVES.splitlines()]
COMMAS = "\n".join(
    ";".join(cell + ",5" if i == 2 and row is not ROWS[0] else cell for i, cell in enumerate(row)) for row in ROWS
)
"""The drives with v half above what it was, and a decimal comma."""


def unread(seen, text, name):
    seen.choose(text, name)
    seen.page.locator("#problems").get_by_text("the file cannot be read as it is").wait_for()
    return seen.page


def control(page, name):
    return page.locator(f"#reading [name='{name}']")


def count(seen, formula):
    """How many traces the rule gets wrong, as the page says."""
    seen.write(formula)
    return seen.page.locator(".f-confusion caption").inner_text()


def test_a_file_with_decimal_commas_is_read_at_a_button_beside_the_problem(window):
    page = unread(seen := window(), COMMAS, "commas.csv")
    assert page.get_by_role("button", name="Read with decimal commas").count() == 1  # once, not at every row
    assert "decimal" in page.locator(".field.marked").inner_text()
    page.get_by_role("button", name="Read with decimal commas").click()
    page.locator(".f-panel").first.wait_for()
    assert count(seen, "G (v <= 26.5)") == "0 of 24 wrong"
    assert count(seen, "G (v <= 26.4)") != "0 of 24 wrong"
    assert control(page, "decimal").input_value() == ","
    assert page.locator(".field.marked").count() == 0


def test_the_columns_of_cases_and_times_can_be_named_though_the_file_is_not_read_yet(window):
    odd = DRIVES.replace("case,time,v,w,label", "drive,tick,v,w,verdict")
    page = unread(seen := window(), odd, "odd.csv")
    page.get_by_role("button", name="Choose: case column").click()
    assert page.evaluate("document.activeElement.name") == "case column"
    control(page, "label").select_option("verdict")
    page.wait_for_function("() => (Studio.now.look || {}).reading?.label === 'verdict'")
    control(page, "case column").select_option("drive")
    page.locator(".f-panel").first.wait_for()
    control(page, "time column").select_option("tick")
    page.wait_for_function("() => Studio.now.traces && document.querySelectorAll('.f-panel').length === 2")
    assert "24 traces × 2 channels × 10 samples" in page.locator("#card").inner_text()
    assert count(seen, "G (v <= 27)") == "0 of 24 wrong"


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["^", "|"])
def test_a_delimiter_can_be_named_even_a_rare_one(window, letter):
    page = (seen := window()).page
    seen.choose(DRIVES.replace(",", letter), f"rare{ord(letter)}.csv")
    page.wait_for_function("() => Studio.now.look")
    for fold in ("#reading-fold", "#reading-fold details"):
        page.evaluate("fold => (document.querySelector(fold).open = true)", fold)
    if letter == "|":
        control(page, "delimiter").select_option("|")
    else:
        control(page, "other delimiter").fill(letter)
        control(page, "other delimiter").press("Tab")
    page.wait_for_function(
        "letter => (Studio.now.look || {}).reading?.delimiter === letter && Studio.now.traces", arg=letter
    )
    assert "24 traces × 2 channels × 10 samples" in page.locator("#card").inner_text()
    assert count(seen, "G (v <= 27)") == "0 of 24 wrong"


def test_missing_values_stop_no_file(window):
    rows = [list(row) for row in ROWS]
    rows[5][2] = ""
    (seen := window()).choose("\n".join(",".join(row) for row in rows), "gaps.csv")
    seen.page.locator(".f-panel").first.wait_for()
    assert count(seen, "G (v <= 27)") == "0 of 24 wrong"


def test_the_title_is_that_of_a_file_that_cannot_be_read_and_what_was_spoken_goes_with_its_problem(window):
    page = (seen := window()).page
    seen.upload()
    assert page.locator("#where").inner_text() == "drive"
    unread(seen, COMMAS, "commas.csv")
    assert page.locator("#where").inner_text() == "commas.csv"
    assert "decimal comma" in page.locator("#spoken").inner_text()
    page.get_by_role("button", name="Read with decimal commas").click()
    page.locator(".f-panel").first.wait_for()
    assert page.locator("#spoken").inner_text() == "The file is read."
    page.go_back()
    page.locator("#problems").get_by_text("the file cannot be read as it is").wait_for()
    assert "decimal comma" in page.locator("#spoken").inner_text()
    page.go_back()
    page.locator(".f-panel").first.wait_for()
    assert page.locator("#spoken").inner_text() == "The file is read."
    assert page.locator("#where").inner_text() == "drive"
    page.go_back()
    page.locator(".zone").wait_for()
    assert page.locator("#spoken").inner_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DRIVES.replace(",bad\n", ",good\n"), "All traces are good, and learning needs two classes."),
        (
            "\n".join(line.rpartition(",")[0] for line in DRIVES.splitlines()),
            "No label is read, and learning needs one.",
        ),
    ],
)
def test_the_card_says_in_the_open_why_nothing_can_be_learned(window, text, words):
    seen = window()
    seen.upload(text, f"{len(words)}.csv")
    assert seen.page.locator("#card").get_by_text(words).is_visible()
    assert control(seen.page, "label").is_visible()


@pytest.mark.slow
def test_of_two_classes_with_names_of_their_own_a_button_says_which_is_good(window):
    text = DRIVES.replace(",good\n", ",uphill\n").replace(",bad\n", ",downhill\n")
    page = unread(seen := window(), text, "hills.csv")
    assert "good is" in page.locator(".field.marked").inner_text()
    page.get_by_role("button", name="downhill is good", exact=True).wait_for()
    page.get_by_role("button", name="uphill is good", exact=True).click()
    page.locator(".f-panel").first.wait_for()
    assert "uphill\n12\ngood" in page.locator("#card").inner_text()
    assert count(seen, "G (v <= 27)") == "0 of 24 wrong"
    page.reload()
    page.locator(".f-panel").first.wait_for()
    assert count(seen, "G (v <= 27)") == "0 of 24 wrong"
    seen.learn()
    run = page.evaluate("Studio.now.run")
    assert "--good uphill" in run["command"]
    assert run["front"][run["picked"]]["train"] == 0
    control(page, "good is").select_option("downhill")
    page.wait_for_function("() => ((Studio.now.look || {}).reading || {}).good === 'downhill' && Studio.now.traces")
    assert count(seen, "G (v <= 27)") == "24 of 24 wrong"


@pytest.mark.slow
def test_a_good_class_that_is_not_in_the_file_can_be_chosen_anew(window):
    text = DRIVES.replace(",good\n", ",uphill\n").replace(",bad\n", ",downhill\n")
    page = unread(window(), text, "hills.csv")
    page.evaluate("Studio.reread({ good: 'sideways' })")
    page.get_by_role("button", name="uphill is good", exact=True).click()
    page.locator(".f-panel").first.wait_for()
    assert "uphill\n12\ngood" in page.locator("#card").inner_text()
