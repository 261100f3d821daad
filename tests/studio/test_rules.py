"""Formulas that a page sends: read, moved, compared, written for other tools; refused with their place."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from fernn.formula import FORMATS, export_formula, parse
from oracle import as_trace, holds


@pytest.fixture(scope="module")
def data(served):
    return served.look(served.upload())["data"]


def read(client, data, **given):
    return client.post(f"/api/data/{data}/read", json=given)


def test_a_reading_is_what_the_definition_says(served, client, data):
    known = served.studio.datasets.data(data).data
    for text, t in (
        ("G (v <= 26)", 0),
        ("F[2,4] (v >= 33 & w >= 1)", 0),
        ("(v <= 30) U (w >= 2)", 0),
        ("O[0,1] (v < 21)", 9),
    ):
        found = read(client, data, formula=text).json()
        truth = [holds(parse(text), as_trace(trace, known.channels), t) for trace in known.values]
        assert len(set(truth)) == 2, "a formula that tells the traces apart"
        assert found["holds"] == "".join("01"[verdict] for verdict in truth)
        assert found["error"]["all"] == pytest.approx(np.mean(np.array(truth) != known.positive))


def test_a_threshold_that_is_dragged_changes_the_formula(client, data):
    moved = read(client, data, formula="G (v <= 27 & w <= 9)", thresholds=[31.5, 2]).json()
    assert moved["formula"] == "G (v <= 31.5 & w <= 2)"
    assert moved == read(client, data, formula=moved["formula"]).json()


@pytest.mark.parametrize("thresholds", [[1], [1, 2, 3], ["1", 2], [True, 1], {"0": 1}, [None, 1], [10**400, 1], "12"])
def test_thresholds_are_a_number_an_atom(client, data, thresholds):
    answer = client.post(
        f"/api/data/{data}/read", content=json.dumps({"formula": "v <= 1 & w <= 2", "thresholds": thresholds})
    )
    assert answer.status_code == 400
    assert "thresholds" in answer.json()["error"]


@pytest.mark.parametrize(
    ("formula", "at", "word"),
    [
        ("G (v <= )", 8, "expected a number"),
        ("G (speed <= 3)", 3, "reads 'speed'"),
        ("G (v <= 3", 2, "not closed"),
        ("", 0, "expected"),
        ("(" * 900 + "v <= 1" + ")" * 900, 150, "levels of nesting"),
        ("!" * 1900 + "v <= 1", 150, "levels of nesting"),
        (" & ".join(["v <= 1"] * 120), 0, "more than 100 atoms and operators"),
        ("G " * 70 + "(v <= 1)", 0, "more than 60 operators within each other"),
        ("v <= 1 " + " " * 3000, 2000, "at most 2000"),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused_with_its_place(client, data, formula, at, word):
    answer = read(client, data, formula=formula)
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert answer.json()["at"] == at


def test_ten_thousand_parentheses_are_refused(client, data):
    answer = read(client, data, formula="(" * 10_000 + "v <= 1" + ")" * 10_000)
    assert answer.status_code == 400
    assert "at most 2000" in answer.json()["error"]


def test_a_template_is_no_formula_to_judge_by(client, data):
    answer = read(client, data, formula="G ?p")
    assert answer.status_code == 400
    assert "open choices" in answer.json()["error"]


def test_two_formulas_differ_where_their_verdicts_do(client, data):
    found = client.post(f"/api/data/{data}/differ", json={"a": "G (v <= 27)", "b": "G (v <= 24)"}).json()
    a, b = found["a"]["holds"], found["b"]["holds"]
    assert [case["index"] for case in found["cases"]] == [i for i in range(24) if a[i] != b[i]]
    assert all((case["a"], case["b"], case["good"]) == (True, False, True) for case in found["cases"])


def test_lanes_and_sensitivity_are_those_of_the_formula(client, data):
    lanes = client.post(f"/api/data/{data}/lanes", json={"formula": "G (v <= 27)", "case": 23}).json()
    assert lanes["index"] == 23
    assert [row["text"] for row in lanes["rows"]] == ["G (v <= 27)", "v <= 27"]
    (one,) = client.post(f"/api/data/{data}/sensitivity", json={"formula": "G (v <= 27)"}).json()
    assert one["value"] == 27
    assert min(one["error"]) == 0
    for case in (-1, 24, 1.5, "0", None, True):
        answer = client.post(f"/api/data/{data}/lanes", json={"formula": "G (v <= 27)", "case": case})
        assert answer.status_code == 400
        assert "'case'" in answer.json()["error"]


@pytest.mark.parametrize("to", ["text", *FORMATS])
def test_a_formula_is_written_for_other_tools(client, to):
    formula = "G[0,5] (v <= 27)"
    found = client.post("/api/export", json={"formula": formula, "to": to}).json()
    wanted = formula if to == "text" else export_formula(parse(formula), to)
    assert found["text"].rstrip("\n") == wanted.rstrip("\n")
    assert found["name"].count(".") == 1


def test_what_a_tool_cannot_say_is_told(client):
    answer = client.post("/api/export", json={"formula": "G (v <= 27)", "to": "cobol"})
    assert answer.status_code == 400
    assert "rtamt" in answer.json()["error"]


def test_many_ask_at_once_and_each_gets_the_answer_to_its_question(served, client, data):
    found = {}

    def ask(level):
        found[level] = read(client, data, formula=f"G (v <= {level})").json()["formula"]

    threads = [threading.Thread(target=ask, args=(level,)) for level in range(20, 36)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {level: f"G (v <= {level})" for level in range(20, 36)}


def test_data_without_labels_are_read_without_errors(served, client):
    data = served.look(served.upload(), label=None, channels=["v"])["data"]
    found = read(client, data, formula="G (v <= 27)").json()
    assert (found["error"], found["score"]) == (None, None)
    assert len(found["holds"]) == 24


def test_formulas_that_differ_are_told_apart_by_a_trace_that_is_drawn(client, data):
    pytest.importorskip("z3", reason="equivalence is proved by z3")
    asked = {"a": "G (v <= 25)", "b": "G[0,2] (v <= 25)", "length": 6}
    found = client.post(f"/api/data/{data}/equiv", json=asked).json()
    assert found["relation"] == "stronger"
    (trace,) = found["traces"]
    assert (trace["only"], trace["samples"]) == ("only_second", 4)
    assert [lanes["verdict"]["holds"] for lanes in trace["lanes"]] == [False, True]
    assert all(20 <= value <= 41 for lanes in trace["lanes"] for value in lanes["channels"][0]["values"])


def test_a_law_tells_that_formulas_are_the_same_without_a_solver(client, data, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fernn.semantics.z3_equivalence", None)
    found = client.post(f"/api/data/{data}/equiv", json={"a": "G G (v <= 25)", "b": "G (v <= 25)"}).json()
    assert (found["relation"], found["traces"], found["length"]) == ("equivalent", [], None)


@pytest.mark.parametrize("length", [0, -1, 61, 10**30, "20", 2.5, None, True, [3]])
def test_a_length_that_cannot_be_is_refused(client, data, length):
    answer = client.post(f"/api/data/{data}/equiv", json={"a": "v <= 1", "b": "v <= 2", "length": length})
    assert answer.status_code == 400
    assert "'length'" in answer.json()["error"]


@pytest.mark.parametrize(
    "query", ["first=1", "last=3", "first=a&last=3", "first=1.5&last=2", "first=&last=", "first=1&last=%00"]
)
def test_a_part_of_the_traces_is_named_by_two_whole_numbers(served, client, query):
    word = served.look(served.upload())["data"]
    answer = client.get(f"/api/data/{word}/traces?{query}")
    assert answer.status_code == 400
    assert "'first' and 'last'" in answer.json()["error"]


def test_a_part_of_the_traces_has_its_samples_and_one_more_on_either_side(served, client):
    word = served.look(served.upload())["data"]
    told = client.get(f"/api/data/{word}/traces?first=3&last=5").json()
    assert (told["starts"], told["lengths"]) == ([2] * 24, [5] * 24)
    assert told["at"] is None


def test_no_two_scripts_of_the_page_give_something_else_the_same_name():
    import re
    from collections import Counter

    from fernn.studio.app import names

    texts = [file.read_text() for name, file in names().items() if name.endswith(".js")]
    given = Counter(found for text in texts for found in re.findall(r"\b((?:Fernn|Studio)\.\w+) = (?!\1 \|\|)", text))
    assert [name for name, count in given.items() if count > 1] == []


def test_expressions_are_sent_for_the_traces_that_are_drawn(served, client, data):
    drawn = client.get(f"/api/data/{data}/traces").json()["drawn"]
    told = client.post(f"/api/data/{data}/expressions", json={"formula": "G (diff(v, 2) <= 9 & v - w <= 30)"}).json()
    assert [each["name"] for each in told["channels"]] == ["diff(v, 2)", "v - w"]
    assert told["drawn"] == drawn
    part = {"formula": "G (diff(v, 2) <= 9)", "first": 3, "last": 5}
    assert set(client.post(f"/api/data/{data}/expressions", json=part).json()["lengths"]) == {5}


@pytest.mark.parametrize(
    "given", [{"formula": "G (v <= 9)"}, {"formula": "G (diff(v) <= 9)", "first": 3}, {"formula": "G (diff(v) <= "}]
)
def test_expressions_that_are_not_there_are_refused(client, data, given):
    assert client.post(f"/api/data/{data}/expressions", json=given).status_code == 400
