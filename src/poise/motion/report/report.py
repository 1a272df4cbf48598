"""How good a retargeted motion is, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray
from poise.motion.clip.motion import Motion, Track
from poise.motion.report.joints import Spike, find_spikes, joint_curves
from poise.motion.report.support import support_margin

ROUNDING = 1e-6
"""Share of a limit of speed by which rounding may exceed it."""


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
    errors: dict[str, FloatArray]
    """(frames,) distance of each mapped point from its target, by joint of the clip [m]."""
    gaps: FloatArray
    """(frames,) how far loops are open [m or rad]."""
    broken: tuple[int, ...]
    """Frames in which a limit is broken, by number."""
    margin: FloatArray | None
    """(frames,) how far inside the support the centre of mass is, negative outside, NaN in the air [m]; None for a
    figure without mass or feet."""
    jerks: tuple[Spike, ...]
    """The spikes, each with its joint."""
    stands: BoolArray | None
    """(frames,) whether some foot stands; None for a motion without feet."""
    hurried: tuple[int, ...]
    """Frames to which some joint moves faster than it may."""

    def sentence(self) -> str:
        """All of it in a line."""
        return (
            f"{len(self.tracking)} frames: tracking {1e3 * self.tracking.mean():.1f} mm, at most "
            f"{1e3 * self.tracking.max():.1f} mm; feet that stand drift {1e3 * self.drift:.2f} mm; "
            f"{1e3 * self.penetration.max(initial=0.0):.2f} mm into the ground; limits broken in {self.violations} "
            f"frames; loops open by {self.closure:.1e}; {len(self.spikes)} frames with spikes"
            + (f"; no foot stands in {self.airborne} frames." if self.airborne else ".")
        )

    def worst(self, count: int) -> dict[str, FloatArray]:
        """(frames,) errors of the so many joints that are farthest from where they should be, on average."""
        return dict(sorted(self.errors.items(), key=lambda named: -float(named[1].mean()))[:count])

    @property
    def unbalanced(self) -> int:
        """Frames in which a foot stands and a figure that stood still would fall."""
        return 0 if self.margin is None else int((self.margin < 0.0).sum())

    @property
    def airborne(self) -> int:
        """Frames in which no foot stands: nothing slips in them, and nothing carries a figure that is slow."""
        return 0 if self.stands is None else int((~self.stands).sum())


def measure(motion: Motion) -> Quality:
    """Measure a retargeted motion."""
    track = motion.track
    if track is None:
        raise TaskError(
            "nobody knows what was asked of this motion, so its errors cannot be measured; measure what retarget "
            "returned, or cut or resampled that, not what was blended or read from a file."
        )
    frames = [motion.figure.frames(posture) for posture in motion]
    places = _feet(track, frames)
    drift, skate = _slip(motion, track, places)
    up = motion.figure.up_vector
    lowest = np.min([p @ up for p in places.values()], axis=(0, 2)) if places else np.full(len(motion), np.inf)
    broken = tuple(i for i, posture in enumerate(motion) if motion.figure.violations(posture))
    gaps = np.array([motion.figure.closure_error(posture) for posture in motion])
    errors = _errors(track, frames)
    jerks = find_spikes(motion)
    return Quality(
        tracking=np.mean(list(errors.values()), axis=0) if errors else np.zeros(len(motion)),
        skate=skate,
        drift=drift,
        penetration=np.maximum(track.ground - lowest, 0.0),
        violations=len(broken),
        closure=float(gaps.max()),
        spikes=tuple(sorted({spike.frame for spike in jerks})),
        errors=errors,
        gaps=gaps,
        broken=broken,
        margin=support_margin(motion),
        jerks=jerks,
        stands=_stands(track),
        hurried=_hurried(motion),
    )


def spikes(motion: Motion) -> tuple[int, ...]:
    """Frames at which the jerk of some joint is far above what is usual for it and for the whole motion."""
    return tuple(sorted({spike.frame for spike in find_spikes(motion)}))


def _stands(track: Track) -> BoolArray | None:
    """(frames,) whether some foot stands."""
    feet = [track.contacts.standing(side) for side in track.contacts.heel] if track.locks else []
    return np.any(feet, axis=0) if feet else None


def _hurried(motion: Motion) -> tuple[int, ...]:
    """Frames to which some joint goes faster than its limit of speed allows."""
    fast = np.zeros(max(len(motion) - 1, 0), dtype=np.bool_)
    for curve in joint_curves(motion):
        fast |= curve.speed > (1.0 + ROUNDING) * curve.fastest
    return tuple(int(i) + 1 for i in np.flatnonzero(fast))


def _errors(track: Track, frames: list[Frames]) -> dict[str, FloatArray]:
    """(frames,) how far each mapped point is from its target."""
    out = {}
    for joint, (site, offset) in track.points.items():
        points = np.array([frame[site].apply(offset) for frame in frames])
        out[joint] = np.linalg.norm(points - track.targets[joint], axis=1)
    return out


def _feet(track: Track, frames: list[Frames]) -> dict[str, FloatArray]:
    """(frames, 2, 3) ball and heel of each foot as they are."""
    return {
        site: np.array([[frame[site].apply(point) for point in track.soles[site]] for frame in frames])
        for site in track.locks
    }


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
