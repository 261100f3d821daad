"""The page for every hand, eye and screen, in a real browser."""

from __future__ import annotations

import pytest

TABS = ("trace", "sensitivity", "compare", "rivals", "export")


def tabbed_to(page, selector, most=60):
    """Press Tab until the focus is there."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no way to {selector} with the Tab key")


@pytest.mark.slow
def test_all_of_it_works_with_the_keyboard_alone(window):
    page = window().page
    page.locator(".zone").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    tabbed_to(page, ".list button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")  # the first data set or file
    page.locator(".f-panel").first.wait_for()
    page.wait_for_function("() => Studio.now.traces")
    page.keyboard.press("/")
    channel = page.evaluate("Studio.now.traces.channels[0].name")
    level = page.evaluate("(c => (c.low + c.high) / 2)(Studio.now.traces.channels[0]).toFixed(1)")
    page.keyboard.type(f"G ({channel} <= {level})")
    page.wait_for_function("() => Studio.now.reading")
    page.keyboard.press("Escape")

    page.keyboard.press("n")  # the next trace that is wrong
    page.wait_for_function("() => Studio.state.case !== null")
    page.locator("body").press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0

    tabbed_to(page, "[role=slider]")
    before = page.locator("#formula").input_value()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("before => document.getElementById('formula').value !== before", arg=before)
    assert page.evaluate("document.activeElement.getAttribute('role')") == "slider"
    page.keyboard.press("5")
    page.locator(".written pre").wait_for()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#tab-rivals").get_attribute("aria-selected") == "true"


@pytest.mark.slow
def test_the_front_is_walked_with_arrow_keys(window):
    page = (seen := window()).page
    seen.upload()
    seen.learn()
    page.locator(".f-front button[tabindex='0']").focus()
    formulas = page.locator(".f-front tbody button").all_inner_texts()
    page.keyboard.press("Home")
    for formula in formulas:
        page.wait_for_function("text => Studio.now.reading.formula === text", arg=formula)
        assert page.evaluate("document.activeElement.textContent") == formula
        page.keyboard.press("ArrowDown")


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_at_400_pixels_nothing_sticks_out(window, dark):
    page = (seen := window(width=400, height=800, dark=dark)).page
    page.locator(".zone").wait_for()
    assert not seen.is_wide()
    seen.upload()
    seen.learn()
    seen.write("G (v <= 26) & F[2,5] (w >= 1) & (v <= 30) U[0,3] (w >= 0.5 | v >= 12.25)")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.wait_for_timeout(150)
        assert not seen.is_wide(), tab
    page.locator("#help").click()
    assert not seen.is_wide()


def test_dark_and_light_follow_the_system_until_one_is_chosen(window):
    page = (seen := window(dark=True)).page
    paper = "getComputedStyle(document.body).backgroundColor"
    page.locator(".zone").wait_for()
    dark = page.evaluate(paper)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(paper)
    assert dark != light
    page.locator("#paper").click()
    assert page.evaluate(paper) == dark
    page.reload()
    assert page.evaluate(paper) == dark
    assert seen.tab().evaluate(paper) == dark


@pytest.mark.slow
def test_nothing_is_asked_of_anyone_else(window):
    page = (seen := window()).page
    seen.upload()
    seen.learn()
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.wait_for_timeout(100)
    assert len(seen.asked) > 20
    assert seen.strangers() == []
    refused = page.evaluate("""() => new Promise((done) => {
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
        fetch("http://127.0.0.1:9/").catch(() => setTimeout(done, 3000, "nothing forbade it"));
    })""")
    assert refused == "connect-src"
    seen.asked = [address for address in seen.asked if not address.startswith("http://127.0.0.1:9/")]
    seen.failures.clear()  # the browser tells of what it refused
