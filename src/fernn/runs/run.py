"""The run directory, written while a learner works, so that what it found outlives it.

    settings.json   what is learned from what: enough to do it again
    front.json      the formulas found so far, simplest first; at the end with their test errors
    state.json      the checkpoint: where the learner stands, enough to go on
    history.jsonl   a line for every formula that joined the front
    rules.json      in the place of front.json, where rules for classes are learned; written at the end
    and what a method has to show besides: certificate.json, rivals.json

Each is whole at every moment, and one process at a time writes in a folder. A process that is killed loses what it did
since the state was last written, half a second ago or, with a learner that tells of itself twice a second, one second
at most.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from math import inf
from pathlib import Path
from platform import python_version
from time import monotonic
from typing import Any

from .. import __version__
from ..data import Dataset, suggest_command
from ..data.atomic_write import DISK_FULL, append_line, is_temporary, write_text
from ..data.options import validate_options
from ..errors import MALFORMED_DATA, DataError, RunError, convert_errors, describe_error, short_repr
from ..formula.json_fields import as_int, as_number, as_object, as_objects, as_text, read_json
from ..learners import Fit, Front, Prior, Progress
from ..learners.base import front_from_strict_json, front_to_strict_json, strict_json_number
from ..learners.enumerative.certificate import NOTE, list_contradictions

SETTINGS = "settings.json"


LONGEST = 80
"""Characters of the name of data that the name of a run begins with: names of files are of 255 bytes at most."""
_created: set[Path] = set()


def folder_name(name: str) -> str:
    """A safe name of a folder from the name of data, which may come with the data: never a path elsewhere."""
    plain = re.sub(r"[^\w.-]+", "-", name)[:LONGEST].encode("utf-8")[: 2 * LONGEST].decode("utf-8", "ignore")
    return plain.strip("-.") or "run"


def new_folder(name: str, under: Path = Path("runs")) -> Path:
    """Made here: `runs/cruise-1`, or the next number that is free."""
    plain = folder_name(name)
    make_folder(under)
    number = 1
    with writable(under):
        while (under / f"{plain}-{number}").exists() or not _create(under / f"{plain}-{number}"):
            number += 1
        return under / f"{plain}-{number}"


def make_folder(folder: Path) -> None:
    """Create the folder and its parents, as far as they are not there; `remove_created` removes them again."""
    with writable(folder):
        for each in reversed([folder, *folder.parents]):
            if not each.exists():
                _create(each)
        folder.mkdir(exist_ok=True)


def _create(folder: Path) -> bool:
    """Makes it; False where it is there already."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    _created.add(folder.absolute())
    return True


def remove_created(folder: Path) -> None:
    """Folders that this process made for a run, and that nothing was written into."""
    for each in [folder.absolute(), *folder.absolute().parents]:
        if each not in _created:
            return
        with suppress(OSError):
            each.rmdir()
            _created.discard(each)


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn an OSError raised inside into one that names the file and says what to do."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        fix = (
            "Free some space, or choose a folder on another disk"
            if error.errno in DISK_FULL
            else "Choose another folder"
        )
        raise RunError(f"cannot write to {error.filename or folder}: {why}. {fix} with --out.") from error


def run_folders(under: Path = Path("runs")) -> list[Path]:
    """The runs in a folder, the latest started first."""
    files = under.glob(f"*/{SETTINGS}")
    return [file.parent for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)]


def resume_command(folder: str | Path) -> str:
    """How to go on with a run."""
    return suggest_command("learn", more=["--resume", "--out", str(folder)])


def check_vacant(folder: Path) -> None:
    """A new run goes where there is nothing, or an empty folder."""
    with writable(folder):
        _check_vacant(folder)


def _check_vacant(folder: Path) -> None:
    if (folder / SETTINGS).exists():
        raise RunError(
            f"{folder} holds a run already. Go on with it: {resume_command(folder)}; "
            "for a new run name another folder with --out, or remove this one."
        )
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file; a run is a folder. Name another one with --out.")
    if folder.is_dir() and not all(is_temporary(file) for file in folder.iterdir()):
        raise RunError(f"{folder} is a folder with other files in it. Name a new or an empty one with --out.")


LOCK = ".lock.tmp"
"""The file that is locked where folders cannot be; as every temporary file, no part of a run."""


class FolderLock:
    """Held on a folder until `release`, or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._handle: int | None = None
        self._file: Any = None
        try:
            import fcntl
        except ImportError:
            self._lock_file(folder)
            return
        self._handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise _being_written(folder) from None
        except OSError:  # a file system without locks
            self.release()

    def _lock_file(self, folder: Path) -> None:
        """Windows locks files, not folders."""
        from filelock import FileLock, Timeout

        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise _being_written(folder) from None
        self._file = lock

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._file is not None:
            self._file.release()
            self._file = None

    __del__ = release


def _being_written(folder: Path) -> RunError:
    return RunError(f"{folder} is being written by another process. Wait for it, or stop it.")


SCHEMA = 1
CHECKPOINT_SECONDS = 0.5  # seconds, at least, from one writing of the state to the next
FRONT, STATE, HISTORY, RULES = "front.json", "state.json", "history.jsonl", "rules.json"


@dataclass(frozen=True)
class StoredResult:
    """The content of a run's front file."""

    front: Front
    test: tuple[float, ...] | None
    """The test error of each formula; None while it is not known."""
    ended: str | None
    """`done`, `time limit`, `interrupted`, or None when it goes on or was killed."""
    seconds: float
    notes: tuple[str, ...]
    """What the method had to say; what a certificate says is made from its fields, not repeated."""

    __repr__ = short_repr


class Run:
    """One run: made by `create`, found again by `open`, written only by the process that holds it."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder, self.settings = folder, settings
        self.state: dict[str, Any] | None = None
        """The checkpoint that a learner resumes from, once the run is resumed."""
        self.own: tuple[str, ...] = ()
        """Other files that were written when it was begun, and that go with it where it is discarded."""
        self.is_new = False
        """Whether this process began it."""
        self._lock: FolderLock | None = None
        self._recorded: set[str] = set()
        self._last_front: Front | None = None
        self._restarts = 0
        self._last_write = -inf

    @classmethod
    def create(cls, folder: str | Path, settings: Mapping[str, Any], data: Dataset) -> Run:
        """A new run of this data in a folder that is empty or not there yet; held until it is finished."""
        folder = Path(folder)
        check_vacant(folder)
        make_folder(folder)
        origin = {"name": data.name, "cases": len(data), "channels": list(data.channels), "classes": list(data.classes)}
        started = datetime.now(UTC).isoformat(timespec="seconds")
        head = {"schema": SCHEMA, "fernn": __version__, "versions": _versions(), "started": started}
        run = cls(folder, {**head, **settings, "data": origin | {"fingerprint": data.fingerprint}})
        try:
            with writable(folder):
                run._lock = FolderLock(folder)
                run._write(SETTINGS, run.settings)
        except RunError:
            remove_created(folder)
            raise
        run.is_new = True
        return run

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """A stored run, to read; `resume` continues it."""
        folder = Path(folder)
        run = cls(folder, {})
        if not folder.is_dir():
            start = suggest_command("learn", ["FILE"], more=["--out", str(folder)])
            raise RunError(f"there is no folder {str(folder)!r}. {start} starts a run there.")
        settings = run._read(SETTINGS)
        if settings is None or not {"schema", "data"} <= settings.keys():
            raise RunError(f"{folder} is not a run: it has no {SETTINGS} of fernn. Name the folder of a run.")
        with run._checked(SETTINGS):
            _check(settings)
        run.settings = settings
        return run

    def setting(self, name: str) -> Any:
        """One of the settings that every run of a learner has."""
        if name not in self.settings:
            raise RunError(f"{self.folder / SETTINGS} says nothing of {name!r}, so the run cannot be gone on with.")
        return self.settings[name]

    def check(self, data: Dataset) -> None:
        """An error unless this is the data that the run began with."""
        began = self.settings["data"]
        if data.fingerprint != began["fingerprint"]:
            raise DataError(
                f"{data.name} is not the data of the run {self.folder}: it has {len(data)} cases and fingerprint "
                f"{data.fingerprint[:16]}, the run began with {began['cases']} and {began['fingerprint'][:16]}. "
                "Bring the old data back, or start a new run."
            )

    def resume(self) -> None:
        """Continue the run: `state` is then the checkpoint, and the history ends where it was written."""
        self._lock = FolderLock(self.folder)
        content = self._read(STATE)
        seconds = -inf
        if content is not None:
            with self._checked(STATE):
                seconds = as_number(content["seconds"])
                self.state, self._restarts = as_object(content["state"]), as_int(content["restarts"])
        rows = [row for row in self.history() if row["seconds"] <= seconds]
        self._recorded = {row["formula"] for row in rows}
        if (self.folder / HISTORY).exists():
            write_text(self.folder / HISTORY, "".join(_line(row) + "\n" for row in rows))

    def load_state(self) -> dict[str, Any] | None:
        """The state of the learner as it is on disk."""
        content = self._read(STATE)
        with self._checked(STATE):
            return None if content is None else as_object(content["state"])

    def record(self, progress: Progress) -> None:
        """Keep this on disk: new formulas at once, the state when the last one is old enough."""
        self._restarts = progress.restarts
        self._append(progress.front, progress.seconds, progress.what)
        if monotonic() - self._last_write >= CHECKPOINT_SECONDS:
            if not progress.what and progress.front != self._last_front:
                self._write_front(progress.front, progress.seconds, None, None)
            self._write_state(progress.seconds, progress.state)
            self._last_write = monotonic()

    def finish(self, fit: Fit, test: Sequence[float] | None = None) -> None:
        """Write the front with the test error of each formula and how the fit ended, and release the run."""
        self._append(fit.front, fit.seconds)
        self._write_state(fit.seconds, fit.state)
        self._write_front(fit.front, fit.seconds, fit.ended, test, fit.notes)
        for name, content in fit.artifacts.items():
            self._write(name, content)
        if self._lock is not None:
            self._lock.release()

    def add_notes(self, notes: Sequence[str], artifacts: Mapping[str, dict[str, Any]]) -> None:
        """Add notes to those of a finished fit, and files with details."""
        content = self._read(FRONT) or {}
        self._write(FRONT, content | {"notes": [*content.get("notes", ()), *notes]})
        for name, value in artifacts.items():
            self._write(name, value)

    def finish_rules(self, content: Mapping[str, Any], state: dict[str, Any]) -> None:
        """Write the rules for classes, with `ended` and `seconds`, and release the run."""
        self._write_state(content["seconds"], state)
        self._write(RULES, dict(content))
        if self._lock is not None:
            self._lock.release()

    def rules(self) -> dict[str, Any] | None:
        """What `finish_rules` kept; None while it is not there."""
        return self._read(RULES)

    def discard(self) -> None:
        """Remove a run that has found nothing, so that its folder can be used again."""
        if self.is_empty or (not self._recorded and self.front() is None):
            for name in (SETTINGS, STATE, HISTORY, *self.own):
                with suppress(OSError):
                    (self.folder / name).unlink(missing_ok=True)
            with suppress(OSError):
                self.folder.rmdir()
            remove_created(self.folder)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it to look at or to go on from."""
        return not any((self.folder / name).exists() for name in (FRONT, RULES, STATE))

    def result(self) -> StoredResult | None:
        """What `finish` kept, or what is known so far; None before the first formula."""
        content = self._read(FRONT)
        if content is None:
            return None
        with self._checked(FRONT):
            front = front_from_strict_json(content)
            rows = as_objects(content.get("entries", []))
            test = tuple(float(row["test"]) for row in rows) if rows and "test" in rows[0] else None
            ended = None if content.get("ended") is None else as_text(content["ended"])
            notes = [as_text(note) for note in content.get("notes", ())]
            seconds = as_number(content.get("seconds", 0.0))
        notes = [self._certified_note() if note.startswith(NOTE) else note for note in notes]
        return StoredResult(front, test, ended, seconds, tuple(notes))

    def front(self) -> Front | None:
        """The formulas found so far; None before the first."""
        result = self.result()
        return None if result is None else result.front

    def test(self) -> tuple[float, ...] | None:
        """The test error of each formula of the front; None while it is not known."""
        result = self.result()
        return None if result is None else result.test

    @property
    def ended(self) -> str | None:
        """`done`, `time limit`, `interrupted`, or None when it goes on or was killed."""
        ended = (self._read(FRONT) or self._read(RULES) or {}).get("ended")
        with self._checked(FRONT):
            return None if ended is None else as_text(ended)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method had to say of its result; what a certificate says is made from its fields, not repeated."""
        result = self.result()
        return () if result is None else result.notes

    def _certified_note(self) -> str:
        from .job import read_certificate

        try:
            proof = read_certificate(self.folder)
            problem = next(list_contradictions(proof.content), None)
        except DataError as error:
            problem = describe_error(error)
        return proof.note if problem is None else f"{NOTE}that of this run cannot be relied on: {problem}"

    @property
    def seconds(self) -> float:
        """How long was learned, as far as the front on disk tells."""
        result = self.result()
        return 0.0 if result is None else result.seconds

    def history(self) -> list[dict[str, Any]]:
        """A row for every formula that joined the front, oldest first; what is torn or damaged is left out."""
        try:
            lines = (self.folder / HISTORY).read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        rows = []
        for line in lines[:-1]:  # what follows the last line end is torn, or nothing
            with suppress(*MALFORMED_DATA):
                row = as_object(read_json(line))
                as_number(row["seconds"]), as_text(row["formula"])
                rows.append(row)
        return rows

    def _append(self, front: Front, seconds: float, what: str = "") -> None:
        for entry in front:
            row: dict[str, Any] = {"seconds": round(seconds, 3), "restarts": self._restarts, "length": entry.length}
            row |= {"train": entry.train, "validation": entry.validation, "formula": str(entry.formula)}
            row |= {"what": what} if what else {}
            if row["formula"] not in self._recorded:
                append_line(self.folder / HISTORY, _line(row))
                self._recorded.add(row["formula"])

    def _write(self, name: str, value: dict[str, Any]) -> None:
        write_text(self.folder / name, json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def _write_front(
        self, front: Front, seconds: float, ended: str | None, test: Sequence[float] | None, notes: Sequence[str] = ()
    ) -> None:
        content = front_to_strict_json(front)
        if test is not None:
            for row, error in zip(content["entries"], test, strict=True):
                row["test"] = strict_json_number(float(error))
        head = {"ended": ended, "seconds": round(seconds, 3), "restarts": self._restarts, "notes": list(notes)}
        self._write(FRONT, content | head)
        self._last_front = front

    def _write_state(self, seconds: float, state: dict[str, Any]) -> None:
        head = {"schema": SCHEMA, "seconds": round(seconds, 3), "restarts": self._restarts, "state": state}
        write_text(self.folder / STATE, json.dumps(head))

    def _checked(self, name: str) -> AbstractContextManager[None]:
        """Turn errors in the content of a file into one that names it."""
        return convert_errors(RunError, f"{self.folder / name} was changed by hand, or it is no file of fernn")

    def _read(self, name: str) -> dict[str, Any] | None:
        path = self.folder / name
        try:
            content = read_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"{path} cannot be read ({error.strerror}). Check its permissions.") from None
        except ValueError as error:
            raise RunError(
                f"{path} is not JSON ({describe_error(error)}). It was changed by hand, or it is no file of fernn."
            ) from None
        if not isinstance(content, dict):
            raise RunError(f"{path} holds no object. It was changed by hand, or it is no file of fernn.")
        schema = content.get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            raise RunError(f"{path} is of schema {schema}, this fernn reads up to {SCHEMA}. Update fernn.")
        return content


def _versions() -> dict[str, str]:
    """What the run is computed with."""
    return {"python": python_version(), **{name: version(name) for name in ("numpy", "numba")}}


def _check(settings: Mapping[str, Any]) -> None:
    """That all that is there is what it should be; an error of `plain` where it is not."""
    data = as_object(settings["data"])
    as_text(data["fingerprint"]), as_int(data["cases"])
    for name in ("file", "method"):
        as_text(settings.get(name, ""))
    as_object(settings.get("learner", {}))
    validate_options(settings.get("reading", {}))
    validate_options(as_object(settings.get("sample", {})).get("reading", {}))
    split = as_object(settings.get("split", {"test": 0, "seed": 0}))
    as_number(split["test"]), as_int(split["seed"])
    Prior.from_json(settings.get("prior", {}))


def _line(row: dict[str, Any]) -> str:
    return json.dumps({key: strict_json_number(value) for key, value in row.items()}, ensure_ascii=False)
