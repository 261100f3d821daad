"""A template as a torch network: trained, its weights are a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ....data.arrays import Floats
from ....errors import FormulaError, SignalError
from ....formula.measures import direction as direction_of
from ....formula.nodes import Formula, Once, interval
from ....formula.parser import parse
from ....formula.templates import is_template
from .atoms import AxisAtom
from .decoding import Units, decode_network
from .operators import SPREAD, Ahead, reverse_time
from .template_cells import Atoms, SinceCell, holes, steps


def flat_parameters(network: Any) -> Floats:
    """All weights of the network."""
    return _concatenate([weights.detach() for weights in _in_order(network)])


def set_flat_parameters(network: Any, values: npt.ArrayLike) -> None:
    """Puts these weights into the network."""
    flat, wanted = np.asarray(values, np.float64), sum(weights.numel() for weights in _in_order(network))
    if flat.shape != (wanted,):
        raise SignalError(f"the network has {wanted} weights, found an array of shape {flat.shape}")
    at = 0
    with torch.no_grad():
        for weights in _in_order(network):
            part = torch.from_numpy(flat[at : at + weights.numel()].copy())
            weights.copy_(part.reshape(weights.shape))
            at += weights.numel()


def flat_gradients(network: Any) -> Floats:
    """The gradients that a backward pass left, in the same order; 0 where it left none."""
    return _concatenate([torch.zeros_like(w) if w.grad is None else w.grad for w in _in_order(network)])


def draw(network: Any, generator: torch.Generator | None) -> None:
    """Every weight from N(0, 0.05), in order."""
    count = sum(weights.numel() for weights in _in_order(network))
    device = "cpu" if generator is None else generator.device
    values = torch.randn(count, generator=generator, dtype=torch.float64, device=device)
    set_flat_parameters(network, SPREAD * values.cpu().numpy())


def _in_order(network: Any) -> Iterator[nn.Parameter]:
    for atom in network.atoms:
        if isinstance(atom, AxisAtom):
            yield atom.choice.weights
        yield atom.weights
        yield atom.bias
    for choice in network.choices:
        yield choice.weights
    for mask in network.masks:
        yield mask.weights


def _concatenate(parts: list[torch.Tensor]) -> Floats:
    return np.concatenate([np.empty(0), *(part.reshape(-1).double().cpu().numpy() for part in parts)])


Way = Literal["past", "future"]


class Network(nn.Module):
    """The robustness of a formula still to be chosen, `X[case, channel, time]` to `r[case]`.

    Each hole of the template is a module with weights: `?p` an `AxisAtom` (`atoms="linear"`: an `Atom` over all its
    channels), `{a; b}` a `Choice`, `[?w]` a `Mask`. Holes of one name, and equal choices, are one module.
    The rest of the template is fixed. `since="paper"` puts the paper's cell for S and U.

    A past template is judged at the last sample, any other at the first; `direction` says it for one
    that looks both ways. Networks that are judged at the first sample run on reversed time.

    Initial weights are N(0, 0.05) in the order of `flat_parameters`, from `generator`, from `seed`, or
    else from torch's own state. `width` is how many samples a window without an end may reach over.
    """

    def __init__(
        self, template: Formula | str, channels: Sequence[str], direction: Way | None = None, *,
        atoms: Atoms = "axis", since: SinceCell = "standard", quantised: bool = True, width: int | None = None,
        seed: int | None = None, generator: torch.Generator | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.template = parse(template) if isinstance(template, str) else template
        self.channels = (channels,) if isinstance(channels, str) else tuple(channels)
        _among("atoms", atoms, Atoms)
        _among("since", since, SinceCell)
        self.direction = _judged_sample(self.template, direction)
        self.since = since
        cells = holes(self.template, self.channels, atoms, quantised, width)
        self.atoms = nn.ModuleList(cells.atoms.values())
        self.choices = nn.ModuleList(cells.choices.values())
        self.masks = nn.ModuleList(cells.masks.values())
        self._holes = cells
        self._steps = steps(self.template, self.channels, cells, since, self.direction == "future")
        if seed is not None:
            generator = torch.Generator().manual_seed(seed)
        draw(self, generator)

    def forward(self, X: Tensor, lengths: Any = None, signals: bool = False) -> Tensor:
        """The robustness at the judged sample, `[case]`; with `signals` at every sample, `[case, time]`.

        Traces of unequal length are padded at the end with anything, and `lengths` given, `[case]`; signals
        beyond a trace's own length are NaN.
        """
        X, lengths = self._checked(X, lengths)
        back = self.direction == "future"
        values: list[Tensor] = []
        x = reverse_time(X, lengths) if back else X
        for step in self._steps:
            inputs = [values[i] for i in step.inputs] or [x]
            values.append(step.cell(*inputs, lengths=lengths) if isinstance(step.cell, Ahead) else step.cell(*inputs))
        last = values[-1]
        if not signals:
            return last[..., -1] if lengths is None else last.gather(-1, lengths.unsqueeze(-1) - 1).squeeze(-1)
        last = reverse_time(last, lengths) if back else last
        return last if lengths is None else torch.where(_inside(last, lengths), last, torch.nan)

    def formula(self, plain: bool = False, units: Units | None = None) -> Formula:
        """The formula that the weights are: `robustness(formula, X)` is `network(X)` up to rounding.

        Scales of choices stand in the atoms, `2*x >= 3`; a negative winner is a negation. An atom that weighs every
        channel 0 becomes `true` or `false`. `plain` divides each atom by its largest weight, `x >= 1.5`: the same
        verdicts, other robustness. With `units = (offset, scale)`, one number or one per channel each, the network
        was given `(x - offset) / scale`, and the formula speaks of x.

        A past network that chose no operator is read as `O[0,0] p`, since p alone would be judged at the first sample.
        An unquantised network is no formula; its choices are read as if quantised.
        """
        formula = decode_network(self.template, self._holes, self.channels, self.since == "paper", plain, units)
        return Once(formula, interval(0, 0)) if self.direction == "past" and direction_of(formula) == "now" else formula

    def extra_repr(self) -> str:
        return f"{self.template}, {self.direction}"

    def _checked(self, X: Tensor, lengths: Any) -> tuple[Tensor, Tensor | None]:
        if X.dim() < 2 or X.shape[-2] != len(self.channels):
            raise SignalError(
                f"the network reads [case, channel, time] with the channels {', '.join(self.channels)}; "
                f"found shape {tuple(X.shape)}"
            )
        if X.shape[-1] == 0:
            raise SignalError("a trace has at least one sample")
        if lengths is None:
            return X, None
        lengths = torch.as_tensor(lengths, device=X.device, dtype=torch.long)
        if X.dim() != 3 or lengths.shape != X.shape[:1]:
            raise SignalError(f"lengths are one per case of X[case, channel, time], found {tuple(lengths.shape)}")
        if not ((lengths >= 1) & (lengths <= X.shape[-1])).all():
            raise SignalError(f"lengths lie between 1 and the {X.shape[-1]} samples of X")
        return torch.where(_inside(X, lengths), X, 0.0), lengths


def from_formula(formula: Formula | str, channels: Sequence[str], direction: Way | None = None) -> Network:
    """The robustness of a formula as a module, exactly as `fernn.robustness` computes it; nothing is learned."""
    formula = parse(formula) if isinstance(formula, str) else formula
    if is_template(formula):
        raise FormulaError(f"{formula} has open choices: Network(template, channels) learns them")
    return Network(formula, channels, direction)


def _inside(values: Tensor, lengths: Tensor) -> Tensor:
    """Which samples of `[case, ..., time]` belong to their trace."""
    return torch.arange(values.shape[-1], device=values.device) < lengths.reshape(-1, *[1] * (values.dim() - 1))


def _judged_sample(template: Formula, wanted: Way | None) -> Way:
    if wanted is not None:
        _among("direction", wanted, Way)
        return wanted
    looks = direction_of(template)
    if looks == "mixed":
        raise FormulaError(
            f"{template} looks both back and ahead: pass direction='past' to judge it at the last sample, "
            "'future' at the first"
        )
    return "past" if looks == "past" else "future"


def _among(what: str, value: Any, wanted: Any) -> None:
    if value not in get_args(wanted):
        raise FormulaError(f"{what} is one of {', '.join(map(repr, get_args(wanted)))}; found {value!r}")
