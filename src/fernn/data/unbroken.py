"""Files that are written as a whole or not at all, whatever ends the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


@contextmanager
def unbroken(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` at the end; what was there stays until then.

    A device or a pipe cannot be replaced, and is written itself.
    """
    target = path.resolve()  # a link stays a link
    if target.exists() and not target.is_file():
        yield target
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.tmp")  # others may write it too
    try:
        yield temporary
        with open(temporary, "rb") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) == str(temporary):
            error.filename = str(path)  # the name that was asked for
        raise
    finally:
        temporary.unlink(missing_ok=True)
