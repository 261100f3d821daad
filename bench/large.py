"""How soon the studio shows a CSV file of 290 MB, and with how much memory: `python -m bench.large`.

From the start of the command to the data card on the page, which is that of a sample.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

SIZE = 290_000_000
SECONDS, GIGABYTES = 10.0, 1.5
STUDIO = [sys.executable, "-c", "from fernn.cli import main; main()", "studio", "--no-browser"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _made(Path(folder) / "large.csv")
        began = time.perf_counter()
        process = subprocess.Popen([*STUDIO, str(path)], cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="")
            if "http://" in line:
                break
        address = line.split()[-1]
        with httpx.Client(base_url=address.partition("/?")[0], headers={"X-Fernn": "1"}, timeout=60) as client:
            client.get(address)
            seen = client.post(f"/api/files/{client.get('/api/hello').json()['file']}/look", json={}).json()
        took = time.perf_counter() - began
        process.send_signal(signal.SIGINT)
        process.communicate()
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
        print(f"{path.stat().st_size / 1e6:.0f} MB, a card of {seen['card']['cases']} cases after {took:.1f} s", end="")
        print(f" (aim {SECONDS:g}), {most:.2f} GB of memory (aim {GIGABYTES:g})")


def _made(path: Path) -> Path:
    """Tidy, 100 samples a case, two channels; a case of three is bad."""
    random, size, case = np.random.default_rng(0), 0, 0
    with path.open("w") as file:
        size += file.write("case,time,v,w,label\n")
        while size < SIZE:
            label = "bad" if case % 3 == 0 else "good"
            rows = random.normal(0, 1, (100, 2)).cumsum(axis=0).tolist()
            text = (f"run-{case},{t * 0.1:.1f},{v:.6f},{w:.6f},{label}\n" for t, (v, w) in enumerate(rows))
            size += file.write("".join(text))
            case += 1
    return path


if __name__ == "__main__":
    main()
