"""Trace files of learners of temporal logic over propositions (samples2LTL, flie, Scarlet).

1,0;0,1;1,1        a trace a line: letters between semicolons, a 0 or 1 for every proposition
---
0,0;1,0            below the first line of dashes, the traces that the formula must reject
---
F,G,X,!,&,|        then, as far as there is more: operators, which are not read,
---
p,q                and the names of the propositions; without them they are p, q, r, ...
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..arrays import Floats
from ..dataset import Dataset
from ..draft import Draft, to_dataset
from ..label_parsing import check_no_marks
from ..options import ReadOptions
from ..problems import ProblemLog

CLASSES = ("negative", "positive")


def read_propositional(file: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    """The dataset in such a file; every line that is not a trace is an error of its own."""
    check_no_marks(options, "traces of propositions")
    sections: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(file.read_text(encoding=options.encoding).splitlines(), 1):
        text = line.strip()
        if text and set(text) == {"-"}:
            sections.append([])
        elif text:
            sections[-1].append((number, text))
    if len(sections) < 2:
        what = "there is no line --- between the traces to accept and those to reject"
        log.add("no-dashes", "error", what, "Write one trace a line, first the positive ones, then ---, then others.")
        return None
    traces: list[Floats] = []
    labels: list[str] = []
    width: int | None = None
    for label, section in zip((1, 0), sections[:2], strict=True):
        if not section:
            kind = CLASSES[label]
            log.add("empty", "error", f"there is no {kind} trace", "A formula that separates needs both kinds.")
        for number, text in section:
            trace = _trace(text, number, log)
            if trace is None:
                continue
            width = trace.shape[0] if width is None else width
            if trace.shape[0] != width:
                what = f"letters have {trace.shape[0]} propositions, those before have {width}"
                log.add("width", "error", what, "Every letter has a 0 or 1 for every proposition.", line=number)
                continue
            traces.append(trace)
            labels.append(CLASSES[label])
    if log.failed or width is None:
        return None
    draft = Draft(
        traces,
        [str(i) for i in range(len(traces))],
        list(_names(sections, width)),
        None if options.label is None else labels,
    )
    data = to_dataset(draft, options, file.stem, log)
    return data if data is None or options.channels is None else data.select(options.channels)


def _trace(text: str, number: int, log: ProblemLog) -> Floats | None:
    if "::" in text:
        what = "the trace repeats for ever from the letter behind ::"
        log.add("lasso", "error", what, "fernn reads finite traces; write the letters out.", line=number)
        return None
    letters = [[bit.strip() for bit in letter.split(",")] for letter in text.split(";")]
    for place, letter in enumerate(letters, 1):
        wrong = next((bit for bit in letter if bit not in ("0", "1")), None)
        if wrong is not None:
            what = f"letter {place} has {wrong!r} where a 0 or 1 was expected"
            log.add("letter", "error", what, "Write letters as 1,0,1 with semicolons between them.", line=number)
            return None
        if len(letter) != len(letters[0]):
            what = f"letter {place} has {len(letter)} propositions, the first has {len(letters[0])}"
            log.add("width", "error", what, "Every letter has a 0 or 1 for every proposition.", line=number)
            return None
    return np.array(letters, dtype=float).T


def _names(sections: list[list[tuple[int, str]]], width: int) -> tuple[str, ...]:
    """The fourth section, where it names every proposition; else p, q, r, ..., or p0, p1, ... if there are many."""
    for section in sections[3:4]:
        given = [name.strip() for name in section[0][1].split(",")] if section else []
        if len(given) == width == len(set(given)) and all(name.isidentifier() for name in given):
            return tuple(given)
    if width <= 11:
        return tuple(chr(ord("p") + k) for k in range(width))
    return tuple(f"p{k}" for k in range(width))
