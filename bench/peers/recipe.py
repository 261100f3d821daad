"""The meaning of a formula over arrays, given how a library does the few steps it takes."""

from __future__ import annotations

from typing import Any, Protocol

from fernn.formula import (
    Always,
    And,
    Atom,
    Eventually,
    Formula,
    Historically,
    Interval,
    Once,
    Since,
    Until,
)


class Steps(Protocol):
    """`best` is "minimum" or "maximum"; `ahead` looks into the future, otherwise into the past."""

    def channel(self, X: Any, place: int) -> Any: ...
    def smaller(self, a: Any, b: Any) -> Any: ...
    def running(self, signal: Any, best: str, ahead: bool) -> Any: ...
    def window(self, signal: Any, width: int, best: str, ahead: bool) -> Any: ...
    def hold(self, hold: Any, goal: Any, ahead: bool) -> Any: ...
    def result(self, signal: Any) -> Any: ...


def judged(formula: Formula, X: Any, channels: tuple[str, ...], steps: Steps) -> Any:
    """The robustness at every sample, `[case, time]`."""

    def rho(formula: Formula) -> Any:
        match formula:
            case Atom():
                signal = steps.channel(X, channels.index(formula.weights[0][0]))
                return formula.threshold - signal if formula.is_upper_bound else signal - formula.threshold
            case And(a, b):
                return steps.smaller(rho(a), rho(b))
            case Always(a, over) | Historically(a, over):
                return best(rho(a), over, "minimum", isinstance(formula, Always))
            case Eventually(a, over) | Once(a, over):
                return best(rho(a), over, "maximum", isinstance(formula, Eventually))
            case Until(a, b) | Since(a, b):
                return steps.hold(rho(a), rho(b), isinstance(formula, Until))
        raise TypeError(f"no recipe for {formula}")

    def best(signal: Any, over: Interval, which: str, ahead: bool) -> Any:
        if over.is_all_time:
            return steps.running(signal, which, ahead)
        _, end = over.spans[0]
        return steps.window(signal, int(end) + 1, which, ahead)

    return steps.result(rho(formula))
