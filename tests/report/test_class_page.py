"""The report on rules for classes."""

import json
import re

import numpy as np
import pytest

from class_runs import KINDS, class_run
from fernn import parse, satisfied
from fernn.report.page import write_report
from fernn.runs import load_job, load_rules

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    return {kind: class_run(kind, folder / kind) for kind in KINDS}


def facts_of(path):
    return json.loads(re.search(r'id="facts">(.*?)</script>', path.read_text(), re.DOTALL)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rules_has_a_report_with_words_and_counts(runs, kind):
    told = facts_of(write_report(runs[kind]))
    job = load_job(runs[kind], classes=True)
    rules, kept = load_rules(job.run)
    train, held = job.parts
    assert told["classes"]["error"]["test"] == pytest.approx(kept["test"], abs=1e-6)
    matrix = told["classes"]["confusion"]
    assert np.sum(matrix["train"]) == len(train)
    assert np.sum(matrix["test"]) == len(held)
    if kind in ("each", "list", "ranked"):
        assert np.trace(matrix["test"]) == round((1 - rules.error(held)) * len(held))
    for rule, reading in zip(told["classes"]["rules"], told["rules"], strict=True):
        assert rule["formula"] == reading["formula"]
        assert rule["sentence"]
        holds = satisfied(parse(rule["formula"]), job.data)
        assert reading["holds"] == "".join("01"[int(each)] for each in holds)
    assert "--one-class" in told["run"]["command"] or "--classes" in told["run"]["command"]


def test_each_class_is_seen_against_the_rest(runs):
    told = facts_of(write_report(runs["each"]))
    data = load_job(runs["each"], classes=True).data
    for rule, view in zip(told["classes"]["rules"], told["views"], strict=True):
        mine = [data.classes[int(label)] == rule["name"] for label in data.labels]
        assert view["good"] == "".join("01"[each] for each in mine)
        assert view["classes"][1] == rule["name"]


def test_the_same_run_gives_the_same_report(runs):
    assert write_report(runs["list"]).read_bytes() == write_report(runs["list"]).read_bytes()


def opened(chromium, path, width=1280):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    return page


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_can_be_seen_on_the_traces(chromium, runs, kind):
    page = opened(chromium, write_report(runs[kind]))
    told = facts_of(write_report(runs[kind]))["classes"]
    for k, rule in enumerate(told["rules"]):
        page.locator(".f-classes button").nth(k).click()
        assert page.locator(".r-math").get_attribute("aria-label") == rule["formula"]
        assert page.locator(".r-lanes svg").count() == 1
        assert rule["sentence"] in page.locator("#rule").text_content()
    assert page.locator("#right table").count() == 2
    assert page.said == []
    assert len(page.asked) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.close()


def test_hostile_class_names_are_shown_and_do_nothing(chromium, tmp_path):
    page = opened(chromium, write_report(class_run("list", tmp_path / "run", (HOSTILE, "b", "c"))), 400)
    assert page.said == []
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator("#right").text_content()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()
