"""What needs a solver: formulas proved smallest, and formulas over traces that are not known.

    maxsat        the tree of n nodes that is right about most traces (`tree`, `suffixes`, `truth` are its clauses)
    unrolled      a formula over unknown samples as a z3 expression
    difference    a trace on which two formulas differ, or the proof that there is none

z3 is optional: `pip install 'fernn[verify]'`. Nothing else in fernn imports it.
"""

from __future__ import annotations

from ..errors import UnsupportedError

try:
    import z3  # noqa: F401
except ImportError as missing:
    raise UnsupportedError("fernn.verify needs z3, which is not installed: pip install 'fernn[verify]'") from missing
