"""What is done where the work is: a function found by its name, its result as JSON."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import FernnError
from .inside import inside
from .packing import Packed

Task = Callable[[Dataset | None, dict[str, Any], int], Any]
"""(data, settings, seed) -> plain data."""
ONE_THREAD = dict.fromkeys(
    ("FERNN_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
     "POLARS_MAX_THREADS"), "1",
)  # fmt: skip
"""Several workers already fill the cores."""


def done(task: str, data: Dataset | Packed | None, settings: str, seed: int) -> str:
    """`{"found": ...}`, or `{"problem": ..., "again": whether another try may help}`."""
    try:
        whole = data.unpacked() if isinstance(data, Packed) else data
        with inside():
            found = function(task)(whole, json.loads(settings), seed)
        return json.dumps({"found": found})
    except (FernnError, ImportError) as error:
        return json.dumps({"problem": str(error), "again": False})
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({Path(at.filename).name} line {at.lineno})"
        return json.dumps({"problem": said, "again": True})


def done_there(task: str, data: Dataset | Packed | None, settings: str, seed: int, asker: int = 0) -> str:
    """As `done`, on a worker of a cluster, which works on one core; unless it is a thread of the process that asks."""
    if os.getpid() != asker:
        for name, value in ONE_THREAD.items():
            os.environ.setdefault(name, value)
    return done(task, data, settings, seed)


def function(task: str) -> Task:
    module, _, name = task.partition(":")
    found: Task = getattr(import_module(module), name)
    return found


def imports_working_folder() -> bool:
    """Whether this process imports from the folder that it stands in, as `python -m` and `python -c` do.

    The command `fernn` does not: what lies beside a recording is not its code. Its workers are to do the same.
    """
    return any(path == "" or os.path.realpath(path) == os.path.realpath(os.curdir) for path in sys.path)
