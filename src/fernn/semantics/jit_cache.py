"""Compiled code that numba keeps on disk: what it depends on, and whether it is there.

numba keeps the code of a function in a file named after the function and its line, and does not look at the modules
that it calls. It reads the whole index of that file before it sees that the index is old, and fails where a class
that is named in it is gone. So each function here is named after all the code that it depends on: the file of an older
version, of fernn or of numba, is never opened. Such a function must not close over compiled functions: those are new
values in every process. And no two functions that it calls may share a qualified name: what is kept is linked by names,
which a number tells apart that counts anew in every process (tests/semantics/test_compiled_names.py).
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import numba


def njit_on_disk(*modules: ModuleType, **options: Any) -> Callable[[Any], Any]:
    """As `njit(nogil=True, cache=True)`, for a function that calls what is in these modules."""
    callees = [Path(str(module.__file__)).read_text() for module in modules]

    def compile_function(function: Any) -> Any:
        own = Path(function.__code__.co_filename).read_text()
        versions = numba.__version__, llvmlite.__version__
        digest = sha256(repr((versions, own, callees)).encode()).hexdigest()[:16]
        function.__qualname__ = f"{function.__qualname__}_{digest}"
        return numba.njit(nogil=True, cache=True, **options)(function)

    return compile_function


def is_compiled(kernel: Any) -> bool:
    """Whether an earlier run left compiled code of this version on disk, so that the first call will be quick."""
    digest = str(kernel.py_func.__qualname__).rpartition("_")[2]
    return any(Path(kernel._cache.cache_path).glob(f"*_{digest}-*.nbi"))
