"""What is fuzzed: for each way into fernn a function of bytes that must end in a value or in a FernnError."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fernn.data import Dataset, inspect
from fernn.formula import parse

from .mutating import Kind

HERE = Path(__file__).parent
CORPUS, CRASHES = HERE / "corpus", HERE / "crashes"
Try = Callable[[bytes], Any]


@dataclass(frozen=True)
class Target:
    """`kind` says how inputs are changed, `share` how often this one is tried beside the others."""

    name: str
    attempt: Try
    kind: Kind
    share: float = 1.0
    ready: Callable[[], Any] = lambda: None
    """Called before each, outside of the time that one input may take."""

    @property
    def seeds(self) -> list[bytes]:
        """The corpus, and all that ever broke it."""
        folders = (CORPUS / self.name, CRASHES / self.name)
        return [file.read_bytes() for folder in folders for file in sorted(folder.glob("*")) if file.is_file()]


@cache
def room() -> Path:
    """A folder of this process, in memory where there is such a place."""
    under = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="fernn-fuzz-", dir=under))
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


# formulas


def a_text(data: bytes) -> None:
    """Text is a formula or an error; a formula prints as text that reads back to it."""
    text = data.decode("utf-8", "surrogateescape" if len(data) % 8 == 5 else "replace")
    from fernn.formula import length, mirror, simplify

    found = parse(text, (None, None, 0.5, 1e-300)[len(data) % 4])
    shown = str(found)
    shown.encode("utf-8")
    if len(data) % 4 < 2 and parse(shown) != found:
        raise AssertionError(f"{shown} reads back as another formula")
    length(found), mirror(found), simplify(found)


def a_rule(data: bytes) -> None:
    """A formula is judged on a trace, watched live, exported, put into words."""
    from fernn.formula import channels
    from fernn.formula.export import FORMATS
    from fernn.formula.sentence import to_sentence
    from fernn.semantics import Monitor, robustness

    found = parse(data.decode("utf-8", "replace"))
    names = tuple(dict.fromkeys((*channels(found), "x", "y")))
    trace = np.random.default_rng(len(data)).normal(size=(len(names), 6)).round(1)
    _each(
        lambda: robustness(found, trace[None], names),
        lambda: to_sentence(found),
        lambda: [Monitor(found, names).update(list(sample)) for sample in trace.T],
        *(lambda export=export: export(found) for export in FORMATS.values()),
    )


def a_structure(data: bytes) -> None:
    from fernn.mining.parametric_formula import parse_parametric

    parse_parametric(data.decode("utf-8", "replace"))


def a_formula_in_json(data: bytes) -> None:
    from fernn.formula.export.json import from_json, to_json

    found = from_json(data.decode("utf-8", "replace"))
    if from_json(to_json(found)) != found:
        raise AssertionError("the formula reads back as another one")
    if parse(str(found)) != found:
        raise AssertionError("the text of the formula reads back as another one")


# recordings

HOW: tuple[dict[str, Any], ...] = (
    {},
    {"label": None},
    {"bad_rows": "skip", "nonfinite": "hold"},
    {"layout": "wide", "label": "last"},
    {"layout": "tidy", "nonfinite": "interpolate", "good": "1"},
    {"nonfinite": "drop_case", "label_kind": "real"},
    {"decimal": ",", "header": False, "label_kind": "class"},
    {"channels": ["v"], "steps": True},
    {"encoding": "latin-1", "group": "group"},
    {"encoding": "utf-16", "marks": "label", "label": None},
    {"marks": "label", "label": None},
)


def a_file(suffix: str) -> Try:
    def attempt(data: bytes) -> None:
        file = room() / f"x.{suffix}"
        file.write_bytes(data)
        found, problems = inspect(file, **HOW[len(data) % len(HOW)], memory_limit=5_000_000)
        assert (found is None) == any(p.severity == "error" for p in problems), "a dataset, or errors"
        assert all(str(p) for p in problems)
        if found is not None:
            assert found.fingerprint
            assert np.isfinite(found.trace(0)).all()

    return attempt


# runs


@cache
def tiny() -> Dataset:
    values = np.array([[[1.0, 2, 3, 2]], [[2.0, 2, 2, 2]], [[4.0, 5, 6, 5]], [[6.0, 5, 4, 5]]])
    return Dataset(values, np.array([1, 1, 0, 0]), ("bad", "good"), ("v",), name="tiny")


@cache
def tiny_file() -> Dataset:
    """What the certificate of the corpus is about."""
    from fernn.data import read

    return read(CORPUS / "tiny.csv")


def a_front(data: bytes) -> None:
    from fernn.learners import Front

    front = Front.from_json(_loaded(data))
    assert front.picked.formula is not None
    str(front), [front.within(99)], Front.from_json(json.loads(json.dumps(front.to_json())))


def a_run(data: bytes) -> None:
    """One file of a run is replaced: its name, the sign 0x1e, its content."""
    from fernn.learners.enumerative.audit import audit
    from fernn.runs import Run, load_job, load_result
    from fernn.runs.job import read_certificate, select_certified
    from fernn.runs.rivals import candidates, load_transcript

    name, _, content = data.partition(b"\x1e")
    known = {file.name: file for file in (CORPUS / "folder").iterdir()}
    folder = room() / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(CORPUS / "folder", folder)
    changed = name.decode("utf-8", "replace")
    (folder / (changed if changed in known else "front.json")).write_bytes(content)
    run = Run.open(folder)

    def resumed() -> None:
        again = Run.open(folder)
        try:
            again.resume()
        finally:
            if again._lock is not None:
                again._lock.release()

    def a_job() -> None:
        from fernn.runs import learner

        job = load_job(folder, str(CORPUS / "tiny.csv"))
        load_result(job)
        learner(job.settings["method"], job.settings["learner"], job.data)

    _each(
        run.front, run.test, run.history, run.load_state,
        lambda: (run.ended, run.notes, run.seconds),
        lambda: candidates(run, tiny()),
        lambda: load_transcript(run),
        lambda: (lambda proof: (proof.holds, proof.statement, proof.error, proof.note))(read_certificate(folder)),
        lambda: audit(read_certificate(folder), select_certified(read_certificate(folder), tiny_file()), samples=10),
        lambda: run.check(tiny()),
        a_job, resumed,
    )  # fmt: skip


def repeats_kept(data: bytes) -> None:
    from fernn.evaluation.resampling import Resample, load_refits

    file = room() / "repeats.jsonl"
    file.write_bytes(data)
    for (kind, seed), repeat in load_refits(file, dict.fromkeys(get_args(Resample), "mark")).items():
        assert isinstance(kind, str)
        assert isinstance(seed, int)
        assert isinstance(repeat.least, (int, float))
        parse(repeat.formula)


def a_request(data: bytes) -> None:
    """The studio answers it in words."""
    from .asking import asked

    asked(data)


def a_studio() -> None:
    from .asking import ready

    ready(room())


def a_state(data: bytes) -> None:
    """A learner takes up a state: the name of the method, the sign 0x1e, JSON."""
    name, _, content = data.partition(b"\x1e")
    learners = _learners()
    chosen = learners.get(name.decode("utf-8", "replace"), learners["fernn"])
    chosen.fit(tiny(), resume=_loaded(content))


@cache
def _learners() -> dict[str, Any]:
    from fernn.learners import Enumerative, Fernn, Lattice, PaperFernn, Tree

    return {
        "fernn": Fernn(max_length=2, restarts=2, rounds=2, time_limit=2),
        "enumerative": Enumerative(max_length=2, time_limit=2, folds=0),
        "lattice": Lattice(max_length=4, time_limit=2, folds=0),
        "tree": Tree(depth=1, time_limit=2, folds=0),
        "paper": PaperFernn(length=2, epochs=5),
    }


def _loaded(data: bytes) -> Any:
    """JSON; what is none is not for this target."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        from fernn.errors import FernnError

        raise FernnError("not JSON") from None


def _each(*calls: Callable[[], Any]) -> None:
    """All of them, though one is refused."""
    from fernn.errors import FernnError

    refused: FernnError | None = None
    for call in calls:
        try:
            call()
        except FernnError as error:
            refused = error
    if refused is not None:
        raise refused


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("text", a_text, "text", 4),
        Target("rule", a_rule, "text", 1),
        Target("structure", a_structure, "text", 1),
        Target("formula", a_formula_in_json, "json", 2),
        Target("csv", a_file("csv"), "text", 2),
        Target("ts", a_file("ts"), "text", 1),
        Target("trace", a_file("trace"), "text", 1),
        Target("npz", a_file("npz"), "zip", 1),
        Target("parquet", a_file("parquet"), "bytes", 0.01),
        Target("front", a_front, "json", 1),
        Target("run", a_run, "json", 1),
        Target("repeats", repeats_kept, "text", 1),
        Target("state", a_state, "json", 0.2),
        Target("studio", a_request, "json", 2, a_studio),
    )
}


def quietly(attempt: Try, data: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return attempt(data)
