"""poise: strict priorities. Feet, then balance, then the hand, then the gaze, then the posture."""

from __future__ import annotations

import numpy as np
from peers_problem import Problem, Targets
from scipy.spatial.transform import Rotation

import poise


class PoiseSolver:
    """`poise.Solver`, one step per frame."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.figure = poise.load(problem.urdf).with_floating_base()
        self.slots = np.array([self.figure.q_slice(name).start for name in problem.joints])
        self.base = self.figure.q_slice("base")

    def begin(self, targets: Targets) -> None:
        """Tasks and posture at the start."""
        problem = self.problem
        self.targets = targets
        self.gaze_targets = np.array([quaternion(rotation) for rotation in targets.gaze])
        self.posture = self.figure.posture(self.from_pinocchio(problem.start))
        feet = [
            poise.Frame(name, poise.Pose(pose[:3, 3], quaternion(pose[:3, :3])), priority=1)
            for name, pose in zip(problem.feet, problem.feet_poses, strict=True)
        ]
        self.center = poise.CenterOfMass(at=targets.center[0], priority=2)
        self.hand = poise.Position(problem.hand, at=targets.hand[0], priority=3)
        self.gaze = poise.Orientation(problem.head, rotation=self.gaze_targets[0], priority=4)
        tasks = [*feet, self.center, self.hand, self.gaze, poise.Hold(self.posture, priority=5, gain=0.1)]
        self.solver = poise.Solver(self.figure, tasks, dt=problem.dt if problem.speed_limits else None)

    def step(self, frame: int) -> poise.Posture:
        """One step."""
        self.solver.target(self.center, self.targets.center[frame])
        self.solver.target(self.hand, self.targets.hand[frame])
        self.solver.target(self.gaze, self.gaze_targets[frame])
        self.posture = self.solver.step(self.posture)
        return self.posture

    def coordinates(self, answer: poise.Posture) -> np.ndarray:
        """Quaternion with w last, joints in Pinocchio's order."""
        base = answer.q[self.base]
        return np.concatenate((base[:3], base[4:], base[3:4], answer.q[self.slots]))

    def from_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """Quaternion with w first, joints in the figure's order."""
        ours = self.figure.neutral().q.copy()
        ours[self.base] = [*q[:3], q[6], *q[3:6]]
        ours[self.slots] = q[7:]
        return ours


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """The quaternion (w, x, y, z) of a rotation matrix."""
    return Rotation.from_matrix(rotation).as_quat(scalar_first=True)
