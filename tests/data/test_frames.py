"""Data frames are runs with a column a channel, whichever library they come from; no row of them is ever a trace."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fernn
from fernn import DataError, FernnWarning, SignalError
from fernn.data import Dataset, data_card, from_arrays, from_frame, read, split

ROWS = {"t": [0.0, 1.0, 2.0, 3.0], "pressure": [1.0, 4.0, 2.0, 3.0], "flow": [7, 5, 6, 8], "note": list("abcd")}
LONG = {
    "run": ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"] * 3,
    "t": [0.0, 0.5, 1.0] * 4,
    "pressure": [1.0, 2, 3, 9, 8, 7, 1, 1, 1, 8, 8, 8],
    "label": ["good"] * 3 + ["bad"] * 3 + ["good"] * 3 + ["bad"] * 3,
}


class Stand:
    """What a frame can do at least, for where no library of frames is installed."""

    def __init__(self, columns):
        self._columns = {name: Column(name, cells) for name, cells in columns.items()}
        self.columns = list(columns)

    def __dataframe__(self):
        raise NotImplementedError

    def __getitem__(self, name):
        return (
            Stand({each: self._columns[each].cells for each in name}) if isinstance(name, list) else self._columns[name]
        )


class Column:
    def __init__(self, name, cells):
        self.name, self.cells = name, list(cells)

    def __len__(self):
        return len(self.cells)

    def __iter__(self):
        return iter(self.cells)

    def to_numpy(self):
        return np.array(self.cells)


def pandas_frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def polars_frame(rows):
    return pytest.importorskip("polars").DataFrame(rows)


@pytest.fixture(params=[pandas_frame, polars_frame, Stand], ids=["pandas", "polars", "stand-in"])
def make(request):
    return request.param


def test_a_frame_is_one_run_and_its_columns_are_channels(make):
    frame = make(ROWS)
    run = np.array([[ROWS["pressure"], ROWS["flow"]]], dtype=float)
    for text in ("G (pressure >= 1)", "F (flow - pressure >= 3)", "G (flow >= 5 & pressure <= 4)"):
        names = ["pressure", "flow"]
        assert_array_equal(fernn.robustness(text, frame), fernn.robustness(text, run, names))
        assert_array_equal(fernn.satisfied(text, frame), fernn.satisfied(text, run, names))
        assert_array_equal(fernn.robustness(text, frame, at="all"), fernn.robustness(text, run, names, at="all"))
        assert fernn.deciding(text, frame) == fernn.deciding(text, run, names)
        assert_array_equal(fernn.robustness(text, [frame, frame]), fernn.robustness(text, run, names).repeat(2))
    assert_array_equal(fernn.robustness("G (pressure >= 1)", frame["pressure"]), [0.0])


def test_columns_that_are_missing_or_hold_words_are_named(make):
    frame = make(ROWS)
    with pytest.raises(SignalError, match=r"no column 'presure' \(did you mean 'pressure'\?\); the columns are 't'"):
        fernn.robustness("G (presure >= 1)", frame)
    with pytest.raises(SignalError, match=r"column 'note', row 0: 'a' is not a number"):
        fernn.robustness("G (note >= 1)", frame)
    with pytest.raises(SignalError, match=r"no column 'flow'; there is one column, 'pressure'"):
        fernn.robustness("G (flow >= 1)", frame["pressure"])


def test_several_runs_in_one_frame_are_not_judged_as_one(make):
    with pytest.raises(SignalError, match=r"'run' of the frame names 4 runs.*from_frame\(frame, case='run'\)"):
        fernn.robustness("G (pressure >= 1)", make(LONG))
    unnamed = {name: cells for name, cells in LONG.items() if name != "run"}
    with pytest.raises(SignalError, match=r"column 't': the time does not rise from row 2 to row 3"):
        fernn.robustness("G (pressure >= 1)", make(unnamed))


ESTIMATORS = [
    fernn.FernnClassifier(),
    fernn.EnumerativeClassifier(),
    fernn.LatticeClassifier(),
    fernn.TreeClassifier(),
    fernn.MaxSatClassifier(),
    fernn.FernnRegressor(),
    fernn.OnePerClassClassifier(),
    fernn.RuleListClassifier(),
    fernn.RankedClassifier(),
    fernn.TightestDetector(),
    fernn.RobustnessTransformer(["G (pressure >= 1)"]),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_no_estimator_takes_the_rows_of_a_frame_for_traces(estimator, make):
    with pytest.raises(DataError, match=r"columns 'pressure', 'flow'.*from_frame\(frame, case='run'.*list of frames"):
        estimator.fit(make(ROWS)[["pressure", "flow"]], [0, 1, 0, 1])


LEARNERS = [
    fernn.Fernn(), fernn.Enumerative(), fernn.Lattice(), fernn.MaxSat(), fernn.Tree(), fernn.Tightest(),
    fernn.OnePerClass(), fernn.Ranked(), fernn.Ordered(),
]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_learners_say_how_to_make_a_dataset_of_a_frame(learner, make):
    with pytest.raises(DataError, match=r"a Dataset is wanted.*found .*from_frame\(frame"):
        learner.fit(make(LONG))


def test_what_else_takes_datasets_says_so_too(make):
    for take in (data_card, split, lambda frame: fernn.score("G (pressure >= 1)", frame)):
        with pytest.raises(DataError, match=r"a Dataset is wanted.*from_frame\(frame"):
            take(make(LONG))
    for values in (make(ROWS), [make(ROWS)]):
        with pytest.raises(DataError, match=r"a Dataset holds arrays.*from_frame\(frame"):
            Dataset(values)
    with pytest.raises(DataError, match=r"its rows are samples"):
        from_arrays(make(ROWS))
    with pytest.raises(SignalError, match=r"one sample at a time, and this is a data frame"):
        fernn.Monitor("H (pressure >= 1)").update(make(ROWS))


def test_a_frame_reads_as_the_same_rows_in_a_file(make, tmp_path):
    lines = ["run,t,pressure,label", *(",".join(map(str, row)) for row in zip(*LONG.values(), strict=True))]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    found = from_frame(make(LONG), case="run", time="t", name="runs", quiet=True)
    assert found == read(tmp_path / "runs.csv", quiet=True)
    assert found.classes == ("bad", "good")
    assert found.dt == 0.5
    assert found.cases == ("a", "b", "c", "d")
    with pytest.raises(DataError, match=r"no column 'rum' \(did you mean 'run'\?\)"):
        from_frame(make(LONG), case="rum")
    with pytest.raises(DataError, match=r"frame line 5, column 'pressure', case 'b': the value is missing"):
        from_frame(make(LONG | {"pressure": [1.0, 2, 3, 4, float("nan"), *range(7)]}), nonfinite="error")


def test_estimators_learn_from_a_list_of_frames_and_from_a_dataset(make):
    random = np.random.default_rng(0)
    runs = [{"time": np.arange(9.0), "a": random.random(9), "b": random.random(9) + i % 2} for i in range(12)]
    y = np.arange(12) % 2
    quick = {"max_length": 2, "restarts": 2, "rounds": 1, "random_state": 0}
    arrays = np.array([[run["a"], run["b"]] for run in runs])
    known = fernn.FernnClassifier(**quick, channels=["a", "b"]).fit(arrays, y)
    by_frames = fernn.FernnClassifier(**quick).fit([make(run) for run in runs], y)
    assert by_frames.formula_ == known.formula_
    assert by_frames.channels_ == ("a", "b")
    turned = [make({"b": run["b"], "a": run["a"]}) for run in runs]
    assert_array_equal(by_frames.predict(turned), known.predict(arrays))
    data = from_arrays([make(run) for run in runs], y)
    by_dataset = fernn.FernnClassifier(**quick).fit(data, data.labels)
    assert by_dataset.formula_ == known.formula_
    assert data.channels == ("a", "b")
    assert_array_equal(by_dataset.predict(data), known.predict(arrays))
    with pytest.raises(DataError, match="frame 3 has other columns than frame 0: 'b', 'c' are in one of them only"):
        fernn.FernnClassifier().fit([make({"a": [1.0, 2], "c" if i == 3 else "b": [1.0, 2]}) for i in range(12)], y)


def test_a_panel_of_instances_and_times_is_read_by_its_index():
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_tuples([("b", 1), ("b", 0), ("a", 0), ("a", 1), ("a", 2)], names=["instance", "time"])
    panel = pd.DataFrame({"v": [2.0, 1.0, 5.0, 6.0, 7.0], "w": [0.0] * 5}, index=index)
    assert_array_equal(fernn.robustness("G (v >= 0)", panel), [1.0, 5.0])
    assert fernn.robustness("F (v >= 0)", panel, at="all")[0].tolist() == [2.0, 2.0]
    data = from_frame(panel, quiet=True)
    assert data.cases == ("b", "a")
    assert data.trace("b")[0].tolist() == [1.0, 2.0]
    assert data.dt == 1.0
    assert from_arrays(panel, [0, 1]).cases == ("b", "a")
    with pytest.raises(SignalError, match=r"instance 'b' of the frame has two rows at time 1"):
        fernn.robustness("G (v >= 0)", pd.concat([panel, panel[:1]]))
    nested = pd.DataFrame({"v": [pd.Series([1.0, 2.0]), pd.Series([5.0, 6.0, 7.0])]})
    assert_array_equal(fernn.robustness("G (v >= 0)", nested), [1.0, 5.0])


def test_a_table_of_numbers_stays_a_table():
    pd = pytest.importorskip("pandas")
    table = np.arange(20.0).reshape(2, 10)
    assert_array_equal(fernn.robustness("G (v >= 0)", pd.DataFrame(table)), [0.0, 10.0])
    counted = pd.DataFrame(table, columns=[f"t{i}" for i in range(10)])
    assert_array_equal(fernn.robustness("G (v >= 0)", counted), [0.0, 10.0])
    assert from_arrays(pd.DataFrame(table), [0, 1]).values.shape == (2, 1, 10)
    assert fernn.robustness("G (t0 >= 0)", counted).shape == (1,)  # the formula names a column
    few = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=["s1", "s2", "s3"])
    with pytest.warns(FernnWarning, match="each row is read as a trace of one channel"):
        fernn.FernnClassifier(max_length=2, restarts=1, rounds=1).fit(few, [0, 0, 1, 1])


def test_missing_cells_and_dates_of_a_frame():
    pd = pytest.importorskip("pandas")
    stamps = pd.to_datetime(["2025-03-07T21:36:00+01:00", "2025-03-07T21:36:01+01:00", "2025-03-07T21:36:02+01:00"])
    frame = pd.DataFrame({"time": stamps, "v": pd.array([1.0, None, 3.0], dtype="Float64")})
    assert from_frame(frame, nonfinite="hold", quiet=True).values.tolist() == [[[1.0, 1.0, 3.0]]]
    assert from_frame(frame, nonfinite="hold", quiet=True).dt == 1.0
    assert fernn.robustness("G (v >= 0)", frame, nonfinite="interpolate").tolist() == [1.0]
    with pytest.raises(SignalError, match=r"channel 'v', sample 1: found nan"):
        fernn.robustness("G (v >= 0)", frame)


def test_labelled_axes_with_the_time_in_the_middle_are_refused():
    class Labelled:
        dims = ("case", "time", "channel")

        def transpose(self, *axes):
            raise NotImplementedError

        def __array__(self, dtype=None, copy=None):
            return np.zeros((2, 3, 3))

    with pytest.raises(SignalError, match=r"time is wanted last. Pass X.transpose\('case', 'channel', 'time'\)"):
        fernn.robustness("G (v >= 0)", Labelled(), ["u", "v", "w"])
