"""Candidates that the exact search scores a second: one NVIDIA card beside two cores of the processor, in one process.

python -m bench.scale.gpu_exact --out DIR              writes DIR/gpu_exact.json; about five minutes
python -m bench.scale.gpu_exact --out DIR --tiles      tries tiles of several shapes too
python -m bench.scale.gpu_exact --out DIR --small      to see that it runs: TRITON_INTERPRET=1 will do for a card

Data are made here: random walks, labelled by a formula, some labels turned over. The processor scores a part of the
lefts of a job, both do so for the check that they find the same, then the card all of them. Times are those of
`Search.run`: what the processor does before and after is in them, the words that go to the card once are not. A
measurement that fails is recorded with its error, and the next begins.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

CORES = 2
Found = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=290.0, help="when to begin nothing more")
    parser.add_argument("--tiles", nargs="?", const="", help="LEFTxRIGHTxWARPSxCHUNKxREGISTERS,... or the usual ones")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    os.environ["FERNN_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(CORES)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    asked.out.mkdir(parents=True, exist_ok=True)
    book = Book(asked.out / "gpu_exact.json", asked.seconds)
    from . import gpu_exact_parts as parts  # numba counts its threads as it is imported
    from .machine import machine

    book.put("surroundings", lambda: dict(machine()))

    for name, part in parts.parts(asked.small):
        book.put(name, part)
    if asked.tiles is not None:
        for name, part in parts.sweep(asked.tiles, asked.small):
            book.put(name, part)
    book.end()
    return 0


class Book:
    """All that was measured, on disk after every part."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.start, self.seconds = path, perf_counter(), seconds
        self.content: Found = {"schema": 1, "parts": {}}

    def put(self, name: str, part: Callable[[], Found]) -> None:
        began = perf_counter() - self.start
        if began > self.seconds:
            found: Found = {"skipped": f"{began:.0f} s had gone by"}
        else:
            try:
                found = part()
            except BaseException as error:
                found = {"error": repr(error), "where": traceback.format_exc(limit=-6)}
                if isinstance(error, KeyboardInterrupt):
                    self.seconds = 0.0
        found["at"] = [round(began, 2), round(perf_counter() - self.start, 2)]
        self.content["parts"][name] = found
        self.path.write_text(json.dumps(self.content, indent=1) + "\n")
        print(name, json.dumps({key: value for key, value in found.items() if key != "where"})[:400], flush=True)

    def end(self) -> None:
        """A table of rates."""
        print(f"\n{'':34} {'two cores':>10} {'card':>10} {'times':>7}  same   millions of candidates a second")
        for name, found in self.content["parts"].items():
            if "times" in found:
                rates = f"{found['cpu_rate'] / 1e6:10.1f} {found['card_rate'] / 1e6:10.1f} {found['times']:7.1f}"
                print(f"{name:34} {rates}  {found['same']}")
        print(f"{perf_counter() - self.start:.0f} s, {self.path}")


def timed(work: Callable[[], Any], least: int = 3, seconds: float = 2.0) -> tuple[float, Any]:
    """The median of several runs, and what the last gave; one before them, in which things are compiled."""
    took: list[float] = []
    result = work()
    while len(took) < least and (len(took) < 1 or sum(took) < seconds):
        start = perf_counter()
        result = work()
        took.append(perf_counter() - start)
    return median(took), result


def shapes(text: str) -> Iterator[Any]:
    """Tiles to try."""
    from fernn.learners.enumerative.gpu_prefilter import Tile

    if text:
        for each in text.split(","):
            yield Tile(*(int(number) for number in each.split("x")))
        return
    for (left, right), warps, chunk in product(((16, 256), (16, 512), (32, 256), (8, 512)), (4, 8), (16, 32)):
        yield Tile(left, right, warps, chunk, 128)


def told(tile: Any) -> str:
    return "x".join(str(number) for number in asdict(tile).values())


if __name__ == "__main__":
    sys.exit(main())
