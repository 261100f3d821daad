"""The command, called in this process."""

import io
import sys
from types import SimpleNamespace

import pytest

from fernn.cli import main


@pytest.fixture
def called(monkeypatch, capsys, tmp_path):
    """In a folder of its own: exit code, standard output and standard error; `answers` are lines of standard input."""
    monkeypatch.chdir(tmp_path)

    def call(*words, answers=None):
        monkeypatch.setattr(sys, "argv", ["fernn", *words])
        if answers is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        capsys.readouterr()
        code = sys.modules[main.__module__]._code()
        told = capsys.readouterr()
        return SimpleNamespace(code=code, out=told.out, err=told.err)

    return call
