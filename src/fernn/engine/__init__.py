"""Where work runs: in this process, in others, on a cluster that is there already.

One seam: a unit of work is (data, settings, seed) -> JSON. `local` does it here, `processes` on the cores of this
machine, `ray` and `dask` on a cluster, `slurm` in jobs of a queue, and any `concurrent.futures.Executor` where it will.
The same seeds give the same results everywhere.
"""

from .choosing import engine_of, use
from .local import Local
from .running import Answer, Failures, Flow, results
from .seam import Engine, Lost, Unit, Where

__all__ = ["Answer", "Engine", "Failures", "Flow", "Local", "Lost", "Unit", "Where", "engine_of", "results", "use"]
