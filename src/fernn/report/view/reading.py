"""What a rule says of every trace: verdicts, robustness, errors, the deciding samples, and the lines to draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Floats
from ...formula import Atom, Formula, direction, length, parse, thresholds, to_sentence, walk, with_thresholds
from ...formula.export import to_latex
from ...semantics import robustness, satisfied
from ...semantics.score import counted
from ..clock import clock
from ..deciding import decided
from ..marks import sums
from ..reach import merged, reach
from .plain import Bools, bits, quietly, rounded, rounded_all

PARTS = ("train", "test", "all")


def reading(formula: Formula | str, data: Dataset, test: Bools | None = None) -> dict[str, Any]:
    """What pages show of a rule. `test`: which cases are kept for the test; None where there is no such part."""
    formula = parse(formula) if isinstance(formula, str) else formula
    with quietly() as told:
        values = np.asarray(robustness(formula, data))
        holds = np.asarray(satisfied(formula, data))
        atom, sample = decided(formula, data)
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    places = np.array([_channel(each, data) for each in atoms] + [-1])  # the last one for an atom of -1
    return {
        "formula": str(formula),
        "sentence": to_sentence(formula, data.dt, data.time_unit),
        "latex": to_latex(formula),
        "length": length(formula),
        "direction": direction(formula),
        "holds": bits(holds),
        "robustness": rounded_all(values),
        "score": scores(holds, data, test),
        "error": errors(holds, values, data, test),
        "atoms": [str(each) for each in atoms],
        "deciding": {
            "atom": atom.tolist(), "channel": places[atom].tolist(), "sample": sample.tolist(),
            "value": _values(data, places[atom].tolist(), sample.tolist()),
        },
        "thresholds": [_threshold(each, data) for each in atoms],
        "marks": _marks(formula, data),
        "notes": [*(f"{each} has no line of its own" for each in sums(formula)), *told],
    }  # fmt: skip


def _values(data: Dataset, channels: list[int], samples: list[int]) -> list[float | None]:
    """What was recorded at the deciding samples; a page has not all samples of a long trace."""
    found = zip(data.values, channels, samples, strict=True)
    return [rounded(float(v[channel, at]), 6) if channel >= 0 and at >= 0 else None for v, channel, at in found]


def scores(holds: Bools, data: Dataset, test: Bools | None) -> dict[str, Any] | None:
    """Right and wrong verdicts in each part of the data; None without two classes."""
    if len(data.classes) != 2:
        return None
    good = data.positive
    made: dict[str, Any] = {}
    for name, part in _parts(len(data), test).items():
        count = None if part is None else counted(holds[part], good[part])
        made[name] = count and {
            "true_good": count.true_good, "false_good": count.false_good,
            "true_bad": count.true_bad, "false_bad": count.false_bad,
        }  # fmt: skip
    return made


def errors(holds: Bools, values: Floats, data: Dataset, test: Bools | None) -> dict[str, float | None] | None:
    """The share judged wrongly, or for real labels the mean absolute error; None without labels to compare with."""
    if data.labels is None or len(data.classes) not in (0, 2):
        return None
    lost = (holds != data.positive).astype(float) if data.classes else np.abs(values - data.labels)
    means = {name: None if part is None else float(lost[part].mean()) for name, part in _parts(len(data), test).items()}
    return {name: mean if mean is None or np.isfinite(mean) else None for name, mean in means.items()}


def _parts(count: int, test: Bools | None) -> dict[str, Bools | None]:
    """The cases of each part; None for a part that is not there."""
    every = np.ones(count, dtype=bool)
    if test is None:
        return {"train": None, "test": None, "all": every}
    return {"train": ~test if not test.all() else None, "test": test if test.any() else None, "all": every}


def _channel(atom: Atom, data: Dataset) -> int:
    return data.channels.index(atom.channels[0]) if len(atom.weights) == 1 else -1


def _threshold(atom: Atom, data: Dataset) -> dict[str, Any]:
    place = _channel(atom, data)
    weight = atom.weights[0][1] if place >= 0 else 1.0
    told = {"value": atom.threshold, "text": str(atom), "channel": place if place >= 0 else None, "weight": weight}
    return told


def _marks(formula: Formula, data: Dataset) -> list[dict[str, Any]]:
    """The lines of thresholds, over the samples that are looked at in the longest trace.

    Traces of unequal length share the end that the formula looks from, so a shorter one has no samples of its own.
    """
    found: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    numbered = with_thresholds(formula, [float(k) for k in range(len(thresholds(formula)))])
    samples = clock(data, [formula]).samples
    for atom, first, last in reach(numbered, samples):
        if len(atom.weights) == 1:
            above = atom.is_upper_bound == (atom.weights[0][1] > 0)
            found.setdefault((int(atom.threshold), above), []).append((first, last))
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return [
        {
            "channel": _channel(atoms[k], data),
            "level": atoms[k].threshold / atoms[k].weights[0][1],
            "above_is_bad": above,
            "runs": [list(run) for run in merged(runs)],
            "threshold": k,
        }
        for (k, above), runs in sorted(found.items())
    ]
