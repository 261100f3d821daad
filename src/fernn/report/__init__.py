"""What a person sees: pictures of data, rules and results, and pages.

plots    matplotlib figures: `pip install 'fernn[plot]'`
"""

from .plots import against, bars, front, save

__all__ = ["against", "bars", "front", "save"]
