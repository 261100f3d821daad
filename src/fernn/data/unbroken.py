"""Files that are written as a whole or not at all, whatever ends the process."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""What a disk without room says, of a file that it does not name."""


@contextmanager
def unbroken(path: Path, follow_links: bool = True) -> Iterator[Path]:
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
        if str(error.filename) == str(temporary) or (error.filename is None and error.errno in FULL):
            error.filename = str(path)  # the name that was asked for
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_link(path: Path) -> None:
    """Where the path is a symbolic link, the link is removed, and not what it leads to."""
    if path.is_symlink():
        path.unlink()
