"""Targets for a figure's joints: bone directions from the clip, bone lengths from the figure."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.source import Source
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import STANDING_HEIGHT_SHARE, Calibration, hip_center

PARENT_ROLES = {"knee": "hip", "elbow": "shoulder", "wrist": "elbow", "fingers": "wrist", "head": "neck"}
"""Role at the other end of the bone that leads to a role."""
PELVIS_TRUNK_ANGLE = np.radians(35.0)
"""Greatest mean angle between pelvis and trunk for which the clip's pelvis rotation is used [rad]."""
Paths = dict[str, FloatArray]
"""(frames, 3) paths by joint of the clip [m]."""
Roles = dict[str, str]
"""Joints of the clip by role."""


class Skeleton:
    """Targets of the mapped joints: a chain of bones with the clip's directions and the figure's lengths."""

    def __init__(self, paths: Paths, roles: Roles, build: Build, trunk: Rotation | None) -> None:
        self.paths, self.roles, self.trunk = paths, roles, trunk
        self.rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
        self.root = hip_center(paths, roles)
        self.root_rest = hip_center({joint: rest[None] for joint, rest in self.rest.items()}, roles)[0]
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
        if part == "pelvis" and "left_hip" not in self.roles and self.walks:
            return self._at_standing_height(joint)
        if part in {"pelvis", "hip"} and self.trunk is not None:
            return self.root + self.trunk.apply(self.rest[joint] - self.root_rest)
        if part == "shoulder" and self._has_pair("shoulder"):
            return self._shoulder(side, joint)
        if part == "neck" and "pelvis" in self.roles:
            return self.root + self._bone_along(self.root, joint, self.rest[joint] - self.root_rest)
        parent = PARENT_ROLES.get(part, "")
        above = f"{side}_{parent}" if side and parent else parent
        if above in self.roles:
            start = self.roles[above]
            return self.place(above, start) + self._bone_along(
                self.paths[start], joint, self.rest[joint] - self.rest[start]
            )
        return self.paths[joint]

    def _at_standing_height(self, joint: str) -> FloatArray:
        """(frames, 3) path of a pelvis with its median at the figure's standing height, for figures without hips."""
        path = self.paths[joint].copy()
        path[:, 1] += STANDING_HEIGHT_SHARE * self.rest[joint][1] - float(np.median(path[:, 1]))
        return path

    def _bone_along(self, start: FloatArray, joint: str, bone: FloatArray) -> FloatArray:
        """(frames, 3) a bone with the figure's length and the clip's direction, or its rest direction if that is zero.

        Args:
            start: (frames, 3) path of the clip's joint at the start of the bone [m].
            joint: The clip's joint at the end of the bone.
            bone: (3,) the figure's bone in the neutral posture [m].
        """
        way = self.paths[joint] - start
        size = np.linalg.norm(way, axis=1, keepdims=True)
        turned = np.tile(bone, (len(way), 1)) if self.trunk is None else self.trunk.apply(np.tile(bone, (len(way), 1)))
        return np.where(size > 1e-6, np.linalg.norm(bone) * way / np.maximum(size, 1e-6), turned)

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


def _trunk_rotation(paths: Paths, roles: Roles) -> Rotation | None:
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
    trunk = _trunk_rotation(paths, roles)
    if trunk is None:
        return None
    own = Rotation.from_matrix(calibration.turn) * source.rotation_of(roles["pelvis"])
    upright = np.maximum(trunk.apply([0.0, 1.0, 0.0])[:, 1], 0.0) ** 4 + 1e-9
    turned = own * (own.inv() * trunk).mean(weights=upright)
    deviation = np.average((turned.inv() * trunk).magnitude(), weights=upright)
    return turned if deviation < PELVIS_TRUNK_ANGLE else trunk


def unit(vectors: FloatArray) -> FloatArray:
    """Rows (k, 3) scaled to unit length; rows of zero length stay zero."""
    out: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return out
