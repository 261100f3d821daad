"""Measure fernn beside the others and write docs/benchmarks.md and bench/results.json.

python -m bench            all shapes, some minutes
python -m bench --quick    future formulas, three shapes, about a minute
python -m bench --page     only the page, from what has been measured
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from fernn.evaluation.comparison import describe_environment, source_hash

from .call import call
from .offline import Row, beside_copy, measured
from .online import FORMULAS, live
from .page import page
from .peers import installed
from .results import Results, results_from, rows_from_plain, rows_to_plain
from .tasks import tasks

ROOT = Path(__file__).resolve().parents[1]
PAGE, PLAIN = ROOT / "docs" / "benchmarks.md", ROOT / "bench" / "results.json"

ROOMS, PACKAGES = ("formula", "semantics"), ("numpy", "numba", "torch", "jax", "stlcgpp", "rtamt")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="future formulas, three shapes, about a minute")
    parser.add_argument("--alone", action="store_true", help="only the table against copies, as JSON")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    chosen = parser.parse_args()
    if chosen.page:
        PAGE.write_text(page(results_from(PLAIN.read_text())))
        return
    if chosen.alone:
        rows = [_said(beside_copy(task, 0.03 if chosen.quick else 0.1)) for task in tasks(chosen.quick)]
        print(json.dumps(rows_to_plain(rows)))
        return
    results = _measured(chosen.quick)
    PAGE.write_text(page(results))
    PLAIN.write_text(results.to_json())
    _say(f"wrote {PAGE.relative_to(ROOT)} and {PLAIN.relative_to(ROOT)} after {results.seconds:.0f} s")


def _measured(quick: bool) -> Results:
    start, load, before = perf_counter(), os.getloadavg()[0], source_hash(ROOMS)
    peers, absent = installed()
    _say(f"beside {', '.join(peers)}; absent: {', '.join(absent) or 'none'}")
    watched = [live(formula, 0.5 if quick else 1.5) for formula in FORMULAS]
    rows = [_said(measured(task, peers, 0.05 if quick else 0.1)) for task in tasks(quick)]
    _say("one thread")
    alone = _alone(quick)
    command = "python -m bench" + " --quick" * quick
    if source_hash(ROOMS) != before:
        _say("fernn's source changed during the run: measure again")
    return Results(
        command, perf_counter() - start, describe_environment(PACKAGES), (load, os.getloadavg()[0]),
        (before, source_hash(ROOMS)), rows, alone, watched, absent, call(0.5),
    )  # fmt: skip


def _alone(quick: bool) -> list[Row]:
    """The table against copies from a process of its own, where fernn has one thread."""
    command = [sys.executable, "-m", "bench", "--alone", *(["--quick"] if quick else [])]
    done = subprocess.run(command, env={**os.environ, "FERNN_THREADS": "1"}, stdout=subprocess.PIPE, check=True)
    return rows_from_plain(json.loads(done.stdout))


def _said(row: Row) -> Row:
    _say(f"{row.task!s:50}" + "".join(f"  {name} {took * 1000:.3g}" for name, took in row.seconds.items()))
    return row


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
