"""Learning on a terminal: progress, problems and notes on standard error, Ctrl-C that keeps the best so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import typer

from ..data import Dataset, Problem, suggest_command
from ..data.label_parsing import lookalikes
from ..data.streaming import Stream
from ..engines.resolve import announce_engine
from ..formula import parse
from ..learners import Prior, Progress, Watch
from ..pipeline import SAMPLING, Listener, quiet_warnings
from ..runs import Job, is_method_compiled
from .common_options import by_file, note_windows, print_problems, show_rows
from .output import Interrupt, complain
from .progress import STOPPING, display

COMPILING = "compiling (first run only, ~20 s)"


class Terminal(Listener):
    """Shows learning on standard error: a bar, or plain lines; Ctrl-C ends it with the best so far."""

    def __init__(
        self, quiet: bool, file: str = "", reading: Mapping[str, Any] | None = None, time_units: bool = False
    ) -> None:
        self._quiet, self._file, self._reading, self._time_units = quiet, file, reading or {}, time_units
        self._problems: tuple[Problem, ...] = ()

    def problems(self, again: str, problems: tuple[Problem, ...]) -> None:
        self._problems = problems
        print_problems(again, problems)

    def note(self, text: str) -> None:
        complain(text)

    def warning(self, text: str) -> None:
        complain(f"warning: {text}")

    def unwritable(self, problem: OSError, folder: Path, is_kept: bool) -> None:
        why = f"{problem.strerror}: {problem.filename or folder}"
        if is_kept:
            complain(f"warning: the run could not be written ({why})")
        else:
            complain(f"warning: the run could not be kept ({why}). Choose another folder with --out.")

    def data(self, data: Dataset, settings: Mapping[str, Any]) -> None:
        if settings.get("classes") == "each":
            _tell_of_lookalikes(data, self._file, self._reading, self._problems)
        if self._time_units:
            return
        prior = Prior.from_json(settings.get("prior", {}))
        texts = [settings["learner"].get("template"), *(settings["learner"].get("guesses") or ()), prior.template]
        rules = [*(parse(str(text)) for text in texts if text is not None), *prior.must_hold]
        note_windows(rules, self._reading.get("dt"), data.time_unit)

    @contextmanager
    def rows(self, what: str) -> Iterator[Callable[[Stream], bool]]:
        with show_rows(what) as wants_end:
            yield wants_end
            stopped = wants_end.stop is not None and wants_end.stop.asked
        if stopped and what == SAMPLING:
            raise KeyboardInterrupt

    def files(self, what: str) -> AbstractContextManager[Callable[[int, int], None]]:
        return by_file(what)

    @contextmanager
    def fitting(self, job: Job) -> Iterator[Watch]:
        announce_engine()  # not amid the display
        with show_progress(self._quiet, is_method_compiled(job.settings["method"])) as watch:
            yield watch


@contextmanager
def show_progress(quiet: bool, is_compiled: bool) -> Iterator[Watch]:
    """What shows the progress of a fit; after a Ctrl-C it ends the fit with the best so far."""
    screen = display(quiet)
    screen.note = "" if is_compiled else COMPILING

    def show_stopping() -> None:
        screen.note = STOPPING

    with quiet_warnings(lambda text: complain(f"warning: {text}")), screen, Interrupt(show_stopping) as stop:

        def watch(progress: Progress) -> None:
            if screen.note == COMPILING:
                screen.note = ""
            screen.tell(progress)
            if stop.asked:
                stop.asked = False  # once is enough: the learner may tell of its result yet
                raise KeyboardInterrupt

        yield watch


class DemoTerminal(Terminal):
    """Tells the story before learning begins."""

    def __init__(self, quiet: bool, story: str) -> None:
        super().__init__(quiet)
        self._story = story

    def data(self, data: Dataset, settings: Mapping[str, Any]) -> None:
        if self._story:
            typer.echo(self._story.format(good=int(data.positive.sum()), bad=int((~data.positive).sum())))


def _tell_of_lookalikes(data: Dataset, file: str, options: Mapping[str, Any], problems: Sequence[Problem]) -> None:
    """How to have two classes where there are more because of labels that are written in several ways."""
    if not any(problem.kind == "similar-labels" for problem in problems) or data.labels is None:
        return
    counts = {name: int((data.labels == i).sum()) for i, name in enumerate(data.classes)}
    odd = {each.label for each in lookalikes(counts)}
    complain(f"learning a rule for each of {len(data.classes)} classes, which takes longer than one rule for two.")
    complain("If two are meant, stop it with Ctrl-C, and name the good one; all others then count as one class:")
    for name in (name for name in data.classes if name not in odd):
        complain("  " + suggest_command("learn", [file], {**options, "good": name}))
