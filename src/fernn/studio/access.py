"""Who is let in: one-time tokens for browsers, sessions, the token of scripts; in files that only the user can read.

The command line of a browser is seen by every user of the machine. So a browser is never started with an address that
holds a secret: it opens a file of the user, which leads to an address with a token. Such a token is worth a session
once, within minutes; the session is a cookie with another value. Scripts have a token of their own, in a file.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from typing import Literal

LIFE = 600.0
"""Seconds in which a one-time token is worth a session."""
FOLDER = ".studio"
"""Among the runs: there a browser in a sandbox may read it, too, unlike what lies in /tmp."""

Refusal = Literal["used", "late", "unknown"]


class Access:
    """The secrets of one start of the studio."""

    def __init__(self, life: float = LIFE, now: Callable[[], float] = monotonic) -> None:
        self.script_token = token_urlsafe(32)
        self.life, self._now = life, now
        self._ends: dict[str, float] = {}
        self._used: set[str] = set()
        self._sessions: set[str] = set()

    def issue(self) -> str:
        """A new token for one browser, once."""
        token, now = token_urlsafe(24), self._now()
        self._ends = {each: end for each, end in self._ends.items() if end + self.life > now}  # long dead ones go
        self._ends[token] = now + self.life
        return token

    def redeem(self, token: str) -> str | None:
        """A new session for a token that is valid, which it is no longer afterwards; None for others."""
        if self.refusal(token) is not None:
            return None
        self._used.add(_among(token, self._ends) or "")
        return self.open_session()

    def refusal(self, token: str) -> Refusal | None:
        """Why this token is worth nothing; None where it is worth a session."""
        known = _among(token, self._ends)
        if known is None:
            return "unknown"
        if known in self._used:
            return "used"
        return "late" if self._now() > self._ends[known] else None

    def open_session(self) -> str:
        session = token_urlsafe(32)
        self._sessions.add(session)
        return session

    def has_session(self, session: str) -> bool:
        return _among(session, self._sessions) is not None

    def is_script(self, authorization: str) -> bool:
        """Whether the header `Authorization` has the token of scripts."""
        kind, _, token = authorization.partition(" ")
        return kind.lower() == "bearer" and compare_digest(_raw(token.strip()), _raw(self.script_token))


def _among(given: str, known: set[str] | dict[str, float]) -> str | None:
    """The known secret that equals the given one; how long that takes says nothing of where they differ."""
    found = [each for each in known if compare_digest(_raw(each), _raw(given))]
    return found[0] if found else None


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class SecretFiles:
    """The files of one start of the studio, in a folder that only the user can enter; gone after `remove`."""

    def __init__(self, runs: Path, port: int) -> None:
        self.folder = _private_folder(runs)
        self._port, self._files = port, list[Path]()

    def write_token(self, access: Access) -> Path | None:
        """`PORT.token`: what scripts send as `Authorization: Bearer TOKEN`. None where no file can be private."""
        return self._write(f"{self._port}.token", access.script_token + "\n")

    def write_opener(self, address: str) -> Path | None:
        """`PORT.html`: a page that leads to this address at once."""
        safe = escape(address)
        return self._write(
            f"{self._port}.html",
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>fernn studio</title>\n'
            f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={safe}"></head>\n'
            f'<body><p><a href="{safe}">Open the studio</a></p></body></html>\n',
        )

    def remove(self) -> None:
        for path in self._files:
            path.unlink(missing_ok=True)
        if self.folder is not None:
            with suppress(OSError):  # another studio may have its files there
                self.folder.rmdir()

    def _write(self, name: str, text: str) -> Path | None:
        if self.folder is None:
            return None
        path = self.folder / name
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        self._files.append(path)
        return path


def _private_folder(runs: Path) -> Path | None:
    """Among the runs, or where no folder there can be private, among temporary files; None where neither can."""
    with suppress(OSError):
        runs.mkdir(parents=True, exist_ok=True)
        place = runs / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        if _is_private(place):
            return place
    with suppress(OSError):
        place = Path(tempfile.mkdtemp(prefix="fernn-studio-"))
        if _is_private(place):
            return place
        place.rmdir()
    return None


def _is_private(folder: Path) -> bool:
    """Whether it is the user's own and nobody else may enter; on Windows, folders of a user are."""
    if os.name != "posix":
        return True
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return False
    folder.chmod(0o700)
    return not stat.S_IMODE(folder.stat().st_mode) & 0o077
