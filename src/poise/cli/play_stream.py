"""Playing a stream: a figure follows a performer whose bones come over the network, frame by frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from poise.cli.console import print_note, print_result
from poise.cli.play_motion import Output
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.character.vmc import VmcIn
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture
    from poise.formats.vmc import Bones
    from poise.motion.clip.clip import Clip

SAMPLE_TIME = 1.0
"""Length of the sample of the stream from which it is calibrated [s]."""
LEAST_FRAMES = 10
"""Least number of frames that this sample must have."""


def vmc_address(text: str) -> tuple[str, int]:
    """Host and port of `vmc`, `vmc:PORT` or `vmc:HOST:PORT`; without a host, this machine alone."""
    from poise.formats.vmc import DEFAULT_PORT

    kind, *rest = text.split(":")
    if kind != "vmc" or len(rest) > 2 or not all(rest) or (rest and not rest[-1].isdigit()):
        raise PoiseError(f"--from takes vmc:PORT, or vmc:HOST:PORT to listen beyond this machine, not {text!r}.")
    return (rest[0] if len(rest) == 2 else "127.0.0.1"), (int(rest[-1]) if rest else DEFAULT_PORT)


def play_stream(
    figure: Figure, source: str, outputs: Sequence[Output], *, rate: float, seconds: float | None
) -> Iterator[Posture]:
    """Yield the postures of a figure that follows a stream, at their times, and pass each to the outputs."""
    from poise.character.clock import FrameClock, frame_rate
    from poise.character.vmc import VmcIn
    from poise.formats.vmc import values
    from poise.motion.live.live import LiveRetarget

    ear = VmcIn(*vmc_address(source), print_note)
    try:
        print_note(f"waiting for VMC frames on port {ear.port}; stand upright, or walk.")
        end = None if seconds is None else time.monotonic() + seconds
        sample = _sample(ear, end, frame_rate(rate))
        live = LiveRetarget(figure, sample, rate=rate)
        print_note(f"{figure.name} follows the stream; {len(live.mapping.links)} joints are mapped.")
        clock, missing = FrameClock(rate), 0
        while end is None or time.monotonic() < end:
            clock.wait()
            bones = ear.newest()
            missing += bones is None
            posture = live.step(None if bones is None else values(sample.figure, bones))
            for output in outputs:
                output(posture)
            yield posture
        print_result(f"{clock.ticks - clock.missed} frames at {rate:g} Hz; in {missing} of them nothing new had come.")
    finally:
        ear.close()


def _sample(ear: VmcIn, end: float | None, rate: float, pause: Callable[[float], object] = time.sleep) -> Clip:
    """The first frames of the stream, as a clip."""
    import numpy as np

    from poise.formats.vmc import skeleton, values
    from poise.motion.clip.clip import Clip

    found: list[Bones] = []
    begin = 0.0
    while len(found) < LEAST_FRAMES or time.monotonic() - begin < SAMPLE_TIME:
        if end is not None and time.monotonic() > end:
            raise PoiseError(f"{len(found)} VMC frames came on port {ear.port}: too few to begin with.")
        bones = ear.newest()
        if bones is not None and "Hips" in bones:
            begin = begin or time.monotonic()
            found.append(bones)
        pause(0.5 / rate)
    figure = skeleton(found[-1])
    took = max(time.monotonic() - begin, 1e-3)
    return Clip(figure, np.array([values(figure, bones) for bones in found]), (len(found) - 1) / took, "stream")
