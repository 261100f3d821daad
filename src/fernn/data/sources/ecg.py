"""ECG: heart rate in normal sinus rhythm and in atrial fibrillation."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..dataset import Dataset
from .folder import numbered, rows, rows_or_changes


def ecg(labels: Literal["binary", "robustness"] = "binary") -> Dataset:
    """131 traces of normal sinus rhythm (`nsr`) and 133 of atrial fibrillation (`afib`), 10 samples each.

    Channels: heart rate `hr` in beats a minute, and `hr_diff`, its change since the last sample with 0
    at the first (made here where the files lack it). `labels="robustness"` gives instead the
    authors' real-valued labels, the robustness of `G (hr_diff <= 5.795)`.

    Know before use: the files are not in random order, so the paper's first-80% split is harder than
    a random one; two normal traces are copies of others. Fragments of 10 seconds, 10 samples.
    """
    parts = []
    for file in ("1_nsr_traces_len_10.csv", "4_afib_traces_len_10.csv"):
        hr = rows(f"ecg/hr_traces_len_10/{file}")
        parts.append(np.stack([hr, rows_or_changes(f"ecg/hr_traces_len_10_diff/{file}", hr)], axis=1))
    nsr, afib = parts
    values, channels = np.concatenate(parts), ("hr", "hr_diff")
    cases = numbered(("nsr", len(nsr)), ("afib", len(afib)))
    if labels == "robustness":
        given = [rows(f"ecg/labels_{kind}_ecg.csv").ravel() for kind in ("normal", "anomaly")]
        return Dataset(values, np.concatenate(given), channels=channels, cases=cases, name="ecg")
    good = np.repeat([1, 0], [len(nsr), len(afib)])
    return Dataset(values, good, ("afib", "nsr"), channels, cases=cases, name="ecg")
