"""All restarts at once, on tensors: the same losses, gradients, weights and schedule as the compiled loops."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch", reason="torch is not installed")

from side_by_side import CASES, pair

from fernn.errors import UnsupportedError
from fernn.formula import parse
from fernn.formula.templates import paper_length
from fernn.learners.fernn.gpu_training import sample_code
from fernn.learners.fernn.template_network import compile_template
from fernn.learners.fernn.training import Schedule

NOISE = 1e-6
"""What adding up in another order does to sums of float32."""

needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA card that torch can use")


@pytest.mark.parametrize("case", CASES)
def test_losses_gradients_and_outputs_are_those_of_the_compiled_loops(case):
    made = pair(**CASES[case])
    theta = 0.5 * np.random.default_rng(1).standard_normal((6, made.loops.size))
    apart, off = made.gradients(theta)
    assert apart < 2 * NOISE
    assert off < NOISE
    assert made.loops.loss_and_gradient(theta[0], 0)[1].any() or "constants" in case


@pytest.mark.slow
@pytest.mark.parametrize("case", ["length 4", "length 6", "mixing", "linear", "real labels", "bounds from one side"])
def test_weights_after_training_are_those_of_one_training_after_the_other(case):
    at, alone = pair(**CASES[case]).trained(4)
    for i, one in enumerate(alone):
        assert_allclose(at.theta[i], one.theta, atol=1e-4)
        assert_allclose(at.best_theta[i], one.best_theta, atol=1e-4)
        assert_allclose([at.best[i], at.loss[i]], [one.best, one.losses[-1]], atol=1e-5)
        assert at.epoch[i] == one.epoch == 12


@pytest.mark.parametrize("rules", [{"quiet": 3}, {"most_cuts": 2}, {"quiet": 6, "most_cuts": 1}], ids=str)
def test_rates_are_cut_and_restarts_stop_each_for_itself(rules):
    schedule = Schedule(rate=0.3, epochs=40, cut=0.5, first_patience=2, patience=1, **rules)
    at, alone = pair(**CASES["length 2"], schedule=schedule).trained(12)
    for name in ("epoch", "cuts", "improved", "marked", "steps", "stopped", "rate"):
        assert_array_equal(getattr(at, name), [getattr(one, name) for one in alone])
    assert len(set(at.epoch)) > 2  # they did not stop together
    assert_allclose(at.best, [one.best for one in alone], atol=1e-3)


def test_in_float64_ties_and_signs_are_the_same():
    made = pair(**CASES["length 6"], dtype=torch.float64)
    theta = 0.5 * np.random.default_rng(2).standard_normal((6, made.loops.size))
    assert made.gradients(theta)[0] < 2 * NOISE


def test_how_epochs_are_grouped_changes_nothing():
    made = pair(**CASES["length 4"])
    first = made.starts(3)
    one, other = made.tensors.run(first, 7), first
    for _ in range(7):
        other = made.tensors.run(other, 1)
    assert_array_equal(one.theta, other.theta)
    assert one.epochs == 7
    assert made.tensors.run(one, 100).epochs == 12  # where the schedule ends
    assert first.epochs == 0  # is as it was


def test_windows_are_refused_with_the_part_that_has_them():
    wiring = compile_template(parse("F (G[0,3] ?p)"), ("a",))
    with pytest.raises(UnsupportedError, match=r"found H\[0,3\] \?p; device='cpu' takes windows"):
        sample_code(wiring)


def test_names_of_channels_are_not_in_the_code():
    code = sample_code(compile_template(paper_length(6), ("__import__('os')", "w0"), paper_since=True))
    lines = "\n".join((*code.forward, *code.back))
    assert set("".join(lines.split())) <= set("tl.maximumwherensdyxghbcv0123456789=+-*()<>,!f'")


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_the_kernel_computes_the_same_in_tritons_interpreter():
    """In a process of its own, since Triton decides when it is loaded whether it compiles."""
    here = Path(__file__).parent
    env = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join([*sys.path, str(here)])}
    done = subprocess.run(
        [sys.executable, str(here / "interpreted.py")], env=env, capture_output=True, text=True, check=False
    )
    if "only 0-dimensional arrays can be converted" in done.stderr:
        pytest.skip("the interpreter of this triton does not run with this numpy")
    assert done.returncode == 0, done.stderr[-2000:]
    told = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert len(told) == len(CASES)
    assert max(map(float, told.values())) < 2 * NOISE, told


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
@pytest.mark.parametrize("kind", ["fp32", "fp64"])
def test_the_kernel_compiles_for_a_card_that_is_not_there(kind):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from fernn.learners.fernn.gpu_network_kernel import compile_kernel

    _, kernel = compile_kernel(compile_template(paper_length(6), ("a", "b"), paper_since=True))
    fixed = {"BLOCK": 64, "KIND": 0}
    types = dict.fromkeys(("X", "LABELS", "COUNTS", "WEIGHTS", "ROOM", "FOUND", "OUT"), f"*{kind}") | {"LOSS": "*fp64"}
    types |= dict.fromkeys(("work", "tiles", "samples", "lanes"), "i32") | dict.fromkeys(fixed, "constexpr")
    names = kernel.arg_names
    source = ASTSource(kernel, {name: types[name] for name in names}, fixed)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 2})
    assert made.asm["cubin"]


@needs_card
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_a_card_computes_the_same(case, kind):
    made = pair(**CASES[case], device="cuda", dtype=getattr(torch, kind))
    theta = 0.5 * np.random.default_rng(1).standard_normal((50, made.loops.size))
    apart, off = made.gradients(theta)
    assert apart < 5 * NOISE
    assert off < 5 * NOISE


@needs_card
@pytest.mark.parametrize("case", ["length 4", "length 6", "mixing", "linear"])
def test_a_card_trains_the_same(case):
    at, alone = pair(**CASES[case], device="cuda").trained(4)
    assert_allclose(at.theta, [one.theta for one in alone], atol=1e-4)
