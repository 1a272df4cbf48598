"""Mutations: bytes into bytes that are a little wrong, as broken exporters and cut-off downloads make them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

NASTY = (
    *(b"nan", b"-nan", b"inf", b"-inf", b"1e999", b"-1e999", b"1e308", b"1e-320", b"-0", b"-0.0", b"0", b"-1", b"1"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"4294967296", b"65536", b"255"),
    *(b"1" * 400, b"0x10", b"1_000", b"1,5", b"+5", b".", b"1e", b"--1", b"\xef\xbc\x91", b"true", b"null", b'""'),
    *(b"[]", b"{}", b"1e7", b"100000", b"3.141592653589793", b"0.1", b"1 2 3", b"NaN", b"Infinity"),
)
"""Numbers and words that readers stumble over."""
NASTY_BYTES = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\r\n",
    b"\t",
    b"\x1a",
    b"\xed\xa0\x80",
    b"&",
    b"<",
    b"'",
    b'"',
)
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rb"[A-Za-z_][\w.-]*")
LONGEST = 20_000
"""Inputs are cut to this many bytes, so that time goes to variety."""

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def flip_bytes(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Change a few single bytes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if out:
            at = rng.randrange(len(out))
            out[at] = rng.choice((rng.randrange(256), out[at] ^ (1 << rng.randrange(8))))
    return bytes(out)


def insert_bytes(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Put something odd somewhere."""
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(NASTY_BYTES) * rng.choice((1, 1, 3)) + data[at:]


def delete_range(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Lose a piece."""
    start = rng.randint(0, len(data))
    return data[:start] + data[start + rng.choice((1, 2, 10, 100)) :]


def truncate(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Lose the end."""
    return data[: rng.randint(0, len(data))]


def splice(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """The start of one input and the end of another."""
    other = rng.choice(corpus)
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def replace_number(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """One number, or a few, become nasty ones."""
    for _ in range(rng.choice((1, 1, 1, 4))):
        data = _replace_match(rng, data, NUMBER, rng.choice(NASTY))
    return data


def nudge_number(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """One whole number becomes its neighbour: counts and indices that are off by one."""
    found = [match for match in NUMBER.finditer(data) if match[0].isdigit() and len(match[0]) < 10]
    if not found:
        return data
    match = rng.choice(found)
    value = str(int(match[0]) + rng.choice((-1, 1, 7))).encode()
    return data[: match.start()] + value + data[match.end() :]


def swap_token(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """A word becomes another word of the corpus."""
    words = TOKEN.findall(rng.choice(corpus))
    return _replace_match(rng, data, TOKEN, rng.choice(words)) if words else data


def _replace_match(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + new + data[match.end() :]


def shuffle_lines(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Delete, double, move or exchange lines."""
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    choice = rng.randrange(5)
    if choice == 0:
        del lines[at]
    elif choice == 1:
        lines[at:at] = [lines[at]] * rng.choice((1, 1, 50))
    elif choice == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif choice == 3:
        foreign = rng.choice(corpus).split(b"\n")
        lines[at] = rng.choice(foreign)
    else:
        lines[at:at] = lines[min(at, other) : max(at, other)][:50]
    return b"\n".join(lines)


def repeat_piece(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """A piece many times over: deep nesting, long names."""
    if not data:
        return data
    start = rng.randrange(len(data))
    piece = data[start : start + rng.choice((1, 1, 2, 5, 30))]
    return data[:start] + piece * rng.choice((2, 30, 1000, 5000)) + data[start:]


MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bytes, insert_bytes, delete_range, truncate, splice),
    *(replace_number, replace_number, nudge_number, swap_token, shuffle_lines, repeat_piece),
)


def mutated(rng: random.Random, corpus: Sequence[bytes]) -> bytes:
    """An input of the corpus after one to five mutations."""
    data = rng.choice(corpus)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        data = rng.choice(MUTATIONS)(rng, data, corpus)[:LONGEST]
    return data
