"""What a person sees: pictures of data, rules and results, and pages.

plots    matplotlib figures: `pip install 'fernn[plot]'`
view     what a page draws, as plain JSON
page     the report: one HTML file
web      what runs in a browser
"""

from .plots import against, bars, confusion, curves, draw_comparison, front, lanes, region, save

__all__ = ["against", "bars", "confusion", "curves", "draw_comparison", "front", "lanes", "region", "save"]
