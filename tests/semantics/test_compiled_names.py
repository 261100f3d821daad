"""Compiled functions that differ have different names: numba links code that it kept on disk by name.

The name of a compiled function has a number that counts what a process has compiled before. Two functions of one name,
told apart by that number only, are taken for each other where one process loads what two others have compiled.
"""

import importlib
import os
import pkgutil
import subprocess
import sys
from collections import defaultdict

import pytest
from numba.core.dispatcher import Dispatcher

import fernn
from fernn.errors import FernnError


def compiled(found, seen):
    """The compiled functions among these values, and in what they close over."""
    for value in found:
        if isinstance(value, Dispatcher) and id(value) not in seen:
            seen[id(value)] = value
            cells = value.py_func.__closure__ or ()
            compiled([cell.cell_contents for cell in cells], seen)
    return seen.values()


def test_no_two_compiled_functions_share_a_name():
    names = defaultdict(set)
    for info in pkgutil.walk_packages(fernn.__path__, "fernn."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except (ImportError, FernnError):  # what needs an extra that is not here
            continue
        for kernel in compiled(vars(module).values(), {}):
            names[kernel.py_func.__module__, kernel.py_func.__qualname__].add(id(kernel))
    assert len(names) > 60
    assert {name for name, those in names.items() if len(those) > 1} == set()


PROCESS = """
import sys
import numba, numpy as np, fernn
from fernn.data import Dataset
for k in range(int(sys.argv[2])):  # moves the numbers of what is compiled after it
    exec(f"def f{k}(x): return x + {k}")
    numba.njit(locals()[f"f{k}"])(1)
rng = np.random.default_rng(0)
for k in range(40):
    x = rng.normal(size=(1, 1, 5))
    for kind in sys.argv[1]:
        data = x if kind == "w" else Dataset(x, channels=("x",))
        for rule, wanted in (("G (x >= 0 & x >= 1)", [min(x[0, 0, t:]) - 1 for t in range(5)]),
                             ("H (x >= 0 & x >= 1)", [min(x[0, 0, : t + 1]) - 1 for t in range(5)])):
            found = fernn.robustness(rule, data, ["x"], at="all")[0]
            assert np.allclose(found, wanted), (kind, rule, found, wanted)
"""


@pytest.mark.slow
def test_what_two_processes_compiled_is_right_in_a_third(tmp_path):
    """Arrays that can be written (w) and those of a Dataset (r) are compiled each for itself."""
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for kinds, before in (("w", 0), ("r", 2), ("wr", 0), ("rw", 0)):
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, kinds, str(before)], env=surroundings, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
