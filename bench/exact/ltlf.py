"""Smallest consistent LTLf formulas, beside Scarlet: the same tasks, in turns, on the same machine."""

from __future__ import annotations

import io
import logging
import multiprocessing
import re
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import fernn
from fernn.formula.laws import push_negations
from fernn.learners.enumerative.smallest import smallest

from ..store import Found
from .tasks import FORMULAS, SIZES, Task, tasks

PATIENCE = 20.0
"""Seconds that Scarlet has for a task."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield [str(number) for number in range(len(FORMULAS) * len(SIZES))]


@lru_cache(maxsize=1)
def _tasks() -> tuple[Task, ...]:
    found = tuple(tasks())
    for task in found[: 3 * len(SIZES)]:  # the third formula needs every loop
        smallest(task.data)  # compiling, or reading what was compiled, is not searching
    return found


def measured(unit: str) -> Found:
    task = _tasks()[int(unit)]
    scarlet = _scarlet(task.text())
    start = perf_counter()
    ours = smallest(task.data)
    seconds = perf_counter() - start
    assert ours.formula is not None
    return {
        "task": task.name,
        "formula": str(ours.formula),
        "length": fernn.length(ours.formula),
        "smallest": ours.is_smallest,
        "wrong": fernn.score(ours.formula, task.data).mcr,
        "seconds": seconds,
        "scarlet": scarlet,
    }


def _scarlet(text: str) -> Found:
    """Formula, length as fernn counts it, and seconds; none where its patience was over."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "task.trace"
        file.write_text(text)
        answers: Any = multiprocessing.Queue()
        child = multiprocessing.Process(target=_asked, args=(str(file), answers))
        child.start()
        try:
            seconds, said = answers.get(timeout=PATIENCE)
        except Exception:
            return {"seconds": None, "formula": None, "length": None}
        finally:
            child.kill()
            child.join()
    if said is None:
        return {"seconds": seconds, "formula": None, "length": None}
    return {"seconds": seconds, "formula": said, "length": fernn.length(_read(said))}


def _asked(file: str, answers: Any) -> None:
    from Scarlet.inferLTL import inferLTL
    from Scarlet.sample import Sample

    logging.disable(logging.CRITICAL)
    sample = Sample(positive=[], negative=[])
    sample.readFromFile(file)
    start = perf_counter()
    with redirect_stdout(io.StringIO()):
        found = inferLTL(sample, f"{file}.csv", ["F", "G", "X", "&", "|", "!"], "SC", 0)
    answers.put((perf_counter() - start, None if found is None else found.prettyPrint()))


def _read(text: str) -> fernn.Formula:
    """Scarlet's text in fernn's words, negations pushed down to the propositions, where they are not counted."""
    text = re.sub(r"\b([p-w])\b", r"(\1 >= 0.5)", text)
    return push_negations(fernn.parse(re.sub(r"\bX\b", "F[1,1]", text)))


def told(unit: str, found: Found) -> str:
    theirs = found["scarlet"]["seconds"]
    beside = "gave up" if theirs is None else f"{theirs * 1e3:.0f} ms"
    return f"{found['task']}: {found['seconds'] * 1e3:.1f} ms, length {found['length']}; Scarlet {beside}"
