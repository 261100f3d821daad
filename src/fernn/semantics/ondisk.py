"""Compiled code that numba keeps on disk: what it depends on, and whether it is there.

numba keeps the code of a function under the text of its file and the values that it closes over, but does not look at
the modules that it calls. A function that closes over their text is compiled anew when one of them changes. It must
not close over compiled functions: those are new values in every process. So each is written out where it is called.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any


def texts(*modules: ModuleType) -> tuple[str, ...]:
    """What a compiled function has to close over to be as new as these modules."""
    return tuple(Path(str(module.__file__)).read_text() for module in modules)


def is_kept(function: Any) -> bool:
    """Whether an earlier run left compiled code of its module on disk, so that the first call will be quick."""
    module = str(function.py_func.__module__).rpartition(".")[2]
    return any(Path(function._cache.cache_path).glob(f"{module}.*.nbi"))
