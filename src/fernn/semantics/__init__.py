"""What a formula means on recorded and live traces."""

from .explain import Witness, deciding
from .monitor import Monitor, Reading
from .robustness import robustness, satisfied, signals
from .running_metrics import Score, score

__all__ = [
    "Monitor",
    "Reading",
    "Score",
    "Witness",
    "deciding",
    "robustness",
    "satisfied",
    "score",
    "signals",
]
