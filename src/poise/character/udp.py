"""Packets over UDP: a receiver in a thread of its own, and a sender that never waits."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from numbers import Integral

from poise.errors import TaskError

LARGEST_PACKET = 65536
"""Size of the receive buffer [bytes]."""
LAST_PORT = 65535
"""The largest port number."""
LISTENING_TIMEOUT = 0.2
"""Time after which the receiving thread looks whether it is to stop [s]."""


class UdpReceiver:
    """Receives packets at a port, in a thread of its own."""

    def __init__(self, what: str, host: str, port: int, take: Callable[[bytes], bytes | None]) -> None:
        """Start to listen.

        Args:
            what: What is received, for error messages.
            host: Address to listen at; 127.0.0.1 for programs on this machine only.
            port: The port; 0 for any that is free.
            take: Called with each packet, in the thread; what it returns is sent back to the packet's sender.
        """
        _check_port(f"listen for {what} on {host}", port, 0)
        self._take = take
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as problem:
            self._socket.close()
            reason = problem.strerror or str(problem)
            raise TaskError(f"cannot listen for {what} on {host}:{port} ({reason.lower()}).") from None
        self.port: int = self._socket.getsockname()[1]
        """The port, also where it was chosen from those that were free."""
        self._socket.settimeout(LISTENING_TIMEOUT)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._listen, name=f"poise {what}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._stopped.set()
        self._thread.join(timeout=1.0)
        self._socket.close()

    def _listen(self) -> None:
        while not self._stopped.is_set():
            # A timeout without a packet, or the receiver of an answer no longer listens.
            with contextlib.suppress(TimeoutError, ConnectionError):
                packet, sender = self._socket.recvfrom(LARGEST_PACKET)
                answer = self._take(packet)
                if answer is not None:
                    with contextlib.suppress(OSError):
                        self._socket.sendto(answer, sender)


class UdpSender:
    """Sends packets to one host and port, which need not be listening yet."""

    def __init__(self, what: str, host: str, port: int) -> None:
        """Resolve the address of the receiver; `what` is sent, for error messages."""
        _check_port(f"send {what} to {host}", port, 1)
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        except OSError:
            raise TaskError(f"cannot send {what} to {host}:{port}: the host is not known.") from None
        self._to: tuple[str, int] = address[:2]  # type: ignore[assignment]
        self._socket = socket.socket(family, kind)
        self._socket.setblocking(False)

    def send(self, packet: bytes) -> None:
        """Send one packet; it is lost if nobody receives it, or if the network takes no more at the moment."""
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            self._socket.sendto(packet, self._to)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def _check_port(purpose: str, port: object, least: int) -> None:
    """Raise an error if the argument is not a port number."""
    if not isinstance(port, Integral) or not least <= int(port) <= LAST_PORT:
        raise TaskError(f"cannot {purpose}:{port}: a port is a whole number from {least} to {LAST_PORT}.")
