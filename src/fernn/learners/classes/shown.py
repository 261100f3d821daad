"""Rules for several classes as people read them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ...formula import to_sentence
from ...formula.sentence import to_html_code

if TYPE_CHECKING:
    from .rules import Rule, Rules


def said(rule: Rule, dt: float | None = None, unit: str | None = None) -> str:
    """What the formula of a rule says."""
    return to_sentence(rule.formula, dt, unit)


def card(rules: Rules) -> str:
    """HTML; every name in it is escaped."""
    in_order = rules.kind == "list"
    rows = [
        (
            f"{'if' if i == 0 else 'else if'}" if in_order else "",
            to_html_code(rule.formula),
            escape(said(rule)),
            rule.name,
        )
        for i, rule in enumerate(rules.rules)
    ]
    if rules.otherwise is not None:
        rows.append(("else" if in_order else "", "", "otherwise", rules.otherwise))
    body = "".join(
        f"<tr><td>{word}</td><td>{formula}</td><td>{text}</td><td><b>{escape(name)}</b></td></tr>"
        for word, formula, text, name in rows
    )
    head = "<tr><th></th><th>formula</th><th>in words</th><th>class</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
