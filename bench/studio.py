"""How long the studio takes to answer an edited formula on 2000 traces of 101 samples: `python -m bench.studio`.

Asked over HTTP as a page asks, each time another formula; the time is from the request to the last byte of the answer.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import httpx
import uvicorn

from fernn.studio.access import Access
from fernn.studio.server import bind_socket, create_studio, server_config

AIM = 100.0  # milliseconds
TIMES = 20
FORMULAS = {
    "a threshold, dragged": lambda i: f"G (v <= {34 + i / 100})",
    "two atoms": lambda i: f"G (v <= {34 + i / 100}) & F (v >= 20)",
    "windows": lambda i: f"G[0,{50 + i}] (v <= 34) & F[3,20] (v >= 30 | v <= {10 + i})",
    "until": lambda i: f"(v <= {30 + i / 100}) U (v >= 25)",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, bind_socket(0) as listening:
        port, access = listening.getsockname()[1], Access()
        server = uvicorn.Server(server_config(create_studio(Path(folder)), port, access))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-Fernn": "1"}, timeout=120) as client:
                client.get(f"/?token={access.issue()}")
                _measure(client)
        finally:
            server.should_exit = True
            thread.join()


def _measure(client: httpx.Client) -> None:
    seen = client.post("/api/files/cruise/look", json={}).json()
    print(f"cruise, {seen['card']['cases']} traces of {seen['card']['longest']} samples; milliseconds, aim {AIM:.0f}")
    for name, formula in FORMULAS.items():
        taken = []
        for i in range(TIMES + 3):
            began = time.perf_counter()
            answer = client.post(f"/api/data/{seen['data']}/read", json={"formula": formula(i)})
            taken.append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
        taken = taken[3:]  # the first ones find their way into caches
        print(f"{name:<22} median {median(taken):6.1f}   worst {max(taken):6.1f}")


if __name__ == "__main__":
    main()
