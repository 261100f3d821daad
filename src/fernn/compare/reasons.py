"""Why a cell is worse than the paper's: what is known of it, or what the spread over splits says."""

from __future__ import annotations

from .cells import Cell

LABELS = (
    "the labels are the robustness of a formula, and learning it exactly, as here, gives its error; an error below "
    "that is a threshold or a mixture that misses the labels by luck"
)
ORDER = (
    "on the paper's split the last rows of each class are the test set, and the files are not in random order: the "
    "best formulas of this length in training err more there"
)


def reason(each: Cell) -> str:
    """In a sentence."""
    if each.method in ("fernn", "exact") and each.data.endswith("continuous"):
        return LABELS
    if each.method in ("fernn", "exact") and each.data == "ecg":
        return ORDER
    if each.paper is not None and len(each.errors) > 1:
        low, high = each.errors.min(), each.errors.max()
        if low <= each.paper.mcr + 0.005:
            return (
                f"one start of one network: on the other splits it errs {low:.2f} to {high:.2f}, and the paper's "
                "number is of one seed too"
            )
        return f"not explained: on the other splits it errs {low:.2f} to {high:.2f}"
    return "one start of one network on one split; the full run has ten others"
