"""Categories in formulas against those of the data: what is compared with what, and which are not there.

A channel of categories is compared with texts, a channel of numbers with numbers; anything else is an error that shows
the place. A category that the data do not have is no error: it is false there, which whoever asked is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NoReturn

from ..data.problems import did_you_mean
from ..errors import FormulaError
from ..formula.expressions import IS, Call, Sum, Term, Weights
from ..formula.nodes import Atom, Formula, is_in, walk
from ..formula.printer import format_value, quote_name

Categories = Mapping[str, tuple[str, ...]]
SHOWN = 4  # categories that a message names


def predicates(formula: Formula) -> Iterator[tuple[Atom, Call]]:
    """Every `is` of the formula with its atom, also those inside of functions."""
    for atom, term in _terms(formula):
        if isinstance(term, Call) and term.function == IS:
            yield atom, term


def text_channels(formula: Formula) -> tuple[str, ...]:
    """The channels that are compared with texts, or asked for being missing and nothing else."""
    read = list(_terms(formula))
    numbers = {term for _, term in read if isinstance(term, str)}
    asked = [term for _, term in read if isinstance(term, Call)]
    numbers |= {call.channel for call in asked if call.values and not isinstance(call.values[0], str)}
    texts = (call.channel for call in asked if (isinstance(call.values[0], str) if call.values else True))
    return tuple(dict.fromkeys(name for name in texts if name not in numbers))


def _terms(formula: Formula) -> Iterator[tuple[Atom, Call | str]]:
    """The channels that are read as numbers, and each `is` and `missing`, with the atoms that they stand in."""
    for node in walk(formula):
        if isinstance(node, Atom):
            yield from _terms_of_sum(node, node.weights)


def _terms_of_sum(atom: Atom, weights: Weights) -> Iterator[tuple[Atom, Call | str]]:
    for term, _ in weights:
        if isinstance(term, str) or term.is_predicate:
            yield atom, term
        else:
            for part in term.arguments:
                yield from _terms_of_sum(atom, part.weights) if isinstance(part, Sum) else _terms(part)


def check_categories(formula: Formula, channels: Collection[Term], categories: Categories) -> None:
    """An error where categories are read as numbers, or numbers as categories."""
    for atom, term in _terms(formula):
        if isinstance(term, str):
            if term in categories:
                texts = categories[term]
                what = f"{term} holds categories, not numbers: {_quote(texts)}"
                example = is_in(term, texts[:1] or ("a",)), is_in(term, (texts[:2] * 2)[:2] or ("a", "b"))
                _refuse(formula, atom, what, f"compare it with == or in: {example[0]}, or {example[1]}")
        elif term.values and term.channel in channels:
            _check_values(formula, atom, term, categories)


def _check_values(formula: Formula, atom: Atom, call: Call, categories: Categories) -> None:
    value, texts = call.values[0], categories.get(call.channel)
    if texts is None and isinstance(value, str):
        others = [name for name, known in categories.items() if value in known]
        hint = (
            f"did you mean {is_in(others[0], call.values)}?"
            if others
            else f"compare it with a number: {is_in(call.channel, [3.0])}"
        )
        what = f"{call.channel} holds numbers, and is compared with the text {format_value(value)}"
        _refuse(formula, atom, what, hint)
    if texts is not None and not isinstance(value, str):
        shown = format_value(value)
        hint = f"write {is_in(call.channel, [shown])}" if shown in texts else f"it has {_quote(texts)}"
        _refuse(formula, atom, f"{call.channel} holds categories, and is compared with the number {shown}", hint)


def unknown_categories(formula: Formula, categories: Categories) -> list[str]:
    """What there is to say of categories that the data do not have."""
    told = []
    for _, call in predicates(formula):
        texts = categories.get(call.channel, ())
        for value in call.values:
            if call.channel in categories and isinstance(value, str) and value not in texts:
                hint = did_you_mean(value, texts).replace("'", '"')
                has = f"it has {_quote(texts)}" if texts else "it has no values"
                told.append(f"{quote_name(call.channel)} is never {format_value(value)} in the data{hint}; {has}")
    return list(dict.fromkeys(told))


def _quote(texts: tuple[str, ...]) -> str:
    rest = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(map(format_value, texts[:SHOWN])) + rest


def _refuse(formula: Formula, atom: Atom, what: str, hint: str) -> NoReturn:
    """Shows the atom in the formula as it is printed."""
    text = str(formula)
    raise FormulaError(what, text, max(text.find(str(atom)), 0), hint)
