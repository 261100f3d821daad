"""Comparison of methods and baselines on one's own data, on the same seeded splits."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..data import Dataset, load, save
from ..data.atomic_write import remove_link, write_text
from ..engines.processes import cores
from ..errors import DataError, RunError, UnsupportedError, short_repr
from ..learners.base import silent
from ..learners.baselines import BASELINES
from ..learners.learner_registry import METHODS as LEARNERS
from ..runs.run import remove_created, writable
from .trial_runs import MEASURED_SOURCE, TrialLog, TrialProgress, run_trials
from .trials import METHODS, Trial, TrialResult, irreducible_error, missing_settings
from .trials import name_with_settings as with_settings

PACKAGE = Path(__file__).resolve().parents[1]
DEPENDENCIES = ("numpy", "numba", "scikit-learn")
"""What fernn itself stands on."""


def describe_environment(packages: Iterable[str]) -> dict[str, str]:
    versions = {"processor": _processor(), "cores": str(cores()), "fernn": __version__}
    versions["python"] = platform.python_version()
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def source_hash(rooms: Iterable[str]) -> str:
    """A mark of the code in these rooms and files: a run during which it changes measures two things."""
    paths = [PACKAGE / room for room in rooms]
    inside = (file for folder in paths for file in folder.rglob("*.py"))
    files = sorted([*inside, *(path for path in paths if path.is_file())])
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _processor() -> str:
    cpu_info = Path("/proc/cpuinfo")
    for line in cpu_info.read_text().splitlines() if cpu_info.is_file() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A bar inside a cell, as in `p | q`, is escaped."""
    rows = (head, ["---"] * len(head), *lines)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


DATA_FILE, PAGE_FILE = "data.npz", "README.md"
DEFAULT_METHODS = ("fernn", "exact", "lattice", "tree")
"""The methods that are compared if none are named."""
OFFERED = {name.replace(", ", "-").replace(" ", "-"): name for name in METHODS if not name.startswith("rivals")}
"""The methods to choose from, under names without commas and blanks."""
LENGTHS, SPLITS, LIMIT = (2, 3, 4, 5, 6), 5, 60.0
Spread = dict[str, dict[str, tuple[float, float]]]
"""By method and length: a mean and its standard deviation."""


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison. A row is a method: its error by length, and of a baseline its one error."""

    page: Path
    ledger: TrialLog
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
            results = [self.results(method, n) for n in lengths]
            if not any(results):
                continue
            errors = [show_spread([each["mcr"] for each in row]) if row else "" for row in results]
            if method in BASELINES:
                errors += [""] * (len(self.lengths) - 1)
            last = next(row for row in reversed(results) if row)
            seconds = np.median([each["seconds"] for each in last])
            yield [method, *errors, f"{seconds:.1f}", str(last[0]["formula"])]

    def results(self, method: str, length: int) -> list[TrialResult]:
        """Of one method up to one length, in the order of the splits."""
        return self.ledger.of(method, DATA_FILE, length, self.seeds)

    def spreads(self) -> tuple[Spread, Spread]:
        """Errors and seconds of the methods that know a length."""
        errors: Spread = {}
        times: Spread = {}
        for method in self.methods:
            for n in () if method in BASELINES else self.lengths:
                if results := self.results(method, n):
                    wrong = [each["mcr"] for each in results]
                    deviation = float(np.std(wrong, ddof=1)) if len(wrong) > 1 else 0.0
                    errors.setdefault(method, {})[str(n)] = float(np.mean(wrong)), deviation
                    times.setdefault(method, {})[str(n)] = float(np.median([each["seconds"] for each in results])), 0.0
        return errors, times

    @property
    def head(self) -> list[str]:
        return ["method", *(f"length {n}" for n in self.lengths), "seconds", "formula of the first split"]


def show_spread(errors: Sequence[float]) -> str:
    """Mean and standard deviation; of one, the number."""
    return f"{np.mean(errors):.3f} ± {np.std(errors, ddof=1):.3f}" if len(errors) > 1 else f"{np.mean(errors):.3f}"


def without_figures(comparison: Comparison) -> list[str]:
    """Draws nothing."""
    return []


def compare(
    data: Dataset, folder: str | Path = "comparison", methods: Sequence[str] = (), lengths: Sequence[int] = LENGTHS,
    splits: int = SPLITS, baselines: Sequence[str] | None = None, limit: float = LIMIT, workers: int | None = None,
    watch: Callable[[TrialProgress], None] = silent, settings: Mapping[str, Any] | None = None,
    draw: Callable[[Comparison], list[str]] = without_figures,
) -> Comparison:  # fmt: skip
    """Fits every method up to every length on so many splits; baselines, which know no length, once a split.

    `baselines` are those whose packages are here, if none are named. The folder holds the data, a line for every
    run and a page; a comparison that was interrupted goes on there. `settings`, such as `intervals`, are for
    all methods: one that does not have them is refused if it is named, and left out if none are.
    `draw` adds figures and says what could not be drawn: `fernn.report.draw_comparison`.
    """
    shared = dict(settings or {})
    chosen = tuple(OFFERED.get(name, name) for name in methods)
    chosen = chosen or tuple(name for name in DEFAULT_METHODS if name not in missing_settings(DEFAULT_METHODS, shared))
    if baselines is None:
        baselines = [name for name, baseline in BASELINES.items() if baseline.is_here]
    for name in chosen:
        if name not in OFFERED.values() and name not in LEARNERS:
            names = dict.fromkeys([*OFFERED, *LEARNERS.names])
            raise UnsupportedError(f"no method {name!r} to compare; there are {', '.join(names)}")
    for line in missing_settings(chosen, shared).values():
        raise UnsupportedError(f"{line}: leave it out of the methods, or the option")
    chosen = tuple(with_settings(name, shared) for name in chosen)
    for name in baselines:
        if name not in BASELINES:
            raise UnsupportedError(f"no baseline {name!r}; there are {', '.join(BASELINES)}")
    if not lengths or min(lengths) < 1 or splits < 1:
        raise UnsupportedError(f"lengths and splits are at least 1, found {list(lengths)} and {splits}")
    _check_classes(data)
    ledger = TrialLog.open(Path(folder), source_hash(MEASURED_SOURCE))
    path = ledger.folder / DATA_FILE
    _store_data(data, path)
    seeds = tuple(str(seed) for seed in range(splits))
    units = [Trial(DATA_FILE, seed, name, n) for seed in seeds for name in chosen for n in lengths]
    units += [Trial(DATA_FILE, seed, name, 0) for seed in seeds for name in baselines]
    outcome = run_trials(units, ledger, limit, workers, watch, data)
    compared, page = (*chosen, *baselines), ledger.folder / PAGE_FILE
    result = Comparison(page, ledger, data, compared, tuple(lengths), seeds, outcome.failed, outcome.interrupted)
    ledger.write_runs()
    ledger.write_table()
    write_text(result.page, comparison_page(result, describe_environment(DEPENDENCIES), limit, draw(result)))
    ledger.close()
    return result


def comparison_page(result: Comparison, versions: Mapping[str, str], limit: float, notes: Sequence[str]) -> str:
    """The comparison as Markdown."""
    data = result.data
    guess = 1 - max(float(data.positive.mean()), 1 - float(data.positive.mean()))
    rows = [[*row[:-1], f"`{row[-1]}`" if row[-1] else "no formula"] for row in result.rows()]
    parts = [
        f"# The methods on {data.name}",
        f"{len(data)} traces, {data.n_channels} channels, classes {' and '.join(data.classes)}. Test error, mean and "
        f"standard deviation over {len(result.seeds)} splits, 80 to 20, that keep copies and groups on one side. "
        f"Always the same answer errs {guess:.3f}; no rule errs less than {irreducible_error(data):.4f} on all traces.",
        markdown_table(result.head, rows),
        "Seconds are those of a fit on one core, of the greatest length.",
        ", ".join(f"{name} {version}" for name, version in versions.items()) + f". A fit had {limit:g} s.",
        *(f"- {line}" for line in [*result.failed, *notes]),
    ]
    folder = result.ledger.folder / "figures"
    figures = [name for name in ("errors", "seconds") if (folder / f"{name}.png").is_file()]
    parts += [f"![{name} by method and length](figures/{name}.png)" for name in figures]
    return "\n\n".join(parts) + "\n"


def _check_classes(data: Dataset) -> None:
    if data.labels is None or len(data.classes) != 2:
        raise DataError(f"{data.name}: a comparison needs traces of two classes. Name the column with --label.")


def _store_data(data: Dataset, path: Path) -> None:
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
