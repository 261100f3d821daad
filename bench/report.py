"""How large a report is and how soon it is seen; how soon the studio can answer an edited formula.

python -m bench.report

With FERNN_DATA on the paper's recordings for CCT, without it on the simulated train of the same shape. Needs playwright
and chromium for the time of rendering, which is told as unknown where they are absent.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from fernn import length, parse
from fernn.data import Dataset, load
from fernn.errors import FernnError
from fernn.learners import Entry, Fit, Front
from fernn.report.page import page
from fernn.report.view import reading, sensitivity, traces
from fernn.runs import Job, error, load_result, plan, start_job

RULES = ("v <= 30", "G (v <= 34.3)", "G (v <= 34.3) & F (v >= 20)", "G[0,60] (v <= 34.3 -> F[0,20] (v >= 20))")
TIMES = 9


def main() -> None:
    name, data = _data()
    first = data.channels[0]
    rules = [parse(text.replace("v ", f"{first} ")) for text in RULES]
    print(f"{name}: {len(data)} traces, {data.n_channels} channels, {int(data.lengths.max())} samples")
    for rule in rules:
        print(f"reading {rule}: {_taken(lambda rule=rule: reading(rule, data)):.0f} ms")
        print(f"sensitivity of {rule}: {_taken(lambda rule=rule: sensitivity(rule, data), 3):.0f} ms")
    print(f"traces: {_taken(lambda: traces(data), 3):.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        job = _job(name, data, rules, Path(folder) / "run")
        print(f"making the report: {_taken(lambda: page(load_result(job)), 3):.0f} ms")
        text = page(load_result(job))
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        print(f"report: {path.stat().st_size / 1e6:.2f} MB")
        print(f"rendered in: {_rendered(path)}")


def _data() -> tuple[str, Dataset]:
    try:
        return "cct", load("cct")
    except FernnError:
        return "cruise", load("cruise")


def _job(name: str, data: Dataset, rules: list[Any], folder: Path) -> Job:
    """A run that is over at once."""
    job = start_job(data, plan(name, {}), name, folder)
    train, held = job.parts
    entries = [Entry(rule, length(rule), error(rule, train), float("nan"), float("nan"), 0.0) for rule in rules]
    assert job.run is not None
    assert held is not None
    job.run.finish(Fit(Front(tuple(entries), 1), 1.0, "done", {"schema": 1}), [error(rule, held) for rule in rules])
    return job


def _taken(work: Callable[[], object], times: int = TIMES) -> float:
    """Milliseconds, the median of several; the first time, which compiles, is left out."""
    work()
    found = []
    for _ in range(times):
        start = perf_counter()
        work()
        found.append(1000 * (perf_counter() - start))
    return median(found)


def _rendered(path: Path) -> str:
    """From the beginning of navigation to the second frame after all is drawn, the median of five pages."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "unknown, playwright is not installed"
    if chromium is None:
        return "unknown, chromium is not installed"
    drawn = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(performance.now()))))"
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(5):
            seen = browser.new_page(viewport={"width": 1280, "height": 900})
            seen.goto(path.resolve().as_uri())
            seen.wait_for_selector("html[data-ready]")
            found.append(seen.evaluate(drawn))
            seen.close()
        version = browser.version
        browser.close()
    return f"{median(found):.0f} ms (headless chromium {version}; {json.dumps([round(f) for f in found])})"


if __name__ == "__main__":
    main()
