"""Joint states in and out over Open Sound Control: each joint is a message `/figure/joint value …` [rad or m]."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from poise.character.udp import UdpReceiver, UdpSender
from poise.errors import PoiseError
from poise.formats.osc import bundle, decode, encode
from poise.studio.session.session import Session
from poise.studio.wire.joints import joint_states, put_joint_states

INTERVAL = 1.0 / 60.0
"""Shortest time between two bundles [s]."""
SENDING_TIMEOUT = 0.3
"""Time after which the sending thread looks whether it is to stop [s]."""
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
        self._receiver: UdpReceiver | None = None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._unsubscribe: Callable[[], None] = _nothing

    @property
    def listens_at(self) -> int | None:
        """The port at which joint states are received."""
        return None if self._receiver is None else self._receiver.port

    def start(self, sends_to: tuple[str, int] | None, listens_at: int | None) -> None:
        """Send to a host and port, and listen at a port of this machine; None for neither."""
        self.stop()
        if listens_at is not None:
            self._receiver = UdpReceiver("OSC", "127.0.0.1", listens_at, self._take)
        if sends_to is not None:
            self._send(sends_to)

    def _take(self, packet: bytes) -> None:
        """Take the joints in a packet: the last part of an address is the joint."""
        with contextlib.suppress(PoiseError, TypeError, ValueError):
            put_joint_states(self.session, {m.address.rsplit("/", 1)[-1]: list(m.arguments) for m in decode(packet)})

    def _send(self, to: tuple[str, int]) -> None:
        sender, changed, self._stopped = UdpSender("OSC", *to), threading.Event(), threading.Event()
        changed.set()
        self._unsubscribe = self.session.subscribe(changed.set)
        self.sends_to = to
        self._thread = threading.Thread(
            target=self._tell, args=(sender, changed, self._stopped), name="poise studio OSC", daemon=True
        )
        self._thread.start()

    def _tell(self, sender: UdpSender, changed: threading.Event, stopped: threading.Event) -> None:
        while not stopped.is_set():
            if not changed.wait(SENDING_TIMEOUT):
                continue
            changed.clear()
            state = self.session.state
            packets = [encode(f"/{state.figure.name}/{name}", v) for name, v in joint_states(state).items()]
            for k in range(0, len(packets), JOINTS_PER_BUNDLE):
                with contextlib.suppress(OSError):  # such as a network that is not there at the moment
                    sender.send(bundle(packets[k : k + JOINTS_PER_BUNDLE]))
            time.sleep(INTERVAL)
        sender.close()

    def stop(self) -> None:
        """Neither send nor listen any more."""
        self._unsubscribe()
        self._stopped.set()
        if self._receiver is not None:
            self._receiver.close()
        if self._thread is not None:
            self._thread.join()
        self._unsubscribe, self._receiver, self._thread, self.sends_to = _nothing, None, None, None
