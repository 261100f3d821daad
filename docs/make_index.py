"""Writes docs/files.md: every file of the package with the first line of its docstring, room by room.

python docs/make_index.py [--check]

`--check` writes nothing, and exits with 1 where the page is not current.
"""

from __future__ import annotations

import ast
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fernn"
PAGE = ROOT / "docs" / "files.md"


def render_index() -> str:
    """The page, from the docstrings as they are now."""
    files = sorted(PACKAGE.rglob("*.py"), key=lambda path: (path.relative_to(PACKAGE).parts[:-1], path.name))
    lines = [
        "# Files",
        "",
        "Made by `make index` from the first line of every docstring; [the tour](tour.md) says how they work together.",
    ]
    for folder, members in groupby(files, key=lambda path: path.parent):
        name = folder.relative_to(PACKAGE.parent).as_posix()
        lines += ["", f"## {name}/", ""]
        for path in members:
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if path.name == "__init__.py":
                lines += [docstring.split("\n")[0], ""]
            else:
                lines.append(f"- [`{path.name}`](../{path.relative_to(ROOT).as_posix()}) {docstring.split(chr(10))[0]}")
    return "\n".join(lines) + "\n"


def main() -> int:
    page = render_index()
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page)
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
