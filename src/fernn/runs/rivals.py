"""Rivals of a run: formulas that explain its data as well, of its search or of other seeds, and answers about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.atomic_write import append_line, write_text
from ..engines import Failures, Unit, run_units
from ..errors import MALFORMED_DATA, RunError, UnsupportedError, convert_errors, describe_error, suppress_warnings
from ..formula import Formula, direction, length, parse, thresholds, with_thresholds
from ..formula.json_fields import as_bool, as_int, as_number, as_object, as_objects, as_text, read_json
from ..formula.measures import orient
from ..formula.templates import require_closed
from ..learners import Front
from ..learners.base import losses, sample_weights
from ..learners.learner_registry import engine_for, learner_from_dict, learner_to_dict, read_formula
from ..mining import QueryAnswer, QueryResult
from ..semantics import satisfied
from .job import Job
from .methods import learner_of
from .run import Run, resume_command

SEEDS = "seeds.jsonl"
TASK = "fernn.runs.rivals:fit_seed"


def try_seeds(job: Job, count: int, progress: Callable[[int, int], None] = lambda done, of: None) -> None:
    """Learns again from so many seeds after the run's own; those that the run has are not tried again.

    Each fit has the time that the run took, if it was limited.
    """
    assert job.run is not None
    if job.settings["method"] != "fernn" or "prior" in job.settings:
        raise UnsupportedError("other seeds are for the method fernn without a prior; others find the same again")
    learner = learner_of(job.settings, job.data)
    first, stored = int(job.settings["learner"]["seed"]) + 1, _seeds_on_disk(job.run)
    seeds = range(first, first + count)
    units = [Unit({"learner": learner_to_dict(learner)}, seed) for seed in seeds if seed not in stored]
    progress(count - len(units), count)
    engine, data = engine_for(learner), job.parts[0]
    failures = Failures(engine, "fits from other seeds")

    def read(unit: Unit, content: Any) -> list[str]:
        if not isinstance(content, list) or not content:
            raise TypeError("a list of formulas was expected")
        return [str(read_formula(formula, data)) for formula in content]

    for done, answer in enumerate(run_units(engine, TASK, data, units, read=read), 1):
        if not failures.take(answer, f"seed {answer.unit.seed}"):
            line = {"seed": answer.unit.seed, "formulas": answer.found}
            append_line(job.run.folder / SEEDS, json.dumps(line, ensure_ascii=False))
        progress(count - len(units) + done, count)
    failures.check()


def fit_seed(data: Dataset | None, settings: dict[str, Any], seed: int) -> list[str]:
    """On a worker: what the learner finds from this seed, its front and what its archive keeps."""
    assert data is not None
    learner: Any = replace(learner_from_dict(settings["learner"]), seed=seed)  # type: ignore[type-var]
    with suppress_warnings():
        fit = learner.fit(data)
    if fit.ended == "interrupted":
        raise KeyboardInterrupt  # half a fit is none
    future = not any(direction(entry.formula) == "past" for entry in fit.front)
    archived = [orient(parse(row["formula"]), future) for row in [*fit.state["archive"], *fit.state["added"]]]
    return list(dict.fromkeys(str(formula) for formula in [*(entry.formula for entry in fit.front), *archived]))


def formulas_of_seeds(run: Run) -> Iterator[str]:
    """The formulas that other seeds found."""
    for line in _lines_of_seeds(run):
        with suppress(*MALFORMED_DATA):
            for formula in list(line["formulas"]):
                require_closed(parse(as_text(formula)))
                yield formula


def _seeds_on_disk(run: Run) -> set[int]:
    seeds = set()
    for line in _lines_of_seeds(run):
        with suppress(*MALFORMED_DATA):
            seeds.add(as_int(line["seed"]))
    return seeds


def _lines_of_seeds(run: Run) -> Iterator[dict[str, Any]]:
    path = run.folder / SEEDS
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n")[:-1]:  # what follows the last line end is torn, or nothing
        with suppress(*MALFORMED_DATA):
            yield as_object(read_json(line))


RIVALS = "rivals.json"
TINY = 1e-9
Candidate = tuple[Formula, float]
"""A formula and its error on the training traces."""


def candidates(run: Run, data: Dataset, tolerance: float | None = None) -> tuple[list[Formula], bool]:
    """The formulas that explain the data of the run as well as the best, within the tolerance; by default the run's.

    Those of an exact search are its rivals; any other method's are all that ever joined its front, of FERNN also what
    its archive keeps and what other seeds found, and err no more than the picked one. Those that err least come first,
    of equals the shortest. Of formulas that differ in thresholds only, and judge all of the data alike, one is enough.
    And whether it is known that its space has no others.
    """
    front = run.front()
    if tolerance is None:
        with convert_errors(RunError, f"the settings of {run.folder} were changed by hand"):
            tolerance = as_number(run.setting("learner").get("tolerance") or 0.0)
    if front is None:
        raise RunError(f"{run.folder} has found no formula yet. Go on with it: {resume_command(run.folder)}")
    pairs = [(entry.formula, entry.train) for entry in front]
    listed = _load_rivals(run)
    if listed is not None:
        those, are_all = listed
        weights = _weights(run, data)
        pairs += [(formula, float(np.average(losses(formula, data), weights=weights))) for formula in those]
        best = min(wrong for _, wrong in pairs)
    else:
        with convert_errors(RunError, f"the history or the state of {run.folder} was changed by hand"):
            rows = [row for row in run.history() if row.get("train") is not None]
            pairs += [(require_closed(parse(row["formula"])), float(row["train"])) for row in rows]
            if "prior" not in run.settings:  # what the archive keeps is not yet joined with what must hold
                pairs += _candidates_of_archive(run, front, data, front.picked.train + tolerance)
            pairs += _candidates_of_seeds(run, data, front.picked.train + tolerance)
        best, are_all = front.picked.train, False
    pairs.sort(key=lambda pair: (round(pair[1], 9), length(pair[0])))
    distinct: dict[Any, Formula] = {}
    for formula in (formula for formula, wrong in pairs if wrong <= best + tolerance + TINY):
        bare = with_thresholds(formula, [0.0] * len(thresholds(formula)))
        distinct.setdefault((bare, satisfied(formula, data).tobytes()), formula)
    return list(distinct.values()), are_all


def _load_rivals(run: Run) -> tuple[list[Formula], bool] | None:
    """The formulas that an exact search wrote, and whether they are all; None where there is no such file."""
    path = run.folder / RIVALS
    if not path.exists():
        return None
    try:
        content = as_object(read_json(path.read_bytes()))
        formulas = [require_closed(parse(text)) for row in as_objects(content["rivals"]) for text in row["formulas"]]
        return formulas, as_bool(content["complete"])
    except MALFORMED_DATA as problem:
        raise RunError(f"{path} is no list of rivals of fernn ({describe_error(problem)}).") from None


def _weights(run: Run, data: Dataset) -> Floats:
    """How much each trace counts, by the classes and costs of the run."""
    settings, even = run.settings["learner"], np.ones(len(data))
    if not data.classes:
        return even
    with convert_errors(RunError, f"the settings of {run.folder} were changed by hand"):
        costs = as_number(settings.get("miss_cost", 1.0)), as_number(settings.get("false_alarm_cost", 1.0))
        return sample_weights(data, even, settings.get("class_weight"), *costs)


def _candidates_of_seeds(run: Run, data: Dataset, worst: float) -> Iterator[Candidate]:
    """What the same learner found from other seeds, if they were tried."""
    weights = _weights(run, data)
    for formula in map(parse, formulas_of_seeds(run)):
        wrong = float(np.average(losses(formula, data), weights=weights))
        if wrong <= worst + TINY:
            yield formula, wrong


def _candidates_of_archive(run: Run, front: Front, data: Dataset, worst: float) -> Iterator[Candidate]:
    """What FERNN keeps besides its front: the best behaviours of each length, looking back; with their exact error,
    traces counting as they did when it learned."""
    future = not any(direction(entry.formula) == "past" for entry in front)
    weights = _weights(run, data)
    state = run.load_state() or {}
    for row in [*state.get("archive", []), *state.get("added", [])]:
        formula = orient(require_closed(parse(row["formula"])), future)
        wrong = float(np.average(losses(parse(str(formula)), data), weights=weights))
        if wrong <= worst + TINY:
            yield formula, wrong


TRANSCRIPT, OUTCOME = "asked.jsonl", "asked.json"
SCHEMA = 1


def load_transcript(run: Run) -> list[QueryAnswer]:
    """The answers given so far; a torn last line is taken away."""
    path = run.folder / TRANSCRIPT
    if not path.exists():
        return []
    rows, content = [], path.read_bytes()
    for line in content.split(b"\n"):
        with suppress(*MALFORMED_DATA):
            rows.append(QueryAnswer.from_json(read_json(line)))
    if content and not content.endswith(b"\n"):
        _write_transcript(run, rows)
    return rows


def append_answer(run: Run, answered: QueryAnswer) -> None:
    append_line(run.folder / TRANSCRIPT, json.dumps(answered.to_json(), ensure_ascii=False))


def remove_last_answer(run: Run) -> None:
    """Takes the last answer back."""
    _write_transcript(run, load_transcript(run)[:-1])


def _write_transcript(run: Run, rows: list[QueryAnswer]) -> None:
    write_text(run.folder / TRANSCRIPT, "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows))


def save_answers(run: Run, result: QueryResult) -> Path:
    content: dict[str, Any] = {
        "schema": SCHEMA, "formula": str(result.formula), "left": [str(f) for f in result.left], "ended": result.ended,
        "proved": result.is_proved, "questions": len(result.transcript), "disagreements": result.disagreements,
    }  # fmt: skip
    write_text(run.folder / OUTCOME, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    return run.folder / OUTCOME
