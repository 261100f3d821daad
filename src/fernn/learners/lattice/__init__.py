"""Reactive formulas, `F[a,b] (cause -> effect)`: their order, the graph they form, and the search along it."""

from .order_graph import below
from .reactive import Forecast, Reactive

__all__ = ["Forecast", "Reactive", "below"]
