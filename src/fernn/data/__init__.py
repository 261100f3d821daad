"""Labelled traces: read them, check them, split them.

data = read("drive.csv")          # or load("cct"), from_arrays(X, y)
train, test = split(data)
print(data_card(data))
"""

from .data_summary import DataCard, data_card
from .dataset import Dataset
from .datasets import SOURCES, inspect_series, is_named, load, lyft_scenes, physionet, series, uci_hapt, uci_hapt_raw
from .draft import Draft, to_dataset
from .frames import from_arrays, from_frame
from .options import ReadOptions, flags, suggest_command
from .problems import Problem, ProblemLog
from .read import inspect, inspect_input, read, read_input
from .readers.csv import write_csv
from .readers.npz import save
from .readers.registry import FileFormat, register_reader
from .sampling import Sample, sample_file
from .splits import folds, paper_split, split
from .transform import drop_categories, one_vs_rest, reorder_classes, with_steps

against, card, sampled = one_vs_rest, data_card, sample_file
"""The names by which the documentation has called them."""

__all__ = [
    "SOURCES",
    "DataCard",
    "Dataset",
    "Draft",
    "FileFormat",
    "Problem",
    "ProblemLog",
    "ReadOptions",
    "Sample",
    "against",
    "card",
    "data_card",
    "drop_categories",
    "flags",
    "folds",
    "from_arrays",
    "from_frame",
    "inspect",
    "inspect_input",
    "inspect_series",
    "is_named",
    "load",
    "lyft_scenes",
    "one_vs_rest",
    "paper_split",
    "physionet",
    "read",
    "read_input",
    "register_reader",
    "reorder_classes",
    "sample_file",
    "sampled",
    "save",
    "series",
    "split",
    "suggest_command",
    "to_dataset",
    "uci_hapt",
    "uci_hapt_raw",
    "with_steps",
    "write_csv",
]
