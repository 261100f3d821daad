"""The server itself: on this machine only, until Ctrl-C; connections that say nothing are dropped after a while."""

from __future__ import annotations

import os
import signal
import socket
import sys
import webbrowser
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..data.file_checks import format_size
from ..errors import UnsupportedError
from .access import Access, SecretFiles
from .app import Studio, application
from .data_files import PLAIN, DatasetCache, Files, Reading
from .jobs import Jobs


@dataclass(frozen=True)
class ConnectionLimits:
    """Seconds and numbers that no client of a browser comes near."""

    head: float = 20.0
    """Seconds from the beginning of a connection, or the first byte of a later request, to the end of its headers."""
    stall: float = 60.0
    """Seconds in which nothing comes of a body, or nothing is taken of an answer."""
    most: int = 200
    """Connections at once; one more ends the one that has waited longest without a request."""


USUAL = ConnectionLimits()


def limit_connections(limits: ConnectionLimits) -> type[H11Protocol]:
    """Uvicorn's protocol with these limits."""

    class LimitedHTTP(H11Protocol):
        began = 0.0
        _head_since: float | None = None
        _heard = _moved = 0.0
        _left = 0
        _timer: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.began = self._heard = self._moved = self._head_since = self.loop.time()
            open_connections = [each for each in self.connections if isinstance(each, LimitedHTTP)]
            alive = [each for each in open_connections if not each.transport.is_closing()]
            if len(alive) > limits.most:
                idle = [each for each in alive if not each.is_busy]
                min(idle, key=lambda each: (each.cycle is not None, each.began), default=self).transport.abort()
            self._watch()

        def data_received(self, data: bytes) -> None:
            self._heard = self.loop.time()
            if not self.is_busy and self._head_since is None:
                self._head_since = self._heard
            super().data_received(data)
            if self.is_busy:
                self._head_since = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        @property
        def is_busy(self) -> bool:
            """Whether a request is under way: its headers are read, its answer is not yet given."""
            return self.cycle is not None and not self.cycle.response_complete

        def _watch(self) -> None:
            """Ends it where it is late; otherwise looks again soon."""
            time = self.loop.time()
            left = self.transport.get_write_buffer_size()
            if left != self._left or not left:
                self._left, self._moved = left, time
            is_late = (
                (self._head_since is not None and not self.is_busy and time - self._head_since > limits.head)
                or (self._awaits_body and time - self._heard > limits.stall)
                or time - self._moved > limits.stall
            )
            if is_late:
                self.transport.abort()
            else:
                self._timer = self.loop.call_later(min(limits.head, limits.stall) / 4, self._watch)

        @property
        def _awaits_body(self) -> bool:
            """Whether the client is to send more; not while it is we who do not read."""
            flow: Any = self.flow
            return self.is_busy and self.cycle.more_body and not getattr(flow, "read_paused", False)

    return LimitedHTTP


LOOPBACK = "127.0.0.1"
UPLOAD_LIMIT = 60_000_000


def serve(
    file: str | None = None, reading: Reading = PLAIN, folder: Path = Path("runs"), port: int = 0,
    upload_limit: int = UPLOAD_LIMIT, with_browser: bool = True, say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Serve the studio on a port, any free one for 0, until Ctrl-C; jobs under way then end with their best kept."""
    studio = create_studio(folder, file, reading, upload_limit)
    listening = bind_socket(port)
    port, access = listening.getsockname()[1], Access()
    server = uvicorn.Server(server_config(studio, port, access))
    files = SecretFiles(studio.folder, port)

    def address() -> str:
        return f"http://{LOOPBACK}:{port}/?token={access.issue()}"

    try:
        _invite(address, access, files, with_browser, say)
        say(f"runs and uploads are in {studio.folder}; uploads up to {format_size(upload_limit)}; Ctrl-C ends it")
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        ended = studio.jobs.close()
        listening.close()
        files.remove()
    for child in ended:
        say(f"{child} was under way: what it had found is kept")
    say(f"the studio has ended; the runs are in {studio.folder}")


def create_studio(
    folder: Path, file: str | None = None, reading: Reading = PLAIN, upload_limit: int = UPLOAD_LIMIT
) -> Studio:
    """What the routes work on."""
    folder = folder.resolve()
    files = Files(folder, file, reading, upload_limit)
    return Studio(folder, files, DatasetCache(files), Jobs(folder))


def server_config(studio: Studio, port: int, access: Access, limits: ConnectionLimits = USUAL) -> uvicorn.Config:
    """Quiet; one who is slow to ask or to listen keeps it neither from answering others nor from ending."""
    app = application(studio, port, access)
    return uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=3, timeout_keep_alive=60, h11_max_incomplete_event_size=64_000,
        http=limit_connections(limits),
    )  # fmt: skip


def _invite(
    address: Callable[[], str], access: Access, files: SecretFiles, with_browser: bool, say: Callable[[str], None]
) -> None:
    """Ways in: an address printed, more of them at Enter, a file for scripts, and one that the browser opens.

    The command line of the browser is seen by every user of the machine: it names that file, and no token.
    """
    say(f"studio: {address()}")
    asks = _is_foreground()
    say(f"the address works once, within {access.life / 60:g} minutes{'; Enter prints another' if asks else ''}")
    if (token := files.write_token(access)) is not None:
        say(f"scripts find their token in {token}")
    if current_thread() is main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is under way is kept, and the files go
        if hasattr(signal, "SIGTTIN"):  # in the background, to read fails instead of stopping the studio
            signal.signal(signal.SIGTTIN, signal.SIG_IGN)
    if asks:
        Thread(target=_print_addresses, args=(address, say), daemon=True).start()
    if with_browser and has_display():
        opener = files.write_opener(address())
        if opener is not None:
            Thread(target=webbrowser.open, args=(opener.as_uri(),), daemon=True).start()


def _is_foreground() -> bool:
    """Whether somebody can press Enter: standard input is a terminal, and it is ours."""
    try:
        return sys.stdin.isatty() and (os.name != "posix" or os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp())
    except (AttributeError, OSError, ValueError):
        return False


def _print_addresses(address: Callable[[], str], say: Callable[[str], None]) -> None:
    """A new address for every line, until the terminal is not ours any more.

    Read without `sys.stdin`, whose lock a thread must not hold when the process ends.
    """
    try:
        while os.read(sys.stdin.fileno(), 4096):
            say(f"studio: {address()}")
    except (OSError, ValueError):
        return


def bind_socket(port: int, host: str = LOOPBACK) -> socket.socket:
    """A socket that only this machine can reach."""
    if host not in (LOOPBACK, "localhost"):
        raise UnsupportedError(f"the studio is for this machine only: it listens at {LOOPBACK}, not at {host!r}.")
    # Said to be TCP, so that asyncio sends small answers at once instead of waiting 40 ms for more.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # a port that was just left can be taken again
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except OverflowError:
        listening.close()
        raise UnsupportedError(f"a port is a number from 0 to 65535; found {port}") from None
    except OSError as error:
        listening.close()
        what = f"port {port} is taken or not allowed ({error.strerror})"
        raise UnsupportedError(f"{what}. Name another one with --port, or leave it out for a free one.") from None
    return listening


def has_display() -> bool:
    """Whether a browser could show itself."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
