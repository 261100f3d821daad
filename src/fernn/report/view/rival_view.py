"""Rules that explain the data as well as the picked one: what they agree on, where not, and what would decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats
from ...errors import FernnError
from ...evaluation.equivalence import sufficient_samples
from ...evaluation.rashomon import (
    BehaviourGroup,
    RashomonSet,
    load_question,
    rashomon_set,
    save_question,
    with_equivalence_classes,
    with_stored_classes,
)
from ...formula import Formula, length
from ...mining import Query
from ...runs import Run
from ...runs.rivals import candidates
from .encoding import bits, collect_warnings, round_digits
from .rule_view import lanes

MOST_GROUPS, MOST_EACH, MOST_SHARED, MOST_DISPUTED = 24, 12, 12, 60
MOST_PROVED = 60  # formulas that z3 is asked about
MOST_ASKED = 12  # groups for which a trace that decides is made
WORK = 20_000_000  # samples of the data, times those groups, up to which one is looked for


def rivals(run: Run, train: Dataset, data: Dataset) -> dict[str, Any]:
    """What `Fernn.rivals` shows, from what is known: the formulas compete on `train`, and are told apart on all data.

    What they mean and what would decide are shown if `fernn rivals` or the studio found it out; nothing is proved here.
    """
    with collect_warnings():
        found = with_stored_classes(gather_rivals(run, train, data), run.folder)
        return rivals_to_json(found, train, load_question(found, run.folder))


def gather_rivals(run: Run, train: Dataset, data: Dataset, tolerance: float | None = None) -> RashomonSet:
    """The rivals of a run, by behaviour."""
    found, are_all = candidates(run, train, tolerance)
    return rashomon_set(found, data, are_all)


def prove_meanings(found: RashomonSet, run: Run | None, time_limit: float) -> RashomonSet:
    """Also by what they mean, unless they are too many; what is found out is kept in the run."""
    if len(found) > MOST_PROVED:
        return found
    return with_equivalence_classes(
        found, sufficient_samples(found.formulas, found.data), time_limit, None if run is None else run.folder
    )


def rivals_to_json(found: RashomonSet, learned: Dataset, question: Query | None) -> dict[str, Any]:
    """Plain JSON; at most so much of each. `learned` are the traces that were learned from."""
    shown, data = found.groups[:MOST_GROUPS], found.data
    train = np.isin(data.cases, learned.cases)
    disputed = found.disputed
    place = {case: index for index, case in enumerate(data.cases)}
    return {
        "count": len(found),
        "behaviours": len(found.groups),
        "complete": found.complete,
        "told": found.told(),
        "senses": None if found.senses is None else {
            "count": len(found.senses), "settled": found.senses.is_settled, "length": found.senses.length,
            "how": found.senses.how, "told": str(found.senses),
        },
        "groups": [_group(group, found, train) for group in shown],
        "atoms": [{"what": each.what, "share": round_digits(each.share)} for each in found.atoms[:MOST_SHARED]],
        "structures": [
            {"what": each.what, "share": round_digits(each.share)} for each in found.structures[:MOST_SHARED]
        ],
        "disputes": len(disputed),
        "disputed": [
            {
                "index": (i := place[case]), "case": case, "good": round_digits(share),
                "says": bits(np.array([group.verdicts[i] for group in shown])),
                "label": data.classes[int(data.positive[i])],
            }
            for case, share in disputed[:MOST_DISPUTED]
        ],
        "decisive": None if question is None else question_to_json(question, data),
    }  # fmt: skip


def _group(group: BehaviourGroup, found: RashomonSet, train: Bools) -> dict[str, Any]:
    wrong = group.verdicts != found.data.positive
    numbers = {f: k for k, row in enumerate(() if found.senses is None else found.senses.classes) for f in row}
    local: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for formula in group.formulas[:MOST_EACH]:
        number = numbers.get(formula)
        sense = None if number is None else local.setdefault(number, len(local))
        rows.append({"formula": str(formula), "length": length(formula), "sense": sense})
    return {
        "count": len(group.formulas), "meanings": group.meanings, "formulas": rows,
        "error": {"train": round_digits(float(wrong[train].mean())), "all": round_digits(float(wrong.mean()))},
        "good": int(group.verdicts.sum()),
    }  # fmt: skip


def find_question(found: RashomonSet, run: Run | None) -> Query | None:
    """A trace that was not recorded, and that a rule would call good and another would not; kept in the run."""
    few, data = found.groups[:MOST_ASKED], found.data
    if len(few) < 2 or int(data.lengths.sum()) * len(few) > WORK:
        return None
    if run is not None and (known := load_question(found, run.folder)) is not None:
        return known
    try:
        question = RashomonSet(few, data, found.complete).decisive(prove=False)
    except FernnError:  # one looks back, another ahead
        return None
    if run is not None:
        save_question(found, question, run.folder)
    return question


def question_to_json(question: Query, data: Dataset) -> dict[str, Any]:
    """A question as a page draws it."""
    sides = (question.good[0], question.bad[0])
    return {
        "origin": question.origin, "changed": len(question.changed), "samples": int(question.trace.shape[1]),
        "good": len(question.good), "bad": len(question.bad), "formulas": [str(each) for each in sides],
        "lanes": synthetic_lanes(sides, question.trace, data.channels, f"made from {question.origin}", data),
        "classes": list(data.classes),
    }  # fmt: skip


def synthetic_lanes(
    formulas: tuple[Formula, ...], trace: Floats, channels: tuple[str, ...], name: str, like: Dataset
) -> list[dict[str, Any]]:
    """One trace that nobody recorded, as each of these formulas sees it; samples are as far apart as in `like`."""
    alone = Dataset(trace[None], None, (), channels, like.dt, like.time_unit, (name,))
    return [lanes(formula, alone, 0) for formula in formulas]
