"""Where a method computes, as `fernn learn` is told."""

import sys

import pytest

from fernn.data import load, write_csv


@pytest.fixture
def fernn(called):
    """The command in this process, in a folder with a recording in it."""
    write_csv(load("cruise", cases=20), "cruise.csv")
    return called


def test_a_device_can_be_set_and_one_that_is_not_there_is_named(fernn, monkeypatch):
    given = ("learn", "cruise.csv", "--method", "paper", "--set", "epochs=3", "--set", "restarts=3")
    assert fernn(*given, "--set", "device=cpu", "--json").code == 0
    monkeypatch.setitem(sys.modules, "torch", None)
    missing = fernn(*given, "--set", "device=cuda")
    assert missing.code != 0
    assert "pip install 'fernn[torch]'" in missing.err
    assert "device of the method paper is 'cpu' or 'cuda'; found 'tpu'" in fernn(*given, "--set", "device=tpu").err
