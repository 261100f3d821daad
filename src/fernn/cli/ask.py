"""The command that asks which of several rules is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .output import as_json, check_output, complain, counted
from .reading import Json, recording, warn_of_windows, warned

if TYPE_CHECKING:
    from ..data import Dataset
    from ..mining import Query, QuerySession
    from ..runs import Run

SHOWN = 3
"""Formulas told of each side."""
KEYS = "g good, b bad, enter cannot say, u take the last answer back, q stop"


def ask(
    run: Annotated[str, typer.Argument(help="The folder of a run.", metavar="RUN")],
    pool: Annotated[str | None, typer.Option(help="A file of traces that nobody has judged, to ask about.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="How much worse than the best a rule may be; as in the run.", min=0)
    ] = None,
    most: Annotated[int, typer.Option(help="Questions, at most.", min=1)] = 50,
    back: Annotated[bool, typer.Option("--back", help="First take back the last answer given.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Forget the answers given before.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the judged traces, .csv.")] = None,
    json: Json = False,
) -> int:
    """Tell rules apart that fit the data equally well: you judge traces on which they differ.

    Answers come from the terminal or, one a line, from standard input. They are kept in the run; the command goes on
    where it was left.
    """
    from ..data import write_csv
    from ..mining import QueryAnswer, QuerySession
    from ..runs import load_job, reading_options
    from ..runs.rivals import append_answer, candidates, load_transcript, remove_last_answer, save_answers

    check_output(output)
    job = load_job(run, warned=warned)
    found, (train, _) = job.run, job.parts
    assert found is not None
    unjudged = None if pool is None else recording(pool, reading_options(found.settings, pool) | {"label": None})
    if anew:
        (found.folder / "asked.jsonl").unlink(missing_ok=True)
    if back:
        remove_last_answer(found)
    rules, are_all = candidates(found, train, tolerance)
    session = QuerySession(rules, train, unjudged, load_transcript(found))

    def answer(question: Query) -> bool | Literal["back"] | None:
        if not json:
            typer.echo(_told(question, session, train))
        word = _word(json, train.classes)
        if word in ("q", None):
            raise KeyboardInterrupt
        if word == "u":
            remove_last_answer(found)
            return "back"
        said = {"g": True, "b": False}.get(word or "")
        append_answer(found, QueryAnswer(question, said))
        return said

    asked = session.run(answer, most)
    where = save_answers(found, asked)
    warn_of_windows([asked.formula], train)
    if not are_all:
        complain("there may be other rules that fit as well: only those that this run kept were asked about")
    judged = asked.traces(train)
    if output is not None and judged is not None:
        write_csv(judged, output)
    if json:
        told: dict[str, Any] = {"formula": str(asked.formula), "left": [str(f) for f in asked.left]}
        told |= {"ended": asked.ended, "proved": asked.is_proved, "questions": len(asked.transcript)}
        typer.echo(as_json(told | {"disagreements": asked.disagreements, "kept": str(where)}))
    else:
        typer.echo(_outcome(asked, found, train, where))
    return 0


def _word(quiet: bool, classes: tuple[str, ...]) -> str | None:
    """One of g, b, u, q, or nothing for `cannot say`; None at the end of input."""
    while True:
        try:
            word = input("" if quiet else f"{classes[1]} or {classes[0]}? ({KEYS}) ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return None
        names = {classes[1].lower(): "g", classes[0].lower(): "b", "good": "g", "bad": "b", "?": ""}
        if names.get(word, word) in ("g", "b", "u", "q", ""):
            return names.get(word, word)
        complain(f"found {word!r}; answer with {KEYS}")


def _told(question: Query, session: QuerySession, data: Dataset) -> str:
    """The trace, and what the rules say of it."""
    from ..formula import Atom, walk
    from .picture import trace_picture

    left = session.left
    number = len(session.answers) + 1
    bad, good = data.classes
    head = f"\n{counted(len(left), 'rule')} left. Question {number}: is this run {good} or {bad}?"
    made = f"made from {question.origin}, {counted(len(question.changed), 'sample')} changed"
    lines = [head, made if question.is_made else f"recorded: {question.origin}", ""]
    read: dict[str, list[float]] = {}
    for formula in left:
        for node in walk(formula):
            if isinstance(node, Atom) and len(node.weights) == 1:
                read.setdefault(node.weights[0][0], []).append(node.threshold / node.weights[0][1])
    moved = [data.channels[channel] for channel, _ in question.changed]
    for name in list(dict.fromkeys([*moved, *(read or data.channels)]))[:2]:
        row = data.channels.index(name)
        changed = [sample for channel, sample in question.changed if channel == row]
        lines += [trace_picture(question.trace[row], changed, name, sorted(set(read.get(name, []))), data), ""]
    for verdict, formulas in ((good, question.good), (bad, question.bad)):
        lines += [f"{verdict}, say:", *(f"    {formula}" for formula in formulas[:SHOWN])]
        lines += [f"    and {len(formulas) - SHOWN} more"] * (len(formulas) > SHOWN)
    return "\n".join(lines)


def _outcome(asked: Any, run: Run, data: Dataset, where: Path) -> str:
    from ..data import suggest_command
    from ..formula import to_sentence
    from ..runs import reading_options

    reasons = {
        "decided": "one rule is left" if len(asked.left) == 1 else "the rules left judge all such traces alike",
        "stopped": f"{counted(len(asked.left), 'rule')} left",
        "undecided": f"{counted(len(asked.left), 'rule')} left; no trace was found that tells them apart",
    }
    lines = ["", f"{reasons[asked.ended]}, after {counted(len(asked.transcript), 'question')}:"]
    lines += [f"    {formula}" for formula in asked.left[:10]]
    if asked.disagreements:
        lines.append(f"no rule agrees with all answers; these disagree with {asked.disagreements}")
    lines += ["", to_sentence(asked.formula, data.dt, data.time_unit), f"kept in {where}", "", "next:"]
    file = str(run.settings["file"])
    following = suggest_command("eval", [str(asked.formula), file], reading_options(run.settings, file))
    return "\n".join([*lines, f"  {following}"])
