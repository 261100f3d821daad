"""Commands that judge recorded traces: `eval`, also of data read in pieces, and `explain`."""

from __future__ import annotations

import csv
import json as json_lib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import UnsupportedError
from .common_options import (
    EngineName,
    File,
    FileOrFolder,
    FormulaText,
    InPieces,
    Json,
    PieceRows,
    TimeUnits,
    by_file,
    is_split_by_file,
    is_streamed,
    note_windows,
    print_problems,
    read_formula,
    read_rule_and_data,
    reads_a_file,
    show_rows,
    warn_of_compiling,
)
from .output import INTERRUPTED, as_json, check_output, complain, table

if TYPE_CHECKING:
    from ..data.streaming import Source
    from ..formula import Formula
    from ..runs.out_of_core import PartitionedVerdicts
    from ..semantics import Score
    from ..semantics.running_metrics import LabelledMetrics
    from ..semantics.stream_evaluation import TraceVerdicts


Write = Callable[[Sequence[str], Any, Any, Sequence[str] | None], None]
"""Takes cases, robustness, verdicts and labels of some traces."""


class Spool:
    """Judged traces on disk until all have come, so that a list of any length takes little memory.

    Only then is it known which of the labels are classes, and that no later row is an error.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115

    def take(self, cases: Sequence[str], values: Any, holds: Any, labels: Sequence[str] | None) -> None:
        words = labels if labels is not None else [None] * len(cases)
        for row in zip(cases, (values + 0.0).tolist(), holds.tolist(), words, strict=True):
            self._file.write(f"{json_lib.dumps(row)}\n")

    def rows(self, metrics: LabelledMetrics) -> Iterator[dict[str, Any]]:
        """All traces, in their order; labels are classes."""
        self._file.seek(0)
        for line in self._file:
            case, value, holds, label = json_lib.loads(line)
            row = {"case": case, "robustness": value, "satisfied": holds}
            yield row | ({"label": metrics.of[label or ""]} if metrics.classes else {})


@contextmanager
def rows_to(out: Path | None) -> Iterator[Write]:
    """A function that writes cases, robustness, verdicts and labels to a CSV file; it does nothing without a file."""
    from ..data.atomic_write import atomic_write
    from ..data.readers.dialect import escape_cell

    if out is None:
        yield lambda *_: None
        return
    with atomic_write(out) as part, open(part, "w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["case", "robustness", "satisfied", "label"])

        def write(cases: Sequence[str], values: Any, holds: Any, labels: Sequence[str] | None) -> None:
            words = map(escape_cell, labels) if labels is not None else [""] * len(cases)
            numbers = (map(repr, (values + 0.0).tolist()), holds.astype(int).tolist())
            writer.writerows(zip(map(escape_cell, cases), *numbers, words, strict=True))

        yield write


def score_json(score: Score) -> dict[str, object]:
    return {
        "mcr": score.mcr, "traces": score.count, "true_good": score.true_good, "false_good": score.false_good,
        "true_bad": score.true_bad, "false_bad": score.false_bad,
    }  # fmt: skip


def counts_text(score: Score, classes: tuple[str, ...]) -> str:
    """The error rate, and what it is made of."""
    bad, good = classes
    return (
        f"MCR {score.mcr:.4f}: {score.false_bad} {good!r} traces violate the rule, "
        f"{score.false_good} {bad!r} traces satisfy it"
    )


def parse_at(at: str, rule: Formula) -> Any:
    """Where to judge, from the word of the command line."""
    from ..formula import direction

    if at.lstrip("-").isdigit():
        return int(at)
    if at not in ("verdict", "first", "last"):
        raise UnsupportedError(f"--at is verdict, first, last or the number of a sample; found {at!r}")
    if at == "verdict" and direction(rule) == "mixed":
        raise UnsupportedError(f"{rule} looks both back and ahead: pass --at first, last or the number of a sample")
    return at


def evaluate_in_pieces(
    text: str, file: str, at: str, time_units: bool, json: bool, options: dict[str, Any], rows: int | None,
    out: Path | None,
) -> int:  # fmt: skip
    """`eval` in pieces. Counts are of all traces; JSON lists all of them, text those that are wrong or close."""
    from ..data.options import suggest_command
    from ..data.streaming import Stream, open_source
    from ..semantics.running_metrics import RunningMetrics
    from ..semantics.stream_evaluation import (
        check_sampling_interval,
        evaluate_stream,
        resolve_source_labels,
        sampling_interval,
    )

    if not time_units:
        note_windows([read_formula(text)], options.get("dt"), options.get("unit"))
    source = open_source(file, options)
    dt = sampling_interval(source) if time_units else None
    rule = read_formula(text, dt, time_units, source.name)
    where = parse_at(at, rule)
    warn_of_compiling()
    spool = Spool() if json else None
    if is_split_by_file(source):
        verdicts = _judge_on_engine(rule, source, where, rows, dt, out, spool)
        if verdicts.problems:
            print_problems(suggest_command("check", [file], options), verdicts.problems)
        read = RowsRead(verdicts.totals.dt, verdicts.totals.unit, verdicts.rows, verdicts.complete)
        return _print_verdicts(rule, verdicts.judged, read, at, spool)
    tally = RunningMetrics()
    stream = Stream(source, rows)
    with rows_to(out) as write, show_rows("judged") as wants_end:
        for batch in evaluate_stream(rule, stream, where):
            tally += batch.tally
            for take in (write, *([] if spool is None else [spool.take])):
                take(batch.lot.cases, batch.robustness, batch.satisfied, batch.lot.labels)
            if wants_end(stream):
                break
    if dt is not None and stream.is_over:
        check_sampling_interval(stream.totals, dt)
    if problems := stream.problems():
        print_problems(suggest_command("check", [file], options), problems)
    read = RowsRead(stream.dt, stream.unit, stream.rows, stream.is_over)
    return _print_verdicts(rule, resolve_source_labels(tally, source), read, at, spool)


class RowsRead(NamedTuple):
    """What is known of the rows besides the verdicts."""

    dt: float | None
    unit: str | None
    rows: int
    is_over: bool = True


def _judge_on_engine(
    rule: Formula, source: Source, where: Any, rows: int | None, dt: float | None, out: Path | None,
    spool: Spool | None,
) -> PartitionedVerdicts:  # fmt: skip
    """File by file, on the engine that is chosen."""
    from ..runs.out_of_core import judge_by_parts
    from ..semantics.stream_evaluation import check_sampling_interval

    with rows_to(out) as write, by_file("judged") as progress:
        takers = [*([] if out is None else [write]), *([] if spool is None else [spool.take])]

        def each(batch: TraceVerdicts) -> None:
            for take in takers:
                take(*batch)

        verdicts = judge_by_parts(rule, source, where, rows, progress=progress, each=each if takers else None)
    if dt is not None and verdicts.complete:
        check_sampling_interval(verdicts.totals, dt)
    return verdicts


def _print_verdicts(rule: Formula, metrics: LabelledMetrics, read: RowsRead, at: str, spool: Spool | None) -> int:
    """Print the verdicts, as JSON where there is a spool; the exit code."""
    _tell_empty(rule, metrics)
    nothing = not read.is_over and not metrics.tally.traces
    if spool is not None:
        _print_json(metrics, read, rule, at, spool)
    elif not nothing:
        _print(metrics, read, rule, at)
    if nothing:
        complain("interrupted before any trace was judged, so there is nothing to say of the rule")
        return INTERRUPTED
    if not read.is_over:
        complain("interrupted: all of the above is of the rows read so far")
        return INTERRUPTED
    return 0 if metrics.tally.satisfied == metrics.tally.traces else 1


def _tell_empty(rule: Formula, metrics: LabelledMetrics) -> None:
    from ..formula.measures import has_calls
    from ..formula.nodes import FUTURE, PAST, walk

    tally, timed = metrics.tally, (node for node in walk(rule) if isinstance(node, (*PAST, *FUTURE)))
    if tally.infinite and any(node.over.start > 0 for node in timed):
        what = "an empty window, or a function that is infinite," if has_calls(rule) else "an empty window"
        complain(
            f"warning: for {tally.infinite} of {tally.traces} traces {what} decides the verdict: the trace "
            "ends before the window starts, which counts as violated for F, O, U, S and as satisfied for G, H, R, T"
        )


def _sentence(rule: Formula, read: RowsRead, at: str) -> str:
    from ..formula import to_sentence

    return to_sentence(rule, read.dt, read.unit) if at == "verdict" else f"Judged at: {at}."


def _print_json(metrics: LabelledMetrics, read: RowsRead, rule: Formula, at: str, spool: Spool) -> None:
    """One JSON object, of which one trace at a time is in memory."""
    tally, score = metrics.tally, metrics.score
    summary = {
        "formula": str(rule), "sentence": _sentence(rule, read, at), "satisfied": tally.satisfied, "streamed": True,
        "complete": read.is_over, "count": tally.traces, "samples": tally.samples,
    } | ({"score": score_json(score)} if score else {})  # fmt: skip
    sys.stdout.write(f'{as_json(summary)[:-1]}, "traces": [')
    for i, row in enumerate(spool.rows(metrics)):
        sys.stdout.write(", " * (i > 0) + as_json(row))
    sys.stdout.write("]}\n")
    sys.stdout.flush()


def _print(metrics: LabelledMetrics, read: RowsRead, rule: Formula, at: str) -> None:
    tally, score = metrics.tally, metrics.score
    typer.echo(f"{rule}\n{_sentence(rule, read, at)}\n")
    labelled = bool(metrics.classes)
    lines = [
        [t.case, t.robustness, "satisfied" if t.satisfied else "violated"]
        + ([t.label, "wrong" if metrics.is_wrong_class(t) else ""] if labelled else [])
        for t in metrics.shown()
    ]
    typer.echo(table(["case", "robustness", "verdict", *(["label", ""] if labelled else [])], lines))
    if tally.traces > len(lines):
        first = "wrong verdicts first, then " if score else ""
        typer.echo(f"({first}the closest calls; --out FILE.csv writes all {tally.traces} traces)")
    typer.echo(f"\nsatisfied by {tally.satisfied} of {tally.traces} traces")
    if score:
        typer.echo(counts_text(score, metrics.classes))
    typer.echo(f"read in pieces: {read.rows:,} rows, {tally.samples:,} samples")
    sys.stdout.flush()


At = Annotated[str, typer.Option(help="verdict, first, last, or the number of a sample.")]
TRACES_SHOWN = 20


@reads_a_file
def evaluate(
    formula: FormulaText,
    file: FileOrFolder,
    at: At = "verdict",
    every: Annotated[bool, typer.Option("--all", help="List every trace, not only the first ones.")] = False,
    time_units: TimeUnits = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write every trace to this CSV file.")] = None,
    stream: InPieces = None,
    piece_rows: PieceRows = None,
    engine: EngineName = None,
    json: Json = False,
    options: Any = None,
) -> int:
    """Judge recorded traces by a formula.

    Prints robustness and verdict of every trace, and the error rate where there are labels. Exits with 1 if any
    violates.

    A folder of Parquet files, and a file larger than memory, is read in pieces. Ctrl-C then gives what was counted.
    """
    check_output(out)
    if is_streamed(file, options, stream):
        if every:
            raise UnsupportedError(
                "--all lists all traces on the screen; of data read in pieces, --out FILE.csv has them"
            )
        return evaluate_in_pieces(formula, file, at, time_units, json, options, piece_rows, out)
    rule, data = read_rule_and_data(formula, file, options, time_units)
    import numpy as np

    from ..data import suggest_command
    from ..formula import to_sentence
    from ..semantics.robustness import robustness, satisfied
    from ..semantics.running_metrics import score_verdicts

    where = parse_at(at, rule)
    values = robustness(rule, data, at=where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say, the line above has said
        verdicts = satisfied(rule, data, at=where)
    labels = [data.classes[int(i)] for i in data.labels] if data.classes and data.labels is not None else None
    score = score_verdicts(verdicts, data.positive) if len(data.classes) == 2 else None
    if out is not None:
        with rows_to(out) as write:
            write(data.cases, values, verdicts, labels)
    sentence = to_sentence(rule, data.dt, data.time_unit) if at == "verdict" else f"Judged at: {at}."
    if json:
        rows = [
            {"case": case, "robustness": value, "satisfied": verdict} | ({"label": labels[i]} if labels else {})
            for i, (case, value, verdict) in enumerate(zip(data.cases, values, verdicts, strict=True))
        ]
        summary = {"formula": str(rule), "sentence": sentence, "satisfied": int(verdicts.sum()), "traces": rows}
        typer.echo(as_json(summary | ({"score": score_json(score)} if score else {})))
    else:
        typer.echo(f"{rule}\n{sentence}\n")
        wrong = verdicts != data.positive if score else np.zeros(len(data), bool)
        order = (
            range(len(data)) if every or len(data) <= TRACES_SHOWN else np.lexsort((abs(values), ~wrong))[:TRACES_SHOWN]
        )
        lines = [
            [data.cases[i], float(values[i]), "satisfied" if verdicts[i] else "violated"]
            + ([labels[i], "wrong" if wrong[i] else ""] if labels else [])
            for i in order
        ]
        typer.echo(table(["case", "robustness", "verdict", *(["label", ""] if labels else [])], lines))
        if len(data) > len(lines):
            first = "wrong verdicts first, then " if score else ""
            typer.echo(f"({first}the closest calls; --all lists all {len(data)} traces)")
        typer.echo(f"\nsatisfied by {int(verdicts.sum())} of {len(data)} traces")
        if score:
            typer.echo(counts_text(score, data.classes))
        case = lines[0][0] if wrong.any() else data.cases[int(values.argmin())]
        flags = [*(["--time-units"] if time_units else []), *(["--at", at] if at != "verdict" else [])]
        why = suggest_command("explain", [formula, file], options, ["--case", str(case), *flags])
        typer.echo(f"why? {why}")
    return 0 if verdicts.all() else 1


@reads_a_file
def explain(
    formula: FormulaText,
    file: File,
    case: Annotated[str, typer.Option("--case", help="The id of the trace.")],
    at: At = "verdict",
    time_units: TimeUnits = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """Show why a trace satisfies or violates a formula.

    Names the sample that decides, and the way to it.
    """
    rule, data = read_rule_and_data(formula, file, options, time_units)
    from ..formula import to_sentence
    from ..semantics.explain import explain_case

    explanation = explain_case(rule, data, case, parse_at(at, rule))
    if json:
        typer.echo(as_json(explanation.to_json()))
    else:
        word = "satisfies" if explanation.satisfied else "violates"
        typer.echo(f"case {explanation.case} {word} {rule}\n{to_sentence(rule, data.dt, data.time_unit)}\n")
        if explanation.witness is not None:
            path = [["  " * i + str(part), t, value] for i, (part, t, value) in enumerate(explanation.path)]
            typer.echo(f"{table(['formula', 'sample', 'robustness'], path)}\n")
        typer.echo(explanation.conclusion)
    return 0 if explanation.satisfied else 1
