"""Where the figures come from: processor, cores, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import fernn

PACKAGES = ("numpy", "numba", "torch", "jax", "stlcgpp", "rtamt")


def surroundings(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    found = {"processor": _processor(), "cores": str(len(os.sched_getaffinity(0))), "python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def source(rooms: Iterable[str] = ("formula", "semantics")) -> str:
    """A mark of the code that is measured: a run during which it changes measures two things."""
    folders = (Path(fernn.__file__).parent / room for room in rooms)
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()
