"""A bench of several parts: measured unit by unit, each in a process of its own, kept, and written as a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fernn.evaluation.comparison import describe_environment, source_hash

from .child import answer, asked
from .store import Store

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Bench:
    """`parts` are modules with `units`, `measured` and `told`."""

    module: str
    about: str
    parts: Mapping[str, ModuleType]
    rooms: tuple[str, ...]
    packages: tuple[str, ...]
    page: Callable[[Store], str]
    name: str
    first: tuple[str, list[str]] | None = None
    """A part and units of it to begin with, so that what is compiled once is compiled before anything is timed."""

    @property
    def page_at(self) -> Path:
        return ROOT / "docs" / f"{self.name}.md"

    @property
    def plain(self) -> Path:
        return ROOT / "bench" / f"{self.name}.json"


def main(bench: Bench) -> int:
    parser = argparse.ArgumentParser(
        prog=f"python -m {bench.module}", description=bench.about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default=",".join(bench.parts), help=f"parts with commas between: {','.join(bench.parts)}"
    )
    parser.add_argument("--again", action="store_true", help="measure anew what has been measured")
    parser.add_argument("--thorough", action="store_true", help="also fit for every greatest length")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--child", nargs="+", metavar=("PART", "UNIT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        part, *units = chosen.child
        return answer(bench.parts[part].measured, units)
    wanted = chosen.only.split(",")
    if unknown := [part for part in wanted if part not in bench.parts]:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(bench.parts)}")
    store = Store.opened(bench.plain, source_hash(bench.rooms), describe_environment(bench.packages))
    failed = 0
    if not chosen.page:
        if bench.first is not None:
            list(asked(*bench.first, bench.module))  # compiles, where nothing is compiled yet
        for part in wanted:
            if chosen.again:
                store.forget(part)
            failed += measure(bench, part, store, chosen.thorough)
            if source_hash(bench.rooms) != store.source:
                say("fernn's source changed during the run, which ends here: run it again")
                failed += 1
                break
    bench.page_at.write_text(bench.page(store))
    say(f"wrote {bench.page_at.relative_to(ROOT)}; the figures are in {bench.plain.relative_to(ROOT)}")
    return 1 if failed else 0


def measure(bench: Bench, part: str, store: Store, thorough: bool) -> int:
    """Everything of this part that is not there yet, stored one by one; how many units failed."""
    failed = 0
    for group in bench.parts[part].units(thorough):
        units = [unit for unit in group if not store.has(part, unit)]
        for unit, found in asked(part, units, bench.module):
            if source_hash(bench.rooms) != store.source:
                return failed  # of which version this figure is, nobody knows
            if problem := found.get("problem"):
                say(f"{part} {unit}: not measured: {problem}")
                failed += found["failed"]
            else:
                store.put(part, unit, found)
                say(f"{part} {unit}: {bench.parts[part].told(unit, found)}")
    return failed


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
