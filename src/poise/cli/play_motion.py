"""Playing a motion exactly as it is, for figures whose joints depend on each other: nothing may bend what is solved."""

from __future__ import annotations

import contextlib
import math
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise.cli.console import answer, remark
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture
    from poise.motion.clip.motion import Motion

Output = Callable[["Posture"], object]


def motion_of(path: Path, figure: Figure) -> Motion:
    """The motion in a file, as one of the figure: free to walk where the motion is, retargeted where it must be."""
    from poise.formats import load_clip
    from poise.motion.clip.motion import Motion
    from poise.motion.retarget.retarget import retarget

    clip = load_clip(path, figure)
    if set(figure.moving_joints) <= set(clip.figure.moving_joints):
        return Motion(clip.figure, clip.q, clip.rate, clip.name)
    remark(f"{path.name} moves a skeleton of its own: retargeted to {figure.name}; see poise retarget for more.")
    return retarget(clip, figure)


def is_bound(figure: Figure) -> bool:
    """Whether joints depend on each other, so that no filter may move each by itself."""
    return bool(figure.loops or figure.couplings)


class FrameSender:
    """Sends frames over UDP as OSC bundles of `/figure/joint value …`, all values of a joint in one message."""

    def __init__(self, name: str, host: str, port: int) -> None:
        """Find the receiver; nobody need be there."""
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        except OSError:
            raise PoiseError(f"cannot send OSC to {host}:{port}: the host is not known.") from None
        self._name, self._to = name, address[:2]
        self._socket = socket.socket(family, kind)
        self._socket.setblocking(False)

    def send(self, posture: Posture) -> None:
        """Send one frame; a datagram that nobody takes is lost, as datagrams are."""
        from poise.formats.osc import bundle, encode

        messages = [encode(f"/{self._name}/{joint}", np.atleast_1d(posture[joint]).tolist()) for joint in posture]
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            self._socket.sendto(bundle(messages), self._to)

    def close(self) -> None:
        """Send no more."""
        self._socket.close()


def play_as_it_is(
    motion: Motion, outputs: Sequence[Output], *, rate: float, seconds: float | None, loop: bool
) -> Iterator[Posture]:
    """Hand out the frames of a motion when they are due, then say how many came in time."""
    from poise.character.clock import FrameClock

    if not (math.isfinite(rate) and rate > 0.0):
        raise PoiseError(f"--rate takes a positive number of frames per second, not {rate}.")
    frames = list(motion if motion.rate == rate else motion.resampled(rate))
    count = math.inf if seconds is None and loop else round((seconds or motion.duration) * rate)
    clock = FrameClock(rate)
    while clock.ticks < count:
        clock.wait()
        at = clock.ticks - 1
        frame = frames[at % len(frames) if loop else min(at, len(frames) - 1)]
        for output in outputs:
            output(frame)
        yield frame
    answer(f"{clock.ticks - clock.missed} frames at {rate:g} Hz, {clock.missed} left out, played as they are.")
