"""Many trainings of one network side by side: the same batches, other initial weights."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FernnError
from ..plain import mapping, refusing, text, whole
from .training import Schedule, Training, start

SCHEMA = 1
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Restarts:
    """Where they stand: every part of a `Training`, one row per restart. It never changes."""

    theta: Floats
    m: Floats
    v: Floats
    best_theta: Floats
    steps: Ints
    epoch: Ints
    improved: Ints
    marked: Ints
    cuts: Ints
    stopped: Ints
    """0 or 1."""
    rate: Floats
    best: Floats
    loss: Floats
    """The mean loss of the last epoch; infinite before the first."""

    def __len__(self) -> int:
        return len(self.rate)

    def is_done(self, schedule: Schedule) -> bool:
        return bool(((self.epoch >= schedule.epochs) | (self.stopped > 0)).all())

    @property
    def epochs(self) -> int:
        """Done by the restart that is farthest; the others have stopped."""
        return int(self.epoch.max())

    def one(self, i: int) -> Training:
        """A training that goes on as this restart does. Of its losses it knows the last one."""
        row = {each.name: getattr(self, each.name)[i] for each in fields(self)}
        vectors = {name: row.pop(name).copy() for name in VECTORS}
        plain = {name: value.item() for name, value in row.items()}
        last = plain.pop("loss")
        losses = (last,) if plain["epoch"] else ()
        return Training(**vectors, **(plain | {"stopped": bool(plain["stopped"]), "losses": losses}))

    @classmethod
    def of(cls, trainings: Sequence[Training]) -> Restarts:
        """These, in this order."""
        parts = {name: np.stack([getattr(each, name) for each in trainings]) for name in VECTORS}
        parts |= {name: np.array([getattr(each, name) for each in trainings], np.int64) for name in COUNTS}
        parts |= {name: np.array([getattr(each, name) for each in trainings]) for name in ("rate", "best")}
        return cls(**parts, loss=np.array([each.losses[-1] if each.losses else np.inf for each in trainings]))

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes restarts that go on in exactly the same way.

        Numbers are 8 bytes each, little-endian, in base64: in digits, thousands of restarts are too long to write.
        """
        told = {each.name: _packed(getattr(self, each.name)) for each in fields(self)}
        return {"schema": SCHEMA, "restarts": len(self), "weights": self.theta.shape[1], **told}

    @classmethod
    @refusing(FernnError, "these are no restarts of fernn")
    def from_json(cls, data: dict[str, Any]) -> Restarts:
        if mapping(data).get("schema") != SCHEMA:
            raise FernnError(f"restarts of schema {data.get('schema')!r:.40}, this fernn reads schema {SCHEMA}.")
        count, size = whole(data["restarts"], 1), whole(data["weights"])
        parts: dict[str, Any] = {}
        for each in fields(cls):
            kind = np.dtype("<i8") if each.name in COUNTS else np.dtype("<f8")
            shape = (count, size) if each.name in VECTORS else (count,)
            flat = np.frombuffer(b64decode(text(data[each.name]), validate=True), kind)
            parts[each.name] = flat.reshape(shape).astype(kind.newbyteorder("="))
        if any((parts[name] < -1).any() for name in COUNTS) or not np.isin(parts["stopped"], (0, 1)).all():
            raise ValueError("the parts of these restarts do not fit together")
        return cls(**parts)


VECTORS = ("theta", "m", "v", "best_theta")
COUNTS = ("steps", "epoch", "improved", "marked", "cuts", "stopped")


def started(size: int, schedule: Schedule, seed: int, count: int) -> Restarts:
    """Restart i has the weights that a training with the seed `seed + i` starts from."""
    return Restarts.of([start(size, schedule, seed + i) for i in range(count)])


def _packed(values: Any) -> str:
    return b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()
