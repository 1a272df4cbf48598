"""A performer's bones, received over UDP by the VMC protocol (`poise.formats.vmc`)."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from poise.character.checks import check_port
from poise.character.osc import LARGEST_PACKET
from poise.errors import PoiseError, TaskError
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
        check_port(f"listen for VMC on {host}", port, 0)
        self._report, self._said, self._bones, self._is_new = report, "", Bones(), False
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as problem:
            self._socket.close()
            reason = problem.strerror or str(problem)
            raise TaskError(f"cannot listen for VMC on {host}:{port} ({reason.lower()}).") from None
        self.port: int = self._socket.getsockname()[1]
        self._socket.settimeout(0.2)
        self._thread = threading.Thread(target=self._listen, name="poise VMC", daemon=True)
        self._thread.start()

    def newest(self) -> Bones | None:
        """The newest frame, or None if none has come since the last call."""
        with self._lock:
            bones, self._is_new = (dict(self._bones) if self._is_new else None), False
        return bones

    def close(self) -> None:
        """Stop listening."""
        self._stop.set()
        self._thread.join(timeout=1.0)
        self._socket.close()

    def _listen(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError, ConnectionError):
                packet, _ = self._socket.recvfrom(LARGEST_PACKET)
                self._take(packet)

    def _take(self, packet: bytes) -> None:
        try:
            messages = decode(packet)
            with self._lock:
                self._is_new |= take(messages, self._bones)
        except PoiseError as problem:
            if str(problem) != self._said:
                self._said = str(problem)
                self._report(self._said)
