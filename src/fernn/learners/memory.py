"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from ..errors import UnsupportedError

_UNITS = {"": 1, "B": 1, "K": 10**3, "KB": 10**3, "M": 10**6, "MB": 10**6, "G": 10**9, "GB": 10**9, "T": 10**12}
_UNITS |= {"TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(text: str | int) -> int:
    """`2GB`, `500 MB`, `1.5GiB`, or a number of bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    found = 0 if match is None else int(float(match[1]) * _UNITS.get(match[2].upper(), 0))
    if not found:
        raise UnsupportedError(f"memory is a size such as '2GB' or '500MB', got {text!r}")
    return found
