"""The registry of learners by name, and a learner as plain data, made again from it where the work is.

A learner is one file and one line of `BUILT_IN`. Other packages bring learners of their own with `register_learner`, or
with an entry point of the group `fernn.learners` that names the class, or a `Method`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, Any, cast

from ..errors import UnsupportedError, short_repr
from ..formula import Formula, channels, direction, parse
from ..formula.plugins import Registry, import_object
from ..formula.templates import require_closed

if TYPE_CHECKING:  # light, so that help can ask it
    from ..data import Dataset
    from ..engines import Engine
    from .base import Learner

ENGINE_FIELD = {"where": True}
"""Marks the field of a learner that says which engine it uses: no part of what it is, so runs go on with another."""


def is_setting(each: Field[Any]) -> bool:
    """Whether a field says what is learned, and not where."""
    return "where" not in each.metadata


SETTINGS = {
    "max_length": "The most conditions such as v <= 3, and operators, in a rule.",
    "template": "A formula with open choices, to search only those.",
    "direction": "Whether rules look ahead from the first sample (future) or back from the last (past).",
    "since": "Whether Until (Since, for the past) is among the operators.",
    "intervals": "Whether rules get windows in time, as in F[3,9].",
    "pieces": "The most pieces of a window: 2 for unions such as [0,1]u[5,7].",
    "atoms": "The conditions that are tried: axis (v <= 3), linear (2*v - w <= 3) or differences (v - w <= 3).",
    "signals": "What conditions may read: the channels (raw), also changes, means and the like that are found to tell "
    "the classes apart (auto), or a list of expressions such as diff(v) or v - w.",
    "thresholds": "Which thresholds are tried: all that matter (exact), a grid, or what suits the data (auto).",
    "grid": "How many thresholds of each channel are on the grid.",
    "class_weight": "balanced: both classes count the same, however many traces they have; or a weight for each class.",
    "miss_cost": "The cost of a bad trace that is judged good.",
    "false_alarm_cost": "The cost of a good trace that is judged bad.",
    "folds": "Parts of the data on which the search is repeated to estimate its error on unseen traces; 0 for none.",
    "memory": "The memory that the search may take.",
    "seed": "The same seed gives the same rules.",
    "time_limit": "Seconds after which the search ends with the best rule so far.",
}
"""What a setting means wherever a learner has it and does not say otherwise in the docstring of its field."""
_JUDGE = "fernn.semantics.interpreter:run_bytecode"
_EXACT = "fernn.learners.enumerative.scoring:score_word_pairs"
_NETWORK = "fernn.learners.fernn.compiled_network:run_network"


@dataclass(frozen=True)
class Method:
    """A learner, what it does in a line, and its own names for settings that the command line calls otherwise."""

    source: type[Any] | str
    """The class, or where it is: `module:Class`, imported when it is first needed."""
    line: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    kernel: str = _JUDGE
    """Where the compiled function is that takes longest to compile of those it runs on: `module:function`."""

    __repr__ = short_repr

    @property
    def kind(self) -> type[Any]:
        """The class of the learner."""
        return import_object(self.source, __package__) if isinstance(self.source, str) else self.source

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting as plain data: formulas are text, tuples are lists."""
        plain = self.kind()
        return {each.name: to_plain(getattr(plain, each.name)) for each in fields(plain) if is_setting(each)}

    @property
    def sentences(self) -> dict[str, str]:
        """What each setting means: the docstring of its field, or what SETTINGS says of its name."""
        said = dict(SETTINGS)
        for each in reversed(self.kind.__mro__):
            said |= _field_docstrings(each)
        return {name: " ".join(said.get(name, "").split()) for name in self.defaults}

    @property
    def is_compiled(self) -> bool:
        """Whether its kernel is compiled for this machine already."""
        from ..semantics.jit_cache import is_compiled

        return is_compiled(import_object(self.kernel))


def _field_docstrings(kind: type[Any]) -> dict[str, str]:
    """The strings below the fields of a class, which Python itself forgets; none where its source is not there."""
    try:
        (tree,) = ast.parse(dedent(inspect.getsource(kind))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    found = {}
    for one, other in pairwise(getattr(tree, "body", [])):
        match one, other:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = text
    return found


BUILT_IN = {
    "fernn": Method(
        ".fernn.fernn:Fernn", "The default. Searches by training small networks; also predicts numbers.",
        kernel=_NETWORK,
    ),
    "enumerative": Method(
        ".enumerative.enumerative:Enumerative", "every formula of a space, with a certificate that none errs less",
        kernel=_EXACT,
    ),
    "lattice": Method(
        ".lattice.lattice:Lattice", "reactive rules, F (cause -> effect), along their order; can predict the effect"
    ),
    "tree": Method(
        ".tree:Tree", "a decision tree of short formulas, read as one formula; several trees can vote", kernel=_EXACT
    ),
    "maxsat": Method(
        ".maxsat:MaxSat", "the smallest formula for traces of 0 and 1, by a solver (needs fernn[verify])"
    ),
    "paper": Method(
        ".paper:PaperFernn", "FERNN as the paper trains it, to compare with", {"max_length": "length"}, _NETWORK
    ),
}  # fmt: skip


def _accept_learner(name: str, found: Any) -> Method:
    """What an entry point names, as a method."""
    if isinstance(found, Method):
        made = found
    else:
        if not (isinstance(found, type) and is_dataclass(found) and callable(getattr(found, "fit", None))):
            what = found.__name__ if isinstance(found, type) else f"a {type(found).__name__}"
            raise TypeError(f"it names {what}, not a learner: a dataclass of settings with a method fit")
        made = Method(found, (inspect.getdoc(found) or "").partition("\n")[0])
    made.defaults  # noqa: B018  every setting has a default
    return made


METHODS: Registry[Method] = Registry("fernn.learners", "learner", BUILT_IN, _accept_learner)
"""The learners by name: those of fernn, and those of other packages."""


def register_learner(name: str, learner: type[Any] | Method) -> None:
    """From now on `--method NAME` is this learner, in Python and by every command of this process."""
    METHODS.register(name, learner)


def engine_for(learner: Any) -> Engine:
    """The one that a learner names, itself or within what is known of the rule; else the one chosen for all."""
    from ..engines import resolve_engine

    inner = getattr(learner, "learner", learner)
    return resolve_engine(getattr(inner, "engine", None))


def learner_to_dict(learner: Learner) -> dict[str, Any]:
    """From which `made` makes an equal one, which works where it is."""
    from .constraints import ConstrainedLearner

    if isinstance(learner, ConstrainedLearner):
        return {"kind": "Informed", "learner": learner_to_dict(learner.learner), "prior": learner.prior.to_json()}
    kind = _registered_name(learner)
    named = [each for each in fields(cast(Any, learner)) if is_setting(each)]
    return {"kind": kind, "settings": {each.name: to_plain(getattr(learner, each.name)) for each in named}}


def learner_from_dict(told: dict[str, Any]) -> Learner:
    from .constraints import Prior, constrain

    if told["kind"] == "Informed":
        return constrain(learner_from_dict(told["learner"]), Prior.from_json(told["prior"]))
    given = dict(told["settings"])
    if given.get("template") is not None:
        given["template"] = parse(given["template"])
    if "guesses" in given:
        given["guesses"] = tuple(parse(text) for text in given["guesses"])
    kind = _kind_named(told["kind"])
    here = {each.name: "local" for each in fields(kind) if not is_setting(each)}
    found: Learner = kind(**given, **here)
    return found


def _registered_name(learner: Learner) -> str:
    """By which a worker finds the class: its own name for those of fernn, else the one it is registered by."""
    kind = type(learner)
    for known in (METHODS.loaded, METHODS):  # those of packages that nobody asked for are loaded last
        for name, method in known.items():
            if isinstance(method.source, str) and method.source.rpartition(":")[2] != kind.__name__:
                continue  # not worth an import
            if method.kind is kind:
                return kind.__name__ if BUILT_IN.get(name) is method else name
    raise UnsupportedError(
        f"{kind.__name__} cannot be sent to an engine, where it is looked up by name. Use engine='local', or give it "
        "a name that the workers know too: an entry point of the group fernn.learners."
    )


def _kind_named(name: str) -> type[Any]:
    for method in BUILT_IN.values():
        if isinstance(method.source, str) and method.source.rpartition(":")[2] == name:
            return method.kind
    return METHODS.find(name, "a learner").kind


def read_formula(text: Any, data: Dataset) -> Formula:
    """A formula that a worker answered with; a ValueError where it cannot have come from these data."""
    formula = require_closed(parse(text))
    if not set(channels(formula)) <= set(data.channels):
        raise ValueError(f"{formula} reads what {data.name} does not have")
    if direction(formula) == "mixed":
        raise ValueError(f"{formula} looks both back and ahead")
    return formula


def to_plain(value: Any) -> Any:
    """Formulas are text, tuples are lists."""
    if isinstance(value, Formula):
        return str(value)
    return [to_plain(inner) for inner in value] if isinstance(value, (tuple, list)) else value
