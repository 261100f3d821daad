"""stlcgpp (stlcg++), masks over a square of time by time; one trace a call, or many under vmap."""

from __future__ import annotations

from typing import Any

import torch
from stlcgpp import formula as stl

from fernn.formula import Always, And, Atom, Eventually, Formula, Until, direction

from ..tasks import Task
from . import Cannot, Way, Ways

MOST_SQUARES = 2000 * 100**2
MOST_SQUARES_AT_ONCE = 100 * 100**2
MOST_CUBES = 100**3


def ways(task: Task) -> Ways:
    if direction(task.formula) == "past":
        raise Cannot("it has no past operators")
    until = isinstance(task.formula, Until)
    squares = task.cases * task.length**2
    if squares > MOST_SQUARES or (until and task.length**3 > MOST_CUBES):
        raise Cannot(f"not tried: memory and time grow with the {'cube' if until else 'square'} of the length")
    judge = _formula(task.formula, task.channels)
    padding = "last" if _is_bounded(task.formula) else None  # the padding that clips windows to the trace
    traces = torch.from_numpy(task.X).transpose(1, 2).contiguous()  # [case, time, channel]

    def one(trace: torch.Tensor) -> Any:
        return judge(trace, padding=padding)

    def call() -> Any:
        with torch.no_grad():
            return torch.stack([one(trace) for trace in traces])

    def together() -> Any:
        with torch.no_grad():
            return torch.vmap(one)(traces)

    made = {"one by one": Way(call, task.cases)}
    if task.cases > 1 and squares <= MOST_SQUARES_AT_ONCE and not until:
        made["vmap"] = Way(together, task.cases)
    return made


def _formula(formula: Formula, channels: tuple[str, ...]) -> Any:
    match formula:
        case Atom():
            name = formula.weights[0][0]
            place = channels.index(name)
            value = stl.Predicate(name, lambda trace: trace[..., place])
            return value <= formula.threshold if formula.is_upper_bound else value >= formula.threshold
        case And(a, b):
            return _formula(a, channels) & _formula(b, channels)
        case Always(a, over) | Eventually(a, over):
            kind = stl.Always if isinstance(formula, Always) else stl.Eventually
            return kind(_formula(a, channels), None if over.is_all_time else [int(end) for end in over.spans[0]])
        case Until(a, b):
            return stl.Until(_formula(a, channels), _formula(b, channels))
    raise Cannot(f"it has no {type(formula).__name__}")


def _is_bounded(formula: Formula) -> bool:
    return isinstance(formula, (Always, Eventually)) and not formula.over.is_all_time
