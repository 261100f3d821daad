"""The kernel in Triton's interpreter beside the compiled loops: a line a network, how far they are apart."""

import numpy as np
from side_by_side import CASES, pair

for case, settings in CASES.items():
    settings = {"samples": 5, **settings}
    made = pair(**settings, cases=80, kernel=True)  # five blocks and part of one in all
    theta = 0.5 * np.random.default_rng(3).standard_normal((3, made.loops.size))
    print(case, max(made.gradients(theta)))
