"""Playing a motion unfiltered, for figures with loops or couplings: smoothing joints one by one would break them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.console import print_note, print_result

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture
    from poise.motion.clip.motion import Motion

Output = Callable[["Posture"], object]


def motion_of(path: Path, figure: Figure) -> Motion:
    """Load a motion of the figure; a clip of another skeleton is retargeted first.

    The motion's figure has a free root joint if the clip's has one, so that it can walk.
    """
    from poise.formats import load_clip
    from poise.motion.clip.motion import Motion
    from poise.motion.retarget.retarget import retarget

    clip = load_clip(path, figure)
    if set(figure.moving_joints) <= set(clip.figure.moving_joints):
        return Motion(clip.figure, clip.q, clip.rate, clip.name)
    print_note(f"{path.name} animates another skeleton: retargeted to {figure.name}; poise retarget has more options.")
    return retarget(clip, figure)


def has_dependent_joints(figure: Figure) -> bool:
    """Whether loops or couplings make joints depend on each other, so that a filter must not move them one by one."""
    return bool(figure.loops or figure.couplings)


def play_unfiltered(
    motion: Motion, outputs: Sequence[Output], *, rate: float, seconds: float | None, loop: bool
) -> Iterator[Posture]:
    """Yield the frames of a motion at their times, pass each to the outputs, then print how many were on time."""
    from poise.character.clock import FrameClock, frame_rate

    rate = frame_rate(rate)
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
    print_result(
        f"{clock.ticks - clock.missed} frames at {rate:g} Hz, {clock.missed} skipped, played without filtering."
    )
