"""Units measured by processes of their own."""

import os
import signal
from pathlib import Path

import pytest

from fernn.evaluation import trial_runs as workers
from fernn.evaluation.trial_runs import measure_all
from fernn.evaluation.trials import Trial

SMALL = [Trial("intervals", str(seed), "exact, windows", 2) for seed in range(3)]


def children():
    """Processes that this one has started, and which still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_process_that_dies_costs_nothing_but_time():
    before = set(children())
    found = {}
    for unit, answer in measure_all([*SMALL, Trial("intervals", "3", "fernn, windows", 2)], 30, workers=1):
        found[unit] = answer
        if len(found) == 1:
            os.kill((set(children()) - before).pop(), signal.SIGKILL)
    assert len(found) == 4
    assert all("problem" not in answer for answer in found.values())
    assert set(children()) <= before


def test_every_unit_is_answered_whatever_is_wrong_with_it():
    units = [SMALL[0], Trial("nowhere", "0", "fernn", 2), Trial("intervals", "0", "1-NN", 0)]
    found = dict(measure_all(units, 30, workers=2))
    assert found[SMALL[0]]["mcr"] < 0.05
    assert "no dataset 'nowhere'" in found[units[1]]["problem"]
    assert found[units[2]]["formula"] == ""
    assert found[units[2]]["cases"] == 2000


def test_a_unit_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    monkeypatch.setattr(workers, "GRACE", 0.05)
    ((_, found),) = measure_all(SMALL[:1], 30)
    assert "was ended after" in found["problem"]
