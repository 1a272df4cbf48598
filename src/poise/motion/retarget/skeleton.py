"""The pose of a clip on the bones of a figure: directions from the one, lengths from the other."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.source import Source
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import BENT, Calibration, middle

PARENTS = {"knee": "hip", "elbow": "shoulder", "wrist": "elbow", "fingers": "wrist", "head": "neck"}
ASTRAY = np.radians(35.0)
"""How far a pelvis may be from the trunk above it, on average, to be believed."""
Paths = dict[str, FloatArray]
Roles = dict[str, str]


class Skeleton:
    """The clip's pose on the figure's bones."""

    def __init__(self, paths: Paths, roles: Roles, build: Build, trunk: Rotation | None) -> None:
        self.paths, self.roles, self.trunk = paths, roles, trunk
        self.rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
        self.root = middle(paths, roles)
        self.root_rest = middle({joint: rest[None] for joint, rest in self.rest.items()}, roles)[0]
        self.walks = bool(build.feet)
        self.found: Paths = {}

    def places(self, mapping: JointMap) -> Paths:
        """Targets by joint."""
        return {link.joint: self.place(link.role, link.joint) + np.asarray(link.offset) for link in mapping.links}

    def place(self, role: str, joint: str) -> FloatArray:
        """(frames, 3) target of one joint."""
        if joint not in self.found:
            self.found[joint] = self._place(role, joint)
        return self.found[joint]

    def _place(self, role: str, joint: str) -> FloatArray:
        side, _, part = role.rpartition("_")
        if part == "pelvis" and "left_hip" not in self.roles and self.walks:
            return self._upright(joint)
        if part in {"pelvis", "hip"} and self.trunk is not None:
            return self.root + self.trunk.apply(self.rest[joint] - self.root_rest)
        if part == "shoulder" and self._pair("shoulder"):
            return self._shoulder(side, joint)
        if part == "neck" and "pelvis" in self.roles:
            return self.root + self._along(self.root, joint, self.rest[joint] - self.root_rest)
        parent = PARENTS.get(part, "")
        above = f"{side}_{parent}" if side and parent else parent
        if above in self.roles:
            start = self.roles[above]
            return self.place(above, start) + self._along(self.paths[start], joint, self.rest[joint] - self.rest[start])
        return self.paths[joint]

    def _upright(self, joint: str) -> FloatArray:
        """As high as the figure stands, on average: a machine without hips has no bones to tell how high that is."""
        path = self.paths[joint].copy()
        path[:, 1] += BENT * self.rest[joint][1] - float(np.median(path[:, 1]))
        return path

    def _along(self, start: FloatArray, joint: str, bone: FloatArray) -> FloatArray:
        """A bone of the figure's length in the clip's direction; as it rests where the clip's has no length."""
        way = self.paths[joint] - start
        size = np.linalg.norm(way, axis=1, keepdims=True)
        turned = np.tile(bone, (len(way), 1)) if self.trunk is None else self.trunk.apply(np.tile(bone, (len(way), 1)))
        return np.where(size > 1e-6, np.linalg.norm(bone) * way / np.maximum(size, 1e-6), turned)

    def _pair(self, part: str) -> bool:
        return f"left_{part}" in self.roles and f"right_{part}" in self.roles and "pelvis" in self.roles

    def _shoulder(self, side: str, joint: str) -> FloatArray:
        """From the middle of the shoulders, which the trunk carries, half their breadth to one side."""
        left, right = self.roles["left_shoulder"], self.roles["right_shoulder"]
        mid = 0.5 * (self.paths[left] + self.paths[right])
        rest = 0.5 * (self.rest[left] + self.rest[right])
        up = unit(mid - self.root) * np.linalg.norm(rest - self.root_rest)
        across = unit(self.paths[left] - self.paths[right]) * (0.5 if side == "left" else -0.5)
        return self.root + up + across * np.linalg.norm(self.rest[left] - self.rest[right])


def _trunk(paths: Paths, roles: Roles) -> Rotation | None:
    """Axes of the trunk: left from the hips, up from hips to shoulders."""
    pair = next((p for p in ("hip", "ankle", "shoulder") if f"left_{p}" in roles and f"right_{p}" in roles), None)
    if "pelvis" not in roles or pair is None:
        return None
    across = paths[roles[f"left_{pair}"]] - paths[roles[f"right_{pair}"]]
    tops = [paths[roles[r]] for r in ("left_shoulder", "right_shoulder", "neck", "head") if r in roles]
    rise = np.mean(tops, axis=0) - middle(paths, roles) if tops else np.tile([0.0, 1.0, 0.0], (len(across), 1))
    up = unit(rise)
    left = unit(across - np.sum(across * up, axis=1, keepdims=True) * up)
    return Rotation.from_matrix(np.stack([left, up, np.cross(left, up)], axis=2))


def pelvis_turn(source: Source, calibration: Calibration, paths: Paths, roles: Roles) -> Rotation | None:
    """How the pelvis is turned: as the clip's own is, told what upright means by where the trunk is in all frames.

    The line from hips to shoulders bends with the back; it only stands in for a pelvis that does not turn by itself.
    """
    trunk = _trunk(paths, roles)
    if trunk is None:
        return None
    own = Rotation.from_matrix(calibration.turn) * source.rotation_of(roles["pelvis"])
    upright = np.maximum(trunk.apply([0.0, 1.0, 0.0])[:, 1], 0.0) ** 4 + 1e-9
    turned = own * (own.inv() * trunk).mean(weights=upright)
    astray = np.average((turned.inv() * trunk).magnitude(), weights=upright)
    return turned if astray < ASTRAY else trunk


def unit(vectors: FloatArray) -> FloatArray:
    """Rows (k, 3) at length 1, or as they are where they have none."""
    out: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return out
