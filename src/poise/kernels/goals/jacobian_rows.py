"""Rows of goals: how the joints change what is asked, and how the rows themselves bend."""

import numpy as np

from poise.kernels.body.tree import Tree, moment_of_inertia
from poise.kernels.goals.goals import (
    AIM,
    BALANCE,
    CENTER,
    GIVEN,
    HOLD,
    INERTIA,
    POINT,
    SLOW,
    STAND,
    TURN_TO,
    Evaluation,
    Goals,
    ground_axes,
)
from poise.kernels.goals.load_rows import add_center_row, add_moment_row, add_point_row, moment_of_lean
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, scale, subtract, vector_at

Array = np.ndarray


@kernel(inline=True)
def fill_rows(
    tree: Tree,
    goals: Goals,
    stance: Evaluation,
    skip: int,
    # outputs
    rows: Array,
) -> None:
    """Weighted rows (skip + m, nv) of every goal, from row `skip` on."""
    kinds, first, nodes, bases, masks = goals.kind, goals.first, goals.node, goals.base, goals.mask
    m, nv = goals.direction.shape[0], rows.shape[1]
    for i in range(skip, skip + m):
        for k in range(nv):
            rows[i, k] = 0.0
    for g in range(kinds.shape[0]):
        kind, start, end = kinds[g], first[g], first[g + 1]
        if kind == POINT or kind == TURN_TO or kind == AIM or kind == SLOW:
            _add_chain(tree, stance, nodes[g], vector_at(stance.point, g), start, end, skip, goals.weight, rows)
            if bases[g] > 0:
                base_point = vector_at(stance.base_point, g)
                for i in range(start, end):
                    pull = scale(vector_at(stance.force, i), -goals.weight[i])
                    twist = base_torque(kind, scale(vector_at(stance.torque, i), -goals.weight[i]))
                    add_point_row(tree, stance, bases[g], base_point, pull, twist, skip + i, rows)
        elif kind == CENTER:
            for i in range(start, end):
                add_center_row(tree, stance, vector_at(goals.direction, i), goals.weight[i], skip + i, rows)
        elif kind == STAND:
            _stand_rows(tree, goals, stance, g, skip, rows)
        elif kind == INERTIA:
            _inertia_row(tree, goals, stance, g, skip, rows)
        elif kind == BALANCE:
            for i in range(start, end):
                d = scale(vector_at(goals.direction, i), goals.value[g] * goals.weight[i])
                add_moment_row(tree, goals, stance, g, d, skip + i, rows)
        elif kind == HOLD:
            for i in range(start, end):
                rows[skip + i, goals.dof[i]] = goals.weight[i]
        elif kind == GIVEN:
            for i in range(start, end):
                for k in range(nv):
                    rows[skip + i, k] = goals.weight[i] * goals.given_rows[i, k]
        if masks[g] >= 0:
            for i in range(skip + start, skip + end):
                for k in range(nv):
                    rows[i, k] *= goals.masks[masks[g], k]


@kernel(inline=True)
def _add_chain(
    tree: Tree, stance: Evaluation, node: int, p: Vector, start: int, end: int, skip: int, weight: Array, rows: Array
) -> None:
    """Add the generalised force of the wrenches `start` … `end` at point `p` of `node`."""
    parent, v_start, v_count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    position, axes, force, torque = stance.position, stance.axes, stance.force, stance.torque
    i = node
    while i > 0:
        lever = subtract(p, vector_at(position, i))
        for k in range(v_start[i], v_start[i] + v_count[i]):
            a = vector_at(axes, k)
            if turns[k] == 1:
                v = cross(a, lever)
                for r in range(start, end):
                    pull = dot(vector_at(force, r), v) + dot(vector_at(torque, r), a)
                    rows[skip + r, k] += weight[r] * pull
            else:
                for r in range(start, end):
                    rows[skip + r, k] += weight[r] * dot(vector_at(force, r), a)
        i = parent[i]


@kernel
def base_torque(kind: int, torque: Vector) -> Vector:
    """What the opposite wrench on node b has of a torque: nothing for an aim, whose target is only a point of b."""
    return Vector(0.0, 0.0, 0.0) if kind == AIM else torque


@kernel
def _add_lean_row(
    tree: Tree, goals: Goals, stance: Evaluation, g: int, way: Vector, weight: float, row: int, rows: Array
) -> None:
    """rows[row] += weight × way · (Jacobian of what stand goal `g` keeps over its support)."""
    if goals.load_start[g] == goals.load_start[g + 1]:
        add_center_row(tree, stance, way, weight, row, rows)
        return
    add_moment_row(tree, goals, stance, g, scale(moment_of_lean(tree, goals, g, way), weight), row, rows)


@kernel
def _stand_rows(tree: Tree, goals: Goals, stance: Evaluation, g: int, skip: int, rows: Array) -> None:
    """Row 0 while the centre of mass is outside, or the support has no inside; row 1 for a support of one point."""
    first, count = goals.first[g], stance.hull_count[g]
    near = vector_at(stance.nearest, g)
    a, b, share = int(near.x), int(near.y), near.z
    if count > 0 and (count < 3 or stance.error[first] < 0.0):
        way, weight = vector_at(stance.force, first), goals.weight[first]
        _edge_row(tree, goals, stance, g, a, b, share, way, weight, skip + first, rows)
    if count == 1:
        way, weight = vector_at(stance.force, first + 1), goals.weight[first + 1]
        _edge_row(tree, goals, stance, g, a, b, share, way, weight, skip + first + 1, rows)


@kernel
def _edge_row(
    tree: Tree,
    goals: Goals,
    stance: Evaluation,
    g: int,
    a: int,
    b: int,
    share: float,
    way: Vector,
    weight: float,
    row: int,
    rows: Array,
) -> None:
    """rows[row] += weight × way · (velocity of the centre of mass against a point of the line through two corners)."""
    _add_lean_row(tree, goals, stance, g, way, weight, row, rows)
    zero = Vector(0.0, 0.0, 0.0)
    pull = scale(way, -weight * (1.0 - share))
    add_point_row(tree, stance, goals.corner_node[a], _corner(goals, stance, g, a), pull, zero, row, rows)
    pull = scale(way, -weight * share)
    add_point_row(tree, stance, goals.corner_node[b], _corner(goals, stance, g, b), pull, zero, row, rows)


@kernel
def _corner(goals: Goals, stance: Evaluation, g: int, c: int) -> Vector:
    """World position of a corner of the support."""
    along, across, up = ground_axes(goals.up, g)
    p = vector_at(stance.corner, c)
    return add(add(scale(along, p.x), scale(across, p.y)), scale(up, p.z))


@kernel(inline=True)
def fill_fences(
    tree: Tree,
    goals: Goals,
    stance: Evaluation,
    at: int,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """One limit per edge of every support polygon: the centre of mass stays on its inner side.

    Limits go to rows `at` + corner of `general` and to entry `offset` + row of the bounds. A centre of mass outside
    an edge may stay where it is, but not go farther.
    """
    for g in range(goals.kind.shape[0]):
        if goals.kind[g] != STAND:
            continue
        along, across, _ = ground_axes(goals.up, g)
        center = vector_at(stance.lean, g)
        x, y = dot(center, along), dot(center, across)
        start, end, count = goals.corner_start[g], goals.corner_start[g + 1], stance.hull_count[g]
        for e in range(end - start):
            row = at + start + e
            lower[offset + row], upper[offset + row] = -np.inf, np.inf
            if e >= count or count < 3:
                continue
            a, b = stance.hull[start + e], stance.hull[start + (e + 1) % count]
            ex, ey = stance.corner[b, 0] - stance.corner[a, 0], stance.corner[b, 1] - stance.corner[a, 1]
            square = ex * ex + ey * ey
            size = np.sqrt(square)
            dx, dy = x - stance.corner[a, 0], y - stance.corner[a, 1]
            inward = add(scale(along, -ey / size), scale(across, ex / size))
            height = (ex * dy - ey * dx) / size - goals.corner_margin[g]
            for k in range(general.shape[1]):
                general[row, k] = 0.0
            _edge_row(tree, goals, stance, g, a, b, (ex * dx + ey * dy) / square, inward, 1.0, row, general)
            lower[offset + row] = min(0.0, -height)


@kernel
def _inertia_row(tree: Tree, goals: Goals, stance: Evaluation, g: int, skip: int, rows: Array) -> None:
    i = goals.first[g]
    gradient = rows[skip + i]
    axis = vector_at(goals.position, g)
    moment_of_inertia(tree, stance.position, stance.axes, stance.centers, stance.tensors, axis, gradient)
    for k in range(rows.shape[1]):
        gradient[k] *= goals.weight[i]
