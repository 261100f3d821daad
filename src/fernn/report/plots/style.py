"""How every picture looks. Colours are those of Okabe and Ito, which all eyes tell apart.

matplotlib is optional and loaded when a picture is drawn. Figures stand alone: nothing here touches pyplot or its
list of open figures, so that servers can draw too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedError

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


def finished(made: Figure, rows: Sequence[tuple[Any, str]], columns: int = 1) -> Figure:
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
