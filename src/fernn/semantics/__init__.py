"""What a formula means on recorded and live traces."""

from .deciding import Deciding, deciding
from .monitor import Monitor
from .robustness import robustness, satisfied, signals
from .score import Score, score
from .stream import Reading

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
