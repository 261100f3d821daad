"""Units measured by processes of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fernn.compare import workers
from fernn.compare.unit import Unit
from fernn.compare.workers import answered

SMALL = [Unit("intervals", str(seed), "exact, windows", 2) for seed in range(3)]


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


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_process_that_dies_costs_one_unit_and_the_rest_goes_on():
    before = set(children())
    found = {}
    for unit, answer in answered([*SMALL, Unit("intervals", "3", "fernn, windows", 2)], 30, workers=1):
        found[unit] = answer
        if len(found) == 1:
            os.kill((set(children()) - before).pop(), signal.SIGKILL)
    assert len(found) == 4
    lost = [answer for answer in found.values() if "problem" in answer]
    assert len(lost) == 1
    assert "status -9" in lost[0]["problem"]
    assert set(children()) <= before


def test_every_unit_is_answered_whatever_is_wrong_with_it():
    units = [SMALL[0], Unit("nowhere", "0", "fernn", 2), Unit("intervals", "0", "1-NN", 0)]
    found = dict(answered(units, 30, workers=2))
    assert found[SMALL[0]]["mcr"] < 0.05
    assert "no dataset 'nowhere'" in found[units[1]]["problem"]
    assert found[units[2]]["formula"] == ""
    assert found[units[2]]["cases"] == 2000


def test_a_unit_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    monkeypatch.setattr(workers, "GRACE", 0.05)
    ((_, found),) = answered(SMALL[:1], 30)
    assert "status" in found["problem"]


STUB = """
import json, sys
print("a word from some library", flush=True)
for line in sys.stdin:
    unit = json.loads(line)
    print(json.dumps({"unit": "/".join(map(str, unit.values())), "mcr": 0.0, "split": unit["split"]}), flush=True)
"""


def test_what_else_a_process_says_is_not_taken_for_an_answer(monkeypatch):
    def stub(limit, folder):
        return subprocess.Popen([sys.executable, "-c", STUB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    monkeypatch.setattr(workers, "_started", stub)
    for unit, found in answered(SMALL, 30, workers=1):
        assert "problem" in found or found["split"] == unit.split
