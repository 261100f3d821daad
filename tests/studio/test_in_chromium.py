"""What only a browser decides: whether cookies, policies and the sandbox of a report do what they are for."""

from __future__ import annotations

from math import inf, nan

import pytest
from served import Served

from fernn.formula import parse
from fernn.learners import Entry, Fit, Front
from fernn.runs import Run, plan


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    served = Served(tmp_path_factory.mktemp("browser") / "runs")
    file = served.upload()
    data = served.studio.datasets.data(served.look(file)["data"]).data
    run = Run.create(served.studio.folder / "mine", plan(served.studio.files.find(file).path, {}), data)
    run.finish(Fit(Front((Entry(parse("G (v <= 27)"), 2, 0.0, nan, nan, inf),), 0), 1.0, "done", {}), [0.0])
    yield served
    served.close()


@pytest.fixture
def page(studio, chromium):
    opened = chromium.new_page()
    opened.goto(studio.opening)
    opened.wait_for_url(f"{studio.address}/")
    yield opened
    opened.close()


def test_the_token_leaves_the_address_and_the_cookie_is_out_of_reach_of_scripts(studio, page):
    assert page.url.split("#")[0] == f"{studio.address}/"
    assert "fernn" not in page.evaluate("document.cookie")


def test_the_page_runs_no_script_that_is_written_into_it(page):
    script = """() => { const s = document.createElement("script"); s.textContent = "window.sprung = true";
        document.body.append(s); return window.sprung === true; }"""
    assert page.evaluate(script) is False


def test_a_report_shows_itself_and_can_ask_nothing_of_the_studio(studio, page):
    page.goto(f"{studio.address}/api/runs/mine/report")
    page.wait_for_selector("html[data-ready]")
    assert "G (v <= 27)" in page.content().replace("&lt;", "<")
    assert page.evaluate("window.origin") == "null"
    asked = """async () => { try { return (await fetch("/api/runs", {headers: {"X-Fernn": "1"}})).status; }
        catch { return "refused"; } }"""
    assert page.evaluate(asked) in ("refused", 401, 403)


def test_a_page_of_another_port_gets_nothing_though_it_is_on_the_same_site(studio, page):
    other = Served(studio.studio.folder.parent / "other")
    try:
        page.goto(other.opening)
        page.wait_for_url(f"{other.address}/")
        asked = f"""async () => {{ try {{
            const a = await fetch("{studio.address}/api/runs", {{credentials: "include"}});
            return a.status; }} catch {{ return "refused"; }} }}"""
        assert page.evaluate(asked) in ("refused", 401, 403)
    finally:
        other.close()
