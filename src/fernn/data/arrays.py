"""The kinds of numpy arrays that signatures name: one alias an element type.

Shapes are in docstrings. A name that says more than the element type, such as the cells of a grid, is an alias of one
of these in the file that it belongs to.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
"""Of any element type: what a caller hands in, or what is float32 and float64 alike."""
Floats: TypeAlias = npt.NDArray[np.float64]
Floats32: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Ints32: TypeAlias = npt.NDArray[np.int32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.uint64]
"""64 bits each: packed verdicts, hashes, sort keys."""
Bytes: TypeAlias = npt.NDArray[np.uint8]
