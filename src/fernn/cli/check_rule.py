"""Commands that check a learned rule: `rivals`, `believe`, `equiv`, `ask`, `certify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .common_options import (
    EngineName,
    File,
    Json,
    StepOption,
    TimeUnits,
    UnitOption,
    note_windows,
    print_problems,
    read_formula,
    reads_a_file,
    recording,
    show_units,
    warn_of_windows,
)
from .learn import Quiet
from .output import as_json, check_output, complain, count_of, table

if TYPE_CHECKING:
    from ..data import Dataset
    from ..evaluation import RashomonSet, Relation
    from ..formula.expressions import Weights
    from ..mining import Query, QuerySession
    from ..runs import Run


RIVALS_SHOWN = 10
RunFolder = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")]


def rivals(
    run: RunFolder,
    tolerance: Annotated[
        float | None, typer.Option(help="How much more a rival may err, as a share (the run's).", min=0, max=1)
    ] = None,
    prove: Annotated[
        int, typer.Option(help="Tell rivals apart on all traces of up to so many samples (needs z3).", min=0)
    ] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for proofs, at most.", min=0)] = 20.0,
    seeds: Annotated[int, typer.Option(help="Learn again from so many other seeds, for more rivals.", min=0)] = 0,
    engine: EngineName = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Show other rules that explain the data of a run as well.

    Says where they disagree with the one that was picked, and which trace would decide.
    """
    from ..data import suggest_command
    from ..evaluation import rashomon_set
    from ..evaluation.rashomon import save_question, with_equivalence_classes
    from ..runs import load_job
    from ..runs.rivals import candidates, try_seeds

    job = load_job(run, warned=print_problems)
    assert job.run is not None
    train, _ = job.parts
    if seeds:
        with show_units(quiet) as progress:
            try_seeds(job, seeds, lambda done, of: progress("seeds", done, of))
    formulas, are_all = candidates(job.run, train, tolerance)
    rivals = rashomon_set(formulas, job.data, are_all)
    folder = job.run.folder if tolerance is None else None
    rivals = with_equivalence_classes(rivals, prove, time_limit, folder) if prove else rivals
    question = rivals.decisive()
    if folder is not None:
        save_question(rivals, question, folder)  # the report shows it
    warn_of_windows([group.formula for group in rivals.groups[:RIVALS_SHOWN]], job.data)
    if json:
        deciding: dict[str, Any] | None = None
        if question is not None:
            deciding = {"origin": question.origin, "changed": [list(at) for at in question.changed]}
            deciding |= {"trace": question.trace.tolist(), "good": len(question.good), "bad": len(question.bad)}
        typer.echo(as_json(rivals.to_json() | {"decisive": deciding}))
        return 0
    typer.echo(_rivals_text(rivals, prove))
    if question is not None:
        votes = f"{len(question.good)} call it {job.data.classes[1]}, {len(question.bad)} {job.data.classes[0]}"
        where = f"a trace made from {question.origin} ({count_of(len(question.changed), 'sample')} changed)"
        typer.echo(f"\nWhat would decide: {where if question.is_made else question.origin}; {votes}.")
        typer.echo(f"next: {suggest_command('ask', [str(run)])}")
    if not are_all:
        further = "; --seeds 10 looks further" if job.settings["method"] == "fernn" and not seeds else ""
        only = "only --method enumerative with --exhaust goes through all formulas of a space"
        complain(f"there may be more: {only}{further}")
    return 0


def _rivals_text(rivals: RashomonSet, prove: int) -> str:
    rows = []
    for number, group in enumerate(rivals.groups[:RIVALS_SHOWN], 1):
        meanings = [] if not prove else ["?" if group.meanings is None else str(group.meanings)]
        rows.append([number, len(group.formulas), *meanings, f"{group.error:.4f}", str(group.formula)])
    titles = ["group", "formulas", *(["meanings"] if prove else []), "error on all", "the simplest of them"]
    lines = [rivals.told(), "", table(titles, rows)]
    if len(rivals.groups) > RIVALS_SHOWN:
        lines.append(f"... and {len(rivals.groups) - RIVALS_SHOWN} groups more (--json has all)")
    shared = [[f"{each.share:.0%}", each.what] for each in rivals.atoms[:RIVALS_SHOWN]]
    lines += ["", table(["in", "what is compared"], shared)]
    if rivals.disputed:
        disputed = [[case, f"{share:.0%}"] for case, share in rivals.disputed[:RIVALS_SHOWN]]
        lines += ["", table(["disputed trace", f"groups that call it {rivals.data.classes[1]}"], disputed)]
    return "\n".join(lines)


def believe(
    run: RunFolder,
    shuffles: Annotated[
        int, typer.Option(help="Learn from so many shuffles of the labels: would chance do as well?", min=0)
    ] = 0,
    bootstraps: Annotated[
        int, typer.Option(help="Learn from so many drawings of the traces: is the rule stable?", min=0)
    ] = 0,
    folds: Annotated[int, typer.Option(help="Nested cross-validation with so many folds.", min=0)] = 0,
    seconds: Annotated[
        float | None, typer.Option(help="For each of these fits, at most (as long as the run took).", min=0)
    ] = None,
    engine: EngineName = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Say what speaks for and against the rule of a run. Exits with 1 if it should not be believed.

    What is learned again is kept in the run: Ctrl-C loses nothing, and the same command goes on.
    """
    from ..errors import UnsupportedError
    from ..evaluation import assess
    from ..runs import load_job

    if folds == 1:
        raise UnsupportedError("--folds is 0 for none, or 2 and more; found 1")
    job = load_job(run, warned=print_problems)
    with show_units(quiet) as progress:
        assessment = assess(job, shuffles, bootstraps, folds, seconds, progress)
    warn_of_windows([assessment.formula], job.data)
    if json:
        typer.echo(as_json(assessment.to_json()))
    else:
        typer.echo("\n".join([str(assessment.formula), "", *assessment.lines()]))
        for each in assessment.suggestions if assessment.refusal else ():
            if each.command:
                typer.echo(f"    {each.command}")
    return 1 if assessment.refusal else 0


UNSETTLED = 4
"""The exit code of `equiv` where neither is proved."""


def equiv(
    first: Annotated[str, typer.Argument(help="A formula.", metavar="F1")],
    second: Annotated[str, typer.Argument(help="Another one.", metavar="F2")],
    length: Annotated[
        int | None,
        typer.Option("--length", "-T", help="Of the longest traces to look at; else as windows need.", min=1),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds, at most.", min=0)] = 60.0,
    exact: Annotated[bool, typer.Option("--exact", help="Compare sums as floats, which takes long.")] = False,
    dt: StepOption = None,
    unit: UnitOption = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Whether two formulas say the same of every trace up to a length; else the shortest trace that shows it.

    Exits with 0 if they do, with 1 if not, and with 4 where that is not settled: if they are the same up to rounding
    only, or were compared on shorter traces than windows reach. Needs fernn[verify], unless a law tells.
    """
    from ..evaluation import relate
    from ..formula.expressions import time_step

    one, two = (read_formula(text, dt, time_units) for text in (first, second))
    if not time_units:
        note_windows([one, two], dt, unit)
    relation = relate(one, two, length, time_limit=time_limit, exact=exact, step=time_step(dt, unit))
    if json:
        summary: dict[str, Any] = {"first": str(relation.first), "second": str(relation.second)}
        typer.echo(as_json(summary | relation.to_json()))
    else:
        typer.echo(_relation_text(relation))
    if relation.only_first is not None or relation.only_second is not None:
        return 1
    return 0 if relation.is_equivalent and relation.is_covered else UNSETTLED


def _relation_text(relation: Relation) -> str:
    lines = [str(relation), *relation.caveats]
    if relation.rounded is not None:
        lines += ["", "rounding makes their verdicts differ here:"]
        rows = [[sample, *map(repr, values)] for sample, values in enumerate(relation.rounded.T.tolist())]
        lines.append(table(["sample", *relation.channels], rows))
    for trace, holds, fails in (
        (relation.only_first, relation.first, relation.second),
        (relation.only_second, relation.second, relation.first),
    ):
        if trace is not None:
            lines += ["", f"satisfies {holds}, violates {fails}:"]
            rows = [[sample, *map(repr, values)] for sample, values in enumerate(trace.T.tolist())]
            lines.append(table(["sample", *relation.channels], rows))
    return "\n".join(lines)


QUESTIONS_SHOWN = 3
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
    """Find out which of several equally good rules you mean.

    You judge traces on which they differ.
    Answers come from the terminal or, one a line, from standard input. They are kept in the run; the command goes on
    where it was left.
    """
    from ..data import write_csv
    from ..mining import QueryAnswer, QuerySession
    from ..runs import load_job, reading_options
    from ..runs.rivals import append_answer, candidates, load_transcript, remove_last_answer, save_answers

    check_output(output)
    job = load_job(run, warned=print_problems)
    stored, (train, _) = job.run, job.parts
    assert stored is not None
    unjudged = None if pool is None else recording(pool, reading_options(stored.settings, pool) | {"label": None})
    if anew:
        (stored.folder / "asked.jsonl").unlink(missing_ok=True)
    if back:
        remove_last_answer(stored)
    rules, are_all = candidates(stored, train, tolerance)
    session = QuerySession(rules, train, unjudged, load_transcript(stored))

    def answer(question: Query) -> bool | Literal["back"] | None:
        if not json:
            typer.echo(_question_text(question, session, train))
        word = _read_answer(json, train.classes)
        if word in ("q", None):
            raise KeyboardInterrupt
        if word == "u":
            remove_last_answer(stored)
            return "back"
        verdict = {"g": True, "b": False}.get(word or "")
        append_answer(stored, QueryAnswer(question, verdict))
        return verdict

    result = session.run(answer, most)
    where = save_answers(stored, result)
    warn_of_windows([result.formula], train)
    if not are_all:
        complain("there may be other rules that fit as well: only those that this run kept were asked about")
    answered = result.traces(train)
    if output is not None and answered is not None:
        write_csv(answered, output)
    if json:
        summary: dict[str, Any] = {"formula": str(result.formula), "left": [str(f) for f in result.left]}
        summary |= {"ended": result.ended, "proved": result.is_proved, "questions": len(result.transcript)}
        typer.echo(as_json(summary | {"disagreements": result.disagreements, "kept": str(where)}))
    else:
        typer.echo(_answers_text(result, stored, train, where))
    return 0


def _read_answer(quiet: bool, classes: tuple[str, ...]) -> str | None:
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


def _question_text(question: Query, session: QuerySession, data: Dataset) -> str:
    """The trace, and what the rules say of it."""
    from ..data import Dataset
    from ..formula import Atom, walk
    from ..formula.measures import quantity
    from ..report.quantities import channel_quantity, quantity_name, quantity_rows
    from .text_plot import trace_picture

    left = session.left
    number = len(session.answers) + 1
    bad, good = data.classes
    head = f"\n{count_of(len(left), 'rule')} left. Question {number}: is this run {good} or {bad}?"
    origin = f"made from {question.origin}, {count_of(len(question.changed), 'sample')} changed"
    lines = [head, origin if question.is_made else f"recorded: {question.origin}", ""]
    thresholds: dict[Weights, list[float]] = {}
    for formula in left:
        for node in walk(formula):
            if isinstance(node, Atom):
                compared, factor = quantity(node)
                thresholds.setdefault(compared, []).append(node.threshold / factor)
    moved = [channel_quantity(data.channels[channel]) for channel, _ in question.changed]
    alone = Dataset(question.trace[None], None, (), data.channels, data.dt, data.time_unit)
    for compared in list(dict.fromkeys([*moved, *(thresholds or map(channel_quantity, data.channels))]))[:2]:
        name, (row,) = quantity_name(compared), quantity_rows(alone, compared)
        changed = sorted({sample for channel, sample in question.changed if data.channels[channel] == name})
        lines += [trace_picture(row, changed, name, sorted(set(thresholds.get(compared, []))), data), ""]
    for verdict, formulas in ((good, question.good), (bad, question.bad)):
        lines += [f"{verdict}, say:", *(f"    {formula}" for formula in formulas[:QUESTIONS_SHOWN])]
        lines += [f"    and {len(formulas) - QUESTIONS_SHOWN} more"] * (len(formulas) > QUESTIONS_SHOWN)
    return "\n".join(lines)


def _answers_text(result: Any, run: Run, data: Dataset, where: Path) -> str:
    from ..data import suggest_command
    from ..formula import to_sentence
    from ..runs import reading_options

    reasons = {
        "decided": "one rule is left" if len(result.left) == 1 else "the rules left judge all such traces alike",
        "stopped": f"{count_of(len(result.left), 'rule')} left",
        "undecided": f"{count_of(len(result.left), 'rule')} left; no trace was found that tells them apart",
    }
    lines = ["", f"{reasons[result.ended]}, after {count_of(len(result.transcript), 'question')}:"]
    lines += [f"    {formula}" for formula in result.left[:10]]
    if result.disagreements:
        lines.append(f"no rule agrees with all answers; these disagree with {result.disagreements}")
    lines += ["", to_sentence(result.formula, data.dt, data.time_unit), f"kept in {where}", "", "next:"]
    file = str(run.settings["file"])
    following = suggest_command("eval", [str(result.formula), file], reading_options(run.settings, file))
    return "\n".join([*lines, f"  {following}"])


@reads_a_file
def certify(
    certificate: Annotated[str, typer.Argument(help="A certificate.json, or the folder of a run.", metavar="CERT")],
    file: File,
    samples: Annotated[int, typer.Option(help="Formulas drawn from spaces too large to go through.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Of the draw.", min=0)] = 0,
    json: Json = False,
    options: Any = None,
) -> int:
    """Check that no formula of a certificate's space makes fewer errors on the data than it says.

    Spaces of up to 200,000 formulas (20,000 of a template) are checked whole: then the certificate stands or is wrong.
    Of larger ones formulas are drawn at random: then it is wrong or not refuted, which is no proof. The file is read
    as it was for learning, unless reading options are given.
    """
    from ..data import flags
    from ..learners.enumerative.audit import audit
    from ..learners.enumerative.certificate import describe_space
    from ..runs.job import read_certificate, select_certified

    proof = read_certificate(certificate)
    if not flags(options):
        options = proof.content.get("reading") or options
    data = recording(file, options)
    part = select_certified(proof, data)
    check = audit(proof, part, samples, seed)
    if json:
        summary: dict[str, Any] = {"verdict": check.verdict, "stands": check.stands, "statement": proof.statement}
        summary |= {"space": describe_space(proof.content), "cases": len(part), "of": len(data)}
        summary |= {"looked_at": check.looked_at, "all": check.whole, "formulas": check.size}
        typer.echo(as_json({**summary, "problems": list(check.problems)}))
    else:
        typer.echo(f"It says: {proof.statement}")
        typer.echo(f"about: {describe_space(proof.content)}")
        typer.echo(f"data: {len(part)} of the {len(data)} traces of {data.name}{_how(options)}")
        for problem in check.problems:
            typer.echo(f"wrong: {problem}")
        if not check.problems:
            typer.echo(check.sentence)
    return 1 if check.problems else 0


def _how(options: Any) -> str:
    """The options that the file is read with, where they are not the usual ones."""
    from ..data import flags

    words = flags(options or {})
    return f", read with {' '.join(words)}" if words else ""
