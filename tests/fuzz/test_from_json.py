"""Every `from_json` of the package ends in a value or in an error of fernn, whatever it is given."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import math
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.errors import FernnError, FormulaError
from fernn.learners import Enumerative, Fernn, Front, Prior
from fernn.learners.enumerative.certificate import Certificate
from fernn.learners.fernn.archive import Archive
from fernn.mining import ParameterSet, parameter_set
from fernn.mining.parameter_grid import ValueRange

ODD = [
    None, [], {}, 0, 1.5, -1, "x", "", True, [None], [[]], [{}], {"x": 1}, {"schema": 1}, {"schema": 2}, math.nan,
    math.inf, b"x", 10**400, (1,), {"entries": [None]}, {"boxes": None}, "nan", {"rules": 3}, {"kept": [3]}, "{}", "[",
]  # fmt: skip
ELSEWHERE = (
    "torch",
    "gpu_kernels",
    "gpu_network_kernel",
    "gpu_training",
    "studio",
    "adapters",
    "__main__",
    "ray",
    "dask",
)
"""What needs more than fernn itself, and has no such function."""


def readers() -> Iterator[tuple[str, Callable[..., Any]]]:
    for found in pkgutil.walk_packages(fernn.__path__, "fernn."):
        if any(part in ELSEWHERE for part in found.name.split(".")):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if inspect.isclass(value) and value.__module__ == found.name and "from_json" in vars(value):
                yield f"{found.name}.{name}", value.from_json
            if name == "from_json" and inspect.isfunction(value) and value.__module__ == found.name:
                yield found.name, value


READERS = dict(readers())


def test_all_of_them_are_found():
    assert len(READERS) >= 20
    assert {"fernn.mining.parameter_synthesis.ParameterSet", "fernn.formula.export.json"} <= READERS.keys()


@pytest.mark.parametrize("name", READERS)
def test_other_kinds_are_refused_in_words(name):
    reader = READERS[name]
    needed = [each for each in inspect.signature(reader).parameters.values() if each.default is each.empty]
    for value in ODD:
        try:
            reader(value, *[None] * (len(needed) - 1))
        except FernnError as error:
            assert str(error).strip(), value  # noqa: PT017


def places(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        yield from places(value, (*at, key))


def bent(tree: Any, seed: int, count: int) -> Iterator[Any]:
    """The tree with one part of another kind, or gone."""
    rng = np.random.default_rng(seed)
    every = list(places(tree))[1:]
    for _ in range(count):
        path = every[int(rng.integers(len(every)))]
        made = copy.deepcopy(tree)
        holder = made
        for key in path[:-1]:
            holder = holder[key]
        if rng.random() < 0.15:
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
        yield made


def a_set() -> ParameterSet:
    return parameter_set("G[0,?b] (a <= ?c)", noisy(1, 30, 5, levels=6), false_alarms=0.4, misses=0.4)


def used(found: Any) -> None:
    """What a caller does next with what was read."""
    match found:
        case ParameterSet():
            found.contains(dict.fromkeys(found.names, 1)), found.bounds, found.is_empty, found.to_json()
            [point.formula for point in (found.picked, found.nearest) if point is not None]
        case Certificate():
            assert found.statement in found.note
            assert isinstance(found.holds, bool)
        case Front():
            str(found), found.picked, found.to_json()
        case Prior() | Archive():
            found.to_json()


@pytest.mark.parametrize("kind", [ParameterSet, Certificate, Front, Prior, Archive])
def test_wrong_kinds_deep_inside_are_refused_in_words(kind):
    data = noisy(1, 30, 5, levels=6)
    made = {
        ParameterSet: lambda: a_set().to_json(),
        Certificate: lambda: Enumerative(max_length=2, folds=0).fit(data).certificate.to_json(),
        Front: lambda: Enumerative(max_length=2, folds=0).fit(data).front.to_json(),
        Prior: lambda: Prior.from_json(
            {"must_hold": ["G (a >= 0)"], "without": ["b"], "ranges": {"a": {"low": -1}}, "template": "G ?p"}
        ).to_json(),
        Archive: lambda: Fernn(max_length=2, restarts=4, rounds=1).fit(data).state["archive"],
    }[kind]()
    tree = json.loads(json.dumps(made))
    used(kind.from_json(copy.deepcopy(tree)))
    refused = 0
    for other in bent(tree, 1, 300):
        try:
            found = kind.from_json(other)
        except FernnError:
            refused += 1
            continue
        used(found)
    assert refused > 50


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, "x", None, [1], True])
def test_values_that_are_none_are_asked_about_in_words(value):
    found = a_set()
    for name in ("b", "c"):
        given = {"b": 1, "c": 2.0, name: value}
        if name == "c" and value in (math.inf, -math.inf):
            assert found.contains(given) in (True, False, None)
            continue
        with pytest.raises(FormulaError, match=name):
            found.contains(given)
        with pytest.raises(FormulaError, match=name):
            found.formula(given)


def test_a_range_keeps_its_ends_in_order():
    assert ValueRange.from_json(ValueRange(1.0, 2.0, True, False).to_json()) == ValueRange(1.0, 2.0, True, False)
    assert ValueRange.from_json(ValueRange().to_json()) == ValueRange()
    with pytest.raises(FernnError, match="2 is above 1"):
        ValueRange.from_json({"low": 2, "high": 1, "low_closed": True, "high_closed": True})
