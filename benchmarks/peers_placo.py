"""PlaCo: one quadratic program per step, feet soft (weighted) or hard (equalities)."""

from __future__ import annotations

import numpy as np
import placo
from peers_problem import Problem, Targets, Weights


class Placo:
    """PlaCo's kinematics solver.

    Args:
        problem: the tasks and targets.
        feet: "soft" or "hard".
        rest: squared weight on the step itself. A hundredth or less shakes out of reach; a tenth is calm there, and
            lags by millimetres where everything is within reach.
    """

    def __init__(self, problem: Problem, feet: str = "soft", rest: float = Weights().rest) -> None:
        self.problem, self.feet, self.rest = problem, feet, rest
        self.robot = placo.RobotWrapper(str(problem.urdf), placo.Flags.ignore_collisions)
        if tuple(list(self.robot.model.names)[2:]) != problem.joints:
            raise ValueError("PlaCo orders the joints differently from the judge")

    def begin(self, targets: Targets) -> None:
        """Build the solver again, without memory of an earlier run."""
        problem, weights = self.problem, Weights()
        self.targets = targets
        self.robot.state.q = problem.start
        self.robot.update_kinematics()
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.dt = problem.dt
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(problem.speed_limits)
        for name, pose in zip(problem.feet, problem.feet_poses, strict=True):
            self.solver.add_frame_task(name, pose).configure(name, self.feet, weights.feet, weights.feet)
        self.center = self.solver.add_com_task(targets.center[0])
        self.center.configure("center", "soft", weights.center)
        self.hand = self.solver.add_position_task(problem.hand, targets.hand[0])
        self.hand.configure("hand", "soft", weights.hand)
        self.gaze = self.solver.add_orientation_task(problem.head, targets.gaze[0])
        self.gaze.configure("gaze", "soft", weights.gaze)
        posture = self.solver.add_joints_task()
        posture.set_joints(dict(zip(problem.joints, problem.start[7:].tolist(), strict=True)))
        posture.configure("posture", "soft", weights.posture)
        self.solver.add_regularization_task(self.rest)

    def step(self, frame: int) -> np.ndarray:
        """One step, integrated by PlaCo."""
        self.center.target_world = self.targets.center[frame]
        self.hand.target_world = self.targets.hand[frame]
        self.gaze.R_world_frame = self.targets.gaze[frame]
        self.robot.update_kinematics()
        self.solver.solve(True)
        answer: np.ndarray = self.robot.state.q
        return answer

    def coordinates(self, answer: np.ndarray) -> np.ndarray:
        """PlaCo's coordinates are Pinocchio's."""
        return answer.copy()
