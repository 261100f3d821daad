"""A front as a notebook shows it: the picked formula, what it says, and the others."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from ..formula.sentence import to_html, to_html_code

if TYPE_CHECKING:
    from .front import Front

HEAD = ("length", "train", "validation", "margin", "formula")


def card(front: Front) -> str:
    """HTML; every name in it is escaped."""
    rows = "".join(_row(front, i) for i in range(len(front)))
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div>{to_html(front.picked.formula)}{table}</div>"


def _row(front: Front, i: int) -> str:
    entry = front[i]
    error = "-" if isnan(entry.validation) else f"{entry.validation:.4f} ± {entry.spread:.4f}"
    cells = [str(entry.length), f"{entry.train:.4f}", error, f"{entry.margin:.3f}", to_html_code(entry.formula)]
    style = ' style="font-weight:bold"' if i == front.pick else ""
    return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
