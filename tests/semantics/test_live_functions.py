"""A rule with functions says the same wherever it runs: on recordings, live, and exported as Python or C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_monitor import outlook

from fernn.errors import FormulaError, SignalError, UnsupportedError
from fernn.formula.export import to_c, to_python
from fernn.formula.expressions import Step
from fernn.formula.measures import channels, direction, has_calls
from fernn.formula.parser import parse
from fernn.semantics import robustness, satisfied
from fernn.semantics.monitor import Monitor
from oracle import Sampled, as_trace, rho
from strategies import CHANNELS, FUTURE, MIXED, PAST, atoms, function_atoms, grown, intervals, time_atoms, traces

pytestmark = pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")  # empty windows, short traces
STEP = Step(0.5, "s")
LEAF = st.one_of(function_atoms(), function_atoms(), atoms(), time_atoms())
EVERY = [
    "abs(x - 1)", "min(x, y, 0.5)", "max(x, 2*y)", "norm(x, y, x - y)", "x*y", "x/y", "(x - 1)/(y + 1)",
    "diff(x)", "diff(x, 3)", "diff(x - y, 2 s)", "rate(x)", "mean(x, 1)", "mean(0.1*x, 3)", "mean(x + 3, 20 s)",
    "std(x, 1)", "std(x + 1000, 4)", "std(x - y, 18 s)", "lowest(x, 1)", "lowest(x, 5)", "highest(x, 20 s)",
    "integral(0.1*x)", "since(x > 0)", "since(O[0,3] (x >= 1) & mean(y, 2) < 1)", "since(H[2,4] (y > -1) S x > 0)",
    "count(x > 0, 4)", "count(H[0,40] (x > -2) | y >= 1 T x < 1, 3 s)", "std(highest(abs(diff(x)), 3), 7) - 2*x",
    "mean(x, 4) - mean(x, 8)", "count(since(x > 0) > 2, 9)", "since(x > 0, s)", "2*since(y > 1, ms) - x",
    "is(x, 0.1, 3)", "mean(is(y, 0, 0.5), 4) + x", "missing(x)", "since(x == 0.1 & present(y), min)",
]  # fmt: skip
AROUND = ["H (0.3*({e}) <= 0.4)", "x > 0 S[1,4] ({e} > 0.1 & {e} <= 1)", "G[0,6] ({e} < 1)", "F ({e} > 0.2 | y > 1)",
          "{e} >= 0.1", "G (x > 1 -> F[0,3] ({e} > 0))", "G F[0,2] G ({e} < 2)"]  # fmt: skip


def formulas(operators):
    return st.recursive(LEAF, lambda inner: grown(inner, operators, intervals), max_leaves=4)


def judge(formula, trace, t=None):
    """What `robustness` says of the first samples, or None where it refuses them."""
    part = trace[:, : None if t is None else t + 1]
    try:
        at = {"past": "last"}.get(direction(formula), "first")
        return robustness(formula, part[None], CHANNELS, at, step=STEP)[0]
    except SignalError:
        return None


def made(seed, size=45):
    """A trace with ties, zeros and long calms."""
    random = np.random.default_rng(seed)
    trace = random.normal(0, 2, (2, size))
    trace[:, 10:25] = random.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.25], (2, 15))
    trace[0, 30:38] = 0.1
    return trace


def follow(formula, trace):
    """Feed a monitor, and compare with `robustness` of the samples so far after each; it stops where that refuses."""
    monitor = Monitor(formula, CHANNELS, step=STEP)
    for t in range(trace.shape[1]):
        wanted = judge(formula, trace, t)
        before = monitor.samples, monitor.reading
        if wanted is None:
            with pytest.raises(SignalError, match="is not a number"):
                monitor.update(list(trace[:, t]))
            assert (monitor.samples, monitor.reading) == before
            return
        monitor.update(list(trace[:, t]))
        assert monitor.finish().robustness == wanted


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("expression", EVERY)
def test_a_monitor_says_of_every_function_what_recordings_say(expression, around):
    formula = parse(around.format(e=expression))
    for seed, kind in ((0, np.float64), (1, np.float32)):
        follow(formula, made(seed).astype(kind))


@settings(max_examples=200, deadline=None)
@given(formulas(MIXED), traces(longest=20))
def test_a_monitor_of_any_formula_with_functions_says_what_recordings_say(formula, trace):
    try:
        Monitor(formula, CHANNELS, step=STEP)
    except UnsupportedError:
        return
    follow(formula, trace)


@settings(max_examples=150, deadline=None)
@given(formulas(PAST), traces(longest=20, dtype=np.float64))
def test_a_past_monitor_with_functions_is_the_definition(formula, trace):
    if direction(formula) != "past" or judge(formula, trace) is None:
        return
    monitor, seen = Monitor(formula, CHANNELS, step=STEP), Sampled(as_trace(trace, CHANNELS))
    seen.step = 0.5
    for t in range(trace.shape[1]):
        reading = monitor.update(list(trace[:, t]))
        assert reading.low == pytest.approx(rho(formula, seen, t), rel=1e-9, abs=1e-9)
        sure = satisfied(formula, trace[None, :, : t + 1], CHANNELS, "last", step=STEP)[0]
        assert reading.verdict == sure


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(formulas(FUTURE), traces(longest=5, dtype=np.float64))
def test_a_future_monitor_with_functions_gives_the_interval_still_possible(formula, trace):
    if judge(formula, trace) is None:
        return
    monitor, seen = Monitor(formula, CHANNELS, step=STEP), Sampled(as_trace(trace, CHANNELS))
    seen.step = 0.5
    for t in range(trace.shape[1]):
        reading = monitor.update(list(trace[:, t]))
        assert reading.low == pytest.approx(outlook(formula, seen, t + 1, -inf), rel=1e-9, abs=1e-9)
        assert reading.high == pytest.approx(outlook(formula, seen, t + 1, inf), rel=1e-9, abs=1e-9)


def is_same(found, wanted):
    return found == wanted or (wanted == 0 and found == -5e-324)


@settings(max_examples=200, deadline=None)
@given(st.one_of(formulas(PAST), formulas(FUTURE)), traces(longest=20, dtype=np.float64))
def test_exported_python_with_functions_says_what_recordings_say(formula, trace):
    namespace: dict = {}
    exec(to_python(formula, 0.5, "s"), namespace)
    wanted = judge(formula, trace)
    seen = {name: trace[CHANNELS.index(name)].tolist() for name in channels(formula)} or {"x": trace[0].tolist()}
    if wanted is None:
        with pytest.raises(ValueError, match="not a number"):
            namespace["robustness"](seen)
        return
    found = namespace["robustness"](seen)
    assert is_same(found, wanted)
    assert (found >= 0) == satisfied(formula, trace[None], CHANNELS, step=STEP)[0]


SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
FED = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int which, width, size;
    while (scanf("%d %d %d", &which, &width, &size) == 3) {
        double *trace = malloc(sizeof(double) * (size_t)(width * size)), value = 0;
        for (int i = 0; i < width * size; i++)
            if (scanf("%lf", trace + i) != 1) return 3;
        switch (which) { CASES }
        printf("%.17g\\n", value);
        free(trace);
    }
    return 0;
}
"""


def is_array(trace):
    return isinstance(trace, np.ndarray)


def run_c(folder, asked, dt=0.5):
    """The robustness of each (formula, trace) by exported C under the sanitizers; all in one program."""
    formulas, cases = list(dict.fromkeys(formula for formula, _ in asked)), []
    for i, formula in enumerate(formulas):
        works = direction(formula) != "past" and has_calls(formula)
        before = f"double *work = malloc(sizeof(double) * M{i}_WORK * (size_t)size);" if works else ""
        call = f"m{i}_robustness(state, trace, (size_t)size{', work' if works else ''})"
        after = "free(work);" if works else ""
        state = f"m{i}_state *state = malloc(sizeof *state);"
        cases.append(f"case {i}: {{ {state} {before} value = {call}; {after} free(state); break; }}")
    source = "\n".join(to_c(formula, f"m{i}", dt, "s") for i, formula in enumerate(formulas))
    (folder / "all.c").write_text(source + FED.replace("CASES", "\n".join(cases)))
    subprocess.run(["cc", *FLAGS, *SANITIZED, "-o", folder / "all", folder / "all.c", "-lm"], check=True)
    lines = []
    for formula, trace in asked:
        used = channels(formula) or ("x",)
        rows = np.stack([trace[CHANNELS.index(name) if is_array(trace) else name] for name in used], axis=1)
        numbers = " ".join(map(repr, rows.reshape(-1).tolist()))
        lines.append(f"{formulas.index(formula)} {len(used)} {len(rows)} {numbers}")
    done = subprocess.run([folder / "all"], input="\n".join(lines), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return [float(word) for word in done.stdout.split()]


def compare_c(folder, asked):
    for (formula, trace), found in zip(asked, run_c(folder, asked), strict=True):
        wanted = judge(formula, trace)
        assert np.isnan(found) if wanted is None else is_same(found, wanted), formula


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("ways", [["H (0.3*({e}) <= 0.4)"], pytest.param(AROUND, marks=pytest.mark.slow)])
def test_exported_c_says_of_every_function_what_recordings_say(tmp_path, ways):
    asked = [(parse(around.format(e=e)), made(2)) for e in EVERY for around in ways]
    compare_c(tmp_path, [(f, trace[:, :size]) for f, trace in asked for size in (1, 2, 9, 45)])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_exported_c_of_any_formula_with_functions_says_what_recordings_say(tmp_path):
    asked: list = []

    @settings(max_examples=150, deadline=None, database=None)
    @given(st.one_of(formulas(PAST), formulas(FUTURE)), traces(longest=20, dtype=np.float64))
    def gather(formula, trace):
        asked.append((formula, trace))

    gather()
    compare_c(tmp_path, asked)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_exported_c_takes_no_sample_that_it_refuses(tmp_path):
    source = to_c(parse("H (mean(highest(x, 3), 2) + since(O[0,2] (x > 3)) <= 1e300)"), "m")
    sizes = "size_t m_size(void) { return sizeof(m_state); }"
    (tmp_path / "m.c").write_text(source + sizes)
    subprocess.run(["cc", *FLAGS, "-fPIC", "-shared", "-o", tmp_path / "m.so", tmp_path / "m.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    library.m_step.restype, library.m_size.restype = ctypes.c_double, ctypes.c_size_t
    fed, clean = (ctypes.create_string_buffer(library.m_size()) for _ in range(2))
    for state in (fed, clean):
        library.m_init(state)

    def step(state, x):
        return library.m_step(state, (ctypes.c_double * 1)(x))

    for x, bad in ((4.0, np.nan), (5e307, inf), (1.0, 1.5e308), (2.0, 1.7e308), (1.0, -inf), (3.0, np.nan)):
        assert np.isnan(step(fed, bad))
        assert step(fed, x) == step(clean, x)


@pytest.mark.parametrize("text", ["H (mean(x, 3) <= 1)", "G (mean(x, 3) <= 1)", "H (std(x, 2) <= 1)",
                                  "G[0,4] (x*x + x*x*y <= 1)", "H (min(x*x + x*x*y, 0) <= 1)",
                                  "H (lowest(x*x + x*x*y, 4) <= 1)", "O (since(H (mean(x, 3) > 2)) > 1)"])  # fmt: skip
def test_a_function_that_is_not_a_number_is_refused_by_name_and_the_state_is_left(text):
    monitor, calm = (Monitor(text, CHANNELS) for _ in range(2))
    for sample in ([1.0, 2.0], [9e307, 1e-300], [3.0, -1.0]):
        for bad in ([1.7e308, -1.7e308], {"x": 1.7e308, "y": -1.7e308}) if sample[0] == 3 else ():
            before = monitor.samples, monitor.reading
            with pytest.raises(SignalError, match=r"is not a number: it overflows \(found"):
                monitor.update(bad)
            assert (monitor.samples, monitor.reading) == before
        if "std" not in text or sample[0] < 9:  # of which the square overflows
            assert monitor.update(sample) == calm.update(sample)


def test_what_recordings_refuse_inside_of_functions_is_refused_at_once():
    x = np.array([[[1.0, 1e200, 1.0, 1.0], [1.0, -1.0, 1.0, 1.0]]])
    for text in ("H (lowest(x*x + x*x*y, 3) <= 1)", "H (min(x*x + x*x*y, 0) <= 1)", "H (since(x*x + x*x*y > 0) <= 1)"):
        with pytest.raises(SignalError, match=r"is not a number|overflows"):
            robustness(text, x, CHANNELS)
    with pytest.raises(SignalError, match=r"std\(x, 2\) is not a number"):
        robustness("H (std(x, 2) <= 1)", np.array([[[1e300, 1.0]]]))


@pytest.mark.parametrize("make", [lambda f: Monitor(f), to_python, to_c])
@pytest.mark.parametrize(
    "text", ["H (mean(x, 2 s) <= 1)", "G (rate(x) <= 1 & x > 2)", "H (since(integral(x) > 2) < 3)"]
)
def test_times_need_a_known_step_and_the_error_says_where_and_how(make, text):
    with pytest.raises(FormulaError, match="the time between samples is not known") as caught:
        make(parse(text))
    assert caught.value.text == text
    assert caught.value.at == min(text.find(word) for word in ("mean", "rate", "integral") if word in text)
    assert "--dt 0.1 --unit s" in str(caught.value)


def test_a_step_that_does_not_fit_is_refused():
    with pytest.raises(FormulaError, match=r"0.25 s is not a multiple of the time between samples, 0.1 s"):
        Monitor("H (mean(x, 0.25 s) <= 1)", step=Step(0.1, "s"))


def test_functions_keep_no_more_than_their_windows():
    monitor = Monitor("H (mean(x, 5) + highest(x, 50) + integral(x) + since(x > 2) + diff(x, 7) <= 99)", step=STEP)
    for x in np.random.default_rng(0).normal(size=2000):
        monitor.update([x])
    cells = [cell.cell_contents for cell in monitor.update.__closure__]
    kept = [each for each in cells if hasattr(each, "__len__") and not isinstance(each, (str, tuple))]
    assert sum(map(len, kept)) <= 5 + 2 * 50 + 7
    for formula in ("H (mean(x, 30000000) <= 1)", "H (diff(x, 100000000) <= 1)"):
        with pytest.raises(UnsupportedError, match="more than a monitor will keep"):
            Monitor(formula)
    with pytest.raises(UnsupportedError, match="look back 100000000 samples"):
        to_c(parse("H (diff(x, 100000000) <= 1)"))


def test_float32_samples_are_judged_as_float32_to_the_end_of_a_bounded_window():
    values = np.array([1, 2, 3], np.float32)
    for text in ("F[1,9] (x > 0.1)", "F[1,9] (mean(x, 2) > 0.1)"):
        monitor = Monitor(text)
        for value in values:
            monitor.update([value])
        assert monitor.finish().robustness == robustness(text, values[None])[0]
