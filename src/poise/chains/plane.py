"""The part of a figure that moves a tip in one plane, and the joint that turns the plane.

Of the hinges on the way to a tip, those with parallel axes move it in a plane. The largest such group is taken, the one
nearest to the tip among equals; all others stay as they are, but the last hinge before the group, which turns the plane
to where the target is: the turntable of an arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.chains.options import Settings, refuse_coupling
from poise.chains.zones import safe_zones
from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.figure.path import ancestors, nodes_of, refuse_loops
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.kernels.queries import node_frames
from poise.kernels.tree import TURN

PARALLEL = 1e-9
"""How far the cosine of two parallel axes may be from 1."""
SHORTEST = 1e-9
"""A link shorter than this has no direction [m]."""


@dataclass(frozen=True)
class Turntable:
    """The hinge that turns a plane."""

    place: int
    """Where its value is in q."""
    point: FloatArray
    """(3,) on its axis [m]."""
    axis: FloatArray
    """(3,) unit vector."""
    lower: float
    upper: float
    value: float


@dataclass(frozen=True)
class PlanarChain:
    """Hinges with parallel axes, from the base to the tip, in one posture."""

    tip: str
    places: FloatArray
    """(m,) where the hinges' values are in q."""
    points: FloatArray
    """(m + 1, 2) the hinges and the tip, in the plane, from the base [m]."""
    base: FloatArray
    """(3,) the first hinge [m]."""
    normal: FloatArray
    """(3,) unit normal of the plane."""
    axes: FloatArray
    """(2, 3) unit axes of the plane."""
    level: float
    """Height of the tip over the plane through the base, which no hinge of the chain changes [m]."""
    sign: FloatArray
    """(m,) 1 where a hinge's axis is the normal, -1 where it is opposite."""
    turntable: Turntable | None

    @property
    def lengths(self) -> FloatArray:
        """(m,) lengths of the links [m]."""
        links: FloatArray = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return links

    @property
    def zones(self) -> tuple[float, float]:
        """Least and greatest distance of the tip from the base, in the plane [m]."""
        return safe_zones(self.lengths)


def planar_chain(figure: Figure, tip: str, posture: Posture, settings: Settings) -> PlanarChain:
    """The planar part of the way to a tip, in a posture."""
    tree, bounds = figure.compiled.tree, figure.compiled.bounds
    way = ancestors(tree, int(figure.compiled.attached.node[figure.frame_row(tip)]))
    still = nodes_of(figure, settings.held)
    hinges = [node for node in way if tree.kind[node] == TURN and node not in still]
    position, _, world_axes = node_frames(tree, posture._q)
    axis = {node: world_axes[tree.v_start[node]] for node in hinges}
    end = figure.pose_of(tip, posture).position
    group = _largest_group(hinges, axis, position, end)
    if len(group) < 2:
        raise TaskError(
            f"circles needs two or more parallel hinges that may move {tip!r} of figure {figure.name!r}, and finds "
            f"{len(group)}."
        )
    before = [node for node in hinges if node < group[0]]
    moving = group + before[-1:]
    refuse_loops(figure, tip, set(moving), settings.solver)
    if settings.limits:
        _refuse_couplings(figure, moving, settings.solver)
    turntable = None
    if before:
        k = int(tree.q_start[before[-1]])
        lower, upper = (bounds.lower[k], bounds.upper[k]) if settings.limits else (-math.inf, math.inf)
        turntable = Turntable(k, position[before[-1]], axis[before[-1]], lower, upper, float(posture.q[k]))
    return _laid_out(figure, tip, posture, group, turntable)


def _largest_group(hinges: list[int], axis: dict[int, FloatArray], position: FloatArray, end: FloatArray) -> list[int]:
    """The most hinges with parallel axes, each of which moves what comes after it."""
    best: list[int] = []
    for last in reversed(hinges):
        parallel = [node for node in hinges if abs(abs(axis[node] @ axis[last]) - 1.0) < PARALLEL]
        after = [*(position[node] for node in parallel[1:]), end]
        apart = [
            float(np.linalg.norm(np.cross(axis[last], there - position[node]))) > SHORTEST
            for node, there in zip(parallel, after, strict=True)
        ]
        group = [node for node, moves in zip(parallel, apart, strict=True) if moves]
        best = group if len(group) > len(best) else best
    return best


def _refuse_couplings(figure: Figure, moving: list[int], solver: str) -> None:
    starts = {int(figure.compiled.tree.q_start[node]) for node in moving}
    for coupling in figure.couplings:
        places = (figure.q_slice(term.joint) for term in coupling.terms)
        if any(place.start <= q < place.stop for place in places for q in starts):
            refuse_coupling(solver, figure, coupling.name)


def _laid_out(figure: Figure, tip: str, posture: Posture, group: list[int], turntable: Turntable | None) -> PlanarChain:
    """The chain's points in the axes of its plane."""
    tree = figure.compiled.tree
    position, _, world_axes = node_frames(tree, posture._q)
    base, end = position[group[0]], figure.pose_of(tip, posture).position
    normal = world_axes[tree.v_start[group[-1]]]
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    axes = np.stack([first, np.cross(normal, first)])
    points = np.vstack([position[group], end]) - base
    return PlanarChain(
        tip=tip,
        places=tree.q_start[group],
        points=points @ axes.T,
        base=base,
        normal=normal,
        axes=axes,
        level=float(normal @ points[-1]),
        sign=np.sign(world_axes[tree.v_start[group]] @ normal),
        turntable=turntable,
    )


def turntable_values(chain: PlanarChain, target: FloatArray) -> list[tuple[float, FloatArray]]:
    """Values of the turntable that bring the target nearest to the plane, each with the target seen from there.

    The value nearest to the present one comes first.

    Turning the plane by φ is turning the target by -φ about the turntable's axis w through c. With v = target - c, its
    height over the plane is C + A cos φ + B sin φ, where C = (n·w)(v·w), A = n·v - C, B = -n·(w × v): it has two roots,
    or none and an extreme value.
    """
    table = chain.turntable
    if table is None:
        return [(math.nan, target)]
    n, w = chain.normal, table.axis
    v = target - table.point
    constant = float(n @ w) * float(v @ w)
    a, b = float(n @ v) - constant, -float(n @ np.cross(w, v))
    wanted = chain.level + float(n @ (chain.base - table.point)) - constant
    size = math.hypot(a, b)
    if size < SHORTEST:
        return [(table.value, target)]
    middle, spread = math.atan2(b, a), math.acos(min(1.0, max(-1.0, wanted / size)))
    found = []
    for turn in (middle + spread, middle - spread):
        value = legal_turn(table, turn)
        if value is not None:
            found.append((value, _turned(target, table, table.value - value)))
    found.sort(key=lambda pair: abs(pair[0] - table.value))
    return found or [(table.value, target)]


def legal_turn(table: Turntable, turn: float) -> float | None:
    """The turntable's value after a turn, by whole turns inside its limits; None when it has no such value."""
    value = table.value + math.remainder(turn, math.tau)
    for candidate in sorted((value, value - math.tau, value + math.tau), key=lambda v: abs(v - table.value)):
        if table.lower <= candidate <= table.upper:
            return candidate
    return None


def _turned(target: FloatArray, table: Turntable, angle: float) -> FloatArray:
    """A point turned about the turntable's axis (Rodrigues' formula)."""
    v, w = target - table.point, table.axis
    c, s = math.cos(angle), math.sin(angle)
    turned: FloatArray = table.point + c * v + s * np.cross(w, v) + (1.0 - c) * float(w @ v) * w
    return turned
