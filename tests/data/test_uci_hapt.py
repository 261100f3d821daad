"""The HAPT archive of UCI, as small as it can be."""

import numpy as np
import pytest

from fernn.data import load, split, uci_hapt, uci_hapt_raw
from fernn.errors import DataError

# The windows of each part: subject, activity (5 is STANDING, 1 WALKING, 7 a transition), how many.
TRAIN = [(1, 5, 4), (1, 7, 2), (1, 1, 5), (2, 1, 3), (2, 5, 1)]
TEST = [(3, 5, 2), (3, 1, 2)]
FEATURES = ["tBodyAcc-Mean-1   ", "tBodyAcc-STD-1  ", "bands-1,8", "bands-1,8", "angle(tBodyAcc, gravity)"]
ACTIVITIES = (
    "1 WALKING           \n2 WALKING_UPSTAIRS\n3 WALKING_DOWNSTAIRS\n4 SITTING\n5 STANDING\n6 LAYING\n7 STAND_TO_SIT\n"
)


@pytest.fixture
def folder(tmp_path):
    """Feature k (from 1) of the window on line n of a part is n / 100 + k / 1000."""
    (tmp_path / "features.txt").write_text("\n".join(FEATURES) + "\n")
    (tmp_path / "activity_labels.txt").write_text(ACTIVITIES)
    for part, rows in (("Train", TRAIN), ("Test", TEST)):
        lines = [(subject, activity) for subject, activity, n in rows for _ in range(n)]
        inner = tmp_path / part
        inner.mkdir()
        cells = [" ".join(f"{n / 100 + k / 1000:.3f}" for k in range(1, 6)) for n in range(1, len(lines) + 1)]
        (inner / f"X_{part.lower()}.txt").write_text("\n".join(cells) + "\n")
        (inner / f"y_{part.lower()}.txt").write_text("".join(f"{a}\n" for _, a in lines))
        (inner / f"subject_id_{part.lower()}.txt").write_text("".join(f"{s}\n" for s, _ in lines))
    raw = tmp_path / "RawData"
    raw.mkdir()
    (raw / "labels.txt").write_text("1 1 5 3 8\n1 1 7 9 12\n1 1 1 13 20\n2 4 1 1 4\n")
    for experiment, user, n in ((1, 1, 20), (2, 4, 5)):
        for sensor, sign in (("acc", 1), ("gyro", -1)):
            rows = [f"{sign * i} {sign * (i + 0.25)} {sign * (i + 0.5)}" for i in range(1, n + 1)]
            (raw / f"{sensor}_exp0{experiment}_user0{user}.txt").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_runs_are_of_one_subject_and_one_activity(folder):
    data = uci_hapt(folder, samples=2)
    assert data.cases == ("train-1", "train-3", "train-7", "train-9", "train-12", "test-1", "test-3")
    assert data.groups == ("subject-1",) * 4 + ("subject-2",) + ("subject-3",) * 2
    assert data.positive.tolist() == [False, False, True, True, True, False, True]
    assert data.values[2].tolist() == [[0.072, 0.082]]
    assert (data.channels, data.classes, data.dt, data.time_unit) == (("x",), ("bad", "good"), 1.28, "s")
    train, test = split(data, test=0.4, seed=1)
    assert not set(train.groups) & set(test.groups)


def test_features_are_found_whatever_their_capitals_and_blanks(folder):
    data = uci_hapt(folder, ["tbodyacc-std-1", "Angle(tBodyAcc,gravity)", 4], samples=4, parts="Train")
    assert data.channels == ("tBodyAcc-STD-1", "angle(tBodyAcc, gravity)", "bands-1,8 4")
    assert np.allclose(data.values[0][:, 0], [0.012, 0.015, 0.014])


def test_a_column_may_be_a_number_of_numpy(folder):
    assert uci_hapt(folder, np.int64(2), samples=2) == uci_hapt(folder, [np.int64(2)], samples=2)
    assert uci_hapt(folder, np.int64(2), samples=2) == uci_hapt(folder, 2, samples=2)


def test_activities_can_be_chosen(folder):
    data = uci_hapt(folder, samples=1, good="walking", bad=["Stand_to_Sit "], parts=["train"])
    assert data.positive.tolist() == [False] * 2 + [True] * 8


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"features": "tBodyAc-STD-1"}, r"no feature .*did you mean 'tBodyAcc-STD-1'"),
        ({"features": "bands-1,8"}, r"names columns 3, 4"),
        ({"features": 6}, r"columns 1 to 5"),
        ({"good": "WALKIN"}, r"no activity .*did you mean 'WALKING'"),
        ({"good": "SITTING"}, r"'SITTING' cannot be both"),
        ({"good": []}, r"good needs at least one"),
        ({"parts": "Validate"}, r"parts are 'Train' and 'Test'"),
        ({"samples": 6}, r"lasts 6 windows"),
        ({"samples": 0}, r"samples >= 1"),
        ({"samples": 2.5}, r"samples >= 1, a whole number; got 2.5"),
        ({"features": [True]}, r"a column of features >= 1, a whole number; got True"),
        ({"features": 1.0}, r"a whole number; got 1.0"),
        ({"features": 0}, r"a column of features >= 1"),
        ({"features": []}, r"features needs at least one"),
    ],
)
def test_what_cannot_be_asked_is_said(folder, options, told):
    with pytest.raises(DataError, match=told):
        uci_hapt(folder, **options)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("Train/X_train.txt", None, r"no file Train/X_train.txt"),
        ("features.txt", None, r"features.txt"),
        ("Train/y_train.txt", "5\n", r"15 windows in X_train.txt, 1 in y_train.txt and 15 in subject_id_train.txt"),
        ("Train/y_train.txt", "5\n" * 14 + "13\n", r"y_train.txt line 15: activity 13"),
        ("Train/X_train.txt", "1 2 3 4 5\n1 2 3 4\n", r"X_train.txt line 2: 4 numbers, expected 5"),
        ("Train/X_train.txt", "1 2 3 4 5\n1 2 x 4 5\n", r"X_train.txt line 2: 'x' is not a number"),
        ("Train/X_train.txt", "1 2\n", r"2 numbers, expected 5"),
        ("Train/subject_id_train.txt", "1.5\n", r"line 1: 1.5 is not a whole number"),
        ("activity_labels.txt", "WALKING\n", r"expected a number and a name, found 'WALKING'"),
        ("activity_labels.txt", "\n", r"activity_labels.txt: the file is empty"),
        ("features.txt", "", r"features.txt: the file is empty"),
        ("Train/X_train.txt", "", r"Train/X_train.txt: the file is empty"),
        ("Train/X_train.txt", "\n \n", r"Train/X_train.txt: the file is empty"),
        ("Train/subject_id_train.txt", "1\ninf\n", r"subject_id_train.txt line 2: inf is not a whole number"),
        ("Train/subject_id_train.txt", "1e300\n", r"line 1: 1e\+300 is not a whole number"),
        ("Train/subject_id_train.txt", "\n1\n\n1.5\n", r"subject_id_train.txt line 4: 1.5 is not"),
        ("Train/y_train.txt", "\n" + "5\n" * 7 + " \n" + "5\n" * 7 + "13\n", r"y_train.txt line 17: activity 13"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_damaged_archive_is_told_with_its_place(folder, file, content, told):
    path = folder / file
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(DataError, match=told):
        uci_hapt(folder)


def test_raw_stretches_are_cut_where_the_labels_say(folder):
    data = uci_hapt_raw(folder, samples=4)
    assert data.cases == ("exp01-3", "exp01-13", "exp01-17", "exp02-1")
    assert data.values[0].tolist() == [[3, 4, 5, 6], [3.25, 4.25, 5.25, 6.25], [3.5, 4.5, 5.5, 6.5]]
    assert data.positive.tolist() == [False, True, True, True]
    assert data.groups == ("subject-1",) * 3 + ("subject-4",)
    assert (data.channels, data.dt) == (("acc_x", "acc_y", "acc_z"), 0.02)


def test_raw_windows_may_overlap_and_hold_both_sensors(folder):
    data = uci_hapt_raw(folder, ["acc", "gyro"], samples=4, stride=2)
    assert data.cases[:3] == ("exp01-3", "exp01-5", "exp01-13")
    assert data.channels[3:] == ("gyro_x", "gyro_y", "gyro_z")
    assert np.array_equal(data.values[:, 3:], -data.values[:, :3])


def test_raw_files_that_do_not_fit_are_told(folder):
    with pytest.raises(DataError, match="sensors are 'acc' and 'gyro'"):
        uci_hapt_raw(folder, "mag")
    for wrong, told in (
        ({"sensors": ()}, "'acc' or 'gyro' or both"),
        ({"samples": 2.5}, "2.5"),
        ({"stride": 0}, "got 0"),
    ):
        with pytest.raises(DataError, match=told):
            uci_hapt_raw(folder, **wrong)
    with pytest.raises(DataError, match="lasts 100 samples"):
        uci_hapt_raw(folder)
    (folder / "RawData" / "gyro_exp02_user04.txt").write_text("1 2 3\n")
    with pytest.raises(DataError, match=r"5 in acc_exp02_user04.txt and 1 in gyro_exp02_user04.txt"):
        uci_hapt_raw(folder, ("acc", "gyro"), samples=4)
    (folder / "RawData" / "labels.txt").write_text("\n1 1 5 3 21\n")
    with pytest.raises(DataError, match=r"labels.txt line 2: samples 3 to 21, .* has samples 1 to 20"):
        uci_hapt_raw(folder, samples=4)
    (folder / "RawData" / "acc_exp01_user01.txt").unlink()
    with pytest.raises(DataError, match=r"no file RawData/acc_exp01_user01.txt"):
        load("uci_hapt_raw", folder=folder)


def test_a_source_that_reads_files_says_that_it_needs_them():
    with pytest.raises(DataError, match=r"uci_hapt reads files of yours and needs 'folder'"):
        load("uci_hapt")
