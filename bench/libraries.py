"""What libraries would give in the place of parts written here: rich, joblib's loky, filelock.

    python -m bench.libraries           all of it, some three minutes on two cores; needs joblib, rich and filelock

Times are medians; seconds of start-up are CPU seconds, which a busy machine changes little.
"""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

from fernn.cli.output import table
from fernn.data import Dataset, load, write_csv
from fernn.engines import Unit, run_units
from fernn.engines.executors import ExecutorEngine
from fernn.engines.processes import Processes
from fernn.evaluation.resampling import TASK
from fernn.learners import Enumerative
from fernn.learners.learner_registry import learner_to_dict

RUNS, ROWS, UNITS, WORKERS = 10, 10_000, 16, 2
CALL = "import sys; {}from fernn.cli import main; sys.argv[0] = 'fernn'; main()"
WIDE = "G (v <= 34 & (a >= -2.5 | brake <= 0.125) & (gap >= 12.75 -> F[0,20] (closing <= 0.5 & lead >= 3.25)))"


def cpu_seconds(command: list[str]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=False, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_start(folder: Path) -> None:
    write_csv(load("cruise", cases=20), folder / "cruise.csv")
    commands = {"fernn --help": ["--help"], "fernn eval": ["eval", "G (v <= 34)", str(folder / "cruise.csv")]}
    for name, arguments in commands.items():
        found: dict[str, list[float]] = {"": [], "import rich.table, rich.live, rich.progress; ": []}
        for _ in range(RUNS + 1):
            for more, times in found.items():
                times.append(cpu_seconds([sys.executable, "-c", CALL.format(more), *arguments]))
        plain, with_rich = (median(times[1:]) for times in found.values())
        print(f"{name}: {plain:.3f} CPU s, with rich imported {with_rich:.3f}")


def rich_table(titles: list[str], rows: list[list[Any]], **console: Any) -> str:
    from rich.console import Console
    from rich.table import Table

    made = Table(*titles, box=None, pad_edge=False)
    for row in rows:
        made.add_row(*map(str, row))
    out = io.StringIO()
    Console(file=out, **console).print(made)
    return out.getvalue()


def compare_tables() -> None:
    rows = [[f"case-{i}", i / 7, "satisfied", "normal"] for i in range(ROWS)]
    titles = ["case", "robustness", "verdict", "label"]
    for name, draw in {"ours": table, "rich": rich_table}.items():
        seconds = median(timed(lambda draw=draw: draw(titles, rows)) for _ in range(3))  # type: ignore[misc]
        print(f"a table of {ROWS:,} rows, {name}: {seconds:.3f} s")
    one = [["*", 9, 0.0125, WIDE]]
    drawn = {"ours": table(["", "length", "train", "formula"], one)}
    drawn["rich, as it is"] = rich_table(["", "length", "train", "formula"], one)
    drawn["rich, 10,000 columns"] = rich_table(["", "length", "train", "formula"], one, width=10_000)
    for name, text in drawn.items():
        blanks = sum(len(line) - len(line.rstrip()) for line in text.splitlines())
        print(f"piped, {name}: formula in one piece: {WIDE in text}, trailing blanks: {blanks}")


RICH_BAR = """
import signal, time
from rich.progress import Progress
signal.signal(signal.SIGINT, signal.SIG_DFL)
with Progress(transient=True) as bar:
    bar.add_task("learning", total=100)
    time.sleep(60)
"""
OUR_BAR = """
import signal, time
from fernn.cli.progress import Bar
signal.signal(signal.SIGINT, signal.SIG_DFL)
with Bar():
    time.sleep(60)
"""


def compare_bars() -> None:
    """The second Ctrl-C ends `fernn learn` at once, in the midst of compiled code too."""
    for name, code in {"ours": OUR_BAR, "rich": RICH_BAR}.items():
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, "-c", code])
        shown, ended = b"", False
        while not ended:
            try:
                shown += os.read(terminal, 4096)
            except OSError:
                break
            if len(shown) > 100:
                sleep(0.5)
                os.kill(pid, signal.SIGINT)
                ended = True
        sleep(0.2)
        try:
            while block := os.read(terminal, 4096):
                shown += block
        except OSError:
            pass
        os.waitpid(pid, 0)
        hidden = shown.count(b"\x1b[?25l") > shown.count(b"\x1b[?25h")
        print(f"a bar that is ended by SIGINT, {name}: cursor left {'hidden' if hidden else 'as it was'}")


def timed(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


def loky_engine() -> ExecutorEngine:
    from joblib.externals.loky import ProcessPoolExecutor

    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return ExecutorEngine(ProcessPoolExecutor(WORKERS, env=threads))


def answer_seconds(engine: Any, task: str, data: Dataset, units: list[Unit]) -> float:
    began = perf_counter()
    failures = [answer.failure for answer in run_units(engine, task, data, units) if answer.problem]
    assert not failures, failures[0]
    return perf_counter() - began


def close_engine(engine: Any) -> None:
    if isinstance(engine, ExecutorEngine):
        engine.executor.shutdown(wait=True)
    engine.close()


def compare_pools(data: Dataset, large: Dataset) -> None:
    learner = learner_to_dict(Enumerative(max_length=3, folds=0))
    units = [Unit({"learner": learner, "parts": 5, "kind": "bootstrap"}, seed) for seed in range(UNITS)]
    engines = {"ours": lambda: Processes(WORKERS), "loky": loky_engine}
    found: dict[str, list[list[float]]] = {name: [] for name in engines}
    for turn in range(6):
        for name, make in engines.items():
            engine: Any = make()
            light = [Unit({}, seed) for seed in range(UNITS)]
            work = [(TASK, data, units[:1]), (TASK, data, units), (SUM, large, light)]
            times = [answer_seconds(engine, *each) for each in work]
            close_engine(engine)
            if turn:  # the first one compiles
                found[name].append(times)
    for name, all_times in found.items():
        first, many, sent = (median(column) for column in zip(*all_times, strict=True))
        size = large.values.nbytes / 2**20 if not isinstance(large.values, tuple) else 0
        print(
            f"pool, {name}: first answer {first:.2f} s, {UNITS} bootstraps on {WORKERS} workers {many:.2f} s, "
            f"{UNITS} small units on {size:.0f} MiB {sent:.2f} s"
        )
    for name, make in engines.items():
        engine = make()
        answers = list(run_units(engine, DEADLY, data, [Unit({}, seed) for seed in range(UNITS)], tries=3))
        lost = [answer.unit.seed for answer in answers if answer.problem]
        tried = sum(answer.tries for answer in answers)
        print(f"pool, {name}: unit 3 kills its worker: {len(lost)} of {UNITS} units lost, {tried} tries in all")
        close_engine(engine)


SUM, DEADLY = "bench.libraries:add_up", "bench.libraries:die_at_three"


def add_up(data: Any, settings: dict[str, Any], seed: int) -> float:
    return float(data.values.sum()) + seed


def die_at_three(data: Any, settings: dict[str, Any], seed: int) -> int:
    sleep(0.05)
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return seed


HOLD = {
    "ours": "from pathlib import Path; from fernn.runs.run import FolderLock; lock = FolderLock(Path('{}'))",
    "filelock": "from filelock import FileLock; lock = FileLock('{}/.lock'); lock.acquire()",
}


def compare_locks(folder: Path) -> None:
    from filelock import FileLock

    from fernn.runs.run import FolderLock

    takes: dict[str, Callable[[Path], Any]] = {
        "ours": FolderLock,
        "filelock": lambda where: FileLock(where / ".lock").acquire(timeout=0),
    }
    for name, code in HOLD.items():
        where = folder / name
        where.mkdir()
        command = [sys.executable, "-c", code.format(where) + "; print('held', flush=True); input()"]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            takes[name](where)
            refused = False
        except Exception:
            refused = True
        holder.kill()
        holder.wait()
        seconds = timed(lambda name=name, where=where: takes[name](where))  # type: ignore[misc]
        left = [path.name for path in where.iterdir()]
        print(
            f"lock, {name}: refused while held: {refused}; after kill -9 taken in {seconds * 1e3:.1f} ms; left: {left}"
        )


if __name__ == "__main__":
    root = str(Path(__file__).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))  # for workers
    with TemporaryDirectory() as made:
        compare_start(Path(made))
        compare_tables()
        compare_bars()
        compare_locks(Path(made))
        compare_pools(load("cruise", cases=100), load("cruise", cases=20_000))
