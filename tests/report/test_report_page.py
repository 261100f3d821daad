"""The report as a file: what is in it, and what can never be."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from made_runs import RULES, run_of, two_kinds

from fernn import parse, satisfied, score
from fernn.data import Dataset, from_arrays, read_input
from fernn.errors import DataError, RunError
from fernn.report.page import write_report
from fernn.report.view.rival_view import find_question, gather_rivals, prove_meanings
from fernn.runs import load_job

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Every element of a page, the attributes of each, and what the script elements hold."""

    def __init__(self, text):
        super().__init__()
        self.found, self.held, self.is_script = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.is_script = tag == "script"

    def handle_endtag(self, tag):
        self.is_script = False

    def handle_data(self, data):
        if self.is_script:
            self.held.append(data)


def facts_of(path):
    told = re.search(r'<script type="application/json" id="facts">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(told[1])


def test_the_same_run_gives_the_same_bytes(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run")
    first = write_report(run).read_bytes()
    (tmp_path / "elsewhere").mkdir()
    assert write_report(run, tmp_path / "elsewhere" / "page.html").read_bytes() == first


def test_the_page_says_what_the_judge_says(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run")
    told = facts_of(write_report(run))
    job = load_job(run)
    train, held = job.parts
    assert [rule["formula"] for rule in told["rules"]] == list(RULES)
    for rule in told["rules"]:
        for part, data in (("train", train), ("test", held), ("all", job.data)):
            count = score(rule["formula"], data)
            assert rule["score"][part] == {
                "true_good": count.true_good, "false_good": count.false_good,
                "true_bad": count.true_bad, "false_bad": count.false_bad,
            }  # fmt: skip
    assert told["front"][1]["test"] == pytest.approx(score(RULES[1], held).mcr)
    assert told["cases"] == {"all": 60, "shown": 60, "learned": len(train), "tested": len(held)}


def test_baselines_are_fitted_and_tested_on_the_same_split(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run")
    majority, nearest = facts_of(write_report(run))["baselines"]
    train, held = load_job(run).parts
    common = train.positive.mean() >= 0.5
    assert majority["error"] == pytest.approx(np.mean(held.positive != common))
    scale = train.values.std(axis=(0, 2))[:, None]
    wrong = 0
    for trace, good in zip(held.values, held.positive, strict=True):
        far = [np.sum(((trace - other) / scale) ** 2) for other in train.values]
        wrong += train.positive[int(np.argmin(far))] != good
    assert nearest["error"] == pytest.approx(wrong / len(held))


def test_no_name_can_end_the_element_it_stands_in(tmp_path):
    random = np.random.default_rng(3)
    names = tuple(f"{HOSTILE}{i}" for i in range(20))
    data = Dataset(
        random.normal(size=(20, 1, 9)), np.arange(20) % 2, (f"{HOSTILE}bad", "{{script}}"), (HOSTILE,), cases=names
    )
    page = write_report(run_of(data, tmp_path / "run", rules=(f'G ("{HOSTILE}" <= 1)',))).read_text()
    elements = Elements(page)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert not {"img", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in elements.found}
    assert not any(name.startswith("on") or name in ("src", "href") for _, attrs in elements.found for name in attrs)
    told = json.loads(elements.held[0])
    assert told["traces"]["cases"] == list(names)
    assert told["traces"]["classes"][1] == "{{script}}"


def test_the_policy_lets_one_script_run_and_nothing_be_fetched(tmp_path):
    elements = Elements(write_report(run_of(two_kinds(), tmp_path / "run")).read_text())
    policy = next(a["content"] for tag, a in elements.found if tag == "meta" and "http-equiv" in a)
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    digest = base64.b64encode(hashlib.sha256(elements.held[1].encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules


def test_nothing_in_the_page_names_a_place_to_fetch_from(tmp_path):
    page = write_report(run_of(two_kinds(), tmp_path / "run")).read_text()
    places = set(re.findall(r"https?://[^\s\"'`]+", page))
    assert places <= {"http://www.w3.org/2000/svg"}  # the name of a language, never fetched
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|innerHTML|eval\(", page)


@pytest.mark.slow
def test_2000_traces_of_101_samples_make_less_than_2_mb(tmp_path):
    path = write_report(run_of(two_kinds(2000, 101, ("v",)), tmp_path / "run", rules=RULES[:2]))
    assert path.stat().st_size < 2_000_000
    assert len(facts_of(path)["traces"]["drawn"]) == 2000


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "samples", "channels"), [(30_000, 4, 1), (40, 3000, 12), (8, 20, 300)])
def test_more_of_anything_stays_below_2_mb_and_is_counted_in_full(tmp_path, cases, samples, channels):
    data = two_kinds(cases, samples, tuple("vw"[:channels]) + tuple(f"c{i}" for i in range(channels - 2)))
    path = write_report(run_of(data, tmp_path / "run", rules=RULES[:2]))
    told = facts_of(path)
    assert path.stat().st_size < 2_000_000
    assert sum(told["rules"][1]["score"]["all"].values()) == told["card"]["cases"] == cases
    assert told["cases"]["shown"] == len(told["traces"]["cases"]) == len(told["rules"][0]["holds"])


@pytest.mark.slow
def test_of_too_many_traces_the_wrong_ones_are_drawn_before_others(tmp_path):
    told = facts_of(write_report(run_of(two_kinds(30_000, 4, ("v",)), tmp_path / "run", rules=("true", "G (v <= 3)"))))
    cases, rule = told["traces"]["cases"], told["rules"][1]
    data = read_input(str(tmp_path / "run.csv"), {})
    wrong = np.flatnonzero(satisfied("G (v <= 3)", data) != data.positive)
    drawn = {cases[k] for k in told["traces"]["drawn"]}
    names = [data.cases[k] for k in wrong]
    assert len(drawn) < 30_000
    assert sum(name in drawn for name in names) >= 300
    for k, name in enumerate(cases[:200]):
        assert (rule["holds"][k] == "1") == satisfied("G (v <= 3)", data)[int(name.removeprefix("trace-"))]


def test_lanes_are_kept_for_the_wrong_ones_and_the_closest_calls(tmp_path):
    told = facts_of(write_report(run_of(two_kinds(), tmp_path / "run")))
    rule = told["rules"][1]
    wrong = {k for k, good in enumerate(told["traces"]["good"]) if rule["holds"][k] != good}
    kept = [each["index"] for each in told["lanes"][1]]
    assert wrong <= set(kept)
    right = [k for k in kept if k not in wrong]
    others = [abs(rule["robustness"][k]) for k in range(60) if k not in wrong and k not in right]
    assert right
    assert max(abs(rule["robustness"][k]) for k in right) <= min(others)
    for each in told["lanes"][1]:
        assert each["case"] == told["traces"]["cases"][each["index"]]
        assert each["rows"][0]["text"] == rule["formula"]


def test_without_a_test_part_no_test_error_is_claimed(tmp_path):
    told = facts_of(write_report(run_of(two_kinds(), tmp_path / "run", test=0)))
    assert told["baselines"] == []
    assert told["rules"][1]["interval"] is None
    assert told["front"][1]["test"] is None
    assert told["traces"]["test"] is None


def test_real_labels_have_a_mean_error_and_the_median_beside_it(tmp_path):
    random = np.random.default_rng(2)
    values = random.normal(size=(50, 1, 20)).cumsum(axis=2)
    data = from_arrays(values, values.max(axis=(1, 2)) + random.normal(size=50), channels=("v",), label_kind="real")
    run = run_of(data, tmp_path / "run", rules=("F (v >= 0)",), reading={"label_kind": "real"})
    told = facts_of(write_report(run))
    train, held = load_job(run).parts
    assert told["measure"] == "mean"
    assert told["rivals"] is None
    assert told["baselines"][0]["error"] == pytest.approx(np.abs(held.labels - np.median(train.labels)).mean())
    low, high = told["rules"][0]["interval"]
    assert low < told["rules"][0]["error"]["test"] < high


def test_a_run_that_was_killed_is_told_of_as_it_stands(tmp_path):
    told = facts_of(write_report(run_of(two_kinds(), tmp_path / "run", ended=None)))
    assert told["run"]["ended"] is None
    assert told["front"][1]["test"] is not None, "counted anew on the printed formula"


def test_a_run_without_a_formula_has_nothing_to_report(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run")
    (run / "front.json").unlink()
    with pytest.raises(RunError, match="has found no formula yet"):
        write_report(run)


def test_data_that_moved_are_named_and_data_that_changed_are_refused(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run")
    before = write_report(run).read_bytes()
    moved = (tmp_path / "run.csv").rename(tmp_path / "moved.csv")
    with pytest.raises(RunError, match=r"is not there any more.*fernn report .*run --data FILE"):
        write_report(run)
    assert facts_of(write_report(run, file=str(moved)))["rules"] == facts_of_bytes(before)["rules"]
    moved.write_text(moved.read_text().replace("trace-1,", "trace-x,"))
    with pytest.raises(DataError, match="is not the data of the run"):
        write_report(run, file=str(moved))


def facts_of_bytes(page):
    return json.loads(re.search(rb'id="facts">(.*?)</script>', page, re.DOTALL)[1])


def test_rivals_are_grouped_by_how_they_judge_the_data(tmp_path):
    run = run_of(two_kinds(), tmp_path / "run", rules=("G (v <= 3)",))
    error = load_job(run).run.front()[0].train
    formulas = ["G (v <= 3)", "!(F (v > 3))", "G (v <= 3) | G (w <= -90)", "G (v <= 2.5) & F (w >= -50)"]
    rows = [{"formulas": [text], "error": error} for text in formulas]
    (run / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    told = facts_of(write_report(run))["rivals"]
    assert (told["count"], told["behaviours"], told["complete"]) == (4, 2, True)
    assert [group["count"] for group in told["groups"]] == [3, 1]
    assert "w >= -50" in told["groups"][1]["formulas"][0]["formula"]
    assert {each["what"]: each["share"] for each in told["atoms"]}["w >= -50"] == 0.25
    job = load_job(run)
    judged = [satisfied(parse(text), job.data) for text in (formulas[0], formulas[-1])]
    assert {each["case"] for each in told["disputed"]} == {
        case for case, a, b in zip(job.data.cases, *judged, strict=True) if a != b
    }
    assert told["decisive"] is None
    find_question(gather_rivals(job.run, job.parts[0], job.data), job.run)  # as `fernn rivals` and the studio do
    told = facts_of(write_report(run))["rivals"]
    assert [each["verdict"]["holds"] for each in told["decisive"]["lanes"]] == [True, False]


def prove(run):
    job = load_job(run)
    prove_meanings(gather_rivals(job.run, job.parts[0], job.data), job.run, 20.0)


def test_rivals_that_mean_the_same_are_said_to_where_it_was_asked(tmp_path, monkeypatch):
    pytest.importorskip("z3", reason="meanings are proved by z3")
    run = run_of(two_kinds(), tmp_path / "run", rules=("G (v <= 3)",))
    error = load_job(run).run.front()[0].train
    formulas = ["G (v <= 3)", "!(F (v > 3))", "(v <= 3) & G (v <= 3)", "G (v <= 3) | G (w <= -90)"]
    rows = [{"formulas": [text], "error": error} for text in formulas]
    (run / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    before = facts_of(write_report(run))["rivals"]
    assert (before["senses"], before["groups"][0]["meanings"]) == (None, None)
    prove(run)
    first = write_report(run).read_bytes()
    told = facts_of_bytes(first)["rivals"]
    assert told["behaviours"] == 1
    assert told["senses"]["how"] == "z3"
    senses = {row["formula"]: row["sense"] for row in told["groups"][0]["formulas"]}
    assert len(set(senses.values())) == told["senses"]["count"] == told["groups"][0]["meanings"]
    assert senses["G (v <= 3)"] == senses["v <= 3 & G (v <= 3)"]
    monkeypatch.setattr("fernn.evaluation.equivalence.equivalence_classes", None)  # is not asked again
    assert write_report(run).read_bytes() == first


def test_without_a_solver_meanings_are_those_of_the_laws_and_that_is_said(tmp_path, monkeypatch):
    run = run_of(two_kinds(), tmp_path / "run", rules=("G (v <= 3)",))
    error = load_job(run).run.front()[0].train
    rows = [{"formulas": ["G (v <= 3)", "G G (v <= 3)", "G (v <= 3) | G (w <= -90)"], "error": error}]
    (run / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    monkeypatch.setattr("fernn.evaluation.equivalence.find_spec", lambda name: None)
    prove(run)
    told = facts_of(write_report(run))["rivals"]
    assert (told["senses"]["how"], told["senses"]["count"], told["senses"]["settled"]) == ("laws", 2, False)
    assert "fernn[verify]" in told["senses"]["told"]


def test_a_report_writes_nothing_but_itself_and_proves_nothing(tmp_path, monkeypatch):
    run = run_of(two_kinds(), tmp_path / "run", rules=("G (v <= 3)",))
    rows = [{"formulas": ["G (v <= 3)", "G G (v <= 3)"], "error": load_job(run).run.front()[0].train}]
    (run / "rivals.json").write_text(json.dumps({"schema": 1, "tolerance": 0, "complete": True, "rivals": rows}))
    for name in ("equivalence.equivalence_classes", "rashomon.QuerySession"):
        monkeypatch.setattr(f"fernn.evaluation.{name}", None)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    write_report(run, tmp_path / "page.html")
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    write_report(run)
    assert {path.name for path in run.iterdir()} == {*before, "report.html"}


def test_warnings_about_the_data_are_in_the_report(tmp_path):
    data = two_kinds()
    values = np.array(data.values)
    values[5] = values[4]
    told = facts_of(write_report(run_of(Dataset(values, data.labels, data.classes, data.channels), tmp_path / "run")))
    assert any(each["kind"] and "cop" in each["what"] for each in told["problems"])


def test_rules_with_functions_are_reported_with_lanes_of_their_own(tmp_path):
    rules = ("G (mean(v, 3) <= 3)", "F (abs(v - w) >= 2 & since(v > 1) <= 3)")
    told = facts_of(write_report(run_of(two_kinds(), tmp_path / "run", rules=rules)))
    assert [rule["formula"] for rule in told["rules"]] == list(rules)
    assert [[mark["channel"] for mark in rule["marks"]] for rule in told["rules"]] == [[2], [2, 3]]
    names = {each["name"] for each in told["expressions"]["channels"]}
    assert names == {"mean(v, 3)", "abs(v - w)", "since(v > 1)"}
    assert told["expressions"]["drawn"] == told["traces"]["drawn"]
    assert [each["name"] for each in told["lanes"][0][0]["channels"]] == ["v", "mean(v, 3)"]
    assert ["name", "mean(v, 3)"] in told["rules"][0]["symbols"]


def test_a_page_of_plain_rules_has_no_expressions(tmp_path):
    assert facts_of(write_report(run_of(two_kinds(), tmp_path / "run")))["expressions"] is None


def test_expressions_beyond_what_a_page_can_hold_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("fernn.report.page.facts.MOST_EXPRESSIONS", 1)
    rules = ("G (v - w <= 3)", "G (mean(v, 3) <= 3)")
    told = facts_of(write_report(run_of(two_kinds(), tmp_path / "run", rules=rules)))
    assert [each["name"] for each in told["expressions"]["channels"]] == ["mean(v, 3)"]  # of the picked rule
