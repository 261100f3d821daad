"""Whether a case comes back after others, asked of any number of cases in a memory that does not grow.

Of each case two numbers go to a file that has no name: a hash of its id and where it began. At the end cases with the
same hash are looked for, a share of the hashes at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .sent import came, sent

AT_ONCE = 1 << 20
Records = npt.NDArray[np.uint64]


class Spilled:
    """Pairs of numbers, kept on disk beyond the first million."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.count = 0
        self._at_once = at_once
        self._recent: list[Records] = []
        self._waiting = 0
        self._file: tempfile.SpooledTemporaryFile[bytes] | None = None

    def add(self, keys: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Whole numbers below 2**64, as many values as keys."""
        self._put(np.stack([np.asarray(keys, np.uint64), np.asarray(values, np.uint64)], axis=1))

    def join(self, later: Spilled) -> None:
        """With the pairs of another after these."""
        for pairs in later.all():
            self._put(pairs)

    def to_json(self) -> str:
        """All pairs as text; `from_json` takes it back."""
        return sent(np.concatenate([*self.all(), np.empty((0, 2), np.uint64)]))

    @staticmethod
    def from_json(told: str) -> Spilled:
        made = Spilled()
        made._put(came(told, np.uint64).reshape(-1, 2))
        return made

    def _put(self, pairs: Records) -> None:
        self._recent.append(pairs)
        self.count += len(pairs)
        self._waiting += len(pairs)
        if self._waiting >= self._at_once:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(max_size=0)  # noqa: SIM115
            self._file.seek(0, 2)
            for part in self._recent:
                self._file.write(np.ascontiguousarray(part).tobytes())
            self._recent, self._waiting = [], 0

    def groups(self) -> Iterator[Records]:
        """All pairs once, in parts of bounded size in which those with the same key are together, in order."""
        shares = max(1, -(-self.count // self._at_once))
        for share in range(shares):
            found = [part[part[:, 0] % np.uint64(shares) == share] for part in self.all()]
            pairs = np.concatenate(found) if found else np.empty((0, 2), np.uint64)
            yield pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def all(self) -> Iterator[Records]:
        """All pairs as they came, some at a time."""
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(self._at_once * 16):
                yield np.frombuffer(block, np.uint64).reshape(-1, 2)
        yield from self._recent

    def again(self) -> tuple[int, int] | None:
        """The values of the two pairs with the same key of which the second comes first; None where all keys differ."""
        best: tuple[int, int] | None = None
        for pairs in self.groups():
            same = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
            if len(same):
                i = same[pairs[same + 1, 1].argmin()]
                found = int(pairs[i, 1]), int(pairs[i + 1, 1])
                best = found if best is None else min(best, found, key=lambda pair: pair[1])
        return best
