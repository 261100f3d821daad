"""Why a cell is worse than the paper's: what the other splits and the labels say of it."""

from __future__ import annotations

from ..formula import parse
from ..semantics import score
from .cells import ROUNDING, Cell
from .tasks import CONTINUOUS, LABELLING, task
from .unit import PAPER

OURS = ("fernn", "exact")


def reason(each: Cell) -> str:
    """In a sentence; "not explained" where nothing is known."""
    plain = each.data.removesuffix(CONTINUOUS)
    if each.method in OURS and each.data != plain and each.first is not None:
        theirs = score(parse(LABELLING[plain]), task(plain, PAPER).test).mcr
        if abs(each.first["mcr"] - theirs) <= ROUNDING:
            return (
                f"the labels are the robustness of `{LABELLING[plain]}`, which errs {theirs:.3f} on these traces: "
                "what is learned from them is that formula; the paper's network misses the labels, and errs less by "
                "it"
            )
    if len(each.errors) < 2 or each.paper is None:
        return "one split only; the full run has ten others"
    low, high, mean = each.errors.min(), each.errors.max(), each.errors.mean()
    if mean <= each.paper.mcr + ROUNDING:
        return f"this split is harder than others (the files are not in random order): {mean:.3f} in the mean of those"
    who = "one start of one network" if each.method.startswith("paper") else "this method"
    if low <= each.paper.mcr + ROUNDING:
        return f"{who}: on the other splits it errs {low:.3f} to {high:.3f}, so that one number says little"
    return f"not explained: on the other splits it errs {low:.3f} to {high:.3f}"
