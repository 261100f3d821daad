"""One cache line of a trace as one value: neighbouring samples worked on together.

A running minimum along time waits for its own last result at every sample. Within a line of 16
floats (8 doubles) it can instead be had by doubling: after steps of 1, 2, 4, 8 every lane holds
the minimum of all lanes up to it, and only the line's last lane is handed on. The loops in
`kernels` are written with these functions inside numba; LLVM turns them into whatever vector
instructions the processor has. A row of samples is given by the address of its first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import datamodel
from numba.extending import intrinsic, register_model

LINE_BYTES = 64


class Lanes(types.Type):
    """A line of neighbouring samples of one floating type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.count = LINE_BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class LanesModel(datamodel.models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        element = {32: ir.FloatType(), 64: ir.DoubleType()}[fe_type.dtype.bitwidth]
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.count))


_INT32 = ir.IntType(32)


def _shuffled(builder: Any, lanes: Any, order: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(order)), [ir.Constant(_INT32, i) for i in order])
    return builder.shuffle_vector(lanes, ir.Constant(lanes.type, ir.Undefined), mask)


def _splat(builder: Any, number: Any, count: int) -> Any:
    empty = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INT32, 0))
    return _shuffled(builder, first, [0] * count)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _order(count: int, step: int, ahead: bool) -> list[int]:
    """Which lane each lane looks at: `step` earlier (or ahead), itself where there is none."""
    there = [lane + (step if ahead else -step) for lane in range(count)]
    return [t if 0 <= t < count else lane for lane, t in enumerate(there)]


def _place(builder: Any, address: Any, at: Any, element: Any, count: int) -> Any:
    """A pointer to `count` elements from `address[at]` on."""
    row = builder.inttoptr(address, element.as_pointer())
    wanted = element if count == 1 else ir.VectorType(element, count)
    return builder.bitcast(builder.gep(row, [at]), wanted.as_pointer())


def _loading(whole_line: bool) -> Any:
    @intrinsic
    def load(typing: Any, address: Any, at: Any, like: Any) -> Any:
        result = Lanes(like) if whole_line else like

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            count = result.count if whole_line else 1
            value = builder.load(_place(builder, args[0], args[1], context.get_data_type(like), count))
            value.align = like.bitwidth // 8
            return value

        return result(types.intp, types.intp, like), emit

    return load


@intrinsic
def store(typing: Any, address: Any, at: Any, value: Any) -> Any:
    """Write a line, or one sample, to `address[at]`."""
    line = isinstance(value, Lanes)
    number = value.dtype if line else value

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = value.count if line else 1
        place = _place(builder, args[0], args[1], context.get_data_type(number), count)
        builder.store(args[2], place).align = number.bitwidth // 8
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, value), emit


@intrinsic
def seen(typing: Any, lanes: Any, weight: Any, bias: Any) -> Any:
    """`weight * x + bias`, rounded after each of the two."""
    number = lanes.dtype

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        w, b = (_splat(builder, v, lanes.count) for v in args[1:])
        return builder.fadd(builder.fmul(args[0], w), b)

    return lanes(lanes, number, number), emit


@intrinsic
def spread(typing: Any, number: Any) -> Any:
    """A line of copies of one number."""
    result = Lanes(number)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _splat(builder, args[0], result.count)

    return result(number), emit


def _lanewise(combine: Callable[..., Any]) -> Any:
    @intrinsic
    def both(typing: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return combine(builder, *args)

        return left(left, right), emit

    return both


def _reduced(better: Callable[..., Any]) -> Any:
    @intrinsic
    def reduce(typing: Any, lanes: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value, step = args[0], lanes.count // 2
            while step:
                value = better(builder, value, _shuffled(builder, value, _order(lanes.count, step, True)))
                step //= 2
            return builder.extract_element(value, ir.Constant(_INT32, 0))

        return lanes.dtype(lanes), emit

    return reduce


def _running(better: Callable[..., Any], ahead: bool) -> Any:
    @intrinsic
    def scan(typing: Any, lanes: Any, carry: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value, count, step = args[0], lanes.count, 1
            while step < count:
                value = better(builder, value, _shuffled(builder, value, _order(count, step, ahead)))
                step *= 2
            return better(builder, value, _splat(builder, args[1], count))

        return lanes(lanes, lanes.dtype), emit

    return scan


def _holding(better: Callable[..., Any], worse: Callable[..., Any], ahead: bool) -> Any:
    @intrinsic
    def scan(typing: Any, hold: Any, goal: Any, carry: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            a, b, count, step = args[0], args[1], hold.count, 1
            while step < count:  # clamps compose: (a, b) after (a1, b1)
                order = _order(count, step, ahead)
                a1, b1 = _shuffled(builder, a, order), _shuffled(builder, b, order)
                b = better(builder, b, worse(builder, a, b1))
                a = worse(builder, a, a1)
                step *= 2
            return better(builder, b, worse(builder, a, _splat(builder, args[2], count)))

        return hold(hold, goal, hold.dtype), emit

    return scan


def _lane(last: bool) -> Any:
    @intrinsic
    def pick(typing: Any, lanes: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.extract_element(args[0], ir.Constant(_INT32, lanes.count - 1 if last else 0))

        return lanes.dtype(lanes), emit

    return pick


load, sample = _loading(True), _loading(False)
"""`load(row, i, like)` is the line from sample i on, `sample` that one sample, of `like`'s type."""
plus = _lanewise(lambda builder, a, b: builder.fadd(a, b))
smaller, larger = _lanewise(_smaller), _lanewise(_larger)
smallest, largest = _reduced(_smaller), _reduced(_larger)
running_min, running_max = _running(_smaller, False), _running(_larger, False)
running_min_ahead, running_max_ahead = _running(_smaller, True), _running(_larger, True)
holding_min, holding_max = _holding(_smaller, _larger, False), _holding(_larger, _smaller, False)
holding_min_ahead, holding_max_ahead = _holding(_smaller, _larger, True), _holding(_larger, _smaller, True)
first, last = _lane(False), _lane(True)
