"""scipy, mink and PlaCo on a chain of hinges along +Y, for benchmarks/expressive.py, which runs this.

All minimise the same objective: the angle between tip and target (upside down if that is nearer) with weight 1, and
the distance of each joint from the wanted posture with 1e-4 times its weight in the shape error.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

POSTURE_WEIGHT = 1e-4
STEPS = 100
CALM = 1e-5
"""A step shorter than this is the last one [rad]."""

Solve = Callable[[np.ndarray, Rotation], np.ndarray]


def main(file: Path | None) -> None:
    if file is None:
        print("benchmarks/expressive.py runs this")
        return
    question = json.loads(file.read_text())
    answers = {}
    for name, prepare in (("scipy", with_scipy), ("mink", with_mink), ("placo", with_placo)):
        try:
            answers[name] = run(question, prepare(question))
        except ImportError as error:
            answers[name] = {"error": str(error)}
    print(json.dumps(answers))


def run(question: dict, solve: Solve) -> dict:
    lower, upper = np.array(question["lower"]), np.array(question["upper"])
    found, seconds = [], []
    for posture, orientation in zip(question["postures"], question["orientations"], strict=True):
        wanted = np.clip(posture, lower, upper)
        target = Rotation.from_quat(orientation, scalar_first=True)
        start = time.thread_time()
        q = solve(wanted, target)
        seconds.append(time.thread_time() - start)
        found.append(np.clip(q, lower, upper).tolist())
    return {"q": found, "seconds": seconds}


def tip_of(axes: np.ndarray, q: np.ndarray) -> Rotation:
    turned = Rotation.identity()
    for axis, angle in zip(axes, q, strict=True):
        turned = turned * Rotation.from_rotvec(axis * angle)
    return turned


def nearer(target: Rotation, tip: Rotation) -> Rotation:
    """The target, or the target upside down."""
    other = target * Rotation.from_rotvec([0.0, np.pi, 0.0])
    return min((target, other), key=lambda way: (way * tip.inv()).magnitude())


def with_scipy(question: dict) -> Solve:
    axes = np.array(question["axes"])
    bounds = np.array(question["lower"]) - 1e-9, np.array(question["upper"]) + 1e-9
    weights = np.sqrt(POSTURE_WEIGHT * np.array(question["shapes"]))

    def solve(wanted: np.ndarray, target: Rotation) -> np.ndarray:
        way = nearer(target, tip_of(axes, wanted))

        def residual(q: np.ndarray) -> np.ndarray:
            return np.concatenate([(way * tip_of(axes, q).inv()).as_rotvec(), weights * (q - wanted)])

        return least_squares(residual, wanted, bounds=bounds, max_nfev=STEPS).x

    return solve


def with_mink(question: dict) -> Solve:
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(question))
    limits = [mink.ConfigurationLimit(model)]
    task = mink.FrameTask("tip", "site", 0.0, 1.0)
    cost = np.sqrt(POSTURE_WEIGHT * np.array(question["shapes"]))

    def solve(wanted: np.ndarray, target: Rotation) -> np.ndarray:
        configuration = mink.Configuration(model, wanted.copy())
        posture = mink.PostureTask(model, cost)
        posture.set_target(wanted)
        tip = Rotation.from_matrix(configuration.get_transform_frame_to_world("tip", "site").as_matrix()[:3, :3])
        way = nearer(target, tip)
        task.set_target(mink.SE3.from_rotation(mink.SO3(way.as_quat(scalar_first=True))))
        for _ in range(STEPS):
            v = mink.solve_ik(configuration, [task, posture], 1.0, solver="daqp", damping=1e-6, limits=limits)
            configuration.integrate_inplace(v, 1.0)
            if np.abs(v).max() < CALM:
                break
        return configuration.q.copy()

    return solve


def with_placo(question: dict) -> Solve:
    import placo

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "robot.urdf").write_text(urdf(question))
        robot = placo.RobotWrapper(folder, placo.Flags.ignore_collisions)
    names = [f"joint_{k}" for k in range(len(question["axes"]))]

    def solve(wanted: np.ndarray, target: Rotation) -> np.ndarray:
        for name, value in zip(names, wanted.tolist(), strict=True):
            robot.set_joint(name, value)
        robot.update_kinematics()
        solver = placo.KinematicsSolver(robot)
        solver.mask_fbase(True)
        solver.dt = 1.0
        solver.enable_joint_limits(True)
        way = nearer(target, Rotation.from_matrix(robot.get_T_world_frame("tip")[:3, :3]))
        solver.add_orientation_task("tip", way.as_matrix()).configure("gaze", "soft", 1.0)
        for name, value, share in zip(names, wanted.tolist(), question["shapes"], strict=True):
            if share > 0.0:
                joint = solver.add_joints_task()
                joint.set_joints({name: value})
                joint.configure(name, "soft", POSTURE_WEIGHT * share)
        solver.add_regularization_task(1e-6)
        before = np.array(wanted)
        for _ in range(STEPS):
            solver.solve(True)
            robot.update_kinematics()
            q = np.array([robot.get_joint(name) for name in names])
            if np.abs(q - before).max() < CALM:
                break
            before = q
        return before

    return solve


def mjcf(question: dict) -> str:
    """The chain as MJCF."""
    opened = ""
    for k, axis in enumerate(question["axes"]):
        place, line = numbers(question["offsets"][k]), numbers(axis)
        span = f"{question['lower'][k]} {question['upper'][k]}"
        opened += f'<body pos="{place}"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        opened += f'<joint name="joint_{k}" type="hinge" axis="{line}" limited="true" range="{span}"/>'
    closed = "</body>" * len(question["axes"])
    site = f'<site name="tip" pos="{numbers(question["offsets"][-1])}"/>'
    return f'<mujoco><compiler angle="radian"/><worldbody>{opened}{site}{closed}</worldbody></mujoco>'


def urdf(question: dict) -> str:
    """The chain as URDF."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = f'<link name="base">{mass}</link>'
    parent = "base"
    for k, axis in enumerate(question["axes"]):
        limit = f'lower="{question["lower"][k]}" upper="{question["upper"][k]}" effort="100" velocity="1000"'
        text += f'<link name="link_{k}">{mass}</link><joint name="joint_{k}" type="revolute">'
        text += f'<parent link="{parent}"/><child link="link_{k}"/><origin xyz="{numbers(question["offsets"][k])}"/>'
        text += f'<axis xyz="{numbers(axis)}"/><limit {limit}/></joint>'
        parent = f"link_{k}"
    text += f'<link name="tip">{mass}</link><joint name="end" type="fixed"><parent link="{parent}"/><child link="tip"/>'
    text += f'<origin xyz="{numbers(question["offsets"][-1])}"/></joint>'
    return f'<robot name="chain">{text}</robot>'


def numbers(values: list[float]) -> str:
    return " ".join(f"{value:.12g}" for value in values)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
