"""Where work runs: in this process, in others, on a cluster that is there already.

One protocol: a unit of work is (data, settings, seed) -> JSON. `local` does it here, `processes` on the cores of this
machine, `ray` and `dask` on a cluster, `slurm` in jobs of a queue, and any `concurrent.futures.Executor` where it will.
The same seeds give the same results everywhere.
"""

from .base import Engine, Lost, Unit, Where
from .executors import Local
from .resolve import ENGINES, EngineKind, resolve_engine, use
from .scheduler import Answer, Failures, UnitQueue, run_units

__all__ = [
    "ENGINES", "Answer", "Engine", "EngineKind", "Failures", "Local", "Lost", "Unit", "UnitQueue", "Where",
    "resolve_engine", "run_units", "use",
]  # fmt: skip
