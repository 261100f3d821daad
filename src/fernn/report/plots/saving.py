"""Pictures as files that are the same, byte for byte, whenever the picture is."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...data.atomic_write import atomic_write
from ...data.dataset import Ints
from ...errors import UnsupportedError
from .style import DPI

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SALT = "fernn"  # of the names inside an SVG file, which are random otherwise
EXACT = 64  # of the 256 colours of a PNG file


def save(figure: Figure, path: str | Path) -> Path:
    """Writes a `.png` or `.svg` file, making its folder, and gives its path. No dates, no versions in it."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".png", ".svg"):
        raise UnsupportedError(
            f"a picture is saved as .png or .svg, got {path.name!r}. Give the file one of these endings."
        )
    made = drawn(figure, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_bytes(made)
    return path


def drawn(figure: Figure, kind: str) -> bytes:
    """The content of such a file; `kind` is `.png` or `.svg`."""
    from matplotlib import rc_context

    out = BytesIO()
    if kind == ".png":
        figure.savefig(out, format="png", dpi=DPI)
        return _few_colours(out)
    with rc_context({"svg.hashsalt": SALT}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _few_colours(png: BytesIO) -> bytes:
    """The same picture in 256 colours, a third of the bytes: the most common as they are, then what covers the rest.

    So areas keep their colour exactly, and a thin line of a rare colour nearly.
    """
    from PIL import Image

    with Image.open(png) as picture:
        flat = picture.convert("RGB")
    red, green, blue = np.moveaxis(np.asarray(flat, dtype=np.int64), 2, 0)
    pixels: Ints = red << 16 | green << 8 | blue
    met, place, count = np.unique(pixels, return_inverse=True, return_counts=True)
    common = met[np.argsort(-count, kind="stable")[:EXACT]]
    covering = flat.quantize(256 - EXACT, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = np.concatenate([_rgb(common), np.reshape(covering, (-1, 3))])[:256]
    nearest = [int(np.argmin(((palette - colour) ** 2).sum(axis=1))) for colour in _rgb(met)]
    made = Image.fromarray(np.array(nearest, dtype=np.uint8)[place.reshape(pixels.shape)])
    made.putpalette(palette.ravel().tolist())
    out = BytesIO()
    made.save(out, format="png", optimize=True)
    return out.getvalue()


def _rgb(packed: Ints) -> Ints:
    """`[colour, 3]` of colours that are one number each."""
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)
