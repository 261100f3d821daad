"""Whatever is read ends in a value or in an error of fernn: the corpus, all that ever broke it, and some changes of it.

`make fuzz` goes on for as long as it is told to.
"""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.data import inspect
from fernn.errors import FernnError, FormulaError, RunError
from fernn.formula import parse
from fernn.formula.export import from_json
from fernn.learners import Fernn, Front
from fernn.runs import Run
from fuzz.__main__ import fuzzed
from fuzz.judging import Outcome, tried
from fuzz.targets import CORPUS, TARGETS, tiny

SLOW = {"state", "parquet"}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["true", "G", ">="]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=8,
)


NEEDS = {"parquet": "polars", "studio": "fastapi"}


def outcome(name: str, data: bytes) -> Outcome:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is optional")
    return tried(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_and_all_that_ever_broke_it_is_read_or_refused(name):
    assert TARGETS[name].seeds
    for data in TARGETS[name].seeds:
        crash = outcome(name, data).crash
        assert crash is None, f"{data[:200]!r}\n{crash.story}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(TARGETS) - SLOW))
def test_changes_of_the_corpus_are_read_or_refused(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is optional")
    campaign = fuzzed([TARGETS[name]], seconds=60, seed=1, most=300, keep=False)
    assert not campaign.sites


def test_every_route_of_the_studio_is_in_the_corpus():
    pytest.importorskip("fastapi", reason="fastapi is optional")
    from fuzz.asking import Asked
    from fuzz.targets import room

    folder = room() / "routes"
    folder.mkdir()
    routes = {route.path: route.path_regex for route in Asked(folder).app._app.routes}
    heads = [
        seed.partition(b"\x1e")[0].decode().partition(" ")[2].partition("?")[0] for seed in TARGETS["studio"].seeds
    ]
    assert [path for path, shape in routes.items() if not any(shape.match(head) for head in heads)] == []


@given(st.dictionaries(st.sampled_from(["op", "args", "over", "weights", "threshold"]), JSON, max_size=5))
@settings(deadline=None, max_examples=200)
def test_any_tree_in_the_place_of_a_formula_is_one_or_is_refused(data):
    crash = outcome("formula", json.dumps({"schema": 1, "formula": data}).encode()).crash
    assert crash is None, crash.story


@given(st.text(alphabet='GFUSOH!&|->()[]{}?;,."xy01 e*<=\\\ud800é', max_size=40))
@settings(deadline=None, max_examples=300)
def test_any_text_is_a_formula_or_is_refused(text):
    try:
        assert parse(str(parse(text))) == parse(text)
    except FormulaError as error:
        str(error).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    ["(" * 10_000 + "x>0" + ")" * 10_000, "!" * 10_000 + "x>0", "x>0 & " * 10_000 + "x>0",
     "(" * 100 + "x>0" + " & x>0) " * 50 + "& x>0" * 140, "x > 1e400", "G[0,1e400] x>0",
     "G[?w*" + "9" * 5000 + "] x>0"],
    ids=["parentheses", "negations", "a row", "rows in parentheses", "a number", "a window", "pieces"],
)  # fmt: skip
def test_what_is_too_much_for_a_formula_is_said_at_its_place(text):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert caught.value.text is not None


def test_long_rows_within_parentheses_do_not_grow_too_deep_for_the_stack():
    text = "x > 0"
    for _ in range(100):
        text = f"({text}) & " + " & ".join(["x > 0"] * 100)
    with pytest.raises(FormulaError, match="inside each other"):
        parse(text)


def test_an_operator_in_json_has_as_many_formulas_inside_as_it_takes():
    inner = {"op": ">=", "weights": [["x", 1]], "threshold": 0}
    with pytest.raises(FormulaError, match="1 formulas inside S"):
        from_json(json.dumps({"schema": 1, "formula": {"op": "S", "args": [inner], "over": [[0, 1]]}}))


# archives


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return packed.getvalue()


def head(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, {"descr": kind, "fortran_order": False, "shape": shape})
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (archive(X=head((10**12,))), "cannot be read"),
        (archive(X=head((10**12,), "|b1")), "cannot be read"),
        (archive(X=head((2, 2, 2)) + b"\0" * 64, cases=head((10**12,), "<U0")), "of no bytes"),
        (archive(X=head((1, 1, 10**6)) + b"\0" * 8 * 10**6), "more than the memory limit"),
        (archive(X=head((1,), "|O") + b"\x80\x04."), "pickled"),
        (archive(X=b"not an array"), "not an array"),
    ],
    ids=["a promise", "a smaller one", "names of no length", "a bomb", "a pickle", "no array"],
)
def test_a_hostile_archive_is_refused_before_it_takes_memory(tmp_path, content, why):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    data, problems = inspect(path, memory_limit=5_000_000)
    assert data is None
    assert why in "\n".join(map(str, problems))


def test_a_parquet_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    pl = pytest.importorskip("polars", reason="polars is optional")
    path = tmp_path / "x.parquet"
    pl.DataFrame({"v": np.zeros(1_000_000), "label": np.zeros(1_000_000)}).write_parquet(path)
    assert path.stat().st_size < 100_000
    data, problems = inspect(path, memory_limit=5_000_000)
    assert data is None
    assert "16.0 MB of data, more than the memory limit" in str(problems[0])


# runs


@pytest.mark.parametrize(
    ("name", "content", "look"),
    [
        ("settings.json", '{"schema": 1, "data": 3}', lambda run: run.settings),
        ("settings.json", "[" * 100_000, lambda run: run.settings),
        ("front.json", '{"schema": 1, "entries": [], "pick": 0}', Run.front),
        ("front.json", '{"schema": 1, "entries": [{"formula": 3}], "pick": 0}', Run.front),
        ("state.json", '{"schema": 1, "seconds": "x", "restarts": 1, "state": {}}', Run.resume),
    ],
    ids=["no data", "deep", "nothing found", "no formula", "no time"],
)
def test_a_damaged_file_of_a_run_is_named(tmp_path, name, content, look):
    for file in (CORPUS / "folder").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / name).write_text(content)
    with pytest.raises(RunError, match=name):
        look(Run.open(tmp_path))


def test_a_front_whose_pick_is_not_among_its_entries_is_refused():
    told = json.loads((CORPUS / "front" / "front").read_bytes())
    with pytest.raises(FernnError, match="no front of fernn"):
        Front.from_json(told | {"pick": 99})


def test_a_state_with_a_formula_from_elsewhere_is_refused():
    learner = Fernn(max_length=2, restarts=2, rounds=1)
    state = learner.fit(tiny()).state
    state["archive"][0]["origin"] = "H (w >= 2)"
    with pytest.raises(FernnError, match="not in the search space"):
        learner.fit(tiny(), resume=state)
