# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client for web sockets [RFC 6455], over the standard library's sockets.

It needs neither Blender nor numpy. Messages are text or bytes; pings are answered, fragments are joined.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import struct
import time
from urllib.parse import urlsplit

ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What a server appends to the key before it hashes it [RFC 6455, 1.3]."""
CONTINUED, TEXT, BYTES, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
"""Kinds of frames [RFC 6455, 5.2]."""
LAST, MASKED = 0x80, 0x80
"""Bits of the first two bytes of a frame."""
LONGEST_HEAD = 65536
"""Longest answer to the handshake [bytes]."""


class ConnectionLostError(Exception):
    """The connection cannot be made, or has ended; the text is a sentence."""


class WebSocket:
    """A connection to a server."""

    def __init__(self, address: str, timeout: float = 10.0) -> None:
        """Connect to an address such as ws://127.0.0.1:8000/path?key=value."""
        parts = urlsplit(address)
        if parts.scheme != "ws" or parts.hostname is None:
            raise ConnectionLostError(f"{address!r} is no address such as ws://127.0.0.1:8000/path.")
        self._buffer = bytearray()
        try:
            self._socket = socket.create_connection((parts.hostname, parts.port or 80), timeout)
        except OSError as problem:
            raise ConnectionLostError(f"nothing answers at {parts.hostname}:{parts.port}: {problem}.") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            self._shake_hands(parts.netloc, path, time.monotonic() + timeout)
        except BaseException:
            self._socket.close()
            raise

    def _shake_hands(self, host: str, path: str, until: float) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        ]
        self._write("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > LONGEST_HEAD or not self._fill(until):
                raise ConnectionLostError("the server does not answer as a web socket does.")
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        self._buffer = bytearray(rest)
        first, *fields = head.decode("latin-1").split("\r\n")
        named = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        if " 101" not in first:
            raise ConnectionLostError(f"the server refuses: {self._body(named, until) or first}")
        wanted = base64.b64encode(hashlib.sha1((key + ACCEPT_SUFFIX).encode()).digest()).decode()
        if named.get("sec-websocket-accept") != wanted:
            raise ConnectionLostError("the server does not answer as a web socket does.")

    def _body(self, fields: dict[str, str], until: float) -> str:
        """The sentence with which the server refuses."""
        length = fields.get("content-length", "0")
        count = min(int(length), LONGEST_HEAD) if length.isdecimal() else 0
        while len(self._buffer) < count and self._fill(until):
            pass
        return bytes(self._buffer[:count]).decode("utf-8", "replace").strip()

    def send(self, message: str | bytes) -> None:
        """Send a message."""
        data = message.encode() if isinstance(message, str) else message
        self._send_frame(TEXT if isinstance(message, str) else BYTES, data)

    def receive(self, timeout: float) -> str | bytes | None:
        """The next message; None if none comes in this time [s]."""
        until = time.monotonic() + timeout
        parts: list[bytes] = []
        kind = CONTINUED
        while True:
            # Within a message that has begun, the rest is waited for.
            frame = self._frame(max(until, time.monotonic() + 10.0) if parts else until)
            if frame is None:
                if parts:
                    raise ConnectionLostError("the server stopped in the middle of a message.")
                return None
            this, last, data = frame
            if this == PING:
                self._send_frame(PONG, data)
            elif this == CLOSE:
                self.close()
                raise ConnectionLostError("the server has closed the connection.")
            elif this in (TEXT, BYTES, CONTINUED):
                kind = kind if this == CONTINUED else this
                parts.append(data)
                if last:
                    whole = b"".join(parts)
                    return whole.decode("utf-8", "replace") if kind == TEXT else whole

    def close(self) -> None:
        """Say goodbye and close; does nothing if that is done."""
        try:
            self._socket.settimeout(1.0)
            self._send_frame(CLOSE, struct.pack("!H", 1000))
        except (OSError, ConnectionLostError):
            pass
        self._socket.close()

    def _send_frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", LAST | kind, MASKED | size)
        elif size < 65536:
            head = struct.pack("!BBH", LAST | kind, MASKED | 126, size)
        else:
            head = struct.pack("!BBQ", LAST | kind, MASKED | 127, size)
        mask = os.urandom(4)
        self._write(head + mask + masked(data, mask))

    def _frame(self, until: float) -> tuple[int, bool, bytes] | None:
        """Kind, whether it is the last of its message, and data of the next frame; None if it does not come."""
        while (size := self._size()) is None or len(self._buffer) < size[0] + size[1]:
            if not self._fill(until):
                return None
        start, count = size
        first = self._buffer[0]
        data = bytes(self._buffer[start : start + count])
        del self._buffer[: start + count]
        return first & 0x0F, bool(first & LAST), data

    def _size(self) -> tuple[int, int] | None:
        """Where the data of the next frame begins, and how long it is; None if its head has not come yet."""
        if len(self._buffer) < 2:
            return None
        short = self._buffer[1] & 0x7F
        start = 2 + {126: 2, 127: 8}.get(short, 0)
        if len(self._buffer) < start:
            return None
        return start, short if start == 2 else int.from_bytes(self._buffer[2:start], "big")

    def _fill(self, until: float) -> bool:
        """Read what comes; returns whether anything came in time."""
        self._socket.settimeout(max(until - time.monotonic(), 1e-4))
        try:
            found = self._socket.recv(1 << 16)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError as problem:
            raise ConnectionLostError(f"the connection to poise is lost: {problem}.") from None
        if not found:
            raise ConnectionLostError("poise has ended, or has closed the connection.")
        self._buffer += found
        return True

    def _write(self, data: bytes) -> None:
        try:
            self._socket.settimeout(10.0)
            self._socket.sendall(data)
        except OSError as problem:
            raise ConnectionLostError(f"the connection to poise is lost: {problem}.") from None


def masked(data: bytes, mask: bytes) -> bytes:
    """The data, each byte combined with one of the four of the mask [RFC 6455, 5.3]."""
    count = len(data)
    pattern = (mask * (count // 4 + 1))[:count]
    return (int.from_bytes(data, "big") ^ int.from_bytes(pattern, "big")).to_bytes(count, "big")
