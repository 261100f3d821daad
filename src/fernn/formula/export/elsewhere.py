"""What other tools lack, said in what they have: unions of windows, and windows from a sample on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ..holes import without_holes
from ..interval import ALL_TIME, Span, interval
from ..measures import everywhere
from ..nodes import Always, And, Eventually, Formula, Historically, Once, Or, Since, Until


def one_span_each(formula: Formula) -> Formula:
    """The same meaning with one span an operator: `F[0,1]u[5,7] p` is `F[0,1] p | F[5,7] p`."""

    def change(node: Formula) -> Formula:
        match node:
            case Eventually(a, over) | Once(a, over):
                return _joined(Or, [type(node)(a, interval(*span)) for span in over])
            case Always(a, over) | Historically(a, over):
                return _joined(And, [type(node)(a, interval(*span)) for span in over])
            case Until(a, b, over) | Since(a, b, over):
                return _joined(Or, [type(node)(a, b, interval(*span)) for span in over])
        return node

    return everywhere(without_holes(formula), change)


def bounded_or_all_time(formula: Formula) -> Formula:
    """Without `[a,inf)` for a > 0: `F[3,inf) p` is `F[3,3] F p`; one span an operator."""

    def change(node: Formula) -> Formula:
        match node:
            case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over) if _late(over.spans[0]):
                shift = interval(over.start, over.start)
                return type(node)(type(node)(a, ALL_TIME), shift)
            case Until(a, b, over) if _late(over.spans[0]):
                shift = interval(over.start, over.start)
                return And(Always(a, interval(0, over.start - 1)), Eventually(Until(a, b), shift))
            case Since(a, b, over) if _late(over.spans[0]):
                shift = interval(over.start, over.start)
                return And(Historically(a, interval(0, over.start - 1)), Once(Since(a, b), shift))
        return node

    return everywhere(one_span_each(formula), change)


def _joined(operator: Callable[[Formula, Formula], Formula], parts: Sequence[Formula]) -> Formula:
    """In halves, so that thousands of parts are a few levels deep."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return operator(_joined(operator, parts[:half]), _joined(operator, parts[half:]))


def _late(span: Span) -> bool:
    return span[0] > 0 and span[1] == inf
