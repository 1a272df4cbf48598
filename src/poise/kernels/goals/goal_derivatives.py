"""First derivatives of goals: Jacobian rows, most of which are generalised forces of wrenches, and support edges."""

import math

import numpy as np

from poise.kernels.body.tree import Tree, add_wrench_row, moment_of_inertia
from poise.kernels.forces.equilibrium import support_levers
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.goals.goals import (
    AIM_GOAL,
    BALANCE_GOAL,
    CENTER_GOAL,
    CUSTOM_GOAL,
    DISTANCE_GOAL,
    DRIFT_GOAL,
    HOLD_GOAL,
    INERTIA_GOAL,
    POINT_GOAL,
    SLOW_GOAL,
    STAND_GOAL,
    SURFACE_GOAL,
    TURN_GOAL,
    Evaluation,
    Goals,
    ground_axes,
    loads_of,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    normalized,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray


@kernel(inline=True)
def fill_rows(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    skip: int,
    # outputs
    rows: Array,
) -> None:
    """Write the weighted Jacobian rows of every goal to `rows` (skip + m, nv), from row `skip` on."""
    kinds, first, nodes, bases, masks = goals.kind, goals.first, goals.node, goals.base, goals.mask
    m, nv = goals.direction.shape[0], rows.shape[1]
    for i in range(skip, skip + m):
        for k in range(nv):
            rows[i, k] = 0.0
    for g in range(kinds.shape[0]):
        kind, start, end = kinds[g], first[g], first[g + 1]
        if has_wrench(kind):
            _add_chain(tree, evaluation, nodes[g], vector_at(evaluation.point, g), start, end, skip, goals.weight, rows)
            if bases[g] > 0:
                base_point = vector_at(evaluation.base_point, g)
                for i in range(start, end):
                    force = scale(vector_at(evaluation.force, i), -goals.weight[i])
                    torque = base_torque(kind, scale(vector_at(evaluation.torque, i), -goals.weight[i]))
                    add_wrench_row(
                        tree, evaluation.position, evaluation.axes, bases[g], base_point, force, torque, skip + i, rows
                    )
        elif kind == CENTER_GOAL:
            for i in range(start, end):
                add_center_row(tree, evaluation, vector_at(goals.direction, i), goals.weight[i], skip + i, rows)
        elif kind == STAND_GOAL:
            _stand_rows(tree, goals, evaluation, g, skip, rows)
        elif kind == INERTIA_GOAL:
            _inertia_row(tree, goals, evaluation, g, skip, rows)
        elif kind == BALANCE_GOAL:
            for i in range(start, end):
                d = scale(vector_at(goals.direction, i), goals.value[g] * goals.weight[i])
                add_moment_row(tree, goals, evaluation, g, d, skip + i, rows)
        elif kind == HOLD_GOAL:
            for i in range(start, end):
                rows[skip + i, goals.dof[i]] = goals.weight[i]
        elif kind == CUSTOM_GOAL:
            for i in range(start, end):
                for k in range(nv):
                    rows[skip + i, k] = goals.weight[i] * goals.custom_rows[i, k]
        if masks[g] >= 0:
            for i in range(skip + start, skip + end):
                for k in range(nv):
                    rows[i, k] *= goals.masks[masks[g], k]


@kernel(inline=True)
def _add_chain(
    tree: Tree,
    evaluation: Evaluation,
    node: int,
    p: Vector,
    start: int,
    end: int,
    skip: int,
    weight: Array,
    rows: Array,
) -> None:
    """Add the generalised forces of the wrenches `start` … `end` at point `p` of `node` to their rows."""
    parent, v_start, v_count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    position, axes, force, torque = evaluation.position, evaluation.axes, evaluation.force, evaluation.torque
    i = node
    while i > 0:
        lever = subtract(p, vector_at(position, i))
        for k in range(v_start[i], v_start[i] + v_count[i]):
            a = vector_at(axes, k)
            if turns[k] == 1:
                v = cross(a, lever)
                for r in range(start, end):
                    value = dot(vector_at(force, r), v) + dot(vector_at(torque, r), a)
                    rows[skip + r, k] += weight[r] * value
            else:
                for r in range(start, end):
                    rows[skip + r, k] += weight[r] * dot(vector_at(force, r), a)
        i = parent[i]


@kernel
def has_wrench(kind: int) -> bool:
    """Whether the rows of a kind of goal are those of a wrench on node a, and of the opposite one on node b."""
    bodily = kind == POINT_GOAL or kind == TURN_GOAL or kind == AIM_GOAL or kind == SLOW_GOAL
    return bodily or kind == DISTANCE_GOAL or kind == SURFACE_GOAL or kind == DRIFT_GOAL


@kernel
def base_torque(kind: int, torque: Vector) -> Vector:
    """Torque of the opposite wrench on node b: zero for an aim, whose target is only a point of node b."""
    return Vector(0.0, 0.0, 0.0) if kind == AIM_GOAL else torque


@kernel
def _add_effective_center_row(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, way: Vector, weight: float, row: int, rows: Array
) -> None:
    """rows[row] += weight × way · (Jacobian of the effective centre of mass of stand goal `g`)."""
    if goals.load_start[g] == goals.load_start[g + 1]:
        add_center_row(tree, evaluation, way, weight, row, rows)
        return
    add_moment_row(tree, goals, evaluation, g, scale(effective_center_moment(tree, goals, g, way), weight), row, rows)


@kernel
def _stand_rows(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, skip: int, rows: Array) -> None:
    """Write the rows of stand goal `g`.

    Row 0 is not zero while the centre of mass is outside, or the support has no inside; row 1 only where the support is
    a single point.
    """
    first, count = goals.first[g], evaluation.hull_count[g]
    near = vector_at(evaluation.nearest, g)
    a, b, share = int(near.x), int(near.y), near.z
    if count > 0 and (count < 3 or evaluation.error[first] < 0.0):
        way, weight = vector_at(evaluation.force, first), goals.weight[first]
        _edge_row(tree, goals, evaluation, g, a, b, share, way, weight, skip + first, rows)
    if count == 1:
        way, weight = vector_at(evaluation.force, first + 1), goals.weight[first + 1]
        _edge_row(tree, goals, evaluation, g, a, b, share, way, weight, skip + first + 1, rows)


@kernel
def _edge_row(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    g: int,
    a: int,
    b: int,
    share: float,
    way: Vector,
    weight: float,
    row: int,
    rows: Array,
) -> None:
    """rows[row] += weight × way · (velocity of the effective centre of mass relative to a point of an edge).

    The point is corner `a` plus `share` times the way to corner `b`.
    """
    _add_effective_center_row(tree, goals, evaluation, g, way, weight, row, rows)
    zero = Vector(0.0, 0.0, 0.0)
    force = scale(way, -weight * (1.0 - share))
    add_wrench_row(
        tree,
        evaluation.position,
        evaluation.axes,
        goals.corner_node[a],
        corner_position(goals, evaluation, g, a),
        force,
        zero,
        row,
        rows,
    )
    force = scale(way, -weight * share)
    add_wrench_row(
        tree,
        evaluation.position,
        evaluation.axes,
        goals.corner_node[b],
        corner_position(goals, evaluation, g, b),
        force,
        zero,
        row,
        rows,
    )


@kernel
def corner_position(goals: Goals, evaluation: Evaluation, g: int, c: int) -> Vector:
    """World position of corner `c` of the support of stand goal `g`."""
    along, across, up = ground_axes(goals.up, g)
    p = vector_at(evaluation.corner, c)
    return add(add(scale(along, p.x), scale(across, p.y)), scale(up, p.z))


@kernel(inline=True)
def fill_support_edges(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    at: int,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """Write one limit per edge of every support polygon: the effective centre of mass stays on its inner side.

    The limit of an edge is row `at` + corner of `general`, and entry `offset` + row of the bounds. A centre of mass
    outside an edge may stay where it is, but not move farther out.
    """
    for g in range(goals.kind.shape[0]):
        if goals.kind[g] != STAND_GOAL:
            continue
        start, end, count = goals.corner_start[g], goals.corner_start[g + 1], evaluation.hull_count[g]
        for e in range(end - start):
            row = at + start + e
            lower[offset + row], upper[offset + row] = -np.inf, np.inf
            if e >= count or count < 3:
                continue
            a, b = evaluation.hull[start + e], evaluation.hull[start + (e + 1) % count]
            height, inward, share = height_over_edge(goals, evaluation, evaluation, g, e)
            for k in range(general.shape[1]):
                general[row, k] = 0.0
            _edge_row(tree, goals, evaluation, g, a, b, share, inward, 1.0, row, general)
            lower[offset + row] = min(0.0, -height)


@kernel
def height_over_edge(
    goals: Goals, hull: Evaluation, evaluation: Evaluation, g: int, e: int
) -> tuple[float, Vector, float]:
    """Distance of the effective centre of mass from edge `e` of the support of stand goal `g`, less the margin.

    It is positive inside the support. The edge joins corners of the convex hull in the evaluation `hull`. Returns also
    the unit vector inwards, and where the centre is along the edge: 0 at its first corner, 1 at its second.
    """
    along, across, _ = ground_axes(goals.up, g)
    center, start, count = vector_at(evaluation.effective_center, g), goals.corner_start[g], hull.hull_count[g]
    a, b = hull.hull[start + e], hull.hull[start + (e + 1) % count]
    ex, ey = evaluation.corner[b, 0] - evaluation.corner[a, 0], evaluation.corner[b, 1] - evaluation.corner[a, 1]
    square = ex * ex + ey * ey
    size = math.sqrt(square)
    dx, dy = dot(center, along) - evaluation.corner[a, 0], dot(center, across) - evaluation.corner[a, 1]
    inward = add(scale(along, -ey / size), scale(across, ex / size))
    return (ex * dy - ey * dx) / size - goals.corner_margin[g], inward, (ex * dx + ey * dy) / square


@kernel
def _inertia_row(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, skip: int, rows: Array) -> None:
    """Write the row of moment-of-inertia goal `g`."""
    i = goals.first[g]
    gradient = rows[skip + i]
    axis = vector_at(goals.position, g)
    moment_of_inertia(
        tree, evaluation.position, evaluation.axes, evaluation.centers, evaluation.tensors, axis, gradient
    )
    for k in range(rows.shape[1]):
        gradient[k] *= goals.weight[i]


@kernel
def add_center_row(tree: Tree, evaluation: Evaluation, direction: Vector, weight: float, row: int, rows: Array) -> None:
    """rows[row] += weight × direction · (Jacobian of the centre of mass)."""
    node, turns, subtree = tree.dof_node, tree.dof_turns, tree.subtree_mass
    position, axes, centers = evaluation.position, evaluation.axes, evaluation.centers
    if subtree[0] <= 0.0:
        return
    for k in range(node.shape[0]):
        i = node[k]
        v = vector_at(axes, k)
        if turns[k] == 1:
            v = cross(v, subtract(vector_at(centers, i), vector_at(position, i)))
        rows[row, k] += weight * subtree[i] / subtree[0] * dot(direction, v)


@kernel
def add_moment_row(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, d: Vector, row: int, rows: Array) -> None:
    """rows[row] += d · (Jacobian of the moment of weight and loads of goal `g`).

    d · (dx × f) = (f × d) · dx, so that every load is the row of a force f × d at its point; a load that turns with its
    node is a torque there, too (see `equilibrium`).
    """
    gravity, about = vector_at(goals.gravity, g), vector_at(goals.position, g)
    weight, down = scale(gravity, tree.subtree_mass[0]), normalized(gravity)
    loads: Wrenches = loads_of(goals, g)
    node, points, forces, torques, local, share = loads
    position, rotation = evaluation.position, evaluation.rotation
    add_center_row(tree, evaluation, cross(weight, d), 1.0, row, rows)
    load = total_load(rotation, loads, weight)
    along, across = support_levers(position, rotation, loads, about)
    below = subtract(across, along)
    for i in range(node.shape[0]):
        point = world_point(position, rotation, node[i], points, i)
        own = in_world(rotation, node[i], local[i], forces, i)
        acting = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        twist = Vector(0.0, 0.0, 0.0)
        if local[i] == 1:
            beside = subtract(subtract(point, about), across)
            twist = cross(own, add(cross(d, beside), scale(down, dot(d, cross(below, down)))))
            twist = add(twist, cross(in_world(rotation, node[i], 1, torques, i), d))
        add_wrench_row(tree, evaluation.position, evaluation.axes, node[i], point, cross(acting, d), twist, row, rows)


@kernel
def effective_center_moment(tree: Tree, goals: Goals, g: int, way: Vector) -> Vector:
    """Direction d for which d · (moment of weight and loads) changes like `way` · (effective centre): way × w / w²."""
    weight = scale(vector_at(goals.gravity, g), tree.subtree_mass[0])
    return scale(cross(way, weight), 1.0 / dot(weight, weight))
