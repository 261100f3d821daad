"""What a person sees: pictures of data, rules and results, and pages.

plots    matplotlib figures: `pip install 'fernn[plot]'`
view     what a page draws, as plain JSON
page     the report: one HTML file
web      what runs in a browser
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported when they are first asked for
    from .plots import against as against
    from .plots import bars as bars
    from .plots import confusion as confusion
    from .plots import curves as curves
    from .plots import draw_comparison as draw_comparison
    from .plots import front as front
    from .plots import lanes as lanes
    from .plots import region as region
    from .plots import save as save

__all__ = ["against", "bars", "confusion", "curves", "draw_comparison", "front", "lanes", "region", "save"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import plots

    found = globals()[name] = getattr(plots, name)
    return found


def __dir__() -> list[str]:
    return __all__
