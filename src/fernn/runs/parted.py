"""A folder of recordings worked through file by file, wherever the work is done.

The workers read the files themselves; what they say is put together here, in the order of the files, and is what one
process would have said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..data import DataCard, Dataset, Problem
from ..data.streaming import Source
from ..data.streaming.partition import PartitionMerger, partition, with_partition
from ..data.streaming.stream_summary import StreamingMedian, measure_part, merge_summaries, summarize_part
from ..data.streaming.whole_cases import StreamTotals
from ..engine import Unit, Where, engine_of, results
from ..errors import DataError, EngineError, FernnError
from ..formula import Formula, parse
from ..plain import BROKEN, short_repr
from ..plain import told as told_of
from ..semantics.chunks import check_channels, settled
from ..semantics.parts import Rows, judged_part
from ..semantics.robustness import At
from ..semantics.tally import Judged, Tally

HERE = "fernn.runs.parted"
Heard = Callable[[int, int], None]


def silent(done: int, of: int) -> None:
    """Files that are done, of how many."""


@dataclass(frozen=True)
class Parted:
    """What the files say together; those that were not reached are missing where it is not `complete`."""

    judged: Judged
    problems: tuple[Problem, ...]
    ending: StreamTotals
    rows: int
    complete: bool = True

    __repr__ = short_repr


def parts(
    task: str, source: Source, asked: dict[str, Any], engine: Where = None, told: Heard = silent
) -> Iterator[Any]:
    """What a function says of each file, in the order of the files. A file that cannot be worked on is an error."""
    units = [Unit({"source": partition(source, number), **asked}, number) for number in range(len(source.files))]
    told(0, len(units))
    chosen = engine_of(engine)
    for done, answer in enumerate(results(chosen, task, None, units, in_order=True, read=_read), 1):
        if answer.problem is not None:
            file = source.files[answer.unit.seed]
            raise DataError(f"the work on {file} {answer.failure} (on the engine {chosen.name}).")
        if isinstance(answer.found, str):
            raise DataError(answer.found)
        told(done, len(units))
        (part,) = answer.found
        yield part


def _read(unit: Unit, found: Any) -> Any:
    """What `there` gave: a text that says why not, or what the function said, as the only one of a tuple."""
    match found:
        case {"refused": str(why)}:
            return why
        case {"said": said}:
            return (said,)
    raise ValueError("neither an error nor what was said of the file")


@contextmanager
def joined(source: Source, engine: Where) -> Iterator[None]:
    """Parts are put together inside: where that cannot be done, what an engine gave is no part."""
    try:
        yield
    except FernnError:
        raise
    except BROKEN as error:
        name = engine_of(engine).name
        raise EngineError(
            f"what the engine {name} answered of {source.path} cannot be used ({told_of(error)})."
        ) from error


def judged_by_parts(
    formula: Formula | str,
    source: Source,
    at: At = "verdict",
    rows: int | None = None,
    engine: Where = None,
    told: Heard = silent,
    each: Callable[[Rows], None] | None = None,
) -> Parted:
    """As `fernn.semantics.chunks.judged`, a file of the folder at a time.

    `told` hears how many files are done, of how many; `each` gets every trace, in order. Ctrl-C gives what came so far.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    asked = {"formula": str(rule), "at": at, "rows": rows, "listed": each is not None}
    joining, tally = PartitionMerger(source), Tally()
    check_channels(rule, joining)
    with joined(source, engine):
        try:
            for part in parts(f"{HERE}:judged_there", source, asked, engine, told):
                found = Tally.from_json(part["tally"])
                lots = [Rows.from_json(lot) for lot in part["rows"]]
                if each is not None and sum(len(lot.cases) for lot in lots) != found.traces:
                    raise ValueError(f"of {found.traces} traces, {sum(len(lot.cases) for lot in lots)} are listed")
                joining.take(part)
                tally += found
                if each is not None:
                    for lot in lots:
                        each(lot)
        except KeyboardInterrupt:
            pass
        problems = joining.close()
        return Parted(settled(tally, source), problems, joining.ending, joining.rows, joining.is_over)


def card_by_parts(
    source: Source, rows: int | None = None, engine: Where = None, told: Heard = silent
) -> tuple[DataCard | None, tuple[Problem, ...]]:
    """As `fernn.data.streaming.stream_summary.summarize_stream`, a file of the folder at a time."""

    def again(middles: list[StreamingMedian], channels: list[int]) -> None:
        asked = {"rows": rows, "asked": [middle.asked() for middle in middles], "channels": channels}
        for part in parts(f"{HERE}:measured_there", source, asked, engine, told):
            for middle, found in zip(middles, part, strict=True):
                middle.join(found)

    first = parts(f"{HERE}:looked_there", source, {"rows": rows}, engine, told)
    with joined(source, engine):
        return merge_summaries(source, first, again)


def there(work: Callable[..., Any], settings: dict[str, Any], number: int) -> dict[str, Any]:
    """On a worker: what the function says of one file, or the error that it ends in."""
    asked = {name: value for name, value in settings.items() if name != "source"}
    try:
        return {"said": with_partition(settings["source"], number, partial(work, **asked))}
    except FernnError as error:
        return {"refused": str(error)}


def judged_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return there(judged_part, settings, seed)


def looked_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return there(summarize_part, settings, seed)


def measured_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return there(measure_part, settings, seed)
