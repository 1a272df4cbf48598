"""Real postures of people whom no model has seen, the handles that an animator would give, and how far answers are off.

What an answer is compared with is the real posture itself: distances between joints, differences of joint angles, how
deep bodies are in each other beyond what they are in the neutral posture, and limits that are broken. All solvers are
measured by the same code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import poise
from poise import CenterOfMass, Frame, Position
from poise.figure.collision.collisions import Collisions, node_frames
from poise.forces.balance import balance
from poise.kernels.body.likely_posture import feet_frame

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from people_clips import clip_names, held_out, postures_of

FEET = ("left_foot", "right_foot")
SETS: dict[str, dict[str, type[Frame | Position]]] = {
    "one hand": {"right_hand": Position},
    "hands": {"left_hand": Position, "right_hand": Position},
    "hands, head": {"left_hand": Position, "right_hand": Position, "head": Position},
    "hands with rotation, head": {"left_hand": Frame, "right_hand": Frame, "head": Position},
    "pelvis": {"pelvis": Position},
}
"""What is given besides the frames of both feet, and how."""
PARTS = {
    "knees": ("left_shank", "right_shank"),
    "elbows": ("left_ulna", "right_ulna"),
    "pelvis": ("pelvis",),
    "thorax": ("thorax",),
    "head": ("head",),
}
FLAT = 0.03
"""Height above the floor and inclination up to which a sole counts as standing on it [m, rad]."""
EXCESS = 1e-3
"""Violation of a limit that counts [rad]."""


class Case(NamedTuple):
    """A real posture, and what is known of it."""

    name: str
    """The clip and the number of its frame."""
    real: poise.Posture
    standing: tuple[str, ...]
    """The feet that carry the weight; none where the real posture does not balance on them."""
    start: poise.Posture
    """Standing at the place and heading of the feet."""

    def tasks(self, handles: dict[str, type[Frame | Position]]) -> list[poise.Task]:
        """Feet and balance first, then the handles."""
        poses = self.real.figure.frames(self.real)
        tasks: list[poise.Task] = [Frame(foot, poses[foot], priority=1) for foot in FEET]
        for name, kind in handles.items():
            tasks.append(kind(name, poses[name] if kind is Frame else poses[name].position, priority=2))
        if self.standing:
            tasks.append(CenterOfMass(over=self.standing, priority=1))
        return tasks


def cases(human: poise.Figure, count: int) -> list[Case]:
    """About `count` postures, equally many of each clip that is kept out of every fit, at equal distances."""
    names = held_out(clip_names())
    each, found = max(1, round(count / len(names))), []
    for name in names:
        q = postures_of(name, human)
        for frame in np.linspace(0, len(q) - 1, each + 2).astype(int)[1:-1]:
            found.append(case_of(f"{name} frame {frame + 1}", human.posture(q[frame])))
    return found


def case_of(name: str, real: poise.Posture) -> Case:
    """A real posture with its start and the feet on which it balances."""
    human, standing = real.figure, on_the_floor(real)
    if standing and balance(human, real, supports=[poise.Support(foot) for foot in standing]).margin <= 0.0:
        standing = ()
    return Case(name, real, standing, standing_at(real))


def on_the_floor(posture: poise.Posture) -> tuple[str, ...]:
    """The feet whose soles are flat on the floor."""
    poses = {foot: posture.figure.pose_of(foot, posture) for foot in FEET}
    return tuple(
        foot for foot, pose in poses.items() if abs(pose.position[1]) < FLAT and pose.matrix[1, 1] > np.cos(FLAT * 4.0)
    )


def standing_at(posture: poise.Posture) -> poise.Posture:
    """Standing at the place and heading of a posture's feet."""
    human = posture.figure
    feet = [human.pose_of(foot, posture) for foot in FEET]
    yaw, at = feet_frame(np.array([f.position for f in feet]), np.array([f.rotation for f in feet]))
    stands = human.posture("standing")
    height = stands["base"][1]
    return stands.changed({"base": (at[0], at[1] + height, at[2], np.cos(0.5 * yaw), 0.0, np.sin(0.5 * yaw), 0.0)})


class Witness:
    """Measures answers of any solver on one figure."""

    def __init__(self, human: poise.Figure) -> None:
        self.human, self.collisions = human, Collisions(human, [], reach=0.01)

    def gaps(self, answer: poise.Posture, real: poise.Posture) -> dict[str, list[float]]:
        """Distances of the joints of each part [m]."""
        here, there = self.human.frames(answer), self.human.frames(real)
        return {
            part: [float(np.linalg.norm(here[b].position - there[b].position)) for b in bodies]
            for part, bodies in PARTS.items()
        }

    def turn(self, answer: poise.Posture, real: poise.Posture) -> float:
        """Mean difference of the joints [rad]."""
        return float(np.abs(self.human.difference(answer, real)[6:]).mean())

    def depth(self, posture: poise.Posture) -> float:
        """How deep bodies are in each other, beyond what they are in the neutral posture [m]."""
        rows, deepest = self.collisions.rows, 0.0
        for k in range(self.collisions.nearest(*node_frames(self.human, posture))):
            deepest = max(deepest, self.collisions.neutral_depth[int(rows.pair[k])] - float(rows.distance[k]))
        return deepest

    def breaks_limits(self, posture: poise.Posture) -> bool:
        """Whether a limit is broken."""
        return any(violation.excess > EXCESS for violation in self.human.violations(posture))

    def error(self, answer: poise.Posture, tasks: Sequence[poise.Task]) -> float:
        """Largest error of the feet and the other handles [m or rad]."""
        worst = 0.0
        for task in tasks:
            if not isinstance(task, Frame | Position):
                continue
            here = self.human.pose_of(task.site, answer)
            if isinstance(task, Frame):
                turn = (task.pose.inverse() @ here).rotation
                worst = max(worst, 2.0 * float(np.linalg.norm(turn[1:])))
            at = task.pose.position if isinstance(task, Frame) else task.at
            worst = max(worst, float(np.linalg.norm(here.position - at)))
        return worst
