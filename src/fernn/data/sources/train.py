"""A train of three cars under cruise control, stepped in time: what `cruise` is made with.

The cars are coupled rigidly, so that one speed v tells all. At t seconds

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

import numpy as np

from ..dataset import Floats
from ..noise import Bools

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


def readings(first: Floats, error: Floats, hilly: Bools, brakes: Bools) -> Floats:
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
