"""The paper's recordings where they are at hand; and `oracle` and `strategies` can be imported by name."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def recordings():
    if not os.environ.get("FERNN_DATA"):
        pytest.skip("FERNN_DATA is not set: the paper's recordings are not at hand")
