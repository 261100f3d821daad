"""Measure how well and how fast FERNN learns, and write docs/fernn.md and bench/fernn.json.

python -m bench.fernn                        everything that this version has not measured yet
python -m bench.fernn --only planted,steps   some parts
python -m bench.fernn --again                also what has been measured
python -m bench.fernn --thorough             also a fit for every greatest length
python -m bench.fernn --page                 only the page, from what has been measured
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType

from ..surroundings import source, surroundings
from . import accuracy, bounds, compiling, paper, planted, steps
from .child import answer, asked
from .page import page
from .store import Store

ROOT = Path(__file__).resolve().parents[2]
PAGE, PLAIN = ROOT / "docs" / "fernn.md", ROOT / "bench" / "fernn.json"
PARTS: dict[str, ModuleType] = {
    "accuracy": accuracy,
    "bounds": bounds,
    "planted": planted,
    "steps": steps,
    "paper": paper,
    "compiling": compiling,
}
ROOMS = ("formula", "data", "semantics", "network", "torch", "learners", "planted")
PACKAGES = ("numpy", "numba", "torch")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.fernn", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts with commas between: {','.join(PARTS)}")
    parser.add_argument("--again", action="store_true", help="measure anew what has been measured")
    parser.add_argument("--thorough", action="store_true", help="also fit for every greatest length")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--child", nargs="+", metavar=("PART", "UNIT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        part, *units = chosen.child
        return answer(PARTS[part].measured, units)
    wanted = chosen.only.split(",")
    if unknown := [part for part in wanted if part not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    store = Store.opened(PLAIN, source(ROOMS), surroundings(PACKAGES))
    failed = 0
    if not chosen.page:
        list(asked("bounds", ["0"]))  # compiles, where nothing is compiled yet
        for part in wanted:
            if chosen.again:
                store.forget(part)
            failed += measure(part, store, chosen.thorough)
            if source(ROOMS) != store.source:
                say("fernn's source changed during the run, which ends here: run it again")
                failed += 1
                break
    PAGE.write_text(page(store))
    say(f"wrote {PAGE.relative_to(ROOT)}; the figures are in {PLAIN.relative_to(ROOT)}")
    return 1 if failed else 0


def measure(part: str, store: Store, thorough: bool) -> int:
    """Everything of this part that is not there yet, stored one by one; how many units failed."""
    failed = 0
    for group in PARTS[part].units(thorough):
        units = [unit for unit in group if not store.has(part, unit)]
        for unit, found in asked(part, units):
            if source(ROOMS) != store.source:
                return failed  # of which version this figure is, nobody knows
            if problem := found.get("problem"):
                say(f"{part} {unit}: not measured: {problem}")
                failed += found["failed"]
            else:
                store.put(part, unit, found)
                say(f"{part} {unit}: {PARTS[part].told(unit, found)}")
    return failed


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
