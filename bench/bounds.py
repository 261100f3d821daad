"""The lowest or the newest versions of what fernn depends on, as requirements for pip: `python bench/bounds.py lowest`.

Those of the core and of `io`. The lowest are the bounds in pyproject.toml with the sign turned, so that what is claimed
there is what is tested.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
EXTRAS = ("io",)
BESIDE = ("pytest", "hypothesis")


def wanted(which: str) -> list[str]:
    """Requirements, `numpy==1.26.*` for the lowest: the first series, in its last mended version."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(each for extra in EXTRAS for each in project["optional-dependencies"][extra])]
    found = []
    for requirement in named:
        matched = re.fullmatch(r"([\w.-]+)>=([\d.]+)(; .+)?", requirement)
        if matched is None:
            raise SystemExit(f"{requirement}: a bound is written NAME>=VERSION, so that it can be tested")
        name, lowest, where = matched.groups(default="")
        found.append((f"{name}=={lowest}.*" if which == "lowest" else name) + where)
    return [*found, *BESIDE]


if __name__ == "__main__":
    print("\n".join(wanted(sys.argv[1])))
