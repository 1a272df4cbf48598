"""mink: weighted tasks on MuJoCo's kinematics, one quadratic program per step, solved by DAQP."""

from __future__ import annotations

from math import sqrt

import mink
import mujoco
import numpy as np
from peers_problem import Problem, Targets, Weights


class Mink:
    """mink's `solve_ik`; its costs are square roots of our weights."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rest = problem, Weights().rest
        self.model = floating(problem)
        self.order = np.array([self.model.joint(name).qposadr[0] for name in problem.joints])
        self.limits: list[mink.Limit] = [mink.ConfigurationLimit(self.model)]
        if problem.speed_limits:
            self.limits.append(mink.VelocityLimit(self.model, dict(zip(problem.joints, problem.speeds, strict=True))))

    def begin(self, targets: Targets) -> None:
        """Tasks and configuration at the start."""
        problem, weights = self.problem, Weights()
        self.targets = targets
        start = np.empty(self.model.nq)
        start[:7] = problem.start[[0, 1, 2, 6, 3, 4, 5]]
        start[self.order] = problem.start[7:]
        self.configuration = mink.Configuration(self.model, start)
        feet = [mink.FrameTask(name, "body", sqrt(weights.feet), sqrt(weights.feet)) for name in problem.feet]
        for foot, pose in zip(feet, problem.feet_poses, strict=True):
            foot.set_target(mink.SE3.from_matrix(pose))
        self.center = mink.ComTask(sqrt(weights.center))
        self.hand = mink.FrameTask(problem.hand, "body", sqrt(weights.hand), 0.0)
        self.gaze = mink.FrameTask(problem.head, "body", 0.0, sqrt(weights.gaze))
        cost = np.full(self.model.nv, sqrt(weights.posture))
        cost[:6] = 0.0
        posture = mink.PostureTask(self.model, cost)
        posture.set_target(start)
        self.tasks = [*feet, self.center, self.hand, self.gaze, posture]

    def step(self, frame: int) -> np.ndarray:
        """One step, integrated in place."""
        targets, dt = self.targets, self.problem.dt
        self.center.set_target(targets.center[frame])
        self.hand.set_target(mink.SE3.from_translation(targets.hand[frame]))
        self.gaze.set_target(mink.SE3.from_rotation(mink.SO3.from_matrix(targets.gaze[frame])))
        velocity = mink.solve_ik(
            self.configuration, self.tasks, dt, solver="daqp", damping=self.rest, limits=self.limits
        )
        self.configuration.integrate_inplace(velocity, dt)
        answer: np.ndarray = self.configuration.q
        return answer

    def coordinates(self, answer: np.ndarray) -> np.ndarray:
        """Quaternion with w last, joints in Pinocchio's order."""
        return np.concatenate((answer[[0, 1, 2, 4, 5, 6, 3]], answer[self.order]))


def floating(problem: Problem) -> mujoco.MjModel:
    """MuJoCo's model of the robot: links joined rigidly stay bodies of their own, and the base is free."""
    spec = mujoco.MjSpec.from_file(str(problem.urdf))
    spec.compiler.fusestatic = False
    spec.worldbody.first_body().add_freejoint()
    return spec.compile()
