"""How fast a folder of Parquet files is judged in pieces, and with how much memory: `python -m bench.scale.streaming`.

A sample is a row, one moment of one trace; its channels are judged together. The files are made first, one at a time,
and removed at the end. A process of its own judges them with one thread, after it has compiled on a small file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

ROWS, GROUP = 1_000_000, 200_000  # of a file, of a row group in it
RULES = {1: "G (v <= 4.5)", 3: "G (v <= 4.5) & F[10,60] (w >= 1 & u <= 0.5)"}
PACE, GIGABYTES = 5e6, 1.0
"""What is aimed at: samples a second and core, memory."""
ONE = {"POLARS_MAX_THREADS": "1", "FERNN_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
CHILD = """
import json, sys, time
from pathlib import Path
from fernn.semantics.stream_evaluation import evaluate_file
rule, small, folder = sys.argv[1:]
evaluate_file(rule, small)
wall, cpu = time.perf_counter(), time.process_time()
found = evaluate_file(rule, folder)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
held = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]  # ru_maxrss has that of the parent in it
print(json.dumps({"samples": found.tally.samples, "traces": found.tally.traces, "mcr": found.score.mcr, "seconds": wall,
                  "cpu": cpu, "peak": int(held) * 1024}))
"""


def made(
    folder: Path, size: float, channels: int, length: int = 500, rows: int = ROWS, group: int = GROUP, seed: int = 0
) -> int:
    """Files of so many rows, until together they have `size` bytes; gives the bytes. Memory: one file.

    Traces have `length` samples; every other file ends in the middle of one. A label is right but for one in ten.
    """
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    written = row = number = 0
    while written < size:
        count = rows + (length // 2 if number % 2 == 0 else -(length // 2))
        case = np.arange(row, row + count) // length
        good = (case * 2654435761 % 2**32) % 10 > 3  # the same in both parts of a trace that is cut
        columns = {name: random.normal(size=count) for name in "vwu"[:channels]}
        frame = pl.DataFrame(
            {"case": case, "time": np.arange(row, row + count) % length * 0.1, **columns, "label": good.astype(np.int8)}
        )
        frame = frame.with_columns(case=pl.format("run-{}", "case"))
        path = folder / f"{number:06}.parquet"
        frame.write_parquet(path, compression_level=1, row_group_size=group)
        written, row, number = written + path.stat().st_size, row + count, number + 1
    return written


def measured(folder: Path, small: Path, rule: str) -> dict[str, float]:
    """What a process of one thread takes to judge it."""
    words = [sys.executable, "-c", CHILD, rule, str(small), str(folder)]
    told = subprocess.run(words, env=os.environ | ONE, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--gigabytes", type=float, default=1.0, help="of Parquet, for each number of channels")
    asked.add_argument("--channels", type=int, nargs="*", default=[1, 3], choices=sorted(RULES))
    asked.add_argument("--lengths", type=int, nargs="*", default=[500, 20], help="samples of a trace")
    asked.add_argument("--file-rows", type=int, default=ROWS, help="rows of a file, about")
    asked.add_argument("--row-group", type=int, default=GROUP, help="rows of a row group")
    asked.add_argument("--folder", type=Path, default=None, help="where to make them; a temporary one by default")
    asked.add_argument("--out", type=Path, default=None, help="a JSON file for the figures")
    given = asked.parse_args()
    results = []
    for channels, length in product(given.channels, given.lengths):
        place = Path(tempfile.mkdtemp(dir=given.folder))
        try:
            size = made(place / "all", given.gigabytes * 1e9, channels, length, given.file_rows, given.row_group)
            made(place / "small", 1, channels, length)
            found = measured(place / "all", place / "small", RULES[channels])
        finally:
            shutil.rmtree(place)
        result = {"channels": channels, "length": length, "bytes": size, "rule": RULES[channels], **found}
        results.append(result)
        print(line(result), flush=True)
    if given.out is not None:
        versions = {"python": platform.python_version(), "polars": pl.__version__, "numpy": np.__version__}
        given.out.write_text(json.dumps({"versions": versions, "results": results}, indent=1) + "\n")


def line(found: dict[str, float]) -> str:
    """One figure as text."""
    return (
        f"{found['channels']:.0f} channels, traces of {found['length']:.0f}, {found['bytes'] / 1e9:.2f} GB, "
        f"{found['samples'] / 1e6:.0f} million rows: "
        f"{found['samples'] / found['seconds'] / 1e6:.1f} million a second, "
        f"{found['samples'] / found['cpu'] / 1e6:.1f} million a second of the processor (aim {PACE / 1e6:g}), "
        f"{found['peak'] / 1e9:.2f} GB at most (aim {GIGABYTES:g})"
    )


if __name__ == "__main__":
    main()
