"""What is wrong with a recording, where, and what to do about it.

Reading does not stop at the first problem: a `Ledger` gathers them all, so that one run shows
everything there is to mend. An `error` means there is no dataset; a `warning` means there is one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from ..errors import LONGEST_LINE, DataError, excerpt
from ..plain import mapping, text, whole

Severity = Literal["error", "warning"]

SHOWN = 5  # problems of one kind that are told with their place; the rest are counted


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `what` is the fact, `fix` the advice.

    `line` counts from 1 and includes the header; in a Parquet file it counts rows. `count` is how many
    it stands for: more than one where the others of a crowded kind are only counted. `choices` are the
    values among which a person has to choose, where that is what the advice asks for.
    """

    kind: str
    severity: Severity
    what: str
    fix: str
    file: str | None = None
    line: int | None = None
    column: str | None = None
    case: str | None = None
    count: int = 1
    choices: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """`drive.csv line 3, column 'v', case 'a'`, as far as known."""
        place = " ".join(p for p in (self.file, self.line and f"line {self.line}") if p)
        column, case = (name and excerpt(name, 200) for name in (self.column, self.case))
        parts = (place, column and f"column {column!r}", case and f"case {case!r}")
        return ", ".join(p for p in parts if p)

    def __str__(self) -> str:
        head = f"{self.where}: " if self.where else ""
        return f"{head}{excerpt(self.what, LONGEST_LINE)}. {excerpt(self.fix, LONGEST_LINE)}".rstrip()


def _read_problem(content: Any) -> Problem:
    """One that was written as plain data."""
    problem = Problem(**{**mapping(content), "choices": tuple(map(text, content.get("choices", ())))})
    text(problem.kind), text(problem.what), text(problem.fix), whole(problem.count)
    text(problem.file or ""), text(problem.column or ""), text(problem.case or ""), whole(problem.line or 0)
    if problem.severity not in get_args(Severity):
        raise ValueError(f"{problem.severity!r:.40} is no severity")
    return problem


@dataclass
class Ledger:
    """The problems of one file, in the order they were met; `file` is written on each."""

    file: str | None = None
    _kept: dict[tuple[str, Severity], list[Problem]] = field(default_factory=dict)
    _more: dict[tuple[str, Severity], int] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        severity: Severity,
        what: str,
        fix: str,
        *,
        line: int | None = None,
        column: str | None = None,
        case: str | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        """Keep the problem, or only count it when its kind has been told often enough."""
        kept = self._kept.setdefault((kind, severity), [])
        if len(kept) < SHOWN:
            kept.append(Problem(kind, severity, what, fix, self.file, line, column, case, choices=choices))
        else:
            self.count(kind, severity)

    def count(self, kind: str, severity: Severity, n: int = 1) -> None:
        """There are `n` more of this kind, not worth telling one by one."""
        if n > 0:
            self._more[kind, severity] = self._more.get((kind, severity), 0) + n

    def take(self, problems: Iterable[Problem]) -> None:
        """Adopt problems found elsewhere, as being about this file."""
        for p in problems:
            self.add(p.kind, p.severity, p.what, p.fix, line=p.line, column=p.column, case=p.case, choices=p.choices)

    def join(self, later: Ledger) -> None:
        """Those of another ledger after these, each with its own file."""
        for (kind, severity), found in later._kept.items():
            kept = self._kept.setdefault((kind, severity), [])
            room = SHOWN - len(kept)
            kept += found[:room]
            self.count(kind, severity, len(found[room:]) + later._more.get((kind, severity), 0))

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers; `from_json` takes them back."""
        return {
            "kept": [asdict(problem) for kept in self._kept.values() for problem in kept],
            "more": [[kind, severity, n] for (kind, severity), n in self._more.items()],
        }

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Ledger:
        """Any of `plain.BROKEN` where that is not what was told."""
        ledger = Ledger()
        for problem in (_read_problem(each) for each in told["kept"]):
            ledger._kept.setdefault((problem.kind, problem.severity), []).append(problem)
        for kind, severity, count in told["more"]:
            if (kind, severity) not in ledger._kept:
                raise ValueError(f"{kind!r:.40} is counted, but there is none")
            ledger._more[kind, severity] = whole(count)
        return ledger

    @property
    def failed(self) -> bool:
        """Whether any of them rules out a dataset."""
        return any(severity == "error" for _, severity in self._kept)

    def problems(self) -> tuple[Problem, ...]:
        """All of them, errors first; each crowded kind ends with how many more there are."""
        found: list[Problem] = []
        for (kind, severity), kept in self._kept.items():
            found += kept
            if more := self._more.get((kind, severity), 0):
                found.append(Problem(kind, severity, f"and {more} more like this", "", self.file, count=more))
        return tuple(sorted(found, key=lambda p: p.severity))  # a stable sort, "error" < "warning"


def refusal(
    kind: str,
    what: str,
    fix: str,
    *,
    file: str | None = None,
    column: str | None = None,
    case: str | None = None,
    choices: Iterable[str] = (),
) -> DataError:
    """A DataError that carries its one problem."""
    problem = Problem(kind, "error", what, fix, file, column=column, case=case, choices=tuple(choices))
    return DataError(str(problem), [problem])


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'label'?)`, or nothing when no known word is near."""
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    near = near or [w for w in words if w.casefold() == word.casefold()][:1]
    return f" (did you mean {near[0]!r}?)" if near else ""


def unknown_channel(name: str, known: Iterable[str], owner: str, reader: str = "the formula reads") -> str:
    """`the formula reads 'presure' (did you mean 'pressure'?), tank.csv has 'pressure', 'valve'`.

    `owner` is what has the known channels, `reader` what wants the one that is not there, each with its verb.
    """
    names = list(known)
    hint = did_you_mean(name, names)
    if name.endswith("_diff") and name.removesuffix("_diff") in names:
        hint = f" (--steps makes it of {name.removesuffix('_diff')!r})"
    return f"{reader} {name!r}{hint}, {owner} {listed(names, 12)}"


def counted(n: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{n} {noun}{'s' * (n != 1)}"


def listed(words: Iterable[object], most: int = 8) -> str:
    """`'a', 'b', 'c' and 4 more`: names for a message, never a wall of them."""
    names = [repr(str(w)) for w in words]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
