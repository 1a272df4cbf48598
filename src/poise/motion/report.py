"""How good a retargeted motion is, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.pose import FloatArray
from poise.motion.motion import Motion, Track

SPIKE = 8.0
"""Times the usual jerk of a joint, of frames that move, at which a frame is flagged."""
USUAL = 95.0
"""Percentile of jerk that is usual."""


@dataclass(frozen=True)
class Quality:
    """Measures of a motion."""

    tracking: FloatArray
    """(frames,) mean distance of the mapped points from their targets [m]."""
    skate: FloatArray
    """(frames - 1,) furthest that a standing heel or ball moved since the frame before [m]."""
    drift: float
    """Furthest that a standing point is from where it was planted [m]."""
    penetration: FloatArray
    """(frames,) how far the lowest point of a foot is below the ground [m]."""
    violations: int
    """Frames in which a limit is broken."""
    closure: float
    """Widest that a loop is open [m or rad]."""
    spikes: tuple[int, ...]
    """Frames at which some joint jerks unlike anywhere else."""

    def sentence(self) -> str:
        """All of it in a line."""
        return (
            f"{len(self.tracking)} frames: tracking {1e3 * self.tracking.mean():.1f} mm, at most "
            f"{1e3 * self.tracking.max():.1f} mm; feet that stand drift {1e3 * self.drift:.2f} mm; "
            f"{1e3 * self.penetration.max(initial=0.0):.2f} mm into the ground; limits broken in {self.violations} "
            f"frames; loops open by {self.closure:.1e}; {len(self.spikes)} frames with spikes."
        )


def measure(motion: Motion) -> Quality:
    """Measure a retargeted motion."""
    if motion.track is None:
        raise TaskError("only a motion that comes from retarget, not resampled, knows what was asked of it.")
    frames = [motion.figure.frames(posture) for posture in motion]
    places = _feet(motion, motion.track, frames)
    drift, skate = _slip(motion, motion.track, places)
    up = motion.figure.up_vector
    lowest = np.min([p @ up for p in places.values()], axis=(0, 2)) if places else np.full(len(motion), np.inf)
    broken = sum(bool(motion.figure.violations(posture)) for posture in motion)
    closure = max(motion.figure.closure_error(posture) for posture in motion)
    depth = np.maximum(motion.track.ground - lowest, 0.0)
    return Quality(_tracking(motion.track, frames), skate, drift, depth, broken, closure, spikes(motion))


def spikes(motion: Motion) -> tuple[int, ...]:
    """Frames at which the jerk of some joint is far above what is usual for it and for the whole motion."""
    if len(motion) < 5:
        return ()
    jerk = np.abs(np.diff(motion.velocity, n=2, axis=0)) * motion.rate**2
    usual = np.percentile(jerk, USUAL, axis=0)
    floor = np.percentile(jerk, USUAL)
    found = np.flatnonzero((jerk > SPIKE * np.maximum(usual, floor)).any(axis=1))
    return tuple(int(i) + 1 for i in found)


def _tracking(track: Track, frames: list) -> FloatArray:  # type: ignore[type-arg]
    errors = [
        [np.linalg.norm(frame[site].apply(offset) - track.targets[joint][i]) for i, frame in enumerate(frames)]
        for joint, (site, offset) in track.points.items()
    ]
    return np.mean(errors, axis=0) if errors else np.zeros(len(frames))


def _feet(motion: Motion, track: Track, frames: list) -> dict[str, FloatArray]:  # type: ignore[type-arg]
    """(frames, 2, 3) ball and heel of each foot as they are."""
    out = {}
    for site, planned in track.locks.items():
        points = track.soles[site]
        out[site] = np.array([[frame[site].apply(point) for point in points] for frame in frames])
        assert out[site].shape == planned.shape
    return out


def _slip(motion: Motion, track: Track, places: dict[str, FloatArray]) -> tuple[float, FloatArray]:
    """How far standing points are from their plan at most, and how far they move from frame to frame."""
    drift, skate = 0.0, np.zeros(max(len(motion) - 1, 0))
    for side, (site, at) in zip(track.contacts.heel, places.items(), strict=True):
        for k, stands in enumerate((track.contacts.ball[side], track.contacts.heel[side])):
            # A heel lifts while the ball stands and the other way round: only what is fixed is measured.
            fixed = stands if k == 0 else stands & ~track.contacts.ball[side] | track.contacts.flat(side)
            drift = max(
                drift, float(np.max(np.linalg.norm(at[:, k] - track.locks[site][:, k], axis=1)[fixed], initial=0.0))
            )
            both = fixed[1:] & fixed[:-1]
            skate = np.maximum(skate, np.where(both, np.linalg.norm(np.diff(at[:, k], axis=0), axis=1), 0.0))
    return drift, skate
