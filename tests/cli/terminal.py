"""A pseudo-terminal to run commands on, and what its screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios


def on_a_terminal(words, columns=60, **options):
    """The finished process, its standard output a text, and all that it wrote to its terminal, standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, text=True, **options)
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    out = process.stdout.read()
    process.wait()
    return process, out, written.decode()


def redrawn(written):
    """Every line that was drawn over an older one."""
    return re.findall(r"\r([^\r\n\x1b]*)\x1b\[K", written)


class Screen:
    """Understands line ends, the cursor going up, and clearing."""

    def __init__(self, written: str) -> None:
        self.rows, self.at, self.column = [""], 0, 0
        for piece in re.findall(r"\x1b\[\d*[A-Z]|\r|\n|[^\x1b\r\n]+", written):
            self._take(piece)

    def _take(self, piece: str) -> None:
        if piece == "\r":
            self.column = 0
        elif piece == "\n":
            self.at += 1
            self.rows += [""] * (self.at + 1 - len(self.rows))
        elif piece.startswith("\x1b["):
            count, what = int(piece[2:-1] or 0), piece[-1]
            if what == "A":
                self.at -= count
                assert self.at >= 0, "above the screen"
            elif what == "K":
                self.rows[self.at] = self.rows[self.at][: self.column]
            elif what == "J":
                self.rows = [*self.rows[: self.at], self.rows[self.at][: self.column]]
            else:
                raise AssertionError(f"unknown to this terminal: {piece!r}")
        else:
            row = self.rows[self.at].ljust(self.column)
            self.rows[self.at] = row[: self.column] + piece + row[self.column + len(piece) :]
            self.column += len(piece)

    @property
    def text(self) -> str:
        return "\n".join(self.rows)
