"""Results of learning as tables and as JSON, with the commands to type next; `classify` applies rules for classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import Json, print_problems
from .output import as_json, count_of, table
from .progress import duration_text

if TYPE_CHECKING:
    from ..data import Dataset
    from ..evaluation import Detection, HoldoutTest
    from ..formula import Formula
    from ..learners import Front
    from ..learners.classes import Decides, PerClass, RuleList
    from ..runs import Job, Outcome, RulesOutcome
    from ..runs.command import Suggestion


MEASURES = {"mcr": "share of traces judged wrongly", "mae": "mean absolute error"}
EARLY_ENDS = {"interrupted": "interrupted, the best so far is kept", "time limit": "stopped at the time limit"}


def result_text(outcome: Outcome, picture: str = "", report: Path | None = None) -> str:
    """The front from simple to accurate, the picked rule in words, and the next commands."""
    words = sentence(outcome, outcome.front.picked.formula)
    front = front_table(outcome.front, outcome.test)
    doubt = refusal(outcome)
    doubts = [doubt, *to_try(outcome.job), ""] if doubt else []
    lines = [front, "", words, "", *doubts, *([picture, ""] if picture else [])]
    lines += [*_notes(outcome, report), "", "next:"]
    return "\n".join([*lines, *(f"  {command}" for command in commands(outcome))])


def result_json(outcome: Outcome, report: Path | None = None) -> dict[str, Any]:
    """All of it as plain data."""
    rows = outcome.front.to_json()["entries"]
    for i, (row, entry) in enumerate(zip(rows, outcome.front, strict=True)):
        row |= {"test": None if outcome.test is None else outcome.test[i], "picked": i == outcome.front.pick}
        row["sentence"] = sentence(outcome, entry.formula)
    picked = rows[outcome.front.pick]
    test = holdout_test(outcome)
    return {
        "formula": picked["formula"], "sentence": picked["sentence"], "front": rows, "measure": _measure(outcome),
        "learned_on": outcome.cases[0], "tested_on": outcome.cases[1], "seed": outcome.job.settings["split"]["seed"],
        "tested": None if test is None else test.to_json(), "refusal": None if test is None else test.refusal,
        "suggestions": suggestions_json(outcome.job) if test is not None and test.refusal else [],
        "notes": list(outcome.notes), "ended": outcome.ended, "seconds": round(outcome.seconds, 3),
        "run": None if outcome.job.run is None else str(outcome.job.run.folder),
        "report": None if report is None else str(report), "resume": resume_command(outcome),
        "next": commands(outcome),
    }  # fmt: skip


def holdout_test(outcome: Outcome) -> HoldoutTest | None:
    """The picked rule beside chance and guessing; None without a test, or with real labels."""
    from ..evaluation import HoldoutTest, evaluate_outcome

    test = evaluate_outcome(outcome)
    return test if isinstance(test, HoldoutTest) else None


def to_try(job: Job) -> list[str]:
    """What to try where nothing better than chance is shown, each as a command to paste."""
    lines = ["What to try, one at a time:"]
    for each in suggestions_of(job):
        lines += [f"- {each.what}", *([f"    {each.command}"] if each.command else [])]
    warning = "The more is tried, the likelier something fits by chance: check what you find on runs recorded later."
    return [*lines, warning]


def suggestions_of(job: Job) -> tuple[Suggestion, ...]:
    from ..runs.command import suggestions

    return suggestions(job.settings, job.data, job.file)


def suggestions_json(job: Job) -> list[dict[str, str | None]]:
    return [each.to_json() for each in suggestions_of(job)]


def refusal(outcome: Outcome) -> str | None:
    """Why the picked rule should not be used; None if no reason is known."""
    test = holdout_test(outcome)
    return None if test is None else test.refusal


def front_table(front: Front, test: Sequence[float] | None) -> str:
    """A row a formula, an arrow before the picked one."""
    rows = []
    for i, entry in enumerate(front):
        mark = "->" if i == front.pick else ""
        tested = [] if test is None else [_short(test[i])]
        checked = "-" if isnan(entry.validation) else f"{_short(entry.validation)} ± {_short(entry.spread)}"
        rows.append([mark, str(entry.length), _short(entry.train), checked, *tested, str(entry.formula)])
    return table(["", "length", "train", "validation", *([] if test is None else ["test"]), "formula"], rows)


def sentence(outcome: Outcome, formula: Formula) -> str:
    from ..formula import to_sentence

    return to_sentence(formula, outcome.job.data.dt, outcome.job.data.time_unit)


def resume_command(outcome: Outcome | RulesOutcome) -> str | None:
    """How to go on, when there is something left to do."""
    if outcome.ended == "done" or outcome.job.run is None:
        return None
    from ..runs import resume_command as resume

    return resume(outcome.job.run.folder)


def commands(outcome: Outcome) -> list[str]:
    """What to type next, each as it stands."""
    from ..data import suggest_command

    rule, file, read = str(outcome.front.picked.formula), outcome.job.file, outcome.job.reading
    return [
        suggest_command("eval", [rule, file], read),
        suggest_command("explain", [rule, file], read, ["--case", _telling_case(outcome)]),
        *live_commands(rule, outcome.job.data, read),
    ]


def live_commands(rule: str, data: Dataset, reading: Mapping[str, object], every: bool = False) -> list[str]:
    """How to run a learned rule on samples as they come, told how far apart they are."""
    from ..data import suggest_command
    from ..formula import parse
    from ..formula.measures import needs_step

    clock = {"dt": data.dt, "unit": data.time_unit} if data.dt is not None else {}
    told = {**reading, **clock} if needs_step(parse(rule)) else reading
    return [
        suggest_command("monitor", [rule], told, ["--every"] if every else []),
        suggest_command("export", [rule], {**reading, **clock}, ["--to", "c", "-o", "monitor.c"]),
    ]


def _telling_case(outcome: Outcome) -> str:
    """A trace that is judged wrongly, or the one that is furthest from satisfying the rule."""
    from ..semantics import robustness, satisfied

    rule, data = str(outcome.front.picked.formula), outcome.job.data
    values = robustness(rule, data)
    if not data.classes:
        return data.cases[int(abs(values - data.labels).argmax())]
    wrong = satisfied(rule, data) != data.positive
    return data.cases[int(wrong.argmax() if wrong.any() else values.argmin())]


def _notes(outcome: Outcome, report: Path | None) -> list[str]:
    learned, tested = outcome.cases
    on = f"learned on {count_of(learned, 'trace')} in {duration_text(outcome.seconds)}"
    lines = [f"{on}, tested on {tested} others" if tested else f"{on}; no test error is known (--test 0)"]
    rule = "; -> the simplest within one standard error of the best validation"
    if outcome.job.settings["learner"].get("signals") == "auto" and outcome.job.settings["method"] == "fernn":
        rule = "; -> the rule that describes the labels shortest, with those it gets wrong"
    elif isnan(outcome.front.picked.validation):
        rule = "; -> the least in training, as no validation was made"
    lines.append(f"error: {MEASURES[_measure(outcome)]}{rule}")
    lines += outcome.notes
    if outcome.job.run is not None:
        lines.append(f"run: {outcome.job.run.folder}")
    if report is not None:
        lines.append(f"report: {report}")
    if outcome.ended in EARLY_ENDS:
        command = resume_command(outcome)
        lines.append(EARLY_ENDS[outcome.ended] + (f"; to go on: {command}" if command else ""))
    return lines


def _measure(outcome: Outcome) -> str:
    return "mcr" if outcome.job.data.classes else "mae"


def _short(value: float) -> str:
    return f"{value:.4f}"


CLASSES_SHOWN = 20


def rules_text(outcome: RulesOutcome, report: Path | None = None) -> str:
    """The rules with their errors, in words, and who is taken for whom."""
    train, test_set = outcome.job.parts
    tested = train if test_set is None else test_set
    rules, data = outcome.rules, outcome.job.data
    lines = [rules_table(rules, train, test_set), "", *rules.sentences(data.dt, data.time_unit)]
    if rules.kind != "one":
        lines += ["", confusion_table(rules, tested, "training" if test_set is None else "test")]
    doubt = _rules_refusal(outcome)
    lines += ["", *([doubt, *_rules_to_try(outcome), ""] if doubt else []), *_rules_notes(outcome)]
    lines += [*([f"report: {report}"] if report else []), "", "next:"]
    return "\n".join([*lines, *(f"  {command}" for command in _rules_next(outcome))])


def rules_json(outcome: RulesOutcome, report: Path | None = None) -> dict[str, Any]:
    """All of it as plain data."""
    from ..learners.classes import confusion

    train, test_set = outcome.job.parts
    rules, data = outcome.rules, outcome.job.data
    summary: dict[str, Any] = {
        "rules": rules.to_json(), "text": str(rules), "sentences": rules.sentences(data.dt, data.time_unit),
        "train": outcome.train, "test": outcome.test, "learned_on": outcome.cases[0], "tested_on": outcome.cases[1],
        "seed": outcome.job.settings["split"]["seed"], "ended": outcome.ended, "seconds": round(outcome.seconds, 3),
        "notes": list(outcome.notes),
        "run": None if outcome.job.run is None else str(outcome.job.run.folder), "next": _rules_next(outcome),
    }  # fmt: skip
    if rules.kind != "one":
        summary["classes"] = list(rules.classes)
        summary["confusion"] = confusion(rules, train if test_set is None else test_set).tolist()
    else:
        summary["detection"] = _detection(outcome).to_json()
    doubt = _rules_refusal(outcome)
    summary |= {"refusal": doubt, "suggestions": suggestions_json(outcome.job) if doubt else []}
    return summary | {"report": None if report is None else str(report)}


def _rules_refusal(outcome: RulesOutcome) -> str | None:
    """Why the rules should not be used; None if no reason is known."""
    from ..evaluation import evaluate_outcome

    test = evaluate_outcome(outcome)
    return None if test is None else test.refusal


def _rules_to_try(outcome: RulesOutcome) -> list[str]:
    """Of one class with faults at hand, first of all a rule that is learned from both."""
    from ..data import suggest_command

    lines = to_try(outcome.job)
    if outcome.rules.kind == "one" and len(outcome.job.data.classes) == 2:
        both = suggest_command("learn", [outcome.job.file], outcome.job.reading)
        lines[1:1] = ["- a rule that tells good from bad, learned from both", f"    {both}"]
    return lines


def _detection(outcome: RulesOutcome) -> Detection:
    from ..evaluation import evaluate_detection

    train, test_set = outcome.job.parts
    rules: Any = outcome.rules
    return evaluate_detection(rules, train, test_set)


def rules_table(rules: Any, train: Dataset, test_set: Dataset | None) -> str:
    """A row a rule, with how often it is wrong, counted exactly."""
    if rules.kind == "each":
        return _each_table(rules, train, test_set)
    if rules.kind == "list":
        return _list_table(rules, train, test_set)
    return str(rules) if rules.kind == "one" else f"{front_table(rules.front, None)}\n\n{rules}"


def _each_table(rules: PerClass, train: Dataset, test_set: Dataset | None) -> str:
    from ..data import one_vs_rest
    from ..semantics import score

    parts = [train] if test_set is None else [train, test_set]
    titles = ["class", "length", "train", *([] if test_set is None else ["test"]), "formula"]
    rows: list[list[object]] = []
    for rule in rules.rules:
        errors = [f"{score(rule.formula, one_vs_rest(part, rule.name)).mcr:.4f}" for part in parts]
        rows.append([rule.name, str(rule.length), *errors, str(rule.formula)])
    rows += [[rules.otherwise, "", *[""] * len(parts), "none of these"]] * (rules.otherwise is not None)
    return table(titles, rows)


def _list_table(rules: RuleList, train: Dataset, test_set: Dataset | None) -> str:
    """With how many of the traces that a rule decides are of its class."""
    parts = [train] if test_set is None else [train, test_set]
    titles = ["", "class", "length", "train", *([] if test_set is None else ["test"]), "formula"]
    rows: list[list[object]] = []
    for i, rule in enumerate(rules.rules):
        errors = [_right(rules, part, i) for part in parts]
        word = "if" if i == 0 else "else if"
        rows.append([word, rule.name, str(rule.length), *errors, str(rule.formula)])
    last = [_right(rules, part, len(rules.rules)) for part in parts]
    return table(titles, [*rows, ["else", rules.otherwise, "", *last, ""]])


def _right(rules: RuleList, data: Dataset, number: int) -> str:
    """`9 of 10`: how many of the traces that a rule decides are of its class."""
    from ..learners.classes.class_rules import labels_among

    decided = rules.decided_by(data) == number
    right = rules.classify(data)[decided] == labels_among(data, rules.classes)[decided]
    return f"{int(right.sum())} of {int(decided.sum())}"


def confusion_table(rules: Decides, data: Dataset, what: str) -> str:
    """A row a class that traces have, a column a class that they get."""
    from ..learners.classes import confusion

    counts = confusion(rules, data)
    rows = [[name, *map(str, counts[i])] for i, name in enumerate(rules.classes)]
    return table([f"{what} traces, by class", *(f"as {name}" for name in rules.classes)], rows)


def _rules_notes(outcome: RulesOutcome) -> list[str]:
    learned, tested = outcome.cases
    lines = [f"learned on {count_of(learned, 'trace')} in {duration_text(outcome.seconds)}"]
    lines[0] += f", tested on {tested} others" if tested else "; no test error is known (--test 0)"
    error = "share of traces misclassified"
    if outcome.rules.kind == "one":
        error = "share on the wrong side (the bad belong outside)" if outcome.job.data.classes[1:] else "share outside"
    test = "" if outcome.test is None else f", test {outcome.test:.4f}"
    lines.append(f"error: {error}: train {outcome.train:.4f}{test}")
    if outcome.rules.kind == "ranked":
        train, test_set = outcome.job.parts
        rule: Any = outcome.rules
        more = "" if test_set is None else f", test {rule.distance(test_set):.4f}"
        lines.append(f"mean difference of rank: train {rule.distance(train):.4f}{more}")
    if outcome.rules.kind == "one":
        lines += _detection(outcome).lines()
        lines.append(f"excluded: share of artificial variants that a formula rejects; {_lengths_text(outcome)}")
    lines += outcome.notes
    if outcome.job.run is not None:
        lines.append(f"run: {outcome.job.run.folder}")
    if outcome.ended in EARLY_ENDS and outcome.job.run is not None:
        lines.append(f"{EARLY_ENDS[outcome.ended]}; to go on: {resume_command(outcome)}")
    return lines


def _lengths_text(outcome: RulesOutcome) -> str:
    """What bounds the length of a rule of one class."""
    chosen = outcome.job.settings["learner"]
    if not chosen.get("ranges", False):
        return f"formulas have at most {chosen['max_length']} parts"
    channels = count_of(outcome.job.data.n_channels, "channel")
    return (
        f"every rule begins with the range of each of the {channels} ({4 * outcome.job.data.n_channels} parts), "
        f"--max-length {chosen['max_length']} is of what is added to them"
    )


def _rules_next(outcome: RulesOutcome) -> list[str]:
    from ..data import suggest_command

    run, commands = outcome.job.run, []
    if run is not None:
        commands.append(suggest_command("classify", [str(run.folder), outcome.job.file]))
    tight: Any = outcome.rules
    if outcome.rules.kind == "one":
        commands += live_commands(str(tight.formula), outcome.job.data, outcome.job.reading)[:1]
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

    stored = Run.open(run)
    rules, _ = load_rules(stored)
    data = read_input(file, reading_options(stored.settings, file), print_problems)
    names = rules.names(data)
    labels = [data.classes[int(i)] for i in data.labels] if data.classes and data.labels is not None else None
    comparable = labels is not None and rules.kind != "one" and set(labels) <= set(rules.classes)
    if json:
        rows = [
            {"case": case, "class": name} | ({"label": labels[i]} if labels else {})
            for i, (case, name) in enumerate(zip(data.cases, names, strict=True))
        ]
        summary: dict[str, Any] = {"text": str(rules), "classes": list(rules.classes), "traces": rows}
        if comparable:
            summary |= {"error": rules.error(data), "confusion": confusion(rules, data).tolist()}
        typer.echo(as_json(summary))
    else:
        wrong = [comparable and labels is not None and name != labels[i] for i, name in enumerate(names)]
        order = range(len(data)) if every else sorted(range(len(data)), key=lambda i: not wrong[i])[:CLASSES_SHOWN]
        lines = [
            [data.cases[i], names[i], *([labels[i], "wrong" if wrong[i] else ""] if labels else [])] for i in order
        ]
        typer.echo(f"{rules}\n\n{table(['case', 'class', *(['label', ''] if labels else [])], lines)}")
        if len(lines) < len(data):
            typer.echo(f"({'wrong ones first; ' * comparable}--all lists all {len(data)} traces)")
        counts = ", ".join(f"{names.count(name)} {name}" for name in rules.classes)
        typer.echo(f"\n{count_of(len(data), 'trace')}: {counts}")
        if comparable:
            typer.echo(f"error {rules.error(data):.4f}\n\n{confusion_table(rules, data, 'all')}")
    return 1 if rules.kind == "one" and "outside" in names else 0
