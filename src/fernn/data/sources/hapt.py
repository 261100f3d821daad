"""HAPT: a smartphone's acceleration while moving and while still."""

from __future__ import annotations

import numpy as np

from ..dataset import Dataset
from .folder import numbered, rows


def hapt() -> Dataset:
    """100 traces of dynamic activities (`good`) and 100 of static ones (`bad`), 10 samples each.

    Channel `x`: the standard deviation of the acceleration along x, scaled to [-1, 1], from the Human
    Activities and Postural Transitions recordings.

    Know before use: only 50 good and 47 bad rows are distinct. On the paper's split 33 of 40 test
    traces are also in the training set; `split` keeps copies together.
    """
    good = rows("hapt_data/good_hapt_data.csv", delimiter=None)
    bad = rows("hapt_data/bad_hapt_data.csv", delimiter=None)
    values = np.concatenate([good, bad])[:, None, :]
    cases = numbered(("good", len(good)), ("bad", len(bad)))
    return Dataset(values, np.repeat([1, 0], [len(good), len(bad)]), ("bad", "good"), ("x",), cases=cases, name="hapt")
