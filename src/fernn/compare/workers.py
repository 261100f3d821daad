"""Units measured by several processes at once, each on one core, each answer as soon as it is there.

A process that dies takes with it the unit it was at, which is told as failed; another one goes on with the rest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread, Timer

from .surroundings import cores
from .unit import Found, Unit

ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATIENCE, GRACE = 4.0, 600.0
"""A unit that takes this many time limits, and these seconds more, is ended."""


def answered(
    units: Sequence[Unit], limit: float, workers: int | None = None, folder: Path = Path()
) -> Iterator[tuple[Unit, Found]]:
    """Every unit with what was found of it, in the order in which they are done. Files are looked for in `folder`.

    Leaving the loop, by Ctrl-C or otherwise, ends the processes; what they were at is lost.
    """
    left: SimpleQueue[Unit] = SimpleQueue()
    for unit in units:
        left.put(unit)
    done: SimpleQueue[tuple[Unit, Found]] = SimpleQueue()
    crew = [_Worker(left, done, limit, folder) for _ in range(min(workers or cores(), len(units)))]
    for worker in crew:
        worker.start()
    try:
        for _ in units:
            yield done.get()
    finally:
        for worker in crew:
            worker.stop()


class _Worker(Thread):
    """Feeds one process, and begins another where it ends too soon."""

    def __init__(
        self, left: SimpleQueue[Unit], done: SimpleQueue[tuple[Unit, Found]], limit: float, folder: Path
    ) -> None:
        super().__init__(daemon=True)
        self._left, self._done, self._limit, self._folder = left, done, limit, folder
        self._process: subprocess.Popen[str] | None = None
        self._over, self._changing = False, Lock()

    def run(self) -> None:
        while not self._over:
            try:
                unit = self._left.get_nowait()
            except Empty:
                break
            try:
                found = self._asked(unit)
            except Exception as error:  # nothing may keep the others waiting
                self._end()  # what it says next may be the answer to something else
                found = {"problem": f"{type(error).__name__}: {error}"}
            if not self._over:
                self._done.put((unit, found))
        self._end()

    def stop(self) -> None:
        self._over = True
        self._end()

    def _asked(self, unit: Unit) -> Found:
        process = self._begun()
        assert process.stdin is not None
        assert process.stdout is not None
        clock = Timer(PATIENCE * self._limit + GRACE, process.kill)
        clock.daemon = True
        clock.start()
        try:
            process.stdin.write(json.dumps(asdict(unit)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            clock.cancel()
        if line:
            found: Found = json.loads(line)
            if found.pop("unit") != unit.key:
                raise ValueError("its process answers something else")
            return found
        self._end()
        return {"problem": f"its process ended with status {process.returncode}"}

    def _begun(self) -> subprocess.Popen[str]:
        """The process there is, or a new one; none is begun once all is over."""
        with self._changing:
            if self._over:
                raise RuntimeError("all is over")
            self._process = self._process or _started(self._limit, self._folder)
            return self._process

    def _end(self) -> None:
        with self._changing:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None


def _started(limit: float, folder: Path) -> subprocess.Popen[str]:
    """In a session of its own, so that Ctrl-C reaches only the parent, which knows what to do."""
    return subprocess.Popen(
        [sys.executable, "-m", "fernn.compare.worker", str(limit), str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | ONE_THREAD, start_new_session=True,
    )  # fmt: skip
