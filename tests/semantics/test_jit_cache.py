"""Compiled code on disk is used again, but never that of other code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fernn
from fernn.formula.plugins import import_object
from fernn.learners.learner_registry import BUILT_IN
from fernn.semantics.jit_cache import is_compiled

LOOPS = """
from typing import NamedTuple
from fernn.semantics.jit_cache import njit_on_disk, is_compiled
from pack import called

class Pair(NamedTuple):
    a: float
    b: float

@njit_on_disk(called)
def total(pair):
    return called.doubled(pair.a) + pair.b
"""
CALLED = """
from numba import njit

@njit
def doubled(a):
    return 2 * a
"""
CALL = "from pack import loops; print(loops.is_compiled(loops.total), loops.total(loops.{}(1.0, 2.0)))"


def _called(folder, name="Pair"):
    done = subprocess.run([sys.executable, "-c", CALL.format(name)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def _written(folder, loops=LOOPS, called=CALLED):
    (folder / "pack").mkdir(exist_ok=True)
    (folder / "pack/__init__.py").touch()
    (folder / "pack/loops.py").write_text(loops)
    (folder / "pack/called.py").write_text(called)


@pytest.mark.slow
def test_code_on_disk_is_used_again_and_made_anew_when_what_it_calls_has_changed(tmp_path):
    _written(tmp_path)
    assert _called(tmp_path) == ["False", "4.0"]
    assert _called(tmp_path) == ["True", "4.0"]
    _written(tmp_path, called=CALLED.replace("2 * a", "3 * a"))
    assert _called(tmp_path) == ["False", "5.0"]
    _written(tmp_path)
    assert _called(tmp_path) == ["True", "4.0"]


@pytest.mark.slow
def test_an_upgrade_in_place_that_renames_a_class_does_not_stumble_over_the_old_code(tmp_path):
    _written(tmp_path)
    assert _called(tmp_path) == ["False", "4.0"]
    _written(tmp_path, LOOPS.replace("Pair", "Both"))
    assert _called(tmp_path, "Both") == ["False", "4.0"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_learner_names_a_function_that_is_kept_on_disk(name):
    kernel = import_object(BUILT_IN[name].kernel)
    assert re.search(r"_[0-9a-f]{16}$", kernel.py_func.__qualname__)
    assert BUILT_IN[name].is_compiled == is_compiled(kernel)


def test_all_that_is_kept_on_disk_is_named_after_its_code():
    source = Path(fernn.__file__).parent
    users = [path for path in source.rglob("*.py") if re.search(r"\bcache\s*=\s*True", path.read_text())]
    assert [path.name for path in users] == ["jit_cache.py"]
