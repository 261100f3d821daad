"""Packages and functions keep their former names for one release."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import fernn.evaluation.comparison
import fernn.mining

PACKAGES = {
    "fernn.asking": fernn.mining,
    "fernn.belief": fernn.evaluation,
    "fernn.causes": fernn.mining,
    "fernn.regions": fernn.mining,
}


@pytest.mark.parametrize("former", PACKAGES)
def test_a_package_can_be_imported_by_its_former_name_with_a_warning(former):
    now = PACKAGES[former]
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match=f"{former} is now called {now.__name__}"):
        module = __import__(former, fromlist=["x"])
    for old, new in now.FORMER_NAMES.items():
        assert getattr(module, old) is getattr(now, new)
    assert all(getattr(module, name) is getattr(now, name) for name in now.__all__)
    with pytest.raises(AttributeError):
        _ = module.nothing


def test_a_comparison_is_found_by_its_former_name():
    with pytest.warns(DeprecationWarning, match="fernn.compare.own is now called fernn.evaluation.comparison"):
        from fernn.compare.own import compare
    assert compare is fernn.evaluation.comparison.compare


@pytest.mark.slow
def test_the_warning_names_the_line_that_imports():
    code = "import warnings\nwarnings.simplefilter('error')\nimport fernn.belief"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "DeprecationWarning: fernn.belief is now called fernn.evaluation" in done.stderr


@pytest.mark.parametrize(
    ("former", "now", "name"),
    [
        ("fernn.exact.smallest", "fernn.learners.enumerative.smallest", "smallest"),
        ("fernn.lattice", "fernn.learners.lattice", "below"),
        ("fernn.integrations", "fernn.learners.adapters", "__doc__"),
    ],
)
def test_learners_that_moved_keep_their_documented_paths(former, now, name):
    for each in [each for each in sys.modules if each == former or (former.startswith(f"{each}.") and each != "fernn")]:
        sys.modules.pop(each)
    with pytest.warns(DeprecationWarning, match=f"{former} is now called {now}"):
        module = import_module(former)
    if name != "__doc__":
        assert getattr(module, name) is getattr(import_module(now), name)
