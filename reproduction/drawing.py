"""The figures of a comparison: errors and seconds by method and length, and formulas against traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fernn.data.atomic_write import remove_link
from fernn.errors import UnsupportedError
from fernn.evaluation.trial_runs import TrialLog
from fernn.evaluation.trials import PAPER_SPLIT, load_trial_data
from fernn.formula import Formula, parse
from fernn.report import against, bars, save
from reproduction.cells import cell
from reproduction.experiments import RECORDED, SEEDS, available_data
from reproduction.page import finest
from reproduction.paper_numbers import LENGTHS, in_paper

FIGURES = "figures"
SHOWN = ("fernn", "exact", "paper", "paper, early stopping", "enumerative", "lattice")
Floats = npt.NDArray[np.float64]
Cells = dict[str, dict[str, tuple[float, float]]]


def _save(figure: Any, path: Path) -> None:
    """Through no symbolic link, since others may have made the folder."""
    for each in (path.parent, path):
        remove_link(each)
    save(figure, path)


def draw_figures(ledger: TrialLog, names: Sequence[str]) -> list[str]:
    """Draws what these experiments show; what could not be drawn, and why."""
    try:
        for name in available_data(ledger, RECORDED):
            if "methods" in names:
                _by_length(ledger, name)
            if "pictures" in names:
                _against(ledger, name)
    except UnsupportedError as missing:
        return [f"no figures: {missing}"]
    return []


def _by_length(ledger: TrialLog, name: str) -> None:
    """As the paper's figure of errors and times."""
    folder = ledger.folder / FIGURES
    errors, times = _collect_cells(ledger, name, SHOWN, LENGTHS)
    theirs = {
        method: {str(n): found.mcr for n in LENGTHS if (found := in_paper(method, name, n)) is not None}
        for method in errors
    }
    _save(bars(errors, "test error", theirs, title=name, xlabel="length"), folder / f"{name}-error.png")
    took = {
        method: {str(n): found.seconds for n in LENGTHS if (found := in_paper(method, name, n)) and found.seconds}
        for method in errors
    }
    _save(bars(times, "seconds", took, log=True, title=name, xlabel="length"), folder / f"{name}-seconds.png")


def _collect_cells(
    ledger: TrialLog, name: str, methods: Sequence[str], lengths: Sequence[int], seeds: tuple[str, ...] = SEEDS
) -> tuple[Cells, Cells]:
    errors: Cells = {}
    times: Cells = {}
    for method in methods:
        found = {str(n): cell(ledger, method, name, n, seeds=seeds) for n in lengths}
        known = {n: each for n, each in found.items() if not isnan(each.ours)}
        if known:
            errors[method] = {n: _spread(each.errors, each.ours) for n, each in known.items()}
            times[method] = {n: (each.seconds, 0.0) for n, each in known.items()}
    return errors, times


def _spread(errors: Floats, alone: float) -> tuple[float, float]:
    """Mean and standard deviation, or the only one there is."""
    return (float(np.mean(errors)), float(np.std(errors, ddof=1))) if len(errors) > 1 else (alone, 0.0)


def _against(ledger: TrialLog, name: str) -> None:
    formulas = dict(_formulas(ledger, name))
    if formulas:
        test = load_trial_data(name, PAPER_SPLIT).test
        _save(
            against(test, formulas, title=f"{name}: test traces of the paper's split"),
            ledger.folder / FIGURES / f"{name}.png",
        )


def _formulas(ledger: TrialLog, name: str) -> Iterator[tuple[str, Formula]]:
    for method, found in finest(ledger, name).items():
        yield method, parse(str(found["formula"]))
