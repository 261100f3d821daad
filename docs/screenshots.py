"""The pictures in docs/images: studio and report, light and dark, on data that fernn makes. `make screenshots`

Needs chromium, playwright, and Pillow, which comes with matplotlib. Each picture is a real page: the studio is
started, a rule is learned and changed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from fernn.data import load, write_csv
from fernn.studio.access import Access
from fernn.studio.server import bind_socket, create_studio, server_config

IMAGES = Path(__file__).parent / "images"
LARGEST = 200_000  # bytes of a picture
CASES, SECONDS = 40, 10  # of each class; to learn in
CHANGED = "G[0,60] (v <= 33)"
"""What is made of the rule that was learned: tighter than it should be, so that there is something to see."""


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """The opening address of a studio that runs meanwhile, with a recording of a train."""
    write_csv(load("cruise", cases=CASES), folder / "cruise.csv")
    listening = bind_socket(0)
    port, access = listening.getsockname()[1], Access()
    server = uvicorn.Server(server_config(create_studio(folder / "runs", str(folder / "cruise.csv")), port, access))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/?token={access.issue()}"
    server.should_exit = True
    thread.join(30)
    listening.close()


def learned(browser: Browser, address: str) -> str:
    """The address of the page once a rule is learned."""
    page = browser.new_page()
    page.goto(address)
    page.get_by_label("seconds").fill(str(SECONDS))
    page.get_by_role("button", name="Learn", exact=True).click()
    page.locator("#open-report").wait_for(timeout=300_000)
    return page.url


def kept(page: Page, name: str) -> None:
    """As a picture of 256 colours, if it is small enough."""
    file = IMAGES / f"{name}.png"
    page.wait_for_timeout(600)
    taken = Image.open(BytesIO(page.screenshot()))
    taken.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file.relative_to(IMAGES.parent.parent)}: {size / 1000:.0f} kB")
    if size > LARGEST:
        sys.exit(f"{file} has {size} bytes, more than {LARGEST}")


def pictures(browser: Browser, address: str) -> None:
    """Every picture; each in a window of its own, as people have."""
    seen = learned(browser, address)
    shots = [
        ("studio-light", 1280, 760, "light"),
        ("studio-dark", 1280, 760, "dark"),
        ("studio-narrow", 400, 860, "light"),
    ]
    for name, width, height, scheme in shots:
        page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
        page.goto(address)
        page.goto(seen)
        page.reload()
        page.locator("#open-report").wait_for()
        page.locator("#formula").fill(CHANGED)
        page.locator("#formula").blur()
        page.wait_for_function("text => (Studio.now.reading || {}).formula === text", arg=CHANGED)
        if name == "studio-narrow":
            page.locator("#rule").scroll_into_view_if_needed()
            page.evaluate("() => scrollTo(0, document.getElementById('rule').offsetTop - 60)")
        kept(page, name)
        if name != "studio-narrow":
            page.goto(page.locator("#open-report").evaluate("link => link.href"))
            kept(page, name.replace("studio", "report"))


def main() -> None:
    program = shutil.which("chromium")
    if program is None:
        sys.exit("chromium is not installed: the pictures are made with it")
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder)) as address,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pictures(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
