"""Formulas over unknown samples mean what they mean on known ones."""

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("z3", reason="needs fernn[verify]")

import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.errors import FormulaError, SignalError, UnsupportedError
from fernn.formula import parse
from fernn.semantics.z3_encoding import encode_formula
from oracle import holds
from strategies import CHANNELS, formulas, traces


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
