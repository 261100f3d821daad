"""Counts, shares and names stand where they belong."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from fernn import parse
from fernn.data import Dataset, load
from fernn.errors import DataError, UnsupportedError
from fernn.report import confusion
from fernn.report.plots.style import BAD, GOOD
from fernn.semantics import Score


def cells(figure):
    """`{(row, column): words}`; row 0 is good, column 0 satisfies."""
    found = {}
    for text in figure.axes[0].texts:
        x, y = text.get_position()
        found.setdefault((round(y), round(x)), []).append(text.get_text())
    return found


def names(figure):
    axes = figure.axes[0]
    return [[t.get_text() for t in labels] for labels in (axes.get_yticklabels(), axes.get_xticklabels())]


def test_each_count_stands_in_the_row_of_its_class_and_the_column_of_its_verdict():
    figure = confusion(Score(true_good=8, false_good=1, true_bad=3, false_bad=2), ("sick", "well"))
    assert cells(figure) == {
        (0, 0): ["8", "right: 80% of well"],
        (0, 1): ["2", "wrong: 20% of well"],
        (1, 0): ["1", "wrong: 25% of sick"],
        (1, 1): ["3", "right: 75% of sick"],
    }
    assert names(figure) == [
        ["well\n10 traces", "sick\n4 traces"],
        ["satisfies the rule\n9 traces", "violates the rule\n5 traces"],
    ]
    assert figure.axes[0].get_xlabel() == "3 of 14 traces judged wrongly: 21.4%"


def test_right_is_blue_and_wrong_is_vermilion_as_dense_as_the_share():
    from matplotlib.colors import to_hex

    figure = confusion(Score(8, 1, 3, 2))
    filled = [p for p in figure.axes[0].patches if p.get_alpha() is not None]
    assert [to_hex(p.get_facecolor()) for p in filled] == [c.lower() for c in (GOOD, BAD, BAD, GOOD)]
    alphas = np.array([p.get_alpha() for p in filled])
    np.testing.assert_allclose(alphas / alphas[0], np.array([0.8, 0.2, 0.25, 0.75]) / 0.8)


def test_a_formula_is_counted_on_data():
    data = load("cruise", cases=50)
    highest = data.values[:, 0].max(axis=1)
    figure = confusion("G (v <= 36)", data)
    wrong = int(((highest <= 36) != data.positive).sum())
    assert figure.axes[0].get_xlabel().startswith(f"{wrong} of 100 traces judged wrongly")
    assert cells(figure)[1, 0][0] == str(int(((highest <= 36) & ~data.positive).sum()))
    assert cells(confusion(parse("G (v <= 36)"), data)) == cells(figure)


def test_a_class_without_traces_has_no_shares():
    assert cells(confusion(Score(3, 0, 0, 0)))[1, 0] == ["0", "no traces"]


def test_long_and_odd_names_stay_in_their_place():
    long = "a class with a name of very many letters, $^_$"
    figure = confusion(Score(1, 2, 3, 4), (long, "$^_$"))
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(label.get_window_extent().x0 >= 0 for label in figure.axes[0].get_yticklabels())


def test_what_has_no_two_classes_is_refused():
    with pytest.raises(UnsupportedError, match="needs the data"):
        confusion("G (v <= 36)")
    for classes in (("one",), "xy", ("a", "b", "c")):
        with pytest.raises(UnsupportedError, match=r"two classes, \(bad, good\); got"):
            confusion(Score(1, 1, 1, 1), classes)
    with pytest.raises(UnsupportedError, match="a score of none"):
        confusion(Score(0, 0, 0, 0))
    with pytest.raises(DataError, match="two classes"):
        confusion("F (x >= 0)", Dataset(np.zeros((2, 1, 3))))
