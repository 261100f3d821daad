"""Sixteen neighbouring samples of a trace as one value, worked on together.

A running minimum along time waits for its own last result at every sample. Within a line of
sixteen it can instead be had by doubling: after steps of 1, 2, 4, 8 every lane holds the minimum
of all lanes up to it, and only the line's last lane is handed on. The loops in
`kernels` are written with these functions inside numba; LLVM turns them into whatever vector
instructions the processor has. A row of samples is given by the address of its first.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import datamodel
from numba.extending import intrinsic, register_model

LINE = 16
"""Lanes of a line: a cache line of float32, two of float64."""


class Vector(types.Type):
    """A line of neighbouring samples of one floating type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Vector)
class VectorModel(datamodel.models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Vector) -> None:
        element = {32: ir.FloatType(), 64: ir.DoubleType()}[fe_type.dtype.bitwidth]
        super().__init__(dmm, fe_type, ir.VectorType(element, LINE))


_INT32 = ir.IntType(32)


def _shuffle(builder: Any, lanes: Any, order: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(order)), [ir.Constant(_INT32, i) for i in order])
    return builder.shuffle_vector(lanes, ir.Constant(lanes.type, ir.Undefined), mask)


def _splat(builder: Any, number: Any, count: int) -> Any:
    empty = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INT32, 0))
    return _shuffle(builder, first, [0] * count)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _order(step: int, ahead: bool) -> list[int]:
    """Which lane each lane looks at: `step` earlier (or ahead), itself where there is none."""
    there = [lane + (step if ahead else -step) for lane in range(LINE)]
    return [t if 0 <= t < LINE else lane for lane, t in enumerate(there)]


def _place(builder: Any, address: Any, at: Any, element: Any, count: int) -> Any:
    """A pointer to `count` elements from `address[at]` on."""
    row = builder.inttoptr(address, element.as_pointer())
    wanted = element if count == 1 else ir.VectorType(element, count)
    return builder.bitcast(builder.gep(row, [at]), wanted.as_pointer())


def _make_load(whole_line: bool) -> Any:
    @intrinsic
    def load(typing: Any, address: Any, at: Any, like: Any) -> Any:
        result = Vector(like) if whole_line else like

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            count = LINE if whole_line else 1
            value = builder.load(_place(builder, args[0], args[1], context.get_data_type(like), count))
            value.align = like.bitwidth // 8
            return value

        return result(types.intp, types.intp, like), emit

    return load


@intrinsic
def past_line(typing: Any, address: Any, at: Any, like: Any) -> Any:
    """How many samples `address[at]` stands behind the last place where a line of memory begins."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.Constant(args[0].type, like.bitwidth // 8)
        return builder.and_(builder.add(builder.udiv(args[0], number), args[1]), ir.Constant(args[0].type, LINE - 1))

    return types.intp(types.intp, types.intp, like), emit


@intrinsic
def prefetch(typing: Any, address: Any, at: Any, like: Any) -> Any:
    """The line at `address[at]` will be wanted soon: it may be brought nearer. Any address will do."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = context.get_data_type(like)
        place = builder.bitcast(_place(builder, args[0], args[1], element, 1), ir.IntType(8).as_pointer())
        name = "llvm.prefetch.p0" if str(place.type) == "ptr" else "llvm.prefetch.p0i8"
        signature = ir.FunctionType(ir.VoidType(), [place.type, _INT32, _INT32, _INT32])
        function = builder.module.globals.get(name) or ir.Function(builder.module, signature, name)
        builder.call(function, [place, *(ir.Constant(_INT32, n) for n in (0, 2, 1))])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, like), emit


@intrinsic
def store(typing: Any, address: Any, at: Any, value: Any) -> Any:
    """Write a line, or one sample, to `address[at]`."""
    line = isinstance(value, Vector)
    number = value.dtype if line else value

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = LINE if line else 1
        place = _place(builder, args[0], args[1], context.get_data_type(number), count)
        builder.store(args[2], place).align = number.bitwidth // 8
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, value), emit


@intrinsic
def affine(typing: Any, lanes: Any, weight: Any, bias: Any) -> Any:
    """`weight * x + bias`, rounded after each of the two."""
    number = lanes.dtype

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        w, b = (_splat(builder, v, LINE) for v in args[1:])
        return builder.fadd(builder.fmul(args[0], w), b)

    return lanes(lanes, number, number), emit


@intrinsic
def broadcast(typing: Any, number: Any) -> Any:
    """A line of copies of one number."""
    result = Vector(number)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _splat(builder, args[0], LINE)

    return result(number), emit


def _make_elementwise(combine: Callable[..., Any]) -> Any:
    @intrinsic
    def both(typing: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return combine(builder, *args)

        return left(left, right), emit

    return both


@intrinsic
def largest(typing: Any, lanes: Any) -> Any:
    """The largest of all lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, step = args[0], LINE // 2
        while step:
            value = _larger(builder, value, _shuffle(builder, value, _order(step, True)))
            step //= 2
        return builder.extract_element(value, ir.Constant(_INT32, 0))

    return lanes.dtype(lanes), emit


@intrinsic
def total(typing: Any, lanes: Any) -> Any:
    """The sum of all lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, step = args[0], LINE // 2
        while step:  # the lanes that look beyond the end are not read again
            value = builder.fadd(value, _shuffle(builder, value, _order(step, True)))
            step //= 2
        return builder.extract_element(value, ir.Constant(_INT32, 0))

    return lanes.dtype(lanes), emit


@intrinsic
def if_at_most(typing: Any, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    """Lane by lane `then` where left <= right, else `otherwise`."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<=", args[0], args[1]), args[2], args[3])

    return then(left, right, then, otherwise), emit


@intrinsic
def is_above(typing: Any, left: Any, right: Any) -> Any:
    """Whether left > right in some lane."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">", *args), ir.IntType(LINE))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(left, right), emit


@intrinsic
def times(typing: Any, lanes: Any, weight: Any) -> Any:
    """Every lane times the weight."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fmul(args[0], _splat(builder, args[1], LINE))

    return lanes(lanes, lanes.dtype), emit


@intrinsic
def never_inline(typing: Any) -> Any:
    """Keeps the function it is called in from being copied into its callers.

    Otherwise LLVM copies all kernels into the one loop that calls them and takes minutes over the result.
    """

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), emit


def _make_align(ahead: bool) -> Any:
    def by(step: int) -> Any:
        order = [*range(step, LINE + step)] if ahead else [*range(LINE - step, 2 * LINE - step)]

        @intrinsic
        def align(typing: Any, line: Any, neighbour: Any) -> Any:
            """The line `step` samples further on, the missing lanes from the neighbouring line there."""

            def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                mask = ir.Constant(ir.VectorType(_INT32, LINE), [ir.Constant(_INT32, i) for i in order])
                return builder.shuffle_vector(*(args if ahead else args[::-1]), mask)

            return line(line, neighbour), emit

        return align

    return by


def _access_part(builder: Any, kind: str, line: Any, pointer: Any, *arguments: Any) -> Any:
    """A call of LLVM's masked load or store; lanes that are masked out touch no memory."""
    element = "f32" if isinstance(line.element, ir.FloatType) else "f64"
    pointer = builder.bitcast(pointer, line.as_pointer())
    opaque = "p0" if str(pointer.type) == "ptr" else f"p0v{LINE}{element}"
    name = f"llvm.masked.{kind}.v{LINE}{element}.{opaque}"
    bits = ir.VectorType(ir.IntType(1), LINE)
    align = ir.Constant(_INT32, 4 if element == "f32" else 8)
    if kind == "load":
        signature = ir.FunctionType(line, [pointer.type, _INT32, bits, line])
        given = [pointer, align, *arguments]
    else:
        signature = ir.FunctionType(ir.VoidType(), [line, pointer.type, _INT32, bits])
        given = [arguments[0], pointer, align, arguments[1]]
    function = builder.module.globals.get(name) or ir.Function(builder.module, signature, name)
    return builder.call(function, given)


def _between(builder: Any, low: Any, high: Any) -> Any:
    """True in the lanes from `low` to below `high`."""
    lanes = ir.Constant(ir.VectorType(_INT32, LINE), [ir.Constant(_INT32, i) for i in range(LINE)])
    first, end = (_splat(builder, builder.trunc(each, _INT32), LINE) for each in (low, high))
    return builder.and_(builder.icmp_signed(">=", lanes, first), builder.icmp_signed("<", lanes, end))


@intrinsic
def load_part(typing: Any, address: Any, at: Any, low: Any, high: Any, like: Any) -> Any:
    """The line from sample `at` on, zero outside of its lanes `low` to `high`, where nothing is read."""
    result = Vector(like)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = context.get_data_type(like)
        line = ir.VectorType(element, LINE)
        zero = ir.Constant(line, [0.0] * LINE)
        place = _place(builder, args[0], args[1], element, 1)
        return _access_part(builder, "load", line, place, _between(builder, *args[2:4]), zero)

    return result(types.intp, types.intp, types.intp, types.intp, like), emit


@intrinsic
def store_part(typing: Any, address: Any, at: Any, low: Any, high: Any, lanes: Any) -> Any:
    """Write the lanes `low` to `high` of the line that stands at `address[at]`."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = context.get_data_type(lanes.dtype)
        place = _place(builder, args[0], args[1], element, 1)
        _access_part(builder, "store", args[4].type, place, args[4], _between(builder, *args[2:4]))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp, lanes), emit


@intrinsic
def fill_outside(typing: Any, lanes: Any, low: Any, high: Any, number: Any) -> Any:
    """The lanes `low` to `high`, and `number` in the others."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(_between(builder, *args[1:3]), args[0], _splat(builder, args[3], LINE))

    return lanes(lanes, types.intp, types.intp, lanes.dtype), emit


def _make_running(ahead: bool) -> Any:
    @intrinsic
    def scan(typing: Any, lanes: Any) -> Any:
        """The running maximum along the line."""

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value, step = args[0], 1
            while step < LINE:
                value = _larger(builder, value, _shuffle(builder, value, _order(step, ahead)))
                step *= 2
            return value

        return lanes(lanes), emit

    return scan


def _make_hold(ahead: bool) -> Any:
    @intrinsic
    def scan(typing: Any, hold: Any, goal: Any, carry: Any) -> Any:
        """The running clamp r = max(goal, min(hold, r)) along the line, after `carry`, a line of copies."""

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            a, b, step = args[0], args[1], 1
            while step < LINE:  # clamps compose: (a, b) after (a1, b1)
                order = _order(step, ahead)
                a1, b1 = _shuffle(builder, a, order), _shuffle(builder, b, order)
                b = _larger(builder, b, _smaller(builder, a, b1))
                a = _smaller(builder, a, a1)
                step *= 2
            return _larger(builder, b, _smaller(builder, a, args[2]))

        return hold(hold, goal, hold), emit

    return scan


@intrinsic
def widen(typing: Any, lanes: Any) -> Any:
    """The line in double precision."""
    result = Vector(types.float64)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fpext(args[0], ir.VectorType(ir.DoubleType(), LINE))

    return result(lanes), emit


@intrinsic
def narrow(typing: Any, lanes: Any) -> Any:
    """The line rounded to single precision."""
    result = Vector(types.float32)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fptrunc(args[0], ir.VectorType(ir.FloatType(), LINE))

    return result(lanes), emit


def _as_bits(builder: Any, lanes: Any) -> Any:
    """The bits of float32 lanes without their signs: they are in the order of the sizes."""
    bits = ir.VectorType(_INT32, LINE)
    return builder.and_(builder.bitcast(lanes, bits), ir.Constant(bits, [0x7FFFFFFF] * LINE))


def _make_range(largest: bool) -> Any:
    @intrinsic
    def extend(typing: Any, known: Any, lanes: Any) -> Any:
        """The larger size, or the smaller one that is not zero, of what is known and the lanes; infinity and NaN are
        the largest. What is known begins with zero, or with NaN of all bits."""

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            bits = ir.VectorType(_INT32, LINE)
            found, more = builder.bitcast(args[0], bits), _as_bits(builder, args[1])
            if not largest:  # zero less one is the largest
                more = builder.sub(more, ir.Constant(bits, [1] * LINE))
            other = builder.icmp_unsigned(">" if largest else "<", more, found)
            return builder.bitcast(builder.select(other, more, found), args[0].type)

        return known(known, lanes), emit

    return extend


@intrinsic
def all_bits(typing: Any, like: Any) -> Any:
    """A line of `like`'s type with every bit set."""
    result = Vector(like)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = ir.VectorType(ir.IntType(like.bitwidth), LINE)
        return builder.bitcast(ir.Constant(bits, [-1] * LINE), ir.VectorType(context.get_data_type(like), LINE))

    return result(like), emit


@intrinsic
def size_bits(typing: Any, lanes: Any, largest: Any) -> Any:
    """The largest of the bits of all lanes as a whole number, or the smallest."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, step = builder.bitcast(args[0], ir.VectorType(_INT32, LINE)), LINE // 2
        while step:
            other = _shuffle(builder, value, _order(step, True))
            above = builder.icmp_unsigned(">", other, value)
            both = builder.select(above, other, value), builder.select(above, value, other)
            value = builder.select(args[1], *both)
            step //= 2
        found = builder.extract_element(value, ir.Constant(_INT32, 0))
        return builder.zext(found, ir.IntType(64))

    return types.int64(lanes, types.boolean), emit


@intrinsic
def count_lanes(typing: Any, first: Any) -> Any:
    """A line of whole numbers as float64, from `first` on."""
    result = Vector(types.float64)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        line = ir.VectorType(ir.DoubleType(), LINE)
        start = _splat(builder, builder.sitofp(args[0], ir.DoubleType()), LINE)
        return builder.fadd(start, ir.Constant(line, [float(lane) for lane in range(LINE)]))

    return result(types.intp), emit


@intrinsic
def transpose(typing: Any, source: Any, stride: Any, target: Any, spacing: Any, like: Any) -> Any:
    """Sixteen lines, `stride` bytes apart, as columns of sixteen others, `spacing` bytes apart."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = context.get_data_type(like)
        zero = ir.Constant(args[0].type, 0)

        def places(first: Any, distance: Any) -> list[Any]:
            far = (builder.mul(distance, ir.Constant(first.type, number)) for number in range(LINE))
            return [_place(builder, builder.add(first, each), zero, element, LINE) for each in far]

        rows = [builder.load(place) for place in places(args[0], args[1])]
        for row in rows:
            row.align = like.bitwidth // 8
        for step in (1, 2, 4, 8):  # two rows at a time change those of their lanes that lie across
            for i in (i for i in range(LINE) if not i & step):
                both = rows[i], rows[i + step]
                for row, kept in ((i, 0), (i + step, step)):
                    order = [lane & ~step | kept | (LINE if lane & step else 0) for lane in range(LINE)]
                    mask = ir.Constant(ir.VectorType(_INT32, LINE), [ir.Constant(_INT32, lane) for lane in order])
                    rows[row] = builder.shuffle_vector(*both, mask)
        for row, place in zip(rows, places(args[2], args[3]), strict=True):
            builder.store(row, place).align = like.bitwidth // 8
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp, like), emit


@intrinsic
def running_sum(typing: Any, lanes: Any) -> Any:
    """The sum of all lanes up to each."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, step = args[0], 1
        none = ir.Constant(value.type, [0.0] * LINE)
        while step < LINE:
            order = [ir.Constant(_INT32, lane + LINE - step) for lane in range(LINE)]
            before = builder.shuffle_vector(none, value, ir.Constant(ir.VectorType(_INT32, LINE), order))
            value = builder.fadd(value, before)
            step *= 2
        return value

    return lanes(lanes), emit


HAS_FMA = platform.machine().lower() in ("aarch64", "arm64") or bool(get_host_cpu_features().get("fma"))
"""Whether a product and a sum are one instruction, rounded once."""


@intrinsic
def divide(typing: Any, lanes: Any, number: Any) -> Any:
    """Every lane divided by a whole number below 2^50, rounded as a division is, if nothing overflows or underflows.

    By the inverse and what is left of the first quotient q, `lane - number * q`, which is exact. Rounding the inverse
    and q leaves an error of 2^-105 of the quotient, and a double divided by a whole number is never so close to the
    middle between two doubles: a number of 54 digits times a whole number has 54 digits or more.
    """

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not HAS_FMA:
            return builder.fdiv(args[0], _splat(builder, args[1], LINE))
        line, name = args[0].type, f"llvm.fma.v{LINE}f64"
        fma = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(line, [line] * 3), name)
        inverse = _splat(builder, builder.fdiv(ir.Constant(args[1].type, 1.0), args[1]), LINE)
        quotient = builder.fmul(args[0], inverse)
        left = builder.call(fma, [_splat(builder, builder.fneg(args[1]), LINE), quotient, args[0]])
        return builder.call(fma, [left, inverse, quotient])

    return lanes(lanes, number), emit


def _make_edge(last: bool) -> Any:
    @intrinsic
    def pick(typing: Any, lanes: Any) -> Any:
        """A line of copies of the outermost lane."""

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _shuffle(builder, args[0], [LINE - 1 if last else 0] * LINE)

        return lanes(lanes), emit

    return pick


load, sample = _make_load(True), _make_load(False)
"""`load(row, i, like)` is the line from sample i on, `sample` that one sample, of `like`'s type."""
plus = _make_elementwise(lambda builder, a, b: builder.fadd(a, b))
minus = _make_elementwise(lambda builder, a, b: builder.fsub(a, b))
quotient = _make_elementwise(lambda builder, a, b: builder.fdiv(a, b))
extend_most, extend_least = _make_range(True), _make_range(False)
product = _make_elementwise(lambda builder, a, b: builder.fmul(a, b))
smaller, larger = _make_elementwise(_smaller), _make_elementwise(_larger)
running, running_ahead = _make_running(False), _make_running(True)
holding, holding_ahead = _make_hold(False), _make_hold(True)
first, last = _make_edge(False), _make_edge(True)
ahead_1, ahead_2, ahead_4, ahead_8 = (_make_align(True)(step) for step in (1, 2, 4, 8))
back_1, back_2, back_4, back_8 = (_make_align(False)(step) for step in (1, 2, 4, 8))
