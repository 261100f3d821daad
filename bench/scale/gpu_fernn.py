"""FERNN's restarts on a card beside two cores: `python -m bench.scale.gpu_fernn --out DIR` writes `gpu_fernn.json`.

The unit is a gradient step times traces times samples: what one restart does in an epoch is traces x samples of it.
Both sides train the same restarts on the same batches, and the weights are compared. Every measurement is small, and
leaves its error in the file where it fails. Without a card only the cores are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from math import nan
from pathlib import Path
from time import perf_counter
from typing import Any

from .gpu_fernn_parts import CORES, Size, beside, fernn_time, on_card, processes, threads, whole_fit
from .machine import machine

LIMIT, EACH = 280.0, 2.0
"""Seconds for everything, and of training that one figure is taken from."""
COUNTS = (64, 512, 4096, 16384)
SIZES = (
    Size("500 x 100, length 2", 500, 100, 1, 2),
    Size("500 x 100, length 6", 500, 100, 1, 6),
    Size("2000 x 101, length 6", 2000, 101, 1, 6),
    Size("500 x 100, length 6, mixing", 500, 100, 1, 6, quantised=False),
    Size("500 x 100 x 3, length 6", 500, 100, 3, 6),
)


class Bench:
    """Figures as they come, on disk after each."""

    def __init__(self, out: Path, limit: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.path, self.until = out / "gpu_fernn.json", perf_counter() + limit
        self.found: dict[str, Any] = {"figures": []}

    def measure(self, what: str, size: Size | None, work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
        """What the work says, or None where it failed or there is no time left."""
        row: dict[str, Any] = {"what": what} | ({"size": size.name} if size else {})
        began, told = perf_counter(), None
        if began > self.until:
            row["error"] = "no time was left"
        else:
            try:
                told = work()
                row |= told
            except Exception as error:
                row |= {"error": f"{type(error).__name__}: {error}"[:500], "trace": traceback.format_exc()[-1500:]}
        row["took"] = round(perf_counter() - began, 2)
        self.found["figures"].append(row)
        self.write()
        print(" ".join(f"{key}={_short(value)}" for key, value in row.items() if key != "trace"), flush=True)
        return told

    def write(self) -> None:
        self.path.write_text(json.dumps(self.found, indent=1))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def has_card() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for everything")
    parser.add_argument("--each", type=float, default=EACH, help="seconds of training a figure")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many of the sizes, from the first")
    chosen = parser.parse_args(arguments)
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))
    bench = Bench(chosen.out, chosen.limit)
    bench.found["surroundings"] = machine()
    print(bench.found["surroundings"], flush=True)
    card = has_card()
    if not card:
        bench.found["skipped"] = "there is no card that torch can use: only the cores were measured"
        print(bench.found["skipped"], flush=True)
    for size in SIZES[: chosen.sizes]:
        ways = {"two threads": threads, "two processes": processes}
        found = [bench.measure(name, size, partial(way, size, chosen.each)) for name, way in ways.items()]
        base = max((told["rate"] for told in found if told), default=nan)
        if card:
            bench.measure("beside", size, partial(beside, size))
            for count in COUNTS:
                bench.measure("card", size, partial(on_card, size, count, chosen.each, base))
            bench.measure("card, float64", size, partial(on_card, size, 4096, chosen.each, base, "float64"))
    for intervals in (False, True):
        bench.measure("where Fernn's time goes", SIZES[1], partial(fernn_time, SIZES[1], intervals))
    if card:
        plain = partial(on_card, SIZES[0], 512, chosen.each, nan, kernel=False)
        bench.measure("card, torch's own operations instead of the kernel", SIZES[0], plain)
        bench.measure("fit", SIZES[1], partial(whole_fit, SIZES[1], "cuda", 4096, 200))
    bench.write()


if __name__ == "__main__":
    main(sys.argv[1:])
