"""A fitted estimator as a notebook shows it: the formula, what it says, and the front."""

from __future__ import annotations

from html import escape

from ...formula import Formula, to_sentence
from ..front import Front

HEAD = ("length", "train", "validation", "margin", "formula")


def card(front: Front) -> str:
    """HTML; every name in it is escaped."""
    rule = front.picked.formula
    rows = "".join(_row(front, i) for i in range(len(front)))
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    return (
        f"<div><p>{_code(rule)}</p><p>{escape(to_sentence(rule))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(front: Front, i: int) -> str:
    entry = front[i]
    error = f"{entry.validation:.4f} ± {entry.spread:.4f}"
    cells = [str(entry.length), f"{entry.train:.4f}", error, f"{entry.margin:.3f}", _code(entry.formula)]
    style = ' style="font-weight:bold"' if i == front.pick else ""
    return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _code(formula: Formula) -> str:
    return f"<code>{escape(str(formula))}</code>"
