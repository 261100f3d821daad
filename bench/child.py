"""Units measured in a process of their own, so that their memory is theirs: a line of JSON for each."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence

from fernn.errors import DataError, FernnWarning

from .store import Found


def asked(part: str, units: Sequence[str], bench: str) -> Iterator[tuple[str, Found]]:
    """Each unit with what a child process of this bench found, as soon as it is there.

    A unit at which the child dies is told as failed, and another child goes on after it.
    """
    left = list(units)
    while left:
        command = [sys.executable, "-m", bench, "--child", part, *left]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                found = json.loads(line)
                left.remove(found["unit"])
                yield found.pop("unit"), found
        if left:
            yield left.pop(0), {"problem": f"its process ended with status {child.returncode}", "failed": True}


def answer(measured: Callable[[str], Found], units: Sequence[str]) -> int:
    """The child: what is not installed, or data that are not here, is a problem but no failure."""
    warnings.simplefilter("ignore", FernnWarning)
    for unit in units:
        try:
            found = measured(unit)
        except (DataError, ImportError) as missing:
            found = {"problem": str(missing), "failed": False}
        except Exception as error:
            traceback.print_exc(limit=-3)
            found = {"problem": f"{type(error).__name__}: {error}", "failed": True}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"unit": unit, **found, "peak": peak}), flush=True)
    return 0
