"""The numbers that the paper reports, as data: one for every cell of its tables."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isnan

CITATION = (
    "N. Fronda and H. Abbas, *Differentiable Inference of Temporal Logic Formulas*, EMSOFT 2022 "
    "(IEEE Transactions on Computer-Aided Design of Integrated Circuits and Systems)"
)
LENGTHS = (2, 3, 4, 5, 6)
DIVISOR = {"ecg": 58, "ecg continuous": 58}
"""What the authors' error on ECG was divided by; the test set has 56 traces."""

PRINTED: dict[str, dict[str, str]] = {
    "hapt": {
        "FERNN": "G !(x <= -0.81)",
        "enumerative": "G (x > -0.65)",
        "lattice": "G[0,3] (x > 0.94) -> F[4,8] (x > -0.57)",
    },
    "cct": {
        "FERNN": "G !(v >= 39.8)",
        "enumerative": "G (v < 34.3)",
        "lattice": "G[0,49] (v > 24.7) -> G[50,99] (v < 34.7)",
    },
    "ecg": {
        "FERNN": "G !(hr_diff <= -3.78)",
        "enumerative": "G (hr_diff < 5.80)",
        "lattice": "G[0,3] (hr > 120.21) -> G[5,8] (hr < 86.68)",
    },
    "lyft": {
        "FERNN": "F (y >= -1.4)",
        "enumerative": "F (y < 1.5)",
        "lattice": "G[0,23] (x > 50) -> F[25,48] (x < -10.34)",
    },
}
"""The best formulas as the paper prints them; the windows of the lattice method count samples from 1, these from 0."""


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """One number. `method` is named as in `methods.METHODS`; `seconds` and `formula` where they are printed."""

    table: str
    data: str
    method: str
    length: int
    mcr: float
    seconds: float | None = None
    formula: str = ""

    @property
    def digits(self) -> int:
        """Decimals that are printed: two, or three."""
        return 2 if isnan(self.mcr) or round(self.mcr, 2) == self.mcr else 3


@cache
def paper_numbers() -> tuple[PaperNumber, ...]:
    """All of them, table by table."""
    return (*_stopping(), *_quantisation(), *_since(), *_free(), *_best(), *_continuous(), *_bounds())


def in_paper(method: str, data: str, length: int, table: str = "") -> PaperNumber | None:
    """What the paper has there: in this table, or in the first that has it."""
    for each in paper_numbers():
        if (each.method, each.data, each.length) == (method, data, length) and table in ("", each.table):
            return each
    return None


def best(data: str, length: int, formulas_only: bool = False) -> PaperNumber | None:
    """The least error that the paper reports there for any method; perhaps of those only whose result is a formula."""
    there = [each for each in paper_numbers() if (each.data, each.length) == (data, length) and each.table != "free"]
    there = [each for each in there if not isnan(each.mcr)]
    if formulas_only:
        there = [each for each in there if each.method != "paper, unquantised"]
    return min(there, key=lambda each: each.mcr, default=None)


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath("paper", f"{name}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


def _name(data: str) -> str:
    return data.replace("_", " ")


def _stopping() -> Iterator[PaperNumber]:
    for row in _rows("early_stopping"):
        for method, key in (("paper", "no_es"), ("paper, early stopping", "es")):
            yield PaperNumber(
                "stopping", row["dataset"], method, int(row["length"]), float(row[f"mcr_{key}"]),
                float(row[f"seconds_{key}"]),
            )  # fmt: skip


def _quantisation() -> Iterator[PaperNumber]:
    methods = {"quantized": "paper", "unquantized": "paper, unquantised"}
    for row in _rows("quantization"):
        for length in LENGTHS:
            yield PaperNumber(
                "quantised", _name(row["dataset"]), methods[row["weights"]], length, float(row[f"length_{length}"])
            )


def _since() -> Iterator[PaperNumber]:
    for row in _rows("without_since"):
        yield PaperNumber(
            "since", _name(row["dataset"]), "paper, no since", int(row["length"]), float(row["mcr"]),
            float(row["seconds"]),
        )  # fmt: skip


def _free() -> Iterator[PaperNumber]:
    for row in _rows("up_to_length_6"):
        yield PaperNumber(
            "free", _name(row["dataset"]), "paper, up to", 6, float(row["mcr"]), float(row["seconds"]), row["formula"]
        )


def _best() -> Iterator[PaperNumber]:
    """The best formulas of every method; those of FERNN and the enumerative method have length 2."""
    for row in _rows("best_formulas"):
        for method, column in (("paper", "fernn"), ("enumerative", "enumerative"), ("lattice, published", "lattice")):
            error = row[f"{column}_mcr"]
            yield PaperNumber(
                "pictures", row["dataset"], method, 6 if column == "lattice" else 2,
                float(error) if error else float("nan"), None, row[column],
            )  # fmt: skip


def _continuous() -> Iterator[PaperNumber]:
    """The best of the formulas learned from real labels; its length is that of the formula as printed."""
    for row, length in zip(_rows("continuous_labels"), (4, 2), strict=True):
        yield PaperNumber(
            "continuous", f"{row['dataset']} continuous", "paper", length, float(row["fernn_mcr"]), None,
            row["fernn_formula"],
        )  # fmt: skip


def _bounds() -> Iterator[PaperNumber]:
    for row in _rows("time_bounds"):
        yield PaperNumber("bounds", row["dataset"], "paper, windows", 2, float(row["mcr"]), None, row["formula"])
