"""Packets of the Dynamixel protocol 2.0 [Robotis 2.0].

    FF FF FD 00 | id | length, two bytes | instruction | parameters | CRC, two bytes

The length counts what follows it. `FF FF FD` inside instruction and parameters is followed by one more `FD`, so that it
cannot be taken for a header. Numbers are little-endian. The CRC has the polynomial 8005 over everything before it. An
answer has the instruction 55 and an error byte before its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEADER = b"\xff\xff\xfd\x00"
EVERYONE = 0xFE
PING, READ, WRITE, SYNC_WRITE, STATUS = 0x01, 0x02, 0x03, 0x83, 0x55
_STUFFED = b"\xff\xff\xfd"
_LONGEST = 1024
"""Bytes an answer may claim; longer ones are noise."""


class Answer(NamedTuple):
    """What a servo says."""

    who: int
    error: int
    """Bit 7 warns of a hardware error; the rest says why an instruction failed, 0 for not at all."""
    parameters: bytes


def crc16(data: bytes) -> int:
    """CRC-16 with polynomial 8005, starting from 0."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def packet(who: int, instruction: int, parameters: bytes = b"") -> bytes:
    """The bytes of an instruction."""
    body = (bytes((instruction,)) + parameters).replace(_STUFFED, _STUFFED + b"\xfd")
    head = HEADER + bytes((who,)) + (len(body) + 2).to_bytes(2, "little")
    return head + body + crc16(head + body).to_bytes(2, "little")


def read(who: int, address: int, count: int) -> bytes:
    """Ask for `count` bytes of the control table."""
    return packet(who, READ, address.to_bytes(2, "little") + count.to_bytes(2, "little"))


def write(who: int, address: int, value: int, count: int) -> bytes:
    """Set a number of the control table."""
    return packet(who, WRITE, address.to_bytes(2, "little") + value.to_bytes(count, "little"))


def sync_write(address: int, count: int, values: Sequence[tuple[int, int]]) -> bytes:
    """Set one number of the control table in many servos: (id, value) each. Nobody answers."""
    head = address.to_bytes(2, "little") + count.to_bytes(2, "little")
    rows = b"".join(bytes((who,)) + (value & (1 << 8 * count) - 1).to_bytes(count, "little") for who, value in values)
    return packet(EVERYONE, SYNC_WRITE, head + rows)


class AnswerReader:
    """Finds whole, sound answers in a stream, through noise and broken packets."""

    def __init__(self) -> None:
        """Nothing read yet."""
        self._data = b""

    def feed(self, data: bytes) -> Iterator[Answer]:
        """Answers that are complete after these bytes."""
        self._data += data
        while True:
            start = self._data.find(HEADER)
            if start < 0:
                self._data = self._data[-3:]
                return
            self._data = self._data[start:]
            if len(self._data) < 7:
                return
            size = 7 + int.from_bytes(self._data[5:7], "little")
            if not 11 <= size <= _LONGEST:
                self._data = self._data[1:]
                continue
            if len(self._data) < size:
                # A header inside would mean that this one was cut off, or was noise.
                if self._data.find(HEADER, 4) < 0:
                    return
                self._data = self._data[1:]
                continue
            whole = self._data[:size]
            if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
                self._data = self._data[1:]
                continue
            self._data = self._data[size:]
            body = whole[7:-2].replace(_STUFFED + b"\xfd", _STUFFED)
            if body[0] == STATUS:
                yield Answer(whole[4], body[1], body[2:])
