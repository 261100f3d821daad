"""Cases that are alike are one case of more weight."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.dataset import Floats
from .inputs import Traces


def merged(found: Traces, labels: npt.NDArray[Any], weights: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Where each distinct case stands, and its weight; alike are cases of the same samples and label.

    Cases of no weight are left out. The order depends on nothing but the cases themselves, so data that
    are shuffled, or repeated instead of weighted, give the same answer.
    """
    place: dict[bytes, int] = {}
    total: dict[bytes, float] = {}
    for i, (trace, label, weight) in enumerate(zip(found, labels, weights.tolist(), strict=True)):
        if weight > 0:
            samples = np.add(trace, 0.0, dtype=np.float64)  # -0.0 becomes 0.0
            key = blake2b(samples.tobytes() + label.tobytes(), digest_size=16).digest()
            place.setdefault(key, i)
            total[key] = total.get(key, 0.0) + weight
    order = sorted(place)
    return np.array([place[key] for key in order], dtype=np.intp), np.array([total[key] for key in order])


def at(found: Traces, where: npt.NDArray[np.intp]) -> Traces:
    """The traces at these places."""
    return tuple(found[i] for i in where) if isinstance(found, tuple) else found[where]
