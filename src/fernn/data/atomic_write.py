"""Atomic writes: a file has its old content until it has all of the new, whatever ends the process."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

from ..errors import RunError

DISK_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""What a disk without room says, of a file that it does not name."""


@contextmanager
def atomic_write(path: Path, follow_links: bool = True) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` at the end; what was there stays until then.

    A device or a pipe cannot be replaced, and is written itself. Where the path is a symbolic link, what it leads to is
    written; without `follow_links` the link is replaced, as in folders that others may have made.
    """
    target = path.resolve() if follow_links else path
    if follow_links and target.exists() and not target.is_file():
        yield target
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.tmp")  # others may write it too
    try:
        temporary.unlink(missing_ok=True)  # of a process that was ended; or a link that somebody put there
        yield temporary
        with open(temporary, "rb") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if str(error.filename) == str(temporary) or (error.filename is None and error.errno in DISK_FULL):
            error.filename = str(path)  # the name that was asked for
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_link(path: Path) -> None:
    """Where the path is a symbolic link, the link is removed, and not what it leads to."""
    if path.is_symlink():
        path.unlink()


def write_text(path: Path, text: str, follow_links: bool = False) -> None:
    """The file has its old content until it has all of the new, also after a loss of power.

    A symbolic link in its place, which the maker of the folder may have put there, is replaced and not written through.
    """
    with atomic_write(path, follow_links) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    _sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
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


def is_temporary(path: Path) -> bool:
    """Whether this is a file that was not yet put in its place when a process ended."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _sync_folder(folder: Path) -> None:
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
