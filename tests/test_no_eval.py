"""Nothing that fernn reads is ever run: no pickle, no eval, and two execs, of texts that hold numbers only."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import numpy as np
import pytest

import fernn
from fernn.formula import Atom, parse
from fernn.formula.export import to_python
from fernn.semantics import Monitor, robustness

SOURCE = Path(fernn.__file__).parent
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
KNOWN = [
    ("learners/fernn/gpu_training.py", "exec"),
    ("learners/fernn/gpu_training.py", "compile"),
    ("semantics/monitor.py", "exec"),
]
"""Networks for a card, and the monitor of past formulas: both sources are made of numbers and positions."""


@pytest.mark.slow
def test_the_source_runs_no_text_but_that_of_monitors_and_networks_and_reads_no_pickle():
    calls, modules = [], []
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNS_CODE:
                calls.append((place, node.func.id))
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                modules += [(place, name) for name in names if name.split(".")[0] in MODULES]
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant)
                assert node.value.value is False, place
    assert calls == KNOWN
    assert not modules


HOSTILE = (
    "__import__('os').environ.update(FERNN_BROKEN='1')",
    'x"]; __import__("os").environ["FERNN_BROKEN"] = "1"; y["',
    "x\n        __import__('os').environ['FERNN_BROKEN'] = '1'\n",
    '"""\nimport os; os.environ["FERNN_BROKEN"] = "1"\n"""',
    "'''\nimport os; os.environ['FERNN_BROKEN'] = '1'\n'''",
    "\\", "\\'", "{0}", "%s", "s0", "e0", "q0", "n", "update", "NAME0", "by_name", "inf", "deque", "\x00", "é\u2028",
)  # fmt: skip


class Loud(float):
    """A number whose text is a program."""

    def __repr__(self) -> str:
        return "__import__('os').environ.update(FERNN_BROKEN='1')"

    __str__ = __repr__


@pytest.mark.parametrize("name", HOSTILE)
def test_the_name_of_a_channel_is_never_run(name, monkeypatch):
    monkeypatch.delenv("FERNN_BROKEN", raising=False)
    low, high = Atom(((name, 1.0),), ">=", 0.5), Atom(((name, 2.0), ("w", -1.0)), "<", 3.0)
    formula = parse(f"O[0,2] ({low} & {high}) | ({low}) S[1,2] ({high})")
    trace = np.array([[0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 2.0]])
    want = robustness(formula, trace[None], (name, "w"))[0]
    monitor = Monitor(formula, (name, "w"))
    by_name = Monitor(formula, (name, "w"))
    for v, w in trace.T.tolist():
        last, other = monitor.update([v, w]), by_name.update({name: v, "w": w})
    assert last.robustness == other.robustness == want
    space: dict = {}
    exec(to_python(formula), space)
    assert space["robustness"]({name: trace[0].tolist(), "w": trace[1].tolist()}) == want
    assert "FERNN_BROKEN" not in os.environ


def test_the_text_of_a_number_is_never_run(monkeypatch):
    monkeypatch.delenv("FERNN_BROKEN", raising=False)
    atom = Atom((("v", Loud(2.0)),), ">=", Loud(0.5))
    from fernn.formula import Once

    monitor = Monitor(Once(atom), ("v",))
    assert monitor.update([1.0]).robustness == 1.5
    exec(to_python(Once(atom)), {})
    assert "FERNN_BROKEN" not in os.environ
