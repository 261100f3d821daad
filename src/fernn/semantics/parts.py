"""A rule on one file of a folder at a time.

A part is the cases that begin in a file. `judged_part` takes and gives plain values, so that it can be done anywhere;
`together` adds up what comes back, and then it is as if all had been judged at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data.streaming import Source, Stream, open_source
from ..data.streaming.partition import PartitionMerger
from ..data.streaming.spill import decode_array, encode_array
from ..errors import DataError
from ..formula.parse import parse
from ..plain import refusing, text
from .chunks import Verdicts, settled, verdicts
from .robustness import At
from .tally import Judged, Tally


class Rows(NamedTuple):
    """Traces that were judged, one entry each."""

    cases: list[str]
    robustness: npt.NDArray[Any]
    satisfied: npt.NDArray[np.bool_]
    labels: list[str] | None

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back."""
        return {
            "cases": self.cases, "robustness": encode_array(np.asarray(self.robustness, np.float64)),
            "satisfied": encode_array(self.satisfied), "labels": self.labels,
        }  # fmt: skip

    @staticmethod
    @refusing(DataError, "these are no verdicts of traces")
    def from_json(told: Mapping[str, Any]) -> Rows:
        """What `to_json` gave, which may have been changed on the way."""
        values, holds = decode_array(told["robustness"], np.float64), decode_array(told["satisfied"], np.bool_)
        cases = [text(case) for case in told["cases"]]
        labels = None if told["labels"] is None else [text(label) for label in told["labels"]]
        if not len(cases) == len(values) == len(holds) == len(cases if labels is None else labels):
            raise ValueError(f"{len(cases)} cases have {len(values)} values")
        return Rows(cases, values, holds, labels)


def rows_of(found: Verdicts) -> Rows:
    return Rows(found.lot.cases, found.robustness, found.satisfied, found.lot.labels)


def judged_part(
    source: Source, number: int, formula: str, at: At = "verdict", rows: int | None = None, listed: bool = False
) -> dict[str, Any]:
    """All cases that begin in file `number`: their tally, what is to be said of them, and if `listed` each of them.

    A case may go on in the next files: this part reads on until it ends, and the next one leaves it out.
    """
    stream = Stream(source, rows, number)
    tally = Tally()
    lots = []
    for found in verdicts(parse(formula), stream, at):
        tally += found.tally
        if listed:
            lots.append(rows_of(found).to_json())
    return {**stream.part(), "tally": tally.to_json(), "rows": lots}


def together(parts: Iterable[Mapping[str, Any]], source: Source) -> Judged:
    """The parts, in the order of their files; a case that begins in two of them is an error."""
    joining, tally = PartitionMerger(source), Tally()
    for part in parts:
        joining.take(part)
        tally += Tally.from_json(part["tally"])
    joining.close()
    return settled(tally, source)


def parts_of(path: str | PathLike[str], options: Mapping[str, Any] | None = None) -> int:
    """How many parts there are: the files of a folder, one for a Parquet file; text is not parted."""
    return len(open_source(path, options).files)
