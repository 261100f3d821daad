"""Runs with rules for classes in the studio."""

import pytest

from class_runs import KINDS, class_run


@pytest.fixture(scope="module")
def kinds(served):
    for kind in KINDS:
        class_run(kind, served.studio.folder / f"kind-{kind}")
    return KINDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_rules_is_opened_with_its_matrix_and_report(served, client, kinds, kind):
    name = f"kind-{kind}"
    run = client.get(f"/api/runs/{name}").json()
    assert run["problem"] is None
    assert run["rules"]["rules"]
    assert sum(sum(row) for row in run["rules"]["confusion"]["test"]) > 0
    doubts = " ".join(run["doubts"])
    assert ("known faults" in doubts, "What it catches is not known" in doubts) == (kind == "two", kind == "one")
    assert "--" not in doubts
    assert client.get(f"/api/jobs/{name}").json()["state"] == "done"
    assert client.get(f"/api/runs/{name}/rivals").status_code == 409
    assert b"<!doctype html>" in client.get(f"/api/runs/{name}/report").content
    assert next(row for row in client.get("/api/runs").json() if row["run"] == name)["formula"]
    for rule in run["rules"]["rules"]:
        whose = {"run": name, "class": rule["name"]}
        found = client.post(f"/api/data/{run['data']}/read", json={"formula": rule["formula"], **whose})
        assert found.status_code == 200, found.text
        if rule["error"]["train"] is not None:
            assert found.json()["error"]["train"] == pytest.approx(rule["error"]["train"], abs=1e-6)
        traces = client.get(f"/api/data/{run['data']}/traces", params=whose).json()
        assert traces["good"] if kind != "ranked" else set(traces["labels"]) == {0, 1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_of_a_run_is_chosen_and_seen(window, kinds, kind):
    seen = window()
    page = seen.tab(f"/#run=kind-{kind}")
    page.locator(".f-classes button").first.wait_for()
    page.locator(".f-panel").first.wait_for()
    count = page.locator(".f-classes button").count()
    for k in range(count):
        button = page.locator(".f-classes button").nth(k)
        formula = button.inner_text()
        button.click()
        page.wait_for_function("text => (Studio.now.reading || {}).formula === text", arg=formula)
        page.wait_for_function(
            "k => [...document.querySelectorAll('.f-classes tbody tr')][k].className === 'chosen'", arg=k
        )
    assert page.locator("#front .f-confusion table").count() == 2
    assert page.locator("#open-report").is_visible()
    page.locator("#tab-sensitivity").click()
    page.locator("#tab-trace").click()
    page.locator(".lanes svg").wait_for()
    page.reload()
    page.locator(".f-classes tr.chosen").wait_for()
    assert page.locator("#formula").input_value() == formula
