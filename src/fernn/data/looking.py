"""Whatever a person may name: a file, or a data set that is made or found under its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import DataError, UnsupportedError
from .checks import check
from .dataset import Dataset
from .options import flags, suggest_command
from .problems import Ledger, Problem, counted
from .read import inspect
from .sources import SOURCES, inspect_series, is_named, load
from .steps import with_steps


def looked_at(
    file: str, options: Mapping[str, Any], forgiving: bool = False
) -> tuple[Dataset | None, tuple[Problem, ...]]:
    """The dataset, None where it cannot be read, with every problem; `options` are those of `read`.

    A file without a column `label` has no labels; if `forgiving`, one without the column that was asked for, too.
    """
    if not Path(file).exists() and is_named(file):
        return _as_it_is(file, options) if file in SOURCES else inspect_series(file, **options)
    found = inspect(file, **options)
    if (forgiving or options.get("label", "label") == "label") and any(p.kind == "no-label-column" for p in found[1]):
        return inspect(file, **{**options, "label": None, "good": None})  # recordings to be judged may have no labels
    return found


def recorded(
    file: str,
    options: Mapping[str, Any],
    warned: Callable[[str, tuple[Problem, ...]], None] | None = None,
    forgiving: bool = False,
) -> Dataset:
    """The dataset, or an error with all that is wrong; warnings, if there are any, go to `warned`, with a command that
    shows them."""
    again = suggest_command("check", [file], options)
    dataset, problems = looked_at(file, options, forgiving)
    if dataset is None:
        errors = [str(p) for p in problems if p.severity == "error"]
        shown, total = sum(p.severity == "error" and p.count == 1 for p in problems), sum(p.count for p in problems)
        more = f"{shown} of {counted(total, 'problem')} shown; to look it over: {again}"
        raise DataError("\n".join([*errors, more]), problems)
    if problems and warned is not None:
        warned(again, problems)
    return dataset


def _as_it_is(name: str, options: Mapping[str, Any]) -> tuple[Dataset, tuple[Problem, ...]]:
    """A data set that has a name, to which changes can be added and from which labels can be taken, no more."""
    strange = [words[0] for key, value in options.items() if key != "steps" and (words := flags({key: value}))]
    unlabelled = "label" in options and options["label"] is None
    if strange := [flag for flag in strange if not (flag == "--label" and unlabelled)]:
        raise UnsupportedError(
            f"{name} is a data set that is taken as it is: {', '.join(strange)} cannot apply. Leave it out, or write "
            "the data to a file (fernn.data.write_csv) and read that."
        )
    data = load(name)
    data = replace(data, labels=None, classes=()) if unlabelled else data
    data = with_steps(data) if options.get("steps") else data
    ledger = Ledger(name)
    check(data, ledger)
    return data, ledger.problems()
