"""Whatever a result holds, its repr is short enough for a terminal and a log."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import numpy as np
import pytest

import fernn
from fernn.data import load
from fernn.errors import short_repr
from fernn.formula import parse

ROOMS = (
    "", ".data", ".semantics", ".learners", ".learners.classes", ".learners.lattice", ".evaluation",
    ".runs",
    ".mining", ".engines", ".learners.enumerative.certificate",
    ".learners.enumerative.enumeration", ".learners.enumerative.audit",
    ".evaluation.drift",
    ".evaluation.comparison", ".evaluation.trial_runs", ".semantics.running_metrics",
)  # fmt: skip
FORMULA = parse(" & ".join(f"G (channel{i} <= {i})" for i in range(40)))
HUGE = {
    "letters": "x" * 50_000, "list": [f"case {i}" for i in range(20_000)], "array": np.zeros((500, 40)),
    "mapping": {f"key {i}": list(range(50)) for i in range(3_000)}, "formula": FORMULA, "formulas": (FORMULA,) * 900,
    "nested": [{"a": [np.zeros(900)] * 900}] * 900,
}  # fmt: skip


def results():
    """The public dataclasses that hold what was found; learners are settings, formulas and windows are their text."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module("fernn" + room)
        for name in getattr(module, "__all__", None) or dir(module):
            one = getattr(module, name, None)
            if inspect.isclass(one) and dataclasses.is_dataclass(one) and one.__module__.startswith("fernn."):
                found.add(one)
    return sorted(
        (one for one in found if not (hasattr(one, "fit") or inspect.isabstract(one) or "formula" in one.__module__)),
        key=lambda one: (one.__module__, one.__name__),
    )


@pytest.mark.parametrize("kind", results(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_result_of_any_size_has_a_short_repr(kind):
    if kind in (fernn.Dataset, fernn.Result, fernn.ClassResult):
        pytest.skip("has one of its own, tried below and with the pipeline")
    for what, huge in HUGE.items():
        made = object.__new__(kind)
        for each in dataclasses.fields(kind):
            object.__setattr__(made, each.name, huge)
        assert len(repr(made)) < 2000, what


def test_a_fit_of_real_data_says_what_it_found():
    data = load("cruise", cases=20)
    fit = fernn.Enumerative(max_length=2, folds=2).fit(data)
    assert len(repr(fit)) < 2000
    assert str(fit.formula) in str(fit)
    assert len(repr(data)) < 2000
    assert str(fit.formula) in repr(fit.front) or len(fit.front) > 2


def test_a_data_set_with_many_channels_and_cases_has_a_short_repr():
    names = [f"a long name of a channel, number {i}" for i in range(400)]
    data = fernn.data.from_arrays(np.zeros((300, 400, 3)), np.arange(300) % 2 == 0, channels=names)
    assert len(repr(data)) < 2000


def test_what_fits_is_shown_whole():
    @dataclasses.dataclass
    class Small:
        name: str
        numbers: tuple[int, ...]
        rule: object

        __repr__ = short_repr

    assert repr(Small("a", (1, 2), parse("G (v <= 3)"))) == "Small(name='a', numbers=[1, 2], rule='G (v <= 3)')"
    assert repr(Small("a", tuple(range(9)), None)) == "Small(name='a', numbers=[0, 1, ... 9 in all], rule=None)"
