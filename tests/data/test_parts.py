"""A folder looked over file by file is told as it is when one process goes through it."""

import json
import sys
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fernn.data.problems import ProblemLog
from fernn.data.streaming import Stream, open_source
from fernn.data.streaming.partition import AHEAD, partition, with_partition
from fernn.data.streaming.spill import WIDE, hash_names
from fernn.data.streaming.stream_summary import measure_part, merge_summaries, summarize_part, summarize_stream

pl = pytest.importorskip("polars")
SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """Files are not tried by another process first."""
    monkeypatch.setattr(sys, "executable", "")


@st.composite
def frames(draw):
    """Rows that have nothing wrong with them, or gaps, rows without an id, several labels a case, cases that return."""
    rare = st.integers(0, 30).map(lambda n: n == 0)
    wrong = draw(st.booleans())
    rows = []
    for case in range(draw(st.integers(1, 9))):
        label = draw(st.sampled_from(["good", "bad"]))
        name = f"c{draw(st.integers(0, 8))}" if wrong and draw(rare) else f"c{case}"
        for i in range(draw(st.integers(1, 6))):
            gap, lost, other = (wrong and draw(rare) for _ in range(3))
            rows.append({
                "case": None if lost else name, "time": i * (0.5 if wrong and draw(rare) else 1.0),
                "v": None if gap else float(draw(st.integers(-2, 2))), "w": float(case % 3),
                "label": "good" if other else label, "kind": f"g{case // 3}",
            })  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"v": pl.Float64, "case": pl.String})


def parted(frame, folder, cuts):
    for i, (low, high) in enumerate(pairwise([0, *sorted(cuts), frame.height])):
        frame[low:high].write_parquet(folder / f"{i:03}.parquet")


def sent(told):
    return json.loads(json.dumps(told))


def card_by_file(source, rows):
    def each(work, *more):
        for number in range(len(source.files)):
            told = sent(partition(source, number))
            yield sent(with_partition(told, number, lambda some, at: work(some, at, rows, *more)))

    def again(middles, channels):
        for part in each(measure_part, sent([middle.query() for middle in middles]), channels):
            for middle, told in zip(middles, part, strict=True):
                middle.join(told)

    return merge_summaries(source, each(summarize_part), again)


@pytest.mark.slow
@SLOW
@given(
    frame=frames(),
    rows=st.one_of(st.none(), st.integers(1, 12)),
    options=st.fixed_dictionaries({
        "nonfinite": st.sampled_from(["error", "hold", "drop_case"]), "bad_rows": st.sampled_from(["error", "skip"]),
        "group": st.sampled_from([None, "kind"]),
    }),
    data=st.data(),
)  # fmt: skip
def test_card_and_problems_are_those_of_one_process(frame, rows, options, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    parted(frame, folder, data.draw(st.lists(st.integers(0, frame.height), max_size=4)))
    channels = {} if options["group"] else {"channels": ["v", "w"]}
    source = open_source(folder, options | channels)
    card, problems = summarize_stream(source, rows)
    there = card_by_file(source, rows)
    assert there[1] == problems
    assert there[0] == card


def test_what_is_wrong_in_a_later_file_is_told_whatever_is_wrong_in_an_earlier_one(tmp_path):
    rows = {"case": ["a", "a", "b", "b"], "time": [0.0, 1.0, 0.0, 1.0], "v": [1.0, 2.0, 3.0, 4.0]}
    pl.DataFrame(rows | {"time": [0.0, 0.0, 0.0, 1.0]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame(rows | {"case": ["c", "c", "d", "d"], "v": [None, None, 3.0, 4.0]}).write_parquet(
        tmp_path / "1.parquet"
    )
    for rows in (None, 2):
        _, problems = summarize_stream(open_source(tmp_path, {"nonfinite": "hold", "label": None}), rows)
        kinds = {(p.kind, p.file, p.case) for p in problems if p.severity == "error"}
        assert kinds == {("duplicate-time", "0.parquet", "a"), ("all-missing", "1.parquet", "c")}


def test_a_case_that_comes_back_is_told_with_the_file_in_which_it_does(tmp_path):
    for i, cases in enumerate(["aabb", "bccd", "dead", "ffgg"]):
        pl.DataFrame({"case": list(cases), "v": [1.0] * 4}).write_parquet(tmp_path / f"{i}.parquet")
    source = open_source(tmp_path, {"label": None})
    for rows in (1, 2, None):
        for found, problems in (summarize_stream(source, rows), card_by_file(source, rows)):
            assert found is None
            (error,) = (p for p in problems if p.severity == "error")
            assert (error.kind, error.file, error.line) == ("scattered-case", "2.parquet", 3 if rows else 4)


def test_a_file_of_other_cases_than_its_number_says_is_no_part_of_another(tmp_path):
    for i, cases in enumerate(["ab", "bb", "bb", "bc"]):
        pl.DataFrame({"case": list(cases), "v": [1.0, 2.0]}).write_parquet(tmp_path / f"{i}.parquet")
    source = open_source(tmp_path, {"label": None})
    parts = [[(lot.cases, lot.samples) for lot in Stream(source, None, number)] for number in range(4)]
    assert parts == [[(["a"], 1), (["b"], 6)], [], [], [(["c"], 1)]]


def test_a_part_opens_no_file_but_its_own_and_those_beside_it(tmp_path):
    for i in range(12):
        frame = pl.DataFrame({"case": [f"c{i}", f"c{i + 1}"], "v": [1.0, 2.0]})
        frame[: 0 if i == 7 else 2].write_parquet(tmp_path / f"{i:02}.parquet")
    source = open_source(tmp_path, {"label": None})
    wanted = summarize_part(source, 6)
    told = sent(partition(source, 6))
    for i in (*range(5), 7, 9, 10, 11):
        source.files[i].write_bytes(b"nothing")
    assert with_partition(told, 6, summarize_part) == wanted
    assert len(told["files"]) < 8


def test_a_case_that_goes_on_beyond_the_files_beside_it_is_followed(tmp_path):
    for i in range(3 * AHEAD):
        cases = ["a", "b"] if i == 1 else ["b", "c"] if i == 3 * AHEAD - 1 else ["a"] if i == 0 else [None] * (i % 2)
        frame = pl.DataFrame({"case": cases, "v": [float(i)] * len(cases)}, {"case": pl.String, "v": pl.Float64})
        frame.write_parquet(tmp_path / f"{i:02}.parquet")
    source = open_source(tmp_path, {"label": None, "bad_rows": "skip"})
    found = []
    for number in range(3 * AHEAD):
        lots = with_partition(sent(partition(source, number)), number, lambda some, at: list(Stream(some, None, at)))
        found += [(case, trace.tolist()) for lot in lots for case, trace in zip(lot.cases, lot.traces(), strict=True)]
    last = float(3 * AHEAD - 1)
    assert found == [("a", [[0.0, 1.0]]), ("b", [[1.0, last]]), ("c", [[last]])]


@given(st.lists(st.text(st.characters(categories=["L", "N", "P"]), max_size=WIDE + 9), unique=True))
@settings(deadline=None)
def test_names_have_numbers_of_their_own_whatever_stands_beside_them(names):
    found = hash_names(names).tolist()
    assert len(set(found)) == len(names)
    assert found == [int(hash_names([name])[0]) for name in names]


def test_joined_ledgers_tell_what_one_ledger_would(tmp_path):
    kinds = ["a", "b", "a", "a", "c", "a", "b", "a", "a", "a", "b"]
    one, cut = ProblemLog("x"), [ProblemLog("x") for _ in range(3)]
    for i, kind in enumerate(kinds):
        for ledger in (one, cut[i // 4]):
            ledger.add(kind, "error" if kind == "b" else "warning", f"number {i}", "", line=i)
    joined = ProblemLog("x")
    for ledger in cut:
        joined.join(ProblemLog.from_json(sent(ledger.to_json())))
    assert joined.problems() == one.problems()
