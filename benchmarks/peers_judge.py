"""Errors measured by Pinocchio: feet, centre of mass, hand and head."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from peers_problem import Problem, Targets

REST = 150
"""Frames at the end over which calm is judged."""


class Errors(NamedTuple):
    """Errors in each of k frames; shapes (k,) unless said otherwise."""

    feet: np.ndarray
    """Of the worse foot: distance [m] plus angle [rad]."""
    center: np.ndarray
    """Centre of mass [mm]."""
    hand: np.ndarray
    """Hand [mm]."""
    gaze: np.ndarray
    """Head [mrad]."""
    change: np.ndarray
    """Largest change of a joint's or the base's step from one frame to the next, at the end [rad, m] (REST - 1,)."""
    limit_excess: float
    """Farthest any joint ever was outside its limits [rad]."""
    speed_ratio: float
    """Fastest step of a joint against what its speed limit allows in one frame."""


class Judge:
    """Measures motions of the problem's robot."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = pin.buildModelFromUrdf(str(problem.urdf), pin.JointModelFreeFlyer())
        self.data = self.model.createData()

    def place(self, name: str, q: np.ndarray) -> pin.SE3:
        """Pose of a link in a posture."""
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(name)].copy()

    def center(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass in a posture [m]."""
        return np.array(pin.centerOfMass(self.model, self.data, q))

    def errors(self, q: np.ndarray, targets: Targets) -> Errors:
        """Errors of a motion q (k + 1, nq), whose first row is the start."""
        feet, center, hand, gaze = np.array([self._frame(answer, targets, k) for k, answer in enumerate(q[1:])]).T
        steps = np.array([pin.difference(self.model, before, after) for before, after in pairwise(q)])
        joints, lower, upper = q[:, 7:], self.model.lowerPositionLimit[7:], self.model.upperPositionLimit[7:]
        return Errors(
            feet,
            center,
            hand,
            gaze,
            change=np.abs(np.diff(steps[-REST:], axis=0)).max(axis=1, initial=0.0),
            limit_excess=float(np.maximum(lower - joints, joints - upper).max(initial=0.0)),
            speed_ratio=float((np.abs(steps[:, 6:]) / (self.problem.speeds * self.problem.dt)).max(initial=0.0)),
        )

    def _frame(self, q: np.ndarray, targets: Targets, k: int) -> tuple[float, ...]:
        problem = self.problem
        feet = max(
            apart(self.place(name, q), pin.SE3(pose))
            for name, pose in zip(problem.feet, problem.feet_poses, strict=True)
        )
        hand = self.place(problem.hand, q).translation
        head = self.place(problem.head, q).rotation
        return (
            feet,
            1e3 * float(np.linalg.norm(self.center(q) - targets.center[k])),
            1e3 * float(np.linalg.norm(hand - targets.hand[k])),
            1e3 * float(np.linalg.norm(pin.log3(targets.gaze[k].T @ head))),
        )


def apart(a: pin.SE3, b: pin.SE3) -> float:
    """Distance [m] plus angle [rad] between two poses."""
    return float(np.linalg.norm(a.translation - b.translation) + np.linalg.norm(pin.log3(a.rotation.T @ b.rotation)))
