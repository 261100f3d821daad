"""Real workers in real processes, on clusters that are begun here: what they find is what is found in this process."""

import os
import signal
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from fernn import parse
from fernn.data import from_arrays, load, split, write_csv
from fernn.data.streaming import open_source
from fernn.data.streaming.stream_summary import summarize_stream
from fernn.engines import Unit, resolve_engine, run_units, use
from fernn.engines.processes import Processes
from fernn.engines.resolve import close_all
from fernn.errors import EngineError, UnsupportedError, suppress_warnings
from fernn.evaluation.drift import DriftMonitor
from fernn.evaluation.resampling import refit
from fernn.learners import Enumerative, Fernn, Lattice, Tree
from fernn.runs.out_of_core import summarize_by_parts

NAMES = ("processes:2", "ray:2", "dask:2")
NEEDS = {"ray:2": "ray", "dask:2": "distributed"}
HERE = str(Path(__file__).parent)
FERNN = Fernn(max_length=4, rounds=5, restarts=24, seed=3)


@pytest.fixture(scope="module", params=NAMES)
def engine(request, chores_at_hand):
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    yield resolve_engine(request.param)
    close_all()


@pytest.fixture(scope="module")
def data():
    with suppress_warnings():
        return split(load("cruise", cases=60))[0]


@pytest.fixture(scope="module", autouse=True)
def chores_at_hand():
    """Workers find them by name."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([HERE, *([before] if before else [])])
    sys.path.insert(0, HERE)
    yield
    sys.path.remove(HERE)
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def answers(engine, task, data, units, **more):
    return list(run_units(engine, f"chores:{task}", data, units, **more))


@pytest.mark.slow
def test_there_are_two_workers_and_both_work(engine):
    assert engine.workers == 2
    pids = set()
    for _ in range(300):  # on a busy machine one may be done with a good deal before the other has begun
        pids |= {answer.found for answer in answers(engine, "who", None, [Unit({"seconds": 0.1}, s) for s in range(4)])}
        if len(pids) > 1:
            break
    assert len(pids) == 2
    assert os.getpid() not in pids


@pytest.mark.slow
def test_data_arrive_as_they_are(engine, data):
    ragged = from_arrays([[[1.0, 2.0]], [[3.0, 0.1, 1e-300]]], ["bad", "good"], name="two", groups=["g", "h"])
    for sent in (data, ragged):
        found = answers(engine, "shape", sent, [Unit({"more": [1.5, None]}, seed) for seed in range(5)])
        for answer in found:
            told = {"cases": len(sent), "mark": sent.fingerprint, "name": sent.name, "more": [1.5, None]}
            assert answer.found == told | {"seed": answer.unit.seed}


def test_answers_come_in_order_where_that_is_asked(engine):
    units = [Unit({"seconds": 0.3 if seed == 0 else 0.0}, seed) for seed in range(6)]
    assert [answer.unit.seed for answer in answers(engine, "who", None, units, in_order=True)] == list(range(6))


def test_a_unit_that_kills_every_worker_is_told_with_its_seed_and_the_rest_is_done(engine):
    found = answers(engine, "deadly", None, [Unit({"deadly": 2}, seed) for seed in range(6)], tries=2)
    assert sorted(answer.found for answer in found if answer.problem is None) == [0, 1, 3, 4, 5]
    (lost,) = [answer for answer in found if answer.problem is not None]
    assert (lost.unit.seed, lost.tries) == (2, 2)


@pytest.mark.slow
def test_an_error_is_tried_again_but_not_one_of_ours(engine):
    found = {answer.unit.seed: answer for answer in answers(engine, "wrong", None, [Unit({}, s) for s in range(4)])}
    assert (found[1].problem.split(" (")[0], found[1].tries) == ("ZeroDivisionError: one over nothing", 3)
    assert (found[2].problem, found[2].tries) == ("this will not do", 1)
    assert [found[0].found, found[3].found] == [0, 3]


def test_who_leaves_early_leaves_an_engine_that_still_works(engine):
    first = next(run_units(engine, "chores:who", None, [Unit({"seconds": 0.1}, seed) for seed in range(20)]))
    assert first.problem is None
    assert answers(engine, "wrong", None, [Unit({}, 0)])[0].found == 0


@pytest.mark.slow
def test_fernn_finds_the_same_though_a_worker_is_killed_in_the_middle(engine, data):
    here = FERNN.fit(data)
    pids = {answer.found for answer in answers(engine, "who", None, [Unit({"seconds": 0.3}, s) for s in range(4)])}
    killed = []

    def kill(progress):
        if not killed and progress.restarts:
            killed.append(min(pids))
            os.kill(killed[0], signal.SIGKILL)

    there = replace(FERNN, engine=engine).fit(data, kill)
    assert killed
    assert there.front == here.front
    assert there.state["archive"] == here.state["archive"]


@pytest.mark.slow
def test_a_fit_goes_on_with_another_engine(engine, data):
    half = replace(FERNN, rounds=2).fit(data)
    assert replace(FERNN, engine=engine).fit(data, resume=half.state).front == FERNN.fit(data).front


@pytest.mark.parametrize("learner", [Tree(depth=2, folds=3), Enumerative(max_length=2, folds=3), Lattice(folds=3)])
def test_folds_learned_elsewhere_validate_alike(engine, data, learner):
    there = replace(learner, engine=engine).fit(data).front
    assert there == learner.fit(data).front
    assert there.picked.validation == there.picked.validation  # known, not NaN


@pytest.mark.slow
def test_bootstraps_and_shuffles_are_those_of_this_process(engine, data, tmp_path):
    asked = [("as it is", 0), *(("shuffle", i) for i in range(3)), *(("bootstrap", i) for i in range(3)), ("fold", 1)]
    learner = Enumerative(max_length=2, folds=0)
    kept = tmp_path / "repeats.jsonl"
    there = list(refit(replace(learner, engine=engine), data, asked, keep=kept))
    assert there == list(refit(learner, data, asked))
    assert Counter(kept.read_text().splitlines()).most_common(1)[0][1] == 1
    assert len(kept.read_text().splitlines()) == len(asked)


def test_a_folder_is_checked_and_watched_by_file_as_in_this_process(engine, tmp_path):
    pl = pytest.importorskip("polars")
    data = load("cruise", cases=30, seed=3)
    write_csv(data, tmp_path / "cruise.csv")
    frame = pl.read_csv(tmp_path / "cruise.csv", comment_prefix="#").drop("group")
    (tmp_path / "cruise").mkdir()
    for i, low in enumerate(range(0, frame.height, 1_111)):  # files end within a trace
        frame[low : low + 1_111].write_parquet(tmp_path / "cruise" / f"{i:03}.parquet")
    source = open_source(tmp_path / "cruise")
    assert summarize_by_parts(source, engine=engine) == summarize_stream(source)
    here, there = (DriftMonitor(parse("G (v <= 34.3)"), data, 1.0, 30.0) for _ in range(2))
    seen, complete = there.take_parts(source, engine=engine)
    assert complete
    assert seen == list(here.take_stream(source))
    assert there.alarms == here.alarms


def in_processes():
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), in_processes], ids=["threads", "processes"])
def test_any_executor_will_do(make, data):
    with make() as executor:
        assert replace(FERNN, engine=executor).fit(data).front == FERNN.fit(data).front


def test_a_unit_hands_nothing_on_even_to_the_engine_it_is_on(data):
    with ThreadPoolExecutor(1) as executor:  # one thread, which would wait for itself
        use(executor)
        try:
            (answer,) = run_units(resolve_engine(), "chores:learns", data, [Unit({}, 0)])
        finally:
            use(None)
    assert answer.found == str(FERNN.fit(data).formula)


def test_two_threads_share_one_engine(data):
    ragged = from_arrays([[[1.0, 2.0]], [[3.0, 0.1]]], ["bad", "good"], name="two")
    crew = Processes(2)

    def ask(sent):
        return [answer.found["mark"] for answer in answers(crew, "shape", sent, [Unit({}, s) for s in range(6)])]

    try:
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(ask, [data, ragged]))
        assert [set(each) for each in found] == [{data.fingerprint}, {ragged.fingerprint}]
        assert len(crew.pids) == 2
    finally:
        crew.close()
    with pytest.raises(UnsupportedError, match="was closed"):
        crew.submit("chores:who", None, Unit({}, 0))


def test_what_a_worker_writes_besides_is_no_answer():
    crew = Processes(1)
    try:
        assert answers(crew, "shouting", None, [Unit({}, 4)])[0].found == 4
    finally:
        crew.close()


def test_an_interrupted_fit_is_not_kept_as_a_whole_one(data, tmp_path):
    class Pressed(Enumerative):
        def fit(self, data, *more, **named):
            return replace(super().fit(data, *more, **named), ended="interrupted")

    kept = tmp_path / "repeats.jsonl"
    with pytest.raises(KeyboardInterrupt):
        list(refit(Pressed(max_length=2, folds=0), data, [("bootstrap", 0)], keep=kept))
    assert not kept.exists()


def test_a_cluster_that_does_not_answer_is_told_soon():
    pytest.importorskip("ray")
    from fernn.engines.ray import Ray

    with pytest.raises(UnsupportedError, match="no Ray cluster answers"):
        Ray("127.0.0.1:9")


def test_an_executor_that_is_broken_is_told():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    (answer,) = run_units(resolve_engine(executor), "chores:who", None, [Unit({}, 7)])
    assert "takes no more work" in answer.problem
    assert answer.unit.seed == 7


@pytest.mark.slow
def test_jobs_of_a_queue_do_the_same(data, tmp_path):
    pytest.importorskip("submitit")
    from fernn.engines.slurm import Slurm

    queue = Slurm(tmp_path / "jobs", cluster="local", workers=2, timeout_min=5)
    try:
        asked = [("bootstrap", 0), ("bootstrap", 1)]
        learner = Enumerative(max_length=2, folds=0)
        assert list(refit(replace(learner, engine=queue), data, asked)) == list(refit(learner, data, asked))
    finally:
        queue.close()


@pytest.mark.parametrize("losses", [2, 1000])
def test_data_are_sent_again_where_a_worker_is_lost_meanwhile(losses, data, monkeypatch):
    pytest.importorskip("distributed")
    from fernn.engines import dask

    class Client:
        tries = 0

        def scatter(self, *given, **named):
            self.tries += 1
            if self.tries <= losses:
                raise OSError("Stream is closed")
            return "there"

    monkeypatch.setattr(dask, "SCATTER_PAUSE", 0.0)
    cluster = object.__new__(dask.Dask)
    cluster.client, cluster.name = Client(), "dask"
    if losses > dask.SCATTER_TRIES:
        with pytest.raises(EngineError, match="could not be sent to the workers of dask: Stream is closed"):
            cluster._scatter(data)
    else:
        assert cluster._scatter(data) == "there"
