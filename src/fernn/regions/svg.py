"""A set of one or two parameters as an SVG picture that needs nothing else.

One parameter: both rates along it, the allowed stretch shaded. Two: the allowed boxes in their plane. The colours are
told apart by all eyes, and in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, log10
from xml.sax.saxutils import escape

from ..formula.show import number
from .found import ParameterSet
from .view import View, views

WIDTH, HEIGHT = 640, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 64, 58
ALLOWED, DOUBT, ALARMS, MISSES, POINT = "#9ecae1", "#d9d9d9", "#0072b2", "#d55e00", "#000000"
Place = Callable[[float], float]


def to_svg(found: ParameterSet) -> str:
    """The picture as text."""
    shown = views(found)
    body = _line(found, shown[0]) if len(shown) == 1 else _plane(found, shown[0], shown[1])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(f'The values that {found.text} may have')}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 22, found.text, size=15),
        _text(LEFT, 40, f"false alarms at most {found.false_alarms:.4g}, misses at most {found.misses:.4g}"),
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _line(found: ParameterSet, view: View) -> Iterator[str]:
    x, y = _across(view), _scale(0, 1, HEIGHT - BOTTOM, TOP)
    for boxes, colour in ((found.undecided, DOUBT), (found.boxes, ALLOWED)):
        for box in boxes:
            yield _rectangle(view.ends(box[0]), (0, 1), x, y, colour)
    for profile in found.profiles:
        for rates, colour, dashes in ((profile.false_alarms, ALARMS, "none"), (profile.misses, MISSES, "6 3")):
            points = [f"{x(value):.1f},{y(rate):.1f}" for value, rate in zip(profile.values, rates, strict=True)]
            stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
            yield f'<polyline points="{" ".join(points)}" fill="none" {stroke}/>'
    if found.picked is not None:
        place = x(found.picked.values[view.name])
        yield f'<path d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{POINT}" stroke-dasharray="2 3"/>'
    yield from _axes(view, View("share of traces judged wrongly", 0, 1, False), x, y)
    yield from _key(found, [("false alarms", ALARMS), ("misses (dashed)", MISSES)])


def _plane(found: ParameterSet, across: View, up: View) -> Iterator[str]:
    x, y = _across(across), _scale(up.low, up.high, HEIGHT - BOTTOM, TOP, up.is_end)
    for boxes, colour in ((found.undecided, DOUBT), (found.boxes, ALLOWED)):
        for box in boxes:
            yield _rectangle(across.ends(box[0]), up.ends(box[1]), x, y, colour)
    if found.picked is not None:
        at = found.picked.values
        yield f'<circle cx="{x(at[across.name]):.1f}" cy="{y(at[up.name]):.1f}" r="5" fill="{POINT}"/>'
    yield from _axes(across, up, x, y)
    yield from _key(found, [])


def _rectangle(across: tuple[float, float], up: tuple[float, float], x: Place, y: Place, colour: str) -> str:
    """At least a line wide: a single value can be seen."""
    left, right = x(across[0]), x(across[1])
    bottom, top = y(up[0]), y(up[1])
    if right < left or top > bottom:
        return ""
    size = f'width="{max(right - left, 1):.2f}" height="{max(bottom - top, 1):.2f}"'
    return f'<rect x="{left:.2f}" y="{top:.2f}" {size} fill="{colour}"/>'


def _axes(across: View, up: View, x: Place, y: Place) -> Iterator[str]:
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{end}" fill="none" stroke="#444444"/>'
    for value in _ticks(across):
        yield f'<path d="M{x(value):.1f} {bottom}v5" stroke="#444444"/>'
        yield _text(x(value), bottom + 19, number(value), "middle")
    for value in _ticks(up):
        yield f'<path d="M{LEFT} {y(value):.1f}h-5" stroke="#444444"/>'
        yield _text(LEFT - 8, y(value) + 4, number(value), "end")
    yield _text((LEFT + end) / 2, bottom + 40, across.name, "middle")
    yield _text(LEFT, TOP - 8, up.name)


def _key(found: ParameterSet, more: list[tuple[str, str]]) -> Iterator[str]:
    entries = [("allowed", ALLOWED), *([("undecided", DOUBT)] if found.undecided else []), *more]
    if found.picked is not None:
        entries.append(("recommended (dotted)" if more else "recommended (dot)", POINT))
    place = LEFT
    for words, colour in entries:
        yield f'<rect x="{place}" y="{HEIGHT - 15}" width="11" height="11" fill="{colour}"/>'
        yield _text(place + 15, HEIGHT - 5, words, size=12)
        place += 30 + 7 * len(words)


def _ticks(view: View) -> list[float]:
    """Some five round numbers."""
    step = 10.0 ** floor(log10((view.high - view.low) / 4))
    step = next(step * k for k in (1, 2, 5, 10) if (view.high - view.low) / (step * k) <= 6)
    if view.is_end:
        step = max(round(step), 1)
    first = -(-view.low // step)
    places = [round((first + i) * step, 12) for i in range(8)]
    return [value for value in places if view.low <= value <= view.high]


def _across(view: View) -> Place:
    return _scale(view.low, view.high, LEFT, WIDTH - RIGHT, view.is_end)


def _scale(low: float, high: float, start: float, end: float, is_end: bool = False) -> Place:
    half = 0.5 if is_end else 0.0
    return lambda value: start + (value - low + half) / (high - low + 2 * half) * (end - start)


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'
