"""The paper's training: Adam on real-valued weights, a learning rate that is cut when nothing improves, restarts.

    m <- 0.9 m + 0.1 g,   v <- 0.999 v + 0.001 g g          after step s, from m = v = 0, s = 0
    W <- W - rate sqrt(1 - 0.999^s) / (1 - 0.9^s)  m / (sqrt(v) + 1e-7)

An epoch improves if the mean of the losses of its batches is below that of every earlier one. The rate is cut when
more than 100 epochs have passed since the last improvement; from then on, when more than 50 have passed since the
last improvement or cut. Each cut makes it 0.98 of what it was, and Adam starts anew.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import inf, isfinite, sqrt
from typing import Any, Protocol

import numpy as np

from ...data.arrays import Floats, Ints
from ...errors import FernnError, convert_errors
from ...formula.json_fields import as_int, as_number, as_object, as_text

TRAINING_SCHEMA = 1
SPREAD = 0.05
"""Standard deviation of initial weights."""


class TrainingBackend(Protocol):
    """Something that is trained: mean losses over batches of traces, as functions of a flat vector of weights."""

    @property
    def batches(self) -> int:
        """In an epoch."""
        ...

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        """Over the batch of this number; they are counted on from epoch to epoch."""
        ...


@dataclass(frozen=True)
class Schedule:
    """When to cut the learning rate and when to stop."""

    rate: float = 0.003
    """At the start."""
    epochs: int = 5000
    cut: float = 0.98
    first_patience: int = 100
    patience: int = 50
    quiet: int | None = None
    """Stop after this many epochs without improvement."""
    most_cuts: int | None = None
    """Stop at the first epoch without improvement after this many cuts."""


@dataclass(frozen=True, eq=False)
class Training:
    """Where a training stands after a whole number of epochs. It never changes; an epoch makes a new one."""

    theta: Floats
    """The weights as they are."""
    m: Floats
    v: Floats
    steps: int
    """Since Adam last started anew."""
    rate: float
    epoch: int
    """Epochs done."""
    best: float
    """The least mean loss of an epoch, and the weights after it."""
    best_theta: Floats
    improved: int
    """The last epoch that improved, counted from 0; -1 before the first."""
    marked: int
    """The last that improved or was followed by a cut."""
    cuts: int
    stopped: bool
    losses: tuple[float, ...]
    """The mean loss of each epoch."""

    def to_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes a training that goes on in exactly the same way."""
        content = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"schema": TRAINING_SCHEMA, **content}

    @classmethod
    @convert_errors(FernnError, "this is no training of fernn")
    def from_json(cls, data: dict[str, Any]) -> Training:
        if as_object(data).get("schema") != TRAINING_SCHEMA:
            raise FernnError(f"a training of schema {data.get('schema')}, this fernn reads schema {TRAINING_SCHEMA}.")
        row = {field.name: data[field.name] for field in fields(cls)}
        for name in ("theta", "m", "v", "best_theta"):
            row[name] = np.array([_number(each) for each in row[name]], np.float64)
        losses = tuple(_number(loss) for loss in row["losses"])
        for name in ("steps", "epoch", "improved", "marked", "cuts"):
            as_int(row[name], -1)
        if len({row[name].shape for name in ("theta", "m", "v", "best_theta")}) > 1 or row["stopped"] not in (0, 1):
            raise ValueError("the parts of this training do not fit together")
        as_number(row["rate"])
        return cls(**(row | {"best": _number(row["best"]), "losses": losses}))


def start_training(size: int, schedule: Schedule, seed: int) -> Training:
    """Weights from N(0, 0.05)."""
    theta = SPREAD * np.random.default_rng(seed).standard_normal(size)
    none = np.zeros(size)
    return Training(theta, none, none, 0, schedule.rate, 0, inf, theta, -1, -1, 0, False, ())


def train_epochs(backend: TrainingBackend, at: Training, schedule: Schedule) -> Iterator[Training]:
    """The training after each further epoch, until the schedule ends it.

    Each is whole: who stops listening, or is interrupted, has in the last one all that is needed to go on.
    """
    while at.epoch < schedule.epochs and not at.stopped:
        at = train_epoch(backend, at, schedule)
        yield at


def train_epoch(backend: TrainingBackend, at: Training, schedule: Schedule) -> Training:
    """The training after one more epoch."""
    return _apply_schedule(_epoch(backend, at), schedule)


def _epoch(backend: TrainingBackend, at: Training) -> Training:
    """A step for every batch."""
    theta, m, v, steps = at.theta, at.m, at.v, at.steps
    losses = []
    for i in range(backend.batches):
        loss, g = backend.loss_and_gradient(theta, at.epoch * backend.batches + i)
        losses.append(loss)
        steps += 1
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        size = at.rate * sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
        theta = theta - size * m / (np.sqrt(v) + 1e-7)
    mean = float(np.mean(losses))
    return replace(at, theta=theta, m=m, v=v, steps=steps, epoch=at.epoch + 1, losses=(*at.losses, mean))


def _apply_schedule(at: Training, schedule: Schedule) -> Training:
    """What follows from the loss of the last epoch."""
    loss, number = at.losses[-1], at.epoch - 1
    if loss < at.best:
        return replace(at, best=loss, best_theta=at.theta, improved=number, marked=number)
    if schedule.quiet is not None and number - at.improved >= schedule.quiet:
        return replace(at, stopped=True)
    if schedule.most_cuts is not None and at.cuts >= schedule.most_cuts:
        return replace(at, stopped=True)
    if number - at.marked > (schedule.patience if at.cuts else schedule.first_patience):
        none = np.zeros_like(at.theta)
        return replace(at, rate=at.rate * schedule.cut, cuts=at.cuts + 1, marked=number, m=none, v=none, steps=0)
    return at


def _plain(value: Any) -> Any:
    """JSON knows no infinity and no NaN: they are written as words."""
    if isinstance(value, np.ndarray | tuple):
        return [_plain(float(each)) for each in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _number(value: float | str) -> float:
    return float(value)


RESTARTS_SCHEMA = 1


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
        content = {each.name: _to_base64(getattr(self, each.name)) for each in fields(self)}
        return {"schema": RESTARTS_SCHEMA, "restarts": len(self), "weights": self.theta.shape[1], **content}

    @classmethod
    @convert_errors(FernnError, "these are no restarts of fernn")
    def from_json(cls, data: dict[str, Any]) -> Restarts:
        if as_object(data).get("schema") != RESTARTS_SCHEMA:
            raise FernnError(
                f"restarts of schema {data.get('schema')!r:.40}, this fernn reads schema {RESTARTS_SCHEMA}."
            )
        count, size = as_int(data["restarts"], 1), as_int(data["weights"])
        parts: dict[str, Any] = {}
        for each in fields(cls):
            kind = np.dtype("<i8") if each.name in COUNTS else np.dtype("<f8")
            shape = (count, size) if each.name in VECTORS else (count,)
            flat = np.frombuffer(b64decode(as_text(data[each.name]), validate=True), kind)
            parts[each.name] = flat.reshape(shape).astype(kind.newbyteorder("="))
        if any((parts[name] < -1).any() for name in COUNTS) or not np.isin(parts["stopped"], (0, 1)).all():
            raise ValueError("the parts of these restarts do not fit together")
        return cls(**parts)


VECTORS = ("theta", "m", "v", "best_theta")
COUNTS = ("steps", "epoch", "improved", "marked", "cuts", "stopped")


def start_restarts(size: int, schedule: Schedule, seed: int, count: int) -> Restarts:
    """Restart i has the weights that a training with the seed `seed + i` starts from."""
    return Restarts.of([start_training(size, schedule, seed + i) for i in range(count)])


def _to_base64(values: Any) -> str:
    return b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()
