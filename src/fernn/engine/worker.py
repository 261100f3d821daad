"""A process that does units: one line of JSON in, one line out, until nothing comes in.

Run as `python -m fernn.engine.worker`. What a unit prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from typing import TextIO

from .doing import done_there
from .packing import Packed


def serve(lines: TextIO, out: TextIO) -> None:
    for line in lines:
        asked = json.loads(line)
        data = None if asked["data"] is None else Packed(asked["data"][0], path=asked["data"][1])
        with redirect_stdout(sys.stderr):
            found = done_there(asked["task"], data, asked["settings"], asked["seed"])
        print(json.dumps({"number": asked["number"], "answer": found}), file=out, flush=True)


def own_channel() -> TextIO:
    """Standard output for answers alone: whatever else writes to it, in C or in a child, goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


if __name__ == "__main__":
    serve(sys.stdin, own_channel())
