"""World positions and rotations of a clip's bodies over time, and the clip's up axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.clip.clip import Clip

UP_AXIS_AGREEMENT = 0.5
"""Least component of the mean vector from feet to head along the file's up axis, as a share of its largest one.

Below it the file's up axis is taken to be wrong.
"""


class Source:
    """World frames of every body and site of a clip."""

    def __init__(self, clip: Clip) -> None:
        """Compute the forward kinematics of all frames."""
        ride = clip.figure.compiled.attached
        self.clip = clip
        self.positions = np.empty((len(clip), len(ride.node), 3))
        """(frames, m, 3) world positions [units of the clip]"""
        self.rotations = np.empty((len(clip), len(ride.node), 4))
        """(frames, m, 4) world rotations as quaternions w, x, y, z"""
        tree = clip.figure.compiled.tree
        clip_frames(tree, clip._q, ride.node, ride.position, ride.rotation, self.positions, self.rotations)
        self._rows = clip.figure.compiled.frame_index

    def path_of(self, name: str) -> FloatArray:
        """(frames, 3) path of a body or site."""
        path: FloatArray = self.positions[:, self._rows[name]]
        return path

    def rotation_of(self, name: str) -> Rotation:
        """World rotation of a body or site in every frame."""
        return Rotation.from_quat(np.roll(self.rotations[:, self._rows[name]], -1, axis=1))

    def up(self, roles: Mapping[str, str]) -> FloatArray:
        """(3,) the clip's up axis: the one the file declares, unless the head is not above the ankles along it.

        Some files declare the wrong up axis. Averaged over a clip, the head is above the feet, even on four legs. If
        the declared axis contradicts this, the world axis nearest to the mean vector from feet to head is up.

        Args:
            roles: Joints of the clip by role.
        """
        feet = [roles[role] for role in ("left_ankle", "right_ankle") if role in roles]
        top = next((roles[role] for role in ("head", "neck", "left_shoulder", "pelvis") if role in roles), None)
        said = np.asarray(self.clip.figure.up_vector, dtype=np.float64)
        if not feet or top is None:
            return said
        rise = np.mean(self.path_of(top) - np.mean([self.path_of(foot) for foot in feet], axis=0), axis=0)
        if float(rise @ said) > UP_AXIS_AGREEMENT * float(np.abs(rise).max()):
            return said
        axis = int(np.argmax(np.abs(rise)))
        up = np.zeros(3)
        up[axis] = np.sign(rise[axis]) or 1.0
        return up
