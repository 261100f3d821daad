"""Whatever is in a file, reading it ends in a dataset or in problems, never in a crash."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.data import inspect

cells = st.sampled_from(["case", "time", "v", "label", "group", "0", "1", "2.5", "-3", "1e9", "nan", "inf", "", " "])
cells |= st.sampled_from(["good", "bad", "3,14", '"', "'x'", "#", "2024-01-01", "2024-13-01", "é", "\x00", "1_0"])
lines = st.lists(cells, max_size=6).flatmap(lambda row: st.sampled_from(",;\t |:").map(lambda d: d.join(row)))
texts = st.lists(lines, max_size=6).map("\n".join)
tidy = texts.map(lambda text: "case,time,v,label\n" + text)
options = st.fixed_dictionaries(
    {},
    optional={
        "label": st.sampled_from([None, "first", "last", "v"]),
        "layout": st.sampled_from(["tidy", "wide"]),
        "bad_rows": st.just("skip"),
        "nonfinite": st.sampled_from(["hold", "interpolate", "drop_case"]),
        "decimal": st.just(","),
        "header": st.booleans(),
        "group": st.just("group"),
        "label_kind": st.sampled_from(["class", "real"]),
        "channels": st.lists(st.sampled_from(["v", "w"]), max_size=2),
        "good": st.sampled_from(["good", 1]),
        "encoding": st.sampled_from(["ascii", "utf-16", "latin-1"]),
    },
)


@given(st.one_of(texts, tidy).map(str.encode) | st.binary(max_size=50), options, st.sampled_from(["csv", "npz"]))
@settings(deadline=None, max_examples=300)
def test_inspect_gives_a_dataset_or_says_why_not(content, how, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{suffix}"
        path.write_bytes(content)
        data, problems = inspect(path, **how)
    assert (data is None) == any(p.severity == "error" for p in problems)
    assert all("\n" not in str(p) for p in problems)


tags = st.sampled_from(
    ["@univariate true", "@dimensions 2", "@dimensions x", "@equalLength true", "@seriesLength 2", "%"]
)
tags |= st.sampled_from(
    ["@classLabel true good bad", "@classLabel true", "@targetLabel true", "@timestamps true", "v", ""]
)
values = st.lists(st.sampled_from(["1", "2.5", "?", "nan", "inf", "", "x", "1_0"]), min_size=1, max_size=3).map(
    ",".join
)
labels = st.sampled_from(["good", "bad", "ugly", "1", "", "(0,1)"])
rows = st.tuples(st.lists(values, max_size=3), labels).map(lambda row: ":".join([*row[0], row[1]]))
files = st.tuples(st.lists(tags, max_size=4), st.lists(rows, max_size=4)).map(
    lambda f: "\n".join([*f[0], "@data", *f[1]])
)


@given(files.map(str.encode) | texts.map(str.encode) | st.binary(max_size=50), options)
@settings(deadline=None, max_examples=500)
def test_a_series_file_gives_a_dataset_or_says_why_not(content, how):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ts"
        path.write_bytes(content)
        data, problems = inspect(path, **how)
    assert (data is None) == any(p.severity == "error" for p in problems)
    assert all("\n" not in str(p) for p in problems)
