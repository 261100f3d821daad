"""Files written for one test."""

import pytest


@pytest.fixture
def file(tmp_path):
    """`file("drive.csv", "case,time,v\\n...")` writes a file and gives its path."""

    def write(name, content, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write
