"""Which engine is meant."""

from dataclasses import fields

import pytest

from fernn.engines import Local, resolve_engine, use
from fernn.engines.resolve import check_engine
from fernn.errors import FernnError, UnsupportedError
from fernn.learners import Enumerative, Fernn, Tree
from fernn.learners.learner_registry import learner_from_dict, learner_to_dict
from fernn.runs.methods import METHODS, settings


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("FERNN_ENGINE", raising=False)
    monkeypatch.delenv("FERNN_SETTINGS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "fernn").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    use(None)
    yield
    use(None)


def test_work_is_done_here_unless_something_else_is_said():
    assert isinstance(resolve_engine(), Local)


def test_an_argument_goes_before_the_program_before_the_environment_before_the_file(monkeypatch, tmp_path):
    (tmp_path / "fernn.toml").write_text('engine = "processes:1"\n')
    assert resolve_engine().workers == 1
    (tmp_path / "config" / "fernn" / "fernn.toml").write_text('engine = "processes:5"\n')
    assert resolve_engine().workers == 5
    monkeypatch.setenv("FERNN_ENGINE", "processes:4")
    assert resolve_engine().workers == 4
    use("processes:3")
    assert resolve_engine().workers == 3
    assert resolve_engine("processes:2").workers == 2


def test_an_engine_of_a_name_is_begun_once():
    assert resolve_engine("processes:6") is resolve_engine("processes:6")


@pytest.mark.parametrize("name", ["spark", "ray2", "processes:0", "processes:two", "local:2", "http://host", "", 3, []])
def test_what_is_no_engine_is_refused_before_anything_is_begun(name):
    with pytest.raises(UnsupportedError, match=r"found"):
        check_engine(name)


@pytest.mark.parametrize("name", ["local", "processes:9", "ray", "ray://h:10001", "ray:h:6379", "dask", "tcp://h:8786"])
def test_names_and_addresses_are_understood(name):
    check_engine(name)


def test_a_settings_file_that_is_missing_or_broken_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("FERNN_SETTINGS", str(tmp_path / "none.toml"))
    with pytest.raises(FernnError, match="not there"):
        resolve_engine()
    (tmp_path / "bad.toml").write_text("engine = ")
    monkeypatch.setenv("FERNN_SETTINGS", str(tmp_path / "bad.toml"))
    with pytest.raises(FernnError, match=r"bad\.toml cannot be read as TOML"):
        resolve_engine()


def test_where_is_no_part_of_what():
    assert Fernn(engine="ray") == Fernn()
    assert repr(Tree(engine="dask")) == repr(Tree())
    for name in METHODS:
        assert "engine" not in settings(name, {})


@pytest.mark.parametrize("name", METHODS)
def test_a_learner_is_made_again_from_its_recipe(name):
    learner = METHODS[name].kind()
    again = learner_from_dict(learner_to_dict(learner))
    assert again == learner
    assert {each.name for each in fields(again)} == {each.name for each in fields(learner)}


def test_formulas_travel_as_text():
    from fernn.formula import parse

    learner = Fernn(template=parse("G (?p)"), guesses=(parse("G (v <= 3)"),), engine="processes")
    assert learner_from_dict(learner_to_dict(learner)) == learner


def test_learners_of_others_cannot_be_sent():
    class Own(Enumerative):
        pass

    with pytest.raises(UnsupportedError, match="looked up by name"):
        learner_to_dict(Own())


@pytest.mark.parametrize(
    "wrong", ["dask:2x", "ray:0", "ray:abc", "dask:0", "tcp://", "tcp://host", "ray://:1", "dask:host:80a"]
)
def test_what_is_neither_a_number_nor_an_address_is_refused_at_once(wrong):
    with pytest.raises(UnsupportedError, match=r"at least one|a host and a port"):
        use(wrong)


@pytest.mark.parametrize(
    "right", ["ray:2", "ray:auto", "ray:head:6379", "dask:head:8786", "tcp://[::1]:8786", "tls://a.b:1"]
)
def test_numbers_of_workers_and_addresses_are_taken(right):
    try:
        use(right)
    finally:
        use(None)


def test_a_word_that_is_no_setting_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FERNN_ENGINE", raising=False)
    (tmp_path / "fernn.toml").write_text('engin = "processes:2"\n')
    with pytest.raises(FernnError, match="'engin', which is no setting; there are engine and slurm"):
        resolve_engine()


def test_nobody_at_an_address_is_told_without_waiting():
    pytest.importorskip("distributed")
    with pytest.raises(UnsupportedError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        resolve_engine("tcp://127.0.0.1:1")
