"""Measures by which people who train robots accept or reject a motion.

* Penetration: the share of frames in which parts of the figure are deeper than `DEEP` in each other or in the ground,
  and the greatest depth [Yang et al. 2025].
* Sliding: the share of frames in contact in which a toe moves faster than `SLIDING_SPEED` [Yang et al. 2025].
* Contact precision and recall: a sole touches the ground if its ball or heel is within `TOUCHING_HEIGHT` of it. Of the
  points that touch, precision is the share that are in contact in the clip; of those in contact in the clip, recall is
  the share that touch.
* Rejections, as ProtoMotions has them: a body lower than `LOWEST_BODY`, faster than `FASTEST_BODY`, or turning faster
  than `FASTEST_TURN`.
* Jerk of the joints: mean over joints and frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.figure.collision.self_distances import self_distances
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.kernels.motion.separation import clip_depths, make_separation
from poise.motion.clip.motion import Motion, Track

DEEP = 0.01
"""Depth from which a penetration counts [m]."""
SLIDING_SPEED = 0.01
"""Speed from which a toe in contact slides [m/s]."""
TOUCHING_HEIGHT = 5e-3
"""Height up to which a point of a sole touches the ground [m]."""
LOWEST_BODY = -0.05
"""Height of a body below the ground from which a motion is rejected [m]."""
FASTEST_BODY = 15.0
"""Speed of a body from which a motion is rejected [m/s]."""
FASTEST_TURN = 40.0
"""Angular velocity of a body from which a motion is rejected [rad/s]."""


@dataclass(frozen=True)
class TrainingMeasures:
    """Measures by which people who train robots accept or reject a motion."""

    self_depth: FloatArray
    """(frames,) greatest penetration of one part of the figure into another, less that of its design [m]."""
    deepest_pair: tuple[str, str] | None
    """The bodies of the greatest self-penetration; None without one."""
    penetrating: float
    """Share of frames with a penetration of more than a centimetre, of parts or of the ground."""
    sliding: float
    """Share of frames in contact in which a toe moves faster than a centimetre per second."""
    toe_speed: float
    """Greatest speed of a toe in contact [m/s]."""
    contact_precision: float
    """Share of the points touching the ground that are in contact in the clip; NaN if none touches."""
    contact_recall: float
    """Share of the points in contact in the clip that touch the ground; NaN if none is."""
    lowest: float
    """Height of the lowest body above the ground [m]."""
    fastest: float
    """Greatest speed of a body [m/s]."""
    fastest_turn: float
    """Greatest angular velocity of a body [rad/s]."""
    jerk: float
    """Mean jerk of the hinges [rad/s³]."""
    parts: dict[str, float]
    """Mean distance from the targets of head, trunk, arms and legs, as far as they have targets [m]."""

    @property
    def rejections(self) -> tuple[str, ...]:
        """Sentences about why ProtoMotions would reject the motion."""
        found = []
        if self.lowest < LOWEST_BODY:
            found.append(f"A body is {100.0 * -self.lowest:.0f} cm below the ground.")
        if self.fastest > FASTEST_BODY:
            found.append(f"A body moves at {self.fastest:.0f} m/s.")
        if self.fastest_turn > FASTEST_TURN:
            found.append(f"A body turns at {self.fastest_turn:.0f} rad/s.")
        return tuple(found)

    def sentences(self) -> list[str]:
        """The measures in words."""
        lines = [
            f"Parts are deeper than 1 cm in each other or in the ground in {self.penetrating:.1%} of the frames"
            + (
                f", at most {1e3 * self.self_depth.max():.1f} mm ({' in '.join(self.deepest_pair)})."
                if self.deepest_pair
                else "."
            ),
            f"Toes in contact move faster than 1 cm/s in {self.sliding:.1%} of the frames, at most "
            f"{100.0 * self.toe_speed:.2f} cm/s.",
        ]
        if np.isfinite(self.contact_precision) and np.isfinite(self.contact_recall):
            lines.append(
                f"Contacts: {self.contact_precision:.1%} of the points that touch the ground do so in the clip, "
                f"{self.contact_recall:.1%} of those that do so in the clip touch it."
            )
        lines.append(f"The mean jerk of the hinges is {self.jerk:.0f} rad/s³.")
        if self.parts:
            named = ", ".join(f"{part} {1e3 * error:.1f}" for part, error in self.parts.items())
            lines.append(f"Mean tracking error by part [mm]: {named}.")
        return [*lines, *self.rejections]


def training_measures(
    motion: Motion, track: Track, soles: dict[str, FloatArray], errors: dict[str, FloatArray]
) -> TrainingMeasures:
    """Measure a motion.

    Args:
        motion: The motion.
        track: Its targets.
        soles: (frames, 2, 3) world positions of the ball and the heel of each foot, by site [m].
        errors: (frames,) distance of each mapped point from its target, by joint of the clip [m].
    """
    depth, pair = self_depths(motion)
    place, spin = _body_motion(motion)
    up = motion.figure.up_vector
    heights = {
        site: points @ up - track.ground - track.floor.get(site, np.zeros(1))[:, None] for site, points in soles.items()
    }
    sunk = np.max([-height.min(axis=1) for height in heights.values()], axis=0) if heights else np.zeros(len(motion))
    speeds = np.linalg.norm(np.diff(place, axis=0), axis=2) * motion.rate
    sliding, toe_speed = _sliding(motion, track, soles)
    precision, recall = _contact_agreement(track, heights)
    return TrainingMeasures(
        self_depth=depth,
        deepest_pair=pair,
        penetrating=float(((depth > DEEP) | (sunk > DEEP)).mean()),
        sliding=sliding,
        toe_speed=toe_speed,
        contact_precision=precision,
        contact_recall=recall,
        lowest=float((place @ up).min() - track.ground),
        fastest=float(speeds.max(initial=0.0)),
        fastest_turn=float(spin.max(initial=0.0)),
        jerk=_hinge_jerk(motion),
        parts=_error_by_part(track, errors),
    )


def self_depths(motion: Motion) -> tuple[FloatArray, tuple[str, str] | None]:
    """(frames,) depth of the deepest self-penetration [m], and the two bodies where it is greatest.

    Depths count from `poise.figure.collision.self_distances.SelfDistances.allowed`. Meshes count as their convex hulls,
    to a millimetre or two.
    """
    figure: Figure = motion.figure
    found = self_distances(figure)
    depth, pair = np.zeros(len(motion)), np.full(len(motion), -1, dtype=np.int64)
    tables = found.tables()
    tables.watched.reach[:] = found.allowed(0.0)
    clip_depths(figure.compiled.tree, motion._q, make_separation(*tables, 0.0, figure.nv), depth, pair)
    frame = int(np.argmax(depth))
    if pair[frame] < 0:
        return depth, None
    i, j = found.pairs[pair[frame]]
    return depth, (found.solids[i].owner, found.solids[j].owner)


def _body_motion(motion: Motion) -> tuple[FloatArray, FloatArray]:
    """World positions (frames, bodies, 3) of all bodies [m], and (frames - 1, bodies) angular velocities [rad/s]."""
    figure = motion.figure
    ride, count = figure.compiled.attached, len(figure.bodies)
    place, turn = np.empty((len(motion), count, 3)), np.empty((len(motion), count, 4))
    clip_frames(
        figure.compiled.tree, motion._q, ride.node[:count], ride.position[:count], ride.rotation[:count], place, turn
    )
    share = np.clip(np.abs(np.sum(turn[1:] * turn[:-1], axis=2)), 0.0, 1.0)
    spin: FloatArray = 2.0 * np.arccos(share) * motion.rate
    return place, spin


def _sliding(motion: Motion, track: Track, soles: dict[str, FloatArray]) -> tuple[float, float]:
    """Share of the steps in contact in which a toe slides, and the greatest speed of a toe in contact [m/s]."""
    moved, counted = [np.zeros(0)], 0
    for side, points in zip(track.contacts.ball, soles.values(), strict=True):
        stands = track.contacts.ball[side]
        both = stands[1:] & stands[:-1]
        moved.append(np.linalg.norm(np.diff(points[:, 0], axis=0), axis=1)[both] * motion.rate)
        counted += int(both.sum())
    speed = np.concatenate(moved)
    return float((speed > SLIDING_SPEED).sum()) / max(counted, 1), float(speed.max(initial=0.0))


def _contact_agreement(track: Track, heights: dict[str, FloatArray]) -> tuple[float, float]:
    """Precision and recall of the contacts of balls and heels."""
    touching, asked = [], []
    for side, height in zip(track.contacts.ball, heights.values(), strict=True):
        touching += [height[:, 0] <= TOUCHING_HEIGHT, height[:, 1] <= TOUCHING_HEIGHT]
        asked += [track.contacts.ball[side], track.contacts.heel[side]]
    touch, ask = np.array(touching, dtype=np.bool_), np.array(asked, dtype=np.bool_)
    both = float((touch & ask).sum())
    return both / touch.sum() if touch.any() else np.nan, both / ask.sum() if ask.any() else np.nan


def _hinge_jerk(motion: Motion) -> float:
    """Mean jerk of all hinges over all frames [rad/s³]."""
    figure = motion.figure
    columns = [figure.v_slice(joint.name).start for joint in figure.joints if joint.kind == "revolute"]
    if len(motion) < 4 or not columns:
        return 0.0
    return float(np.abs(np.diff(motion.velocity[:, columns], n=2, axis=0)).mean() * motion.rate**2)


def _error_by_part(track: Track, errors: dict[str, FloatArray]) -> dict[str, float]:
    """Mean error of head, trunk, arms and legs [m]."""
    words = {"head": "head", "neck": "head", "shoulder": "arms", "elbow": "arms", "wrist": "arms", "hand": "arms"}
    words |= {"hip": "legs", "knee": "legs", "ankle": "legs", "toe": "legs"}
    roles = {link.joint: link.role for link in track.mapping.links}
    found: dict[str, list[float]] = {}
    for joint, error in errors.items():
        part = words.get(roles.get(joint, "").rpartition("_")[2], "trunk")
        found.setdefault(part, []).append(float(error.mean()))
    return {part: float(np.mean(found[part])) for part in ("head", "trunk", "arms", "legs") if part in found}
