"""Heart rates from PhysioNet records that wfdb has written here."""

import builtins

import numpy as np
import pytest

from fernn.data import physionet, split
from fernn.data.datasets.public.physionet import _fragments
from fernn.errors import DataError

RATE = 100  # samples a second


@pytest.fixture
def record(tmp_path, monkeypatch):
    """`record("r1", beats, [(0, "(N")])` writes a header, a signal and annotations; times are in seconds."""
    wfdb = pytest.importorskip("wfdb", reason="wfdb is not installed")
    monkeypatch.chdir(tmp_path)

    def write(name, beats, rhythms=(), extension="atr", symbols=None, notes=()):
        length = round(RATE * (max(beats) + 1))
        wfdb.wrsamp(name, RATE, ["mV"], ["ECG"], p_signal=np.zeros((length, 1)), fmt=["16"])
        symbols = symbols or ["N"] * len(beats)
        marks = [(round(RATE * t), 1, s, "") for t, s in zip(beats, symbols, strict=True)]
        marks += [(round(RATE * t), 0, "+", note) for t, note in rhythms]
        marks += [(round(RATE * t), 0, symbol, note) for t, symbol, note in notes]
        marks.sort()
        samples = np.array([m[0] for m in marks])
        wfdb.wrann(name, extension, samples, [m[2] for m in marks], aux_note=[m[3] for m in marks])
        return tmp_path / name

    return write


def steady(seconds, rr, start=0.0):
    return [round(start + i * rr, 2) for i in range(int((seconds - start) / rr) + 1)]


def test_the_heart_rate_at_a_second_is_that_of_the_interval_around_it(record):
    beats = [0.5, 1.3, 2.3, 2.8, 3.3, 4.8, 6.0]  # intervals 0.8, 1.0, 0.5, 0.5, 1.5, 1.2
    data = physionet(record("r1", beats), labels=[True], samples=5)
    expected = [60 / 0.8, 60 / 1.0, 60 / 0.5, 60 / 1.5, 60 / 1.2]  # at 1, 2, 3, 4 and 5 seconds
    assert np.allclose(data.values[0, 0], expected)
    assert np.allclose(data.values[0, 1], [0, -15, 60, -80, 10])
    assert (data.channels, data.dt, data.time_unit, data.cases) == (("hr", "hr_diff"), 1.0, "s", ("r1-1",))


def test_rhythms_label_the_fragments_that_lie_within_them(record):
    path = record("r1", steady(61, 0.5), [(0, "(N"), (25, "(AFIB"), (45, "(AFL"), (52, "(N")])
    data = physionet(path)
    assert dict(zip(data.cases, data.positive, strict=True)) == {"r1-0": True, "r1-10": True, "r1-30": False}
    assert data.classes == ("AFIB", "N")
    both = physionet(path, bad=["AFIB", "(AFL"])
    assert (both.cases, both.positive.tolist()) == (("r1-0", "r1-10", "r1-30", "r1-40"), [True, True, False, False])
    assert both.classes == ("AFIB/AFL", "N")
    assert (data.values[:, 0] == 120).all()


def test_before_the_first_rhythm_nothing_is_labelled(record):
    data = physionet(record("r1", steady(50, 0.5), [(12, "(N"), (40, "(AFIB")]))
    assert data.cases == ("r1-20", "r1-30", "r1-40")


def test_a_rhythm_that_begins_with_the_last_beat_is_none_of_the_fragment(record):
    beats, then = steady(41, 0.5), (30, "(N")
    assert physionet(record("r1", beats, [(0, "(N"), (9.5, "(AFIB"), then])).cases == (
        "r1-0",
        "r1-10",
        "r1-20",
        "r1-30",
    )
    assert physionet(record("r2", beats, [(0, "(N"), (9.4, "(AFIB"), then])).cases == ("r2-10", "r2-20", "r2-30")


def test_beats_and_rhythms_may_be_in_different_files(record):
    record("r1", steady(31, 0.6), extension="qrs")
    path = record("r1", [0.0], [(0, "(AFIB"), (19.8, "(N")], symbols=["~"])
    data = physionet(path, beats="qrs")
    assert data.positive.tolist() == [False, False, True]
    assert np.allclose(data.values[:, 0], 100)
    with pytest.raises(DataError, match=r"r1.atr has 0 beats.*beats='qrs'"):
        physionet(path)


def test_what_is_no_beat_is_not_counted(record):
    path = record("r1", [0.0, 0.4, 1.0, 2.0, 3.0], symbols=["N", "~", "V", "N", "N"])
    assert physionet(path, labels=[True], samples=3).values[0, 0].tolist() == [60, 60, 60]


def test_records_can_be_given_their_labels(record, tmp_path):
    paths = [record("r1", steady(21, 0.5)), record("r2", steady(12, 0.75))]
    data = physionet(paths, labels=[True, False])
    assert (data.classes, data.groups) == (("bad", "good"), ("r1", "r1", "r2"))
    assert data.positive.tolist() == [True, True, False]
    assert physionet(tmp_path, labels={"r2": False, "r1": True}) == data
    with pytest.raises(DataError, match="2 records need 2 labels, got 1"):
        physionet(paths, labels=[True])
    with pytest.raises(DataError, match="record 'r2' needs a label"):
        physionet(paths, labels={"r1": True})


def test_fragments_where_beats_are_missing_are_left_out(record):
    beats = [t for t in steady(31, 0.5) if not 12 < t < 16]
    path = record("r1", beats)
    assert physionet(path, labels=[True]).cases == ("r1-0", "r1-20")
    assert physionet(path, labels=[True], longest=5).cases == ("r1-0", "r1-10", "r1-20")


def test_fragments_where_a_beat_is_marked_twice_are_left_out(record):
    path = record("r1", sorted([*steady(31, 0.5), 12.1]))
    assert physionet(path, labels=[True]).cases == ("r1-0", "r1-20")
    assert physionet(path, labels=[True], shortest=0.05).cases == ("r1-0", "r1-10", "r1-20")
    for wrong in ({"shortest": -1}, {"shortest": 3}, {"longest": np.nan}):
        with pytest.raises(DataError, match="0 <= shortest < longest"):
            physionet(path, labels=[True], **wrong)
    with pytest.raises(DataError, match=r"samples >= 1, a whole number; got 2.5"):
        physionet(path, labels=[True], samples=2.5)


def test_only_a_change_of_rhythm_tells_a_rhythm(record):
    notes = [(12, "s", "(ST0+"), (14, '"', "(AFIB"), (16, "T", "(AFIB")]
    data = physionet(record("r1", steady(41, 0.5), [(0, "(N"), (30, "(AFIB")], notes=notes))
    assert data.cases == ("r1-0", "r1-10", "r1-20", "r1-30")
    assert data.positive.tolist() == [True, True, True, False]


def test_records_of_one_person_can_be_one_group(record):
    paths = [record(name, steady(21, rr)) for name, rr in (("200", 0.5), ("201", 0.6), ("202", 0.75))]
    data = physionet(paths, labels=[True, True, False], groups={"201": "a", "202": "a"})
    assert data.groups == ("200", "200", "a", "a", "a", "a")
    train, test = split(data, test=0.4)
    assert not set(train.groups) & set(test.groups)
    with pytest.raises(DataError, match=r"groups names a record '203' \(did you mean"):
        physionet(paths, labels=[True, True, False], groups={"203": "a"})
    with pytest.raises(DataError, match="groups gives persons to names"):
        physionet(paths, labels=[True, True, False], groups=["a", "a", "b"])


def test_a_class_without_a_fragment_lists_the_rhythms_there_are(record):
    path = record("r1", steady(41, 0.5), [(0, "(N"), (20, "(AFIB")])
    assert len(physionet(path)) == 4
    told = r"is bad, in 'AFIBB' \(did you mean 'AFIB'\?\); the rhythms there are 'AFIB', 'N'"
    with pytest.raises(DataError, match=told):
        physionet(path, bad="AFIBB")
    with pytest.raises(DataError, match="is good, in 'SBR'"):
        physionet(path, good="SBR")
    with pytest.raises(DataError, match=r"labels names a record 'r2' that is not read; there are 'r1'"):
        physionet(path, labels={"r1": True, "r2": False})


def test_every_second_between_the_beats_is_used_once():
    rng = np.random.default_rng(0)
    beats = np.cumsum(rng.uniform(0.3, 1.5, 200))
    for first, hr, (begin, end) in _fragments(beats, 1, 0.0, 9.0):
        last = max(t for t in beats if t <= first)
        following = min(t for t in beats if t > first)
        assert (begin, end) == (last, following)
        assert hr[0] == pytest.approx(60 / (following - last))
    seconds = [first for first, *_ in _fragments(beats, 1, 0.0, 9.0)]
    assert seconds == [t for t in range(400) if beats[0] <= t < beats[-1]]


def test_what_is_missing_or_damaged_is_told(record, tmp_path):
    path = record("r1", steady(21, 0.5))
    with pytest.raises(DataError, match=r"no annotation file .*r1.qrs', with that name there are: atr, dat, hea"):
        physionet(path, beats="qrs")
    with pytest.raises(DataError, match=r"nor any other file"):
        physionet(tmp_path / "r9")
    with pytest.raises(DataError, match=r"r1.atr tells no rhythm.*labels="):
        physionet(path)
    record("r2", steady(21, 0.5), [(0, "(VT")])
    with pytest.raises(DataError, match=r"no fragment of 10 seconds is bad, in 'AFIB'; the rhythms there are 'VT'"):
        physionet("r2")
    with pytest.raises(DataError, match="rhythms of their own"):
        physionet("r2", good="VT", bad="VT")
    with pytest.raises(DataError, match="names of their own"):
        physionet([path, path])
    (tmp_path / "r2.atr").write_bytes(b"")
    with pytest.raises(DataError, match=r"r2.atr (is not a readable annotation file|has 0 beats)"):
        physionet("r2")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no headers"):
        physionet(tmp_path / "empty")


def test_without_wfdb_the_error_says_how_to_get_it(monkeypatch):
    there = builtins.__import__

    def importing(name, *rest):
        if name == "wfdb":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(DataError, match=r"pip install 'fernn\[wfdb\]'"):
        physionet("r1")
