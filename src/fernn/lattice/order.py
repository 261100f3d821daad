"""The order of formulas: `below(a, b)` where the robustness of a is never above that of b.

It is read off the two formulas, so it holds for every trace and, in templates, for every way to fill the holes, those
of one name alike. Windows must not be empty on the trace: over an empty one G is true and F is false.
"""

from __future__ import annotations

from ..formula import Always, And, Eventually, Formula, Historically, Implies, Not, Once, Or


def below(a: Formula, b: Formula) -> bool:
    """Whether a implies b, by the laws of minimum and maximum and of operators that are monotone."""
    if a == b:
        return True
    match a, b:
        case Or(left, right), _:  # a | b is the least above both
            return below(left, b) and below(right, b)
        case _, And(left, right):  # a & b is the greatest below both
            return below(a, left) and below(a, right)
    return _under_part(a, b) or _by_operator(a, b)


def _under_part(a: Formula, b: Formula) -> bool:
    """One conjunct of a is enough, or one disjunct of b."""
    if isinstance(a, And) and (below(a.left, b) or below(a.right, b)):
        return True
    return isinstance(b, Or) and (below(a, b.left) or below(a, b.right))


def _by_operator(a: Formula, b: Formula) -> bool:
    match a, b:
        case (Always(p, over), Always(q, other)) | (Historically(p, over), Historically(q, other)):
            return over == other and below(p, q)
        case (Eventually(p, over), Eventually(q, other)) | (Once(p, over), Once(q, other)):
            return over == other and below(p, q)
        case (Always(p, over), Eventually(q, other)) | (Historically(p, over), Once(q, other)):
            return over == other and below(p, q)
        case Implies(cause, effect), Implies(other_cause, other_effect):
            return below(other_cause, cause) and below(effect, other_effect)
        case Not(p), Not(q):
            return below(q, p)
    return False
