"""The studio without a network: a request as bytes goes to its routes, behind the guard, and must be answered in words.

An input is `METHOD /path?query`, the sign 0x1e, and a body. FILE, DATA, RUN and KINDS stand for an upload, for it as it
was read, for a run of it, and for one with rules for classes.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from functools import cache
from itertools import count
from math import inf, nan
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

from fernn.errors import FernnError

PORT = 8123
CSV = "case,time,v,w,label\n" + "".join(
    f"{kind}-{i},{t},{(20 if kind == 'good' else 30) + (i + 3 * t) % 7},{t % 3},{kind}\n"
    for kind in ("good", "bad")
    for i in range(6)
    for t in range(8)
)
MANY = 50
"""Uploads after which a new studio takes over."""


class Asked:
    """A studio in a folder, with a file and two runs; no process is ever begun in it."""

    def __init__(self, folder: Path) -> None:
        from fernn.runs import Run, plan
        from fernn.studio import stored_runs
        from fernn.studio.access import Access
        from fernn.studio.app import application
        from fernn.studio.server import create_studio

        stored_runs.RIVALS_PATIENCE = stored_runs.PATIENCE = 1.0
        self.folder, self.studio = folder, create_studio(folder / "runs")
        self.studio.jobs.most = 0
        access = Access()
        self.session = access.open_session()
        self.app = application(self.studio, PORT, access)
        file = self.told("POST /api/files?name=drive.csv", CSV.encode())["id"]
        word = self.told(f"POST /api/files/{file}/look", b"{}")["data"]
        self.names = {"FILE": file, "DATA": word, "RUN": "mine", "KINDS": "kinds"}
        data = self.studio.datasets.data(word).data
        path = self.studio.files.find(file).path
        assert data is not None
        Run.create(folder / "runs" / "mine", plan(path, {}), data).finish(_fit())
        kinds = Run.create(folder / "runs" / "kinds", plan(path, {}, "fernn", {}, 0.2, classes="each"), data)
        kinds.finish_rules(_rules() | {"train": 0.0, "test": 0.0, "ended": "done", "seconds": 1.0}, {})

    def told(self, head: str, body: bytes) -> Any:
        status, text = self.ask(head, body)
        if status >= 400:
            raise AssertionError(text)
        return json.loads(text)

    def ask(self, head: str, body: bytes) -> tuple[int, bytes]:
        """(status, body) of the answer; what a route does not catch is raised."""
        method, _, target = head.partition(" ")
        path, _, query = target.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": method.upper(), "path": unquote(path, errors="replace"),
            "raw_path": path.encode("latin-1", "replace"), "query_string": query.encode("latin-1", "replace"),
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
            "headers": [(b"host", f"127.0.0.1:{PORT}".encode()), (b"x-fernn", b"1"),
                        (b"cookie", f"fernn-{PORT}={self.session}".encode()),
                        (b"content-length", str(len(body)).encode())],
        }  # fmt: skip
        answer: dict[str, Any] = {"status": 0, "body": b""}
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            return next(parts, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            answer["status"] = message.get("status", answer["status"])
            answer["body"] += message.get("body", b"")

        asyncio.run_coroutine_threadsafe(self.app(scope, receive, send), _loop()).result()
        return answer["status"], answer["body"]


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One loop of events for all requests, which ends with the process."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    return loop


_now: list[Asked] = []
_numbers = count()


def ready(room: Path) -> None:
    """A studio stands, with not too many uploads in it."""
    if not _now or len(_now[0].studio.files.all()) > MANY:
        for old in _now:
            shutil.rmtree(old.folder, ignore_errors=True)
        folder = room / f"studio-{next(_numbers)}"
        folder.mkdir()
        _now[:] = [Asked(folder)]
        _now[0].ask("GET /api/runs/mine/report", b"")  # whatever is compiled is compiled


def asked(data: bytes) -> None:
    """One request; refused in words is an error of fernn, a status of 500 is a crash."""
    head, _, body = data.partition(b"\x1e")
    text = head.decode("latin-1")
    for name, word in _now[0].names.items():
        text, body = text.replace(name, word), body.replace(name.encode(), word.encode())
    status, answer = _now[0].ask(text, body)
    if status >= 500 or status < 200:
        raise AssertionError(f"status {status}: {answer[:300]!r}")
    if status >= 400:
        raise FernnError(f"{status} {json.loads(answer)['error']}")


def _fit() -> Any:
    from fernn.formula import parse
    from fernn.learners import Entry, Fit, Front

    found = [Entry(parse(text), 2, 0.0, nan, nan, inf) for text in ("G (v <= 27)", "F (v <= 22)")]
    return Fit(Front(tuple(found), 0), 1.0, "done", {})


def _rules() -> Any:
    from fernn.learners.classes import PerClass
    from fernn.learners.classes.class_rules import Rule

    front = _fit().front
    return PerClass(("bad", "good"), (Rule("bad", front), Rule("good", front))).to_json()
