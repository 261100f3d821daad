"""Reactive formulas, `F[a,b] (cause -> effect)`: their order, the graph they form, and the search along it."""

from .order import below
from .prediction import Forecast, Reactive

__all__ = ["Forecast", "Reactive", "below"]
