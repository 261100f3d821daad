"""How a file is to be read, as a page tells it: checked, complete, and as a word that stands for the data."""

from __future__ import annotations

import base64
import json
from typing import Any

from ..data.options import ReadOptions
from ..errors import UnsupportedError
from .answers import Refused

Reading = dict[str, Any]

_WORD, _NUMBER = (str, type(None)), (int, float, type(None))
_KINDS: dict[str, tuple[type, ...]] = {
    "label": _WORD, "case": _WORD, "time": _WORD, "channels": (list, type(None)), "group": _WORD,
    "good": (str, int, float, bool, type(None)), "label_kind": (str,), "layout": (str,), "header": (bool, type(None)),
    "delimiter": _WORD, "decimal": (str,), "encoding": (str,), "bad_rows": (str,), "nonfinite": (str,), "dt": _NUMBER,
    "unit": _WORD, "steps": (bool,), "memory_limit": (int, type(None)),
}  # fmt: skip
"""Every option of reading that a page may set, and what its value may be."""

PLAIN: Reading = {name: getattr(ReadOptions(), name) for name in _KINDS}
"""What is done where nothing is asked for."""

LONGEST, MOST = 1000, 20_000  # letters of a name, names of channels
BETWEEN = "~"  # between a file and how it is read


def checked(given: dict[str, Any], under: Reading = PLAIN) -> Reading:
    """All options: those given, in the place of those under them."""
    for name, value in given.items():
        if name not in _KINDS:
            raise Refused(f"there is no option {name[:50]!r} of reading; there are {', '.join(_KINDS)}.")
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and bool not in _KINDS[name]):
            raise Refused(f"the option {name!r} of reading cannot be {json.dumps(value)[:100]}.")
        if isinstance(value, list) and not (value and len(value) <= MOST and all(map(_is_name, value))):
            raise Refused(f"{name!r} is a list of names, one at least, or null.")
        if isinstance(value, str) and not _is_name(value):
            raise Refused(f"the option {name!r} of reading has more than {LONGEST} letters, or some that cannot be.")
    chosen = {**under, **given}
    if chosen["label"] == "":
        chosen["label"] = None
    ReadOptions(**{**chosen, "channels": None})  # says what is wrong with it
    if chosen["encoding"].lower().replace("-", "_") in ("idna", "punycode", "unicode_escape", "raw_unicode_escape"):
        raise UnsupportedError(f"{chosen['encoding']} is no encoding of recordings; utf-8, latin-1 and utf-16 are.")
    return chosen


def _is_name(value: object) -> bool:
    return value == "\t" or (isinstance(value, str) and len(value) <= LONGEST and value.isprintable())


def as_word(file: str, reading: Reading) -> str:
    """The data as a page names them: `drive~`, or with what was asked for in letters that an address may have."""
    special = {name: value for name, value in reading.items() if value != PLAIN[name]}
    if not special:
        return file + BETWEEN
    text = json.dumps(special, sort_keys=True, separators=(",", ":"))
    return file + BETWEEN + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def from_word(word: str) -> tuple[str, Reading]:
    """(file, how it is read)."""
    file, sign, text = word.partition(BETWEEN)
    if not sign:
        raise Refused(f"{word[:100]!r} names no data; look at a file first, the answer names them.", 404)
    try:
        special = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))) if text else {}
    except (ValueError, RecursionError):
        special = None
    if not isinstance(special, dict):
        raise Refused(f"{word[:100]!r} names no data: what is behind {BETWEEN} cannot be read.", 404)
    return file, checked(special)
