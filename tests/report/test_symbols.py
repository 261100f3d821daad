"""Formulas in signs."""

from hypothesis import given

from fernn import parse
from fernn.report.page.symbols import symbols
from strategies import formulas

PLAIN = {"−": "-", "·": "*", "⊤": "true", "⊥": "false", " ∪ ": "u"}


def read_back(pieces):
    """The signs one after the other, as the parser takes them: it knows most of them as they are."""
    text = ""
    for kind, sign in pieces:
        for fancy, plain in PLAIN.items():
            sign = sign.replace(fancy, plain)
        text += sign if kind == "sub" else f" {sign}"
    return text


@given(formulas())
def test_signs_read_back_are_the_formula(formula):
    assert parse(read_back(symbols(formula))) == formula


def test_a_rule_looks_as_in_a_paper():
    pieces = symbols(parse("G[0,9] (2*v - w <= -3.5 -> F (v >= 1))"))
    assert "".join(text for _, text in pieces) == "G[0,9](2·v−w≤−3.5→F(v≥1))"
    assert [text for kind, text in pieces if kind == "name"] == ["v", "w", "v"]
