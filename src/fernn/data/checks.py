"""What is worth knowing about a dataset as a whole, before learning from it. All are warnings."""

from __future__ import annotations

import numpy as np

from .copies import copies, forced_errors
from .dataset import Dataset
from .problems import Ledger


def check(dataset: Dataset, ledger: Ledger) -> None:
    """Tell the ledger of unequal lengths, a single class, and copies."""
    unequal_lengths(dataset, ledger)
    one_class(dataset, ledger)
    same_traces(dataset, ledger)


def unequal_lengths(dataset: Dataset, ledger: Ledger) -> None:
    if not dataset.is_ragged:
        return
    lengths, counts = np.unique(dataset.lengths, return_counts=True)
    usual = int(lengths[np.argmax(counts)])
    odd = int(np.flatnonzero(dataset.lengths != usual)[0])
    ledger.add(
        "unequal-lengths",
        "warning",
        f"traces have {lengths[0]} to {lengths[-1]} samples, most {usual}, this one {dataset.lengths[odd]}",
        "This is allowed: each trace is judged over its own length. Cut or pad them if it was not meant.",
        case=dataset.cases[odd],
    )


def one_class(dataset: Dataset, ledger: Ledger) -> None:
    if dataset.labels is None or not dataset.classes:
        return
    present = np.unique(dataset.labels)
    if len(present) == 1:
        name = dataset.classes[int(present[0])]
        what = f"{'the only case has' if len(dataset) == 1 else f'all {len(dataset)} cases have'} the label {name!r}"
        ledger.add("one-class", "warning", what, "A rule that separates needs traces of both classes.")


def same_traces(dataset: Dataset, ledger: Ledger) -> None:
    same = copies(dataset)
    distinct = int(same.max()) + 1
    if distinct == len(dataset):
        return
    _, originals = np.unique(same, return_index=True)
    first = int(np.setdiff1d(np.arange(len(same)), originals)[0])
    twin = dataset.cases[int(originals[same[first]])]
    ledger.add(
        "duplicate-traces",
        "warning",
        f"{len(dataset) - distinct} of {len(dataset)} traces are copies of others (this one of {twin!r})",
        "Split with fernn.data.split, which keeps copies on one side.",
        case=dataset.cases[first],
    )
    traces, errors = forced_errors(dataset)
    if errors:
        what = f"{traces} distinct trace{'s have' if traces > 1 else ' has'} copies in different classes, "
        what += f"so every rule errs on at least {errors} of {len(dataset)} cases ({errors / len(dataset):.4g})"
        ledger.add("contradiction", "warning", what, "Check their labels; if they are right, expect this floor.")
