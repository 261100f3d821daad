"""From data to a tested front: what is learned on, how it is kept, and the error on traces not seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data import Dataset, split
from ..errors import DataError
from ..formula import Formula, parse
from ..learners import Fit, Learner, Progress, Watch, silent
from ..learners.labels import losses
from .run import Run


def parts(
    data: Dataset, test: float = 0.2, seed: int = 0, classes: str | None = None
) -> tuple[Dataset, Dataset | None]:
    """(what to learn on, what to test on): copies and groups on one side; nothing to test on if `test` is 0.

    The labels are those of two classes, or real numbers; anything else is an error. With `classes`, a kind of rules
    for classes, there may be any number of them, and for one class alone no labels.
    """
    _check_labels(data, "", classes)
    if test == 0:
        return data, None
    train, held = split(data, test, seed)
    _check_labels(train, f" after {len(held)} of {len(data)} are kept for the test (--test 0 keeps none)", classes)
    return train, held


def _check_labels(data: Dataset, when: str, classes: str | None) -> None:
    if classes == "one":
        return
    if data.labels is None:
        raise DataError(
            f"{data.name} has no labels to learn from{when}. Name their column with --label; "
            "if they are all good, --one-class finds what they have in common."
        )
    if not data.classes:
        return
    present = [data.classes[int(i)] for i in np.unique(data.labels)]
    if len(present) == 1:
        raise DataError(
            f"all {len(data)} traces of {data.name} are {present[0]!r}{when}. A rule that separates needs two classes; "
            "--one-class finds what all of them, or most, have in common."
        )
    if len(data.classes) > 2 and classes is None:
        raise DataError(
            f"{data.name} has {len(data.classes)} classes ({', '.join(data.classes)}), a rule tells two apart. "
            "--good NAME sets one class against the rest, fernn learn --classes each learns a rule for each of them; "
            "if the labels are quantities, pass --label-kind real."
        )


def learned(
    learner: Learner,
    data: Dataset,
    run: Run | None = None,
    watch: Watch = silent,
    broken: Callable[[OSError], None] | None = None,
) -> Fit:
    """Fit, keeping every step in the run, from where the run stands.

    A KeyboardInterrupt that the learner lets through ends the fit with the last front it told of. When the
    run cannot be written `broken` is told, and learning goes on; without it, that is an error.
    """
    last: Progress | None = None

    def told(progress: Progress) -> None:
        nonlocal last
        last = progress
        if run is not None:
            try:
                run.record(progress)
            except OSError as error:
                if broken is None:
                    raise
                broken(error)
        watch(progress)

    try:
        return learner.fit(data, told, None if run is None else run.state)
    except KeyboardInterrupt:
        if last is None:
            raise
        return Fit(last.front, last.seconds, "interrupted", last.state)


def error(formula: Formula, data: Dataset) -> float:
    """Of the formula as printed: the share of wrong verdicts, or for real labels the mean absolute error."""
    return float(losses(parse(str(formula)), data).mean())
