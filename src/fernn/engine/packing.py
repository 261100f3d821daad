"""A dataset as bytes, for workers that share no memory with us: exact, and without pickled objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.atomic_write import atomic_write
from ..data.readers.npz import to_arrays
from ..errors import DataError

TEXTS = ("classes", "channels", "cases", "groups")
KEPT = 4
"""Datasets that a worker keeps."""


@dataclass(frozen=True)
class Packed:
    """Bytes, or the file that holds them; `mark` is the same for the same data."""

    mark: str
    content: bytes | None = None
    path: str | None = None

    def unpacked(self) -> Dataset:
        """Read once in this process, however often it is asked for."""
        known = _known.get(self.mark)
        if known is None:
            source = BytesIO(self.content) if self.content is not None else Path(str(self.path))
            known = _read(source)
            if mark_of(known) != self.mark:
                raise DataError(f"the data came as others than {self.mark}; they were changed on the way.")
            while len(_known) >= KEPT:
                _known.pop(next(iter(_known)))
            _known[self.mark] = known
        return known


_known: dict[str, Dataset] = {}


class Places:
    """Where data sets were put, the last few of them; `make` puts one there."""

    def __init__(self, most: int, make: Callable[[Dataset], Any], given_up: Callable[[Any], None] = lambda place: None):
        self._most, self._make, self._given_up = most, make, given_up
        self._known: dict[str, Any] = {}
        self._changing = Lock()

    def of(self, data: Dataset | None) -> Any:
        """The place of these data, put there if they are not."""
        if data is None:
            return None
        mark = mark_of(data)  # also makes the data remember their fingerprint, which travels with them
        with self._changing:
            if mark not in self._known:
                while len(self._known) >= self._most:
                    self._given_up(self._known.pop(next(iter(self._known))))
                self._known[mark] = self._make(data)
            return self._known[mark]

    def clear(self) -> None:
        with self._changing:
            self._known.clear()


def mark_of(data: Dataset) -> str:
    return f"{data.fingerprint} {data.name}"


def packed(data: Dataset, folder: Path | None = None) -> Packed:
    """With a folder, written to a file there, under a name that only these data have."""
    arrays = to_arrays(data)
    mark = mark_of(data)
    if folder is None:
        content = BytesIO()
        np.savez(content, allow_pickle=False, **arrays)
        return Packed(mark, content.getvalue())
    path = folder / f"{blake2b(mark.encode(), digest_size=12).hexdigest()}.npz"
    if not path.exists():
        with atomic_write(path) as part, open(part, "wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)
    return Packed(mark, path=str(path))


def _read(source: BytesIO | Path) -> Dataset:
    with np.load(source, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    values: Any = arrays.pop("X")
    if "lengths" in arrays:
        values = tuple(np.split(values, np.cumsum(arrays.pop("lengths"))[:-1], axis=1))
    del arrays["schema"]
    facts: dict[str, Any] = {name: tuple(array.tolist()) if name in TEXTS else array for name, array in arrays.items()}
    facts |= {name: facts[name].item() for name in ("dt", "time_unit", "name") if name in facts}
    return Dataset(values, facts.pop("y", None), **facts)
