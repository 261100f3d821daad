"""Formulas over unknown samples mean what they mean on known ones."""

import re
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("z3", reason="needs fernn[verify]")

import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.errors import FormulaError, SignalError, UnsupportedError
from fernn.formula import parse
from fernn.formula.expressions import Step, Sum
from fernn.semantics.z3_encoding import encode_formula
from oracle import Sampled, as_trace, holds, rho
from strategies import CHANNELS, formulas, function_atoms, traces


def unknown(size):
    return {name: z3.RealVector(name, size) for name in CHANNELS}


@settings(max_examples=150, deadline=None)
@given(formulas(), traces(longest=9, dtype=np.float64), st.integers(0, 8))
def test_over_known_samples_it_is_the_definition(formula, trace, at):
    size = trace.shape[1]
    at %= size
    samples = unknown(size)
    known = {name: [Fraction(value) for value in row] for name, row in zip(CHANNELS, trace.tolist(), strict=True)}
    solver = z3.Solver()
    solver.add([x == str(v) for name in CHANNELS for x, v in zip(samples[name], known[name], strict=True)])
    solver.add(encode_formula(formula, samples, at) != z3.BoolVal(holds(formula, known, at)))
    assert solver.check() == z3.unsat


def is_linear(atom):
    """Whether a formula has an encoding in sums: no products, and what may be infinite alone."""
    names = [call.function for call in atom.calls]
    alone = len(atom.weights) == 1 and names == ["since"]
    inner = [part for call in atom.calls for part in call.arguments if not isinstance(part, Sum)]
    return not set(names) & {"*", "/", "norm", "std", "missing"} and ("since" not in names or alone) and not inner[1:]


@settings(max_examples=200, deadline=None)
@given(function_atoms(), traces(longest=7, dtype=np.float64))
def test_functions_over_known_samples_are_their_definition(atom, trace):
    size = trace.shape[1]
    samples, step = unknown(size), Step(0.5, "s")
    if not is_linear(atom):
        return
    seen = Sampled(as_trace(trace, CHANNELS))
    seen.step = 0.5
    solver = z3.Solver()
    solver.add([x == str(Fraction(v)) for name in CHANNELS for x, v in zip(samples[name], seen[name], strict=True)])
    sure = [t for t in range(size) if abs(rho(atom, seen, t)) > 1e-9]
    wrong = [encode_formula(atom, samples, t, step=step) != z3.BoolVal(bool(holds(atom, seen, t))) for t in sure]
    solver.add(z3.Or(wrong))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("call", ["x*y", "x/y", "norm(x, y)", "std(x, 3)", "mean(x*y, 2)", "since(x > 1) + x"])
def test_a_function_that_is_no_sum_is_refused_by_name(call):
    name = {"mean(x*y, 2)": "x*y", "since(x > 1) + x": "since(x > 1)"}.get(call, call)
    with pytest.raises(UnsupportedError, match=re.escape(name)):
        encode_formula(parse(f"G ({call} <= 3)"), unknown(4))


@pytest.mark.parametrize(("text", "at"), [("H (x >= 1)", 4), ("F (x >= 1)", 0), ("x >= 1", 0), ("O[1,2] (y < 0)", 4)])
def test_a_formula_is_judged_at_its_own_sample(text, at):
    formula, samples = parse(text), unknown(5)
    assert encode_formula(formula, samples).eq(encode_formula(formula, samples, at))
    assert encode_formula(formula, samples).eq(encode_formula(formula, samples, at - 5))


def test_what_cannot_be_unrolled_is_refused():
    with pytest.raises(UnsupportedError, match="open choices"):
        encode_formula(parse("F ?p"), unknown(3))
    with pytest.raises(SignalError, match="both back and ahead"):
        encode_formula(parse("F O (x >= 1)"), unknown(3))
    with pytest.raises(SignalError, match="no sample 3 in a trace of 3"):
        encode_formula(parse("x >= 1"), unknown(3), 3)
    with pytest.raises(FormulaError, match="expected a formula, found str"):
        encode_formula("x >= 1", unknown(3))
