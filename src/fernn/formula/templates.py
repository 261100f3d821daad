"""Templates: search spaces as formulas with open choices.

A template is a formula with open atoms, open windows or choices in it. Holes are told apart by name, choices by
value: what is equal is one hole, filled once. Here is what is open in a template, the formulas that it stands for,
the templates that learners start from, and `merge_template`, which drops the options that say nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import count, groupby, islice
from typing import Any, Literal, TypeVar

from ..errors import FormulaError
from .laws import operands
from .measures import length, map_nodes, mirror
from .nodes import (
    ALL_TIME,
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Once,
    OpenInterval,
    Or,
    Until,
    children,
    replace_children,
    walk,
)
from .printer import show
from .simplify import LAWS, law_rewriter, rewrite_until_stable, simplify

Hole = TypeVar("Hole", AnyAtom, OpenInterval)
Settlement = tuple[Formula, Mapping[AnyOf, int]]
"""A formula without choices, and the number of the option taken in each choice met on the way."""


def is_template(formula: Formula) -> bool:
    """Whether anything is open."""
    return any(isinstance(node, (AnyAtom, AnyOf)) or _open_window(node) is not None for node in walk(formula))


def atoms_open(formula: Formula) -> tuple[AnyAtom, ...]:
    """The open atoms in the order of their first mention."""
    return _distinct(node for node in walk(formula) if isinstance(node, AnyAtom))


def windows_open(formula: Formula) -> tuple[OpenInterval, ...]:
    """The open windows in the order of their first mention."""
    return _distinct(over for node in walk(formula) if (over := _open_window(node)) is not None)


def choices(formula: Formula) -> tuple[AnyOf, ...]:
    """The choices in the order of their first mention, outermost first."""
    return tuple(dict.fromkeys(node for node in walk(formula) if isinstance(node, AnyOf)))


def require_closed(formula: Formula) -> Formula:
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


def expand_template(template: Formula) -> Iterator[Formula]:
    """The formula of every way to settle the choices; atoms and windows stay open."""
    return (formula for formula, _ in settle_choices(template))


def settle_choices(template: Formula, given: Mapping[AnyOf, int] | None = None) -> Iterator[Settlement]:
    """Every way to settle the choices that `given` leaves, first options first."""
    taken = given or {}
    if isinstance(template, AnyOf):
        numbers = [taken[template]] if template in taken else range(len(template.options))
        for number in numbers:
            yield from settle_choices(template.options[number], {**taken, template: number})
    else:
        for inside, after in _settle_all(children(template), taken):
            yield replace_children(template, inside), after


def _settle_all(
    parts: tuple[Formula, ...], taken: Mapping[AnyOf, int]
) -> Iterator[tuple[tuple[Formula, ...], Mapping[AnyOf, int]]]:
    """As `settled`, for formulas beside each other: a choice that stands in several is settled once."""
    if not parts:
        yield (), taken
        return
    for first, after in settle_choices(parts[0], taken):
        for rest, final in _settle_all(parts[1:], after):
            yield (first, *rest), final


def fill_template(
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
            number = _look_up(choices, template, f"which option of {template}")
            if not 0 <= number < len(options):
                raise FormulaError(f"{template} has {len(options)} options, counted from 0; found {number}")
            return fill_template(options[number], atoms, windows, choices)
        case AnyAtom(name):
            return _check_atom(template, _look_up(atoms, name, f"the atom ?{name}"))
    inside = replace_children(
        template, tuple(fill_template(part, atoms, windows, choices) for part in children(template))
    )
    over = _open_window(template)
    if over is None:
        return inside
    chosen = _check_window(over, _look_up(windows, over.name, f"the window ?{over.name}"))
    return type(template)(*children(inside), chosen)  # type: ignore[arg-type,call-arg]


def _look_up(given: Mapping[Any, Any] | None, key: Any, what: str) -> Any:
    if given is None or key not in given:
        raise FormulaError(f"cannot fill the template: {what} is not given")
    return given[key]


def _check_atom(hole: AnyAtom, atom: Atom) -> Atom:
    """The atom, where the hole allows its channels and the side that it bounds."""
    other = [name for name in atom.channels if hole.channels and name not in hole.channels]
    if other:
        raise FormulaError(f"{hole} may read {', '.join(hole.channels)}, found {other[0]!r} in {atom}")
    if atom.relation[0] not in [relation[0] for relation in hole.relations]:
        raise FormulaError(f"{hole} may compare with {', '.join(hole.relations)}, found {atom}")
    return atom


def _check_window(hole: OpenInterval, over: Interval) -> Interval:
    """The window, where the hole allows its ends and the number of its pieces."""
    if not hole.covers(over) or len(over.spans) > hole.pieces:
        raise FormulaError(f"the window {hole} cannot be {over}")
    return over


def _open_window(node: Formula) -> OpenInterval | None:
    over = getattr(node, "over", None)
    return over if isinstance(over, OpenInterval) else None


def _distinct(holes: Iterable[Hole]) -> tuple[Hole, ...]:
    named: dict[str, Hole] = {}
    for hole in holes:
        if named.setdefault(hole.name, hole) != hole:
            raise FormulaError(f"?{hole.name} is open in two ways: {named[hole.name]} and {hole}")
    return tuple(named.values())


Way = Literal["future", "past"]

_Shape = tuple["_Shape", ...]
"""A bare tree: () an atom, (a,) a unary operator, (a, b) a binary one."""


LONGEST = 12
"""Of the templates of all formulas: there are 5,798 shapes of this length, and three times as many of the next."""


def exactly_length(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Formula:
    """Every formula of `n` atoms and operators: each shape, its operators open, its atoms p1, p2, ... open.

    The operators are `G F & | U`, for the past `H O & | S`; without `since` there is no U or S. With `intervals`
    every G, F, H and O has an open window of at most `pieces` spans; they are w1, w2, ... from the left, outermost
    first.
    """
    _check_length(n, 1, LONGEST)
    return _orient(direction, one_of(_label_shape(shape, since, pieces if intervals else 0) for shape in _shapes(n)))


def up_to_length(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Formula:
    """Every formula of at most `n` atoms and operators, shapes as in `exactly_length`, short ones first."""
    return one_of(options_up_to(n, direction, since, intervals, pieces))


def options_up_to(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Iterator[Formula]:
    """The options of `up_to_length`, one after the other: there are three times as many with every length."""
    _check_length(n, 1, LONGEST)
    shapes = (shape for size in range(1, n + 1) for shape in _shapes(size))
    return (_orient(direction, _label_shape(shape, since, pieces if intervals else 0)) for shape in shapes)


def _shapes(n: int) -> Iterator[_Shape]:
    """Every tree of `n` nodes."""
    if n == 1:
        yield ()
    for inner in _shapes(n - 1) if n > 1 else ():
        yield (inner,)
    for size in range(1, n - 1):
        for left in _shapes(size):
            for right in _shapes(n - 1 - size):
                yield left, right


def _label_shape(shape: _Shape, since: bool, pieces: int) -> Formula:
    atoms, windows = count(1), count(1)

    def label(part: _Shape) -> Formula:
        match part:
            case ():
                return AnyAtom(f"p{next(atoms)}")
            case (inner,):
                over = OpenInterval(name=f"w{next(windows)}", pieces=pieces) if pieces else ALL_TIME
                return always_or_eventually(label(inner), over)
            case (left, right):
                return any_pair(label(left), label(right), since)
        raise AssertionError(part)

    return label(shape)


def always_or_eventually(inner: Formula, over: Interval = ALL_TIME) -> AnyOf:
    """`?{G, F} inner`"""
    return AnyOf((Always(inner, over), Eventually(inner, over)))


def any_pair(left: Formula, right: Formula, until: bool = True) -> AnyOf:
    """`left ?{&, |, U} right`"""
    both = (And(left, right), Or(left, right))
    return AnyOf((*both, Until(left, right)) if until else both)


def reactive(direction: Way = "future", intervals: bool = True) -> Formula:
    """Reactive PSTL, `F (cause -> effect)`: each of the two is a delayed atom, or two of them joined by & or |.

    A delayed atom is `G[?w] ?p` or `F[?w] ?p`; without `intervals` the windows are all time.
    """
    windows = count(1)

    def window() -> Interval:
        return OpenInterval(name=f"w{next(windows)}") if intervals else ALL_TIME

    def delayed(name: str) -> Formula:
        return always_or_eventually(AnyAtom(name), window())

    def part(first: str, second: str) -> Formula:
        one, two = delayed(first), delayed(second)
        return AnyOf((one, And(one, two), Or(one, two)))

    outer = window()
    return _orient(direction, Eventually(Implies(part("p1", "p2"), part("p3", "p4")), outer))


def paper_length(n: int, since: bool = True, direction: Way = "future") -> Formula:
    """The network of one length, 2 to 6, as in the experiments of the paper; equal parts are shared.

    The atoms p1, p2, p3 are shared by all of it. With `since`, U (for the past S) is among the operators.
    """
    _check_length(n, 2, 6)
    return _orient(direction, one_of(_paper(n, since)))


def paper_up_to(n: int, since: bool = True, direction: Way = "future") -> Formula:
    """The paper's network for lengths 2 to `n`: a choice among the networks of each length."""
    _check_length(n, 2, 6)
    return _orient(direction, one_of(one_of(_paper(size, since)) for size in range(2, n + 1)))


def open_all_windows(template: Formula, pieces: int = 1) -> Formula:
    """Every G, F, H and O over all time gets an open window w1, w2, ..., of at most `pieces` spans.

    Those over the same formula share one, so that `?{G, F} p` becomes `?{G, F}[?w1] p`.
    """
    names: dict[Formula, str] = {}

    def change(node: Formula) -> Formula:
        match node:
            case Always(a, over) | Eventually(a, over) | Historically(a, over) | Once(a, over) if over.is_all_time:
                name = names.setdefault(a, f"w{len(names) + 1}")
                return type(node)(a, OpenInterval(name=name, pieces=pieces))
        return node

    return map_nodes(template, change)


def _paper(n: int, since: bool) -> list[Formula]:
    """What the network of this length ends in a choice among."""
    p1, p2, p3 = AnyAtom("p1"), AnyAtom("p2"), AnyAtom("p3")
    c, last = always_or_eventually, always_or_eventually(p3)
    match n:
        case 2:
            return [c(p1)]
        case 3:
            return [c(c(p1)), Until(p1, p2)] if since else [c(c(p1))]
        case 4:
            more = [Until(c(p1), p2), Until(p2, c(p1))] if since else []
            return [c(any_pair(p1, p2, since)), *more]
        case 5:
            twice = c(c(any_pair(p1, p2, since)))
            return [twice, c(any_pair(p1, last, since)), any_pair(c(p1), last, since)]
    three = one_of(_paper(3, since))
    return [any_pair(three, last, since), any_pair(last, three, since)]


def _orient(direction: Way, future: Formula) -> Formula:
    if direction not in ("future", "past"):
        raise FormulaError(f"the direction of a template is 'future' or 'past', found {direction!r}")
    return future if direction == "future" else mirror(future)


def _check_length(n: int, least: int, most: int | None = None) -> None:
    if n < least or (most is not None and n > most):
        wanted = f"{least} to {most}" if most is not None else f"at least {least}"
        raise FormulaError(f"the length of this template is {wanted}, found {n}")


def canonical_form(shape: Formula) -> Formula:
    """The form of the shape, with open atoms p1, p2, ... and open windows w1, w2, ..."""
    form = rewrite_until_stable(shape, _rewrite_sorted)
    atoms = {hole.name: f"p{number}" for number, hole in enumerate(atoms_open(form), 1)}
    windows = {hole.name: f"w{number}" for number, hole in enumerate(windows_open(form), 1)}
    return _rename_holes(form, atoms.__getitem__, windows.__getitem__)


def sort_operands(node: Formula) -> Formula | None:
    """The operands of & and | in a fixed order, equal operators together, so that laws about pairs see them."""
    if not isinstance(node, (And, Or)):
        return None
    kind = type(node)
    ordered = sorted(operands(node, kind), key=_sort_key)
    together = [reduce(kind, list(group)) for _, group in groupby(ordered, key=type)]
    return reduce(kind, together)


_rewrite_sorted = law_rewriter((*LAWS, sort_operands))


@lru_cache(maxsize=50_000)
def _sort_key(formula: Formula) -> tuple[str, str]:
    """An order of formulas that does not look at the names of holes."""
    return type(formula).__name__, show(_rename_holes(formula, lambda name: "p", lambda name: "w"))


def _rename_holes(formula: Formula, atom: Callable[[str], str], window: Callable[[str], str]) -> Formula:
    def change(node: Formula) -> Formula:
        if isinstance(node, AnyAtom):
            return replace(node, name=atom(node.name))
        over = getattr(node, "over", None)
        if isinstance(over, OpenInterval):
            return replace(node, over=replace(over, name=window(over.name)))  # type: ignore[arg-type]
        return node

    return map_nodes(formula, change)


MOST_SHAPES = 20_000
"""Templates of more shapes stay as they are."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to settle a branch: the shape it gives, and the options taken for it."""

    branch: int
    shape: Formula
    taken: Mapping[AnyOf, int]

    @property
    def options(self) -> set[tuple[int, AnyOf | None, int]]:
        """What the template has to keep for it: the branch, and one option of each choice met."""
        return {(self.branch, None, 0), *((self.branch, choice, number) for choice, number in self.taken.items())}


def merge_template(template: Formula) -> Formula:
    """The template with the options that are needed: for every shape of the one, a shape of the other says the same."""
    branches = _branches(template)
    found = merge_options(branches)
    return template if found is branches else one_of(found)


def merge_options(branches: list[Formula], pulse: Callable[[], None] = lambda: None) -> list[Formula]:
    """The options of a choice that are needed, narrowed; themselves where there are too many shapes to compare.

    `pulse` is called often; what it raises ends it.
    """
    ways: list[_Way] = []
    for number, branch in enumerate(branches):
        room = MOST_SHAPES + 1 - len(ways)
        for shape, taken in islice(settle_choices(branch), room):
            ways.append(_Way(number, shape, taken))
            pulse()
        if len(ways) > MOST_SHAPES:
            return branches
    kept: dict[int, list[_Way]] = {}
    for way in _select_ways(ways, pulse):
        kept.setdefault(way.branch, []).append(way)
    narrowed = []
    for number, branch in enumerate(branches):
        narrowed.append(_narrow(branch, kept.get(number, [])))
        pulse()
    return [branch for branch in narrowed if branch is not None]


def _branches(template: Formula) -> list[Formula]:
    """The options of the outermost choice, and of a choice right inside it; a choice of operators is one branch."""
    if not isinstance(template, AnyOf) or len({children(option) for option in template.options}) == 1:
        return [template]
    return [branch for option in template.options for branch in _branches(option)]


def _select_ways(ways: Iterable[_Way], pulse: Callable[[], None]) -> list[_Way]:
    """One way for each thing said: of the shortest, one that needs few options besides those needed anyway."""
    same: dict[Formula, list[_Way]] = {}
    for way in ways:
        same.setdefault(canonical_form(way.shape), []).append(way)
        pulse()
    for form, group in same.items():
        least = min(length(way.shape) for way in group)
        same[form] = [way for way in group if length(way.shape) == least]
    kept: list[_Way] = []
    needed: set[tuple[int, AnyOf | None, int]] = set()
    for group in sorted(same.values(), key=len):
        best = min(group, key=lambda way: (len(way.options - needed), simplify(way.shape) != way.shape))
        needed |= best.options
        kept.append(best)
        pulse()
    return kept


def _narrow(branch: Formula, ways: Sequence[_Way]) -> Formula | None:
    """The branch with the options that these ways take; nothing where there are no ways."""
    if not ways:
        return None
    used = {(choice, number) for way in ways for choice, number in way.taken.items()}

    def narrow(part: Formula) -> Formula:
        if isinstance(part, AnyOf):
            return one_of(narrow(option) for i, option in enumerate(part.options) if (part, i) in used)
        return replace_children(part, tuple(narrow(child) for child in children(part)))

    narrower = narrow(branch)
    # Choices that differed may have become equal, and so one: then the branch stays as it was.
    shapes = {shape for shape, _ in settle_choices(narrower)}
    return narrower if all(way.shape in shapes for way in ways) else branch
