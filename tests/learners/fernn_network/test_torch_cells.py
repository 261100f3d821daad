"""Each cell computes its definition, and where several samples decide, the gradient goes to the right one."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="torch is not installed")

import torch
from hypothesis import given
from hypothesis import strategies as st

import fernn.torch as ft
from fernn.formula import Interval, interval
from fernn.learners.fernn.torch_cells.operators import heaviest


def gradient(cell, *signals, at=-1):
    """Of the result at one sample, by each signal."""
    given = [torch.tensor(signal, dtype=torch.float64, requires_grad=True) for signal in signals]
    cell(*given)[..., at].sum().backward()
    return [[0.0] * len(s) if s.grad is None else s.grad.tolist() for s in given]


def choose(options, pick):
    """The pair (value, path) that pick prefers, the first of equals."""
    return pick(options, key=lambda option: option[0])


def leaf(name, row):
    return [(value, (name, t)) for t, value in enumerate(row)]


def since_by_steps(left, right, paper=False):
    """The recursion word for word, on (value, where it came from); the operand named first wins a tie."""
    before, found = (-inf, None), []
    for hold, goal in zip(leaf("left", left), leaf("right", right), strict=True):
        if paper:
            before = choose([hold, choose([goal, before], max)], min)
        else:
            before = choose([goal, choose([hold, before], min)], max)
        found.append(before)
    return found


# Few values, so that ties are common.
def pairs(n):
    row = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return st.tuples(row, row)


rows = st.integers(1, 40).flatmap(pairs)


@pytest.mark.parametrize("paper", [False, True])
@given(rows)
def test_since_is_its_recursion_in_value_and_in_gradient(paper, pair):
    cell = ft.PaperSince() if paper else ft.Since()
    steps = since_by_steps(*pair, paper)
    assert cell(*map(torch.tensor, np.array(pair, float))).tolist() == [value for value, _ in steps]
    name, t = steps[-1][1]
    left, right = gradient(cell, *pair)
    assert np.flatnonzero(left + right).tolist() == [t + (len(left) if name == "right" else 0)]


def test_the_paper_reads_since_as_left_since_left_and_right():
    left, right = torch.randn(2, 5, 30)
    assert torch.equal(ft.PaperSince()(left, right), ft.Since()(left, ft.Conjunction()(left, right)))


def test_of_two_equal_operands_the_left_gets_the_gradient():
    assert gradient(ft.Conjunction(), [1.0], [1.0]) == [[1.0], [0.0]]
    assert gradient(ft.Disjunction(), [1.0], [1.0]) == [[1.0], [0.0]]


@pytest.mark.parametrize(
    "cell", [ft.Once(), ft.Historically(), ft.WindowOnce(interval(0, 3)), ft.WindowHistorically(interval(0, 3))]
)
def test_on_a_plateau_the_nearest_sample_gets_the_gradient(cell):
    assert gradient(cell, [2.0, 2.0, 2.0, 2.0]) == [[0, 0, 0, 1]]
    sign = 1 if isinstance(cell, ft.Once) or (isinstance(cell, ft.WindowOnce) and cell.largest) else -1
    assert gradient(cell, [sign * v for v in (1.0, 3.0, 3.0, 0.0)]) == [[0, 0, 1, 0]]
    assert gradient(ft.Ahead(cell), [sign * v for v in (0.0, 3.0, 3.0, 1.0)], at=0) == [[0, 1, 0, 0]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_a_window_is_its_definition_in_value_and_in_gradient(row, offsets):
    over = Interval(tuple((o, o) for o in offsets))
    mask = ft.Mask(10)
    mask.weights.data = torch.tensor([1.0 if i in offsets else -1.0 for i in range(10)])
    for kind, pick, worst in ((ft.WindowOnce, max, -inf), (ft.WindowHistorically, min, inf)):
        seen = [leaf("a", row)[t] for t in range(len(row))][::-1]
        inside = [seen[o] for o in sorted(set(offsets)) if o < len(row)]
        value, place = choose(inside, pick) if inside else (worst, None)
        for cell in (kind(over), kind(mask)):
            assert cell(torch.tensor(row, dtype=torch.float64))[-1].item() == value
            (found,) = gradient(cell, row)
            assert np.flatnonzero(found).tolist() == ([] if place is None else [place[1]])


def test_the_weight_of_the_offset_that_decides_gets_the_result_as_gradient():
    mask = ft.Mask(4)
    mask.weights.data = torch.tensor([0.5, -1.0, 2.0, 0.0])
    result = ft.WindowOnce(mask)(torch.tensor([9.0, 3.0, 7.0, 1.0]))
    assert result.tolist() == [9.0, 3.0, 9.0, 9.0]
    result[-1].backward()
    assert mask.weights.grad.tolist() == [0, 0, 0, 9.0]
    assert mask.interval == Interval(((0, 0), (2, 3)))


def test_a_mask_keeps_at_least_its_largest_weight():
    mask = ft.Mask(3)
    mask.weights.data = torch.tensor([-3.0, -1.0, -2.0])
    assert mask.offsets == [1]


@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=9), st.integers(1, 3))
def test_the_heaviest_pieces_have_the_largest_sum(weights, pieces):
    if max(weights) < 0:
        return
    found = heaviest(weights, pieces)

    def spans(places):
        return sum(p - 1 not in places for p in places)

    subsets = [[i for i in range(len(weights)) if bits >> i & 1] for bits in range(1, 2 ** len(weights))]
    assert spans(found) <= pieces
    assert sum(weights[i] for i in found) == max(sum(weights[i] for i in s) for s in subsets if spans(s) <= pieces)


@given(rows, st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_a_learned_window_of_since_is_the_fixed_one(pair, offsets):
    mask = ft.Mask(10)
    mask.weights.data = torch.tensor([1.0 if i in offsets else -1.0 for i in range(10)])
    for paper in (False, True):
        fixed, learned = ft.WindowSince(mask.interval, paper), ft.WindowSince(mask, paper)
        signals = list(map(torch.tensor, np.array(pair, float)))
        assert torch.equal(fixed(*signals), learned(*signals))
        assert gradient(fixed, *pair) == gradient(learned, *pair)


def test_the_largest_weight_of_a_choice_wins_with_its_sign_and_all_learn():
    choice = ft.Choice(3)
    choice.weights.data = torch.tensor([0.5, -2.0, 2.0])
    options = [torch.tensor([v], requires_grad=True) for v in (10.0, 20.0, 30.0)]
    result = choice(*options)
    assert result.tolist() == [-40.0]
    assert choice.winner == 1  # of equals the first
    result.sum().backward()
    assert choice.weights.grad.tolist() == [10.0, 20.0, 30.0]
    assert [option.grad.item() if option.grad is not None else 0.0 for option in options] == [0.0, -2.0, 0.0]


def test_an_unquantised_choice_mixes():
    choice = ft.Choice(2, quantised=False)
    choice.weights.data = torch.tensor([0.5, -2.0])
    assert choice(torch.tensor([10.0]), torch.tensor([1.0])).tolist() == [3.0]


def test_infinite_options_neither_spoil_the_result_nor_the_gradient():
    choice = ft.Choice(2)
    choice.weights.data = torch.tensor([0.5, 2.0])
    choice(torch.tensor([-inf, -inf]), torch.tensor([3.0, inf])).sum().backward()
    assert choice.weights.grad.tolist() == [0.0, 3.0]


def test_atoms_weigh_channels():
    x = torch.tensor([[1.0, 2.0], [10.0, 20.0]])
    atom = ft.Atom(2)
    atom.weights.data, atom.bias.data = torch.tensor([2.0, -1.0]), torch.tensor(3.0)
    assert atom(x).tolist() == [-5.0, -13.0]
    axis = ft.AxisAtom(2)
    axis.choice.weights.data, axis.weights.data = torch.tensor([0.1, -0.5]), torch.tensor([7.0, 2.0])
    axis.bias.data = torch.tensor([0.0, 1.0])
    assert axis(x).tolist() == [-10.5, -20.5]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_cells_take_any_batch_and_keep_the_type(kind):
    a, b = torch.randn(2, 3, 4, 9, dtype=kind)
    for cell in (ft.Since(), ft.PaperSince(), ft.Conjunction(), ft.WindowSince(interval(1, 3))):
        assert cell(a, b).shape == a.shape
        assert cell(a, b).dtype == kind
    for cell in (ft.Once(), ft.Negation(), ft.WindowOnce(interval(2)), ft.WindowHistorically(ft.Mask(4))):
        assert cell(a).shape == a.shape
        assert cell(a).dtype == kind
        assert torch.equal(cell(a)[1, 2], cell(a[1, 2]))
