"""A clip as places and rotations over time, with its up axis found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.clip.clip import Clip

BELIEVED = 0.5
"""Share of the way from feet to head that must be up, as the file says, for the file to be believed."""


class Source:
    """World frames of every body and site of a clip."""

    def __init__(self, clip: Clip) -> None:
        """Run the clip's forward kinematics for all frames."""
        ride = clip.figure.compiled.attached
        self.clip = clip
        self.positions = np.empty((len(clip), len(ride.node), 3))
        """(frames, m, 3) [units of the clip]"""
        self.rotations = np.empty((len(clip), len(ride.node), 4))
        """(frames, m, 4)"""
        tree = clip.figure.compiled.tree
        clip_frames(tree, clip._q, ride.node, ride.position, ride.rotation, self.positions, self.rotations)
        self._rows = clip.figure.compiled.frame_index

    def at(self, name: str) -> FloatArray:
        """(frames, 3) path of a body or site."""
        path: FloatArray = self.positions[:, self._rows[name]]
        return path

    def turned(self, name: str) -> Rotation:
        """How a body or site is turned in every frame."""
        return Rotation.from_quat(np.roll(self.rotations[:, self._rows[name]], -1, axis=1))

    def up(self, roles: Mapping[str, str]) -> FloatArray:
        """(3,) the world axis that points up most of the time: what the file says, unless ankles and head deny it.

        Files say one thing and hold another; over a whole clip, heads are above feet, if also before them on four.
        """
        feet = [roles[role] for role in ("left_ankle", "right_ankle") if role in roles]
        top = next((roles[role] for role in ("head", "neck", "left_shoulder", "pelvis") if role in roles), None)
        said = np.asarray(self.clip.figure.up_vector, dtype=np.float64)
        if not feet or top is None:
            return said
        rise = np.mean(self.at(top) - np.mean([self.at(foot) for foot in feet], axis=0), axis=0)
        if float(rise @ said) > BELIEVED * float(np.abs(rise).max()):
            return said
        axis = int(np.argmax(np.abs(rise)))
        up = np.zeros(3)
        up[axis] = np.sign(rise[axis]) or 1.0
        return up
