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


@pytest.fixture
def window(chromium, served):
    """Opens windows on the studio; in the end, nothing may have failed in them or been asked of anyone else."""
    from browsing import Window

    opened = []

    def window(studio=served, **options):
        opened.append(Window(chromium, studio, **options))
        return opened[-1]

    yield window
    for each in opened:
        each.close()
