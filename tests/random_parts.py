"""Random parts of figures: every kind of joint, limit, shape and mass, from a seeded generator.

Hypothesis chooses what a figure is made of (see `strategies`); the many numbers inside come from here, because drawing
each of them through hypothesis would cost more than the tests themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poise.figure.model.joints import PRIMITIVES, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere

Random = np.random.Generator

AXES_GIVEN = {"revolute": 1, "prismatic": 1, "universal": 2, "elbow": 2, "cylindrical": 1, "planar": 1}
AXIS_WORDS = ("x", "y", "z", "-x", "-y", "-z")


def rotation(rng: Random) -> np.ndarray:
    """None, a tidy one, one near half a turn, or any."""
    choice = rng.integers(4)
    if choice == 0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    if choice == 1:
        return turn(AXIS_WORDS[rng.integers(6)], float(rng.choice([-90, 30, 45, 180, 12.5])))
    q = rng.normal(size=4)
    if choice == 2:
        q[0] *= 1e-9
    return q / np.linalg.norm(q)


def pose(rng: Random) -> Pose:
    """Any frame within a metre or so; sometimes the identity."""
    if rng.integers(4) == 0:
        return Pose()
    return Pose(np.round(rng.normal(size=3) * 0.4, int(rng.integers(1, 17))), rotation(rng))


def unit(rng: Random) -> tuple[float, float, float]:
    """A direction, often along an axis."""
    v = rng.normal(size=3)
    if rng.integers(2):
        v = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    x, y, z = v / np.linalg.norm(v)
    return float(x), float(y), float(z)


def axes(rng: Random, kind: Kind) -> tuple[tuple[float, float, float], ...]:
    """As many axes as a kind needs, never parallel."""
    found: list[tuple[float, float, float]] = []
    while len(found) < AXES_GIVEN.get(kind, 0):
        axis = unit(rng)
        if not found or np.linalg.norm(np.cross(found[0], axis)) > 0.1:
            found.append(axis)
    return tuple(found)


def interval(rng: Random) -> tuple[float, float]:
    """Limits of a turn or slide: none, one-sided, around zero, away from zero, or a single value."""
    a, b = sorted(rng.normal(size=2) * rng.choice([0.2, 1.0, 3.0]))
    choices = [(-math.inf, math.inf), (a, math.inf), (-math.inf, b), (-abs(a), abs(b)), (a, b), (a, a)]
    low, high = choices[rng.choice(6, p=[0.2, 0.1, 0.1, 0.35, 0.2, 0.05])]
    return float(low), float(high)


def scalar_limits(rng: Random, kind: Kind) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Lower and upper limits of a joint's turns and slides."""
    rows = [interval(rng) for primitive in PRIMITIVES[kind] if primitive in ("turn", "slide")]
    return tuple(low for low, _ in rows), tuple(high for _, high in rows)


def outline(rng: Random, radii: Sequence[float]) -> Polygon:
    """A polygon around the cone's axis with these angular radii, inside on its left."""
    angles = np.linspace(0.0, 2.0 * math.pi, len(radii), endpoint=False) + rng.uniform(0.0, 1.0)
    vertices = [
        (math.sin(r) * math.cos(a), math.sin(r) * math.sin(a), math.cos(r)) for r, a in zip(radii, angles, strict=True)
    ]
    return Polygon(tuple(vertices))


def convex_polygon(rng: Random) -> Polygon:
    """Corners of a cone narrower than a right angle: great arcs between points of a circle are convex."""
    count = int(rng.integers(3, 8))
    return outline(rng, [rng.uniform(0.2, 1.4)] * count)


def concave_polygon(rng: Random) -> Polygon:
    """A star with two to four arms."""
    arms = int(rng.integers(2, 5))
    far, near = rng.uniform(0.8, 1.6), rng.uniform(0.15, 0.4)
    return outline(rng, [far, near] * arms)


def ellipse(rng: Random) -> Ellipse:
    """Radii from hair-thin to nearly the whole sphere."""
    x, y = np.exp(rng.uniform(math.log(0.02), math.log(3.1), 2))
    return Ellipse(float(x), float(y))


def swing(rng: Random) -> Ellipse | Polygon | None:
    """A region of each kind, or none."""
    makers: list[Callable[[Random], Ellipse | Polygon]] = [ellipse, ellipse, convex_polygon, concave_polygon]
    choice = int(rng.integers(5))
    return None if choice == 4 else makers[choice](rng)


def twist(rng: Random) -> Twist | None:
    """None, a constant interval (also one across half a turn), or one that depends on the swing."""
    choice = rng.integers(4)
    middle, half = float(rng.uniform(-1.0, 1.0)), float(rng.uniform(0.1, 1.0))
    if choice == 0:
        return None
    if choice == 1:
        return Twist.between(middle - half, middle + half)
    if choice == 2:
        return Twist.between(math.pi - half, math.pi + half)
    slope = rng.uniform(-0.3, 0.3, 5)
    return Twist.between([middle - half, *slope], [middle + half, *slope])


def ball_limits(rng: Random) -> BallLimits | None:
    """Limits of a ball joint."""
    if rng.integers(5) == 0:
        return None
    return BallLimits(swing(rng), twist(rng), rotation(rng), rotation(rng))


def mass(rng: Random) -> Mass:
    """A mass with an inertia that a solid can have."""
    kilograms = float(rng.uniform(0.1, 5.0))
    points = rng.normal(size=(6, 3)) * 0.1
    points -= points.mean(axis=0)
    tensor = sum(float(p @ p) * np.eye(3) - np.outer(p, p) for p in points) * kilograms / 6.0
    return Mass(kilograms, rng.normal(size=3) * 0.1, tensor)


def shapes(rng: Random) -> tuple[Shape, ...]:
    """Up to two solids."""
    return tuple(_shape(rng) for _ in range(rng.integers(3)))


def _shape(rng: Random) -> Shape:
    sizes = [float(size) for size in rng.uniform(0.01, 0.3, 3)]
    common: dict[str, Any] = {"pose": pose(rng), "role": str(rng.choice(["both", "visual", "collision"]))}
    if rng.integers(2):
        common["color"] = tuple(np.round(rng.uniform(size=3), 2).tolist())
    makers: list[Callable[[], Shape]] = [
        lambda: Sphere(sizes[0], **common),
        lambda: Box((sizes[0], sizes[1], sizes[2]), **common),
        lambda: Cylinder(sizes[0], sizes[1], **common),
        lambda: Capsule(sizes[0], sizes[1], **common),
        lambda: Ellipsoid((sizes[0], sizes[1], sizes[2]), **common),
        lambda: Mesh("meshes/a part.stl", (sizes[0], 1.0, -sizes[1]), **common),
        lambda: Mesh("b.stl", **common),
    ]
    return makers[rng.integers(len(makers))]()
