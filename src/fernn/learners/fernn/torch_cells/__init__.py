"""The cells of FERNN as torch modules: robustness as layers, in networks of your own or in a whole `Network`.

A signal is `[..., time]`; atoms read `[..., channel, time]`. Everything runs where its tensors are, in their type.

    Atom  AxisAtom  Negation  Conjunction  Disjunction        sample by sample
    Once  Historically  Since  PaperSince                     over all the past
    TriggerCell  WeakSinceCell                                made of cells of Since and Historically
    WindowOnce  WindowHistorically  WindowSince               over an `Interval`, or a learned `Mask`
    Choice                                                    one of several signals
    Ahead                                                     any of them on reversed time: the future
    Network  from_formula                                     a template, or a formula, as a module

torch is optional: `pip install 'fernn[torch]'`. Nothing else in fernn imports it.
"""

from __future__ import annotations

from ....errors import UnsupportedError

try:
    import torch.nn  # noqa: F401
except ImportError as missing:
    raise UnsupportedError("fernn.torch needs torch, which is not installed: pip install 'fernn[torch]'") from missing

from .atoms import Atom, AxisAtom, Choice
from .network import Network, flat_gradients, flat_parameters, from_formula, set_flat_parameters
from .operators import (
    Ahead,
    Conjunction,
    Disjunction,
    Historically,
    Mask,
    Negation,
    Once,
    PaperSince,
    Since,
    TriggerCell,
    WeakSinceCell,
    WindowHistorically,
    WindowOnce,
    WindowSince,
)

__all__ = [
    "Ahead", "Atom", "AxisAtom", "Choice", "Conjunction", "Disjunction", "Historically", "Mask", "Negation",
    "Network", "Once", "PaperSince", "Since", "TriggerCell", "WeakSinceCell", "WindowHistorically", "WindowOnce",
    "WindowSince", "flat_gradients", "flat_parameters", "from_formula", "set_flat_parameters",
]  # fmt: skip
