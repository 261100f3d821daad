"""Labelled traces: read them, check them, split them.

data = read("drive.csv")          # or load("cct"), from_arrays(X, y)
train, test = split(data)
print(card(data))
"""

from .against import against, ordered
from .arrays import from_arrays
from .card import Card, card
from .dataset import Dataset
from .frames import from_frame
from .looking import looked_at, recorded
from .npz import save
from .options import flags, suggest_command
from .problems import Problem
from .read import inspect, read
from .sampling import Sample, sampled
from .sources import SOURCES, inspect_series, is_named, load, lyft_scenes, physionet, series, uci_hapt, uci_hapt_raw
from .split import folds, paper_split, split
from .steps import with_steps
from .write import write_csv

__all__ = [
    "SOURCES",
    "Card",
    "Dataset",
    "Problem",
    "Sample",
    "against",
    "card",
    "flags",
    "folds",
    "from_arrays",
    "from_frame",
    "inspect",
    "inspect_series",
    "is_named",
    "load",
    "looked_at",
    "lyft_scenes",
    "ordered",
    "paper_split",
    "physionet",
    "read",
    "recorded",
    "sampled",
    "save",
    "series",
    "split",
    "suggest_command",
    "uci_hapt",
    "uci_hapt_raw",
    "with_steps",
    "write_csv",
]
