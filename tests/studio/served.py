"""A studio on a free port, asked as a browser asks it, and data to ask about."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from fernn.studio.access import Access
from fernn.studio.server import USUAL, bind_socket, create_studio, server_config

CSV = "case,time,v,w,label\n" + "".join(
    f"{kind}-{i},{t},{(20 if kind == 'good' else 30) + (i + 3 * t) % 7},{t % 3},{kind}\n"
    for kind in ("good", "bad")
    for i in range(12)
    for t in range(10)
)
"""Two dozen traces: v stays under 27 in the good ones."""


PATIENT = 300.0
"""Seconds that are waited for what must come to pass, on however busy a machine."""


class Served:
    """A running studio with a client that has its cookie."""

    def __init__(self, folder, limits=USUAL, **options):
        self.studio = create_studio(folder, **options)
        self.socket = bind_socket(0)
        self.port, self.access = self.socket.getsockname()[1], Access()
        self.address = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(server_config(self.studio, self.port, self.access, limits))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.client = httpx.Client(base_url=self.address, headers={"X-Fernn": "1"}, timeout=PATIENT)
        self.session = self.access.open_session()
        self.client.cookies.set(f"fernn-{self.port}", self.session)

    @property
    def opening(self):
        """An address that lets a browser in, once."""
        return f"{self.address}/?token={self.access.issue()}"

    def upload(self, text=CSV, name="drive.csv"):
        return self.client.post("/api/files", params={"name": name}, content=text).json()["id"]

    def look(self, file, **options):
        return self.client.post(f"/api/files/{file}/look", json=options).json()

    def job(self, name, until=("done", "failed"), seconds=PATIENT):
        """The job once it is in one of these states."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.client.get(f"/api/jobs/{name}").json()
            if job["state"] in until:
                return job
            time.sleep(0.05)
        raise AssertionError(f"still {job}")

    def close(self):
        self.client.close()
        self.server.should_exit = True
        self.thread.join(PATIENT)
        self.socket.close()
