"""PlaCo's and mink's answers to `naturalness.py`; runs on the interpreter that has them, see `naturalness_peers.py`.

Both begin at the start, which is also the rest posture that a task of small weight asks for, and take full steps of
their quadratic program until no coordinate moves by more than `REST`, or `STEPS` of them.
"""

import importlib
import sys
import time

import numpy as np

REST, STEPS = 1e-4, 400
DAMPING = 1e-3
"""Squared weight on the step itself [m²/rad²]."""
SUPPORT_WEIGHT = 100.0
CENTER_WEIGHT = 0.01
"""Squared weights of PlaCo's polygon and of mink's task on the centre of mass."""


class Placo:
    """PlaCo on the questions."""

    def __init__(self, given):
        self.placo, self.given = importlib.import_module("placo"), given
        placo = self.placo
        self.robot = placo.RobotWrapper(str(given["model"]), placo.Flags.ignore_collisions + placo.Flags.mjcf)
        self.joints = [str(name) for name in given["joints"]]
        self.order = np.array([self.robot.get_joint_offset(name) for name in self.joints])

    def begin(self, k, weight):
        """Go to the start of question `k` and take its tasks, with this weight of the posture."""
        given, placo = self.given, self.placo
        start = given["start"][k]
        q = self.robot.state.q.copy()
        q[:7], q[self.order] = start[[0, 1, 2, 4, 5, 6, 3]], start[7:]
        self.robot.state.q = q
        self.robot.update_kinematics()
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(False)
        self.solver.dt = 1.0
        for n, site in enumerate(map(str, given["sites"])):
            at, cost = given["positions"][k, n], float(given["weights"][n])
            if given["turned"][n]:
                pose = np.eye(4)
                pose[:3, :3], pose[:3, 3] = given["rotations"][k, n], at
                self.solver.add_frame_task(site, pose).configure(site, "soft", cost, cost)
            else:
                self.solver.add_position_task(site, at).configure(site, "soft", cost)
        corners = given["supports"][k]
        corners = corners[~np.isnan(corners[:, 0])]
        if len(corners):
            self.solver.add_com_polygon_constraint(list(corners), 0.0).configure("support", "soft", SUPPORT_WEIGHT)
        posture = self.solver.add_joints_task()
        posture.set_joints(dict(zip(self.joints, start[7:].tolist(), strict=True)))
        posture.configure("posture", "soft", weight)
        self.solver.add_regularization_task(DAMPING)

    def step(self):
        """Take a step; return the largest change of a coordinate [m or rad]."""
        self.robot.update_kinematics()
        return float(np.abs(self.solver.solve(True)).max())

    def result(self):
        """The posture, and where the handles are in it."""
        q = self.robot.state.q
        self.robot.update_kinematics()
        seen = [self.robot.get_T_world_frame(str(site))[:3, 3] for site in self.given["sites"]]
        return np.concatenate((q[[0, 1, 2, 6, 3, 4, 5]], q[self.order])), seen


class Mink:
    """mink on the questions."""

    def __init__(self, given):
        self.mink, self.given = importlib.import_module("mink"), given
        self.model = importlib.import_module("mujoco").MjModel.from_xml_path(str(given["model"]))
        self.order = np.array([self.model.joint(str(name)).qposadr[0] for name in given["joints"]])
        self.limits = [self.mink.ConfigurationLimit(self.model)]

    def begin(self, k, weight):
        """Go to the start of question `k` and take its tasks, with this weight of the posture."""
        given, mink = self.given, self.mink
        q = np.empty(self.model.nq)
        q[:7], q[self.order] = given["start"][k][:7], given["start"][k][7:]
        self.configuration = mink.Configuration(self.model, q)
        self.tasks = []
        for n, site in enumerate(map(str, given["sites"])):
            cost = float(np.sqrt(given["weights"][n]))
            task = mink.FrameTask(site, "site", cost, cost if given["turned"][n] else 0.0, lm_damping=DAMPING)
            turn = mink.SO3.from_matrix(given["rotations"][k, n])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, given["positions"][k, n]))
            self.tasks.append(task)
        costs = np.full(self.model.nv, np.sqrt(weight))
        costs[:6] = 0.0
        posture = mink.PostureTask(self.model, costs)
        posture.set_target(q)
        self.tasks.append(posture)
        corners = given["supports"][k]
        corners = corners[~np.isnan(corners[:, 0])]
        if len(corners):
            center = mink.ComTask(np.array([1.0, 1.0, 0.0]) * np.sqrt(CENTER_WEIGHT))
            center.set_target(np.array([*corners.mean(axis=0), 0.0]))
            self.tasks.append(center)

    def step(self):
        """Take a step; return the largest change of a coordinate [m or rad]."""
        velocity = self.mink.solve_ik(
            self.configuration, self.tasks, 1.0, solver="daqp", damping=DAMPING, limits=self.limits
        )
        self.configuration.integrate_inplace(velocity, 1.0)
        return float(np.abs(velocity).max())

    def result(self):
        """The posture, and where the handles are in it."""
        q = self.configuration.q
        sites = [self.configuration.get_transform_frame_to_world(str(s), "site") for s in self.given["sites"]]
        return np.concatenate((q[:7], q[self.order])), [site.translation() for site in sites]


def solve(solver, k, weight):
    """Answer, places of the handles, processor time and steps for one posture."""
    begin = time.process_time()
    solver.begin(k, weight)
    steps = 0
    while steps < STEPS:
        steps += 1
        if solver.step() < REST:
            break
    seconds = time.process_time() - begin
    return (*solver.result(), seconds, steps)


def main(question, answer):
    with np.load(question, allow_pickle=False) as file:
        given = dict(file)
    solver = {"PlaCo": Placo, "mink": Mink}[str(given["peer"])](given)
    found = [[solve(solver, k, w) for k in range(len(given["start"]))] for w in given["posture_weights"].tolist()]
    q, seen, seconds, steps = (np.array([[row[part] for row in rows] for rows in found]) for part in range(4))
    np.savez(answer, q=q, seen=seen, seconds=seconds, steps=steps)


if __name__ == "__main__":
    main(*sys.argv[1:])
