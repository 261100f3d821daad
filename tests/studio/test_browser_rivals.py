"""Rivals and equivalence in the browser."""

import json

import pytest
from browsing import DRIVES

from fernn.data import read
from fernn.formula import length, parse
from fernn.learners import Entry, Fit, Front
from fernn.runs import error, plan, start_job
from fernn.studio import stored_runs as earlier
from fernn.studio import stored_runs as views


@pytest.fixture(autouse=True)
def proofs_take_their_time(monkeypatch):
    """Whatever they find, they find it on a busy machine too."""
    for module in (earlier, views):
        monkeypatch.setattr(module, "PATIENCE", 600.0)


@pytest.fixture
def rivalling(served, tmp_path):
    """A run with three rivals in two groups of one behaviour each; its name."""
    file = tmp_path / "rivalling.csv"
    file.write_text(DRIVES)
    folder = served.studio.folder / "rivalling"
    job = start_job(read(file, quiet=True), plan(str(file), {}), str(file), folder)
    rule = parse("G[4,6] (v <= 27)")
    train = error(rule, job.parts[0])
    job.run.finish(
        Fit(Front((Entry(rule, length(rule), train, 0.0, 0.0, 1.0),), 0), 1.0, "done", {}), [error(rule, job.parts[1])]
    )
    texts = ("G[4,6] (v <= 27)", "!(F[4,6] (v > 27))", "G[0,5] (v <= 27)")
    assert {error(parse(text), job.parts[0]) for text in texts} == {train}
    rows = [{"formulas": [text], "error": train} for text in texts]
    (folder / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    return "rivalling"


def test_rivals_are_asked_for_chosen_and_compared(window, rivalling):
    page = (seen := window()).page
    seen.tab(f"/#run={rivalling}")
    page = seen.context.pages[-1]
    page.locator(".f-panel").first.wait_for()
    page.locator("#tab-rivals").click()
    page.get_by_role("button", name="Ask for rivals").click()
    page.locator("tr.f-group").first.wait_for()
    assert page.locator("tr.f-group").count() == 2
    panel = page.locator("#tab-panel")
    assert "What they agree on" in panel.inner_text()
    assert panel.locator("figure svg").count() == 2  # the trace that would decide, under two rules
    panel.get_by_role("button", name="G[0,5] (v <= 27)", exact=True).click()
    page.wait_for_function("() => Studio.now.reading.formula === 'G[0,5] (v <= 27)'")
    disputed = panel.locator("table").last.locator("button").first
    name = disputed.inner_text()
    disputed.click()
    page.wait_for_function("() => Studio.state.tab === 'trace'")
    page.wait_for_function("name => document.querySelector('.lanes b')?.textContent === name", arg=name)


def test_two_formulas_are_proved_to_differ_and_the_trace_is_drawn(window):
    pytest.importorskip("z3", reason="equivalence is proved by z3")
    page = (seen := window()).page
    seen.upload()
    seen.write("G (v <= 27)")
    page.locator("#tab-compare").click()
    page.get_by_label("formula to compare with").fill("G[0,3] (v <= 27)")
    page.get_by_text("They differ on").wait_for()
    page.get_by_role("button", name="Same on all traces?").click()
    page.locator(".proof figure svg").first.wait_for()  # it is drawn after a proof
    assert "A is stronger" in page.locator(".proof").inner_text()
    assert "satisfies B and violates A: 5 samples" in page.locator(".proof").inner_text()
    page.get_by_label("formula to compare with").fill("!(F (v > 27))")
    page.get_by_role("button", name="Same on all traces?").click()
    page.get_by_text("A and B: equivalent").wait_for()
