"""Learning in processes of its own: seen, stopped, killed, found again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served import CSV, PATIENT, Served

from fernn.runs import Run
from fernn.studio import jobs

SLOW = [sys.executable, str(Path(__file__).with_name("slow_child.py"))]


@pytest.fixture
def slow(monkeypatch):
    """Jobs that would take half an hour."""
    monkeypatch.setattr(jobs, "COMMAND", SLOW)
    monkeypatch.setenv("SLOW_STEPS", "36000")


@pytest.fixture
def fresh(tmp_path):
    studio = Served(tmp_path / "runs")
    studio.studio.jobs.most = 2
    yield studio
    studio.close()


def started(served, **settings):
    answer = served.client.post("/api/jobs", json={"file": served.upload(), "settings": settings})
    assert answer.status_code == 200, answer.text
    return answer.json()["run"]


def under_way(served, name):
    """The job once it has a formula; `told` are its lines until then."""
    end = time.monotonic() + PATIENT
    while time.monotonic() < end:
        job = served.client.get(f"/api/jobs/{name}").json()
        if job["front"]:
            return job
        assert job["state"] == "running", job
        time.sleep(0.05)
    raise AssertionError("no formula came")


def child_of(served, name):
    return served.studio.jobs._children[name].process


def gone(pid):
    """Whether the process ends."""
    end = time.monotonic() + PATIENT
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if (
            Path(f"/proc/{pid}/stat").exists()
            and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        ):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_a_job_learns_is_seen_and_becomes_a_run_with_data_rivals_and_report(served, client):
    file = served.upload()
    data = served.look(file)["data"]
    order = {
        "file": file,
        "reading": {},
        "method": "enumerative",
        "settings": {"max_length": 2, "folds": 0, "exhaust": True},
        "test": 0.25,
    }
    name = client.post("/api/jobs", json=order).json()["run"]
    assert name == "drive-1"
    job = served.job(name)
    assert (job["state"], job["ended"], job["error"], job["share"]) == ("done", "done", None, 1.0)
    assert job["front"][job["picked"]]["train"] == 0
    assert job["front"][job["picked"]]["test"] == 0
    assert client.get("/api/jobs").json()[0]["run"] == name

    row = client.get("/api/runs").json()[0]
    assert (row["run"], row["data"], row["method"], row["ended"]) == (name, "drive", "enumerative", "done")
    assert row["formula"] == job["front"][job["picked"]]["formula"]
    run = client.get(f"/api/runs/{name}").json()
    assert (run["data"], run["file"], run["problem"]) == (data, file, None)
    assert run["front"] == job["front"]
    assert run["settings"]["max_length"] == 2
    assert run["command"].startswith("fernn learn ")

    reading = client.post(f"/api/data/{data}/read", json={"formula": row["formula"], "run": name}).json()
    assert reading["error"] == {"train": 0, "test": 0, "all": 0}
    tested = reading["score"]["test"]
    assert sum(tested.values()) == 6
    told = client.get(f"/api/runs/{name}/rivals").json()
    assert told["complete"]
    assert row["formula"] in [rival["formula"] for group in told["groups"] for rival in group["formulas"]]
    assert {group["error"]["train"] for group in told["groups"]} == {0}
    near = client.get(f"/api/runs/{name}/rivals", params={"tolerance": 1}).json()
    assert near["count"] == len(run["front"])
    assert client.get(f"/api/runs/{name}/rivals", params={"tolerance": "much"}).status_code == 400


def test_what_is_wrong_with_a_job_is_told_before_a_process_begins(served, client):
    file = served.upload()
    unlabelled = served.upload(CSV.replace(",label\n", ",kind\n"), "unlabelled.csv")
    wrong = [
        {"file": "none"}, {"file": file, "method": "magic"}, {"file": file, "settings": {"depth": 3}},
        {"file": file, "settings": {"max_length": "long"}}, {"file": file, "settings": {"time_limit": -1}},
        {"file": file, "settings": {"template": "G ?p{speed}"}}, {"file": file, "settings": {"template": "G ("}},
        {"file": file, "test": 1}, {"file": file, "test": "half"}, {"file": file, "test": True}, {"file": 3},
        {"file": file, "reading": {"label": "w2"}}, {"file": file, "reading": []}, {"file": unlabelled}, {},
    ]  # fmt: skip
    before = client.get("/api/jobs").json()
    for order in wrong:
        answer = client.post("/api/jobs", json=order)
        assert answer.status_code in (400, 404), order
        assert answer.json()["error"]
    assert client.get("/api/jobs").json() == before


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_a_stop_keeps_the_best_so_far(fresh):
    name = started(fresh)
    found = under_way(fresh, name)
    assert found["tried"] > 0
    assert 0 < found["share"] < 1
    assert found["seconds_left"] > 0
    assert fresh.client.post(f"/api/jobs/{name}/stop").json()["state"] in ("stopping", "done")
    job = fresh.job(name)
    assert (job["state"], job["ended"], job["error"]) == ("done", "interrupted", None)
    assert job["front"][0]["formula"].startswith("G (v <=")
    assert job["front"][0]["test"] is not None
    assert fresh.client.get(f"/api/runs/{name}").json()["ended"] == "interrupted"
    assert fresh.client.post(f"/api/jobs/{name}/stop").json()["state"] == "done"


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_a_stop_before_the_process_is_ready_is_not_lost(fresh):
    name = started(fresh)
    fresh.client.post(f"/api/jobs/{name}/stop")
    job = fresh.job(name)
    assert (job["state"], job["ended"]) == ("done", "interrupted")


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_a_process_that_does_not_listen_is_ended_by_a_second_stop(fresh, monkeypatch):
    name = started(fresh)
    under_way(fresh, name)
    monkeypatch.setattr(jobs, "PATIENCE", 600.0)
    process = child_of(fresh, name)
    os.kill(process.pid, signal.SIGSTOP)
    fresh.client.post(f"/api/jobs/{name}/stop")
    assert fresh.client.get(f"/api/jobs/{name}").json()["state"] == "stopping"
    fresh.client.post(f"/api/jobs/{name}/stop")
    job = fresh.job(name)
    assert (job["state"], job["ended"]) == ("done", "interrupted")
    assert job["front"]


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_a_killed_process_leaves_the_page_up_and_its_best_readable(fresh):
    name, other = started(fresh), started(fresh)
    assert name != other
    under_way(fresh, name)
    under_way(fresh, other)
    os.kill(child_of(fresh, name).pid, signal.SIGKILL)
    job = fresh.job(name)
    assert (job["state"], job["ended"]) == ("failed", None)
    assert "SIGKILL" in job["error"]
    assert "memory" in job["error"]
    assert f"--resume --out {fresh.studio.folder / name}" in job["error"]
    assert job["front"]
    assert fresh.client.get(f"/api/jobs/{other}").json()["state"] == "running"
    run = fresh.client.get(f"/api/runs/{name}").json()
    assert run["front"] == job["front"]
    assert run["data"] is not None
    assert b"<html" in fresh.client.get(f"/api/runs/{name}/report").content


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_no_more_jobs_than_cores(fresh):
    names = [started(fresh), started(fresh)]
    answer = fresh.client.post("/api/jobs", json={"file": fresh.upload()})
    assert answer.status_code == 409
    assert all(name in answer.json()["error"] for name in names)
    fresh.client.post(f"/api/jobs/{names[0]}/stop")
    fresh.job(names[0])
    assert started(fresh) not in names
    assert len([row for row in fresh.client.get("/api/jobs").json() if row["state"] == "running"]) == 2


def test_a_process_that_fails_says_why(fresh, monkeypatch):
    monkeypatch.setattr(jobs, "COMMAND", [sys.executable, "-c", "raise RuntimeError('the disk is on fire')"])
    job = fresh.job(started(fresh))
    assert (job["state"], job["front"]) == ("failed", [])
    assert "the disk is on fire" in job["error"]
    assert fresh.client.get("/api/runs").json() == []


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_what_ended_is_found_again_by_another_server(fresh, tmp_path):
    name, cut = started(fresh), started(fresh)
    under_way(fresh, name)
    under_way(fresh, cut)
    fresh.client.post(f"/api/jobs/{name}/stop")
    job = fresh.job(name)
    os.kill(child_of(fresh, cut).pid, signal.SIGKILL)
    fresh.job(cut)
    data = fresh.client.get(f"/api/runs/{name}").json()["data"]
    fresh.close()
    again = Served(tmp_path / "runs")
    try:
        found = again.client.get(f"/api/jobs/{name}").json()
        assert (found["state"], found["ended"], found["front"]) == ("done", "interrupted", job["front"])
        assert again.client.get(f"/api/jobs/{cut}").json()["state"] == "failed"
        assert {row["run"] for row in again.client.get("/api/runs").json()} == {name, cut}
        assert again.client.get(f"/api/data/{data}/traces").status_code == 200
        assert again.client.post(f"/api/jobs/{name}/stop").status_code == 409
    finally:
        again.close()


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_when_the_server_ends_its_jobs_end_with_their_best_kept(tmp_path):
    served = Served(tmp_path / "runs")
    name = started(served)
    under_way(served, name)
    pid = child_of(served, name).pid
    served.close()
    assert gone(pid)
    assert Run.open(tmp_path / "runs" / name).ended == "interrupted"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_jobs_end_with_a_server_that_is_killed(tmp_path):
    (tmp_path / "drive.csv").write_text(CSV)
    script = f"""
import sys, time, pathlib
sys.path.insert(0, {str(Path(__file__).parent)!r})
from fernn.studio import jobs
jobs.COMMAND = {SLOW!r}
one = jobs.Jobs(pathlib.Path({str(tmp_path / "runs")!r}))
order = dict(file={str(tmp_path / "drive.csv")!r}, reading={{}}, method="fernn", settings={{}}, test=0.2)
name = one.start("drive", order)
while not one.told(name)["front"]:
    time.sleep(0.05)
print(one._children[name].process.pid, flush=True)
time.sleep(600)
"""
    environment = os.environ | {"SLOW_STEPS": "36000"}
    server = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    pid = int(server.stdout.readline())
    server.kill()
    server.wait()
    assert gone(pid)
    assert Run.open(tmp_path / "runs" / "drive-1").ended == "interrupted"


def test_a_run_whose_data_are_gone_keeps_its_formulas(fresh, tmp_path):
    from fernn.data import read
    from fernn.learners import Fernn
    from fernn.runs import fit_in_run, plan

    file = tmp_path / "drive.csv"
    file.write_text(CSV)
    data = read(file, quiet=True)
    run = Run.create(fresh.studio.folder / "mine", plan(str(file), {}), data)
    run.finish(fit_in_run(Fernn(max_length=1, restarts=1, time_limit=5), data, run))
    assert fresh.client.get("/api/runs/mine").json()["problem"] is None
    file.write_text(CSV.replace("bad-1,0,", "bad-1,0,1"))
    changed = fresh.client.get("/api/runs/mine").json()
    assert (changed["data"], changed["file"] is not None) == (None, True)
    assert "not the data of the run" in changed["problem"]
    assert fresh.client.get("/api/runs/mine/rivals").status_code == 409
    file.unlink()
    missing = fresh.client.get("/api/runs/mine").json()
    assert (missing["data"], missing["file"]) == (None, None)
    assert "not there any more" in missing["problem"]
    assert missing["front"]
