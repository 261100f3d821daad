"""Questions to z3 that can be cut off."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import z3

OFTEN = 0.05
"""Seconds between two looks at the clock."""


def asked(solver: z3.Solver | z3.Optimize, pulse: Callable[[], None]) -> z3.CheckSatResult:
    """The solver's answer; what `pulse`, called often, raises stops the solver and goes through.

    The solver works in a thread of its own and lets go of Python meanwhile, so Ctrl-C is heard too. It must have a
    context of its own.
    """
    answers: list[z3.CheckSatResult | Exception] = []

    def work() -> None:
        try:
            answers.append(solver.check())
        except Exception as error:
            answers.append(error)

    solver.set("ctrl_c", False)
    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(OFTEN)
            pulse()
    finally:
        while thread.is_alive():  # what interrupts before the solver has begun is lost
            solver.ctx.interrupt()
            thread.join(OFTEN)
    if isinstance(answers[0], Exception):
        raise answers[0]
    return answers[0]
