"""CCT: the speed of a train under cruise control, with and without brakes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..dataset import Dataset
from .folder import numbered, rows


def cct(labels: Literal["binary", "robustness"] = "binary") -> Dataset:
    """1000 normal and 1000 anomalous simulated runs of a three-car train, 101 samples of speed `v`.

    Cruising speed is 25 m/s with oscillations of 2.5 m/s; a normal train brakes above an upper limit,
    an anomalous one cannot. `labels="robustness"` gives instead the authors' real-valued labels, the
    robustness of `G (v <= 34.2579)`.

    Know before use: 64 traces stand in both classes, because the brakes were never needed, so every
    classifier errs on at least 64 of 2000 (52 + 12 pairs on the paper's split, 0.0325 and 0.03). Any
    threshold of `G (v <= c)` from 34.31 to 45.3 is equivalent. All runs share one noise sequence and
    differ by their first speed, so they are far from independent. The sampling step is not known.
    """
    normal = rows("cruise_control_train/Traces_normal_BIG2.csv")
    anomaly = rows("cruise_control_train/Traces_anomaly_BIG2.csv")
    values = np.concatenate([normal, anomaly])[:, None, :]
    cases = numbered(("normal", len(normal)), ("anomaly", len(anomaly)))
    if labels == "robustness":
        given = [rows(f"cruise_control_train/Labels_{kind}_BIG2.csv").ravel() for kind in ("normal", "anomaly")]
        return Dataset(values, np.concatenate(given), channels=("v",), cases=cases, name="cct")
    good = np.repeat([1, 0], [len(normal), len(anomaly)])
    return Dataset(values, good, ("anomaly", "normal"), ("v",), cases=cases, name="cct")
