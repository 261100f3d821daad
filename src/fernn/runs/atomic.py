"""Files that are whole at every moment, whatever ends the process."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ..data.unbroken import unbroken
from ..errors import RunError


def write(path: Path, text: str, follow_links: bool = False) -> None:
    """The file has its old content until it has all of the new, also after a loss of power.

    A symbolic link in its place, which the maker of the folder may have put there, is replaced and not written through.
    """
    with unbroken(path, follow_links) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    _settle(path.parent)


def append(path: Path, line: str) -> None:
    """One more line at the end, by one call; what a full disk cuts short is taken back. Not through a symbolic link."""
    data = (line + "\n").encode("utf-8")
    if path.is_symlink():
        raise RunError(f"{path} is a symbolic link, through which nothing is written. Remove it.")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        size = os.fstat(handle).st_size
        if os.write(handle, data) != len(data):
            os.ftruncate(handle, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)


def is_leftover(path: Path) -> bool:
    """Whether this is a file that was not yet put in its place when a process ended."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _settle(folder: Path) -> None:
    """Waits until the names in the folder are on the disk, where a system can say so."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot
            raise
    finally:
        os.close(handle)
