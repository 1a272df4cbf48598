"""Derivatives of goals: Jacobian rows, limits at support edges, and second derivatives weighted by multipliers.

Most rows are generalised forces of wrenches on nodes. Weighted by multipliers, these wrenches add up to forces and
torques on the nodes, whose first moments give the sum of all second derivatives, the curvature, at once (see
`body.curvature`).
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.curvature import add_center_force, add_point_force, curvature
from poise.kernels.body.tree import Tree, add_wrench_row, moment_of_inertia
from poise.kernels.forces.equilibrium import add_moment_pull, support_levers
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.goals.contacts import Contacts
from poise.kernels.goals.goals import (
    AIM_GOAL,
    BALANCE_GOAL,
    CENTER_GOAL,
    CUSTOM_GOAL,
    DISTANCE_GOAL,
    DRIFT_GOAL,
    HOLD_GOAL,
    INERTIA_GOAL,
    MIN_DISTANCE,
    POINT_GOAL,
    SLOW_GOAL,
    STAND_GOAL,
    SURFACE_GOAL,
    TURN_GOAL,
    Evaluation,
    Goals,
    drift_excess,
    ground_axes,
    loads_of,
    surface_distance,
    turn_excess,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.ellipsoid import normal_change
from poise.kernels.maths.quaternion import conjugate, rotate
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    length,
    normalized,
    put_vector,
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
    return bodily or changes_force(kind)


@kernel
def changes_force(kind: int) -> bool:
    """Whether the force of a kind of goal depends on where its point is: see `_force_change`."""
    return kind == DISTANCE_GOAL or kind == SURFACE_GOAL or kind == DRIFT_GOAL


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
        _corner(goals, evaluation, g, a),
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
        _corner(goals, evaluation, g, b),
        force,
        zero,
        row,
        rows,
    )


@kernel
def _corner(goals: Goals, evaluation: Evaluation, g: int, c: int) -> Vector:
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


MIN_LOG_EXCESS = 1e-6
"""Value of ln(x / t) below which the curvature of a slow or a drift goal does not grow any more."""


class NodeForces(NamedTuple):
    """Workspace: forces and torques on the nodes, and the curvature of masked goals."""

    force: Array
    """(n, 3) force on each node."""
    torque: Array
    """(n, 3) torque on each node."""
    moment: Array
    """(n, 9) first moments of the forces about the reference point."""
    masked_curvature: Array
    """(nv, nv) curvature of the goals with one recruitment mask."""
    velocity: Array
    """(nv, 3) velocity of a goal's point relative to node b, for each velocity of the figure."""
    base_turn: Array
    """(nv, 3) angular velocity of node b, for each velocity of the figure."""
    edge_force: Array
    """(c,) force of each edge of the supports, inwards on the centre of mass: see `height_over_edge`."""


def make_node_forces(tree: Tree, corners: int) -> NodeForces:
    """Allocate the workspace for a tree and a number of corners of supports."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    return NodeForces(
        force=np.zeros((n, 3)),
        torque=np.zeros((n, 3)),
        moment=np.zeros((n, 9)),
        masked_curvature=np.zeros((nv, nv)),
        velocity=np.zeros((nv, 3)),
        base_turn=np.zeros((nv, 3)),
        edge_force=np.zeros(corners),
    )


@kernel
def fill_curvature(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    contacts: Contacts,
    node_forces: NodeForces,
    skip: int,
    multipliers: Array,
    # outputs
    out: Array,
) -> None:
    """out (nv, nv) = Σ μ_i ∇²φ_i over the weighted rows of all goals, with μ the multipliers; row `skip` is the first.

    The edges of supports (`node_forces.edge_force`) and the contacts (`contacts.force`) are added; the shapes of bodies
    count as flat, and feet as not turning. A goal that may move only some joints has no curvature in the others.
    """
    ref = vector_at(evaluation.position, min(1, evaluation.position.shape[0] - 1))
    masks, masked, nv = goals.masks, node_forces.masked_curvature, out.shape[0]
    force, torque, moment = node_forces.force, node_forces.torque, node_forces.moment
    _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, -1, ref)
    for c in range(contacts.used[0]):
        push, zero = scale(vector_at(contacts.normal, c), contacts.force[c]), Vector(0.0, 0.0, 0.0)
        if contacts.force[c] != 0.0:
            a, b = vector_at(contacts.point_a, c), vector_at(contacts.point_b, c)
            _add_wrench(contacts.node_a[c], a, push, zero, ref, force, torque, moment)
            _add_wrench(contacts.node_b[c], b, scale(push, -1.0), zero, ref, force, torque, moment)
    curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, out)
    for mask in range(masks.shape[0]):
        if _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, mask, ref):
            curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, masked)
            for j in range(nv):
                for k in range(nv):
                    out[j, k] += masks[mask, j] * masks[mask, k] * masked[j, k]
    for g in range(goals.kind.shape[0]):
        kind = goals.kind[g]
        if kind == SLOW_GOAL or changes_force(kind):
            multiplier = multipliers[skip + goals.first[g]] * goals.weight[goals.first[g]]
            if kind == SLOW_GOAL:
                _add_slow_curvature(tree, goals, evaluation, g, multiplier, out)
            elif multiplier != 0.0:
                _add_force_change(tree, goals, evaluation, node_forces, g, multiplier, out)


@kernel
def _add_force_change(
    tree: Tree, goals: Goals, evaluation: Evaluation, node_forces: NodeForces, g: int, multiplier: float, out: Array
) -> None:
    """Add the part of the curvature of goal `g` that comes from the change of its force F.

    Let velocity j of the figure move the goal's point by w_j relative to node b, and turn node b by ω_j. Then F changes
    by K w_j, and an F that is fixed to node b by ω_j × F, too; so does the point of node b at which its opposite acts:

        H_jk = w_jᵀ K w_k + (ω_j × F) · w_k + (ω_k × F) · w_j
    """
    velocity, base_turn, mask, nv = node_forces.velocity, node_forces.base_turn, goals.mask[g], out.shape[0]
    force = vector_at(evaluation.force, goals.first[g])
    _relative_velocities(tree, goals, evaluation, g, velocity, base_turn)
    kx = _force_change(goals, evaluation, g, Vector(1.0, 0.0, 0.0))
    ky = _force_change(goals, evaluation, g, Vector(0.0, 1.0, 0.0))
    kz = _force_change(goals, evaluation, g, Vector(0.0, 0.0, 1.0))
    for j in range(nv):
        w = vector_at(velocity, j)
        change = add(add(scale(kx, w.x), scale(ky, w.y)), scale(kz, w.z))
        change = add(change, cross(vector_at(base_turn, j), force))
        lever = cross(force, w)
        share = multiplier if mask < 0 else multiplier * goals.masks[mask, j]
        for k in range(nv):
            value = dot(change, vector_at(velocity, k)) + dot(lever, vector_at(base_turn, k))
            out[j, k] += share * value if mask < 0 else share * goals.masks[mask, k] * value


@kernel
def _relative_velocities(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, velocity: Array, base_turn: Array
) -> None:
    """Write the velocity of the point of goal `g` relative to node b, and the turn of node b where F turns with it."""
    zero = Vector(0.0, 0.0, 0.0)
    for k in range(velocity.shape[0]):
        put_vector(velocity, k, zero)
        put_vector(base_turn, k, zero)
    for side in range(2):
        i = goals.node[g] if side == 0 else goals.base[g]
        p = vector_at(evaluation.point, g) if side == 0 else vector_at(evaluation.base_point, g)
        sign = 1.0 if side == 0 else -1.0
        while i > 0:
            lever = subtract(p, vector_at(evaluation.position, i))
            for k in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
                a = vector_at(evaluation.axes, k)
                turns = tree.dof_turns[k] == 1
                v = cross(a, lever) if turns else a
                put_vector(velocity, k, add(vector_at(velocity, k), scale(v, sign)))
                if turns and side == 1 and goals.kind[g] == SURFACE_GOAL:
                    put_vector(base_turn, k, a)
            i = tree.parent[i]


@kernel
def _force_change(goals: Goals, evaluation: Evaluation, g: int, v: Vector) -> Vector:
    """K v: change of the force of goal `g` with a velocity `v` of its point, which is ∇²φ in the point's coordinates.

    A distance has K = (1 - u uᵀ) / distance with u the force. A drift d with l = ln(|d|² / t) has ∇l = 2 d / |d|² and
    ∇²l = (2 / |d|²) (1 - 2 d dᵀ / |d|²), and K = √2 (¾ l^(-½) ∇l ∇lᵀ + (3/2) l^½ ∇²l).
    """
    if goals.kind[g] == DISTANCE_GOAL:
        u = vector_at(evaluation.force, goals.first[g])
        distance = length(subtract(vector_at(evaluation.point, g), vector_at(evaluation.base_point, g)))
        return scale(subtract(v, scale(u, dot(u, v))), 1.0 / distance if distance > MIN_DISTANCE else 0.0)
    if goals.kind[g] == SURFACE_GOAL:
        _, turned, found = surface_distance(goals, evaluation, g)
        return rotate(turned, normal_change(found, rotate(conjugate(turned), v)))
    _, d, excess = drift_excess(goals, evaluation, g)
    if excess == 0.0:
        return Vector(0.0, 0.0, 0.0)
    square, root = dot(d, d), math.sqrt(max(excess, MIN_LOG_EXCESS))
    along = math.sqrt(2.0) * (3.0 / root - 6.0 * root) * dot(d, v) / (square * square)
    return add(scale(d, along), scale(v, 3.0 * math.sqrt(2.0) * root / square))


@kernel
def _add_slow_curvature(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, multiplier: float, out: Array
) -> None:
    """Add the part of the curvature of slow goal `g` that comes from the change of its torque with the turn itself.

    With l = ln(x / t), s = |r_v|² and a turn ω: ∇l = r_w r_v / s and ∇²l = (r_w² 1 - r_v r_vᵀ) / 2s - ∇l ∇lᵀ, so that
    ∇²√2 l^(3/2) = √2 (¾ l^(-½) ∇l ∇lᵀ + (3/2) l^½ ∇²l).
    """
    turn, excess = turn_excess(goals, evaluation, g)
    if multiplier == 0.0 or excess == 0.0:
        return
    v, parent, turns, axes, mask = (
        Vector(turn.x, turn.y, turn.z),
        tree.parent,
        tree.dof_turns,
        evaluation.axes,
        goals.mask,
    )
    s, root = dot(v, v), math.sqrt(max(excess, MIN_LOG_EXCESS))
    even = multiplier * math.sqrt(2.0) * 1.5 * root * turn.w * turn.w / (2.0 * s)
    steep = turn.w * turn.w / (s * s)
    along = multiplier * math.sqrt(2.0) * (0.75 / root * steep - 1.5 * root * (0.5 / s + steep))
    i = goals.node[g]
    while i > 0:
        for j in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
            if turns[j] == 1 and (mask[g] < 0 or goals.masks[mask[g], j] > 0.0):
                a = vector_at(axes, j)
                other = goals.node[g]
                while other > 0:
                    for k in range(tree.v_start[other], tree.v_start[other] + tree.v_count[other]):
                        if turns[k] == 1 and (mask[g] < 0 or goals.masks[mask[g], k] > 0.0):
                            b = vector_at(axes, k)
                            out[j, k] += even * dot(a, b) + along * dot(a, v) * dot(b, v)
                    other = parent[other]
        i = parent[i]


@kernel
def _collect_forces(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    node_forces: NodeForces,
    skip: int,
    multipliers: Array,
    mask: int,
    ref: Vector,
) -> bool:
    """Add up the forces on the nodes of the goals with one recruitment mask; returns False when there are none."""
    force, torque, moment = node_forces.force, node_forces.torque, node_forces.moment
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
            torque[i, c] = 0.0
        for c in range(9):
            moment[i, c] = 0.0
    kinds, first, weight = goals.kind, goals.first, goals.weight
    found = False
    for g in range(kinds.shape[0]):
        if goals.mask[g] != mask:
            continue
        kind = kinds[g]
        goal_force, goal_torque = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
        size = 0.0
        for i in range(first[g], first[g + 1]):
            k = multipliers[skip + i] * weight[i]
            size += abs(k)
            if kind == CENTER_GOAL or kind == BALANCE_GOAL:
                goal_force = add(goal_force, scale(vector_at(goals.direction, i), k))
            else:
                goal_force = add(goal_force, scale(vector_at(evaluation.force, i), k))
                goal_torque = add(goal_torque, scale(vector_at(evaluation.torque, i), k))
        if kind == STAND_GOAL:
            near = vector_at(evaluation.nearest, g)
            if size > 0.0:
                _push_edge(goals, evaluation, g, int(near.x), int(near.y), near.z, goal_force, ref, force, moment)
            start, count = goals.corner_start[g], evaluation.hull_count[g]
            for e in range(count):
                push = node_forces.edge_force[start + e]
                if push != 0.0:
                    size += abs(push)
                    _, inward, share = height_over_edge(goals, evaluation, evaluation, g, e)
                    a, b = evaluation.hull[start + e], evaluation.hull[start + (e + 1) % count]
                    goal_force = add(goal_force, scale(inward, push))
                    _push_edge(goals, evaluation, g, a, b, share, scale(inward, push), ref, force, moment)
        if size == 0.0:
            continue
        found = True
        if has_wrench(kind):
            point = vector_at(evaluation.point, g)
            _add_wrench(goals.node[g], point, goal_force, goal_torque, ref, force, torque, moment)
            if goals.base[g] > 0:
                back, point = scale(goal_force, -1.0), vector_at(evaluation.base_point, g)
                goal_torque = base_torque(kind, scale(goal_torque, -1.0))
                _add_wrench(goals.base[g], point, back, goal_torque, ref, force, torque, moment)
        elif kind == BALANCE_GOAL:
            _add_moment(tree, goals, evaluation, g, scale(goal_force, goals.value[g]), ref, force, moment)
        elif kind == STAND_GOAL and goals.load_start[g] < goals.load_start[g + 1]:
            direction = effective_center_moment(tree, goals, g, goal_force)
            _add_moment(tree, goals, evaluation, g, direction, ref, force, moment)
        elif kind == CENTER_GOAL or kind == STAND_GOAL:
            add_center_force(tree, evaluation.position, evaluation.rotation, goal_force, ref, force, moment)
    return found


@kernel
def _push_edge(
    goals: Goals,
    evaluation: Evaluation,
    g: int,
    a: int,
    b: int,
    share: float,
    push: Vector,
    ref: Vector,
    force: Array,
    moment: Array,
) -> None:
    """Add the force on the edge from corner `a` to corner `b` that is opposite to `push`: see `_edge_row`."""
    at, opposite = _corner(goals, evaluation, g, a), scale(push, share - 1.0)
    add_point_force(goals.corner_node[a], at, opposite, ref, force, moment)
    at, opposite = _corner(goals, evaluation, g, b), scale(push, -share)
    add_point_force(goals.corner_node[b], at, opposite, ref, force, moment)


@kernel
def _add_wrench(
    node: int,
    point: Vector,
    goal_force: Vector,
    goal_torque: Vector,
    ref: Vector,
    force: Array,
    torque: Array,
    moment: Array,
) -> None:
    """Add a force at a point of a node, and a torque on the node."""
    add_point_force(node, point, goal_force, ref, force, moment)
    torque[node, 0] += goal_torque.x
    torque[node, 1] += goal_torque.y
    torque[node, 2] += goal_torque.z


@kernel
def _add_moment(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, d: Vector, ref: Vector, force: Array, moment: Array
) -> None:
    """Add the forces whose potential is d · (moment of weight and loads of goal `g`)."""
    loads, gravity = loads_of(goals, g), vector_at(goals.gravity, g)
    add_moment_pull(tree, evaluation.position, evaluation.rotation, loads, gravity, d, ref, force, moment)
