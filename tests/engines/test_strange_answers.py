"""Executors that are no good: whatever they answer, what comes of it is a result or an error in words."""

import json
import warnings
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import replace
from math import isnan
from random import Random

import pytest

from fernn import parse
from fernn.data import load, write_csv
from fernn.data.streaming import open_source
from fernn.engines import Unit, resolve_engine, run_units, use
from fernn.errors import EngineError, EngineWarning, FernnError, suppress_warnings
from fernn.evaluation.comparison import compare
from fernn.evaluation.drift import DriftMonitor
from fernn.evaluation.nested_cv import nested_cv
from fernn.evaluation.permutation_test import permutation_test
from fernn.evaluation.resampling import bootstrap, refit
from fernn.learners import Enumerative, Fernn, Lattice, Tree
from fernn.runs import plan, run_job, start_job
from fernn.runs.out_of_core import judge_by_parts, judge_on_all_by_parts, summarize_by_parts
from fernn.runs.rivals import formulas_of_seeds, try_seeds
from fuzz.mutating import mutated

FERNN = Fernn(max_length=2, rounds=2, restarts=4)
EXACT = Enumerative(max_length=1, folds=0)
JUNK = [
    None, 3, 2.5, b"\xff", [], {}, object(), "", "no json", "null", "3", "[]", "{}", '"found"', '{"found": null}',
    '{"found": []}', '{"found": {}}', '{"found": 3}', '{"found": [null]}', '{"found": [{}]}', '{"found": "G (v <= 3)"}',
    '{"found": ["G (v <= 3)", 3]}', '{"found": ["G (zz <= 3)"]}', '{"problem": 3}', '{"problem": "it broke"}',
    '{"problem": "it broke", "again": "yes"}', "[" * 100_000, '{"found": {"said": {}}}', '{"found": {"refused": 3}}',
    '{"found": {"said": {"ledger": {}, "ending": {}, "broken": false, "tally": {}, "rows": []}}}',
    '{"found": {"schema": 1, "pick": 0, "entries": []}}',
]  # fmt: skip


class Strange(Executor):
    """Gives `answer(what a worker would have answered)`; what it raises is what the work ends in."""

    def __init__(self, answer):
        self._answer = answer

    def submit(self, function, *args):
        future = Future()
        try:
            future.set_result(self._answer(lambda: function(*args)))
        except BaseException as error:
            future.set_exception(error)
        return future


def raising(error):
    def answer(_):
        raise error

    return answer


@pytest.fixture(scope="module")
def data():
    with suppress_warnings():
        return load("cruise", cases=20)


@pytest.fixture(scope="module")
def source(tmp_path_factory, data):
    pl = pytest.importorskip("polars")
    path = tmp_path_factory.mktemp("files")
    write_csv(data, path / "cruise.csv")
    frame = pl.read_csv(path / "cruise.csv", comment_prefix="#").drop("group")
    (path / "cruise").mkdir()
    for i, low in enumerate(range(0, frame.height, 1_500)):
        frame[low : low + 1_500].write_parquet(path / "cruise" / f"{i}.parquet")
    return open_source(path / "cruise")


@pytest.fixture(scope="module")
def front(data):
    with suppress_warnings():
        return FERNN.fit(data).front


@pytest.fixture(scope="module")
def job(data, tmp_path_factory):
    with suppress_warnings():
        planned = plan("cruise", {}, "fernn", {"max_length": 2, "rounds": 1, "restarts": 4}, 0.2)
        made = start_job(data, planned, "cruise", tmp_path_factory.mktemp("runs") / "run")
        run_job(made)
    return made


@pytest.fixture
def works(data, source, front, job, tmp_path):
    """Every kind of work that is handed over, done on an executor; and whether it has anything to show if all fail."""

    def restarts(executor):
        return replace(FERNN, engine=executor).fit(data)

    def folds(executor):
        return [replace(learner, engine=executor).fit(data) for learner in (Tree(depth=1, folds=2), Lattice(folds=2))]

    def seeds(executor):
        use(executor)
        (job.run.folder / "seeds.jsonl").unlink(missing_ok=True)
        try_seeds(job, 2)
        return list(formulas_of_seeds(job.run))

    def comparison(executor):
        use(executor)
        found = compare(data, tmp_path / "comparison", ["exact"], [1], 1, ["majority"], workers=1)
        return found, list(found.rows())

    def on_all(executor):
        return judge_on_all_by_parts(front, data, source, executor)

    yield {
        "restarts": restarts,
        "folds": folds,
        "shuffles": lambda executor: permutation_test(replace(EXACT, engine=executor), data, 2).p,
        "bootstraps": lambda executor: str(bootstrap(replace(EXACT, engine=executor), data, "G (v <= 34)", 2)),
        "nested": lambda executor: str(nested_cv(replace(EXACT, engine=executor), data, 2)),
        "seeds": seeds,
        "compare": comparison,
        "eval": lambda executor: judge_by_parts("G (v <= 34)", source, engine=executor, each=str).judged.score,
        "check": lambda executor: str(summarize_by_parts(source, engine=executor)),
        "watch": lambda executor: DriftMonitor(parse("G (v <= 34)"), data, 1.0, 30.0).take_parts(
            source, engine=executor
        ),
        "all of a folder": on_all,
    }
    use(None)


KINDS = ("restarts", "folds", "shuffles", "bootstraps", "nested", "seeds", "compare", "eval", "check", "watch",
         "all of a folder")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_work_that_always_fails_is_told_in_words(kind, works):
    answers = [raising(ZeroDivisionError("one over nothing")), raising(SystemExit(3)), raising(TypeError()),
               *((lambda _, junk=junk: junk) for junk in JUNK)]  # fmt: skip
    for answer in answers:
        try:
            found = works[kind](Strange(answer))
        except FernnError:
            continue
        assert kind in ("folds", "compare"), (answer, found)
        if kind == "folds":  # which come after the rule, so that it is there without them
            assert all(isnan(entry.validation) for fit in found for entry in fit.front)
        else:
            assert len(found[0].failed) == 2
            assert found[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(2))
def test_answers_that_were_changed_on_the_way_end_in_a_result_or_in_words(kind, seed, works):
    random = Random(f"{kind} {seed}")
    known = {}

    def changed(work):
        answer = work().encode()
        other = known.setdefault(random.randrange(4), answer)
        known[random.randrange(4)] = answer
        return mutated(random, "json", answer, other).decode("utf-8", "surrogatepass")

    for _ in range(8):
        with suppress(FernnError):
            works[kind](Strange(changed))


def test_an_error_says_which_work_failed_how_often_and_why(data):
    executor = Strange(raising(ZeroDivisionError("one over nothing")))
    with pytest.raises(EngineError) as caught, pytest.warns(EngineWarning, match="left out: 1 restarts of round 0"):
        replace(FERNN, engine=executor).fit(data)
    assert "restarts of round 0 failed on the engine Strange" in str(caught.value)
    assert "failed 3 times: ZeroDivisionError: one over nothing" in str(caught.value)
    with (
        pytest.raises(EngineError, match=r"all 3 repeated fits .* bootstrap of seed \d failed 3 times"),
        suppress_warnings(),
    ):
        list(refit(replace(EXACT, engine=executor), data, [("bootstrap", i) for i in range(3)]))
    with (
        pytest.raises(EngineError, match=r"could not be learned again on the engine Strange: it failed 3 times"),
        suppress_warnings(),
    ):
        permutation_test(replace(EXACT, engine=executor), data, 3)


def test_what_was_found_before_an_engine_broke_down_is_kept(data):
    left = [8]

    def breaks(work):
        left[0] -= 1
        if left[0] < 0:
            raise ConnectionError("the plug was pulled")
        return work()

    with suppress_warnings():
        fit = replace(Fernn(max_length=2, rounds=6, restarts=4, patience=99), engine=Strange(breaks)).fit(data)
        alone = Fernn(max_length=2, rounds=fit.state["rounds"], restarts=4, patience=99).fit(data)
    assert fit.ended == "interrupted"
    assert "the plug was pulled" in fit.notes[0]
    assert 0 < fit.state["rounds"] < 6
    assert fit.front == alone.front
    with suppress_warnings():
        resumed = Fernn(max_length=2, rounds=6, restarts=4, patience=99).fit(data, resume=fit.state)
        assert resumed.front == Fernn(max_length=2, rounds=6, restarts=4, patience=99).fit(data).front


def test_shuffles_that_fail_are_not_taken_for_the_rule_itself(data):
    """The first of what came back was once taken for the fit to the labels as they are."""

    def first_fails(work):
        answer = json.loads(work())
        if answer["found"]["kind"] == "as it is":
            raise ZeroDivisionError
        return json.dumps(answer)

    with pytest.raises(EngineError, match="could not be learned again"), suppress_warnings():
        permutation_test(replace(EXACT, engine=Strange(first_fails)), data, 3)


def test_folds_that_fail_are_left_out_and_the_others_tested_on_their_own_traces(data):
    def first_fails(work):
        answer = json.loads(work())
        if answer["found"]["kind"] == "fold" and answer["found"]["seed"] == 0:
            raise ZeroDivisionError
        return json.dumps(answer)

    with suppress_warnings():
        some = nested_cv(replace(EXACT, engine=Strange(first_fails)), data, 4)
        every = nested_cv(EXACT, data, 4)
    assert (some.wrong, some.cases, some.formulas) == (every.wrong[1:], every.cases[1:], every.formulas[1:])
    assert some.size <= sum(some.cases)


class NoFutures(Executor):
    def submit(self, function, *args):
        return None


class Refusing(Executor):
    def submit(self, function, *args):
        raise TypeError("cannot pickle it")


@pytest.mark.parametrize("executor", [NoFutures(), Refusing()])
def test_an_executor_that_gives_no_future_is_told(executor):
    (answer,) = run_units(resolve_engine(executor), "chores:who", None, [Unit({}, 7)])
    assert answer.problem
    assert answer.tries == 3


def test_what_is_left_out_is_told_by_the_command(tmp_path, monkeypatch, capsys):
    """Warnings of candidates are of no interest while it learns; that work was left out is."""
    import sys

    from fernn.cli import main

    class Failing(Strange):
        def submit(self, function, task, data, settings, seed, asker):
            self._answer = raising(ZeroDivisionError("one over nothing")) if seed == 1 else (lambda work: work())
            return super().submit(function, task, data, settings, seed, asker)

    monkeypatch.chdir(tmp_path)
    write_csv(load("cruise", cases=20), "d.csv")
    monkeypatch.setattr(sys, "argv", ["fernn", "learn", "d.csv", "--max-length", "2", "--restarts", "4", "--no-report"])
    use(Failing(None))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with warnings.catch_warnings():
        try:
            sys.modules[main.__module__]._code()
        finally:
            use(None)
    assert "warning: left out: 2 restarts of round 0" in capsys.readouterr().err
