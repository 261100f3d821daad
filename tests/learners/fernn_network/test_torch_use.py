"""Cells inside other people's networks, on other devices, and without torch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="torch is not installed")

import torch
from torch import nn

import fernn
import fernn.torch as ft
from fernn.formula import Always, Eventually, Until, interval, simplify
from fernn.formula.nodes import AnyAtom, AnyOf, OpenInterval


class Alarm(nn.Module):
    """A convolution whose features are watched by a rule: the one was up lately, and the other since it came."""

    def __init__(self):
        super().__init__()
        self.features = nn.Conv1d(1, 3, 3, padding=1)
        self.recent, self.held, self.both = ft.WindowOnce(interval(0, 3)), ft.Since(), ft.Conjunction()

    def forward(self, x):
        up, left, right = self.features(x).unbind(-2)
        return self.both(self.recent(up), self.held(left, right))[..., -1]


def test_a_network_with_cells_in_it_trains():
    torch.manual_seed(0)
    X = torch.randn(80, 1, 20)
    labels = torch.where(X[:, 0, -4:].amax(-1) > 1.0, 1.0, -1.0)
    model = Alarm()
    adam = torch.optim.Adam(model.parameters(), 0.05)
    losses = []
    for _ in range(150):
        loss = (labels - torch.tanh(model(X))).abs().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    assert all(weights.grad.abs().sum() > 0 for weights in model.parameters())


def test_a_whole_network_learns_a_rule():
    X = torch.from_numpy(np.random.default_rng(0).uniform(0, 1, (100, 2, 25)))
    X[:50, 1] *= 0.6  # the good ones stay below 0.6 in y
    good = torch.arange(100) < 50
    labels = torch.where(good, 1.0, -1.0)
    p = AnyAtom("p")
    network = ft.Network(AnyOf((Always(p), Eventually(p))), ["x", "y"], seed=2).double()
    adam = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(300):
        adam.zero_grad()
        torch.relu(0.1 - labels * network(X)).mean().backward()
        adam.step()
    formula = network.formula(plain=True, units=(100, 10))
    assert fernn.satisfied(formula, X.numpy() * 10 + 100, ["x", "y"]).tolist() == good.tolist()
    assert str(simplify(formula)).startswith("G (y <")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_a_cuda_device_values_and_gradients_are_the_same():
    p, q = AnyAtom("p"), AnyAtom("q")
    template = AnyOf((Until(Always(p, OpenInterval(((0, 5),), "w", 2)), q, interval(1, 7)), Eventually(q), Until(p, q)))
    X = torch.randint(-3, 4, (64, 2, 300)).double()  # ties everywhere
    lengths = torch.randint(1, 301, (64,))
    for seed in range(10):
        found = []
        for device in ("cpu", "cuda"):
            network = ft.Network(template, ["x", "y"], seed=seed).double().to(device)
            result = network(X.to(device), lengths.to(device))
            torch.where(result.isfinite(), result, 0.0).sum().backward()
            found.append((result.detach().cpu().numpy(), ft.flat_gradients(network), network.formula()))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)
        assert found[0][2] == found[1][2]


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_fernn_never_imports_torch():
    code = "import sys, fernn; fernn.robustness, fernn.parse, fernn.read; print('torch' in sys.modules)"
    assert python(code) == "False"


def test_without_torch_the_error_says_what_to_install():
    code = """
import sys
sys.modules["torch"] = None
import fernn
try:
    import fernn.torch
except fernn.UnsupportedError as error:
    print(error)
"""
    assert "pip install 'fernn[torch]'" in python(code)
