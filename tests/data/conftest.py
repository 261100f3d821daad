"""Files written for one test, and the paper's recordings where they are at hand."""

import os

import pytest


@pytest.fixture
def file(tmp_path):
    """`file("drive.csv", "case,time,v\\n...")` writes a file and gives its path."""

    def write(name, content, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


@pytest.fixture
def recordings():
    if not os.environ.get("FERNN_DATA"):
        pytest.skip("FERNN_DATA is not set: the paper's recordings are not at hand")
