"""Plug-ins: what is chosen by a name, built in or brought by an installed package through an entry point.

Learners, export targets and engines are each a `Registry`; readers, which are chosen by a suffix, use `load_plugins`.
The code of another package is imported when its name is asked for, or when all of a kind are listed; never before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from ..errors import FernnWarning, UnsupportedError, describe_error

Kind = TypeVar("Kind")
Accept = Callable[[str, Any], Kind]
"""Makes an entry of a registry out of what an entry point names; it raises a TypeError where that is something else."""


def import_object(path: str, package: str | None = None) -> Any:
    """What `module:name` names; a module that begins with a dot is of the package."""
    module, _, name = path.partition(":")
    found = import_module(module, package)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class Registry(MutableMapping[str, Kind], Generic[Kind]):
    """Things of one kind by name: the built-in ones first, then those of installed packages, which replace none.

    As a mapping it has those that can be used. Looking a name up loads no other, iterating loads all; a plug-in that
    cannot be loaded is left out with a warning that names it.
    """

    def __init__(self, group: str, what: str, built_in: Mapping[str, Kind], accept: Accept[Kind]) -> None:
        self.group, self.what = group, what
        self._known = dict(built_in)
        self._accept = accept
        self._broken: dict[str, str] = {}

    def __getitem__(self, name: str) -> Kind:
        if name not in self._known:
            self._load(name)
        return self._known[name]

    def __setitem__(self, name: str, thing: Kind) -> None:
        self._known[name] = thing
        self._broken.pop(name, None)

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        for name in self._installed():
            self._load(name)
        return iter(list(self._known))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Registry({self.group!r}, {', '.join(self.names)})"

    @property
    def loaded(self) -> dict[str, Kind]:
        """Those that need no further import: built in, registered, or loaded before."""
        return dict(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all, also those that are not loaded; nothing is imported."""
        return tuple(dict.fromkeys([*self._known, *self._installed()]))

    def find(self, name: str, asked: str) -> Kind:
        """The thing of this name; `asked` begins the error where there is none, as in `--method`."""
        from difflib import get_close_matches

        if isinstance(name, str) and name in self:
            return self._known[name]
        if str(name) in self._broken:
            raise UnsupportedError(self._broken[str(name)])
        names = self.names
        near = get_close_matches(str(name), names, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UnsupportedError(f"{asked} is one of {', '.join(names)}; found {name!r}{hint}")

    def register(self, name: str, thing: Any) -> None:
        """From now on this process knows the thing by this name; a name has one thing."""
        made = self._accept(name, thing)
        if name in self._known and self._known[name] != made:
            raise UnsupportedError(f"there is a {self.what} {name!r} already. Choose another name.")
        self._known[name] = made

    def _installed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(point.name for point in find_entry_points(self.group)))

    def _load(self, name: str) -> None:
        if name in self._known or name in self._broken:
            return
        for point in find_entry_points(self.group):
            if point.name == name and name not in self._known:
                try:
                    self._known[name] = self._accept(name, point.load())
                    self._broken.pop(name, None)
                except (Exception, SystemExit) as error:  # whatever a package of somebody else raises
                    self._broken[name] = describe_failure(self.what, point, error)
        if name in self._broken:
            warnings.warn(self._broken[name], FernnWarning, stacklevel=4)


@cache
def find_entry_points(group: str) -> tuple[Any, ...]:
    """The entry points of installed packages; none of them is loaded."""
    from importlib.metadata import entry_points  # slow to load, and rarely needed

    return tuple(entry_points(group=group))


def load_plugins(group: str, what: str, use: Callable[[Any], None]) -> None:
    """Hands what every entry point of a group names to `use`; one that fails is left out with a warning."""
    for point in find_entry_points(group):
        try:
            use(point.load())
        except (Exception, SystemExit) as error:  # whatever a package of somebody else raises
            warnings.warn(describe_failure(what, point, error), FernnWarning, stacklevel=4)


def describe_failure(what: str, point: Any, error: BaseException) -> str:
    """That a plug-in cannot be used, with its name, where it comes from, and why."""
    owner = "" if point.dist is None else f" of the package {point.dist.name}"
    return f"the {what} {point.name!r} ({point.value}{owner}) cannot be used: {describe_error(error)}"
