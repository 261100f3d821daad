"""Lets the tests import the slow search of `tests/exact` by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "exact"))
