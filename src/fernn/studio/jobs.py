"""Jobs that learn in child processes: started, followed, stopped. A process that dies takes nothing else with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any, Literal

from ..engines.processes import cores
from ..errors import FernnError, RunError
from ..runs import Run, new_folder, resume_command
from ..runs.run import SETTINGS, FolderLock
from .json_api import Refused
from .stored_runs import find_run, front_rows

State = Literal["running", "stopping", "done", "failed"]
COMMAND = [sys.executable, "-P", "-m", "fernn.studio.child"]
PATIENCE = 60.0
"""Seconds that a process has to end in, once it is told to."""
NOTHING: dict[str, Any] = {
    "seconds": 0.0, "share": 0.0, "seconds_left": None, "tried": 0, "unit": "restart", "front": [], "picked": None,
    "note": None,
}  # fmt: skip


class Child:
    """A child process and its job, running or ended."""

    def __init__(self, folder: Path, order: dict[str, Any]) -> None:
        self.folder = folder
        self.state: State = "running"
        self.ended: str | None = None
        self.error: str | None = None
        self._progress, self._since = NOTHING, monotonic()
        self._note: str | None = None
        self._is_ready, self._changing = False, Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        with suppress(OSError):  # one that is gone already is told of by `_follow`
            self.process.stdin.write(json.dumps(order | {"out": str(folder)}).encode() + b"\n")
            self.process.stdin.flush()
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")

    def told(self) -> dict[str, Any]:
        progress = self._progress if self._progress is not NOTHING or self.is_over else self._initial_progress()
        return {"run": self.folder.name, "state": self.state, **progress, "ended": self.ended, "error": self.error}

    def _initial_progress(self) -> dict[str, Any]:
        return NOTHING | {"seconds": monotonic() - self._since, "note": self._note}

    def stop(self) -> None:
        """The best so far is kept; asked twice, the process is ended at once, and what is on disk is kept."""
        with self._changing:
            if self.is_over:
                return
            if self.state == "stopping":
                self.process.kill()
                return
            self.state = "stopping"
            if self._is_ready:
                self._interrupt()

    def wait(self, seconds: float) -> None:
        """Until it is over; ended the hard way after so many seconds."""
        self._thread.join(seconds)
        if not self.is_over:
            self.process.kill()
            self._thread.join()

    def _interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        Thread(target=self.wait, args=(PATIENCE,), daemon=True).start()

    def _follow(self) -> None:
        """Read every message of the process, then its exit code."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError, KeyError, TypeError):
                self._take(json.loads(line))
        code = self.process.wait()
        with self._changing:
            self._over(code)

    def _take(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            with self._changing:
                self._is_ready = True
                if self.state == "stopping":
                    self._interrupt()
        elif "progress" in message:
            progress = NOTHING | message["progress"]
            self._progress = progress if progress["tried"] else progress | {"note": self._note}
        elif "note" in message:
            self._note = str(message["note"])
        elif "ended" in message:
            with self._changing:
                self.ended = str(message["ended"])
                self._settle()  # what the process does now, a report, is not waited for
        else:
            self.error = str(message.get("error") or message.get("warning"))

    def _over(self, code: int) -> None:
        """The process has ended, as it should or not."""
        if not self.is_over:
            if self.state == "stopping" and self.error is None:
                self.ended = "interrupted"
            else:
                self.error = self.error or self._reason(code)
            self._settle()
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        self._errors.close()

    def _settle(self) -> None:
        """Take the final progress from the run on disk; where there is none the name is free again."""
        on_disk = _of_run(self.folder)
        last = {**self._progress, "seconds_left": None}
        if on_disk is None:
            with suppress(OSError):
                self.folder.rmdir()
        else:
            last |= {key: on_disk[key] for key in ("seconds", "front", "picked")}
        self._progress = last | ({"share": 1.0} if self.ended == "done" else {})
        self.state = "failed" if self.ended is None else "done"

    def _reason(self, code: int) -> str:
        """Why a process may have ended that did not say so."""
        resume = f"What it had found is kept; to go on: {resume_command(self.folder)}"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            why = " Perhaps there was not enough memory: take fewer traces or channels." if name == "SIGKILL" else ""
            return f"the process that learned was ended from outside ({name}).{why} {resume}"
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        last = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"the process that learned failed with status {code}: {''.join(last) or 'it said nothing'}. {resume}"


class Jobs:
    """The jobs started by this server; others are runs on disk."""

    def __init__(self, folder: Path, most: int | None = None) -> None:
        self.folder, self.most = folder, most or cores()
        self._children: dict[str, Child] = {}
        self._starting = Lock()

    def start(self, name: str, order: dict[str, Any]) -> str:
        """A new run of data of this name; as many at once as there are cores."""
        with self._starting:
            busy = [child.folder.name for child in self._children.values() if not child.is_over]
            if len(busy) >= self.most:
                some = f"{' and '.join(busy)} {'is' if len(busy) == 1 else 'are'} under way"
                raise Refused(f"{some}, as many as there are cores. Wait for one, or stop it.", 409)
            folder = new_folder(name, self.folder)
            self._children[folder.name] = Child(folder.resolve(), order)
            return folder.name

    def all(self) -> list[dict[str, Any]]:
        """Those begun last come first."""
        return [child.told() for child in reversed(list(self._children.values()))]

    def told(self, name: str) -> dict[str, Any]:
        """Where a job stands, or how a run ended that is not of this server."""
        if name in self._children:
            return self._children[name].told()
        run = find_run(self.folder, name)
        on_disk = _of_run(run.folder) or NOTHING
        state, problem = "done", None
        if run.ended is None:
            try:
                FolderLock(run.folder).release()
                state, problem = "failed", f"it was cut off; to go on: {resume_command(run.folder)}"
            except RunError:
                state = "running"
        share = 1.0 if run.ended == "done" else 0.0
        return {"run": name, "state": state, **on_disk, "share": share, "ended": run.ended, "error": problem}

    def stop(self, name: str) -> dict[str, Any]:
        if name not in self._children:
            find_run(self.folder, name)
            raise Refused(f"{name} is no job of this studio; there is nothing to stop.", 409)
        self._children[name].stop()
        return self.told(name)

    def close(self) -> list[str]:
        """Ends all, their best kept; the names of those that were under way."""
        left = [child for child in self._children.values() if not child.is_over]
        for child in left:
            if child.state == "running":
                child.stop()
        until = monotonic() + PATIENCE
        for child in left:
            child.wait(max(0.0, until - monotonic()))
        return [child.folder.name for child in left]


def _of_run(folder: Path) -> dict[str, Any] | None:
    """The progress of a run on disk; None where there is no run."""
    if not (folder / SETTINGS).is_file():
        return None
    with suppress(FernnError, OSError, KeyError, TypeError):
        run = Run.open(folder)
        front = run.front()
        picked = None if front is None else front.pick
        return NOTHING | {"seconds": run.seconds, "front": front_rows(front, run.test()), "picked": picked}
    return dict(NOTHING)
