"""SIMD vectors of machine words: sixty-four traces as one value, each a word of its own, worked on together.

A word holds one bit a sample, the first in bit 0. The loops of the search are written with these functions inside
numba; LLVM turns them into whatever vector instructions the processor has. A row of words is given by its address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import datamodel
from numba.extending import intrinsic, register_model

LANES = 64
"""Traces of a line, so that one bit of each fills a word."""


class WordVector(types.Type):
    """One word of each of sixty-four traces."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Line({dtype})")


@register_model(WordVector)
class WordVectorModel(datamodel.models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: WordVector) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(fe_type.dtype.bitwidth), LANES))


def _place(builder: Any, address: Any, at: Any, bits: int) -> Any:
    """A pointer to the line that begins with the word `address[at]`."""
    row = builder.inttoptr(address, ir.IntType(bits).as_pointer())
    return builder.bitcast(builder.gep(row, [at]), ir.VectorType(ir.IntType(bits), LANES).as_pointer())


@intrinsic
def load(typing: Any, address: Any, at: Any, like: Any) -> Any:
    """The line that begins with the word `address[at]`; `like` is any number of the type of the words."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(_place(builder, args[0], args[1], like.bitwidth))
        value.align = like.bitwidth // 8
        return value

    return WordVector(like)(types.intp, types.intp, like), emit


@intrinsic
def store(typing: Any, address: Any, at: Any, line: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = line.dtype.bitwidth
        builder.store(args[2], _place(builder, args[0], args[1], bits)).align = bits // 8
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, line), emit


def _constant(value: int) -> Any:
    @intrinsic
    def filled(typing: Any, like: Any) -> Any:
        line = WordVector(like)

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = context.get_value_type(line)
            return ir.Constant(kind, [ir.Constant(kind.element, value)] * LANES)

        return line(like), emit

    return filled


def _lanewise(combine: Callable[..., Any]) -> Any:
    @intrinsic
    def both(typing: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return combine(builder, *args)

        return left(left, right), emit

    return both


def _shifting(method: str) -> Any:
    @intrinsic
    def shift(typing: Any, line: Any, by: Any) -> Any:
        """Every word by so many bits, fewer than it has."""

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = context.get_value_type(line)
            amount = builder.trunc(args[1], kind.element) if kind.element.width < 64 else args[1]
            empty = ir.Constant(kind, ir.Undefined)
            first = builder.insert_element(empty, amount, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [ir.Constant(ir.IntType(32), 0)] * LANES)
            return getattr(builder, method)(args[0], builder.shuffle_vector(first, empty, zeros))

        return line(line, types.intp), emit

    return shift


nothing, everything = _constant(0), _constant(-1)
both = _lanewise(lambda builder, a, b: builder.and_(a, b))
either = _lanewise(lambda builder, a, b: builder.or_(a, b))
differ = _lanewise(lambda builder, a, b: builder.xor(a, b))
but_not = _lanewise(lambda builder, a, b: builder.and_(a, builder.not_(b)))
plus = _lanewise(lambda builder, a, b: builder.add(a, b))
later = _shifting("shl")
earlier = _shifting("lshr")
arithmetic_shift = _shifting("ashr")
"""As `earlier`, with copies of the last bit coming in."""


@intrinsic
def invert(typing: Any, line: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.not_(args[0])

    return line(line), emit


@intrinsic
def negate(typing: Any, line: Any) -> Any:
    """0 - x: all bits from the lowest set one on are turned around, above it."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.neg(args[0])

    return line(line), emit


@intrinsic
def somewhere(typing: Any, line: Any) -> Any:
    """A bit for each trace: whether its word has any bit set."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(line)
        met = builder.icmp_unsigned("!=", args[0], ir.Constant(kind, [ir.Constant(kind.element, 0)] * LANES))
        return builder.bitcast(met, ir.IntType(64))

    return types.uint64(line), emit


@intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """How many bits are set."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), emit
