"""The same comparison on a person's own data: methods and baselines on the same seeded splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ..data import Dataset, load, save
from ..data.atomic_write import remove_link, write_text
from ..errors import DataError, RunError, UnsupportedError
from ..learners.baselines import BASELINES
from ..plain import short_repr
from ..runs.run import remove_created, writable
from .cells import cell, spread
from .drawing import by_method
from .ledger import Ledger
from .markdown import table
from .methods import METHODS, lacking
from .methods import named as with_settings
from .reported import LENGTHS
from .running import ROOMS, Step, carried_out, silent
from .surroundings import USED, source, surroundings
from .tasks import floor
from .unit import Unit

DATA, PAGE = "data.npz", "README.md"
PLAIN = ("fernn", "exact", "lattice", "tree")
"""The methods that are compared if none are named."""
OFFERED = {name.replace(", ", "-").replace(" ", "-"): name for name in METHODS if not name.startswith("rivals")}
"""The methods to choose from, under names without commas and blanks."""
SPLITS, LIMIT = 5, 60.0


@dataclass(frozen=True)
class Comparison:
    """What came of it. A row is a method: its error by length, and of a baseline its one error."""

    page: Path
    ledger: Ledger
    data: Dataset
    methods: tuple[str, ...]
    lengths: tuple[int, ...]
    seeds: tuple[str, ...]
    failed: tuple[str, ...]
    interrupted: bool

    __repr__ = short_repr

    def rows(self) -> Iterator[list[str]]:
        """Method, mean error and standard deviation by length, seconds, and the formula of the first split."""
        for method in self.methods:
            lengths = (0,) if method in BASELINES else self.lengths
            cells = [cell(self.ledger, method, DATA, n, seeds=self.seeds) for n in lengths]
            if all(isnan(each.ours) for each in cells):
                continue
            errors = [spread(each.errors) if each.others else "" for each in cells]
            if method in BASELINES:
                errors += [""] * (len(self.lengths) - 1)
            last = next(each for each in reversed(cells) if each.others)
            yield [method, *errors, f"{last.seconds:.1f}", str(last.others[0]["formula"])]

    @property
    def head(self) -> list[str]:
        return ["method", *(f"length {n}" for n in self.lengths), "seconds", "formula of the first split"]


def compare(
    data: Dataset, folder: str | Path = "comparison", methods: Sequence[str] = (), lengths: Sequence[int] = LENGTHS,
    splits: int = SPLITS, baselines: Sequence[str] | None = None, limit: float = LIMIT, workers: int | None = None,
    watch: Callable[[Step], None] = silent, settings: Mapping[str, Any] | None = None,
) -> Comparison:  # fmt: skip
    """Fits every method up to every length on so many splits; baselines, which know no length, once a split.

    `baselines` are those whose packages are here, if none are named. The folder holds the data, a line for every
    run, a page and figures; a comparison that was interrupted goes on there. `settings`, such as `intervals`, are for
    all methods: one that does not have them is refused if it is named, and left out if none are.
    """
    given = dict(settings or {})
    named = tuple(OFFERED.get(name, name) for name in methods)
    named = named or tuple(name for name in PLAIN if name not in lacking(PLAIN, given))
    if baselines is None:
        baselines = [name for name, baseline in BASELINES.items() if baseline.is_here]
    for name in named:
        if name not in OFFERED.values():
            raise UnsupportedError(f"no method {name!r} to compare; there are {', '.join(OFFERED)}")
    for line in lacking(named, given).values():
        raise UnsupportedError(f"{line}: leave it out of the methods, or the option")
    named = tuple(with_settings(name, given) for name in named)
    for name in baselines:
        if name not in BASELINES:
            raise UnsupportedError(f"no baseline {name!r}; there are {', '.join(BASELINES)}")
    if not lengths or min(lengths) < 1 or splits < 1:
        raise UnsupportedError(f"lengths and splits are at least 1, found {list(lengths)} and {splits}")
    _check(data)
    ledger = Ledger.opened(Path(folder), source(ROOMS))
    path = ledger.folder / DATA
    _kept(data, path)
    seeds = tuple(str(seed) for seed in range(splits))
    units = [Unit(DATA, seed, name, n) for seed in seeds for name in named for n in lengths]
    units += [Unit(DATA, seed, name, 0) for seed in seeds for name in baselines]
    came = carried_out(units, ledger, limit, workers, watch, data)
    found = Comparison(
        ledger.folder / PAGE, ledger, data, (*named, *baselines), tuple(lengths), seeds, came.failed, came.interrupted
    )
    ledger.write_runs()
    ledger.write_table()
    notes = by_method(ledger, DATA, named, found.lengths, seeds)
    write_text(found.page, page(found, surroundings(USED), limit, notes))
    ledger.close()
    return found


def page(found: Comparison, where: Mapping[str, str], limit: float, notes: Sequence[str]) -> str:
    """The comparison as Markdown."""
    data = found.data
    majority = 1 - max(float(data.positive.mean()), 1 - float(data.positive.mean()))
    rows = [[*row[:-1], f"`{row[-1]}`" if row[-1] else "no formula"] for row in found.rows()]
    parts = [
        f"# The methods on {data.name}",
        f"{len(data)} traces, {data.n_channels} channels, classes {' and '.join(data.classes)}. Test error, mean and "
        f"standard deviation over {len(found.seeds)} splits, 80 to 20, that keep copies and groups on one side. Always "
        f"the same answer errs {majority:.3f}; no rule errs less than {floor(data):.4f} on all traces.",
        table(found.head, rows),
        "Seconds are those of a fit on one core, of the greatest length.",
        ", ".join(f"{name} {version}" for name, version in where.items()) + f". A fit had {limit:g} s.",
        *(f"- {line}" for line in [*found.failed, *notes]),
    ]
    figures = [path for path in ("errors", "seconds") if (found.ledger.folder / "figures" / f"{path}.png").is_file()]
    parts += [f"![{name} by method and length](figures/{name}.png)" for name in figures]
    return "\n\n".join(parts) + "\n"


def _check(data: Dataset) -> None:
    if data.labels is None or len(data.classes) != 2:
        raise DataError(f"{data.name}: a comparison needs traces of two classes. Name the column with --label.")


def _kept(data: Dataset, path: Path) -> None:
    """The data beside the runs, for the processes that measure; other data than before are refused."""
    if path.is_file():
        if load(path).fingerprint != data.fingerprint:
            raise DataError(f"{path.parent} holds a comparison on other data. Name another folder with --out.")
        return
    remove_link(path)
    try:
        with writable(path.parent):
            save(data, path)
    except RunError:
        remove_created(path.parent)
        raise
