"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A bar inside a cell, as in `p | q`, is escaped."""
    rows = (head, ["---"] * len(head), *lines)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
