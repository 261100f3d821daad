"""Rules with functions: on recordings beside a copy and a loop in Python, live, and as exported C.

python -m bench.functions   measures for about a minute, writes bench/functions.json and a part of docs/benchmarks.md
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fernn.evaluation.comparison import describe_environment, markdown_table
from fernn.formula import Step, parse, to_c
from fernn.semantics import Monitor, robustness

from .clock import race
from .peers.copy import copies, threads
from .tasks import Task

ROOT = Path(__file__).resolve().parents[1]
PLAIN = ROOT / "bench" / "functions.json"

MEAN = "G (mean(x, 20) <= 0.5)"
FIVE = "H (abs(x) <= 4 & diff(x) <= 9 & mean(x, 20) <= 1 & std(x, 20) <= 3 & highest(x, 20) <= 5)"
EACH = ("abs(x - 0.5)", "x*x", "x/(x + 1)", "min(x, 0.5)", "norm(x, x - 1)", "diff(x)", "rate(x)", "mean(x, 20)",
        "mean(x - 0.5, 20)", "std(x, 20)", "lowest(x, 20)", "highest(x, 300)", "integral(x)", "since(x > 0.9)",
        "count(x > 0.9, 20)")  # fmt: skip
SHAPE = 2000, 1000
LOOPED, FED = 2, 20_000
"""Traces that the loop judges, whose time is scaled up; samples that the monitor and the C program are fed with."""
AIMS = {
    "verdict, share of a copy's speed": 0.3,
    "whole signal, share of a copy's speed": 0.3,
    "verdict, times the speed of a loop as in rtamt": 1000.0,
    "monitor of five functions, samples a second": 300_000.0,
    "exported C of five functions, samples a second": 20e6,
}


def judge_by_loop(trace: list[float], width: int, limit: float) -> float:
    """What `G (mean(x, width) <= limit)` comes to, by a loop such as rtamt's operators over windows have.

    A buffer keeps the window, and each sample loops over it.
    """
    window: deque[float] = deque(maxlen=width)
    worst = inf
    for value in trace:
        window.append(value)
        total = 0.0
        for i in range(len(window)):
            total += window[i]
        worst = min(worst, limit - total / len(window))
    return worst


def measure_recordings(seconds: float) -> dict[str, float]:
    """Seconds for the batch."""
    task = Task(parse(MEAN), "functions", *SHAPE)
    verdict = partial(robustness, task.formula, task.X, task.channels)
    rows = [trace[0].tolist() for trace in task.X[:LOOPED]]
    looped = [judge_by_loop(row, 20, 0.5) for row in rows]
    assert np.allclose(looped, verdict()[:LOOPED], atol=1e-6)
    calls: dict[str, Callable[[], Any]] = {
        "verdict": verdict,
        "whole": partial(robustness, task.formula, task.X, task.channels, at="all"),
        "loop": lambda: [judge_by_loop(row, 20, 0.5) for row in rows],
        **copies(task),
    }
    found = race(calls, seconds)
    found["loop"] *= task.cases / LOOPED
    return {**found, "threads": threads(task)}


def measure_functions(seconds: float) -> dict[str, float]:
    """Nanoseconds a sample of `G (FUNCTION <= 5)`, verdict only."""
    X, step = np.random.default_rng(0).random((SHAPE[0], 1, SHAPE[1]), np.float32), Step(0.1, "s")
    calls = {each: partial(robustness, parse(f"G ({each} <= 5)"), X, ["x"], step=step) for each in EACH}
    return {each: found / X.size * 1e9 for each, found in race(calls, seconds).items()}


def measure_monitor(seconds: float) -> float:
    """Samples a second."""
    samples = [[value] for value in np.random.default_rng(0).normal(size=FED).tolist()]
    monitor = Monitor(FIVE)

    def feed() -> None:
        update = monitor.update
        for sample in samples:
            update(sample)

    return FED / race({"monitor": feed}, seconds)["monitor"]


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
    static double x[COUNT];
    static m_state state;
    double best = 1e9, sum = 0;
    for (int i = 0; i < COUNT; i++) x[i] = rand() / (double)RAND_MAX * 2 - 1;
    for (int turn = 0; turn < 200; turn++) {
        struct timespec a, b;
        m_init(&state);
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < COUNT; i++) sum += m_step(&state, x + i);
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        if (took < best) best = took;
    }
    printf("%.9g\\n", COUNT / best);
    return sum != sum;
}
"""


def measure_c() -> float | None:
    """Samples a second, compiled by `cc -std=c99 -O2`; None without a compiler."""
    if shutil.which("cc") is None:
        return None
    source = "#define _POSIX_C_SOURCE 199309L\n" + to_c(parse(FIVE), "m") + DRIVER.replace("COUNT", str(FED))
    with TemporaryDirectory() as folder:
        (Path(folder) / "m.c").write_text(source)
        subprocess.run(["cc", "-std=c99", "-O2", "-o", "m", "m.c", "-lm"], cwd=folder, check=True)
        done = subprocess.run(["./m"], cwd=folder, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure_all() -> dict[str, Any]:
    load = os.getloadavg()[0]
    recordings = measure_recordings(2.0)
    made = {"recordings": recordings, "functions": measure_functions(0.3), "monitor": measure_monitor(2.0)}
    made |= {"c": measure_c(), "load": [load, os.getloadavg()[0]]}
    return made | {"surroundings": describe_environment(("numpy", "numba"))}


def reached(told: dict[str, Any]) -> dict[str, float | None]:
    """What was measured for each aim."""
    found = told["recordings"]
    return dict(
        zip(
            AIMS,
            (
                found["copy"] / found["verdict"],
                found["copy"] / found["whole"],
                found["loop"] / found["verdict"],
                told["monitor"],
                told["c"],
            ),
            strict=True,
        )
    )


def section() -> str:
    """The part of docs/benchmarks.md; nothing where nothing was measured."""
    if not PLAIN.exists():
        return ""
    told = json.loads(PLAIN.read_text())
    where, found = told["surroundings"], told["recordings"]
    rows = []
    for (name, aim), value in zip(AIMS.items(), reached(told).values(), strict=True):
        verdict = "not measured" if value is None else "met" if value >= aim else "**not met**"
        rows.append((name, _figure(aim), "-" if value is None else _figure(value), verdict))
    times = [(name, f"{found[name] * 1e3:.3g}") for name in ("verdict", "whole", "copy", "copy, fresh array", "loop")]
    each = [(f"`{name}`", f"{value:.3g}") for name, value in told["functions"].items()]
    return "\n\n".join(
        [
            "## Rules with functions",
            f"Made by `python -m bench.functions`. {where['processor']}, {where['cores']} cores; load average "
            f"{told['load'][0]:.1f} before and {told['load'][1]:.1f} after, the run itself included. `{MEAN}` on "
            f"{SHAPE[0]} traces of {SHAPE[1]} samples in float32, {found['threads']} threads, copies too. The loop is "
            "in Python, as rtamt's operators are: a buffer of the window, looped over at each sample; rtamt itself has "
            f"no mean. Monitor and exported C run `{FIVE}`.",
            markdown_table(("", "aim, at least", "measured", ""), rows),
            markdown_table((f"`{MEAN}`", "ms"), times),
            "Verdicts on the same traces, `G (FUNCTION <= 5)`:",
            markdown_table(("function", "ns a sample"), each),
        ]
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    from .__main__ import PAGE
    from .__main__ import PLAIN as RESULTS
    from .page import page
    from .results import results_from

    PLAIN.write_text(json.dumps(measure_all(), indent=1) + "\n")
    PAGE.write_text(page(results_from(RESULTS.read_text())))
    print(section())


if __name__ == "__main__":
    main()
