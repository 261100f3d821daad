"""Structures as text: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from fernn.errors import FormulaError
from fernn.formula import parse
from fernn.mining import parse_parametric


@pytest.mark.parametrize(
    ("text", "names", "filled"),
    [
        ("G (v <= ?c)", "c", "G (v <= 1)"),
        ("always (?c >= v)", "c", "G (v <= 1)"),
        ("F[0,?b] (x >= ?c)", "b c", "F[0,1] (x >= 2)"),
        ("F[?a,?b] (x >= ?c)", "a b c", "F[1,2] (x >= 3)"),
        ("O[?a,inf) (x > 5)", "a", "O[1,inf) (x > 5)"),
        ("F[0,?b] u <= 5", "b", "F[0,1] (u <= 5)"),
        ("G[?w] (x > ?c)", "w.start w.end c", "G[1,2] (x > 3)"),
        ("G[?a,9) (x > 0)", "a", "G[1,8] (x > 0)"),
        ("(v <= ?c) U[0,?b] (w >= ?d)", "c b d", "(v <= 1) U[0,2] (w >= 3)"),
        ("(v <= ?c) W[0,?b] (w >= ?d)", "c b d", "(v <= 1) W[0,2] (w >= 3)"),
        ("T <= ?c T[0,?b] (T >= ?d & O[0,?e] R > 1)", "c b d e", "T <= 1 T[0,2] (T >= 3 & O[0,4] R > 1)"),
        ("G (v <= ?c | v >= ?d)", "c d", "G (v <= 1 | v >= 2)"),
        ("G (v <= ?c) & F (w < ?c)", "c", "G (v <= 1) & F (w < 1)"),
        ("?a <= v <= ?b", "a b", "v >= 1 & v <= 2"),
        ("0 <= v <= ?b", "b", "v >= 0 & v <= 1"),
        ("2*x - y <= ?c", "c", "2*x - y <= 1"),
        ("G[0,?b] (diff(x, 2) <= ?c)", "b c", "G[0,1] (diff(x, 2) <= 2)"),
        ("since(x > 3 & H[0,2] (y < 1)) <= ?c", "c", "since(x > 3 & H[0,2] (y < 1)) <= 1"),
        ("count(x > 3, 5) >= ?c & H[0,?b] (y <= 2)", "c b", "count(x > 3, 5) >= 1 & H[0,2] (y <= 2)"),
        ("x > ?c since (y > ?d)", "c d", "x > 1 S y > 2"),
        ('"G" <= ?c & F ("?" > 1)', "c", '"G" <= 1 & F ("?" > 1)'),
        ('G (v <= ?"top speed")', "top speed", "G (v <= 1)"),
    ],
)
def test_open_numbers_are_filled_where_they_stand(text, names, filled):
    asked = parse_parametric(text)
    assert list(asked.names) == (["top speed"] if '"top' in text else names.split())
    values = {name: float(i + 1) for i, name in enumerate(asked.names)}
    assert asked.formula(values) == parse(filled)


def test_a_template_with_open_thresholds_and_windows_is_a_structure():
    assert parse_parametric(parse("G[?w] (v <= ?c)")).names == ("w.start", "w.end", "c")


@pytest.mark.parametrize(
    ("text", "says", "at"),
    [
        ("G (v <= 3)", "no number is open", 0),
        ("G ?p", "no threshold of a comparison", 2),
        ("G (v <= ?)", "has a name", 8),
        ("G[?] (v <= 3)", "has a name", 2),
        ("G[0,?c] (v <= ?c)", "a threshold and the end of a window", 14),
        ("G[0,?b) (v <= 3)", "includes it", 6),
        ("G[0,?b]u[7,9] (v <= 3)", "one span", 1),
        ("G[0,3]u[?a,9] (v <= 3)", "one span", 1),
        ("G[?w*2] (v <= 3)", "[?a,?b]", 1),
        ("v <= ?c + 1", "stands alone", 5),
        ("v + 1 <= ?c", "a number beside", 9),
        ("v <= -?c", "stands alone", 6),
        ("?c*v <= 3", "stands alone", 0),
        ("v/?c <= 3", "stands alone", 2),
        ("mean(v, ?k) <= ?c", "inside a function cannot be open", 8),
        ("since(v > ?c) <= 3", "inside a function cannot be open", 10),
        ("?a <= ?b", "both sides", 6),
        ("v <= ?c <= w", "at two", 5),
        ("?c <= 3", "at least one channel", 0),
        ("?{G, F} (v <= ?c)", "not atoms or operators", 0),
        ("{v <= ?c; v >= ?c}", "no choices", 0),
        ("O F (v <= ?c)", "back and ahead", 0),
        ("G (v <= ?c", "not closed", 2),
        ("v <= ?a & v <= ?b & v <= ?c & v <= ?d & v <= ?e", "at most 4", 0),
    ],
)
def test_what_cannot_be_read_is_shown_where_it_is(text, says, at):
    with pytest.raises(FormulaError) as refused:
        parse_parametric(text)
    assert says in str(refused.value)
    assert refused.value.at == at


@pytest.mark.parametrize("values", [{}, {"b": 1, "c": 2, "d": 3}, {"b": 1.5, "c": 2}, {"b": -1, "c": 2}])
def test_values_are_those_of_the_open_numbers(values):
    with pytest.raises(FormulaError, match=r"values are wanted for b, c|a whole number from 0 on"):
        parse_parametric("F[0,?b] (x >= ?c)").formula(values)
