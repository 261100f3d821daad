"""Synthetic datasets, made from a seed: `intervals`, `wander`, and the train of `cruise`.

The train has three cars and runs under cruise control, stepped in time. The cars are coupled rigidly, so that one speed
v tells all. At t seconds

    3 CAR dv/dt = D - B + 3 CAR GRAVITY s(t) - DRAG v

    D = GAIN (h(t) - v), within -DRIVE..DRIVE          the cruise controller, in N; negative: the motors brake
    h = first - SAG + SWING sin(TURN t + PHASE)        the speed it holds; `first` is the speed at t = 0
    B = BRAKE for each car that brakes                 car i = 1, 2, 3 begins i LAG seconds after the call
    s = FALL + WAVES (+ HILLS)                         metres the line falls for each metre of track

Every EVERY seconds the speed is read with an error that is given, to a millimetre a second. While the last reading
is above LIMIT the drive is cut, D = 0, and the brakes are called anew. Brakes that work act until the next reading.
Brakes that fail do nothing, and the drive, which waits for them, stays cut: the train rolls as the line has it.

The line is met by the clock, not by the place: s depends on t only. Steps are of one second (Euler).

How the paper's train (CCT) was simulated is not told. The form of the equations comes from its recordings: runs swing
with a period of 2 pi samples, they differ by their first speed and keep that distance, they jump together, and those
without brakes add up the same changes, as what rolls does. The constants were then fitted to the recordings.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index

import numpy as np

from ...errors import DataError
from ..arrays import Bools, Floats
from ..dataset import Dataset


def require_integer(source: str, name: str, value: object, least: int = 1) -> int:
    """The value as an int of at least `least`; True is no number, and neither is 2.0."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise DataError(f"{source} needs {name} >= {least}, a whole number; got {value!r}.")
    return number


def check_noise(noise: float, flip: float) -> None:
    if not 0 <= flip <= 0.5:
        raise DataError(f"flip is the share of labels to turn over, 0 to 0.5; got {flip}.")
    if not 0 <= noise < np.inf:
        raise DataError(f"noise is a standard deviation as a share of a channel's spread, 0 or more; got {noise}.")


def choose_flips(rng: np.random.Generator, cases: int, share: float) -> Bools:
    """Whose label is turned over: exactly `share` of the cases, to the nearest case."""
    picked = np.zeros(cases, bool)
    picked[rng.permutation(cases)[: round(share * cases)]] = True
    return picked


def add_noise(rng: np.random.Generator, values: Floats, share: float) -> Floats:
    """`values[case, channel, time]` with white noise: `share` is its standard deviation over the channel's own.

    The draws do not depend on `share`, so twice the share is twice the same noise; 0 gives the values as they are.
    """
    spread = values.std(axis=(0, 2), keepdims=True)
    return values + share * spread * rng.standard_normal(values.shape) if share else values


def intervals(cases: int = 100, seed: int = 0, noise: float = 0.0, flip: float = 0.0) -> Dataset:
    """`cases` traces of each class, channel `x`, samples 0..5.

    Negative traces (`low`) stay in [0, 0.5) at samples 1..5. Positive ones (`high`) are in [0.5, 1] at
    samples 1..2 and in [0, 0.5) at samples 3..5. Sample 0, of which the paper says nothing, is uniform
    in [0, 1] in both. Then white noise is added, its standard deviation the share `noise` of the spread of all
    samples, and exactly the share `flip` of the labels is turned over; the names of the cases stay.

    Know before use: without noise `G[1,2] (x >= 0.5)` separates the classes, as does any part of [1,2]; no
    window that reaches into 3..5 helps. The paper's network found `G[1,3] (x >= 0.42)`, misclassifying 0.08.
    """
    if cases < 1:
        raise DataError(f"intervals needs at least one case of each class, got {cases}.")
    check_noise(noise, flip)
    rng, blurs, flips = (np.random.default_rng(stream) for stream in (seed, [seed, 1], [seed, 2]))
    values = rng.uniform(0.0, 0.5, (2 * cases, 1, 6))
    values[:, 0, 0] = rng.uniform(0.0, 1.0, 2 * cases)
    values[:cases, 0, 1:3] = rng.uniform(0.5, 1.0, (cases, 2))
    return Dataset(
        add_noise(blurs, values, noise),
        (np.repeat([True, False], cases) ^ choose_flips(flips, 2 * cases, flip)).astype(np.int64),
        ("low", "high"),
        ("x",),
        cases=tuple(f"{kind}-{i + 1}" for kind in ("high", "low") for i in range(cases)),
        name="intervals",
    )


NAMES = "xyzuvw"
SHORTEST = 8  # samples
OFFSET, NOISE = 0.4, 0.08  # how far whole traces lie apart, and what a sensor adds


def wander(cases: int = 1000, seed: int = 0, samples: int = 50, channels: int = 2) -> Dataset:
    """`cases` traces without labels, channels `x`, `y`, ... about 0 and mostly within -3..3.

    Each channel of each trace is, one time in three, a smooth random walk, a sum of one to three waves with
    periods of 6 to 60 samples, or a level that jumps one to four times; shifted as a whole, with noise on top.

    Know before use: there is nothing to learn here. The channels are independent of each other, and so are
    the traces.
    """
    cases, samples = require_integer("wander", "cases", cases), require_integer("wander", "samples", samples, SHORTEST)
    channels, seed = require_integer("wander", "channels", channels), require_integer("wander", "seed", seed, 0)
    check_channel_count(channels)
    rng = np.random.default_rng(seed)
    return Dataset(wander_signals(rng, cases, samples, channels), channels=tuple(NAMES[:channels]), name="wander")


def check_channel_count(channels: int) -> None:
    if channels > len(NAMES):
        raise DataError(f"there are 1 to {len(NAMES)} channels, got {channels}.")


def wander_signals(rng: np.random.Generator, cases: int, samples: int, channels: int) -> Floats:
    """`[case, channel, time]`, to three decimals."""
    rows = cases * channels
    kind = rng.integers(0, len(KINDS), rows)
    made = np.stack([make(rng, rows, samples) for make in KINDS])
    values = made[kind, np.arange(rows)]
    values += rng.normal(0, OFFSET, (rows, 1)) + rng.normal(0, NOISE, (rows, samples))
    return values.reshape(cases, channels, samples).round(3)


def _walk(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    """Steps that remember the one before, so that the path bends slowly."""
    push = rng.normal(0, 0.12, (rows, samples))
    step = np.zeros(rows)
    steps = np.empty((rows, samples))
    for t in range(samples):
        step = 0.7 * step + push[:, t]
        steps[:, t] = step
    path = np.cumsum(steps, axis=1)
    return path - path[:, :1] * rng.uniform(0, 1, (rows, 1))


def _waves(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    t = np.arange(samples)
    several = rng.integers(1, 4, rows)
    total = np.zeros((rows, samples))
    for i in range(3):
        period, phase = rng.uniform(6, 60, (rows, 1)), rng.uniform(0, 2 * np.pi, (rows, 1))
        size = np.where(several > i, rng.uniform(0.3, 1.2, rows), 0.0)[:, None]
        total += size * np.sin(2 * np.pi * t / period + phase)
    return total


def _jumps(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    t = np.arange(samples)
    several = rng.integers(1, 5, rows)
    level = np.broadcast_to(rng.normal(0, 0.6, (rows, 1)), (rows, samples)).copy()
    for i in range(4):
        at, by = rng.integers(1, samples, (rows, 1)), rng.normal(0, 0.9, (rows, 1))
        level += np.where((several > i)[:, None] & (t >= at), by, 0.0)
    return level


KINDS: tuple[Callable[[np.random.Generator, int, int], Floats], ...] = (_walk, _waves, _jumps)


SAMPLES = 101
EVERY = 10  # s between samples: CCT gives none; with 10 its jumps of 10 m/s are brakes of 1 m/s^2
CAR = 20_000.0  # kg, a light rail car; three of them
GRAVITY = 9.81  # m/s^2

GAIN = 11_000.0  # N for each m/s too slow: settles in 5 s, so that samples 10 s apart hardly remember
DRIVE = 50_000.0  # N, the most the motors give: 0.8 m/s^2
SWING = 2.5  # m/s, the paper's oscillation; 2.2 m/s of it reach the speed, 2.0 in CCT
TURN = 1 / EVERY  # rad/s: a period of 2 pi samples, the one line in the spectrum of CCT
PHASE = 0.75  # rad: the speed follows half a radian later, near sin(t) in samples as in CCT
SAG = 1.7  # m/s: how far below its first speed a run of CCT settles

LIMIT = 27.5  # m/s, the paper's 25 + 2.5; runs of CCT that never brake stay below 27.2
BRAKE = 36_000.0  # N of each car; all three slow by 1.8 m/s^2, which makes the dips of CCT
LAG = 2  # s from car to car: the air pressure travels

DRAG = 160.0  # N s/m, rolling and air: 4 kN at 25 m/s
FALL = DRAG * 25 / (3 * CAR * GRAVITY)  # 0.7 %: at 25 m/s the line outweighs the drag
WAVES = ((25.0, 0.025), (34.0, 0.03))  # s, slope: two undulations, the spread of CCT beside the swing
HILLS = (  # sample from which on, slope besides FALL: how runs of CCT without brakes speed up and slow down
    (0, 0.0008),
    (27, 0.122),  # a pitch that takes every train over LIMIT, and none that brakes over 34.3 m/s
    (28, 0.008),
    (43, -0.001),
    (57, 0.122),  # and once more
    (58, -0.0073),
)


def simulate_train(first: Floats, error: Floats, hilly: Bools, brakes: Bools) -> Floats:
    """The speeds read in m/s `[case, time]` of trains that begin with the speeds `first`.

    `error` is `[case, time]`; `hilly` trains have HILLS on their line; in those with `brakes` they work.
    """
    level, hills = _line()
    v, read = first.copy(), np.empty((len(first), SAMPLES))
    rolling = np.zeros(len(first), bool)
    read[:, 0] = (v + error[:, 0]).round(3)
    for k in range(1, SAMPLES):
        over = read[:, k - 1] > LIMIT
        rolling |= over & ~brakes
        cut, braking = over | rolling, over & brakes
        for second in range(EVERY):
            t = (k - 1) * EVERY + second
            held = first - SAG + SWING * np.sin(TURN * t + PHASE)
            drive = np.where(cut, 0.0, np.clip(GAIN * (held - v), -DRIVE, DRIVE))
            brake = np.where(braking, BRAKE * min(second // LAG, 3), 0.0)
            slope = level[t] + np.where(hilly, hills[t], 0.0)
            v = v + (drive - brake - DRAG * v) / (3 * CAR) + GRAVITY * slope
        read[:, k] = (v + error[:, k]).round(3)
    return read


def _line() -> tuple[Floats, Floats]:
    """The slope at each second of the level line, and what the hills add to it."""
    t = np.arange((SAMPLES - 1) * EVERY)
    level = FALL + sum(slope * np.sin(2 * np.pi * t / period) for period, slope in WAVES)
    starts, slopes = zip(*HILLS, strict=True)
    return level, np.array(slopes)[np.searchsorted(starts, t // EVERY, side="right") - 1]


HARD = 0.064  # share of runs that never need the brakes, as in CCT
SLOW, FAST = (23.4, 23.7), (23.7, 27.4)  # m/s, first speeds: of those runs, and of all others, as in CCT
ERROR = 0.9  # m/s, the most that a reading is off


def cruise(cases: int = 1000, seed: int = 0, hard: float = HARD, shared: bool = False) -> Dataset:
    """`cases` normal and as many anomalous runs of a three-car train, 101 samples of its speed `v` in m/s.

    A run holds about 23.4 m/s and swings by 2 m/s. Most runs are on a line with hills, where the speed is read above
    the limit of 27.5. A normal train brakes, having touched at most 34.3, and goes on. An anomalous one runs away to
    44 and more, and slows down when the line climbs. `help(fernn.data.datasets.synthetic)` has the equations.

    Know before use: normal run i and anomalous run i are the same train with the same errors of reading, alike up
    to and with the first sample above 27.5; they are the group `run-i`, so that a split keeps them together.
    Exactly the share `hard` of the runs is slow, has no hills and never gets there. It stands in both classes, so
    `hard / 2` is the least error of any rule, and any threshold of `G (v <= c)` from 34.3 to 44 reaches it. The
    line is the same for all runs and seeds: a seed draws first speeds, errors of reading, and which runs are hard.
    With `shared=True` all runs have one sequence of errors, as in CCT.
    """
    cases, seed = require_integer("cruise", "cases", cases), require_integer("cruise", "seed", seed, 0)
    if not 0 <= hard <= 1:
        raise DataError(f"cruise needs a share 0 <= hard <= 1, got {hard}.")
    rng = np.random.default_rng(seed)
    slow = rng.permutation(cases) < round(hard * cases)
    first = np.where(slow, rng.uniform(*SLOW, cases), rng.uniform(*FAST, cases))
    error = np.broadcast_to(rng.uniform(-ERROR, ERROR, (1 if shared else cases, SAMPLES)), (cases, SAMPLES)).copy()
    error[:, 0] = 0.0
    first, error, hilly = (np.concatenate([each, each]) for each in (first, error, ~slow))
    return Dataset(
        simulate_train(first, error, hilly, np.repeat([True, False], cases))[:, None, :],
        np.repeat([1, 0], cases),
        ("anomaly", "normal"),
        ("v",),
        cases=tuple(f"{kind}-{i + 1}" for kind in ("normal", "anomaly") for i in range(cases)),
        groups=tuple(f"run-{i + 1}" for i in range(cases)) * 2,
        name="cruise",
    )
