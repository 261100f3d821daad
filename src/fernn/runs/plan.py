"""The settings of a run, checked once before a long file is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import UnsupportedError
from ..learners import Learner, Prior
from ..learners.classes import OnePerClass, Ordered, Ranked, Tightest
from .methods import Method, complete_settings, learner, learner_of, settings

CLASSES = {
    "each": "a formula for each class against the rest",
    "list": "an ordered list: if F1 then A, else if F2 then B, ...",
    "ranked": "a formula whose robustness grows with the rank of the class",
    "one": "the tightest formulas that all traces, or all but a share, satisfy",
}
"""The kinds of rules for classes, a line each."""
TIGHTEST = Method(Tightest, CLASSES["one"])
TEST = 0.2
"""The share of the traces that is kept for the test."""


def plan(
    file: str, reading: Mapping[str, Any], method: str = "fernn", given: Mapping[str, Any] | None = None,
    test: float = TEST, prior: Prior | None = None, classes: str | None = None, order: Sequence[str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The settings of a run: `given` are those of the method that differ from its defaults, `prior` what is known.

    With `classes`, rules of this kind are learned; `order` has their names from low to high.
    """
    if not 0 <= test < 1:
        raise UnsupportedError(f"--test is a share of the traces, from 0 up to 1; found {test}")
    _check_kind(method, prior, classes)
    if classes == "one":
        method, chosen = "tightest", complete_settings("tightest", TIGHTEST, given or {})
    else:
        chosen = settings(method, given or {})
    planned: dict[str, Any] = {} if prior is None else {"prior": prior.to_json()}
    planned |= {
        "method": method, "learner": chosen, "split": {"test": test, "seed": chosen["seed"]},
        "file": str(Path(file).resolve()) if Path(file).exists() else file, "reading": dict(reading),
    }  # fmt: skip
    planned |= {} if classes is None else {"classes": classes}
    return planned | ({} if order is None else {"order": list(order)})


def _check_kind(method: str, prior: Prior | None, classes: str | None) -> None:
    if classes is not None and classes not in CLASSES:
        raise UnsupportedError(f"--classes is each, list or ranked; found {classes!r}")
    if classes is not None and prior is not None:
        raise UnsupportedError("--prior is for a rule that tells two classes apart, not for rules for classes")
    if classes == "ranked" and method != "fernn":
        raise UnsupportedError("ranked classes are learned by the method fernn, which meets real-valued labels")
    if classes == "one" and method not in ("fernn", "tightest"):
        raise UnsupportedError("one class is learned by a search of its own; leave --method out")


ClassLearner = OnePerClass | Ordered | Ranked | Tightest


def make_learner(planned: Mapping[str, Any], data: Dataset) -> Learner | ClassLearner:
    """The learner that the settings of a run mean: of one rule, or of rules for classes."""
    kind, chosen = planned.get("classes"), dict(planned["learner"])
    if kind is None:
        return learner_of(planned, data)
    if kind == "one":
        return Tightest(**complete_settings("tightest", TIGHTEST, chosen))
    kinds: dict[str, type[OnePerClass | Ordered | Ranked]] = {"each": OnePerClass, "list": Ordered, "ranked": Ranked}
    inner: Any = learner(planned["method"], chosen | {"time_limit": None}, data)
    return kinds[kind](inner, time_limit=chosen.get("time_limit"))
