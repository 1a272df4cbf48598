"""Pink: weighted tasks in one quadratic program per step, solved by DAQP."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pink
import pinocchio as pin
from peers_problem import Problem, Targets, Weights
from pink.limits import ConfigurationLimit, VelocityLimit
from pink.tasks import ComTask, FrameTask, PostureTask


class Pink:
    """Pink's `solve_ik`; its costs are square roots of our weights."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rest = problem, Weights().rest
        self.model = pin.buildModelFromUrdf(str(problem.urdf), pin.JointModelFreeFlyer())
        if tuple(list(self.model.names)[2:]) != problem.joints:
            raise ValueError("Pink orders the joints differently from the judge")
        self.limits = [ConfigurationLimit(self.model)]
        if problem.speed_limits:
            self.limits.append(VelocityLimit(self.model))

    def begin(self, targets: Targets) -> None:
        """Tasks and configuration at the start."""
        problem, weights = self.problem, Weights()
        self.targets = targets
        self.configuration = pink.Configuration(self.model, self.model.createData(), problem.start)
        feet = [FrameTask(name, sqrt(weights.feet), sqrt(weights.feet)) for name in problem.feet]
        for foot, pose in zip(feet, problem.feet_poses, strict=True):
            foot.set_target(pin.SE3(pose))
        self.center = ComTask(sqrt(weights.center))
        self.hand = FrameTask(problem.hand, sqrt(weights.hand), 0.0)
        self.gaze = FrameTask(problem.head, 0.0, sqrt(weights.gaze))
        posture = PostureTask(sqrt(weights.posture))
        posture.set_target(problem.start)
        self.tasks = [*feet, self.center, self.hand, self.gaze, posture]

    def step(self, frame: int) -> np.ndarray:
        """One step, integrated in place."""
        targets, dt = self.targets, self.problem.dt
        self.center.set_target(targets.center[frame])
        self.hand.set_target(pin.SE3(np.eye(3), targets.hand[frame]))
        self.gaze.set_target(pin.SE3(targets.gaze[frame], np.zeros(3)))
        velocity = pink.solve_ik(
            self.configuration,
            self.tasks,
            dt,
            solver="daqp",
            damping=self.rest,
            limits=self.limits,
            safety_break=False,
        )
        self.configuration.integrate_inplace(velocity, dt)
        answer: np.ndarray = self.configuration.q
        return answer

    def coordinates(self, answer: np.ndarray) -> np.ndarray:
        """Pink's coordinates are Pinocchio's."""
        return answer.copy()
