"""The command that applies a learned rule to recordings that came later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .interrupt import INTERRUPTED
from .output import as_json, complain, counted, percent, table
from .reading import Json, warn_of_windows, warned
from .streaming import InPieces, PieceRows, is_streamed
from .streaming import followed as progress
from .where import EngineName, by_file, is_parted

if TYPE_CHECKING:
    from ..data.streaming import Source
    from ..evaluation.drift import DriftMonitor

BLOCKS = 12


def watch(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    files: Annotated[
        list[str],
        typer.Argument(help="New recordings, files or folders of Parquet files, the oldest first.", metavar="FILE..."),
    ],
    alarm: Annotated[float, typer.Option(help="Chance of a false alarm, however long one watches.")] = 0.001,
    stream: InPieces = None,
    piece_rows: PieceRows = None,
    engine: EngineName = None,
    json: Json = False,
) -> int:
    """Apply a learned rule to new recordings, with or without labels, and say when it no longer holds.

    Exits with 1 if it does not. Files are read as the data of the run were. Folders of Parquet files, and files larger
    than memory, are read in pieces; folders on an engine, if one is named.
    """
    from ..data import read_input
    from ..data.streaming import open_source
    from ..errors import UnsupportedError
    from ..evaluation import evaluate_rule
    from ..evaluation.drift import DriftMonitor
    from ..runs import error, load_job, load_result, reading_options

    if not 0 < alarm < 1:
        raise UnsupportedError(f"--alarm is a chance, between 0 and 1; found {alarm}")
    job = load_job(run, warned=warned)
    if not job.data.classes:
        raise UnsupportedError("watch follows a rule for two classes, not one for real labels")
    found = load_result(job)
    train, held = job.parts
    known = train if held is None else held
    rule = found.front.picked.formula
    size = 0.0 if held is None else evaluate_rule(rule, train, held).size
    followed = DriftMonitor(rule, known, 0.0 if held is None else error(rule, held) * size, size, alarm)
    stopped = False
    for file in files:
        reading = reading_options(job.settings, file)
        if is_streamed(file, reading, stream):
            stopped = not _taken(followed, open_source(file, reading, forgiving=True), piece_rows)
        else:
            for _ in followed.take(read_input(file, reading, warned, forgiving=True), file):
                pass
        if stopped and not followed.seen:
            complain("interrupted before any trace was judged, so there is nothing to say of the rule")
            return INTERRUPTED
        if stopped:
            complain(f"interrupted: all below is of the traces read so far, the last of them in {file}")
            break
    warn_of_windows([rule], known)
    if json:
        typer.echo(as_json(followed.to_json()))
    else:
        typer.echo(_printed(followed))
    return INTERRUPTED if stopped else 1 if followed.alarms else 0


def _taken(followed: DriftMonitor, source: Source, rows: int | None) -> bool:
    """Takes a recording in pieces; whether it came to its end before a Ctrl-C."""
    if is_parted(source):
        with by_file(f"watched {source.path}") as told:
            return followed.take_parts(source, rows, told=told)[1]
    with progress(f"watched {source.path}") as wants_end:
        for _ in followed.take_stream(source, rows, wants_end):
            pass
    return wants_end.stop is None or not wants_end.stop.asked


def _printed(followed: DriftMonitor) -> str:
    seen = followed.seen
    size = max(1, -(-len(seen) // BLOCKS))
    rows = []
    for low in range(0, len(seen), size):
        part = seen[low : low + size]
        judged = [each.wrong for each in part if each.wrong is not None]
        error = f"{sum(judged) / len(judged):.3f}" if judged else ""
        margin = min(abs(each.robustness) for each in part)
        rows.append([f"{low + 1}-{low + len(part)}", part[0].file, error, f"{margin:.4g}",
                     f"{sum(each.holds for each in part) / len(part):.2f}"])  # fmt: skip
    lines = [str(followed.formula), "", table(["traces", "from", "error", "least margin", "satisfied"], rows), ""]
    if followed.error is not None:
        side = "below" if followed.error <= followed.allowed else "above"
        signal = f"the {percent(followed.allowed)} that would signal a change"
        lines.append(f"error {percent(followed.error)}; {side} {signal}")
    first = followed.broken_by
    if first is not None:
        lines.append(f"the first trace that it misjudges: {first.case} in {first.file}")
    lines += [f"ALARM: {each}" for each in followed.alarms]
    if not followed.alarms:
        lines.append(f"the rule holds, as far as {counted(len(seen), 'trace')} can tell")
    return "\n".join(lines)
