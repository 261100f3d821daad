"""Where runs lie, and that one process at a time writes in one."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..data import suggest_command
from ..errors import RunError
from .atomic import is_leftover

SETTINGS = "settings.json"


def new_folder(name: str, under: Path = Path("runs")) -> Path:
    """Made here: `runs/cruise-1`, or the next number that is free."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
    under.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = under / f"{plain}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def run_folders(under: Path = Path("runs")) -> list[Path]:
    """The runs in a folder, the latest started first."""
    found = under.glob(f"*/{SETTINGS}")
    return [file.parent for file in sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)]


def resume_command(folder: str | Path) -> str:
    """How to go on with a run."""
    return suggest_command("learn", more=["--resume", "--out", str(folder)])


def check_vacant(folder: Path) -> None:
    """A new run goes where there is nothing, or an empty folder."""
    if (folder / SETTINGS).exists():
        raise RunError(
            f"{folder} holds a run already. Go on with it: {resume_command(folder)}; "
            "for a new run name another folder with --out, or remove this one."
        )
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file; a run is a folder. Name another one with --out.")
    if folder.is_dir() and not all(is_leftover(file) for file in folder.iterdir()):
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
