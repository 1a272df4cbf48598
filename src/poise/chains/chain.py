"""Extract a chain of hinges from a figure, and convert between postures and the chain's angles.

A chain runs from the root to a tip. Joints that are not on the chain keep their values in the given posture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poise.errors import FigureError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import listing
from poise.figure.model.pose import FloatArray, Pose, from_to
from poise.figure.model.posture import Posture
from poise.kernels.body.tree import SLIDE, TURN
from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain, tip_position
from poise.kernels.chains.plane import SHORTEST_LINK

_PARALLEL_COSINE_ERROR = 1e-6
"""Directions are parallel if the absolute cosine of their angle differs from 1 by less than this."""
_Y = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Limb:
    """A chain of hinges inside a figure."""

    figure: Figure
    tip: str
    """The site or body at the end of the chain."""
    joints: tuple[str, ...]
    """Name of the joint of each angle, from the root to the tip."""
    places: NDArray[np.int64]
    """(n,) index of each angle in q."""
    chain: Chain
    """Constants of the chain for the kernels."""
    slides: bool = False
    """Whether prismatic joints lie inside its segments; `chain` has them at their neutral values."""

    @cached_property
    def up(self) -> FloatArray:
        """(3,) the figure's up axis."""
        return self.figure.up_vector

    def angles(self, posture: PostureLike) -> FloatArray:
        """(n,) angles of the chain in a posture."""
        return self.figure.posture(posture).q[self.places]

    def tip_at(self, angles: FloatArray, beside: FloatArray) -> FloatArray:
        """(3,) position of the tip at these angles [m]; all other joints have their values in `beside` (nq,)."""
        if not self.slides:
            return np.array(tip_position(self.chain, np.array(angles)))
        q = beside.copy()
        q[self.places] = angles
        return self.figure.pose_of(self.tip, Posture(self.figure, q)).position

    def posture(self, angles: FloatArray, beside: Posture | None = None) -> Posture:
        """The posture with these angles; joints that are not on the chain are as in `beside`, or neutral."""
        q = (beside or self.figure.neutral()).q.copy()
        q[self.places] = angles
        return Posture(self.figure, q)


def chain_of(
    figure: Figure,
    tip: str | None = None,
    *,
    solver: str = "erik",
    needs_lengths: bool = False,
    slides: bool = False,
    faces: bool = False,
) -> Limb:
    """The chain of hinges from the root of a figure to a tip.

    Args:
        figure: Any figure; joints that are not on the chain are ignored.
        tip: The site or body at the end, which points along its own +Y. A figure that does not branch needs none: the
            site "tip", or else the last site of the last body.
        solver: Name of the solver, for error messages.
        needs_lengths: Refuse joints at the same position, whose segment has no length. Otherwise such a segment has the
            direction of the next one.
        slides: Accept prismatic joints as parts of the segments, which they lengthen or shorten; otherwise refuse them.
        faces: Let the tip point along the axis with which it faces, where the figure says it (`Figure.facing_axis`).
    """
    if len(figure.loops):
        raise FigureError(f"{solver} needs a figure without loops; {figure.name!r} has {listing(figure.loops.names)}.")
    end = tip if tip is not None else only_tip(figure, solver)
    path = _path(figure, end)
    nodes = [node for node in path if not (slides and figure.compiled.tree.kind[node] == SLIDE)]
    if not nodes:
        raise FigureError(f"{solver} needs a revolute joint between the root and {end!r}; all of them slide.")
    joints = _joints_of(figure, nodes)
    _check_kinds(figure, nodes, joints, solver)
    _check_couplings(figure, joints, solver)
    axis = figure.facing_axis(end) if faces else None
    chain = _chain(figure, path, nodes, end, None if axis is None else from_to("y", axis))
    if needs_lengths:
        _check_lengths(chain, joints, solver)
    places = figure.compiled.tree.q_start[nodes]
    return Limb(figure, end, joints, places, chain, len(nodes) < len(path))


def only_tip(figure: Figure, solver: str) -> str:
    """The name of the tip of a figure that does not branch."""
    tree = figure.compiled.tree
    inner = tree.parent[1:]
    leaves = sorted(set(range(1, len(tree.parent))) - set(inner.tolist()))
    if not leaves:
        raise FigureError(f"{solver} needs a chain of revolute joints; figure {figure.name!r} has no moving joint.")
    if len(leaves) > 1:
        raise FigureError(
            f"{solver} needs a single chain and figure {figure.name!r} branches: name its end with tip=…, one of "
            f"{listing(figure.sites.names or figure.bodies.names)}."
        )
    attached = figure.compiled.attached.node
    sites = [site.name for site in figure.sites if attached[figure.frame_row(site.name)] == leaves[0]]
    bodies = [body.name for i, body in enumerate(figure.bodies) if attached[i] == leaves[0]]
    return "tip" if "tip" in sites else [*bodies, *sites][-1]


def _path(figure: Figure, tip: str) -> list[int]:
    """Nodes from the root to the one that the tip is attached to."""
    parent = figure.compiled.tree.parent
    node = int(figure.compiled.attached.node[figure.frame_row(tip)])
    path: list[int] = []
    while node:
        path.insert(0, node)
        node = int(parent[node])
    if not path:
        raise FigureError(f"{tip!r} of figure {figure.name!r} is attached to the root, which no joint moves.")
    return path


def _joints_of(figure: Figure, nodes: list[int]) -> tuple[str, ...]:
    """The joint that moves each node."""
    starts = figure.compiled.tree.q_start
    slices = figure.compiled.q_slices
    owner = {q: joint.name for joint in figure.joints for q in range(slices[joint.name].start, slices[joint.name].stop)}
    return tuple(owner[int(starts[node])] for node in nodes)


def _check_kinds(figure: Figure, nodes: list[int], joints: tuple[str, ...], solver: str) -> None:
    for node, name in zip(nodes, joints, strict=True):
        if figure.compiled.tree.kind[node] != TURN:
            kind = figure.joints[name].kind
            article = "an" if kind == "elbow" else "a"
            raise FigureError(f"{solver} needs a single chain of revolute joints; {name!r} is {article} {kind} joint.")


def _check_couplings(figure: Figure, joints: tuple[str, ...], solver: str) -> None:
    for coupling in figure.couplings:
        for term in coupling.terms:
            if term.joint in joints:
                raise FigureError(f"{solver} moves every joint by itself; {coupling.name!r} couples {term.joint!r}.")


def _check_lengths(chain: Chain, joints: tuple[str, ...], solver: str) -> None:
    for k in range(1, len(joints)):
        if np.linalg.norm(chain.offset[k]) < SHORTEST_LINK:
            raise FigureError(
                f"{solver} needs a length for every segment, and joints {joints[k - 1]!r} and {joints[k]!r} are at the "
                "same point: move one of them by a millimetre, or use poise.Expressive, which needs no lengths."
            )


def _placements(
    figure: Figure, path: list[int], nodes: list[int], tip: str, turned: FloatArray | None
) -> tuple[list[Pose], Pose]:
    """Pose of each of `nodes` relative to the previous one, and of the tip; slides between them are neutral.

    The frame of the tip is turned by `turned`, if that is given.
    """
    tree, attached, row = figure.compiled.tree, figure.compiled.attached, figure.frame_row(tip)
    neutral = figure.neutral().q
    placements: list[Pose] = []
    here = Pose()
    for node in path:
        here = here @ Pose(tree.placement_position[node], tree.placement_rotation[node])
        if node in nodes:
            placements.append(here)
            here = Pose()
        else:
            here = here @ Pose(neutral[tree.q_start[node]] * tree.axis[node])
    end = here @ Pose(attached.position[row], attached.rotation[row])
    return placements, end if turned is None else end @ Pose(rotation=turned)


def _chain(figure: Figure, path: list[int], nodes: list[int], tip: str, turned: FloatArray | None) -> Chain:
    """The constants of the chain, in segment frames whose +Y lies along the segment."""
    tree = figure.compiled.tree
    placements, end = _placements(figure, path, nodes, tip, turned)
    along = [*(Pose(rotation=from_to("y", way)) for way in _directions(placements, end)), Pose(rotation=end.rotation)]
    below = [Pose(), *along[:-1]]
    steps = [b.inverse() @ p @ a for b, p, a in zip(below, placements, along, strict=True)]
    axes = [a.inverse().apply(tree.axis[node]) for a, node in zip(along, nodes, strict=True)]
    offsets = [*(step.position for step in steps), along[-1].inverse().apply(end.position)]
    rest = np.array([step.rotation for step in steps])
    axis = np.array(axes)
    role = np.where(np.abs(axis[:, 1]) > 1.0 - _PARALLEL_COSINE_ERROR, TWIST_JOINT, SWING_JOINT).astype(np.int64)
    places = tree.q_start[nodes]
    return Chain(
        axis,
        rest,
        np.array(offsets),
        figure.compiled.bounds.lower[places],
        figure.compiled.bounds.upper[places],
        role,
        _bends(axis, steps),
        _middle(role),
        int(_mirrors(axis, role, steps)),
    )


def _directions(placements: list[Pose], end: Pose) -> list[FloatArray]:
    """(3,) the direction of every segment but the last, each in the frame of the joint that moves it.

    Where the next joint is at the same point, as in a pan-tilt bracket, it is that of the next segment at angle 0, as
    if the chain went on straight: only directions count, so that the chain behaves as if the joints were a hair apart.
    """
    found: list[FloatArray] = []
    following = end.matrix @ _Y
    for placement in reversed(placements[1:]):
        has_length = np.linalg.norm(placement.position) >= SHORTEST_LINK
        following = placement.position if has_length else placement.matrix @ following
        found.insert(0, following)
    return found


def _bends(axis: FloatArray, steps: list[Pose]) -> FloatArray:
    """(n, 3) `Chain.bend`: C, A, B with p · R(a, θ) y = C + A cos θ + B sin θ.

    p is the direction of the previous segment in the joint's frame, y that of the joint's own segment at angle 0.
    """
    below = np.array([_Y, *(step.inverse().matrix @ _Y for step in steps[1:])])
    constant = axis[:, 1] * np.sum(axis * below, axis=1)
    return np.stack([constant, below[:, 1] - constant, np.sum(np.cross(axis, _Y) * below, axis=1)], axis=1)


def _middle(role: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) 1 for all joints but a twister at the root and a twister at the tip; see `Chain.middle`."""
    middle = np.ones(len(role), dtype=np.int64)
    middle[0], middle[-1] = role[0] == SWING_JOINT, role[-1] == SWING_JOINT
    return middle


def _mirrors(axis: FloatArray, role: NDArray[np.int64], steps: list[Pose]) -> bool:
    """Whether half a turn of the root takes a shape to the shape with all swings negated.

    This holds if the root is a twister, every other axis is parallel or perpendicular to its segment, and the chain is
    straight at rest: then R(y, π) R(a, θ) R(y, -π) = R(a, -θ) for every swing.
    """
    straight = all(abs((step.matrix @ _Y)[1] - 1.0) < _PARALLEL_COSINE_ERROR for step in steps[1:])
    across = np.abs(axis[:, 1]) < _PARALLEL_COSINE_ERROR
    return bool(role[0] == TWIST_JOINT and straight and (across | (role == TWIST_JOINT)).all())
