"""The machine of a measurement on a card: the card, its driver, the processor and the versions."""

from __future__ import annotations

import subprocess

from fernn.evaluation.comparison import describe_environment

ASKED = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm", "--format=csv,noheader"]


def machine() -> dict[str, str]:
    found = describe_environment(("numpy", "numba", "torch", "triton"))
    try:
        card = subprocess.run(ASKED, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        card = f"none ({type(error).__name__})"
    return found | {"card": card}
