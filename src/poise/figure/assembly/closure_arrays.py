"""The loops of a figure as arrays: the closure rows of every joint kind, and the velocities that they depend on.

*Minimal* rows contain each constraint of a joint once [Schumacher et al. 2021, III.B]: three distances and two
directions for a hinge, one direction less for a universal joint, and so on. A direction row is also zero for a reversed
axis. *Far* rows are redundant; their residual grows up to half a turn, so that a mechanism can be assembled from an
open posture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.body.queries import node_frames
from poise.kernels.loops.closure import Closures

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


class Row(NamedTuple):
    """One closure row, in the joint's frame: a distance along `w`, or with `u` a comparison of two directions."""

    w: FloatArray
    """Direction fixed to the second body."""
    u: FloatArray | None = None
    """Direction fixed to the first body; None for a distance."""
    offset: float = 0.0
    """Value of the distance [m] or of u·w when the loop is closed."""


class Side(NamedTuple):
    """A loop joint's side on one body."""

    node: int
    """Node of the body."""
    frame: Pose
    """The joint's frame in the node's frame."""


@dataclass(frozen=True)
class _Loop:
    """A loop joint with its rows and the velocities that move its bodies against each other."""

    a: Side
    b: Side
    rows: tuple[Row, ...]
    path: tuple[tuple[int, float], ...]
    """Velocities between the two bodies, each with 1.0 if it moves the first and -1.0 if it moves the second."""


def compile_closures(figure: Figure, *, far: bool = False) -> Closures:
    """The loops of a figure as arrays, with minimal rows, or with far rows."""
    return compile_with_spans(figure, (), far=far)[0]


def compile_with_spans(
    figure: Figure, spans: Sequence[Sequence[int]], *, far: bool = False
) -> tuple[Closures, np.ndarray]:
    """The loops of a figure as arrays, with one extra row per set of velocities, and the indices (s,) of those rows.

    The caller fills the extra rows, which are zero here. Each is in the same block as the loops that depend on one of
    its velocities.
    """
    real = [_laid_out(figure, loop, far) for loop in figure.loops]
    empty = [_empty(span) for span in spans]
    blocks = _blocks([*real, *empty])
    loops = [loop for block in blocks for loop in block]
    length = _typical_length(figure, real)
    closures = _arrays(loops, blocks, length)
    places = {id(loop): i for i, loop in enumerate(loops)}
    return closures, _integers(closures.row_start[places[id(loop)]] for loop in empty)


def _empty(span: Sequence[int]) -> _Loop:
    """A placeholder with one zero row that depends on the velocities `span`."""
    world = Side(0, Pose())
    return _Loop(world, world, (Row(np.zeros(3)),), tuple((dof, 1.0) for dof in span))


def _arrays(loops: Sequence[_Loop], blocks: Sequence[Sequence[_Loop]], length: float) -> Closures:
    """The arrays of `Closures` for loops in block order."""
    rows = [(loop, row) for loop in loops for row in loop.rows]
    entries = [entry for loop in loops for entry in loop.path]
    block_dofs = [sorted({dof for loop in block for dof, _ in loop.path}) for block in blocks]
    return Closures(
        a_node=_integers(loop.a.node for loop in loops),
        a_point=_vectors([loop.a.frame.position for loop in loops]),
        b_node=_integers(loop.b.node for loop in loops),
        b_point=_vectors([loop.b.frame.position for loop in loops]),
        row_start=_starts([len(loop.rows) for loop in loops]),
        turns=_integers(row.u is not None for _, row in rows),
        u=_vectors([loop.a.frame.matrix @ (np.zeros(3) if row.u is None else row.u) for loop, row in rows]),
        w=_vectors([loop.b.frame.matrix @ row.w for loop, row in rows]),
        offset=np.array([row.offset for _, row in rows], dtype=np.float64),
        length=np.array([1.0 if row.u is None else length for _, row in rows], dtype=np.float64),
        path_start=_starts([len(loop.path) for loop in loops]),
        path_dof=_integers(dof for dof, _ in entries),
        path_side=np.array([side for _, side in entries], dtype=np.float64),
        block_loop=_starts([len(block) for block in blocks]),
        block_start=_starts([len(dofs) for dofs in block_dofs]),
        block_dof=_integers(dof for dofs in block_dofs for dof in dofs),
    )


def _laid_out(figure: Figure, loop: Joint, far: bool) -> _Loop:
    """The sides, rows and path of one loop joint."""
    near = _side(figure, loop.parent, loop.parent_frame)
    other = _side(figure, loop.child, loop.child_frame)
    if loop.reversed:
        near, other = other, near
    a, b = (other, near) if loop.kind == "planar" else (near, other)
    return _Loop(a, b, tuple(joint_rows(loop, far)), _path(figure, a.node, b.node))


def _side(figure: Figure, body: str | None, frame: Pose) -> Side:
    """The side on a body, or on the world for None, of a joint at `frame` in it."""
    if body is None:
        return Side(0, figure.placement @ frame)
    ride, row = figure.compiled.attached, figure.bodies.index(body)
    return Side(int(ride.node[row]), Pose(ride.position[row], ride.rotation[row]) @ frame)


def joint_rows(joint: Joint, far: bool = False) -> list[Row]:
    """The closure rows of a joint, in its own frame.

    Distances are measured in the frame that its slides move: that of the outer body, except for planar joints, whose
    slides come before their turn.
    """
    if joint.kind == "free":
        return []
    axes = [] if joint.kind == "ball" else [np.array(axis) for axis in joint.axes]
    steps = list(zip(joint.primitives, axes, strict=False))
    slides, turns = ([axis for step, axis in steps if step == wanted] for wanted in ("slide", "turn"))
    rows = [Row(n) for n in across(slides)]
    if joint.kind == "ball":
        return rows
    if len(turns) == 2:
        return [*rows, Row(turns[1], turns[0], float(turns[0] @ turns[1]))]
    if len(turns) == 1:
        rows += [Row(n, turns[0]) for n in across(turns)]
        return [*rows, Row(turns[0], turns[0], 1.0)] if far else rows
    one = np.eye(3)
    if far:
        return rows + [Row(one[j], one[i], float(i == j)) for i in range(3) for j in range(3)]
    return rows + [Row(one[j], one[i]) for i, j in ((0, 1), (0, 2), (1, 2))]


def across(axes: Sequence[FloatArray]) -> list[FloatArray]:
    """An orthonormal basis of the directions orthogonal to all axes."""
    if not axes:
        return list(np.eye(3))
    _, sizes, rows = np.linalg.svd(np.array(axes))
    return list(rows[int((sizes > 1e-9).sum()) :])


def _path(figure: Figure, a: int, b: int) -> tuple[tuple[int, float], ...]:
    """Velocities on the paths from the common ancestor to both nodes, outward, each with its side."""
    tree = figure.compiled.tree
    to_a, to_b = _ancestors(figure, a), _ancestors(figure, b)
    entries: list[tuple[int, float]] = []
    for way, other, side in ((to_a, set(to_b), 1.0), (to_b, set(to_a), -1.0)):
        for node in reversed([node for node in way if node not in other]):
            first = int(tree.v_start[node])
            entries += [(dof, side) for dof in range(first, first + int(tree.v_count[node]))]
    return tuple(entries)


def _ancestors(figure: Figure, node: int) -> list[int]:
    """`node` and its ancestors up to the root, without the world."""
    parent, way = figure.compiled.tree.parent, []
    while node > 0:
        way.append(node)
        node = int(parent[node])
    return way


def _blocks(loops: Sequence[_Loop]) -> list[list[_Loop]]:
    """Groups of loops that share velocities, directly or through other loops."""
    blocks: list[tuple[set[int], list[_Loop]]] = []
    for loop in loops:
        dofs, members = {dof for dof, _ in loop.path}, [loop]
        apart = []
        for other in blocks:
            if dofs & other[0]:
                dofs, members = dofs | other[0], other[1] + members
            else:
                apart.append(other)
        blocks = [*apart, (dofs, members)]
    return [members for _, members in blocks]


def _typical_length(figure: Figure, loops: Sequence[_Loop]) -> float:
    """Mean distance between consecutive joints of all loops [m]; 1 if they all coincide."""
    position, _, _ = node_frames(figure.compiled.tree, figure.neutral()._q)
    node_of = figure.compiled.tree.dof_node
    gaps: list[float] = []
    for loop in loops:
        for side in (1.0, -1.0):
            points = [position[node_of[dof]] for dof, at in loop.path if at == side]
            gaps += [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]
    gaps = [gap for gap in gaps if gap > 1e-9]
    return float(np.mean(gaps)) if gaps else 1.0


def _integers(values: object) -> np.ndarray:
    """An int64 array."""
    return np.array([int(value) for value in values], dtype=np.int64)  # type: ignore[attr-defined]


def _vectors(rows: Sequence[FloatArray]) -> FloatArray:
    """A float64 array (n, 3), also for no rows."""
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _starts(counts: Sequence[int]) -> np.ndarray:
    """Start of each range and the end of the last, for ranges of these sizes."""
    return np.cumsum([0, *counts], dtype=np.int64)
