"""What all families of the golden set share: figures, random questions, and answers as numbers.

An answer is one flat array of float64: how many discrete numbers there are, the discrete numbers (status codes, steps,
iterations, counts), then all others (postures, errors, distances).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import poise
from poise import Figure, Obstacle, Plane, Pose, Posture, chains
from poise.figure.model.shapes import Box, Sphere

FloatArray = NDArray[np.float64]
Case = tuple[str, Callable[[], FloatArray]]
Random = np.random.Generator

ERIKS = tuple(f"erik_{letter}" for letter in "abcdefg")
LOOPED = ("four_bar", "five_bar", "delta", "stewart", "all_joints", "dancer", "walker")
OPEN = (*ERIKS, "adelino", "snake", "arm", "hand", "cyclist", "human", "serial12", "boxer")
FIGURES = (*OPEN, *LOOPED)
"""All built-in figures."""
SITES = {"hand": "index_tip", "cyclist": "right_hand", "human": "right_hand", "boxer": "glove"}
SITES |= {"dancer": "pelvis", "walker": "left_foot"}
"""What a figure reaches with, where it is not called "tip"."""
STATUSES = ("solved", "compromised", "unreachable", "stalled", "assembled", "closest", "open")
FEET = ("left_foot", "right_foot")


def random_for(*words: object) -> Random:
    """Random numbers that depend on these words only."""
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


def site_of(name: str) -> str:
    """The site that a figure reaches with."""
    return SITES.get(name, "tip")


def size_of(figure: Figure) -> float:
    """Largest extent of a figure in its neutral posture [m]."""
    return float(np.ptp(figure.frames(figure.neutral()).position, axis=0).max())


def random_posture(figure: Figure, rng: Random) -> Posture:
    """A legal posture; its loops are closed if they can be."""
    posture = figure.random(rng)
    return figure.assemble({}, near=posture).posture if len(figure.loops) else posture


def random_in_place(figure: Figure, rng: Random) -> Posture:
    """A legal posture with a floating base where it is at rest, since chain solvers do not move it."""
    rest = figure.neutral()
    return figure.random(rng).changed({joint.name: rest[joint.name] for joint in figure.joints if joint.kind == "free"})


def direction(rng: Random) -> FloatArray:
    """Any direction, each as likely (3,)."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def rounded_path(center: ArrayLike, radius: float, rng: Random, frames: int) -> FloatArray:
    """A closed curve in space around a place [m] (frames, 3)."""
    turn = 2.0 * np.pi * np.arange(frames)[:, None] / frames
    return np.asarray(center) + radius * np.sin(turn * [1.0, 2.0, 1.0] + rng.uniform(0.0, 6.0, 3))


def obstacles_for(figure: Figure, site: str, rng: Random) -> list[Obstacle | Plane]:
    """A ball, a box and a wall near a site of a figure."""
    size, place = size_of(figure), figure.pose_of(site, figure.neutral()).position
    ball = Obstacle(Sphere(0.1 * size), Pose(place + 0.25 * size * direction(rng)), name="ball")
    edge = 0.15 * size
    box = Obstacle(Box((edge, edge, 0.5 * edge)), Pose(place + 0.35 * size * direction(rng)), name="box")
    wall = direction(rng)
    return [ball, box, Plane(wall, float(wall @ place) - 0.5 * size, name="wall")]


def gaze_target(figure: Figure, kind: str, rng: Random) -> Any:
    """Something for the tip to face."""
    way = direction(rng)
    if kind == "orientation":
        return poise.facing(way, roll=float(rng.uniform(-3, 3)))
    if kind == "direction":
        return poise.facing(way, roll=None)
    if kind == "point":
        return poise.at(size_of(figure) * (0.5 + rng.random()) * way, roll=None if rng.random() < 0.5 else 0.0)
    return figure.pose_of("tip", figure.random(rng)).rotation


def packed(*values: ArrayLike, counts: Iterable[float] = ()) -> FloatArray:
    """One flat array: the number of counts, the counts, then the values."""
    discrete = [float(count) for count in counts]
    parts = [np.ravel(np.asarray(value, dtype=np.float64)) for value in values]
    return np.concatenate([[float(len(discrete))], discrete, *parts])


def status_code(result: Any) -> int:
    """A status as a number."""
    return STATUSES.index(result.status)


def solved(result: poise.Result) -> FloatArray:
    """Posture, error of every task, steps, and how each task fared."""
    fared = [(v.met, len(v.gave_way_to), len(v.blocked_by), len(v.shares_with)) for v in result.verdicts]
    counts = [status_code(result), result.steps, *np.ravel(fared)]
    return packed(result.q, [v.error for v in result.verdicts], counts=counts)


def chain_solved(result: chains.ChainResult) -> FloatArray:
    """Posture, errors and iterations of a chain solver."""
    counts = [status_code(result), result.iterations]
    return packed(result.posture.q, result.error, list(result.errors.values()), counts=counts)


def gazes(results: Iterable[Any]) -> FloatArray:
    """Postures, errors and iterations of expressive solvers."""
    found = list(results)
    errors = [(r.error, r.orientation_error, r.posture_error, r.shape_error) for r in found]
    return packed([r.posture.q for r in found], errors, counts=[r.iterations for r in found])
