"""A process that measures units: one line of JSON in, one line out, until nothing comes in.

Run as `python -m fernn.compare.worker SECONDS FOLDER`. What a unit prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import TextIO

from ..errors import FernnError
from .measuring import measured
from .unit import Found, Unit
from .warming import warm


def answer(line: str, limit: float) -> Found:
    """What was found of the unit on this line, or the problem with it."""
    unit = Unit(**json.loads(line))
    try:
        warm(unit)
        return {"unit": unit.key, **measured(unit, limit)}
    except (FernnError, ImportError) as error:
        return {"unit": unit.key, "problem": str(error)}
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(at.filename).name} line {at.lineno}"
        return {"unit": unit.key, "problem": f"{type(error).__name__}: {error} ({where})"}


def serve(lines: TextIO, out: TextIO, limit: float) -> None:
    for line in lines:
        with redirect_stdout(sys.stderr):
            found = answer(line, limit)
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    sys.path[:] = [os.path.abspath(place) for place in sys.path]
    os.chdir(sys.argv[2])
    serve(sys.stdin, sys.stdout, float(sys.argv[1]))
