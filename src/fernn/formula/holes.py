"""What is open in a template, and the formulas it stands for.

A template is a formula with open atoms, open windows or choices in it. Holes are told apart by name, choices by
value: what is equal is one hole, filled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ..errors import FormulaError
from .interval import Interval, OpenInterval
from .nodes import AnyAtom, AnyOf, Atom, Formula, children, rebuilt, walk

Hole = TypeVar("Hole", AnyAtom, OpenInterval)
Settled = tuple[Formula, Mapping[AnyOf, int]]
"""A formula without choices, and the number of the option taken in each choice met on the way."""


def is_template(formula: Formula) -> bool:
    """Whether anything is open."""
    return any(isinstance(node, (AnyAtom, AnyOf)) or _window(node) is not None for node in walk(formula))


def atoms_open(formula: Formula) -> tuple[AnyAtom, ...]:
    """The open atoms in the order of their first mention."""
    return _distinct(node for node in walk(formula) if isinstance(node, AnyAtom))


def windows_open(formula: Formula) -> tuple[OpenInterval, ...]:
    """The open windows in the order of their first mention."""
    return _distinct(over for node in walk(formula) if (over := _window(node)) is not None)


def choices(formula: Formula) -> tuple[AnyOf, ...]:
    """The choices in the order of their first mention, outermost first."""
    return tuple(dict.fromkeys(node for node in walk(formula) if isinstance(node, AnyOf)))


def without_holes(formula: Formula) -> Formula:
    """The formula, refused where something in it is open."""
    if not is_template(formula):
        return formula
    names = [*(f"?{hole.name}" for hole in atoms_open(formula)), *(str(hole) for hole in windows_open(formula))]
    found = ", ".join(names or [str(choice) for choice in choices(formula)])
    raise FormulaError(f"{formula} has open choices: {found}; fill them or learn them with fernn learn --template")


def one_of(options: Iterable[Formula]) -> Formula:
    """A choice among these, each once; the option itself where there is only one."""
    kept = tuple(dict.fromkeys(options))
    return kept[0] if len(kept) == 1 else AnyOf(kept)


def expanded(template: Formula) -> Iterator[Formula]:
    """The formula of every way to settle the choices; atoms and windows stay open."""
    return (formula for formula, _ in settled(template))


def settled(template: Formula, given: Mapping[AnyOf, int] | None = None) -> Iterator[Settled]:
    """Every way to settle the choices that `given` leaves, first options first."""
    taken = given or {}
    if isinstance(template, AnyOf):
        numbers = [taken[template]] if template in taken else range(len(template.options))
        for number in numbers:
            yield from settled(template.options[number], {**taken, template: number})
    else:
        for inside, after in _settled_all(children(template), taken):
            yield rebuilt(template, inside), after


def _settled_all(
    parts: tuple[Formula, ...], taken: Mapping[AnyOf, int]
) -> Iterator[tuple[tuple[Formula, ...], Mapping[AnyOf, int]]]:
    """As `settled`, for formulas beside each other: a choice that stands in several is settled once."""
    if not parts:
        yield (), taken
        return
    for first, after in settled(parts[0], taken):
        for rest, final in _settled_all(parts[1:], after):
            yield (first, *rest), final


def filled(
    template: Formula,
    atoms: Mapping[str, Atom] | None = None,
    windows: Mapping[str, Interval] | None = None,
    choices: Mapping[AnyOf, int] | None = None,
) -> Formula:
    """The formula with every hole filled: atoms and windows by name, choices by the number of the option.

    Only the holes of the options taken are asked for.
    """
    match template:
        case AnyOf(options):
            number = _found(choices, template, f"which option of {template}")
            if not 0 <= number < len(options):
                raise FormulaError(f"{template} has {len(options)} options, counted from 0; found {number}")
            return filled(options[number], atoms, windows, choices)
        case AnyAtom(name):
            return _allowed(template, _found(atoms, name, f"the atom ?{name}"))
    inside = rebuilt(template, tuple(filled(part, atoms, windows, choices) for part in children(template)))
    over = _window(template)
    if over is None:
        return inside
    chosen = _within(over, _found(windows, over.name, f"the window ?{over.name}"))
    return type(template)(*children(inside), chosen)  # type: ignore[call-arg]


def _found(given: Mapping[Any, Any] | None, key: Any, what: str) -> Any:
    if given is None or key not in given:
        raise FormulaError(f"cannot fill the template: {what} is not given")
    return given[key]


def _allowed(hole: AnyAtom, atom: Atom) -> Atom:
    """The atom, where the hole allows its channels and the side that it bounds."""
    other = [name for name in atom.channels if hole.channels and name not in hole.channels]
    if other:
        raise FormulaError(f"{hole} may read {', '.join(hole.channels)}, found {other[0]!r} in {atom}")
    if atom.relation[0] not in [relation[0] for relation in hole.relations]:
        raise FormulaError(f"{hole} may compare with {', '.join(hole.relations)}, found {atom}")
    return atom


def _within(hole: OpenInterval, over: Interval) -> Interval:
    """The window, where the hole allows its ends and the number of its pieces."""
    if not hole.covers(over) or len(over.spans) > hole.pieces:
        raise FormulaError(f"the window {hole} cannot be {over}")
    return over


def _window(node: Formula) -> OpenInterval | None:
    over = getattr(node, "over", None)
    return over if isinstance(over, OpenInterval) else None


def _distinct(holes: Iterable[Hole]) -> tuple[Hole, ...]:
    named: dict[str, Hole] = {}
    for hole in holes:
        if named.setdefault(hole.name, hole) != hole:
            raise FormulaError(f"?{hole.name} is open in two ways: {named[hole.name]} and {hole}")
    return tuple(named.values())
