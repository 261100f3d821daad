"""What a formula means on recorded and live traces."""

from .robustness import robustness, satisfied, signals

__all__ = ["robustness", "satisfied", "signals"]
