"""Open Sound Control 1.0 messages and bundles, as bytes [Wright 2002].

A message is an address, a comma and one type letter per argument, then the arguments; everything is padded to four
bytes and big-endian. A bundle is `#bundle`, a time tag, and packets, each after its size. The reader ignores time tags:
messages take effect when they arrive.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from poise.errors import FormatError

Argument = float | int | str | bytes | bool | None

_BUNDLE = b"#bundle\0"
_IMMEDIATELY = b"\0\0\0\0\0\0\0\1"
_DEEPEST_BUNDLE = 8
"""Deepest nesting of bundles that is read; deeper nesting is refused, since it could exhaust the stack."""
_FIXED_SIZE_TYPES = {b"i": ">i", b"f": ">f", b"d": ">d", b"h": ">q", b"t": ">Q"}
_CONSTANT_TYPES: dict[bytes, Argument] = {b"T": True, b"F": False, b"N": None, b"I": float("inf")}


class Message(NamedTuple):
    """An address and its arguments."""

    address: str
    arguments: tuple[Argument, ...]


def encode(address: str, arguments: Sequence[Argument] = ()) -> bytes:
    """The bytes of a message; floats are sent as 32 bits, integers as 32 bits if they fit and 64 bits otherwise."""
    if not address.startswith("/"):
        raise FormatError(f"an OSC address must start with '/', not {address!r}.")
    parts = [_encoded(argument) for argument in arguments]
    letters = b"," + b"".join(letter for letter, _ in parts)
    return _padded(address.encode()) + _padded(letters) + b"".join(data for _, data in parts)


def bundle(packets: Iterable[bytes]) -> bytes:
    """The bytes of a bundle of packets that take effect together and immediately."""
    return _BUNDLE + _IMMEDIATELY + b"".join(struct.pack(">i", len(packet)) + packet for packet in packets)


def joint_bundle(figure: str, joints: Iterable[str], values: Iterable[float]) -> bytes:
    """A bundle of `/figure/joint value` for each joint."""
    return bundle(encode(f"/{figure}/{joint}", [float(value)]) for joint, value in zip(joints, values, strict=True))


def decode(packet: bytes) -> list[Message]:
    """The messages in a packet; raises a FormatError if the packet is malformed."""
    try:
        return list(_messages(packet, 0))
    except (struct.error, UnicodeDecodeError, IndexError):
        raise FormatError(f"an OSC packet of {len(packet)} bytes ends in the middle of a value.") from None


def _encoded(argument: Argument) -> tuple[bytes, bytes]:
    if argument is None:
        return b"N", b""
    if isinstance(argument, bool):
        return (b"T" if argument else b"F"), b""
    if isinstance(argument, int):
        return (b"i", struct.pack(">i", argument)) if -(2**31) <= argument < 2**31 else (b"h", _long(argument))
    if isinstance(argument, float):
        return b"f", struct.pack(">f", argument)
    if isinstance(argument, str):
        return b"s", _padded(argument.encode())
    return b"b", struct.pack(">i", len(argument)) + argument + b"\0" * (-len(argument) % 4)


def _long(number: int) -> bytes:
    try:
        return struct.pack(">q", number)
    except struct.error:
        raise FormatError(f"an OSC integer has at most 64 bits, and {number} has more.") from None


def _padded(text: bytes) -> bytes:
    if b"\0" in text:
        raise FormatError(f"an OSC string must not contain zero bytes, and {text!r} does.")
    return text + b"\0" * (4 - len(text) % 4)


def _messages(packet: bytes, depth: int) -> Iterator[Message]:
    if not packet or len(packet) % 4:
        raise FormatError(f"the size of an OSC packet must be a multiple of 4 bytes, not {len(packet)}.")
    if not packet.startswith(_BUNDLE):
        yield _message(packet)
        return
    if depth >= _DEEPEST_BUNDLE:
        raise FormatError(f"an OSC bundle holds bundles more than {_DEEPEST_BUNDLE} deep.")
    at = 16
    while at < len(packet):
        size = struct.unpack_from(">i", packet, at)[0]
        if size <= 0 or at + 4 + size > len(packet):
            raise FormatError(f"a part of an OSC bundle claims {size} bytes, and {len(packet) - at - 4} are left.")
        yield from _messages(packet[at + 4 : at + 4 + size], depth + 1)
        at += 4 + size


def _message(packet: bytes) -> Message:
    if not packet.startswith(b"/"):
        raise FormatError("an OSC message must start with an address such as /face.")
    address, at = _text(packet, 0)
    if at >= len(packet):
        return Message(address, ())
    letters, at = _text(packet, at)
    if not letters.startswith(","):
        raise FormatError(f"OSC message {address} has no type tags, such as ,fff, after its address.")
    arguments = []
    for letter in letters[1:]:
        argument, at = _argument(packet, letter.encode(), at, address)
        arguments.append(argument)
    return Message(address, tuple(arguments))


def _argument(packet: bytes, letter: bytes, at: int, address: str) -> tuple[Argument, int]:
    if letter in _CONSTANT_TYPES:
        return _CONSTANT_TYPES[letter], at
    if letter in _FIXED_SIZE_TYPES:
        value: Argument = struct.unpack_from(_FIXED_SIZE_TYPES[letter], packet, at)[0]
        return value, at + struct.calcsize(_FIXED_SIZE_TYPES[letter])
    if letter in (b"s", b"S"):
        return _text(packet, at)
    if letter == b"b":
        size = struct.unpack_from(">i", packet, at)[0]
        if not 0 <= size <= len(packet) - at - 4:
            raise FormatError(f"OSC message {address} has a blob of {size} bytes, which is longer than the packet.")
        return packet[at + 4 : at + 4 + size], at + 4 + size + (-size % 4)
    raise FormatError(f"OSC message {address} has an argument of type {letter.decode()!r}, which poise does not read.")


def _text(packet: bytes, at: int) -> tuple[str, int]:
    end = packet.find(b"\0", at)
    if end < 0:
        raise FormatError("an OSC string has no zero byte at its end.")
    return packet[at:end].decode(), end + 4 - (end - at) % 4
