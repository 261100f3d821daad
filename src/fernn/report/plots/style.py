"""The style of every figure: colours, layout, formulas in legends, and files that are the same byte for byte.

Colours are those of Okabe and Ito, which all eyes tell apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Ints
from ...data.atomic_write import atomic_write
from ...errors import UnsupportedError, suppress_warnings
from ...formula import Formula, thresholds, with_thresholds
from ...semantics import satisfied

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


GOOD, BAD = "#0072B2", "#D55E00"
PLAIN = "#6E6E6E"
"""Of traces without a class."""
DARK = {GOOD: "#00446B", BAD: "#863A00", PLAIN: "#8A2F66"}
"""Of those lifted out; purple among grey ones, where rules are black."""
RULES = ("#000000", "#B0478C", "#00795A", "#B07800", "#555555")
"""One for each formula; darker than the palette's purple, green and orange, to stand out among traces."""
DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
METHODS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = ("o", "s", "^", "v", "P", "X", "<", ">", "p")

WIDTH, DPI = 7.0, 100  # inches; 700 pixels
SMALL, TEXT, TITLE = 8, 9, 10.5  # points
LEADING = 0.165  # inches: a line of the legend
QUIET = "#767676"
DIGITS = 6  # of the places of panels, as shares of the figure


def figure(height: float, title: str = "") -> Figure:
    """An empty figure of the usual width; `height` is in inches and without the legend, which adds its own."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise UnsupportedError(
            "pictures need matplotlib, which is not installed: pip install 'fernn[plot]'"
        ) from missing
    made = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(made)
    if title:
        made.suptitle(title, fontsize=TITLE, x=0.01, ha="left", parse_math=False)
    return made


def tidy(axes: Axes, xlabel: str = "", ylabel: str = "") -> None:
    """Two axes, a faint grid across, small words."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(labelsize=SMALL, color=QUIET)
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(xlabel, fontsize=TEXT, parse_math=False)
    axes.set_ylabel(ylabel, fontsize=TEXT, parse_math=False)


def halo(width: float, alpha: float = 1.0) -> list[Any]:
    """A white rim, which lifts a line out of what lies under it."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white", alpha=alpha)]


def by_value(values: Sequence[float], low: float, high: float) -> tuple[str, ...]:
    """A colour for each value, from dark blue at `low` to ochre at `high`: cividis, but for its pale end."""
    from matplotlib.colors import to_hex

    scale = gradient()
    return tuple(to_hex(scale((value - low) / (high - low or 1.0))) for value in values)


def gradient() -> Colormap:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["cividis"]([i / 255 * 0.88 for i in range(256)]))


def whole_numbers(axes: Axes) -> None:
    """Ticks across at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def finish(made: Figure, rows: Sequence[tuple[Any, str]], columns: int = 1) -> Figure:
    """The figure with its legend, (handle, label) by row, under the panels, and everything in its final place.

    Laid out here and never again: each drawing would move things a little, and no two files be the same.
    """
    if rows:
        _legend(made, rows, columns)
    layout: Any = made.get_layout_engine()
    for _ in range(3):
        layout.execute(made)
    made.set_layout_engine("none")
    for axes in made.axes:  # the solver's last digits differ from time to time
        axes.set_position(tuple(round(end, DIGITS) for end in axes.get_position().bounds))
    return made


def _legend(made: Figure, rows: Sequence[tuple[Any, str]], columns: int) -> None:
    legend = made.legend(
        [handle for handle, _ in rows], [label for _, label in rows], loc="outside lower left", ncols=columns,
        fontsize=SMALL, frameon=False, handlelength=2.6, borderaxespad=0.4, labelspacing=0.35, columnspacing=1.6,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    lines = sum(1 + label.count("\n") for _, label in rows)
    made.set_figheight(made.get_figheight() + LEADING * -(-lines // columns))


FEWEST, MOST = 3, 15  # significant digits tried
FIRM = "\u00a0"  # a blank that no line ends at


def shorten(formula: Formula, data: Dataset) -> Formula:
    """The formula with its thresholds to three digits, or to as many more as leave every verdict on this data."""
    values = thresholds(formula)
    with suppress_warnings():
        verdicts = satisfied(formula, data)
        for digits in range(FEWEST, MOST + 1):
            short = with_thresholds(formula, [float(f"{value:.{digits}g}") for value in values])
            if np.array_equal(satisfied(short, data), verdicts):
                return short
    return formula


def wrap_text(text: str, width: int) -> str:
    """Lines of at most so many characters where that is possible, all but the first set in.

    No line ends within an atom, or between an operator and the formula that it stands before.
    """
    kept = re.sub(r" (>=|<=|>|<) ", f"{FIRM}\\1{FIRM}", text)
    kept = re.sub(r"\b([GFHO](?:\[\S+)?) (?=[(GFHO!])", f"\\1{FIRM}", kept)
    lines = wrap(kept, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(FIRM, " ")


def percent(rate: float) -> str:
    """`3.2%`, `5%`, `0.02%`: one digit after the point, more where all would be 0."""
    rounded = f"{100 * rate:.1f}".removesuffix(".0")
    return f"{100 * rate:.1g}%" if rate and rounded == "0" else f"{rounded}%"


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
    made = render(figure, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_bytes(made)
    return path


def render(figure: Figure, kind: str) -> bytes:
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
