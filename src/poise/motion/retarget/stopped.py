"""Attaches the frames solved so far to the exception that interrupts a retargeting."""

from __future__ import annotations

from poise.motion.clip.motion import Motion


def attach_motion(stop: BaseException, motion: Motion, total: int) -> None:
    """Set the attribute `motion` of an exception to the motion solved so far, and add a note that says so."""
    stop.motion = motion  # type: ignore[attr-defined]
    stop.add_note(f"{len(motion)} of {total} frames are solved: this exception's `motion` has them.")


def attached_motion(stop: BaseException) -> Motion | None:
    """The motion attached to an exception; None if no frame was solved before it."""
    motion = getattr(stop, "motion", None)
    return motion if isinstance(motion, Motion) else None
