"""What two workers gain over one: the same fits, on each engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

from fernn.engines import Engine, resolve_engine
from fernn.engines.resolve import close_all
from fernn.evaluation.resampling import refit
from fernn.learners import Enumerative, Fernn

from ..store import Found
from . import made

ENGINES, COUNTS, TURNS = ("processes", "ray", "dask"), (1, 2), 5


def units(thorough: bool) -> Iterator[list[str]]:
    """One and two workers one after the other, each engine in a process of its own."""
    for engine in ENGINES:
        for work in WORKS:
            for count in COUNTS:
                yield [f"{engine} {work} {count}"]


def measured(unit: str) -> Found:
    """The shortest of five, after the workers have done all of it once."""
    name, work, count = unit.split()
    engine = resolve_engine(f"{name}:{count}")
    job = WORKS[work](engine)
    job()
    times = []
    for _ in range(TURNS):
        began = perf_counter()
        job()
        times.append(perf_counter() - began)
    close_all()
    return {"seconds": min(times), "all": times}


def _bootstraps(engine: Engine) -> Callable[[], object]:
    """Sixteen fits."""
    data = made.labelled(1000, 100)
    learner = Enumerative(max_length=3, folds=0, engine=engine)
    return lambda: list(refit(learner, data, [("bootstrap", seed) for seed in range(16)]))


def _restarts(engine: Engine) -> Callable[[], object]:
    """Twelve rounds of sixty-four restarts; drawing them, filing them and the front are done here."""
    data = made.labelled(2000, 200)
    return lambda: Fernn(max_length=5, rounds=12, patience=12, thresholds="exact", engine=engine).fit(data)


WORKS = {"bootstraps": _bootstraps, "restarts": _restarts}


def told(unit: str, found: Found) -> str:
    return f"{found['seconds']:.2f} s"


def gains(found: dict[str, Found]) -> dict[str, float]:
    """By engine and work: the time of one worker divided by that of two."""
    both = {unit.rpartition(" ")[0] for unit in found if unit.endswith(" 2")}
    return {
        each: found[f"{each} 1"]["seconds"] / found[f"{each} 2"]["seconds"]
        for each in sorted(both)
        if f"{each} 1" in found
    }
