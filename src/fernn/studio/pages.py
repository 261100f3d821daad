"""The files of the page: those of the studio and those that it shares with reports, by their names."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

KINDS = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon", "json": "application/json",
}  # fmt: skip
HOMES = (("fernn.report", "web"), ("fernn.studio", "web"))
"""Where they lie; of two with the same name the studio's is taken."""


@cache
def names() -> dict[str, Traversable]:
    """Every file that is served, by its name: whatever else is asked for is not there."""
    found: dict[str, Traversable] = {}
    for package, folder in HOMES:
        place = files(package).joinpath(folder)
        if place.is_dir():
            found |= {file.name: file for file in place.iterdir() if file.is_file() and _ending(file.name) in KINDS}
    return found


def page(name: str) -> tuple[bytes, str] | None:
    """The file and its kind; read anew each time, so that a change shows at a reload."""
    file = names().get(name)
    return None if file is None else (file.read_bytes(), KINDS[_ending(name)])


def _ending(name: str) -> str:
    return name.rpartition(".")[2]
