"""Addresses of clusters: whether they can be one, and whether anybody is there."""

from __future__ import annotations

import re
import socket

from ..errors import UnsupportedError

WAIT = 10.0
"""Seconds for a cluster to answer."""
_SHAPE = re.compile(r"(\w+://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:]+):(?P<port>\d+)/?")


def check_address(where: str) -> None:
    """That it names a host and a port."""
    if not _SHAPE.fullmatch(where):
        raise UnsupportedError(f"an address has a host and a port, as in tcp://HOST:8786; found {where!r}")


def knock(where: str, who: str) -> None:
    """Whether anybody listens there, since clusters themselves wait for minutes; other names are theirs to find."""
    found = _SHAPE.fullmatch(where)
    if found is None:
        return
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), WAIT).close()
    except (OSError, OverflowError) as error:
        raise UnsupportedError(f"no {who} answers at {where}: {error}") from error
