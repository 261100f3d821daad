"""Channels of categories, and values that are missing: as files and frames have them, and as a dataset keeps them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fernn
from fernn.data import (
    Dataset,
    data_card,
    drop_categories,
    from_arrays,
    from_frame,
    inspect,
    read,
    save,
    split,
    write_csv,
)
from fernn.data.streaming import Stream, open_source
from fernn.data.streaming.stratified_sample import sample_stream
from fernn.data.streaming.stream_summary import summarize_stream
from fernn.engines.base import SerializedData, serialize
from fernn.errors import DataError, FernnWarning
from fernn.semantics.stream_evaluation import evaluate_file

RULE = 'G (mode == "LAND" -> missing(v) | v <= 3)'


def flights(cases=8, samples=12, seed=0):
    """A channel of numbers with gaps, one of categories with gaps, one that is missing in all of the first trace."""
    random = np.random.default_rng(seed)
    values = np.stack([random.normal(size=(cases, samples)), random.integers(0, 3, (cases, samples)) * 1.0,
                       random.normal(size=(cases, samples))], axis=1)  # fmt: skip
    missing = random.random(values.shape) < 0.2
    missing[0, 2] = True
    texts = ("HOLD", "LAND", 'a, "b"')
    return Dataset(
        values, random.integers(0, 2, cases), ("bad", "good"), ("v", "mode", "w"), 0.5, "s", name="flights",
        categories={"mode": texts}, missing=missing,
    )  # fmt: skip


def as_columns(data):
    """A row a sample, None where a value is missing."""
    rows = {name: [] for name in ("case", "time", *data.channels, "label")}
    for i, (trace, mask) in enumerate(zip(data.values, data.missing, strict=True)):
        for t in range(trace.shape[1]):
            rows["case"].append(data.cases[i])
            rows["time"].append(t * data.dt)
            rows["label"].append(data.classes[data.labels[i]])
            for k, name in enumerate(data.channels):
                value = data.categories[name][int(trace[k, t])] if name in data.categories else float(trace[k, t])
                rows[name].append(None if mask[k, t] else value)
    return rows


def test_old_data_keep_their_fingerprints():
    data = from_arrays(np.arange(12.0).reshape(2, 2, 3), [0, 1], ["x", "y"], dt=0.5, time_unit="s")
    assert data.fingerprint == "f65549384ebc2c73d378539f82356fb34be75b123ff8ccbeed5a51f50d1f4bab"
    ragged = from_arrays([np.ones((1, 2)), np.zeros((1, 3))], [0.5, 1.5])
    assert ragged.fingerprint == "8c097956574d6a0bfd3bd26f6bcaed24e46c02fcae70176bbcf8e3682a0b8ed9"
    none = np.zeros((2, 2, 3), bool)
    assert replace(data, missing=none) == data
    some = none.copy()
    some[0, 0, 1] = True
    texts = {"x": tuple("abcdefghij")}
    assert (
        len({data.fingerprint, replace(data, missing=some).fingerprint, replace(data, categories=texts).fingerprint})
        == 3
    )


def test_values_that_are_missing_are_held_whatever_stands_there():
    X = np.array([[[np.nan, 1.0, np.nan, np.nan, 5.0], [7.0, 0, 0, 0, 0], [2.0, 0, 1, 0, 9]]])
    mask = np.isnan(X)
    mask[0, 1, 1:], mask[0, 2] = True, True
    data = Dataset(X, channels=("x", "y", "z"), missing=mask)
    assert data.values.tolist() == [[[1, 1, 1, 1, 5], [7, 7, 7, 7, 7], [0, 0, 0, 0, 0]]]
    assert data.missing_counts == {"x": 3, "y": 4, "z": 5}
    assert (
        Dataset(X, channels=("x", "y", "z"), missing=mask, categories={"z": ("a",)}).values[0, 2].tolist() == [-1] * 5
    )
    assert replace(data, values=data.values * 2).values[0, 0].tolist() == [2, 2, 2, 2, 10]
    assert from_arrays(X[:, :1], nonfinite="missing").missing.tolist() == mask[:, :1].tolist()
    with pytest.raises(DataError, match="missing="):
        from_arrays(X[:, :1])


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"categories": {"y": ("a",)}}, "no such channel"),
        ({"categories": {"x": ("a", "b")}}, "from 0 to 1; found 2"),
        ({"categories": {"x": ("a", "a", "b")}}, "distinct"),
        ({"missing": np.zeros((1, 1, 2), bool)}, "in the shape of the values"),
        ({"missing": np.zeros((1, 1, 3))}, "true or false"),
    ],
)
def test_what_makes_no_sense_is_refused(facts, told):
    with pytest.raises(DataError, match=told):
        Dataset(np.arange(3.0)[None, None], **facts)


@pytest.mark.parametrize("ragged", [False, True])
def test_both_go_with_the_cases_and_the_channels(ragged):
    data = flights()
    if ragged:
        data = replace(data, values=tuple(t[:, : 5 + i] for i, t in enumerate(data.values)),
                       missing=tuple(m[:, : 5 + i] for i, m in enumerate(data.missing)))  # fmt: skip
    some = data.subset([3, 1])
    assert_array_equal(some.missing[0], data.missing[3])
    part = data.select(["w", "mode"])
    assert (part.categories, part.numeric_channels) == (data.categories, ("w",))
    assert_array_equal(part.missing[2], data.missing[2][[2, 1]])
    assert drop_categories(data).channels == ("v", "w")
    assert drop_categories(data).categories == {}
    train, test = split(data, 0.25)
    assert train.categories == test.categories == data.categories
    with_steps = fernn.data.with_steps(data)
    assert with_steps.channels == ("v", "mode", "w", "v_diff", "w_diff")
    assert_array_equal(with_steps.values[4][3], np.diff(data.values[4][0], prepend=data.values[4][0][:1]))
    assert with_steps.missing_counts == data.missing_counts
    told = []
    drop_categories(data, told.append)
    assert "'mode' holds categories" in told[0]
    with pytest.raises(DataError, match="no channel of numbers"):
        drop_categories(data.select(["mode"]))


@pytest.mark.parametrize("ragged", [False, True])
def test_what_is_written_reads_back_equal(tmp_path, ragged):
    data = flights()
    if ragged:
        data = replace(data, values=tuple(t[:, : 5 + i] for i, t in enumerate(data.values)),
                       missing=tuple(m[:, : 5 + i] for i, m in enumerate(data.missing)))  # fmt: skip
    odd = replace(data, categories={"mode": ("=SUM(A1)", "na", "7")})  # as a spreadsheet, a gap and a number look
    for each in (data, odd):
        assert read(save(each, tmp_path / "x.npz"), quiet=True) == each
        assert read(write_csv(each, tmp_path / "x.csv"), quiet=True) == each
        sent = serialize(each)
        assert isinstance(sent, SerializedData)
        assert sent.load() == each
    write_csv(data.subset(range(1, 8)), tmp_path / "y.csv")
    assert read(tmp_path / "y.csv", quiet=True, nonfinite="hold").missing is None
    with pytest.raises(DataError, match=r"column 'w', case '0': the value is missing.*--nonfinite missing"):
        read(tmp_path / "x.csv", nonfinite="error")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_a_file_and_parquet_hold_the_same(tmp_path, library):
    frames = pytest.importorskip(library)
    data = flights(cases=20)
    frame = frames.DataFrame(as_columns(data))
    found = from_frame(frame, name="flights", quiet=True)
    assert found == replace(data, time_unit=None)
    path = tmp_path / "flights.csv"
    frame.to_csv(path, index=False) if library == "pandas" else frame.write_csv(path)
    assert read(path, quiet=True) == found
    if library == "polars":
        frame.write_parquet(tmp_path / "flights.parquet")
        assert read(tmp_path / "flights.parquet", quiet=True) == found
    runs = from_arrays([frame[12 * i : 12 * i + 12][list(data.channels)] for i in range(20)], nonfinite="missing")
    assert (runs.categories, runs.missing_counts) == (data.categories, data.missing_counts)
    assert_array_equal(runs.values, data.values)


def test_texts_that_are_few_are_categories_and_others_are_left_out(tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"a,{t},{t},{'ABC'[t % 3]},note {t},{'on' if t % 2 else ''},bad" for t in range(60)]
    path.write_text("\n".join(["case,time,v,mode,remark,state,outcome", *rows]))
    data, problems = inspect(path, label=None)
    assert (data.channels, data.categories) == (("v", "mode", "state"), {"mode": ("A", "B", "C"), "state": ("on",)})
    assert data.missing_counts == {"state": 30}
    assert [(p.column, p.severity) for p in problems if p.kind == "text-column"] == [
        ("remark", "warning"), ("outcome", "warning"),
    ]  # fmt: skip
    card = str(data_card(data))
    assert "mode    categories: A 20, B 20, C 20" in card
    assert (
        "state: 30 of 60 values are missing; they are held from the last value, and a rule may say missing(state)"
        in card
    )
    assert data_card(data).to_json()["channels"][1]["categories"][0] == {"name": "A", "count": 20}
    few = tmp_path / "few.csv"
    few.write_text("case,time,v,mode\na,0,1,LAND\na,1,2,LAND\na,2,3,HOLD\n")
    assert inspect(few, label=None)[0].channels == ("v",)  # two texts on three rows: no category unless it is asked for
    assert inspect(few, label=None, channels=["v", "mode"])[0].categories == {"mode": ("HOLD", "LAND")}


def test_numbers_written_in_another_way_are_no_categories(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("case,time,v,w\n" + "".join(f"a,{t},{t},1.000.{t % 2}00\n" for t in range(40)))
    assert inspect(path, label=None)[0].channels == ("v",)


def test_a_channel_without_a_value_in_a_trace_is_told(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("case,time,v,w\na,0,1,2\na,1,1,3\nb,0,,2\nb,1,,inf\n")
    data, problems = inspect(path, label=None)
    assert data is None
    assert [(p.kind, p.line, p.column) for p in problems if p.severity == "error"] == [("infinite", 5, "w")]
    path.write_text(path.read_text().replace("inf", "4"))
    data, problems = inspect(path, label=None)
    (empty,) = [p for p in problems if p.kind == "all-missing"]
    assert (empty.severity, empty.column, empty.case) == ("warning", "v", "b")
    assert "no value in all of the case, so it is missing throughout and is read as 0" in empty.what
    assert data.values[1, 0].tolist() == [0, 0]
    held, problems = inspect(path, label=None, nonfinite="hold")
    assert held is None
    assert {p.kind for p in problems if p.severity == "error"} == {"all-missing"}


def test_traces_that_differ_in_what_is_missing_are_no_copies():
    X = np.ones((2, 1, 3))
    mask = np.zeros((2, 1, 3), bool)
    mask[1, 0, 2] = True
    assert data_card(Dataset(X)).distinct == 1
    assert data_card(Dataset(X, missing=mask)).distinct == 2


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_what_is_read_in_pieces_is_what_is_read_as_a_whole(tmp_path, form):
    polars = pytest.importorskip("polars")
    data = flights(cases=40)
    frame = polars.DataFrame(as_columns(data))
    path = tmp_path / f"flights.{form}"
    if form == "folder":
        path.mkdir()
        frame[: 12 * 17 + 5].write_parquet(path / "a.parquet")
        frame[12 * 17 + 5 :].write_parquet(path / "b.parquet")
    else:
        (frame.write_csv if form == "csv" else frame.write_parquet)(path)
    whole = replace(data, time_unit=None, name="flights")
    for rows in (7, 100, None):
        found = evaluate_file(RULE, path, rows=rows)
        assert found.score == fernn.score(RULE, data)
        batches = list(Stream(open_source(path), rows))
        assert_array_equal(np.concatenate([b.missing for b in batches]), data.missing.reshape(-1))
        card, problems = summarize_stream(open_source(path), rows)
        assert replace(card, fingerprint="") == replace(data_card(whole), fingerprint="", name=card.name)
        assert not [p for p in problems if p.severity == "error"]
        assert sample_stream(open_source(path), 10**9, rows=rows).data == replace(whole, name=card.name)
    with pytest.warns(FernnWarning, match="is never"):
        evaluate_file('F (mode == "LNAD")', path)
    with pytest.raises(fernn.errors.FormulaError, match="mode holds categories"):
        evaluate_file("F (mode >= 1)", path)
    assert 0 < fernn.score(RULE, data).mcr < 1


def test_a_folder_in_parts_is_the_folder(tmp_path):
    polars = pytest.importorskip("polars")
    from fernn.data.streaming.partition import partition, source_of
    from fernn.data.streaming.stream_summary import merge_summaries, summarize_part
    from fernn.semantics.stream_evaluation import evaluate_part, merge_parts

    data = flights(cases=40)
    frame = polars.DataFrame(as_columns(data))
    frame[12 * 17 + 5 :].write_parquet(tmp_path / "b.parquet")
    frame[: 12 * 17 + 5].write_parquet(tmp_path / "a.parquet")
    source = open_source(tmp_path)
    sources = [source_of(partition(source, number)) for number in range(2)]
    parts = [evaluate_part(each, number - each.first, RULE) for number, each in enumerate(sources)]
    assert merge_parts(parts, source).score == fernn.score(RULE, data)
    told = [summarize_part(each, number - each.first) for number, each in enumerate(sources)]
    card, _ = merge_summaries(source, told, lambda medians, channels: [
        m.take(b.column(k)) for b in Stream(source) for m, k in zip(medians, channels, strict=True)
    ] and None)  # fmt: skip
    alone, _ = summarize_stream(source)
    assert card == alone


def test_a_column_that_goes_on_with_many_texts_is_refused_in_pieces(tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"a,{t},{t},{'AB'[t % 2] if t < 5000 else f'text {t}'}" for t in range(6000)]
    path.write_text("\n".join(["case,time,v,mode", *rows]))
    with pytest.raises(DataError, match=r"column 'mode': the column has more than 50 different texts.*--channels"):
        list(Stream(open_source(path, {"label": None})))
    assert read(path, None, quiet=True).channels == ("v",)


def test_methods_that_read_numbers_only_leave_categories_out_and_say_so(tmp_path):
    random = np.random.default_rng(1)
    good = np.arange(30) % 2
    values = np.stack([random.normal(size=(30, 10)) + 3 * good[:, None], random.integers(0, 2, (30, 10)) * 1.0], axis=1)
    missing = random.random((30, 2, 10)) < 0.1
    data = Dataset(values, good, ("bad", "good"), ("v", "mode"), categories={"mode": ("A", "B")}, missing=missing)
    path = write_csv(data, tmp_path / "d.csv")
    with pytest.warns(FernnWarning, match="'mode' holds categories, which are not learned from"):
        result = fernn.learn(str(path), method="paper", settings={"restarts": 1, "epochs": 5}, out=tmp_path / "run")
    assert fernn.formula.channels(result.formula) == ("v",)
    assert fernn.Result.load(tmp_path / "run").formula == result.formula
