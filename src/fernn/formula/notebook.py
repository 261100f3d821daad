"""A formula as a notebook shows it: its text, and what it says."""

from __future__ import annotations

from html import escape

from .holes import is_template
from .nodes import Formula
from .sentence import to_sentence


def html(formula: Formula) -> str:
    """Every name in it is escaped. A template says nothing yet, so it has no sentence."""
    said = "" if is_template(formula) else f"<br>{escape(to_sentence(formula))}"
    return f"<div>{code(formula)}{said}</div>"


def code(formula: Formula) -> str:
    return f"<code>{escape(str(formula))}</code>"
