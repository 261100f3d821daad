"""How much of fernn is loaded, and how soon: by `import fernn`, `fernn --help`, and `fernn learn` on a CSV file.

python -m bench.modules

Prints how many modules of fernn and of all packages are loaded at the end, and the median of the processor seconds of
nine starts beside those of Python itself.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

STARTS = 9
HELP = "import sys; sys.argv = ['fernn', '--help']; from fernn.cli import main; main()"
LEARN = (
    "import sys; sys.argv = 'fernn learn drive.csv --max-length 2 --restarts 4 --set rounds=2 --quiet'.split(); "
    "from fernn.cli import main; main()"
)
ROWS = [
    f"{case},{time},{case % 2 * 5 + time % 3 + case / 100},{'ok' if case % 2 else 'bad'}"
    for case in range(20)
    for time in range(8)
]
TOLD = """
import atexit, json, sys
atexit.register(lambda: print("\\n" + json.dumps(sorted(sys.modules)), file=sys.__stdout__))
"""


def loaded_modules(code: str) -> list[str]:
    """The modules of fernn, and of other packages, that are loaded when this code ends."""
    with TemporaryDirectory() as folder:
        Path(folder, "drive.csv").write_text("\n".join(["case,time,v,label", *ROWS]))
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TOLD + code], cwd=folder, capture_output=True, text=True, check=False
        )
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    found: list[str] = json.loads(ended.stdout.splitlines()[-1])
    return found


def of_fernn(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "fernn"]


def processor_seconds(code: str) -> float:
    """Of a process that does this, the median of some."""
    return median(_once(code) for _ in range(STARTS))


def _once(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    bare = processor_seconds("pass")
    for name, code in (("import fernn", "import fernn"), ("fernn --help", HELP), ("fernn learn FILE.csv", LEARN)):
        modules = loaded_modules(code)
        line = f"{name}: {len(of_fernn(modules))} modules of fernn, {len(modules)} in all"
        if code is not LEARN:
            line += f"; {processor_seconds(code):.2f} s, of which Python {bare:.2f} s"
        print(line)


if __name__ == "__main__":
    main()
