"""Joint states in and out over Open Sound Control: each joint is a message `/figure/joint value …` [rad or m]."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from poise.errors import PoiseError, TaskError
from poise.formats.osc import bundle, decode, encode
from poise.studio.session.session import Session
from poise.studio.wire.joints import joint_states, put_joint_states

INTERVAL = 1.0 / 60.0
"""Shortest time between two bundles [s]."""
LISTENING_TIMEOUT = 0.3
"""Time after which the receiving thread looks whether it is to stop [s]."""
LARGEST_PACKET = 65_507
"""Largest UDP packet [bytes]."""
JOINTS_PER_BUNDLE = 20
"""Joints in one packet, which then fits into one frame of a network."""


def _nothing() -> None:
    pass


class OscLink:
    """Sends the joints of a session after every change, and takes those that others send."""

    def __init__(self, session: Session) -> None:
        """Neither send nor listen at first."""
        self.session = session
        self.sends_to: tuple[str, int] | None = None
        """Where joint states are sent."""
        self.listens_at: int | None = None
        """The port at which joint states are received."""
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._unsubscribe: Callable[[], None] = _nothing

    def start(self, sends_to: tuple[str, int] | None, listens_at: int | None) -> None:
        """Send to a host and port, and listen at a port of this machine; None for neither."""
        self.stop()
        self._stopped = threading.Event()
        if listens_at is not None:
            self._listen(listens_at)
        if sends_to is not None:
            self._send(sends_to)

    def _listen(self, port: int) -> None:
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            receiver.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as problem:
            receiver.close()
            raise TaskError(f"the studio cannot listen at port {port}: {problem}.") from None
        receiver.settimeout(LISTENING_TIMEOUT)
        self.listens_at = receiver.getsockname()[1]
        self._run(self._receive, receiver, self._stopped)

    def _send(self, to: tuple[str, int]) -> None:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sender.connect(to)
        except (OSError, OverflowError) as problem:
            sender.close()
            raise TaskError(f"nothing can be sent to {to[0]}, port {to[1]}: {problem}.") from None
        changed = threading.Event()
        changed.set()
        self._unsubscribe = self.session.subscribe(changed.set)
        self.sends_to = to
        self._run(self._tell, sender, changed, self._stopped)

    def _run(self, act: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=act, args=args, name="poise studio OSC", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _receive(self, receiver: socket.socket, stopped: threading.Event) -> None:
        with receiver:
            while not stopped.is_set():
                with contextlib.suppress(TimeoutError, PoiseError, TypeError, ValueError):
                    self._take(receiver.recv(LARGEST_PACKET))

    def _take(self, packet: bytes) -> None:
        """Take the joints in a packet: the last part of an address is the joint."""
        put_joint_states(self.session, {m.address.rsplit("/", 1)[-1]: list(m.arguments) for m in decode(packet)})

    def _tell(self, sender: socket.socket, changed: threading.Event, stopped: threading.Event) -> None:
        with sender:
            while not stopped.is_set():
                if not changed.wait(LISTENING_TIMEOUT):
                    continue
                changed.clear()
                state = self.session.state
                packets = [encode(f"/{state.figure.name}/{name}", v) for name, v in joint_states(state).items()]
                for k in range(0, len(packets), JOINTS_PER_BUNDLE):
                    with contextlib.suppress(OSError):  # nobody may be listening yet
                        sender.send(bundle(packets[k : k + JOINTS_PER_BUNDLE]))
                time.sleep(INTERVAL)

    def stop(self) -> None:
        """Neither send nor listen any more."""
        self._unsubscribe()
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._unsubscribe, self._threads = _nothing, []
        self.sends_to = self.listens_at = None
