"""The Triton kernel of a network: a program takes a restart and a block of traces through all of time and back.

A thread has one trace, and all signals and adjoints of a sample in registers. Only the results of operators along time
go to memory, forward, to be read again on the way back: 8 bytes an operator and sample, in a place that belongs to
the program. Programs take one piece of work after another, so the memory does not grow with restarts or traces.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from .gpu_training import SampleCode, define_functions, sample_code
from .quantised_kernels import TANH
from .template_network import TemplateNetwork

ROOM = 2**30
"""Bytes, at most, for the results that are read again."""

_HEAD = """
def network(
    X, LABELS, COUNTS, WEIGHTS, ROOM, LOSS, FOUND, OUT, work, tiles, samples, lanes,
    BLOCK: tl.constexpr, KIND: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    row = tl.cast(lanes, tl.int64)
    zero = tl.zeros([BLOCK], X.dtype.element_ty)
    low = zero - float("inf")
    high = zero + float("inf")
    for item in range(tl.program_id(0), work, tl.num_programs(0)):
        piece = item + 0 * program
        restart = piece // tiles
        at = (piece % tiles) * BLOCK + lane
"""
_LOSS = """
OUT_AT = OUT + restart * row + at
tl.store(OUT_AT, out)
if KIND >= 0:
    label = tl.load(LABELS + at).to(tl.float64)
    count = tl.load(COUNTS + at).to(tl.float64)
    wide = out.to(tl.float64)
    if KIND == 0:
        small = tl.exp(-2.0 * tl.abs(wide))
        size = (1.0 - small) / (1.0 + small)
        squashed = tl.where(wide < 0.0, -size, size)
        value = tl.abs(label - squashed)
        slope = tl.where(squashed > label, 1.0, -1.0) * (1.0 - squashed * squashed)
    else:
        value = tl.abs(label - wide)
        slope = tl.where(wide > label, 1.0, tl.where(wide < label, -1.0, 0.0))
    g = (slope * count).to(zero.dtype)
    tl.store(LOSS + piece, tl.sum(value * count, axis=0))
    tl.debug_barrier()
"""


def _source(code: SampleCode) -> str:
    """The kernel around the code of one sample."""
    kept = len(code.along)
    weights = [f"w{j} = tl.load(WEIGHTS + restart * {code.weights} + {j})" for j in range(code.weights)]
    channels = [f"x{c} = tl.load(X + ({c} * samples + t) * row + at)" for c in range(code.channels)]
    place = [f"ROOM + ((program * {kept} + {i}) * samples + t) * BLOCK + lane" for i in range(kept)]
    start = [f"y{n} = {'low' if lowest else 'high'}" for n, lowest in zip(code.along, code.lowest, strict=True)]
    body = [*weights, *start, "out = zero", "for t in range(samples):"]
    body += _in([*channels, *code.forward])
    body += _in([f"tl.store({place[i]}, y{n})" for i, n in enumerate(code.along)])
    body += _in([f"out = s{code.root} + zero"])
    body += _LOSS.strip().splitlines()
    back = [f"h{n} = zero" for n in code.along] + [f"d{j} = zero" for j in range(code.weights)]
    back += ["for i in range(samples):", *_in(["t = samples - 1 - i", *channels])]
    for i, (n, lowest) in enumerate(zip(code.along, code.lowest, strict=True)):
        before = f"tl.load({place[i]} - BLOCK, mask=(lane >= 0) & (t > 0), other=float('{'-' if lowest else ''}inf'))"
        back += _in([f"s{n} = y{n}", f"b{n} = {before}"])
    back += _in([f"g{code.root} = g", *code.back, "g = zero", *(f"y{n} = b{n}" for n in code.along)])
    found = f"FOUND + piece * {code.weights}"
    back += [f"tl.store({found} + {j}, tl.sum(d{j}, axis=0))" for j in range(code.weights)]
    return _HEAD.strip() + "\n" + "\n".join(_in(_in([*body, *_in(back)]))) + "\n"


def _in(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@lru_cache(maxsize=32)
def compile_kernel(wiring: TemplateNetwork) -> tuple[SampleCode, Any]:
    """The kernel of a network."""
    code = sample_code(wiring)
    return code, triton.jit(define_functions(_source(code), {"tl": tl})["network"])


def block_size(cases: int) -> int:
    """Traces that a program takes at once: what leaves the fewest threads idle, more of equals."""
    return min((128, 64, 32), key=lambda size: -(-cases // size) * size)


def kernel_losses(
    wiring: TemplateNetwork, weights: Any, x: Any, labels: Any, counts: Any, loss: int
) -> tuple[Any, Any, Any]:
    """As `gpu_training.tensor_losses`, on a GPU. The number of cases is a multiple of 32."""
    code, run = compile_kernel(wiring)
    _, samples, lanes = x.shape
    size = block_size(lanes)
    tiles, restarts = lanes // size, weights.shape[0]
    bytes_each = max(1, len(code.along)) * samples * size * x.element_size()
    programs = max(1, min(restarts * tiles, 16 * _processors(x.device), ROOM // bytes_each))

    def empty(*shape: int) -> Any:
        return torch.empty(*shape, dtype=x.dtype, device=x.device)

    room, found = empty(programs * bytes_each // x.element_size()), empty(restarts, tiles, code.weights)
    total, out = torch.empty(restarts, tiles, dtype=torch.float64, device=x.device), empty(restarts, lanes)
    run[(programs,)](
        x, labels, counts, weights, room, total, found, out, restarts * tiles, tiles, samples, lanes,
        BLOCK=size, KIND=loss if loss < 0 else int(loss != TANH), num_warps=size // 32,
    )  # fmt: skip
    if loss < 0:
        return weights[:, 0] * 0, weights * 0, out
    return total.sum(1), found.double().sum(1), out


def _processors(device: Any) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 2
