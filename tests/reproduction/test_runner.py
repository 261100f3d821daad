"""The paper's comparison, made again: on few units here, by `make reproduce` on all."""

import json

import pytest
from reproduction.experiments import EXPERIMENTS, SPLITS, Block, Experiment, plan_trials
from reproduction.runner import reproduce

from fernn.errors import UnsupportedError
from fernn.evaluation import trial_runs as workers
from reproduction import experiments
from reproduction import runner as reproduction

FEW = Experiment("Learned time bounds", (Block(("exact, windows",), ("intervals",), (2,), ("0", "1"), ("0",)),))


def test_without_recordings_the_simulated_train_stands_in_and_the_rest_is_named(monkeypatch):
    monkeypatch.delenv("FERNN_DATA", raising=False)
    units, left_out = plan_trials(EXPERIMENTS, quick=True)
    assert {unit.data for unit in units} == {"cruise", "cruise continuous", "intervals"}
    assert [line.split(":")[0] for line in left_out] == ["cct", "ecg", "hapt", "lyft"]
    assert all("FERNN_DATA is not set" in line for line in left_out)


@pytest.mark.usefixtures("recordings")
def test_every_method_gets_the_same_splits_and_a_unit_is_planned_once():
    units, left_out = plan_trials(EXPERIMENTS, quick=False)
    assert not left_out
    assert len(units) == len(set(units))
    for method in ("fernn", "exact", "paper", "enumerative", "lattice"):
        for data in ("cct", "ecg", "hapt", "lyft"):
            for length in (2, 3, 4, 5, 6):
                have = {u.split for u in units if (u.method, u.data, u.length) == (method, data, length)}
                assert have == set(SPLITS)
    assert len(plan_trials(EXPERIMENTS, quick=True)[0]) < len(units) / 4


def test_an_experiment_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UnsupportedError, match="no experiment 'bound'; there are methods, stopping"):
        reproduce(tmp_path, ["bound"])


@pytest.mark.slow
def test_what_is_done_is_not_done_again(monkeypatch, tmp_path):
    monkeypatch.setitem(experiments.EXPERIMENTS, "bounds", FEW)
    steps = []
    done = reproduce(tmp_path, ["bounds"], quick=True, watch=steps.append)
    assert [step.unit.key for step in steps] == ["intervals/0/exact, windows/2"]
    whole = reproduce(tmp_path, ["bounds"], watch=steps.append)
    assert [step.unit.split for step in steps] == ["0", "1"]
    assert done.failed == whole.failed == ()
    assert (done.runs, whole.runs) == (1, 2)
    page = whole.page.read_text()
    assert "## 7. Learned time bounds" in page
    assert "| exact, windows | 0.08 → (0.00" in page
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [line["split"] for line in lines] == ["0", "1"]
    assert all(line["mcr"] < 0.02 for line in lines)


@pytest.mark.slow
def test_an_interruption_leaves_a_page_of_what_is_there(monkeypatch, tmp_path):
    monkeypatch.setitem(experiments.EXPERIMENTS, "bounds", FEW)

    def pressed(step):
        raise KeyboardInterrupt

    done = reproduce(tmp_path, ["bounds"], workers=1, watch=pressed)
    assert done.interrupted
    assert done.runs == 1
    assert "1 runs" in done.page.read_text()
    assert reproduce(tmp_path, ["bounds"]).runs == 2


@pytest.mark.slow
def test_what_failed_is_told_and_tried_again(monkeypatch, tmp_path):
    monkeypatch.setitem(experiments.EXPERIMENTS, "bounds", FEW)
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    monkeypatch.setattr(workers, "GRACE", 0.01)
    done = reproduce(tmp_path, ["bounds"], quick=True)
    assert len(done.failed) == 1
    assert "intervals/0/exact, windows/2: its process was ended" in done.page.read_text()
    monkeypatch.undo()
    monkeypatch.setitem(experiments.EXPERIMENTS, "bounds", FEW)
    assert reproduction.reproduce(tmp_path, ["bounds"], quick=True).failed == ()
