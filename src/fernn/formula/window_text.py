"""Text to windows.

window   :=  span {u span} | '[' hole ['*' pieces] [limits {u limits}] ']'
span     :=  '[' from [, to] ']',  with ')' for one sample less
"""

from __future__ import annotations

from math import inf, isinf

from ..errors import FormulaError, excerpt
from .interval import ALL_TIME, Interval, OpenInterval, Span
from .reader import Reader
from .words import ENDLESS, UNION


def window(reader: Reader) -> Interval:
    """The window that is written here, or all time."""
    if not reader.sees("["):
        return ALL_TIME
    start = reader.take().at
    try:
        return _open(reader) if reader.next.kind == "hole" else _union(reader, start)
    except FormulaError as error:
        if error.text is not None:
            raise
        reader.fail(error.message, start)


def _union(reader: Reader, start: int) -> Interval:
    spans = [_span(reader, start)]
    _close(reader, spans)
    while reader.among(UNION) and reader.sees("[", beyond=1):
        reader.take()
        opening = reader.take().at
        if reader.next.kind == "hole":
            reader.fail("an open window stands alone; [?*2] has up to two pieces")
        spans.append(_span(reader, opening))
        _close(reader, spans)
    return Interval(tuple(spans))


def _open(reader: Reader) -> OpenInterval:
    hole, pieces = reader.take(), None
    if reader.sees("*"):
        reader.take()
        token = reader.next
        if token.kind != "number" or not token.text.isdigit() or not 1 <= float(token.text) < 1e6:
            reader.unexpected("how many pieces the window may have")
        pieces = int(reader.take().text)
    spans: list[Span] = []
    while not reader.sees("]", ")"):
        spans.append(_span(reader, reader.next.at))
        if not reader.among(UNION):
            break
        reader.take()
    _close(reader, spans)
    if reader.among(UNION) and reader.sees("[", beyond=1):
        reader.fail(f"an open window stands alone; [{hole.text}*2] has up to two pieces")
    return reader.open_window(hole, tuple(spans), pieces)


def _span(reader: Reader, at: int) -> Span:
    first = last = _bound(reader)
    if reader.sees(","):
        reader.take()
        last = _bound(reader)
    if isinf(first):
        reader.fail("a window cannot start at infinity", at)
    if reader.sees(")") and last <= first:
        reader.fail(f"the window [{first:g},{last:g}) is empty", at)
    return int(first), last


def _close(reader: Reader, spans: list[Span]) -> None:
    """Take the bracket; a round one ends the last span a sample earlier."""
    if not reader.sees("]", ")"):
        reader.unexpected("',' and the end of the window, or ']'")
    if reader.take().text == ")" and spans and not isinf(spans[-1][1]):
        spans[-1] = spans[-1][0], spans[-1][1] - 1


def _bound(reader: Reader) -> float:
    token = reader.next
    if reader.among(ENDLESS):
        reader.take()
        return inf
    if token.kind != "number":
        reader.unexpected("a number of samples" if reader.dt is None else "a time")
    value = number(reader)
    samples = value if reader.dt is None else value / reader.dt
    if isinf(samples):
        reader.fail(f"{excerpt(token.text)} is too far at {reader.dt!r} between samples", token.at)
    if abs(samples - round(samples)) > 1e-6:
        if reader.dt is None:
            reader.fail(
                f"windows count samples, {excerpt(token.text)} is not whole",
                token.at,
                "windows in time units need --time-units, or parse(text, dt=...) in Python",
            )
        reader.fail(f"{excerpt(token.text)} is not a multiple of the time between samples, {reader.dt!r}", token.at)
    return round(samples)


def number(reader: Reader) -> float:
    """The number here, which has been seen to be one."""
    token = reader.take()
    value = float(token.text)
    if isinf(value):
        reader.fail("a number too large for a float", token.at)
    return value
