"""Paths and contacts of a clip's feet before planning: positions of ankles, yaw and pitch of soles."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip
from poise.motion.clip.contacts import BoolArray, Contacts, ContactSettings, find_contacts, segments
from poise.motion.clip.source import Source
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import GROUND_PERCENTILE, Paths, Roles, unit
from poise.motion.retarget.feet import FootPath

LEAST_HORIZONTAL_SHARE = 0.6
"""Least horizontal share of a unit vector, along a foot or across the pelvis, whose heading is reliable."""
BACKWARD_FOOT_ANGLE = np.radians(100.0)
"""Yaw of a foot against the pelvis beyond which the recording is wrong: feet do not point backwards [rad]."""
MOST_FOOT_YAW = np.radians(55.0)
"""Greatest yaw of a foot against the pelvis in the plan [rad]."""
TIPPED_FLAT_PITCH = np.radians(30.0)
"""Pitch beyond which a foot that was found flat stands on its ball or its heel alone [rad]."""
TIPPED_PART_PITCH = np.radians(12.0)
"""Pitch beyond which a foot that was found on its ball or its heel alone stands on the lower of both [rad]."""
IMPLAUSIBLE_ANKLE_BEND = np.radians(50.0)
"""Bend of an ankle beyond its median from which the recording is wrong [rad]."""
REST_PITCH_TOLERANCE = np.radians(15.0)
"""Greatest difference between the pitch of flat feet in the clip and in the skeleton's neutral posture [rad].

A dancer who is always on tiptoe would otherwise count as flat.
"""
LEAST_FLAT_FRAMES = 5
"""Frames of flat stance from which the pitch of a flat foot can be estimated."""


def _heading(trunk: Rotation | None, count: int) -> FloatArray:
    """(frames,) heading of the pelvis about y, by its left axis, which stays level when the body bends [rad]."""
    if trunk is None:
        return np.zeros(count)
    left = trunk.apply([1.0, 0.0, 0.0])
    return _interpolated_angle(
        np.arctan2(-left[:, 2], left[:, 0]), np.hypot(left[:, 0], left[:, 2]) > LEAST_HORIZONTAL_SHARE
    )


def clip_foot_path(side: str, paths: Paths, roles: Roles, trunk: Rotation | None, build: Build) -> FootPath:
    """The clip's path of a foot: its ankle, with yaw and pitch of the line to its toes, or with the pelvis' heading."""
    ankle = paths[roles[f"{side}_ankle"]]
    place = _moved_outwards(side, ankle, roles, paths, build)
    heading = _heading(trunk, len(ankle))
    toe = roles.get(f"{side}_toe")
    if toe is None:
        still = np.zeros(len(ankle))
        return FootPath(place, heading, still, still, _sole_rotation(heading, still))
    ahead = unit(paths[toe] - ankle)
    level = np.hypot(ahead[:, 0], ahead[:, 2])
    out = np.angle(np.exp(1j * (np.arctan2(ahead[:, 0], ahead[:, 2]) - heading)))
    plausible = _plausible_ankle(side, paths, roles)
    reliable = (level > LEAST_HORIZONTAL_SHARE) & (np.abs(out) < BACKWARD_FOOT_ANGLE) & plausible
    yaw = heading + np.clip(_interpolated_angle(out, reliable), -MOST_FOOT_YAW, MOST_FOOT_YAW)
    pitch = -np.arctan2(ahead[:, 1], np.maximum(ahead[:, 0] * np.sin(yaw) + ahead[:, 2] * np.cos(yaw), 0.1))
    pitch = _interpolated_angle(pitch, plausible)
    return FootPath(place, yaw, pitch, np.zeros(len(ankle)), _sole_rotation(yaw, pitch))


def _plausible_ankle(side: str, paths: Paths, roles: Roles) -> BoolArray:
    """(frames,) whether the angle between foot and shank is plausible; recordings with lost markers flip feet over."""
    knee, ankle, toe = (roles.get(f"{side}_{part}") for part in ("knee", "ankle", "toe"))
    if knee is None or ankle is None or toe is None:
        return np.ones(len(next(iter(paths.values()))), dtype=np.bool_)
    ahead, shank = unit(paths[toe] - paths[ankle]), unit(paths[ankle] - paths[knee])
    bend = np.arccos(np.clip(np.sum(ahead * shank, axis=1), -1.0, 1.0))
    plausible: BoolArray = bend <= np.median(bend) + IMPLAUSIBLE_ANKLE_BEND
    return plausible


def _sole_rotation(yaw: FloatArray, pitch: FloatArray) -> Rotation:
    return Rotation.from_euler("YX", np.stack([yaw, pitch], axis=1))


def _interpolated_angle(angle: FloatArray, reliable: BoolArray) -> FloatArray:
    """(frames,) the unwrapped angle, interpolated over frames that are not reliable."""
    if not reliable.any():
        return np.unwrap(angle)
    frames = np.arange(len(angle))
    steady: FloatArray = np.interp(frames, frames[reliable], np.unwrap(angle[reliable]))
    return steady


def _moved_outwards(side: str, ankle: FloatArray, roles: Roles, paths: Paths, build: Build) -> FloatArray:
    """(frames, 3) the ankle, moved outwards if no hip is mapped and the figure's feet are wider apart."""
    other = "right" if side == "left" else "left"
    if roles.get(f"{other}_ankle") not in build.anchors or roles.get(f"{side}_hip") in build.anchors:
        return ankle
    ours = abs(build.anchors[roles["left_ankle"]].rest[0] - build.anchors[roles["right_ankle"]].rest[0])
    across = paths[roles["left_ankle"]] - paths[roles["right_ankle"]]
    theirs = float(np.median(np.abs(across[:, 0])))
    shift = 0.5 * max(0.0, ours - theirs) * (1.0 if side == "left" else -1.0)
    moved: FloatArray = ankle + np.array([shift, 0.0, 0.0])
    return moved


def detect_contacts(  # noqa: PLR0917
    free: dict[str, FootPath],
    paths: Paths,
    roles: Roles,
    build: Build,
    size: tuple[float, float],
    settings: ContactSettings | None,
) -> Contacts:
    """Contacts of heels and balls by the heights and speeds of ankles and toes, none where an ankle is implausible.

    Args:
        free: The clip's paths of the feet, by side.
        paths: (frames, 3) paths of the clip's joints in standing axes [m].
        roles: Joints of the clip by role.
        build: The figure's proportions.
        size: Length of a leg [m], and frames per second.
        settings: Thresholds; the default ones if None.
    """
    heels = {side: path.place - np.array([0.0, build.feet[side].ankle[1], 0.0]) for side, path in free.items()}
    toes = {side: paths[roles[f"{side}_toe"]] for side in free if f"{side}_toe" in roles}
    low = float(np.percentile(np.min([t[:, 1] for t in toes.values()], axis=0), GROUND_PERCENTILE)) if toes else 0.0
    balls = {side: toes[side] - np.array([0.0, low, 0.0]) if side in toes else heels[side] for side in free}
    found = find_contacts(heels, balls, *size, settings)
    for side in free:
        plausible = _plausible_ankle(side, paths, roles)
        found.heel[side][~plausible] = found.ball[side][~plausible] = False
    return found


def reassign_tipped_contacts(contacts: Contacts, paths: dict[str, FootPath]) -> Contacts:
    """The contacts, with every pitched foot on its lower end alone: the ball if the heel is up, else the heel."""
    heel, ball = {k: v.copy() for k, v in contacts.heel.items()}, {k: v.copy() for k, v in contacts.ball.items()}
    for side, path in paths.items():
        only_heel, only_ball = heel[side] & ~ball[side], ball[side] & ~heel[side]
        for kind, least in (
            (only_heel, TIPPED_PART_PITCH),
            (only_ball, TIPPED_PART_PITCH),
            (heel[side] & ball[side], TIPPED_FLAT_PITCH),
        ):
            for first, last in segments(kind):
                pitch = float(np.median(path.pitch[first:last]))
                if abs(pitch) > least:
                    heel[side][first:last], ball[side][first:last] = pitch < 0.0, pitch > 0.0
    return Contacts(heel, ball)


def rigid_foot_contacts(contacts: Contacts, build: Build) -> Contacts:
    """The contacts, with heel and ball of a foot that has no toes, and cannot roll, always in contact together."""
    heel, ball = dict(contacts.heel), dict(contacts.ball)
    for side, foot in build.feet.items():
        if not foot.tip:
            heel[side] = ball[side] = contacts.standing(side)
    return Contacts(heel, ball)


def _resting_pitch(free: dict[str, FootPath], contacts: Contacts) -> float:
    """Median pitch of the line from ankle to toes in flat stance, or of low feet if none is flat for long [rad]."""
    flat = [path.pitch[contacts.flat(side)] for side, path in free.items()]
    if sum(map(len, flat)) >= LEAST_FLAT_FRAMES:
        return float(np.median(np.concatenate(flat)))
    low = [path.pitch[path.place[:, 1] <= np.percentile(path.place[:, 1], GROUND_PERCENTILE)] for path in free.values()]
    return float(np.median(np.concatenate(low))) if low else 0.0


def _neutral_pitch(source: Source, roles: Roles) -> float:
    """Mean pitch of the line from ankle to toes in the skeleton's neutral posture [rad]."""
    skeleton = source.clip.figure
    neutral = skeleton.neutral()
    frames = skeleton.frames(neutral)
    # The neutral posture may have another up axis than the motion.
    up = Source(Clip(skeleton, neutral.q[None], 1.0)).up(roles)
    pairs = [(roles[f"{s}_ankle"], roles[f"{s}_toe"]) for s in ("left", "right") if f"{s}_toe" in roles]
    lines = [frames[toe].position - frames[ankle].position for ankle, toe in pairs if ankle in frames and toe in frames]
    sines = [float(line @ up) / max(float(np.linalg.norm(line)), 1e-9) for line in lines]
    return float(-np.arcsin(np.clip(np.mean(sines), -1.0, 1.0))) if sines else 0.0


def without_rest_pitch(
    free: dict[str, FootPath], contacts: Contacts, source: Source, roles: Roles
) -> dict[str, FootPath]:
    """The paths with the pitch of a flat foot subtracted, so that a flat foot has pitch 0."""
    neutral_pitch = _neutral_pitch(source, roles)
    rest = float(
        np.clip(
            _resting_pitch(free, contacts), neutral_pitch - REST_PITCH_TOLERANCE, neutral_pitch + REST_PITCH_TOLERANCE
        )
    )
    out = {}
    for side, path in free.items():
        pitch = path.pitch - rest
        out[side] = path._replace(pitch=pitch, turn=_sole_rotation(path.yaw, pitch))
    return out
