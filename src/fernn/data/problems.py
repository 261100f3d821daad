"""What is wrong with a recording, where, and what to do about it.

Reading does not stop at the first problem: a `ProblemLog` gathers them all, so that one run shows
everything there is to mend. An `error` means there is no dataset; a `warning` means there is one.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar, get_args

from ..errors import LONGEST_LINE, DataError, FernnWarning, convert_errors, excerpt, short_repr
from ..formula.json_fields import as_int, as_object, as_text

Severity = Literal["error", "warning"]
T = TypeVar("T")

SHOWN = 5  # problems of one kind in one column that are told with their place; the rest are counted
COLUMNS = 20  # columns with problems of one kind that are told one by one


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

    __repr__ = short_repr

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
    problem = Problem(**{**as_object(content), "choices": tuple(map(as_text, content.get("choices", ())))})
    as_text(problem.kind), as_text(problem.what), as_text(problem.fix), as_int(problem.count)
    as_text(problem.file or ""), as_text(problem.column or ""), as_text(problem.case or ""), as_int(problem.line or 0)
    if problem.severity not in get_args(Severity):
        raise ValueError(f"{problem.severity!r:.40} is no severity")
    return problem


Key = tuple[str, Severity, str | None]
"""Problems are counted by kind and column, so that those of one column do not hide those of another."""


@dataclass
class ProblemLog:
    """The problems of one file, in the order they were met; `file` is written on each."""

    file: str | None = None
    _kept: dict[Key, list[Problem]] = field(default_factory=dict)
    _more: dict[Key, int] = field(default_factory=dict)

    __repr__ = short_repr

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
        count: int = 1,
        choices: tuple[str, ...] = (),
    ) -> None:
        """Keep the problem, or only count it when its kind has been told often enough of this column."""
        kept = self._kept.setdefault((kind, severity, column), [])
        if len(kept) < SHOWN:
            kept.append(Problem(kind, severity, what, fix, self.file, line, column, case, count, choices))
        else:
            self.count(kind, severity, count, column)

    def count(self, kind: str, severity: Severity, n: int = 1, column: str | None = None) -> None:
        """There are `n` more of this kind in this column, not worth telling one by one."""
        if n > 0:
            self._more[kind, severity, column] = self._more.get((kind, severity, column), 0) + n

    def take(self, problems: Iterable[Problem]) -> None:
        """Adopt problems found elsewhere, as being about this file."""
        for p in problems:
            self.add(
                p.kind, p.severity, p.what, p.fix,
                line=p.line, column=p.column, case=p.case, count=p.count, choices=p.choices,
            )  # fmt: skip

    def join(self, later: ProblemLog) -> None:
        """Those of another log after these, each with its own file."""
        for (kind, severity, column), found in later._kept.items():
            kept = self._kept.setdefault((kind, severity, column), [])
            space = SHOWN - len(kept)
            kept += found[:space]
            more = later._more.get((kind, severity, column), 0)
            self.count(kind, severity, sum(p.count for p in found[space:]) + more, column)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers; `from_json` takes them back."""
        return {
            "kept": [asdict(problem) for kept in self._kept.values() for problem in kept],
            "more": [[*key, n] for key, n in self._more.items()],
        }

    @staticmethod
    @convert_errors(DataError, "these are no problems of a file")
    def from_json(told: Mapping[str, Any]) -> ProblemLog:
        """What `to_json` gave, which may have been changed on the way."""
        log = ProblemLog()
        for problem in (_read_problem(each) for each in told["kept"]):
            log._kept.setdefault((problem.kind, problem.severity, problem.column), []).append(problem)
        for kind, severity, column, count in told["more"]:
            if (kind, severity, column) not in log._kept:
                raise ValueError(f"{kind!r:.40} is counted, but there is none")
            log._more[kind, severity, column] = as_int(count)
        return log

    @property
    def failed(self) -> bool:
        """Whether any of them rules out a dataset."""
        return any(severity == "error" for _, severity, _ in self._kept)

    def has(self, kind: str) -> bool:
        """Whether a problem of this kind was met."""
        return any(key[0] == kind for key in self._kept)

    def problems(self) -> tuple[Problem, ...]:
        """All of them, errors first; where there are more in a column than are told, it ends with how many."""
        found: list[Problem] = []
        columns: dict[tuple[str, Severity], int] = {}
        rest: dict[tuple[str, Severity], list[int]] = {}
        for (kind, severity, column), kept in self._kept.items():
            more = self._more.get((kind, severity, column), 0)
            total = sum(p.count for p in kept) + more
            columns[kind, severity] = columns.get((kind, severity), 0) + 1
            if columns[kind, severity] > COLUMNS:
                rest.setdefault((kind, severity), []).append(total)
                continue
            found += kept
            if more:
                what = f"and {more:,} more like this" + ("" if column is None else f", {total:,} in this column")
                found.append(Problem(kind, severity, what, "", self.file, column=column, count=more))
        for (kind, severity), counts in rest.items():
            what = f"and {sum(counts):,} more like this in {plural(len(counts), 'other column')}"
            found.append(Problem(kind, severity, what, "", self.file, count=sum(counts)))
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


def data_error(problems: Iterable[Problem]) -> DataError:
    """A DataError that lists all errors among the problems, and carries all of them."""
    found = tuple(problems)
    return DataError("\n".join(str(p) for p in found if p.severity == "error"), found)


def require_dataset(dataset: T | None, problems: Sequence[Problem], quiet: bool) -> T:
    """The dataset, with one FernnWarning for all its problems unless `quiet`; an error where there is none."""
    if dataset is None:
        raise data_error(problems)
    if problems and not quiet:
        warnings.warn("\n".join(map(str, problems)), FernnWarning, stacklevel=3)
    return dataset


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
    return f"{reader} {name!r}{hint}, {owner} {quote_names(names, 12)}"


def plural(n: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{n} {noun}{'s' * (n != 1)}"


def quote_names(words: Iterable[object], most: int = 8) -> str:
    """`'a', 'b', 'c' and 4 more`: names for a message, never a wall of them."""
    names = [repr(str(w)) for w in words]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
