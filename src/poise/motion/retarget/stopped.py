"""What is left of a retargeting that is stopped half way, by Ctrl-C or by an error: the frames that are solved."""

from __future__ import annotations

from poise.motion.clip.motion import Motion


def leave(stop: BaseException, motion: Motion, asked: int) -> None:
    """Give what stops a retargeting the motion so far, as its attribute `motion`, and a note that says so."""
    stop.motion = motion  # type: ignore[attr-defined]
    stop.add_note(f"{len(motion)} of {asked} frames are solved: this exception's `motion` has them.")


def left_by(stop: BaseException) -> Motion | None:
    """The motion that a retargeting had when this stopped it; None if it had solved nothing."""
    motion = getattr(stop, "motion", None)
    return motion if isinstance(motion, Motion) else None
