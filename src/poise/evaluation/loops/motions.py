"""Motions for the paper's three robots: a punch through the shoulder's singularity, dancing hips, and a walk.

The paper's own animations are not public [Schumacher et al. 2021, V]. These motions have the same requirements for
figures with the same joints: a hand that passes the posture in which two shoulder axes coincide, hips that move in all
six degrees of freedom, and steps with the centre of mass above the standing foot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose


@dataclass(frozen=True)
class Dance:
    """Hips that move and turn along all axes."""

    size: float = 1.0
    """Scale of the motion; 1 for the full dance."""

    def pose(self, figure: Figure, time: float) -> Pose:
        """Target pose of the pelvis at a time [s]."""
        rest = figure.pose_of("pelvis", figure.neutral())
        beat = 2.0 * math.pi * 0.75 * time
        # The motion is at rest at the start and end of every bar.
        ease = self.size * math.sin(0.25 * beat) ** 2
        sway = [0.030 * math.sin(beat), 0.012 * math.sin(2.0 * beat) - 0.015, 0.025 * math.cos(beat)]
        turn = [0.10 * math.sin(beat + 0.7), 0.18 * math.sin(beat), 0.12 * math.cos(beat)]
        return moved(rest, ease * np.array(sway), ease * np.array(turn))


@dataclass(frozen=True)
class Punch:
    """An arm that swings sideways over the shoulder, past the posture in which two shoulder axes coincide."""

    seconds: float = 2.0
    """Duration of the punch [s]."""
    miss: float = math.radians(4.0)
    """Half a turn minus the turn of the shoulder's first motor: the smaller, the nearer to the singularity [rad]."""

    def pose(self, figure: Figure, time: float) -> Pose:
        """Target pose of the glove at a time [s]: that of an arm on a ball joint, which has no singularity."""
        share = 0.5 - 0.5 * math.cos(math.pi * min(max(time / self.seconds, 0.0), 1.0))
        before = figure.posture(self.start())
        begin, glove = figure.pose_of("upper_arm", before), figure.pose_of("glove", before)
        end = figure.pose_of("upper_arm", figure.posture(self._end()))
        turn = Rotation.from_matrix(end.matrix @ begin.matrix.T).as_rotvec()
        carried = Rotation.from_rotvec(share * turn)
        position = begin.position + carried.apply(glove.position - begin.position)
        return Pose(position, _quaternion(carried.as_matrix() @ glove.matrix))

    def start(self) -> dict[str, float]:
        """Joint values at the beginning [rad]."""
        twist = 0.5 * (math.pi - self.miss)
        return {"shoulder_pitch": 0.0, "shoulder_roll": math.radians(60.0), "shoulder_yaw": -twist, "elbow": 0.5}

    def _end(self) -> dict[str, float]:
        begin = self.start()
        return begin | {"shoulder_pitch": math.pi - self.miss, "shoulder_yaw": -begin["shoulder_yaw"]}


@dataclass(frozen=True)
class Walk:
    """Steps on the spot: the pelvis moves over the standing foot while the other foot is lifted."""

    period: float = 2.0
    """Time of two steps [s]."""
    lift: float = 0.02
    """Height to which a foot is lifted [m]."""
    stride: float = 0.03
    """Distance by which a foot swings forward and back [m]."""

    def foot(self, figure: Figure, side: str, time: float) -> Pose:
        """Target pose of a foot at a time [s]."""
        rest = figure.pose_of(f"{side}_foot", figure.neutral())
        phase = 2.0 * math.pi * time / self.period + (0.0 if side == "left" else math.pi)
        up = max(0.0, math.sin(phase)) ** 2
        return moved(
            rest, np.array([0.0, self.lift * up, -self.stride * math.cos(phase) * self._ease(time)]), np.zeros(3)
        )

    def pelvis(self, figure: Figure, time: float) -> Pose:
        """Target pose of the pelvis at a time [s]: slightly lower than at rest."""
        rest = figure.pose_of("pelvis", figure.neutral())
        return moved(rest, np.array([0.0, -0.008 * self._ease(time), 0.0]), np.zeros(3))

    def center(self, figure: Figure, time: float) -> FloatArray:
        """Target of the centre of mass at a time [s]: above the standing foot, and in between while both stand."""
        rest: FloatArray = figure.center_of_mass(figure.neutral())
        side = math.sin(2.0 * math.pi * time / self.period)
        over = float(figure.pose_of("right_foot", figure.neutral()).position[0])
        shift: FloatArray = np.array([0.5 * over * side * self._ease(time), 0.0, 0.0])
        return rest + shift

    def _ease(self, time: float) -> float:
        """Smooth step from 0, standing still, to 1, walking, over half a period."""
        share = min(2.0 * time / self.period, 1.0)
        return share * share * (3.0 - 2.0 * share)


def moved(pose: Pose, shift: FloatArray, turn: FloatArray) -> Pose:
    """A pose shifted [m] and turned about its own origin by a rotation vector [rad]."""
    return Pose(pose.position + shift, _quaternion(Rotation.from_rotvec(turn).as_matrix() @ pose.matrix))


def _quaternion(matrix: FloatArray) -> FloatArray:
    quaternion: FloatArray = Rotation.from_matrix(matrix).as_quat(scalar_first=True)
    return quaternion
