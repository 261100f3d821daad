"""The comparison on a person's own data."""

from dataclasses import replace

import numpy as np
import pytest

from fernn.data import from_arrays, load
from fernn.errors import DataError, UnsupportedError
from fernn.evaluation.comparison import compare


@pytest.mark.slow
def test_rules_and_baselines_stand_beside_each_other(tmp_path):
    peaks = np.repeat([1.0, 2.0], 20)  # good traces stay below 1.5, bad ones do not
    data = from_arrays(np.outer(peaks, [0.1, -0.3, 1.0, 0.2]), peaks < 1.5, channels=["x"], name="peaks")
    data = replace(data, values=data.values + np.linspace(0, 0.1, 40)[:, None, None])  # no two alike
    steps = []
    done = compare(
        data, tmp_path / "out", ["exact", "tree"], [1, 2], 2, ["majority", "1-NN"], workers=2, watch=steps.append
    )
    assert not done.failed
    assert len(steps) == 2 * (2 * 2 + 2)
    rows = {row[0]: row for row in done.rows()}
    assert list(rows) == ["exact", "tree", "majority", "1-NN"]
    assert rows["exact"][2].startswith("0.000")
    assert rows["majority"][1].startswith("0.5")
    assert rows["majority"][-1] == ""
    page = done.page.read_text()
    assert "Always the same answer errs 0.500" in page
    assert f"`{rows['exact'][-1]}`" in page


@pytest.mark.slow
def test_it_goes_on_where_it_was_and_refuses_other_data(tmp_path, monkeypatch):
    data = load("intervals", cases=20)
    monkeypatch.chdir(tmp_path)
    first = compare(data, "out", ["exact"], [1], 1, [])
    steps = []
    second = compare(data, tmp_path / "out", ["exact"], [1, 2], 1, [], watch=steps.append)
    assert [step.unit.length for step in steps] == [2]
    assert first.page.samefile(second.page)
    tmp_path = tmp_path / "out"
    with pytest.raises(DataError, match="other data"):
        compare(load("intervals", cases=21), tmp_path, ["exact"], [1], 1, [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"methods": ["nearest"]}, "no method 'nearest'"),
        ({"baselines": ["2-NN"]}, "no baseline '2-NN'"),
        ({"lengths": [0]}, "at least 1"),
    ],
)
def test_what_cannot_be_compared_is_said_before_anything_is_written(tmp_path, given, said):
    with pytest.raises(UnsupportedError, match=said):
        compare(load("intervals", cases=20), tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_data_without_two_classes_are_refused(tmp_path):
    with pytest.raises(DataError, match="two classes"):
        compare(load("wander", cases=20), tmp_path)
