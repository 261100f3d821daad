"""Where runs lie, and that one process at a time writes in one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..data import suggest_command
from ..data.atomic_write import DISK_FULL, is_temporary
from ..errors import RunError

SETTINGS = "settings.json"


LONGEST = 80
"""Characters of the name of data that the name of a run begins with: names of files are of 255 bytes at most."""
_made: set[Path] = set()


def folder_name(name: str) -> str:
    """What a folder can be called after data of this name, which may come with the data: never a way elsewhere."""
    plain = re.sub(r"[^\w.-]+", "-", name)[:LONGEST].encode("utf-8")[: 2 * LONGEST].decode("utf-8", "ignore")
    return plain.strip("-.") or "run"


def new_folder(name: str, under: Path = Path("runs")) -> Path:
    """Made here: `runs/cruise-1`, or the next number that is free."""
    plain = folder_name(name)
    make_folder(under)
    number = 1
    with writable(under):
        while (under / f"{plain}-{number}").exists() or not _is_made(under / f"{plain}-{number}"):
            number += 1
        return under / f"{plain}-{number}"


def make_folder(folder: Path) -> None:
    """With those that it lies in, as far as they are not there; `remove_made` takes them away again."""
    with writable(folder):
        for each in reversed([folder, *folder.parents]):
            if not each.exists():
                _is_made(each)
        folder.mkdir(exist_ok=True)


def _is_made(folder: Path) -> bool:
    """Makes it; False where it is there already."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    _made.add(folder.absolute())
    return True


def remove_made(folder: Path) -> None:
    """Folders that this process made for a run, and that nothing was written into."""
    for each in [folder.absolute(), *folder.absolute().parents]:
        if each not in _made:
            return
        with suppress(OSError):
            each.rmdir()
            _made.discard(each)


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Where something cannot be written inside, that is said with its name and what to do."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        do = (
            "Free some space, or choose a folder on another disk"
            if error.errno in DISK_FULL
            else "Choose another folder"
        )
        raise RunError(f"cannot write to {error.filename or folder}: {why}. {do} with --out.") from error


def run_folders(under: Path = Path("runs")) -> list[Path]:
    """The runs in a folder, the latest started first."""
    found = under.glob(f"*/{SETTINGS}")
    return [file.parent for file in sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)]


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


class Lock:
    """Held on a folder until `release`, or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._handle: int | None = None
        try:
            import fcntl
        except ImportError:  # a system without it: nothing is held
            return
        self._handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise RunError(f"{folder} is being written by another process. Wait for it, or stop it.") from None
        except OSError:  # a file system without locks
            self.release()

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    __del__ = release
