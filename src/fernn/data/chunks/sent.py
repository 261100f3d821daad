"""Arrays as text, on their way from one process to another."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
import numpy.typing as npt


def sent(array: npt.NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def came(text: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The array again, flat; it cannot be written to."""
    return np.frombuffer(b64decode(text), kind)
