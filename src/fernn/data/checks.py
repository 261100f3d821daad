"""What is worth knowing about a dataset as a whole, before learning from it. All are warnings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .copies import copies, forced_errors
from .dataset import Dataset
from .labels import lookalikes
from .problems import Ledger

NAMED = frozenset(("similar-labels", "single-case"))
"""Kinds that are told in full wherever data are read: with them something else is learned than was meant."""
SOME = 5  # cases of the largest class from which on a class of one case is worth a word


def check(dataset: Dataset, ledger: Ledger) -> None:
    """Tell the ledger of unequal lengths, a single class, labels that look wrong, and copies."""
    unequal_lengths(dataset, ledger)
    one_class(dataset, ledger)
    if dataset.labels is not None and dataset.classes:
        present, first, counts = np.unique(dataset.labels, return_index=True, return_counts=True)
        names = [dataset.classes[int(k)] for k in present]
        cases = {name: dataset.cases[i] for name, i in zip(names, first.tolist(), strict=True)}
        odd_labels(dict(zip(names, counts.tolist(), strict=True)), ledger, cases)
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


def odd_labels(counts: Mapping[str, int], ledger: Ledger, cases: Mapping[str, str] | None = None) -> None:
    """Labels that are another one misspelt, and labels that occur once; `cases` has a case with each label."""
    where = cases or {}
    alike = lookalikes(counts)
    for each in alike:
        what = f"the label {each.label!r} ({_times(counts[each.label])}) differs from {each.common!r} "
        what += f"({_times(counts[each.common])}) {each.how}, and counts as a class of its own"
        fix = f"If it is the same, write {each.common!r} in the file; as it is, a rule is learned to tell them apart."
        ledger.add("similar-labels", "warning", what, fix, case=where.get(each.label))
    if len(counts) < 2 or max(counts.values()) < SOME:
        return
    for name in sorted({name for name, count in counts.items() if count == 1} - {each.label for each in alike}):
        what = f"the label {name!r} occurs once: a rule for it is learned from this case or tested on it, not both"
        fix = "Record more such cases, correct the label, or leave the case out."
        ledger.add("single-case", "warning", what, fix, case=where.get(name))


def _times(count: int) -> str:
    return f"{count} case{'s' * (count != 1)}"


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
