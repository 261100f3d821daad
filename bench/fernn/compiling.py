"""The first run ever compiles: how long that takes, and how long the next start does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from ..store import Found

SCRIPT = """
import json, resource, time
start = time.perf_counter()
from fernn.data import load
from fernn.learners import Fernn
fit = Fernn(max_length=2, intervals=True).fit(load("intervals"))
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def units(thorough: bool) -> Iterator[list[str]]:
    yield ["first"]


def measured(unit: str) -> Found:
    """The same small fit in two processes, the first with an empty cache."""
    with TemporaryDirectory() as cache:
        first, second = (_run(cache) for _ in range(2))
    return {"first": first, "second": second}


def _run(cache: str) -> Found:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def told(unit: str, found: Found) -> str:
    return f"{found['first']['seconds']:.1f} s with an empty cache, {found['second']['seconds']:.1f} s after"
