"""Addresses of clusters: whether they can be one, that they are named to the user, and whether anybody is there."""

from __future__ import annotations

import re
import socket
import sys

from ..errors import UnsupportedError

WAIT = 10.0
"""Seconds for a cluster to answer."""
_SHAPE = re.compile(r"(\w+://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:]+):(?P<port>\d+)/?")


def check_address(where: str) -> None:
    """That it names a host and a port."""
    if not _SHAPE.fullmatch(where):
        raise UnsupportedError(f"an address has a host and a port, as in tcp://HOST:8786; found {where!r}")


WHO = {"dask": "Dask scheduler", "ray": "Ray cluster"}
_announced: set[tuple[str, str]] = set()


def announce(where: str, kind: str) -> None:
    """Names the address on standard error, once, before anything connects to it, and what trust it needs."""
    if (where, kind) not in _announced:
        _announced.add((where, kind))
        print(
            f"Work goes to the {WHO[kind]} at {where}. Whoever runs it can run code on this machine, since its answers "
            "are unpickled here: use only clusters that you trust.",
            file=sys.stderr,
            flush=True,
        )


def knock(where: str, kind: str) -> None:
    """Whether anybody listens there, since clusters themselves wait for minutes; other names are theirs to find."""
    found = _SHAPE.fullmatch(where)
    if found is None:
        return
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), WAIT).close()
    except (OSError, OverflowError) as error:
        raise UnsupportedError(f"no {WHO[kind]} answers at {where}: {error}") from error
