"""The differentiable core: networks whose trained weights are a formula."""

from __future__ import annotations

from typing import Any

__all__ = ["is_compiled"]


def __getattr__(name: str) -> Any:
    if name == "is_compiled":  # loading the engine takes a while
        from .engine import is_compiled

        return is_compiled
    raise AttributeError(f"module 'fernn.network' has no attribute {name!r}")
