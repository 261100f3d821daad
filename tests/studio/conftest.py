"""One studio for all tests of a file."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    from served import Served

    studio = Served(tmp_path_factory.mktemp("studio") / "runs")
    yield studio
    studio.close()


@pytest.fixture
def client(served):
    return served.client
