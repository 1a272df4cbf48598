"""A performer's bones, received over UDP by the VMC protocol (`poise.formats.vmc`)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from poise.character.udp import UdpReceiver
from poise.errors import PoiseError
from poise.formats.osc import decode
from poise.formats.vmc import Bones, take


class VmcIn:
    """Receives frames in a thread of its own; `newest` has the last one."""

    def __init__(self, host: str, port: int, report: Callable[[str], object]) -> None:
        """Start to listen.

        Args:
            host: Address to listen at; 127.0.0.1 for programs on this machine only.
            port: UDP port; 0 for any that is free.
            report: Called with one sentence for a packet that cannot be read; the same sentence is not repeated.
        """
        self._report, self._said, self._bones, self._is_new = report, "", Bones(), False
        self._lock = threading.Lock()
        self._receiver = UdpReceiver("VMC", host, port, self._take)
        self.port = self._receiver.port

    def newest(self) -> Bones | None:
        """The newest frame, or None if none has come since the last call."""
        with self._lock:
            bones, self._is_new = (dict(self._bones) if self._is_new else None), False
        return bones

    def close(self) -> None:
        """Stop listening."""
        self._receiver.close()

    def _take(self, packet: bytes) -> None:
        try:
            messages = decode(packet)
            with self._lock:
                self._is_new |= take(messages, self._bones)
        except PoiseError as problem:
            if str(problem) != self._said:
                self._said = str(problem)
                self._report(self._said)
