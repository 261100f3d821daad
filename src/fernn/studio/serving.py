"""The server itself: on this machine only, until Ctrl-C."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import uvicorn

from ..data.memory import shown
from ..errors import UnsupportedError
from .app import Studio, application
from .datasets import Datasets
from .files import Files
from .guard import new_token
from .jobs import Jobs
from .reading import PLAIN, Reading

LOOPBACK = "127.0.0.1"
UPLOAD_LIMIT = 60_000_000


def serve(
    file: str | None = None,
    reading: Reading = PLAIN,
    folder: Path = Path("runs"),
    port: int = 0,
    upload_limit: int = UPLOAD_LIMIT,
    with_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the studio on a port, any free one for 0, until Ctrl-C; jobs under way then end with their best kept."""
    studio = made(folder, file, reading, upload_limit)
    listening = bound(port)
    port, token = listening.getsockname()[1], new_token()
    address = f"http://{LOOPBACK}:{port}/?token={token}"
    server = uvicorn.Server(configured(studio, port, token))
    say(f"studio: {address}")
    say(f"runs and uploads are in {studio.folder}; uploads up to {shown(upload_limit)}; Ctrl-C ends it")
    if with_browser and has_display():
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        ended = studio.jobs.close()
        listening.close()
    for child in ended:
        say(f"{child} was under way: what it had found is kept")
    say(f"the studio has ended; the runs are in {studio.folder}")


def made(folder: Path, file: str | None = None, reading: Reading = PLAIN, upload_limit: int = UPLOAD_LIMIT) -> Studio:
    """What the routes work on."""
    folder = folder.resolve()
    files = Files(folder, file, reading, upload_limit)
    return Studio(folder, files, Datasets(files), Jobs(folder))


def configured(studio: Studio, port: int, token: str) -> uvicorn.Config:
    """Quiet; one who is slow to listen does not keep it from ending."""
    app = application(studio, port, token)
    return uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=3, h11_max_incomplete_event_size=64_000,
    )  # fmt: skip


def bound(port: int, host: str = LOOPBACK) -> socket.socket:
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
