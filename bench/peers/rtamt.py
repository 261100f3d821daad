"""rtamt, its discrete-time specification: one trace at a time, plain lists of floats."""

from __future__ import annotations

import rtamt

from fernn.formula import to_rtamt

from ..tasks import Task
from . import Way, Ways

MOST_TRACES, MOST_SAMPLES = 20, 4_000
"""A larger batch is judged in part and its time scaled up: the traces are alike."""


def ways(task: Task) -> Ways:
    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    for name in task.channels:
        spec.declare_var(name, "float")
    spec.spec = to_rtamt(task.formula)
    spec.parse()
    traces = max(1, min(task.cases, MOST_TRACES, MOST_SAMPLES // task.length))
    rows = [dict(zip(task.channels, trace.tolist(), strict=True)) for trace in task.X[:traces]]
    time = list(range(task.length))

    def call() -> list[list[float]]:
        results = []
        for row in rows:
            fresh = {name: values.copy() for name, values in row.items()}  # it pads the lists it is given
            results.append([value for _, value in spec.evaluate({"time": time.copy(), **fresh})])
        return results

    return {"offline": Way(call, traces)}
