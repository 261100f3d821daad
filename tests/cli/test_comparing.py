"""The commands that compare methods."""

import json

import pytest

from fernn.data import load, write_csv


@pytest.fixture
def mine(tmp_path):
    write_csv(load("intervals", cases=20), tmp_path / "mine.csv")
    return "mine.csv"


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
