"""A rule about categories, missing values and times says live and exported what its definition says."""

from __future__ import annotations

import re
import shutil
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_categories import ASKED, recordings
from test_live_functions import run_c
from test_monitor import outlook

from fernn import Monitor, parse
from fernn.errors import FormulaError, SignalError, UnsupportedError
from fernn.formula.export import to_c, to_python
from fernn.formula.expressions import Step
from fernn.formula.measures import direction
from oracle import Sampled, rho

STEP = Step(0.5, "s")
TEXTS = [
    'H (since(mode == "LAND") <= 1 s | x >= 0)', 'O (mean(missing(x), 3) > 0 & x <= 1)',
    'G (mode != "HOLD" -> F[0,3] (x == 2 | missing("a b")))', "count(missing(mode), 4) <= 1 & H[0,2] present(x)",
    'F[1,4] (since(missing(x), ms) <= 500 & mode in {"a b", "3"})', "H (diff(x) + 2*is(y, 0, 0.5) <= 1 | missing(x))",
    'G F[0,2] G (mode == "LAND" | missing(y) | x > y)', 'x > 0 S[1,4] (is(mode, "LAND") - missing(x) <= 0)',
]  # fmt: skip


def usable(formula, trace):
    """The recording without gaps that a monitor refuses: where none is asked for, and before the first value."""
    text = str(formula)
    made = Sampled(trace)
    made.step, made.number = 0.5, float
    for name in trace:
        quoted = '"a b"' if name == "a b" else name
        row = list(trace[name])
        if name != "mode" and f"missing({quoted})" not in text and f"present({quoted})" not in text:
            row = [0.5 if value is None else value for value in row]
        if row[0] is None and name != "a b":
            row[0] = "Ä" if name == "mode" else 0.0
        made[name] = row
    return made


def cut(trace, size):
    made = Sampled({name: row[:size] for name, row in trace.items()})
    made.step, made.number = trace.step, trace.number
    return made


def follow(formula, trace):
    try:
        monitor = Monitor(formula, tuple(trace), step=STEP)
    except UnsupportedError:
        return
    by_name = Monitor(formula, step=STEP)
    for t in range(len(trace["mode"])):
        sample = {name: row[t] for name, row in trace.items()}
        reading = monitor.update([nan if value is None else value for value in sample.values()])
        assert by_name.update(sample) == reading
        at = t if direction(formula) == "past" else 0
        assert monitor.finish().robustness == pytest.approx(rho(formula, cut(trace, t + 1), at), rel=1e-12, abs=1e-12)
        if direction(formula) == "future":
            assert reading.low == pytest.approx(outlook(formula, trace, t + 1, -inf), rel=1e-12, abs=1e-12)
            assert reading.high == pytest.approx(outlook(formula, trace, t + 1, inf), rel=1e-12, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.one_of(ASKED, st.sampled_from(TEXTS).map(parse)), recordings())
def test_a_monitor_takes_texts_and_gaps_as_recordings_have_them(formula, trace):
    follow(formula, usable(formula, trace))


@settings(max_examples=200, deadline=None)
@given(st.one_of(ASKED, st.sampled_from(TEXTS).map(parse)), recordings(), st.booleans())
def test_exported_python_takes_texts_and_gaps_as_recordings_have_them(formula, trace, as_nan):
    if direction(formula) == "mixed":
        return
    trace, space = usable(formula, trace), {}
    exec(to_python(formula, 0.5, "s"), space)
    fed = {name: [nan if as_nan and value is None else value for value in row] for name, row in trace.items()}
    wanted = rho(formula, trace, len(trace["mode"]) - 1 if direction(formula) == "past" else 0)
    assert space["robustness"](fed) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_exported_c_takes_numbers_for_texts_and_nan_for_gaps(tmp_path):
    named = {0: ["LAND"], 2: ["HOLD"], 4: ["3", "a b"], 6: ["LAND"], 7: ["LAND"]}
    random, asked, wanted = np.random.default_rng(0), [], []
    for k, text in enumerate(TEXTS):
        formula, codes = parse(text), named.get(k, [])
        for size in (1, 2, 5, 12):
            rows = {name: [None if random.random() < 0.3 else float(v) for v in random.choice([-1, 0, 0.5, 2], size)]
                    for name in ("x", "y", "a b")}  # fmt: skip
            rows["mode"] = [
                None if random.random() < 0.3 else str(v)
                for v in random.choice(["LAND", "HOLD", "a b", "3", "Ä"], size)
            ]
            trace = usable(formula, Sampled(rows))
            fed = {name: [nan if v is None else v for v in row] for name, row in trace.items()}
            fed["mode"] = [codes.index(v) if v in codes else v if v != v else 77.0 for v in fed["mode"]]
            asked.append((formula, {name: np.array(row) for name, row in fed.items()}))
            wanted.append(rho(formula, trace, size - 1 if direction(formula) == "past" else 0))
    for (formula, _), found, number in zip(asked, run_c(tmp_path, asked), wanted, strict=True):
        assert found == pytest.approx(number, rel=1e-12, abs=1e-12), formula


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("dt", [0.1, 0.3333, 1 / 60, 1.2345678901234567e-9, 12345.678901234567])
def test_times_are_rounded_once_everywhere(tmp_path, dt):
    """Fractions say what n samples are in each unit."""
    x = np.where(np.arange(3000) == 0, 1.0, -1.0)
    asked, wanted = [], []
    for unit, seconds in (("s", 1), ("ms", Fraction(1, 1000)), ("min", 60), ("h", 3600)):
        formula = parse(f"O[0,0] (since(x > 0, {unit}) >= 0)")
        monitor = Monitor(formula, step=Step(dt, "s"))
        for n in range(3000):
            reading = monitor.update([x[n]])
            if n % 97 == 0 or n < 9:
                asked.append((formula, {"x": x[: n + 1]}))
                wanted.append(float(n * Fraction(repr(dt)) / seconds))
                assert reading.low == wanted[-1]
    assert run_c(tmp_path, asked, dt) == wanted


def test_the_numbers_for_texts_stand_in_the_head_of_the_c():
    made = to_c(parse('H (mode in {"LAND", "land", "*/", "a\\\\b"} | 3*x > 2)'), "guard")
    found = dict(re.findall(r"#define (\w+) (\d+\.\d) /\*", made))
    assert sorted(found.values()) == ["0.0", "1.0", "2.0", "3.0"]
    assert found["GUARD_MODE_LAND"] == "1.0"
    assert "Of mode pass the numbers defined below" in made


def test_a_monitor_refuses_what_a_channel_cannot_hold_and_stays_as_it_was():
    monitor = Monitor('H (mode == "LAND" | missing(v) | v >= 3)')
    with pytest.raises(SignalError, match=r"'v' is missing, and its value is read.*Begin with a sample that has one"):
        monitor.update({"mode": "LAND", "v": None})
    monitor.update({"mode": " LAND ", "v": 1})
    for bad, told in (({"mode": 3, "v": 1}, "'mode' is compared with texts, and is not a text"),
                      ({"mode": "A", "v": "B"}, "'v' is not a finite number"), ({"mode": "A", "v": inf}, "'v' is not"),
                      ({"mode": "A"}, "lacks the channel 'v'")):  # fmt: skip
        with pytest.raises(SignalError, match=told):
            monitor.update(bad)
        assert monitor.samples == 1
    assert monitor.update([None, nan]).verdict
    assert monitor.update(["LAND", 0]).verdict
    assert not monitor.update(["A", None]).low < 1  # v is missing
    assert not monitor.update(["A", 0]).verdict
    with pytest.raises(SignalError, match="'x' is not a finite number"):
        Monitor("H (x >= 3)").update({"x": None})


@pytest.mark.parametrize("make", [Monitor, to_python, to_c])
def test_a_channel_holds_texts_or_numbers(make):
    with pytest.raises(FormulaError, match="mode is compared with texts and read as a number"):
        make(parse('H (mode == "LAND" | mode >= 3)'))


def test_numbers_are_compared_in_the_type_of_the_samples():
    for kind in (np.float32, np.float64, float):
        monitor = Monitor("H (x == 0.1 & y != 1e300)")
        assert monitor.update([kind(0.1), kind(3)]).verdict
    assert not Monitor("H (x == 0.1 & y > 2)").update([np.float32(0.1), 3.0]).verdict  # of several types: float64
