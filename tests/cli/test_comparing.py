"""The commands that compare methods."""

import json

import pytest

from fernn.data import load, write_csv


@pytest.fixture
def mine(tmp_path):
    write_csv(load("intervals", cases=20), tmp_path / "mine.csv")
    return "mine.csv"


@pytest.mark.slow
def test_compare_prints_a_table_and_says_where_the_page_is(mine, called, tmp_path):
    words = ["--methods", "exact", "--lengths", "1-2", "--splits", "2", "--baselines", "majority"]
    done = called("compare", mine, *words)
    assert done.code == 0
    head, *rows = done.out.splitlines()
    assert head.split()[:3] == ["method", "length", "1"]
    assert [row.split()[0] for row in rows[:2]] == ["exact", "majority"]
    assert "0.500 ± 0.000" in rows[1]
    page = tmp_path / done.out.split("the page is ")[1].strip()
    assert page.is_file()
    assert "6 of 6" in done.err
    again = called("compare", mine, *words, "--json")
    assert again.err == ""  # all was there
    assert [row["method"] for row in json.loads(again.out)["rows"]] == ["exact", "majority"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "nearest"], "no method 'nearest' to compare; there are"),
        (["--lengths", "two"], "--lengths are numbers such as 2-6"),
        (["--baselines", "2-NN"], "no baseline '2-NN'; there are"),
    ],
)
def test_compare_says_what_it_wanted(mine, called, words, said):
    done = called("compare", mine, *words)
    assert done.code == 3
    assert said in done.err


def test_reproduce_names_the_experiments_there_are(called):
    done = called("reproduce", "bound")
    assert done.code == 3
    assert "there are methods, stopping, quantised" in done.err


@pytest.mark.slow
def test_compare_takes_the_options_of_learning(mine, called):
    words = ["compare", mine, "--lengths", "2", "--splits", "1", "--baselines", "none", "--json"]
    done = called(*words, "--methods", "exact", "--intervals", "--past", "--miss-cost", "2")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["method"] == "exact --past --intervals --miss-cost 2"
    formula = row["formula of the first split"]
    assert formula[0] in "HO"
    assert called(*words, "--methods", "exact").code == 0, "another comparison in the same folder"
    lacking = called(*words, "--methods", "exact,lattice", "--past")
    assert lacking.code == 3
    assert "lattice does not know --past: leave it out of the methods, or the option" in lacking.err


def test_compare_and_learn_have_the_same_options_of_learning():
    from typer.main import get_command

    from fernn.cli.main import app

    learn, compare = ({p.name: (p.opts, p.help) for p in get_command(app).commands[name].params} for name in
                      ("learn", "compare"))  # fmt: skip
    shared = {"past", "no_since", "intervals", "atoms", "class_weight", "miss_cost", "false_alarm_cost"}
    assert {name: learn[name] for name in shared} == {name: compare[name] for name in shared}


def test_a_setting_is_named_as_it_is_typed_and_read_back():
    from fernn.evaluation.trials import find_method, name_with_settings
    from fernn.learners import Enumerative, Fernn

    given = {"direction": "past", "since": False, "intervals": True, "class_weight": "balanced", "miss_cost": 2.5}
    made = find_method(name_with_settings("exact", given | {"atoms": "differences"})).make(3, 1, 5.0)
    assert made == Enumerative(max_length=3, seed=1, time_limit=5.0, atoms="differences", **given)
    assert find_method(name_with_settings("fernn", {"atoms": "linear"})).make(3, 0, 1.0) == Fernn(
        3, time_limit=1.0, atoms="linear"
    )
