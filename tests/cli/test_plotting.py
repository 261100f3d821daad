"""`fernn plot` as a person runs it."""

import json
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from PIL import Image

from fernn.data import load, read_input, write_csv
from fernn.formula import parse
from fernn.learners import Fit, Front
from fernn.learners.base import Entry
from fernn.runs import plan, start_job

RULES = (("v <= 27", 1, 0.4), ("G (v <= 36)", 2, 0.1))


@pytest.fixture
def fernn(called, tmp_path):
    """The command, in a folder with a recording and two runs, one of which kept traces for the test."""
    write_csv(load("cruise", cases=10), "cruise.csv")
    front = Front(tuple(Entry(parse(text), n, error, error, 0.1, 1.0) for text, n, error in RULES), 1)
    for name, test in (("run", 0.2), ("whole", 0.0)):
        planned = plan("cruise.csv", {}, "enumerative", {"max_length": 2}, test)
        job = start_job(read_input("cruise.csv", {}), planned, "cruise.csv", tmp_path / name)
        job.run.finish(Fit(front, 1.0, "done", {}), (0.5, 0.25) if test else None)
    return called


def words(file):
    """The words of an SVG picture, which matplotlib leaves in comments beside their outlines."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", file.read_text(encoding="utf-8"), re.DOTALL))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words_given", "says"),
    [
        (["--kind", "against"], ["the rule: G (v &lt;= 36)", "anomaly: median and 5% to 95% of 10 traces"]),
        (["--kind", "against", "--formula", "F (v >= 30)"], ["the rule: F (v &gt;= 30)"]),
        (["--kind", "lanes", "--case", "anomaly-3"], ["case anomaly-3 (anomaly)", "G (v &lt;= 36)"]),
        (["--kind", "front"], ["1: v &lt;= 27", "test"]),
        (["--kind", "curves"], ["length 2, training: G (v &lt;= 36)", "seconds of learning"]),
        (["--kind", "confusion"], ["of 4 traces judged wrongly", "cruise, test traces"]),
        (["--kind", "confusion", "--part", "all"], ["of 20 traces judged wrongly"]),
        (["--kind", "confusion", "--part", "train"], ["of 16 traces judged wrongly", "cruise, train traces"]),
    ],
)
def test_a_run_is_drawn(fernn, tmp_path, words_given, says):
    (tmp_path / "made").mkdir()
    done = fernn("plot", "run", *words_given, "-o", "made/picture.svg")
    assert done.code == 0, done.err
    assert "wrote made/picture.svg" in done.err
    assert done.out == ""
    ElementTree.parse(tmp_path / "made/picture.svg")
    told = words(tmp_path / "made/picture.svg").replace("<=", "&lt;=").replace(">=", "&gt;=")
    for text in says:
        assert text in told


def test_pictures_are_png_too_and_the_rule_against_the_traces_unless_another_is_asked_for(fernn, tmp_path):
    done = fernn("plot", "whole", "-o", "picture.png", "--json")
    assert json.loads(done.out) == {"run": "whole", "kind": "against", "file": "picture.png"}
    with Image.open(tmp_path / "picture.png") as picture:
        assert picture.format == "PNG"
        assert picture.width == 700


def test_data_that_have_moved_are_named(fernn, tmp_path):
    (tmp_path / "cruise.csv").rename(tmp_path / "there.csv")
    assert fernn("plot", "run", "-o", "a.png").code == 2
    assert fernn("plot", "run", "-o", "a.png", "--file", "there.csv").code == 0
    assert fernn("plot", "run", "-o", "b.png", "--kind", "front").code == 0


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (["nowhere", "-o", "a.png"], 2, "there is no folder 'nowhere'"),
        (["run"], 3, "output"),
        (["run", "-o", "a.pdf"], 3, "ends in .png or .svg; found 'a.pdf'"),
        (["run", "-o", "a.png", "--kind", "pie"], 3, "one of against, lanes, confusion, front, curves; found 'pie'"),
        (["run", "-o", "a.png", "--part", "half"], 3, "one of all, train, test; found 'half'"),
        (["run", "-o", "a.png", "--kind", "lanes"], 3, "name it with --case ID"),
        (["run", "-o", "a.png", "--case", "anomaly-1"], 3, "--case is for --kind lanes, and this is against"),
        (["run", "-o", "a.png", "--kind", "lanes", "--case", "anomaly-77"], 2, "no case 'anomaly-77'"),
        (["run", "-o", "a.png", "--kind", "front", "--formula", "G (v <= 3)"], 3, "leave out --formula and --part"),
        (["run", "-o", "a.png", "--formula", "G (v <= "], 3, "expected"),
        (["run", "-o", "a.png", "--formula", "G (w <= 3)"], 2, "w"),
        (["whole", "-o", "a.png", "--part", "test"], 2, "kept no traces for the test"),
    ],
)
def test_mistakes_are_told_apart_by_exit_code(fernn, tmp_path, given, code, says):
    done = fernn("plot", *given)
    assert done.code == code, done.err
    assert says in " ".join(done.err.split())
    assert not (tmp_path / "a.png").exists()
