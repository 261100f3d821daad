"""Where the figures come from: processor, cores, versions."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from ..engines.processes import cores

HOUSE = Path(__file__).resolve().parents[1]
USED = ("numpy", "numba", "scikit-learn")
"""What fernn itself stands on."""


def surroundings(packages: Iterable[str]) -> dict[str, str]:
    found = {"processor": _processor(), "cores": str(cores()), "fernn": __version__}
    found["python"] = platform.python_version()
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def source(rooms: Iterable[str]) -> str:
    """A mark of the code in these rooms and files: a run during which it changes measures two things."""
    named = [HOUSE / room for room in rooms]
    inside = (file for folder in named for file in folder.rglob("*.py"))
    files = sorted([*inside, *(path for path in named if path.is_file())])
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    for line in known.read_text().splitlines() if known.is_file() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
