"""What leaves the house means the same outside."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.errors import FernnError, FormulaError, UnsupportedError
from fernn.formula.export import from_json, to_breach, to_c, to_json, to_latex, to_python, to_rtamt
from fernn.formula.measures import channels, direction
from fernn.formula.parser import parse
from oracle import Sampled, as_trace, holds, rho
from strategies import CHANNELS, FUTURE, PAST, formulas, function_atoms, traces

one_way = st.one_of(formulas(PAST), formulas(FUTURE))


def agrees(value, formula, trace):
    """The exported value is the definition's, and its sign the verdict."""
    seen = as_trace(trace.astype(float), CHANNELS)
    t = trace.shape[1] - 1 if direction(formula) == "past" else 0
    exact = rho(formula, seen, t)
    assert value == exact or (exact == 0 and value == -5e-324)
    assert (value >= 0) == holds(formula, seen, t)


@settings(max_examples=300, deadline=None)
@given(formulas())
def test_json_round_trips_every_formula(formula):
    assert from_json(to_json(formula)) == formula
    assert json.loads(to_json(formula))["schema"] == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1, "formula": {"op": "G"}}',
                                  '{"schema": 1, "formula": {"op": "__class__", "args": []}}'])  # fmt: skip
def test_json_from_strangers_is_refused_clearly(text):
    with pytest.raises(FormulaError):
        from_json(text)


@settings(max_examples=300, deadline=None)
@given(one_way, traces(dtype=np.float64, longest=16))
def test_exported_python_agrees_with_the_definition(formula, trace):
    namespace: dict = {}
    exec(to_python(formula), namespace)
    agrees(namespace["robustness"](as_trace(trace.astype(float), CHANNELS)), formula, trace)


@pytest.mark.parametrize("trace", [{"x": []}, {"x": [1.0, float("nan")]}, {"x": [1.0, 2.0], "y": [1.0]}])
def test_exported_python_refuses_what_it_cannot_judge(trace):
    namespace: dict = {}
    exec(to_python(parse("H (x <= 3)")), namespace)
    with pytest.raises(ValueError, match="every"):
        namespace["robustness"](trace)


def test_exported_python_of_a_past_formula_follows_the_trace():
    namespace: dict = {}
    exec(to_python(parse("H[0,1] (x >= 2)")), namespace)
    update = namespace["monitor"]()
    assert [update(x) for x in [3.0, 5.0, 1.0, 4.0]] == [1, 1, -1, -1]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_exported_c_compiles_without_warnings_and_agrees_with_the_definition(tmp_path):
    """Many formulas in one library, so that the compiler starts once."""
    random = np.random.default_rng(5)
    found: list = []

    @settings(max_examples=120, deadline=None, database=None)
    @given(one_way)
    def gather(formula):
        found.append(formula)

    gather()
    source = "\n".join(to_c(formula, f"m{i}") for i, formula in enumerate(found))
    sizes = "\n".join(f"size_t m{i}_size(void) {{ return sizeof(m{i}_state); }}" for i in range(len(found)))
    (tmp_path / "all.c").write_text(source + "\n" + sizes)
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "all.so", tmp_path / "all.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    for i, formula in enumerate(found):
        function, size = library[f"m{i}_robustness"], library[f"m{i}_size"]
        function.restype, size.restype = ctypes.c_double, ctypes.c_size_t
        state = ctypes.create_string_buffer(size())
        for length in (1, 2, 7, 30):
            trace = random.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.25], (2, length))
            used = channels(formula) or ("x",)
            rows = np.ascontiguousarray(np.stack([trace[CHANNELS.index(name)] for name in used], axis=1))
            value = function(state, rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(length))
            agrees(value, formula, trace)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_exported_c_runs_as_a_program(tmp_path):
    (tmp_path / "m.c").write_text(to_c(parse("G (x - y >= 1)")))
    subprocess.run(["cc", "-std=c99", "-DFERNN_MAIN", "-o", tmp_path / "m", tmp_path / "m.c", "-lm"], check=True)
    done = subprocess.run([tmp_path / "m"], input="5,1\n4, 2\n9 3\n", capture_output=True, text=True, check=True)
    assert float(done.stdout) == 1
    for wrong in ["5\n", "5,1\nabc,2\n", "5,1\nnan,2\n", "5,1,3\n", ""]:
        assert subprocess.run([tmp_path / "m"], input=wrong, capture_output=True, text=True).returncode == 2


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("G (v <= 34.3)", r"\mathbf{G} (v \leq 34.3)"),
        (
            "F[0,1]u[5,inf) (2*x - hr_diff > 1e-07)",
            r"\mathbf{F}_{[0,1] \cup [5,\infty)} (2 \, x - \text{hr\_diff} > 1 \cdot 10^{-7})",
        ),
        (
            "!(a >= 1) & (b < 2 | true) -> c > 0",
            r"\lnot (a \geq 1) \land (b < 2 \lor \top) \rightarrow c > 0",
        ),
        ("x >= 1 U[2,3] speed >= 0", r"(x \geq 1) \mathbf{U}_{[2,3]} (\mathit{speed} \geq 0)"),
    ],
)
def test_latex_reads_as_papers_print_it(text, latex):
    assert to_latex(parse(text)) == latex


@pytest.mark.parametrize(
    ("text", "breach"),
    [
        ("G (v <= 34.3)", "(alw (v[t] <= 34.3))"),
        ("F[2,4] (x >= 1) & !(y < 0)", "((ev_[0.2, 0.4] (x[t] >= 1)) and (not (y[t] < 0)))"),
        (
            "O[1,2]u[4,5] (2*x - y > 3)",
            "((once_[0.1, 0.2] (2*x[t]-y[t] > 3)) or (once_[0.4, 0.5] (2*x[t]-y[t] > 3)))",
        ),
        ("x >= 1 U[3,inf) y >= 1", "((x[t] >= 1) until_[0.3, inf] (y[t] >= 1))"),
        ("G (abs(x - 2*y) + 1 <= 3)", "(alw (abs(x[t]-2*y[t]) <= 2))"),
        ("G (diff(x, 0.5 s) <= 3)", "(alw (((x[t])-(x[t-0.5])) <= 3))"),
        ("x*y - (x + 1)/y >= 3", "(((x[t])*(y[t]))-((x[t]+1)/(y[t])) >= 3)"),
        ("lowest(norm(x, y), 3) >= 3", "(min(min(sqrt((x[t])^2+(y[t])^2), sqrt((x[t-0.1])^2+(y[t-0.1])^2)), "
         "sqrt((x[t-0.2])^2+(y[t-0.2])^2)) >= 3)"),
        ("rate(min(x, -1)) < 0", "((((min(x[t], -1))-(min(x[t-0.1], -1)))/0.1) < 0)"),
    ],
)  # fmt: skip
def test_breach_text(text, breach):
    assert to_breach(parse(text), dt=0.1, unit="s") == breach


def value_in_matlab(expression, rows, t, dt):
    """What MATLAB gives for an expression of Breach: before the first sample it is held, as `interp1` is made to."""

    def signal(found):
        ago = round(float(found[2] or 0) / dt)
        return f"({float(rows[found[1]][max(0, t + ago)])!r})"

    text = re.sub(r"([xy])\[t(-[0-9.]+)?\]", signal, expression).replace("^", "**")
    return eval(text, {"sqrt": np.sqrt})


@settings(max_examples=200, deadline=None)
@given(function_atoms(), traces(dtype=np.float64, longest=12))
def test_what_breach_computes_is_the_definition(atom, trace):
    try:
        text = to_breach(atom, dt=0.5, unit="s")
    except UnsupportedError:
        assert re.search(r"(mean|std|integral|since|count|is|missing)\(|==|!=| in \{|present", str(atom))
        return
    seen = Sampled(as_trace(trace, CHANNELS))
    seen.step = 0.5
    left, right = re.fullmatch(r"\((.*) [<>]=? ([^ ]+)\)", text).groups()
    for t in range(trace.shape[1]):
        wanted = rho(atom, seen, t) * (1 if atom.relation in (">", ">=") else -1)
        with np.errstate(all="ignore"):
            try:
                found = value_in_matlab(left, seen, t, 0.5) - float(right)
            except ZeroDivisionError:
                continue
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("export", "text", "message"),
    [
        (to_breach, "x >= 1 S y >= 2", "no Since"),
        (to_breach, '"heart rate" >= 1', "rename"),
        (to_rtamt, '"heart rate" >= 1', "rename"),
        (to_rtamt, "true", "true or false"),
        (to_c, "O F (x >= 1)", "both back and ahead"),
        (to_python, "O F (x >= 1)", "both back and ahead"),
    ],
)
def test_what_a_tool_cannot_say_is_refused_with_advice(export, text, message):
    with pytest.raises(UnsupportedError, match=message):
        export(parse(text))
    assert issubclass(UnsupportedError, FernnError)


def test_a_hostile_channel_name_stays_a_name():
    formula = parse(r'G ("/* */ system(); \"\"\" + __import__ " >= 1)')
    namespace: dict = {}
    exec(to_python(formula), namespace)
    (name,) = channels(formula)
    assert namespace["robustness"]({name: [2.0, 3.0]}) == 1
    assert to_c(formula).count("*/") == to_c(parse("G (x >= 1)")).count("*/")
