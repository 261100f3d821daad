"""Rules for classes: what was learned, and the command that applies them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import as_json, counted, table
from .progress import clock
from .reading import Json, warned
from .result import to_try, told_suggestions

if TYPE_CHECKING:
    from ..data import Dataset
    from ..evaluation import Detection
    from ..learners.classes import Decides, Envelope, PerClass, RankRule, RuleList
    from ..runs import RulesOutcome

SHOWN = 20


def printed_rules(done: RulesOutcome, report: Path | None = None) -> str:
    """The rules with their errors, in words, and who is taken for whom."""
    train, held = done.job.parts
    tested = train if held is None else held
    rules, data = done.rules, done.job.data
    lines = [rules_table(rules, train, held), "", *rules.sentences(data.dt, data.time_unit)]
    if rules.kind != "one":
        lines += ["", confusion_table(rules, tested, "training" if held is None else "test")]
    doubt = _refusal(done)
    lines += [
        "",
        *([doubt, *_to_try(done), ""] if doubt else []),
        *_notes(done),
        *([f"report: {report}"] if report else []),
        "",
    ]
    lines += ["next:", *(f"  {command}" for command in _next(done))]
    return "\n".join(lines)


def told_rules(done: RulesOutcome, report: Path | None = None) -> dict[str, Any]:
    """All of it as plain data."""
    from ..learners.classes import confusion

    train, held = done.job.parts
    rules, data = done.rules, done.job.data
    told: dict[str, Any] = {
        "rules": rules.to_json(), "text": str(rules), "sentences": rules.sentences(data.dt, data.time_unit),
        "train": done.train, "test": done.test, "learned_on": done.cases[0], "tested_on": done.cases[1],
        "seed": done.job.settings["split"]["seed"], "ended": done.ended, "seconds": round(done.seconds, 3),
        "notes": list(done.notes),
        "run": None if done.job.run is None else str(done.job.run.folder), "next": _next(done),
    }  # fmt: skip
    if rules.kind != "one":
        told["classes"] = list(rules.classes)
        told["confusion"] = confusion(rules, train if held is None else held).tolist()
    else:
        told["detection"] = _detection(done).to_json()
    doubt = _refusal(done)
    told |= {"refusal": doubt, "suggestions": told_suggestions(done.job) if doubt else []}
    return told | {"report": None if report is None else str(report)}


def _refusal(done: RulesOutcome) -> str | None:
    """Why the rules should not be used; None if no reason is known."""
    from ..evaluation import evaluate_outcome

    found = evaluate_outcome(done)
    return None if found is None else found.refusal


def _to_try(done: RulesOutcome) -> list[str]:
    """Of one class with faults at hand, first of all a rule that is learned from both."""
    from ..data import suggest_command

    lines = to_try(done.job)
    if done.rules.kind == "one" and len(done.job.data.classes) == 2:
        both = suggest_command("learn", [done.job.file], done.job.reading)
        lines[1:1] = ["- a rule that tells good from bad, learned from both", f"    {both}"]
    return lines


def _detection(done: RulesOutcome) -> Detection:
    from ..evaluation import evaluate_detection

    train, held = done.job.parts
    rules: Any = done.rules
    return evaluate_detection(rules, train, held)


def rules_table(rules: Any, train: Dataset, held: Dataset | None) -> str:
    """A row a rule, with how often it is wrong, counted exactly."""
    ways: dict[str, Any] = {"each": _each, "list": _listed, "one": _tight, "ranked": _ranked}
    return str(ways[rules.kind](rules, train, held))


def _each(rules: PerClass, train: Dataset, held: Dataset | None) -> str:
    from ..data import one_vs_rest
    from ..semantics import score

    parts = [train] if held is None else [train, held]
    titles = ["class", "length", "train", *([] if held is None else ["test"]), "formula"]
    rows: list[list[object]] = []
    for rule in rules.rules:
        errors = [f"{score(rule.formula, one_vs_rest(part, rule.name)).mcr:.4f}" for part in parts]
        rows.append([rule.name, str(rule.length), *errors, str(rule.formula)])
    rows += [[rules.otherwise, "", *[""] * len(parts), "none of these"]] * (rules.otherwise is not None)
    return table(titles, rows)


def _listed(rules: RuleList, train: Dataset, held: Dataset | None) -> str:
    """With how many of the traces that a rule decides are of its class."""
    parts = [train] if held is None else [train, held]
    titles = ["", "class", "length", "train", *([] if held is None else ["test"]), "formula"]
    rows: list[list[object]] = []
    for i, rule in enumerate(rules.rules):
        errors = [_right(rules, part, i) for part in parts]
        word = "if" if i == 0 else "else if"
        rows.append([word, rule.name, str(rule.length), *errors, str(rule.formula)])
    last = [_right(rules, part, len(rules.rules)) for part in parts]
    return table(titles, [*rows, ["else", rules.otherwise, "", *last, ""]])


def _right(rules: RuleList, data: Dataset, number: int) -> str:
    """`9 of 10`: how many of the traces that a rule decides are of its class."""
    from ..learners.classes.rules import known_labels

    decided = rules.decided_by(data) == number
    right = rules.classify(data)[decided] == known_labels(data, rules.classes)[decided]
    return f"{int(right.sum())} of {int(decided.sum())}"


def _tight(rules: Envelope, train: Dataset, held: Dataset | None) -> str:
    return str(rules)


def _ranked(rules: RankRule, train: Dataset, held: Dataset | None) -> str:
    from .result import front_table

    return f"{front_table(rules.front, None)}\n\n{rules}"


def confusion_table(rules: Decides, data: Dataset, what: str) -> str:
    """A row a class that traces have, a column a class that they get."""
    from ..learners.classes import confusion

    counts = confusion(rules, data)
    rows = [[name, *map(str, counts[i])] for i, name in enumerate(rules.classes)]
    return table([f"{what} traces, by class", *(f"as {name}" for name in rules.classes)], rows)


def _notes(done: RulesOutcome) -> list[str]:
    learned, tested = done.cases
    lines = [f"learned on {counted(learned, 'trace')} in {clock(done.seconds)}"]
    lines[0] += f", tested on {tested} others" if tested else "; no test error is known (--test 0)"
    error = "share of traces misclassified"
    if done.rules.kind == "one":
        error = "share on the wrong side (the bad belong outside)" if done.job.data.classes[1:] else "share outside"
    test = "" if done.test is None else f", test {done.test:.4f}"
    lines.append(f"error: {error}: train {done.train:.4f}{test}")
    if done.rules.kind == "ranked":
        train, held = done.job.parts
        rule: Any = done.rules
        more = "" if held is None else f", test {rule.distance(held):.4f}"
        lines.append(f"mean difference of rank: train {rule.distance(train):.4f}{more}")
    if done.rules.kind == "one":
        lines += _detection(done).lines()
        lines.append(f"excluded: share of artificial variants that a formula rejects; {_lengths(done)}")
    lines += done.notes
    if done.job.run is not None:
        lines.append(f"run: {done.job.run.folder}")
    why = {"interrupted": "interrupted, the best so far is kept", "time limit": "stopped at the time limit"}
    if done.ended in why and done.job.run is not None:
        from ..runs import resume_command

        again = resume_command(done.job.run.folder)
        lines.append(f"{why[done.ended]}; to go on: {again}")
    return lines


def _lengths(done: RulesOutcome) -> str:
    """What bounds the length of a rule of one class."""
    chosen = done.job.settings["learner"]
    if not chosen.get("ranges", False):
        return f"formulas have at most {chosen['max_length']} parts"
    many = counted(done.job.data.n_channels, "channel")
    return (
        f"every rule begins with the range of each of the {many} ({4 * done.job.data.n_channels} parts), "
        f"--max-length {chosen['max_length']} is of what is added to them"
    )


def _next(done: RulesOutcome) -> list[str]:
    from ..data import suggest_command
    from .result import live_commands

    run, commands = done.job.run, []
    if run is not None:
        commands.append(suggest_command("classify", [str(run.folder), done.job.file]))
    tight: Any = done.rules
    if done.rules.kind == "one":
        commands += live_commands(str(tight.formula), done.job.data, done.job.reading)[:1]
    return commands


def classify(
    run: Annotated[Path, typer.Argument(help="The folder of a run with rules for classes.", metavar="RUN")],
    file: Annotated[str, typer.Argument(help="Recordings, with or without labels.", metavar="FILE")],
    every: Annotated[bool, typer.Option("--all", help="List every trace, not only the first ones.")] = False,
    json: Json = False,
) -> int:
    """Give each trace its class by learned rules; the error and who is taken for whom where there are labels.

    The file is read as the data of the run were. Exits with 1 if a trace is outside of a rule for one class.
    """
    from ..data import read_input
    from ..learners.classes import confusion
    from ..runs import Run, load_rules, reading_options

    kept = Run.open(run)
    rules, _ = load_rules(kept)
    data = read_input(file, reading_options(kept.settings, file), warned)
    names = rules.names(data)
    labels = [data.classes[int(i)] for i in data.labels] if data.classes and data.labels is not None else None
    comparable = labels is not None and rules.kind != "one" and set(labels) <= set(rules.classes)
    if json:
        rows = [
            {"case": case, "class": name} | ({"label": labels[i]} if labels else {})
            for i, (case, name) in enumerate(zip(data.cases, names, strict=True))
        ]
        told: dict[str, Any] = {"text": str(rules), "classes": list(rules.classes), "traces": rows}
        if comparable:
            told |= {"error": rules.error(data), "confusion": confusion(rules, data).tolist()}
        typer.echo(as_json(told))
    else:
        wrong = [comparable and labels is not None and name != labels[i] for i, name in enumerate(names)]
        shown = range(len(data)) if every else sorted(range(len(data)), key=lambda i: not wrong[i])[:SHOWN]
        lines = [
            [data.cases[i], names[i], *([labels[i], "wrong" if wrong[i] else ""] if labels else [])] for i in shown
        ]
        typer.echo(f"{rules}\n\n{table(['case', 'class', *(['label', ''] if labels else [])], lines)}")
        if len(lines) < len(data):
            typer.echo(f"({'wrong ones first; ' * comparable}--all lists all {len(data)} traces)")
        counts = ", ".join(f"{names.count(name)} {name}" for name in rules.classes)
        typer.echo(f"\n{counted(len(data), 'trace')}: {counts}")
        if comparable:
            typer.echo(f"error {rules.error(data):.4f}\n\n{confusion_table(rules, data, 'all')}")
    return 1 if rules.kind == "one" and "outside" in names else 0
