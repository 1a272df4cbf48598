"""Random scenarios in which not every task can be met, for figures of human shape on two feet.

Each lasts five seconds: targets move smoothly for three and stand still for two, so that calm can be judged at the
end. Plain arrays from a seed and a few places on the figure; numpy only, so that any solver's environment can read it.

Four kinds take turns: `reach` (the hand 0.2 to 1.5 m away in any direction), `singular` (the hand through a stretched
arm, out of reach and back through the shoulder), `opposed` (balance, hand and gaze ask for opposite things, beyond the
support and behind the back) and `jump` (targets that change in one frame).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Random = np.random.Generator

FRAMES = 500
MOVING = 300
DT = 0.01
"""Duration of a frame [s]."""


class Names(NamedTuple):
    """What the places of a scenario are called in a figure."""

    feet: tuple[str, str]
    hand: str
    shoulder: str
    head: str
    faces: tuple[float, float, float]
    """Where the head looks, in axes of its link or site."""


TALOS = Names(
    ("left_sole_link", "right_sole_link"), "gripper_right_base_link", "arm_right_2_link", "head_2_link", (1.0, 0.0, 0.0)
)
HUMAN = Names(("left_foot", "right_foot"), "right_hand", "right_upper_arm", "eyes", (0.0, 1.0, 0.0))


class Evaluation(NamedTuple):
    """Where a figure is before anything is asked [m], and its up axis."""

    hand: np.ndarray
    shoulder: np.ndarray
    center: np.ndarray
    head: np.ndarray
    gaze: np.ndarray
    """Orientation of the head (w, x, y, z)."""
    faces: np.ndarray
    """Where the head looks, in world axes (3,)."""
    up: np.ndarray
    """(3,)."""


class Scenario(NamedTuple):
    """Targets of k frames."""

    kind: str
    hand: np.ndarray
    """Position of the hand [m] (k, 3)."""
    center: np.ndarray
    """Centre of mass [m] (k, 3)."""
    gaze: np.ndarray
    """Orientation of the head (w, x, y, z) (k, 4)."""
    look: np.ndarray
    """The point two metres off that this gaze looks at from where the head was at the start [m] (k, 3)."""


def stance(figure: Any, posture: Any, names: Names) -> Evaluation:
    """Where a figure is in a posture; any object with `pose_of`, `center_of_mass` and `up` will do."""
    head = figure.pose_of(names.head, posture)
    gaze = np.asarray(head.rotation, dtype=float)
    return Evaluation(
        hand=np.array(figure.pose_of(names.hand, posture).position),
        shoulder=np.array(figure.pose_of(names.shoulder, posture).position),
        center=np.array(figure.center_of_mass(posture)),
        head=np.array(head.position),
        gaze=gaze,
        faces=rotate(gaze, np.array(names.faces)),
        up=np.eye(3)["xyz".index(figure.up)],
    )


def scenario(seed: int, at: Evaluation, *, frames: int = FRAMES) -> Scenario:
    """The scenario of a seed: the same numbers on every machine."""
    kind = tuple(KINDS)[seed % len(KINDS)]
    rng = np.random.default_rng([seed, 7919])
    hand, center, turns = KINDS[kind](rng, at, frames)
    return Scenario(kind, hand, center, multiply(turns, at.gaze), at.head + 2.0 * rotate(turns, at.faces))


def reach(rng: Random, at: Evaluation, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hand anywhere within a metre and a half, balance and gaze moving a little."""
    there = at.hand + rng.uniform(0.2, 1.5) * direction(rng)
    sway = rng.uniform(0.0, 0.06) * level(direction(rng), at.up)
    return (
        curve(at.hand, there, rng, frames),
        curve(at.center, at.center + sway, rng, frames),
        turning(rotation_vector(rng, 0.5), frames),
    )


def singular(rng: Random, at: Evaluation, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Straight out through a stretched arm, back through the shoulder, and to rest on the edge of reach."""
    arm = float(np.linalg.norm(at.hand - at.shoulder))
    out = direction(rng)
    beyond, through = at.shoulder + 2.0 * arm * out, at.shoulder - 0.3 * arm * out
    rest = at.shoulder + rng.uniform(0.95, 1.3) * arm * direction(rng)
    third = MOVING * frames // FRAMES // 3
    hand = np.concatenate(
        (
            straight(at.hand, beyond, third, third),
            straight(beyond, through, third, third),
            straight(through, rest, third, frames - 2 * third),
        )
    )
    return hand, curve(at.center, at.center, rng, frames), turning(rotation_vector(rng, 0.3), frames)


def opposed(rng: Random, at: Evaluation, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hand one way, the centre of mass the other way and out of the support, the gaze behind the back."""
    away = level(direction(rng), at.up)
    hand = at.hand + rng.uniform(0.5, 1.5) * away + rng.uniform(-0.5, 0.5) * at.up
    center = at.center - rng.uniform(0.15, 0.6) * away - rng.uniform(-0.3, 0.3) * at.up
    turn = rng.choice([-1.0, 1.0]) * rng.uniform(1.5, 2.8) * at.up
    return curve(at.hand, hand, rng, frames), curve(at.center, center, rng, frames), turning(turn, frames)


def jump(rng: Random, at: Evaluation, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four targets for the hand and the gaze, each from one frame to the next."""
    stops = at.hand + rng.uniform(0.2, 1.2, size=(4, 1)) * np.array([direction(rng) for _ in range(4)])
    turns = np.array([exponential(rotation_vector(rng, 0.8)) for _ in range(4)])
    which = np.minimum(3, 4 * np.arange(frames) * FRAMES // (MOVING * frames))
    sway = rng.uniform(0.0, 0.05) * level(direction(rng), at.up)
    return stops[which], curve(at.center, at.center + sway, rng, frames), turns[which]


KINDS: dict[str, Callable[[Random, Evaluation, int], tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    "reach": reach,
    "singular": singular,
    "opposed": opposed,
    "jump": jump,
}


def curve(a: np.ndarray, b: np.ndarray, rng: Random, frames: int) -> np.ndarray:
    """From a to b by way of a detour, then still (frames, 3)."""
    s = ease(MOVING * frames // FRAMES, frames)[:, None]
    detour = 0.2 * float(np.linalg.norm(b - a)) * direction(rng)
    return a + s * (b - a) + np.sin(np.pi * s) * detour


def straight(a: np.ndarray, b: np.ndarray, moving: int, frames: int) -> np.ndarray:
    """From a to b on a line, then still (frames, 3)."""
    return a + ease(moving, frames)[:, None] * (b - a)


def turning(vector: np.ndarray, frames: int) -> np.ndarray:
    """Quaternions from none to a rotation vector, then still (frames, 4)."""
    return exponential(ease(MOVING * frames // FRAMES, frames)[:, None] * vector)


def ease(moving: int, frames: int) -> np.ndarray:
    """From above 0 to 1 without jerks at either end, then 1 (frames,)."""
    s = np.minimum(1.0, np.arange(1, frames + 1) / max(1, moving))
    return s**3 * (10 - 15 * s + 6 * s**2)


def direction(rng: Random) -> np.ndarray:
    """Any direction, each as likely (3,)."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def level(v: np.ndarray, up: np.ndarray) -> np.ndarray:
    """A direction laid into the horizontal (3,)."""
    flat = v - (v @ up) * up
    return flat / np.linalg.norm(flat)


def rotation_vector(rng: Random, largest: float) -> np.ndarray:
    """A rotation about any axis by at most this angle [rad] (3,)."""
    return rng.uniform(0.0, largest) * direction(rng)


def exponential(vector: np.ndarray) -> np.ndarray:
    """The quaternions (w, x, y, z) of rotation vectors (..., 3)."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate((np.cos(half), 0.5 * np.sinc(half / np.pi) * vector), axis=-1)


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions (..., 4): b first, then a."""
    w = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    xyz = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate((w, xyz), axis=-1)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    return v + 2.0 * np.cross(q[..., 1:], np.cross(q[..., 1:], v) + q[..., :1] * v)
