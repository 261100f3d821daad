"""A pool of worker processes on this machine, each on one core.

A process that dies takes with it the unit it was at, and another one is begun in its place. A worker reads one line of
JSON for each unit from standard input and writes one line with the answer, until nothing comes in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import Future
from contextlib import redirect_stdout, suppress
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Lock, Thread, Timer
from typing import Any, TextIO

from ..data import Dataset
from ..errors import UnsupportedError
from .base import ONE_THREAD, Lost, Overtime, PlacementCache, SerializedData, Unit, run_task_on_worker, serialize

PLACED = 64
"""Data sets whose files are kept; units of an earlier one are done."""
Request = tuple[dict[str, Any], Future[str]]
"""Words for a process, and what it will answer."""


class Processes:
    """As many as there are cores, or as are asked for; they are begun with the first unit and wait for more.

    With `patience`, a unit that takes so many seconds is ended.
    """

    def __init__(self, workers: int | None = None, patience: float | None = None) -> None:
        self.workers = workers or cores()
        self.name = "processes" if workers is None else f"processes:{workers}"
        self._folder = TemporaryDirectory(prefix="fernn-")
        self._places = PlacementCache(PLACED, self._write_data, lambda place: Path(place[1]).unlink(missing_ok=True))
        self._changing = Lock()
        self.is_closed = False
        self._requests: SimpleQueue[Request | None] = SimpleQueue()
        self._pool: list[_Worker] = []
        self._patience = patience

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        with self._changing:
            if self.is_closed:
                raise UnsupportedError(f"the engine {self.name} was closed; begin another one")
            if not self._pool:
                self._pool = [_Worker(self._requests, self._patience) for _ in range(self.workers)]
            settings, future = json.dumps(unit.settings), Future[str]()
            request = {"task": task, "data": self._places.of(data), "settings": settings, "seed": unit.seed}
            self._requests.put((request, future))
            return future

    def _write_data(self, data: Dataset) -> list[str]:
        stored = serialize(data, Path(self._folder.name))
        return [stored.mark, str(stored.path)]

    def drop(self, futures: list[Future[str]]) -> None:
        """What waits is taken back; who works on one is ended, and another begun when there is need."""
        for future in futures:
            future.cancel()
        for worker in self._pool:
            if worker.at in futures:
                worker.end()

    def close(self) -> None:
        """Ends the processes; what waits is lost."""
        with self._changing:
            self.is_closed = True
            for worker in self._pool:
                worker.stop()
            while True:
                try:
                    waiting = self._requests.get_nowait()
                except Empty:
                    break
                if waiting is not None and waiting[1].set_running_or_notify_cancel():
                    waiting[1].set_exception(Lost("the engine was closed"))
            for _ in self._pool:
                self._requests.put(None)
            self._pool = []
            self._folder.cleanup()

    @property
    def pids(self) -> list[int]:
        """Of the processes that are there."""
        return [worker.process.pid for worker in self._pool if worker.process is not None]


class _Worker(Thread):
    """Feeds one process, and begins another where it ends too soon."""

    def __init__(self, requests: SimpleQueue[Request | None], patience: float | None) -> None:
        super().__init__(daemon=True)
        self._requests, self._patience, self._number = requests, patience, 0
        self._over, self._changing = False, Lock()
        self.process: subprocess.Popen[str] | None = None
        self.at: Future[str] | None = None
        """What it works on."""
        self.start()

    def run(self) -> None:
        while not self._over:
            waiting = self._requests.get()
            if waiting is None:
                break
            request, future = waiting
            if not future.set_running_or_notify_cancel():
                continue
            self.at = future
            try:
                future.set_result(self._ask(request))
            except Exception as error:  # nothing may keep the others waiting
                future.set_exception(error)
            self.at = None
        self.end()

    def stop(self) -> None:
        self._over = True
        self.end()

    def _ask(self, request: dict[str, Any]) -> str:
        process = self._running_process()
        assert process.stdin is not None
        assert process.stdout is not None
        self._number += 1
        clock = _Clock(self._patience, process)
        try:
            process.stdin.write(json.dumps(request | {"number": self._number}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            clock.cancel()
        with suppress(ValueError, TypeError, KeyError):
            reply = json.loads(line)
            if reply["number"] == self._number:
                return str(reply["answer"])
        self.end()  # what it says next may be the answer to something else
        if clock.struck:
            raise Overtime(f"its process was ended after {self._patience:g} s")
        raise Lost(f"its process ended with status {process.returncode}")

    def _running_process(self) -> subprocess.Popen[str]:
        """The process there is, or a new one; none is begun once all is over."""
        with self._changing:
            if self._over:
                raise Lost("all is over")
            if self.process is None or self.process.poll() is not None:
                self.process = _spawn()
            return self.process

    def end(self) -> None:
        with self._changing:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
                for pipe in (self.process.stdin, self.process.stdout):
                    with suppress(OSError):
                        assert pipe is not None
                        pipe.close()
                self.process = None


class _Clock(Timer):
    """Ends a process after so many seconds, if any."""

    def __init__(self, seconds: float | None, process: subprocess.Popen[str]) -> None:
        super().__init__(inf if seconds is None else seconds, self._strike)
        self.daemon, self.struck, self._process = True, False, process
        if seconds is not None:
            self.start()

    def _strike(self) -> None:
        self.struck = True
        self._process.kill()


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _spawn() -> subprocess.Popen[str]:
    """In a session of its own, so that Ctrl-C reaches only the parent, which knows what to do."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WORKER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | ONE_THREAD, start_new_session=True,
    )  # fmt: skip


WORKER = "from fernn.engines.processes import serve_units; serve_units()"


def serve_units() -> None:
    """In a worker process: what a unit prints goes to standard error."""
    out = _answer_channel()
    for line in sys.stdin:
        request = json.loads(line)
        data = None if request["data"] is None else SerializedData(request["data"][0], path=request["data"][1])
        with redirect_stdout(sys.stderr):
            answer = run_task_on_worker(request["task"], data, request["settings"], request["seed"])
        print(json.dumps({"number": request["number"], "answer": answer}), file=out, flush=True)


def _answer_channel() -> TextIO:
    """Standard output for answers alone: whatever else writes to it, in C or in a child, goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel
