"""Talos on two feet, and the two sets of targets: within reach, and out of reach."""

from __future__ import annotations

import sysconfig
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
from peers_problem import Problem, Targets

ROBOT = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots/talos_data"
FEET = ("left_sole_link", "right_sole_link")
HAND = "gripper_right_base_link"
HEAD = "head_2_link"
SHOULDER = "arm_right_2_link"

ROUND = 300
"""Frames of one round of the hand's circle."""


def talos(folder: Path, *, speed_limits: bool) -> Problem:
    """Talos (38 degrees of freedom) half sitting; its URDF without shapes is written into the folder."""
    urdf = without_shapes(ROBOT / "robots/talos_reduced.urdf", folder / "talos.urdf")
    model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(model, str(ROBOT / "srdf/talos.srdf"), False)
    start = model.referenceConfigurations["half_sitting"].copy()
    data = model.createData()
    pin.framesForwardKinematics(model, data, start)
    return Problem(
        urdf=urdf,
        joints=tuple(list(model.names)[2:]),
        start=start,
        speeds=model.velocityLimit[6:].copy(),
        feet=FEET,
        hand=HAND,
        head=HEAD,
        feet_poses=np.array([data.oMf[model.getFrameId(name)].homogeneous for name in FEET]),
        speed_limits=speed_limits,
    )


def without_shapes(source: Path, target: Path) -> Path:
    """A copy of a URDF that needs no meshes, with one line for MuJoCo: keep links that are joined rigidly."""
    tree = ET.parse(source)
    for link in tree.getroot().iter("link"):
        for shape in [part for part in link if part.tag in {"visual", "collision"}]:
            link.remove(shape)
    ET.SubElement(ET.SubElement(tree.getroot(), "mujoco"), "compiler", fusestatic="false")
    tree.write(target)
    return target


def circle(frames: int, radius: float) -> np.ndarray:
    """Offsets on an upright circle that starts at the origin [m] (frames, 3)."""
    turn = 2 * np.pi * np.arange(1, frames + 1) / ROUND
    return radius * np.stack((np.zeros(frames), np.sin(turn), 1 - np.cos(turn)), axis=1)


def swaying(rotation: np.ndarray, frames: int, angle: float) -> np.ndarray:
    """An orientation turned left and right about its own z axis (frames, 3, 3)."""
    turn = angle * np.sin(2 * np.pi * np.arange(1, frames + 1) / ROUND)
    return np.array([rotation @ pin.exp3(np.array([0.0, 0.0, a])) for a in turn])


def normal(hand: np.ndarray, center: np.ndarray, gaze: np.ndarray, frames: int) -> Targets:
    """The hand on a circle within reach, the head looking left and right, the centre of mass at rest."""
    return Targets(hand + circle(frames, 0.1), np.tile(center, (frames, 1)), swaying(gaze, frames, 0.3))


def stress(hand: np.ndarray, center: np.ndarray, gaze: np.ndarray, frames: int) -> Targets:
    """The target of the hand moves out of reach within a second, then on a circle there."""
    s = np.minimum(1.0, np.arange(1, frames + 1) / (0.5 * ROUND))[:, None]
    away = (3 - 2 * s) * s**2 * np.array([0.88, -0.15, 0.64])
    return Targets(hand + away + circle(frames, 0.05), np.tile(center, (frames, 1)), swaying(gaze, frames, 0.3))
