"""Problems whose answer is known: a random formula, and traces that it labels.

made = task(seed=3)
made.formula, made.train, made.fresh
"""

from .task import Planted, task

__all__ = ["Planted", "task"]
