"""Measures of a retargeted motion: tracking errors, foot slip, penetration, limits, loops, balance and spikes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Frames
from poise.motion.clip.contacts import BoolArray
from poise.motion.clip.motion import Motion, Track
from poise.motion.report.curves import Spike, find_spikes, joint_curves, support_margin
from poise.motion.report.training import TrainingMeasures, training_measures

LOST_SHARE = 0.25
"""Mean distance from the targets, as a share of their extent, from which a motion does not follow its clip."""
SPEED_ROUNDING = 1e-6
"""Relative excess over a speed limit that counts as rounding error."""


@dataclass(frozen=True)
class Quality:
    """Measures of a retargeted motion."""

    tracking: FloatArray
    """(frames,) mean distance of the mapped points from their targets [m]."""
    skate: FloatArray
    """(frames - 1,) greatest distance that a standing heel or ball moved from one frame to the next [m]."""
    drift: float
    """Greatest distance of a standing heel or ball from its planned position [m]."""
    penetration: FloatArray
    """(frames,) depth of the lowest point of a foot below the ground [m]."""
    violations: int
    """Number of frames in which a joint limit is broken."""
    closure: float
    """Greatest closure error of a loop [m or rad]."""
    spikes: tuple[int, ...]
    """Frames with a spike of jerk (see `poise.motion.report.curves`)."""
    errors: dict[str, FloatArray]
    """(frames,) distance of each mapped point from its target, by joint of the clip [m]."""
    gaps: FloatArray
    """(frames,) greatest closure error of the loops [m or rad]."""
    broken: tuple[int, ...]
    """Frames in which a joint limit is broken."""
    margin: FloatArray | None
    """(frames,) distance of the centre of mass from the edge of the support polygon, positive inside, NaN while no foot
    stands [m]; None for a figure without mass or feet."""
    jerks: tuple[Spike, ...]
    """All spikes of jerk, with frame and joint."""
    stands: BoolArray | None
    """(frames,) whether some foot stands; None for a motion without feet."""
    hurried: tuple[int, ...]
    """Frames that some joint reaches faster than its speed limit."""
    size: float
    """Median extent of all targets of a frame [m]; 0 with a single target."""
    unmapped: tuple[str, ...]
    """Sentences about what does not follow the clip because it is not mapped."""
    training: TrainingMeasures
    """Measures by which people who train robots accept or reject a motion."""

    def sentence(self) -> str:
        """The main measures in one line."""
        return (
            f"{len(self.tracking)} frames: tracking error {1e3 * self.tracking.mean():.1f} mm on average, at most "
            f"{1e3 * self.tracking.max():.1f} mm; standing feet drift by {1e3 * self.drift:.2f} mm; feet are at most "
            f"{1e3 * self.penetration.max(initial=0.0):.2f} mm below the ground; limits are violated in "
            f"{self.violations} frames; loops are open by {self.closure:.1e}; {len(self.spikes)} frames have spikes"
            + (f"; no foot stands in {self.airborne} frames." if self.airborne else ".")
        )

    @property
    def is_lost(self) -> bool:
        """Whether the figure is nowhere near its targets: farther from them on average than a quarter of its size."""
        return self.size > 0.0 and float(self.tracking.mean()) > LOST_SHARE * self.size

    def worst(self, count: int) -> dict[str, FloatArray]:
        """(frames,) errors of the `count` points with the greatest mean error, by joint of the clip."""
        return dict(sorted(self.errors.items(), key=lambda named: -float(named[1].mean()))[:count])

    @property
    def unbalanced(self) -> int:
        """Number of frames in which a foot stands and the centre of mass is outside the support polygon."""
        return 0 if self.margin is None else int((self.margin < 0.0).sum())

    @property
    def airborne(self) -> int:
        """Number of frames in which no foot stands; slip and balance are not measured in them."""
        return 0 if self.stands is None else int((~self.stands).sum())


def measure(motion: Motion) -> Quality:
    """Measure a motion that `retarget` returned, or a slice or a resampled copy of one."""
    track = motion.track
    if track is None:
        raise TaskError(
            "this motion has no targets (motion.track is None), so its errors cannot be measured; measure the motion "
            "that retarget returned, or a slice or resampled copy of it, not a blended or loaded one."
        )
    frames = [motion.figure.frames(posture) for posture in motion]
    places = _sole_points(track, frames)
    drift, skate = _contact_slip(motion, track, places)
    up = motion.figure.up_vector
    heights = [p @ up - track.floor.get(site, np.zeros(1))[:, None] for site, p in places.items()]
    lowest = np.min(heights, axis=(0, 2)) if places else np.full(len(motion), np.inf)
    broken = tuple(i for i, posture in enumerate(motion) if motion.figure.violations(posture))
    gaps = np.array([motion.figure.closure_error(posture) for posture in motion])
    errors = _target_errors(track, frames)
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
        stands=_any_foot_stands(track),
        hurried=_too_fast_frames(motion),
        size=_extent(track),
        unmapped=track.mapping.warnings,
        training=training_measures(motion, track, places, errors),
    )


def _extent(track: Track) -> float:
    """Median over frames of the greatest extent of all targets and feet along an axis [m]."""
    places = [*track.targets.values(), *(lock[:, 0] for lock in track.locks.values())]
    return float(np.median(np.ptp(places, axis=0).max(axis=1))) if len(places) > 1 else 0.0


def _any_foot_stands(track: Track) -> BoolArray | None:
    """(frames,) whether some foot stands."""
    feet = [track.contacts.standing(side) for side in track.contacts.heel] if track.locks else []
    return np.any(feet, axis=0) if feet else None


def _too_fast_frames(motion: Motion) -> tuple[int, ...]:
    """Frames that some joint reaches faster than its speed limit."""
    fast = np.zeros(max(len(motion) - 1, 0), dtype=np.bool_)
    for curve in joint_curves(motion):
        fast |= curve.speed > (1.0 + SPEED_ROUNDING) * curve.fastest
    return tuple(int(i) + 1 for i in np.flatnonzero(fast))


def _target_errors(track: Track, frames: list[Frames]) -> dict[str, FloatArray]:
    """(frames,) distance of each mapped point from its target, by joint of the clip [m]."""
    out = {}
    for joint, (site, offset) in track.points.items():
        points = np.array([frame[site].apply(offset) for frame in frames])
        out[joint] = np.linalg.norm(points - track.targets[joint], axis=1)
    return out


def _sole_points(track: Track, frames: list[Frames]) -> dict[str, FloatArray]:
    """(frames, 2, 3) actual world positions of the ball and the heel of each foot, by site [m]."""
    return {
        site: np.array([[frame[site].apply(point) for point in track.soles[site]] for frame in frames])
        for site in track.locks
    }


def _contact_slip(motion: Motion, track: Track, places: dict[str, FloatArray]) -> tuple[float, FloatArray]:
    """Drift of standing points from their planned positions, and (frames - 1,) their motion between frames [m]."""
    drift, skate = 0.0, np.zeros(max(len(motion) - 1, 0))
    for side, (site, at) in zip(track.contacts.heel, places.items(), strict=True):
        for k, stands in enumerate((track.contacts.ball[side], track.contacts.heel[side])):
            # While the ball stands the heel may lift and come down, so the heel counts alone or in flat stance only.
            fixed = stands if k == 0 else stands & ~track.contacts.ball[side] | track.contacts.flat(side)
            drift = max(
                drift, float(np.max(np.linalg.norm(at[:, k] - track.locks[site][:, k], axis=1)[fixed], initial=0.0))
            )
            both = fixed[1:] & fixed[:-1]
            skate = np.maximum(skate, np.where(both, np.linalg.norm(np.diff(at[:, k], axis=0), axis=1), 0.0))
    return drift, skate
