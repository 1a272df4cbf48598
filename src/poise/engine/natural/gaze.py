"""The nodes of a figure that share a turn of its gaze; `poise.kernels.body.gaze_turn` says how.

A gaze is a `LookAt` with the face of a part (`poise.figure.model.facing`). The parts that share its turn are the
branches of the skeleton on the way from the root: joints without a branching of limbs between them and the face are
those of the neck, with one those of the trunk, with more those of the base; joints between the head and the face turn
the eyes. Limbs that go out from the base, the legs, stay as they are in the world.

The posture that results is where natural motion (`poise.engine.natural`) draws the body to: the head stays upright,
while the task alone would let it tilt.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from poise.figure.model.compiled import IntArray
from poise.figure.model.facing import head_of
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, to_matrix, vector
from poise.figure.model.posture import Posture
from poise.kernels.body.gaze_turn import BASE, EYES, LIMB, NECK, TRUNK, GazeChain, turn_to_gaze
from poise.kernels.body.queries import node_frames
from poise.kernels.maths.vector import Vector
from poise.tasks.look_at import LookAt, direction_of
from poise.tasks.ranges import ranges_of
from poise.tasks.target import world_from_part
from poise.tasks.task import seat_of

SAME_AXIS = 1e-9
"""Largest difference of two axes that are the same."""
PART_BY_BRANCHINGS = (NECK, TRUNK, BASE)
"""The part of a joint by the number of branchings between it and the face; more than two are as two."""


def is_gaze(figure: Figure, task: LookAt) -> bool:
    """Whether a task looks with the face of a part."""
    face = figure.facing_axis(task.site)
    return face is not None and float(np.abs(task.axis_on(figure) - face).max()) < SAME_AXIS


class NaturalGaze:
    """A gaze, and the nodes that share its turn."""

    def __init__(self, figure: Figure, task: LookAt, branchings: FloatArray) -> None:
        """Find the nodes.

        Args:
            figure: The figure.
            task: The gaze.
            branchings: (nv,) number of branchings of limbs between each joint and the part that looks.
        """
        self.figure, self.task = figure, task
        self._chain = gaze_chain(figure, task.site, tuple(branchings.tolist()))

    def turn(self, q: FloatArray, asked: LookAt, may_move: FloatArray) -> None:
        """Turn the coordinates `q` (nq,) to the target of `asked`, by velocities that `may_move` (nv,)."""
        compiled, target = self.figure.compiled, asked.direction
        if asked.at is not None:
            target = asked.at
            if asked.relative_to is not None:
                target = world_from_part(Posture(self.figure, q), asked.relative_to).apply(vector(asked.at))
        else:
            target = direction_of(() if target is None else target, asked.label)
        aim = Vector(*vector(target).tolist())
        turn_to_gaze(compiled.tree, compiled.bounds, self._chain, aim, asked.at is None, may_move, q)


@lru_cache(maxsize=64)
def gaze_chain(figure: Figure, site: str, branchings: tuple[float, ...]) -> GazeChain:
    """The nodes that share the turns of a site or body that has a face.

    Args:
        figure: The figure.
        site: Name of the site or body.
        branchings: (nv,) number of branchings of limbs between each joint and it.
    """
    joints = _way_to(figure, figure.body_of(site))
    parts = _parts(figure, joints, branchings)
    ends = [joint.child for joint, part in zip(joints, parts, strict=True) if part == BASE]
    limbs = [joint for joint in figure.joints if ends and joint.parent == ends[-1] and joint not in joints and joint.nv]
    turning = [*zip(joints, parts, strict=True), *((joint, EYES) for joint in _other_eyes(figure, joints, parts))]
    nodes = [(node, part) for joint, part in turning for node in _nodes(figure, joint)]
    nodes += [(node, LIMB) for joint in limbs for node in _nodes(figure, joint)]
    rooms = np.array([_rooms(figure, node) for node, _ in nodes])
    neck = next((joint for joint, part in zip(joints, parts, strict=True) if part == NECK), None)
    eye, trunk = seat_of(figure, site), seat_of(figure, (neck.parent if neck else None) or joints[-1].child)
    rotation, face = node_frames(figure.compiled.tree, figure.neutral()._q)[1], figure.facing_axis(site)
    assert face is not None
    part = np.array([part for _, part in nodes], dtype=np.int64)
    return GazeChain(
        node=np.array([node for node, _ in nodes], dtype=np.int64),
        part=part,
        azimuth=_shares(part, rooms[:, 0]),
        elevation=_shares(part, rooms[:, 1]),
        eye=np.array([eye.node], dtype=np.int64),
        trunk=np.array([trunk.node], dtype=np.int64),
        frame=np.array(
            [eye.pose.position, eye.pose.matrix @ face, to_matrix(rotation[trunk.node]).T @ figure.up_vector]
        ),
    )


def _way_to(figure: Figure, body: str) -> list[Joint]:
    """The joints that move a body, from the root on."""
    above = dict(figure.tree_order)
    way: list[Joint] = []
    here: str | None = body
    while here is not None and (joint := above[here]) is not None:
        way.insert(0, joint)
        here = joint.parent
    return way


def _parts(figure: Figure, joints: list[Joint], branchings: tuple[float, ...]) -> list[int]:
    """The part of the body that each joint on the way to a face belongs to."""
    bodies, head = [joint.child for joint in joints], head_of(figure)
    first_eye = bodies.index(head) + 1 if head in bodies else len(bodies)
    counts = [int(branchings[figure.v_slice(joint.name).start]) if joint.nv else 0 for joint in joints]
    return [EYES if i >= first_eye else PART_BY_BRANCHINGS[min(count, 2)] for i, count in enumerate(counts)]


def _other_eyes(figure: Figure, joints: list[Joint], parts: list[int]) -> list[Joint]:
    """The joints of bodies that look, too, beside the eyes on the way to a face."""
    heads = {joint.parent for joint, part in zip(joints, parts, strict=True) if part == EYES}
    beside = [joint for joint in figure.joints if joint.parent in heads and joint not in joints and joint.nv]
    return [joint for joint in beside if figure.bodies[joint.child].facing is not None]


def _nodes(figure: Figure, joint: Joint) -> list[int]:
    """The nodes of a joint."""
    return list(dict.fromkeys(figure.compiled.tree.dof_node[figure.v_slice(joint.name)].tolist()))


def _rooms(figure: Figure, node: int) -> tuple[float, float]:
    """Range of a node about the up axis, and about horizontal axes, in the neutral posture [rad]."""
    tree = figure.compiled.tree
    at = slice(int(tree.v_start[node]), int(tree.v_start[node] + tree.v_count[node]))
    size = np.minimum(ranges_of(figure).size[at], math.pi) * tree.dof_turns[at]
    joint = next(joint for joint in figure.joints if at.start in range(*figure.v_slice(joint.name).indices(figure.nv)))
    if joint.ball_limits is not None and joint.ball_limits.twist is not None:
        low, high = joint.ball_limits.twist.at(0.0, 0.0)
        return high - low, float(size.max())
    axes, up = node_frames(tree, figure.neutral()._q)[2][at], figure.up_vector
    along = np.abs(axes @ up)
    return float((along * size).max()), float((np.sqrt(np.maximum(1.0 - along**2, 0.0)) * size).max())


def _shares(part: IntArray, room: FloatArray) -> FloatArray:
    """(k,) of each node, the share of its part's range that it and those before it in the part have.

    Eyes are not one after another but side by side: each takes the whole turn.
    """
    share = np.ones(len(part))
    for which in set(part.tolist()):
        same = part == which
        total = float(room[same].sum())
        if which not in (EYES, LIMB) and total > 0.0:
            share[same] = np.cumsum(room[same]) / total
    return share
