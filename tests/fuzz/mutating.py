"""Inputs made of other inputs: bytes turned, words put in, trees of JSON bent, archives packed anew."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from random import Random
from typing import Any, Literal

Kind = Literal["text", "json", "zip", "bytes"]

WORDS: tuple[bytes, ...] = tuple(
    word.encode("utf-8", "surrogatepass")
    for word in (
        *("W", "R", "B", "T"),
        *("G", "F", "U", "S", "O", "H", "!", "&", "|", "->", "true", "false", "?", "?p", "{", "}", ";", "(", ")"),
        *("[", "]", "[0,5]", "[?w]", "[?*2]", "u[7,9]", ",inf)", ">=", "<=", "=", "*", "-", '"', '"a b"', "\\u0000"),
        *("1e400", "-1e400", "1e308", "1e-400", "nan", "inf", "NaN", "Infinity", "-0.0", "99999999999", "9" * 5000),
        *("1_000", "٣", "²", "é", "\ud800", "\x00", "\n", "\r", "\t", "\ufeff", "  ", ",", ";", "|", ":", "#", "%"),
        *("case", "time", "label", "group", "good", "bad", "2024-01-01", "2024-01-01T00:00:00Z", "9999-99-99"),
        *(
            "@data",
            "@classLabel true",
            "@dimensions 2",
            "@seriesLength 3",
            "@equalLength true",
            "---",
            "::",
            "# fernn ",
        ),
        *("(" * 300, "[" * 3000, "{" * 300, "!" * 500, "x" * 5000, "(x>0 & " * 200, "," * 500),
    )
)
"""What readers look for, and what breaks them."""

ODD: tuple[str, ...] = (
    *("null", "true", "false", "0", "1", "-1", "2", "0.5", "1e400", "-1e400", "NaN", "1e308", "-0.0", '""', "[]", "{}"),
    *('"x"', '"G (v <= 3)"', '"true"', '"nan"', '"inf"', '"\\ud800"', '"\\u0000"', "[[]]", '[{"a": 1}]', '{"a": 1}'),
    *("9" * 30, "9" * 5000, "[" * 2000 + "]" * 2000, '{"a":' * 2000 + "1" + "}" * 2000, '"' + "x" * 9000 + '"'),
    *('"F (w >= 2)"', '"?p"', '"(((("', "1000000000000", "3.7", '"3"', "[0, 1]", "[null]"),
)  # fmt: skip
"""What may stand in JSON where something else was wanted, as text."""


def mutated(random: Random, kind: Kind, one: bytes, other: bytes) -> bytes:
    """A change of `one`, perhaps with a part of `other`."""
    if kind == "json" and random.random() < 0.8:
        bent = _bent(random, one)
        if bent is not None:
            return bent if random.random() < 0.9 else _turned(random, bent, other)
    if kind == "zip" and random.random() < 0.85:
        packed = _packed(random, one, other)
        if packed is not None:
            return packed
    return _turned(random, one, other)


def _turned(random: Random, one: bytes, other: bytes) -> bytes:
    """One to four changes of bytes."""
    data = bytearray(one)
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        at, to = sorted((random.randint(0, len(data)), random.randint(0, len(data))))
        way = random.randrange(8)
        if way == 0 and data:
            data[min(at, len(data) - 1)] = random.randrange(256)
        elif way == 1 and data:
            data[min(at, len(data) - 1)] ^= 1 << random.randrange(8)
        elif way == 2:
            del data[at : at + random.choice((1, 1, 2, 4, 16, 1000))]
        elif way == 3:
            start = random.randint(0, len(other))
            data[at:at] = other[start : start + random.choice((1, 2, 4, 8, 32, 200))]
        elif way == 4:
            data[at:at] = data[at:to][:2000]
        elif way == 5:
            data[at : at + random.choice((0, 1, 4))] = bytes(
                random.randrange(256) for _ in range(random.choice((1, 4)))
            )
        else:
            data[at : at + random.choice((0, 0, 1, 3))] = random.choice(WORDS)
    return bytes(data[:100_000])


def _bent(random: Random, one: bytes) -> bytes | None:
    """JSON with a node of its tree replaced, taken away, doubled or renamed; None where it is no JSON."""
    head, cut, body = one.partition(b"\x1e")  # a file name may stand in front
    try:
        tree = json.loads(body if cut else one)
    except (ValueError, RecursionError):
        return None
    marks: list[str] = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        tree = _bend(random, tree, marks)
    try:
        text = json.dumps(tree)
    except (ValueError, RecursionError):
        return None
    for i, odd in enumerate(marks):
        text = text.replace(f'"\\u001f{i}\\u001f"', odd)
    return head * bool(cut) + cut + text.encode("utf-8", "surrogatepass")


def _bend(random: Random, tree: Any, marks: list[str]) -> Any:
    places = _places(tree)
    holder, key = random.choice(places) if places else (None, None)
    way = random.randrange(6)
    if holder is None or way < 3:
        marks.append(random.choice(ODD))
        value: Any = f"\x1f{len(marks) - 1}\x1f"
    elif way == 3:
        source, place = random.choice(places)
        value = json.loads(json.dumps(source[place]))
    elif way == 4:
        del holder[key]
        return tree
    else:
        holder[key] = [holder[key]] if random.random() < 0.5 else {"a": holder[key]}
        return tree
    if holder is None:
        return value
    holder[key] = value
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo and len(found) < 5000:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            found.append((node, key))
            todo.append(node[key])
    return found


def _packed(random: Random, one: bytes, other: bytes) -> bytes | None:
    """An archive with the bytes or the name of a member changed; None where it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(one)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:  # whatever is wrong with it
        return None
    if not members:
        return None
    at = random.randrange(len(members))
    name, data = members[at]
    way = random.randrange(12)
    if way == 0:
        del members[at]
    elif way == 1:
        members[at] = (random.choice(members)[0], data)
    elif way == 2:
        members[at] = (name, random.choice(members)[1])
    elif way == 3:
        members.append((random.choice(("y.npy", "lengths.npy", "dt.npy", "classes.npy", "X", "z.npy")), data))
    elif way < 6:  # the header of an array says other things, in the same number of bytes
        members[at] = (name, _other_header(random, data))
    else:
        members[at] = (name, _turned(random, data, other))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one name twice is meant
        for name, data in members:
            archive.writestr(name, data)
    return packed.getvalue()


def _other_header(random: Random, data: bytes) -> bytes:
    start, end = data.find(b"{"), data.find(b"}")
    if start < 0 or end < 0:
        return data
    kinds = ("<f8", "|O", "<i8", "|b1", "<U3", "|S2", "<c16", "<M8[s]", "<f2", "|V8", "<U0", "|u1", ">f8", "<m8")
    shapes = (
        "()",
        "(0,)",
        "(2,)",
        "(1000000000000,)",
        "(2, 3)",
        "(1, 2, 3)",
        "(0, 3)",
        "(-1,)",
        "(2, 0, 1)",
        "(10**9,)",
    )
    text = f"{{'descr': {random.choice(kinds)!r}, 'fortran_order': {random.choice((True, False))}, "
    text += f"'shape': {random.choice(shapes)}, }}"
    return data[:start] + text.encode().ljust(end + 1 - start)[: max(end + 1 - start, len(text))] + data[end + 1 :]
