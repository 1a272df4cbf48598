"""Transforms a clip into a figure's standing axes: estimates up, heading, scale and ground from the whole clip.

All estimates are medians and means over all frames, so they do not depend on the first frame or on the order of frames.
Lengths are used as ratios, so units cancel. The heading is the mean direction that the clip faces, so a clip that was
turned about the vertical gives the same result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.motion.clip.source import Source
from poise.motion.retarget.build import Build

GROUND_PERCENTILE = 5.0
"""Percentile of foot heights that defines the ground; lower heights are noise."""
STANDING_HEIGHT_SHARE = 0.97
"""Share of its neutral height at which a figure whose leg bones are unknown stands."""
STANDING_SPEED_PERCENTILE = 40.0
"""Percentile of ankle speeds below which an ankle may be standing."""
FLOOR_FIT_ROUNDS = 6
"""Rounds of the robust fit of the floor plane; each round leaves out the last round's outliers."""
STEEPEST_FLOOR = 0.1
"""Slope from which a floor is a real hill and not a calibration error of the recording."""
SINGLE_POINT_RANGE = 0.3
"""Range of motion of a single mapped point, as a share of the distance of its rest position from the origin."""
LEG_JOINTS = ("hip", "knee", "ankle")
"""Roles of the joints between the bones of a leg."""


@dataclass(frozen=True)
class Calibration:
    """The transform from the world of a clip to standing axes: rotate, remove the slope, centre, scale and offset."""

    turn: FloatArray
    """(3, 3) rotation from the world of the clip."""
    center: FloatArray
    """(3,) point subtracted after the rotation: mean hip position, at ground height [units of the clip]."""
    slope: FloatArray
    """(2,) slope of the clip's floor along x and z, which is removed: it comes from the calibration of the cameras."""
    scale: float
    """[m per unit of the clip]"""
    offset: FloatArray
    """(3,) point added last: rest position of the figure's hips, at the height of its ankles on flat feet [m]."""
    leg: float
    """Length of the figure's legs [m]."""

    @staticmethod
    def of(source: Source, roles: Mapping[str, str], build: Build, stride: float = 1.0) -> Calibration:
        """Estimate the transform from all frames of a clip.

        Args:
            source: The clip.
            roles: Joints of the clip by role, including roles that the figure does not have.
            build: The figure's proportions.
            stride: Factor on the scale, below 1 for shorter steps.
        """
        turn = _rotation_to_up(source.up(roles))
        turn = _rotation_to_forward(source, roles, turn) @ turn
        places = {joint: source.path_of(joint) @ turn.T for joint in {*roles.values(), *build.anchors}}
        ankles = [roles[f"{side}_ankle"] for side in ("left", "right") if f"{side}_ankle" in roles]
        slope = floor_slope([places[a] for a in ankles], source.clip.rate) if ankles else np.zeros(2)
        bones = places
        places = {joint: _without_slope(path, slope) for joint, path in places.items()}
        ours = {role: joint for role, joint in roles.items() if joint in build.anchors}
        root = hip_center(places, ours)
        low = np.min([places[a][:, 1] for a in ankles], axis=0) if ankles else np.zeros(1)
        ground = float(np.percentile(low, GROUND_PERCENTILE))
        ankle_heights = [build.anchors[a].rest[1] for a in ankles if a in build.anchors]
        height = float(np.mean(ankle_heights)) if ankle_heights else 0.0
        rest = hip_center({joint: anchor.rest[None] for joint, anchor in build.anchors.items()}, ours)[0]
        scale, leg = _scale(bones, roles, build, root[:, 1] - ground, float(rest[1]) - height)
        mean = root.mean(axis=0)
        at = np.array([mean[0], ground if ankle_heights else mean[1], mean[2]])
        offset = np.array([rest[0], height if ankle_heights else rest[1], rest[2]])
        return Calibration(turn, at, slope, stride * scale, offset, leg)

    def apply(self, places: FloatArray) -> FloatArray:
        """Positions (…, 3) in the world of the clip, in standing axes [m]."""
        out: FloatArray = self.scale * (_without_slope(places @ self.turn.T, self.slope) - self.center) + self.offset
        return out


def floor_slope(ankles: list[FloatArray], rate: float) -> FloatArray:
    """(2,) slope of the floor along x and z, by a robust plane fit through the positions of slow ankles.

    Zero if the clip has one frame only, its ankles keep one height, or the slope is too steep for a floor.

    Args:
        ankles: (frames, 3) paths, y up, in any unit.
        rate: Frames per second.
    """
    walked = np.concatenate(ankles)
    size = float(np.ptp(walked[:, 1]))
    if len(ankles[0]) < 2 or size <= 0.0:
        return np.zeros(2)
    speed = np.concatenate([np.linalg.norm(np.gradient(path, axis=0), axis=1) * rate for path in ankles])
    still = walked[speed < np.percentile(speed, STANDING_SPEED_PERCENTILE)]
    at = still - still.mean(axis=0)
    inliers = np.ones(len(at), dtype=np.bool_)
    slope = np.zeros(2)
    for _ in range(FLOOR_FIT_ROUNDS if len(at) else 0):
        flat, rise = at[inliers][:, [0, 2]], at[inliers][:, 1]
        ridge = inliers.sum() * size**2 * np.eye(2)
        slope = np.linalg.solve((flat - flat.mean(axis=0)).T @ flat + ridge, (flat - flat.mean(axis=0)).T @ rise)
        residual = at[:, 1] - at[:, [0, 2]] @ slope
        spread = np.abs(residual - np.median(residual))
        inliers = spread <= 2.5 * np.median(spread) + 1e-3 * size
    return slope if float(np.linalg.norm(slope)) < STEEPEST_FLOOR else np.zeros(2)


def _without_slope(places: FloatArray, slope: FloatArray) -> FloatArray:
    """Positions (…, 3) with the height of a sloped floor (2,) subtracted."""
    out = np.array(places)
    out[..., 1] -= places[..., [0, 2]] @ slope
    return out


def hip_center(places: Mapping[str, FloatArray], roles: Mapping[str, str]) -> FloatArray:
    """(frames, 3) midpoint of the hips; without two hips the pelvis, without a pelvis the first joint."""
    if "left_hip" in roles and "right_hip" in roles:
        return 0.5 * (places[roles["left_hip"]] + places[roles["right_hip"]])
    name = roles.get("pelvis") or next(iter(roles.values()), None)
    return places[name] if name is not None else next(iter(places.values()))


def _rotation_to_up(up: FloatArray) -> FloatArray:
    """(3, 3) a rotation that maps `up` to y."""
    found, _ = Rotation.align_vectors(np.array([[0.0, 1.0, 0.0]]), up[None])
    return np.asarray(found.as_matrix(), dtype=np.float64)


def _rotation_to_forward(source: Source, roles: Mapping[str, str], turn: FloatArray) -> FloatArray:
    """(3, 3) a rotation about y after which the clip faces +z on average."""
    for part in ("hip", "shoulder", "ankle", "wrist"):
        if f"left_{part}" in roles and f"right_{part}" in roles:
            across = (source.path_of(roles[f"left_{part}"]) - source.path_of(roles[f"right_{part}"])) @ turn.T
            flat = across[:, [0, 2]]
            sizes = np.linalg.norm(flat, axis=1, keepdims=True)
            mean = np.mean(flat / np.maximum(sizes, 1e-12), axis=0)
            angle = np.arctan2(mean[1], mean[0])
            return np.asarray(Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix(), dtype=np.float64)
    return np.eye(3)


def _scale(
    places: dict[str, FloatArray], roles: Mapping[str, str], build: Build, heights: FloatArray, stature: float
) -> tuple[float, float]:
    """Metres per unit of the clip, and the length of a leg [m].

    The scale is the ratio of leg bones; without leg bones, of hip heights; without hips, of the extent of all points.
    """
    rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
    theirs, ours = 0.0, 0.0
    for side in ("left", "right"):
        bones = [roles.get(f"{side}_{part}", "") for part in LEG_JOINTS]
        for a, b in pairwise(bones):
            if a in rest and b in rest:
                theirs += float(np.median(np.linalg.norm(places[b] - places[a], axis=1)))
                ours += float(np.linalg.norm(rest[b] - rest[a]))
    if theirs > 0.0 and ours > 0.0:
        return ours / theirs, 0.5 * ours
    usual = float(np.median(heights))
    if usual > 0.0 and stature > 0.0:
        return STANDING_HEIGHT_SHARE * stature / usual, stature
    return _extent_scale({joint: places[joint] for joint in rest}, rest)


def _extent_scale(places: dict[str, FloatArray], rest: dict[str, FloatArray]) -> tuple[float, float]:
    """Scale by the extent of the mapped points, and that extent [m], for figures without legs."""
    if len(places) > 1:
        theirs = float(np.median(np.linalg.norm(np.ptp(np.array(list(places.values())), axis=0), axis=1)))
        ours = float(np.linalg.norm(np.ptp(np.array(list(rest.values())), axis=0)))
    else:
        path = next(iter(places.values()))
        theirs = float(np.percentile(np.linalg.norm(path - path.mean(axis=0), axis=1), 95.0))
        ours = SINGLE_POINT_RANGE * float(np.linalg.norm(next(iter(rest.values()))))
    if not theirs > 0.0:
        raise TaskError("the mapped joints of the clip are all at one point, so its scale is unknown; map others.")
    return (ours / theirs if ours > 0.0 else 1.0), max(ours, 1e-3)
