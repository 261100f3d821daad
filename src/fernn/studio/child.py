"""The worker process that learns: it reads its job as a line of JSON from standard input and writes progress as JSON.

`{"ready": true}` first, then `{"progress": {...}}` about twice a second, in the end `{"ended": ...}` or
`{"error": ...}`. SIGINT, or the end of standard input, ends the learning with the best so far; a second SIGINT ends
the process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
import warnings
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TextIO

from ..pipeline import Listener, learn_from
from ..runs import is_method_compiled

if TYPE_CHECKING:
    from ..data import Problem
    from ..learners import Progress, Watch
    from ..runs import Job

GRACE = 60.0
"""Seconds to end in, once nobody listens any more."""


COMPILING = "compiling for this machine: the first run only, some twenty seconds"


class Stop:
    """Whether the user, or the end of the parent process, asked for the end."""

    asked = False

    def interrupt(self, *_: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def watch_parent(self) -> None:
        """Wait until the parent process is gone, then end."""
        while os.read(0, 4096):
            pass
        self.asked = True
        time.sleep(GRACE)
        os._exit(1)


def run_order(order: dict[str, Any], stop: Stop, out: TextIO) -> None:
    """Run the job, writing its progress."""
    result = learn_from(
        order["file"], order["reading"], order["settings"], order["method"], test=order["test"],
        out=Path(order["out"]), listener=JsonLines(stop, out),
    )  # fmt: skip
    _tell(out, {"ended": result.ended, "seconds": result.outcome.seconds})
    try:
        result.report()
    except Exception:  # what goes wrong with it takes nothing from the run
        traceback.print_exc()


class JsonLines(Listener):
    """A listener that writes progress as lines of JSON."""

    def __init__(self, stop: Stop, out: TextIO) -> None:
        self._stop, self._out = stop, out

    def problems(self, again: str, problems: tuple[Problem, ...]) -> None:
        """The page has shown them."""

    def note(self, text: str) -> None:
        _tell(self._out, {"note": text})

    def warning(self, text: str) -> None:
        _tell(self._out, {"warning": text})

    def unwritable(self, problem: OSError, folder: Path, is_kept: bool) -> None:
        self.warning(f"the run could not be written ({problem.strerror}: {problem.filename})")

    def fitting(self, job: Job) -> AbstractContextManager[Watch]:
        if not is_method_compiled(job.settings["method"]):
            self.note(COMPILING)
        return nullcontext(self._watch)

    def _watch(self, progress: Progress) -> None:
        _tell(self._out, {"progress": _plain(progress)})
        if self._stop.asked:
            self._stop.asked = False  # once is enough: the learner may tell of its result yet
            raise KeyboardInterrupt


def _plain(progress: Progress) -> dict[str, Any]:
    from .stored_runs import front_rows

    left = progress.seconds_left
    return {
        "seconds": progress.seconds, "share": progress.share, "seconds_left": left if left < 1e9 else None,
        "tried": progress.restarts, "unit": progress.unit, "front": front_rows(progress.front, None),
        "picked": progress.front.pick,
    }  # fmt: skip


def _tell(out: TextIO, message: dict[str, Any]) -> None:
    with suppress(OSError):  # nobody listens; `watch_parent` knows, too
        print(json.dumps(message), file=out, flush=True)


def main() -> int:
    stop = Stop()
    signal.signal(signal.SIGINT, stop.interrupt)
    out, sys.stdout = sys.stdout, sys.stderr  # what others print is no line of ours
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        order = json.loads(stdin.readline())
    _tell(out, {"ready": True})
    Thread(target=stop.watch_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)  # the page comes first
    warnings.simplefilter("ignore")
    from ..errors import FernnError

    try:
        run_order(order, stop, out)
    except (FernnError, ImportError) as error:
        _tell(out, {"error": str(error)})
    except OSError as error:
        _tell(out, {"error": ": ".join(str(part) for part in (error.strerror, error.filename) if part) or str(error)})
    except MemoryError:
        _tell(out, {"error": "there is not enough memory for this. Take fewer traces, or shorter formulas."})
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
