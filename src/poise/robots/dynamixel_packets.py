"""Packets of the Dynamixel protocol 2.0 [Robotis 2.0].

    FF FF FD 00 | id | length, two bytes | instruction | parameters | CRC, two bytes

The length is the number of bytes after it. `FF FF FD` inside the instruction and parameters is followed by one more
`FD` (byte stuffing), so that it cannot be read as a header. Numbers are little-endian. The CRC has the polynomial 8005
and covers all bytes before it. An answer has the instruction 55 and an error byte before its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

PACKET_HEADER = b"\xff\xff\xfd\x00"
BROADCAST_ID = 0xFE
PING, READ, WRITE, SYNC_WRITE, STATUS = 0x01, 0x02, 0x03, 0x83, 0x55
_STUFFED_BYTES = b"\xff\xff\xfd"
_LONGEST_ANSWER = 1024
"""Longest answer accepted [bytes]; a header that announces more is treated as noise."""


class Answer(NamedTuple):
    """An answer (status packet) of a servo."""

    who: int
    """The servo's id."""
    error: int
    """Bit 7 is the hardware alert; the other bits are the reason an instruction failed, 0 if it succeeded."""
    parameters: bytes
    """The bytes after the error byte."""


def crc16(data: bytes) -> int:
    """CRC-16 with polynomial 8005, starting from 0."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def packet(who: int, instruction: int, parameters: bytes = b"") -> bytes:
    """The bytes of an instruction packet for the servo with id `who`."""
    body = (bytes((instruction,)) + parameters).replace(_STUFFED_BYTES, _STUFFED_BYTES + b"\xfd")
    head = PACKET_HEADER + bytes((who,)) + (len(body) + 2).to_bytes(2, "little")
    return head + body + crc16(head + body).to_bytes(2, "little")


def read(who: int, address: int, count: int) -> bytes:
    """The packet that reads `count` bytes of the control table."""
    return packet(who, READ, address.to_bytes(2, "little") + count.to_bytes(2, "little"))


def write(who: int, address: int, value: int, count: int) -> bytes:
    """The packet that writes a number of `count` bytes to the control table."""
    return packet(who, WRITE, address.to_bytes(2, "little") + value.to_bytes(count, "little"))


def sync_write(address: int, count: int, values: Sequence[tuple[int, int]]) -> bytes:
    """The packet that writes one number of the control table in many servos, given as (id, value); none answers."""
    head = address.to_bytes(2, "little") + count.to_bytes(2, "little")
    rows = b"".join(bytes((who,)) + (value & (1 << 8 * count) - 1).to_bytes(count, "little") for who, value in values)
    return packet(BROADCAST_ID, SYNC_WRITE, head + rows)


class AnswerReader:
    """Extracts complete answers with a correct CRC from a byte stream, and skips noise and broken packets."""

    def __init__(self) -> None:
        """Start with an empty buffer."""
        self._data = b""

    def feed(self, data: bytes) -> Iterator[Answer]:
        """Add received bytes to the buffer and yield the answers that are now complete."""
        self._data += data
        while True:
            start = self._data.find(PACKET_HEADER)
            if start < 0:
                self._data = self._data[-3:]
                return
            self._data = self._data[start:]
            if len(self._data) < 7:
                return
            size = 7 + int.from_bytes(self._data[5:7], "little")
            if not 11 <= size <= _LONGEST_ANSWER:
                self._data = self._data[1:]
                continue
            if len(self._data) < size:
                # A second header inside means that this packet was cut off, or that its header was noise.
                if self._data.find(PACKET_HEADER, 4) < 0:
                    return
                self._data = self._data[1:]
                continue
            whole = self._data[:size]
            if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
                self._data = self._data[1:]
                continue
            self._data = self._data[size:]
            body = whole[7:-2].replace(_STUFFED_BYTES + b"\xfd", _STUFFED_BYTES)
            if body[0] == STATUS:
                yield Answer(whole[4], body[1], body[2:])
