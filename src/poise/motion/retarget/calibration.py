"""Puts a clip on a figure: up, heading, scale and ground from the whole clip, then bones of the figure's length.

All estimates are medians and means over all frames, so they do not depend on the first frame or on the order of frames.
Lengths are used as ratios, so units cancel. The heading is the mean direction that the clip faces, so a clip that was
turned about the vertical gives the same result. `Skeleton` takes the directions of bones from the clip and the lengths
from the figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Source
from poise.motion.mapping.mapping import JointMap
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
PARENT_ROLES = {"knee": "hip", "elbow": "shoulder", "wrist": "elbow", "fingers": "wrist", "head": "neck"}
"""For the role at the lower end of a bone, the role at its upper end."""
PELVIS_TRUNK_ANGLE = np.radians(35.0)
"""Greatest mean angle between pelvis and trunk for which the clip's pelvis rotation is used [rad]."""
Paths = dict[str, FloatArray]
"""(frames, 3) paths by joint of the clip [m]."""
Roles = dict[str, str]
"""Joints of the clip by role."""


class Turning(Protocol):
    """A rotation, or one per frame."""

    def apply(self, vectors: FloatArray, /) -> FloatArray:
        """The rotated vectors."""


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
        places = {joint: source.path_of(joint) @ turn.T for joint in [*build.anchors, *roles.values()]}
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
    slow = np.percentile(speed, STANDING_SPEED_PERCENTILE)
    still = walked[speed < slow] if (speed < slow).any() else walked[speed <= slow]
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


class Skeleton:
    """Targets of the mapped joints: a chain of bones with the clip's directions and the figure's lengths.

    Paths are those of all frames (frames, 3), with a rotation of the trunk per frame, or places of one frame (3,), with
    one rotation.
    """

    def __init__(self, paths: Paths, roles: Roles, build: Build, trunk: Turning | None) -> None:
        self.paths, self.roles, self.trunk = paths, roles, trunk
        self.rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
        self.root = hip_center(paths, roles)
        self.root_rest = hip_center(self.rest, roles)
        self.walks = bool(build.feet)
        self.cache: Paths = {}

    def places(self, mapping: JointMap) -> Paths:
        """(frames, 3) targets of all links, by joint of the clip [m]."""
        return {link.joint: self.place(link.role, link.joint) + np.asarray(link.offset) for link in mapping.links}

    def place(self, role: str, joint: str) -> FloatArray:
        """(frames, 3) target of one joint [m]."""
        if joint not in self.cache:
            self.cache[joint] = self._place(role, joint)
        return self.cache[joint]

    def _place(self, role: str, joint: str) -> FloatArray:
        side, _, part = role.rpartition("_")
        if part in {"pelvis", "hip"} and (self.walks or self.trunk is not None):
            return self._pelvis(part, joint)
        if part == "shoulder" and self._has_pair("shoulder"):
            return self._shoulder(side, joint)
        if part == "neck" and "pelvis" in self.roles:
            return self.root + self._bone_along(self.root, joint, self.rest[joint] - self.root_rest)
        if part == "head" and "neck" not in self.roles and self._has_pair("shoulder"):
            return self._head(joint)
        parent = PARENT_ROLES.get(part, "")
        above = f"{side}_{parent}" if side and parent else parent
        if above in self.roles:
            start = self.roles[above]
            return self.place(above, start) + self._bone_along(
                self.paths[start], joint, self.rest[joint] - self.rest[start]
            )
        return self.paths[joint]

    def _pelvis(self, part: str, joint: str) -> FloatArray:
        """(frames, 3) the pelvis or a hip, turned with the trunk; without hips, at standing height [m]."""
        if part == "pelvis" and "left_hip" not in self.roles and self.walks:
            return self._at_standing_height(joint)
        if self.trunk is None:
            return self.paths[joint]
        out: FloatArray = self.root + self.trunk.apply(self.rest[joint] - self.root_rest)
        return out

    def _at_standing_height(self, joint: str) -> FloatArray:
        """(frames, 3) path of a pelvis with its median at the figure's standing height, for figures without hips."""
        path = self.paths[joint].copy()
        path[..., 1] += STANDING_HEIGHT_SHARE * self.rest[joint][1] - float(np.median(path[..., 1]))
        return path

    def _bone_along(self, start: FloatArray, joint: str, bone: FloatArray) -> FloatArray:
        """(frames, 3) a bone with the figure's length and the clip's direction, or its rest direction if that is zero.

        Args:
            start: (frames, 3) path of the clip's joint at the start of the bone [m].
            joint: The clip's joint at the end of the bone.
            bone: (3,) the figure's bone in the neutral posture [m].
        """
        way = self.paths[joint] - start
        size = _lengths(way)
        out: FloatArray = math.sqrt(float(bone @ bone)) * way / np.maximum(size, 1e-6)
        if size.min() > 1e-6:
            return out
        return np.where(size > 1e-6, out, bone if self.trunk is None else self.trunk.apply(bone))

    def _has_pair(self, part: str) -> bool:
        return f"left_{part}" in self.roles and f"right_{part}" in self.roles and "pelvis" in self.roles

    def _shoulder(self, side: str, joint: str) -> FloatArray:
        """(frames, 3) a shoulder: half the figure's shoulder breadth to one side of the middle of the shoulders [m]."""
        left, right = self.roles["left_shoulder"], self.roles["right_shoulder"]
        mid = 0.5 * (self.paths[left] + self.paths[right])
        rest = 0.5 * (self.rest[left] + self.rest[right])
        up = unit(mid - self.root) * np.linalg.norm(rest - self.root_rest)
        across = unit(self.paths[left] - self.paths[right]) * (0.5 if side == "left" else -0.5)
        return self.root + up + across * np.linalg.norm(self.rest[left] - self.rest[right])

    def _head(self, joint: str) -> FloatArray:
        """(frames, 3) a head without a neck: above the middle of the shoulders, in the clip's direction [m]."""
        shoulders = [f"{side}_shoulder" for side in ("left", "right")]
        start = np.mean([self.paths[self.roles[role]] for role in shoulders], axis=0)
        rest = np.mean([self.rest[self.roles[role]] for role in shoulders], axis=0)
        base = np.mean([self.place(role, self.roles[role]) for role in shoulders], axis=0)
        out: FloatArray = base + self._bone_along(start, joint, self.rest[joint] - rest)
        return out


def trunk_rotation(paths: Paths, roles: Roles) -> Rotation | None:
    """Rotation of the trunk in every frame: x from right to left hip, y from hips to shoulders."""
    pair = next((p for p in ("hip", "ankle", "shoulder") if f"left_{p}" in roles and f"right_{p}" in roles), None)
    if "pelvis" not in roles or pair is None:
        return None
    across = paths[roles[f"left_{pair}"]] - paths[roles[f"right_{pair}"]]
    tops = [paths[roles[r]] for r in ("left_shoulder", "right_shoulder", "neck", "head") if r in roles]
    rise = np.mean(tops, axis=0) - hip_center(paths, roles) if tops else np.tile([0.0, 1.0, 0.0], (len(across), 1))
    up = unit(rise)
    left = unit(across - np.sum(across * up, axis=1, keepdims=True) * up)
    return Rotation.from_matrix(np.stack([left, up, np.cross(left, up)], axis=2))


def pelvis_rotation(source: Source, calibration: Calibration, paths: Paths, roles: Roles) -> Rotation | None:
    """Rotation of the pelvis in every frame; None if the trunk's rotation is unknown.

    It is the rotation of the clip's own pelvis, times a constant rotation that aligns it on average with the trunk. If
    the clip's pelvis deviates too far from the trunk, as one that does not rotate does, the rotation of the trunk is
    used, although it bends with the back.
    """
    alignment = pelvis_alignment(source, calibration, paths, roles)
    if alignment is None:
        return trunk_rotation(paths, roles)
    return Rotation.from_matrix(calibration.turn) * source.rotation_of(roles["pelvis"]) * alignment


def pelvis_alignment(source: Source, calibration: Calibration, paths: Paths, roles: Roles) -> Rotation | None:
    """The constant rotation that aligns the clip's own pelvis with the trunk; None if that pelvis is not used."""
    trunk = trunk_rotation(paths, roles)
    if trunk is None:
        return None
    own = Rotation.from_matrix(calibration.turn) * source.rotation_of(roles["pelvis"])
    upright = np.maximum(trunk.apply([0.0, 1.0, 0.0])[:, 1], 0.0) ** 4 + 1e-9
    alignment = (own.inv() * trunk).mean(weights=upright)
    deviation = np.average(((own * alignment).inv() * trunk).magnitude(), weights=upright)
    return alignment if deviation < PELVIS_TRUNK_ANGLE else None


def unit(vectors: FloatArray) -> FloatArray:
    """A vector (3,), or rows (k, 3), scaled to unit length; those of zero length stay zero."""
    out: FloatArray = vectors / np.maximum(_lengths(vectors), 1e-9)
    return out


def _lengths(vectors: FloatArray) -> FloatArray:
    """(…, 1) lengths of vectors (…, 3), in half the time that `numpy.linalg.norm` takes for one."""
    out: FloatArray = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    return out
