"""A person's motion on the Unitree G1 by the method of GMR, with mink. Runs on the interpreter that has mink.

Written from the description of GMR [Araujo et al. 2025] and its published settings for LAFAN1's skeleton on this robot
(release of August 2025): which link follows which bone, the costs of two stages, the rotations between bones and links,
the scales of the person, the damping, and when it stops. Each stage takes a step and up to ten more while a step lowers
the error by 0.001; the second continues where the first ends. Nothing says that a foot stands, and nothing keeps the
parts of the robot apart.

Reads an NPZ with the model, and places and rotations of the bones in every frame; writes one with the postures.
"""

import sys
import time
from typing import NamedTuple

import mink
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

TIMESTEP, DAMPING, LM_DAMPING, MORE_STEPS, WORTH, FIRST_FRAMES = 0.002, 0.5, 1.0, 10, 1e-3, 100
HEIGHT_RATIO = 1.75 / 1.8
LOWER, UPPER = 0.9 * HEIGHT_RATIO, 0.75 * HEIGHT_RATIO
"""Scales of hips, trunk and legs, and of arms, for a person of LAFAN1."""


class Link(NamedTuple):
    """A link that follows a bone."""

    bone: str
    link: str
    scale: float
    first: tuple[float, float]
    """Costs of place and rotation in the first stage."""
    second: tuple[float, float]
    turn: tuple[float, float, float, float]
    """Rotation of the link in the frame of the bone: w, x, y, z."""


R = np.sqrt(0.5)
TRUNK, LEG, FOOT = (0.5, 0.5, 0.5, 0.5), (-0.5, 0.5, 0.5, -0.5), (-R, R, 0.0, 0.0)
ARM, FOREARM = (0.5, 0.5, -0.5, -0.5), (R, R, 0.0, 0.0)


def side_links(bone, link):
    yield Link(f"{bone}UpLeg", f"{link}_hip_yaw_link", LOWER, (0, 10), (10, 5), LEG)
    yield Link(f"{bone}Leg", f"{link}_knee_link", LOWER, (0, 10), (10, 5), LEG)
    yield Link(f"{bone}Foot", f"{link}_ankle_roll_link", LOWER, (50, 10), (50, 10), FOOT)
    yield Link(f"{bone}Arm", f"{link}_shoulder_yaw_link", UPPER, (0, 100), (5, 100), ARM)
    yield Link(f"{bone}ForeArm", f"{link}_elbow_link", UPPER, (0, 10), (10, 5), FOREARM)
    yield Link(f"{bone}Hand", f"{link}_wrist_yaw_link", UPPER, (0, 10), (10, 5), FOREARM)


LINKS = [
    Link("Hips", "pelvis", LOWER, (0, 10), (100, 5), TRUNK),
    Link("Spine2", "torso_link", LOWER, (0, 100), (0, 10), TRUNK),
    *side_links("Left", "left"),
    *side_links("Right", "right"),
]


def tasks_of(stage):
    costs = [getattr(link, stage) for link in LINKS]
    return [
        mink.FrameTask(link.link, "body", *map(float, cost), lm_damping=LM_DAMPING)
        for link, cost in zip(LINKS, costs, strict=True)
    ]


def targets(given):
    """(frames, links) places and rotations as SE3: the person is scaled about the hips, and turned as the links are."""
    names = [str(name) for name in given["bones"]]
    hips = given["places"][:, names.index("Hips")]
    out = []
    for link in LINKS:
        k = names.index(link.bone)
        place = LOWER * hips + link.scale * (given["places"][:, k] - hips)
        turn = Rotation.from_quat(given["turns"][:, k], scalar_first=True) * Rotation.from_quat(
            link.turn, scalar_first=True
        )
        out.append([mink.SE3(np.r_[q, p]) for q, p in zip(turn.as_quat(scalar_first=True), place, strict=True)])
    return list(zip(*out, strict=True))


def error_of(tasks, configuration):
    return float(np.linalg.norm(np.concatenate([task.compute_error(configuration) for task in tasks])))


def follow(configuration, tasks):
    before = error_of(tasks, configuration)
    for _ in range(1 + MORE_STEPS):
        velocity = mink.solve_ik(configuration, tasks, TIMESTEP, "daqp", damping=DAMPING)
        configuration.integrate_inplace(velocity, TIMESTEP)
        after = error_of(tasks, configuration)
        if before - after <= WORTH:
            return
        before = after


def take(configuration, stages, frame):
    for tasks in stages:
        for task, target in zip(tasks, frame, strict=True):
            task.set_target(target)
    for tasks in stages:
        follow(configuration, tasks)


def main(question, answer):
    given = np.load(question, allow_pickle=False)
    model = mujoco.MjModel.from_xml_string(str(given["model"]))
    configuration = mink.Configuration(model, given["start"])
    stages, frames = [tasks_of("first"), tasks_of("second")], targets(given)
    for _ in range(FIRST_FRAMES):
        take(configuration, stages, frames[0])
    q, begin = [], time.process_time()
    for frame in frames:
        take(configuration, stages, frame)
        q.append(configuration.q.copy())
    np.savez(answer, q=np.array(q), seconds=time.process_time() - begin)


if __name__ == "__main__":
    main(*sys.argv[1:])
