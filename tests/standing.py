"""Humanoids that stand on both feet while a hand reaches: figures, where they stand, and where the hand may go."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import poise
from poise import Frame, Position
from poise.figure.model.builder import Builder, free, revolute
from poise.tasks.task import Task
from tests import real_data

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
NEAR = 0.25
"""How far the hand is sent along each axis, against its height above the feet."""


@dataclass(frozen=True)
class Humanoid:
    """A figure that stands."""

    name: str
    figure: poise.Figure
    feet: tuple[str, str]
    hand: str
    bent: Mapping[str, float] = field(default_factory=dict)
    """Joints that bend its knees."""

    def starts(self) -> Iterator[poise.Posture]:
        """The neutral posture and, where it is known, the one with bent knees, in turn."""
        neutral = self.figure.neutral()
        while True:
            yield neutral
            yield neutral.changed(dict(self.bent)) if self.bent else neutral

    def questions(self, count: int, seed: int) -> Iterator[tuple[poise.Posture, list[Task]]]:
        """Starts, with tasks that keep both feet where they are and, below, send the hand somewhere near."""
        rng = np.random.default_rng(seed)
        neutral = self.figure.neutral()
        high = np.linalg.norm(self._at(self.hand, neutral).position - self._at(self.feet[0], neutral).position)
        for start, _ in zip(self.starts(), range(count), strict=False):
            feet = [Frame(foot, self._at(foot, start)) for foot in self.feet]
            there = self._at(self.hand, start).position + NEAR * high * rng.uniform(-1.0, 1.0, 3)
            yield start, [*feet, Position(self.hand, at=there, priority=2)]

    def _at(self, part: str, posture: poise.Posture) -> poise.Pose:
        return self.figure.pose_of(part, posture)


def five_joint_legs() -> Humanoid:
    """A biped whose legs have five joints each, so that the twelve numbers of two flat feet depend on each other."""
    made = Builder("five_joint_legs", up="z")
    made.body("pelvis", joint=free("root"), mass=10.0)
    bent = {}
    for side, y in (("left", 0.1), ("right", -0.1)):
        upper = made.body(f"{side}_yaw", parent="pelvis", joint=revolute(f"{side}_hip_yaw", "z"), at=(0, y, -0.1))
        upper = made.body(f"{side}_roll", parent=upper, joint=revolute(f"{side}_hip_roll", "x"), at=(0, 0, 0))
        thigh = made.body(f"{side}_thigh", parent=upper, joint=revolute(f"{side}_hip", "y"), at=(0, 0, 0), mass=3.0)
        knee = revolute(f"{side}_knee", "y", limits=(0.0, 2.0))
        shank = made.body(f"{side}_shank", parent=thigh, joint=knee, at=(0, 0, -0.4), mass=2.0)
        made.body(f"{side}_foot", parent=shank, joint=revolute(f"{side}_ankle", "y"), at=(0, 0, -0.4), mass=1.0)
        bent |= {f"{side}_hip": -0.4, f"{side}_knee": 0.8, f"{side}_ankle": -0.4}
    chest = made.body("chest", parent="pelvis", joint=revolute("waist", "z"), at=(0, 0, 0.1), mass=10.0)
    arm = made.body("shoulder", parent=chest, joint=revolute("shoulder_pitch", "y"), at=(0, -0.2, 0.4))
    arm = made.body("upper_arm", parent=arm, joint=revolute("shoulder_roll", "x"), at=(0, 0, 0), mass=1.5)
    arm = made.body("forearm", parent=arm, joint=revolute("elbow", "y"), at=(0, 0, -0.25), mass=1.0)
    made.site("hand", arm, at=(0.05, 0, -0.25))
    return Humanoid("five_joint_legs", made.build(), ("left_foot", "right_foot"), "hand", bent)


def human() -> Humanoid:
    """The built-in human."""
    return Humanoid("human", poise.load("human"), ("left_foot", "right_foot"), "right_hand")


def h1(folder: Path = real_data.MENAGERIE) -> Humanoid | None:
    """Unitree H1 as MJCF, if it is in a folder of robots."""
    legs = {"hip_pitch": -0.4, "knee": 0.8, "ankle": -0.4}
    bent = {f"{side}_{joint}": value for side in ("left", "right") for joint, value in legs.items()}
    feet = ("left_ankle_link", "right_ankle_link")
    return _mjcf("h1", folder / "unitree_h1" / "h1.xml", feet, "right_elbow_link", bent)


def op3(folder: Path) -> Humanoid | None:
    """Robotis OP3 as MJCF, if it is in a folder of robots."""
    return _mjcf("op3", folder / "robotis_op3" / "op3.xml", ("l_ank_roll_link", "r_ank_roll_link"), "r_el_link")


def t1(folder: Path) -> Humanoid | None:
    """Booster T1 as MJCF, if it is in a folder of robots."""
    return _mjcf("t1", folder / "booster_t1" / "t1.xml", ("left_foot_link", "right_foot_link"), "right_hand_link")


def g1() -> Humanoid | None:
    """Unitree G1 as URDF, if example-robot-data is installed."""
    feet = ("left_ankle_roll_link", "right_ankle_roll_link")
    return _urdf("g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", feet, "right_wrist_yaw_link")


def talos() -> Humanoid | None:
    """Talos as URDF, if example-robot-data is installed."""
    feet = ("leg_left_6_link", "leg_right_6_link")
    return _urdf("talos", "talos_data/robots/talos_reduced.urdf", feet, "arm_right_7_link")


def _mjcf(
    name: str, path: Path, feet: tuple[str, str], hand: str, bent: Mapping[str, float] | None = None
) -> Humanoid | None:
    return Humanoid(name, poise.load(path), feet, hand, bent or {}) if path.is_file() else None


def _urdf(name: str, path: str, feet: tuple[str, str], hand: str) -> Humanoid | None:
    found = ROBOTS / path
    return Humanoid(name, poise.load(found).with_floating_base(), feet, hand) if found.is_file() else None
