"""`fernn.learn` and its `Result`: one way from recordings to a tested rule, for data in any form."""

import inspect
import json
import sys
import traceback

import numpy as np
import pandas as pd
import pytest

import fernn
from fernn.data import Dataset, from_arrays, read, split, write_csv
from fernn.errors import DataError, FernnWarning, RunError, UnsupportedError
from fernn.evaluation.intervals import error_interval
from fernn.learners.base import losses
from fernn.pipeline import Listener, learn_from
from fernn.runs.methods import METHODS
from fernn.semantics import satisfied

QUICK = {"max_length": 2, "restarts": 24}
"""Of a fit that takes little."""


def runs(count=60, seed=0):
    """Good where x once exceeds 2; w says nothing."""
    values = np.random.default_rng(seed).normal(size=(count, 2, 20))
    good = (values[:, 0].max(axis=1) > 2).astype(int)
    return from_arrays(values, np.array(["bad", "ok"])[good], ["x", "w"], good="ok", dt=0.5, time_unit="s", name="runs")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def found():
    return fernn.learn(runs(), keep=False, **QUICK)


def test_the_error_is_that_of_the_printed_rule_on_traces_that_were_not_learned_from(found):
    train, held = split(runs(), 0.2, 0)
    rule = fernn.parse(str(found.formula))
    wrong = satisfied(rule, held) != held.positive
    assert (found.test_error.wrong, found.test_error.cases) == (int(wrong.sum()), len(held))
    assert float(found.test_error) == wrong.mean()
    assert found.test_error.interval == error_interval(losses(rule, held), held)
    assert found.front.picked.train == (satisfied(rule, train) != train.positive).mean()
    assert found.outcome.cases == (len(train), len(held))


def test_a_score_is_of_other_recordings_in_any_form(found, here):
    other = runs(40, 1)
    wanted = float((satisfied(found.formula, other) != other.positive).mean())
    write_csv(other, "other.csv")
    frame = pd.read_csv("other.csv", comment="#")
    labels = np.array(other.classes)[other.labels]
    assert found.score(other).error == wanted
    assert found.score("other.csv", good="ok").error == wanted
    assert found.score(frame, good="ok").error == wanted
    assert found.score(other.values, label=labels, channels=["x", "w"], good="ok").error == wanted


def test_all_forms_of_data_give_the_same_rule(found, here):
    write_csv(runs(), "runs.csv")
    given = {"good": "ok", "dt": 0.5, "unit": "s", "keep": False, **QUICK}
    labels = np.array(runs().classes)[runs().labels]
    same = [
        fernn.learn("runs.csv", **given),
        fernn.learn(here / "runs.csv", **given),
        fernn.learn(pd.read_csv("runs.csv", comment="#"), **given),
        fernn.learn(runs().values, label=labels, channels=["x", "w"], **given),
    ]
    for each in same:
        assert (each.formula, each.front) == (found.formula, found.front)
        assert each.test_error == found.test_error
    assert not (here / "runs").exists()


def test_what_is_found_is_what_the_command_finds(found, here, capsys, monkeypatch):
    from fernn.cli import main

    write_csv(runs(), "runs.csv")
    words = "fernn learn runs.csv --good ok --dt 0.5 --unit s --max-length 2 --restarts 24 --json --out kept"
    monkeypatch.setattr(sys, "argv", words.split())
    with pytest.raises(SystemExit):
        main()
    told = json.loads(capsys.readouterr().out)
    assert (told["formula"], told["sentence"]) == (str(found.formula), found.sentence)
    assert told["front"][found.front.pick]["test"] == found.test_error.error
    assert fernn.Result.load("kept").test_error == found.test_error


def test_a_result_comes_back_from_its_run_wherever_that_lies(here):
    first = fernn.learn(runs(), **QUICK)
    assert first.run.name == "runs-1"
    assert fernn.learn(runs(), out="second", **QUICK).run.name == "second"
    copied = first.save("elsewhere/kept")
    first.run.rename("moved")
    for folder in (copied, "moved"):
        again = fernn.Result.load(folder)
        assert (again.formula, again.front, again.test_error) == (first.formula, first.front, first.test_error)
        assert again.data == first.data
        assert again.report().is_file()
    with pytest.raises(RunError, match="holds a run already"):
        again.save("second")


def test_a_run_that_is_not_kept_goes_with_its_result(here):
    result = fernn.learn(runs(), keep=False, **QUICK)
    folder = result.run
    assert folder.is_dir()
    path = result.save("kept")
    del result
    assert not folder.exists()
    assert fernn.Result.load(path).report("page.html").stat().st_size > 10_000


def test_a_case_is_explained_by_the_sample_that_decides(found):
    data = runs()
    case = data.cases[int(data.positive.argmax())]
    told = found.explain(case)
    value = data.trace(data.cases.index(case))[data.channels.index(told.witness.channels[0])][told.witness.sample]
    assert told.satisfied == bool(satisfied(found.formula, data)[data.cases.index(case)])
    assert list(told.readings.values()) == [value]
    assert f"{0.5 * told.witness.sample:g} s after the start" in str(told)
    assert found.explain(3).case == data.cases[3]
    with pytest.raises(DataError, match="has no case 'nobody'"):
        found.explain("nobody")


def test_texts_fit_on_a_screen_and_names_are_escaped(found):
    assert str(found.formula) in repr(found)
    assert found.sentence in repr(found)
    assert len(repr(found).splitlines()) <= 24
    data = runs()
    hostile = Dataset(data.values, data.labels, data.classes, ("<b>x", "w"), cases=data.cases, name="<i>")
    page = fernn.learn(hostile, keep=False, **QUICK)._repr_html_()
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


def test_more_than_two_classes_have_a_rule_each(here):
    values = np.random.default_rng(0).normal(size=(90, 1, 10))
    values[30:60] += 5
    values[60:] += 10
    labels = np.repeat(["low", "middle", "high"], 30)
    result = fernn.learn(values, label=labels, keep=False, **QUICK)
    assert isinstance(result, fernn.ClassResult)
    assert result.test_error.error < 0.5
    assert set(result.predict(values)) <= {"low", "middle", "high"}
    assert len(result.explain(0)) == len(result.rules.rules)
    assert result.score(values, label=labels).cases == 90
    assert all(name in repr(result) for name in ("low", "middle", "high"))
    assert result.report("page.html").is_file()
    ranked = fernn.learn(values, label=labels, classes="ranked", order=["low", "middle", "high"], keep=False, **QUICK)
    assert ranked.rules.classes == ("low", "middle", "high")


def test_one_class_and_no_labels():
    data = runs()
    result = fernn.learn(data.values, classes="one", keep=False, max_length=2)
    assert isinstance(result, fernn.ClassResult)
    assert result.rules.kind == "one"


def test_without_a_test_no_error_is_claimed(here):
    result = fernn.learn(runs(), test=0, keep=False, **QUICK)
    assert result.test_error is None
    assert "no traces were kept for the test" in repr(result)


def test_ctrl_c_keeps_the_best_and_resume_goes_on(here):
    def stop(progress):
        raise KeyboardInterrupt

    first = fernn.learn(runs(), watch=stop, **QUICK)
    assert first.ended == "interrupted"
    done = fernn.resume(first.run)
    assert done.ended == "done"
    assert done.front == fernn.learn(runs(), keep=False, **QUICK).front
    with pytest.warns(FernnWarning, match="nothing is left to do"):
        assert fernn.resume(first.run).front == done.front


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_lenght": 3}, "did you mean 'max_length'"),
        ({"goood": "ok"}, "did you mean 'good'"),
        ({"method": "magic"}, "--method is one of fernn"),
        ({"test": 1.5}, "from 0 up to 1; found 1.5"),
        ({"classes": "some"}, "each, list or ranked; found 'some'"),
        ({"max_length": "many"}, "is a whole number; found 'many'"),
        ({"keep": False, "out": "there"}, "pass one of them"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_read(here, given, told):
    with pytest.raises(UnsupportedError, match=told):
        fernn.learn("there is no such file.csv", **given)
    assert not list(here.iterdir())


@pytest.mark.parametrize("data", [None, 3, [1, 2, 3], [], np.zeros(4), object()])
def test_what_is_no_data_is_told_what_is(data):
    with pytest.raises(DataError, match="case, channel, time"):
        fernn.learn(data)


def test_a_dataset_is_not_read_again():
    with pytest.raises(UnsupportedError, match="as it is"):
        fernn.learn(runs(), good="ok")


def test_a_run_that_fails_leaves_nothing_behind(here):
    with pytest.raises(DataError, match="are 'ok'"):
        fernn.learn(runs().subset(runs().positive), **QUICK)
    assert not list(here.iterdir())


def test_problems_of_the_data_are_warnings_and_in_the_report(here):
    write_csv(runs(), "runs.csv")
    text = (here / "runs.csv").read_text()
    (here / "runs.csv").write_text(text + text.splitlines()[-1].replace("59,", "60,", 1) + "\n")
    with pytest.warns(FernnWarning):
        result = fernn.learn("runs.csv", good="ok", keep=False, **QUICK)
    assert result.problems
    assert read("runs.csv", good="ok", quiet=True) == result.data


def test_each_thing_is_computed_once(here, monkeypatch):
    """One split, one learner, no file of the run read twice, four frames down to `fit`."""
    from fernn.learners import Fernn
    from fernn.runs import job, run

    plan = sys.modules["fernn.runs.plan"]
    counts = {"split": 0, "settings": 0, "read": 0}
    frames = []

    def counted(name, work):
        def wrapped(*given, **named):
            counts[name] += 1
            return work(*given, **named)

        return wrapped

    fit = Fernn.fit

    def watched(self, *given, **named):
        frames.append([f.name for f in traceback.extract_stack() if "src/fernn/" in f.filename])
        return fit(self, *given, **named)

    monkeypatch.setattr(job, "split", counted("split", job.split))
    monkeypatch.setattr(plan, "settings", counted("settings", plan.settings))
    monkeypatch.setattr(run.Run, "_read", counted("read", run.Run._read))
    monkeypatch.setattr(Fernn, "fit", watched)
    result = learn_from(runs(), {}, QUICK, listener=Listener(), out=here / "run")
    result.report()
    assert result.test_error is not None
    assert counts["split"] == counts["settings"] == 1
    assert counts["read"] <= 2  # the rivals in the report: the front and the state, once each
    assert frames[0] == ["learn_from", "_fit", "run_job", "fit_in_run"]


def test_no_name_is_both_an_option_of_reading_and_a_setting():
    from fernn.data.options import ReadOptions

    assert set(ReadOptions.names()) == set(inspect.signature(fernn.read).parameters) - {"path", "quiet"}
    own = set(inspect.signature(fernn.learn).parameters) - {"data", "options", "label"}
    clashes = {name for method in METHODS.values() for name in method.defaults} & {*ReadOptions.names(), *own}
    assert clashes == {"steps"}  # of the lattice: given in `settings`
    result = fernn.learn(runs(), method="lattice", settings={"steps": 5, "max_parts": 2}, keep=False)
    assert result.outcome.job.settings["learner"]["steps"] == 5
