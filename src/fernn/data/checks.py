"""Checks of a dataset as a whole, before learning from it: lengths, classes, labels, duplicate traces.

All of them give warnings. Duplicates are traces that are the same to the last bit; where they have different labels,
they force errors on every classifier.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from .arrays import Bools, Floats, Ints
from .dataset import Dataset
from .label_parsing import lookalikes
from .problems import ProblemLog, plural


def duplicate_groups(dataset: Dataset) -> Ints:
    """`[case]`: cases with identical traces have the same number, counted from 0 as first met."""
    seen: dict[bytes, int] = {}
    masks = [None] * len(dataset) if dataset.missing is None else dataset.missing
    pairs = zip(dataset.values, masks, strict=True)
    numbers = [seen.setdefault(_digest(trace, mask), len(seen)) for trace, mask in pairs]
    return np.array(numbers, dtype=np.int64)


def _digest(trace: Floats, missing: Bools | None) -> bytes:
    """Stands for the values; all traces of a dataset have as many channels, so for the shape too."""
    digest = hashlib.sha256(np.ascontiguousarray(trace).tobytes())
    digest.update(b"" if missing is None or not missing.any() else np.packbits(missing).tobytes())
    return digest.digest()


def unavoidable_errors(dataset: Dataset) -> tuple[int, int]:
    """How many distinct traces carry more than one class, and the errors no classifier can avoid.

    Of identical traces with different labels, all but the most common label will be wrong.
    """
    if dataset.labels is None or not dataset.classes:
        return 0, 0
    same = duplicate_groups(dataset)
    counts = np.zeros((int(same.max()) + 1, len(dataset.classes)), dtype=np.int64)
    np.add.at(counts, (same, dataset.labels.astype(np.int64)), 1)
    wrong = counts.sum(axis=1) - counts.max(axis=1)
    return int((wrong > 0).sum()), int(wrong.sum())


NAMED = frozenset(("similar-labels", "single-case"))
"""Kinds that are told in full wherever data are read: with them something else is learned than was meant."""
SOME = 5  # cases of the largest class from which on a class of one case is worth a word


def check_data(dataset: Dataset, log: ProblemLog) -> None:
    """Tell the log of unequal lengths, a single class, labels that look wrong, and copies."""
    check_lengths(dataset, log)
    if dataset.labels is not None and dataset.classes:
        present, first, sizes = np.unique(dataset.labels, return_index=True, return_counts=True)
        names = [dataset.classes[int(k)] for k in present]
        counts = dict(zip(names, sizes.tolist(), strict=True))
        check_one_class(counts, log)
        check_labels(counts, log, {name: dataset.cases[i] for name, i in zip(names, first.tolist(), strict=True)})
    check_duplicates(dataset, log)


def check_lengths(dataset: Dataset, log: ProblemLog) -> None:
    if dataset.is_ragged:
        lengths, counts = np.unique(dataset.lengths, return_counts=True)
        usual = int(lengths[np.argmax(counts)])
        odd = int(np.flatnonzero(dataset.lengths != usual)[0])
        span = int(lengths[0]), int(lengths[-1])
        report_lengths(span, usual, int(dataset.lengths[odd]), dataset.cases[odd], log)


def report_lengths(span: tuple[int, int], usual: int, odd: int, case: str, log: ProblemLog) -> None:
    """Lengths go from the one end of the span to the other; `odd` is that of this case."""
    what = f"traces have {span[0]} to {span[1]} samples, most {usual}, this one {odd}"
    fix = "This is allowed: each trace is judged over its own length. Cut or pad them if it was not meant."
    log.add("unequal-lengths", "warning", what, fix, case=case)


def check_one_class(counts: Mapping[str, int], log: ProblemLog) -> None:
    """`counts` has the cases of each class that there is."""
    if len(counts) == 1:
        ((name, cases),) = counts.items()
        who = "the only case has" if cases == 1 else f"all {cases} cases have"
        fix = "A rule that separates needs traces of both classes."
        log.add("one-class", "warning", f"{who} the label {name!r}", fix)


def check_labels(counts: Mapping[str, int], log: ProblemLog, cases: Mapping[str, str] | None = None) -> None:
    """Labels that are another one misspelt, and labels that occur once; `cases` has a case with each label."""
    where = cases or {}
    alike = lookalikes(counts)
    for each in alike:
        what = f"the label {each.label!r} ({plural(counts[each.label], 'case')}) differs from {each.common!r} "
        what += f"({plural(counts[each.common], 'case')}) {each.how}, and counts as a class of its own"
        fix = f"If it is the same, write {each.common!r} in the file; as it is, a rule is learned to tell them apart."
        log.add("similar-labels", "warning", what, fix, case=where.get(each.label))
    if len(counts) < 2 or max(counts.values()) < SOME:
        return
    for name in sorted({name for name, count in counts.items() if count == 1} - {each.label for each in alike}):
        what = f"the label {name!r} occurs once: a rule for it is learned from this case or tested on it, not both"
        fix = "Record more such cases, correct the label, or leave the case out."
        log.add("single-case", "warning", what, fix, case=where.get(name))


def check_duplicates(dataset: Dataset, log: ProblemLog) -> None:
    same = duplicate_groups(dataset)
    distinct = int(same.max()) + 1
    if distinct == len(dataset):
        return
    _, originals = np.unique(same, return_index=True)
    first = int(np.setdiff1d(np.arange(len(same)), originals)[0])
    twin = dataset.cases[int(originals[same[first]])]
    copies = f"{len(dataset) - distinct} of {len(dataset)} traces are copies of others (this one of {twin!r})"
    report_duplicates(copies, *unavoidable_errors(dataset), len(dataset), log, dataset.cases[first])


def report_duplicates(
    copies: str, traces: int, errors: int, cases: int, log: ProblemLog, case: str | None = None
) -> None:
    """`traces` of them have several labels, which makes every rule err on so many of all cases."""
    fix = "Split with fernn.data.split, which keeps copies on one side."
    log.add("duplicate-traces", "warning", copies, fix, case=case)
    if errors:
        what = f"{traces} distinct trace{'s have' if traces > 1 else ' has'} copies in different classes, "
        what += f"so every rule errs on at least {errors} of {cases} cases ({errors / cases:.4g})"
        log.add("contradiction", "warning", what, "Check their labels; if they are right, expect this floor.")
