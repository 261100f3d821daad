"""Series by name: those that come with aeon and sktime, or lie in a folder."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from fernn.data import is_named, load, series
from fernn.errors import DataError, FernnWarning, UnsupportedError

HEAD = "@univariate true\n@classLabel true a b c\n@data\n"


@pytest.fixture
def walks(tmp_path):
    folder = tmp_path / "Walks"
    folder.mkdir()
    (folder / "Walks_TRAIN.ts").write_text(HEAD + "1,2:a\n3,4:b\n")
    (folder / "Walks_TEST.ts").write_text(HEAD + "5,6,7:c\n")
    return folder


@pytest.fixture
def installed(monkeypatch, tmp_path, walks):
    """A package called aeon that brings the walks along, and cannot be imported."""
    package = tmp_path / "site" / "aeon"
    data = package / "datasets" / "data"
    data.mkdir(parents=True)
    walks.rename(data / "Walks")
    (package / "__init__.py").write_text("raise RuntimeError('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path / "site")


def test_cases_are_named_by_part_and_row(walks):
    data = series(walks, quiet=True)
    assert (data.name, data.cases) == ("Walks", ("train-1", "train-2", "test-1"))
    assert [trace.tolist() for trace in data.values] == [[[1, 2]], [[3, 4]], [[5, 6, 7]]]
    assert series(walks, "test", quiet=True).cases == ("test-1",)
    assert series(walks / "Walks_TEST.ts", quiet=True).cases == ("test-1",)


def test_a_class_that_one_part_lacks_is_still_one_of_the_rest(walks):
    assert series(walks, "train", good="a").classes == ("not a", "a")
    assert series(walks, "both", good="a", quiet=True).positive.tolist() == [True, False, False]


def test_a_part_without_the_good_class_has_it_all_the_same(walks):
    data = series(walks, "test", good="a", quiet=True)
    assert (data.classes, data.positive.tolist()) == (("not a", "a"), [False])
    assert series(walks, "test", quiet=True).classes == ("a", "b", "c")


def test_parts_must_agree_about_their_labels(walks):
    test = walks / "Walks_TEST.ts"
    test.write_text("@univariate true\n@classLabel false\n@data\n5,6\n")
    with pytest.raises(DataError, match=r"classes in Walks_TRAIN.ts and no labels in Walks_TEST.ts"):
        series(walks)
    test.write_text("@univariate true\n@targetLabel true\n@data\n5,6:0.5\n")
    with pytest.raises(DataError, match=r"classes in Walks_TRAIN.ts and real-valued labels in Walks_TEST.ts"):
        series(walks)


def test_warnings_are_given_as_read_gives_them(walks):
    with pytest.warns(FernnWarning, match=r"Walks, case 'test-1': traces have 2 to 3 samples") as told:
        series(walks)
    assert len(told) == 1
    (walks / "Walks_TRAIN.ts").write_text(HEAD + "1,?:a\n3,4:b\n")
    with pytest.warns(FernnWarning, match=r"Walks_TRAIN.ts line 4, column 'x', case 'train-1': sample 1 is missing"):
        series(walks, nonfinite="hold")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        series(walks, nonfinite="hold", quiet=True)


@pytest.mark.usefixtures("installed")
def test_a_bare_name_is_found_in_a_package_that_is_never_imported():
    assert len(series("Walks", quiet=True)) == 3
    assert load("Walks", quiet=True) == load("series", name="Walks", quiet=True) == series("Walks", quiet=True)
    assert load("Walks", part="train", good="b").classes == ("not b", "b")
    assert is_named("Walks")
    assert not is_named("walks")
    with pytest.raises(DataError, match=r"no series 'Walk' \(did you mean 'Walks'\?\).*Walks"):
        series("Walk")
    assert "aeon" not in sys.modules


def test_what_is_not_there_is_said_with_what_is(walks, tmp_path):
    with pytest.raises(DataError, match=r"there is no file 'nowhere\.ts'"):
        series("nowhere.ts")
    (walks / "Walks_TEST.ts").unlink()
    with pytest.raises(DataError, match=r"no file 'Walks_TEST.ts'; its series files: 'Walks_TRAIN.ts'"):
        series(walks)
    with pytest.raises(UnsupportedError, match="part is 'train', 'test' or 'both'"):
        series(walks, "all")
    with pytest.raises(UnsupportedError, match="one file"):
        series(walks / "Walks_TRAIN.ts", "train")


def test_errors_name_the_file_and_the_line(walks):
    (walks / "Walks_TEST.ts").write_text(HEAD + "5,6,:c\n")
    with pytest.raises(DataError, match=r"Walks_TEST.ts line 4: channel 0, value 2: '' is not a number"):
        series(walks)
    (walks / "Walks_TEST.ts").write_text("@dimensions 2\n@classLabel true a b c\n@data\n1:2:a\n")
    with pytest.raises(DataError, match=r"1 channel in Walks_TRAIN.ts and 2 channels in Walks_TEST.ts"):
        series(walks)
    (walks / "Walks_TEST.ts").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(DataError, match="gzip"):
        series(walks)
    (walks / "Walks_TEST.ts").write_bytes(HEAD.encode() + b"1:\xff\n")
    with pytest.raises(DataError, match="not utf-8"):
        series(walks)
    with pytest.raises(DataError, match="no case has the label 'z'"):
        series(walks, "train", good="z")


@pytest.mark.parametrize("name", ["ItalyPowerDemand", "BasicMotions", "JapaneseVowels"])
def test_the_series_are_those_that_sktime_reads(name):
    datasets = pytest.importorskip("sktime.datasets", reason="sktime is not installed")
    X, y = datasets.load_UCR_UEA_dataset(name, split="test", return_X_y=True, return_type="nested_univ")
    data = series(name, "test", quiet=True)
    assert [data.classes[i].lower() for i in data.labels] == list(y)  # sktime lowers capitals
    for trace, (_, row) in zip(data.values, X.iterrows(), strict=True):
        assert np.array_equal(trace, np.stack([channel.to_numpy() for channel in row]))


def test_the_commands_take_series_files_and_names(walks):
    fernn = [sys.executable, "-c", "from fernn.cli import main; main()"]
    done = subprocess.run(
        [*fernn, "check", str(walks / "Walks_TRAIN.ts"), "--good", "a", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [c["name"] for c in json.loads(done.stdout)["card"]["classes"]] == ["not a", "a"]
    needed = subprocess.run([*fernn, "check", "series"], capture_output=True, text=True)
    assert needed.returncode == 2
    assert "needs 'name'" in needed.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_the_commands_know_series_by_name(tmp_path):
    path = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})"
    fernn = [sys.executable, "-c", f"{path}; from fernn.cli import main; main()"]
    done = subprocess.run([*fernn, "check", "Walks", "--good", "b"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not b 2, b 1" in done.stdout
    assert "traces have 2 to 3 samples" in done.stdout
    words = ["check", "Walks", "--channels", "v", "--dt", "0.5", "--unit", "s", "--steps", "--json"]
    told = json.loads(subprocess.run([*fernn, *words], capture_output=True, text=True, cwd=tmp_path).stdout)
    assert [c["name"] for c in told["card"]["channels"]] == ["v", "v_diff"]
    assert told["card"]["dt"] == 0.5
    real = subprocess.run([*fernn, "check", "Walks", "--label-kind", "real"], capture_output=True, text=True)
    assert real.returncode == 2
    assert "real-valued labels must be numbers" in real.stdout
    near = subprocess.run([*fernn, "check", "Walk"], capture_output=True, text=True, cwd=tmp_path)
    assert "near it: the data set 'Walks'" in near.stdout
