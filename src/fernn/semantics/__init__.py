"""What a formula means on recorded and live traces."""

from .deciding import Deciding, deciding
from .monitor import Monitor, Reading
from .robustness import robustness, satisfied, signals
from .score import Score, score

__all__ = [
    "Deciding",
    "Monitor",
    "Reading",
    "Score",
    "deciding",
    "robustness",
    "satisfied",
    "score",
    "signals",
]
