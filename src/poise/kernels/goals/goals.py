"""Goals: functions of the posture, each with the value that a task asks for, and their errors.

A *goal* is a few functions φ_i(q) with wanted values. Its error is wanted minus φ, its Jacobian rows are ∂φ_i/∂v. Most
goals are about one point of a node: their row is the generalised force of a wrench (f_i at p, t_i) on node a, and of
the opposite wrench on node b, the frame it is measured in. The wrench is kept, because the curvature of the row follows
from it too.

    point    φ = d · R_bᵀ (p_a - p_b)                         f = R_b d
    turn     φ = -d · log(R_wanted R_baᵀ)                     t = R_b J_r⁻ᵀ d, J_r the right Jacobian there
             d may be an axis of the site, R_wanted d in the frame of b: the logarithm is the same along both frames
    aim      φ = -c · (θ / sin θ) (axis × u), c ⟂ u           u the unit vector to the target, θ the angle to it
    center   φ = d · (centre of mass)
    stand    φ = distance of the effective centre of mass outside the support polygon (see `effective_center`)
    inertia  φ = moment of inertia about an axis through the centre of mass
    balance  φ = d · (moment of all forces) / weight          the wrench of each force
    hold     φ = one joint coordinate
    distance φ = |p_a - p_b|                                  f = the unit vector from p_b to p_a
    surface  φ = distance of R_bᵀ (p_a - p_b) from an ellipsoid, negative inside     f = the normal there
    slow     φ = √2 ln(x / t)^(3/2), x = 3 - tr R_wantedᵀR_a     t = ∇φ where x is above the threshold t, else 0
    drift    φ = √2 ln(x / t)^(3/2), x = |p_a - p_wanted|²       f = ∇φ where x is above the threshold t, else 0
    custom   errors and rows are those of a user's function at one posture; elsewhere errors are extrapolated linearly

A balance row is a length: the moment [N m] is divided by the weight [N], which gives the distance of the centre of mass
from where it would be balanced, and makes it comparable with positions.

[Baerlocher 2001, 4.5] derives the first; the others are checked against finite differences in the tests.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import (
    Tree,
    apply_inertia,
    difference,
    forward,
    mass_centers,
    subtree_inertias,
)
from poise.kernels.forces.statics import Wrenches, net_wrench
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.ellipsoid import EllipsoidDistance, distance_to_ellipsoid
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull
from poise.kernels.maths.quaternion import (
    Quaternion,
    conjugate,
    direct_rotation,
    multiply,
    quaternion_at,
    rotate,
    to_rotation_vector,
)
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    length,
    orthogonal,
    put_vector,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray

(
    POINT_GOAL,
    TURN_GOAL,
    AIM_GOAL,
    CENTER_GOAL,
    STAND_GOAL,
    INERTIA_GOAL,
    BALANCE_GOAL,
    HOLD_GOAL,
    CUSTOM_GOAL,
    SLOW_GOAL,
    DISTANCE_GOAL,
    SURFACE_GOAL,
    DRIFT_GOAL,
) = range(13)
"""Kinds of goal, as in the table above."""
MIN_AIM_DISTANCE = 1e-6
"""Distance of a target below which its direction is undefined, so that an aim counts as met [m]."""
MIN_AIM_SINE = 1e-6
"""Sine of the angle to the opposite direction below which any axis turns towards the target."""
MIN_DISTANCE = 1e-9
"""Distance between two points below which the direction from one to the other is undefined [m]."""


class Goals(NamedTuple):
    """All goals of a problem; g goals with m rows. Arrays may be changed in place between steps."""

    kind: Array
    """(g,) kind of each goal: POINT_GOAL, TURN_GOAL, …"""
    first: Array
    """(g + 1,) first row of each goal."""
    node: Array
    """(g,) node a."""
    place: Array
    """(g, 3) position of the controlled frame in node a [m]."""
    turn: Array
    """(g, 4) rotation of the controlled frame in node a."""
    base: Array
    """(g,) node b, 0 for the world."""
    base_place: Array
    """(g, 3) position, in node b, of the frame in which the goal is measured [m]."""
    base_turn: Array
    """(g, 4) rotation of that frame in node b."""
    position: Array
    """(g, 3) wanted position; point to look at; wanted centre of mass; axis of inertia; reference point of moments;
    centre of an ellipsoid."""
    rotation: Array
    """(g, 4) wanted rotation; rotation of an ellipsoid."""
    value: Array
    """(g,) wanted moment of inertia or distance; 1 for an aim along a direction instead of at a point, and for a turn
    whose directions are axes of the controlled frame; 1 / weight for a balance; threshold of a slow or a drift goal."""
    posture: Array
    """(g,) row of `postures` that a hold goal wants."""
    postures: Array
    """(h, nq) postures to hold."""
    mask: Array
    """(g,) row of `masks`, or -1 for all joints."""
    masks: Array
    """(k, nv) recruitment masks: 1 for the velocities that a goal may use."""
    direction: Array
    """(m, 3) unit direction d of each row; for an aim, the axis to point with; for a surface, its radii [m]."""
    weight: Array
    """(m,) square root of each row's weight."""
    gain: Array
    """(m,) share of each row's error that one step removes."""
    dof: Array
    """(m,) velocity that a hold row is about."""
    corner_start: Array
    """(g + 1,) range of the corners of each stand goal's support."""
    corner_node: Array
    """(c,) node that each corner of a support is fixed to."""
    corner_place: Array
    """(c, 3) position of each corner in its node [m]."""
    corner_margin: Array
    """(g,) distance to keep from the edges of the support polygon, inside [m]."""
    custom_at: Array
    """(nq,) posture at which the errors and rows of custom goals were computed."""
    custom_error: Array
    """(m,) errors of custom rows at that posture."""
    custom_rows: Array
    """(m, nv) custom rows at that posture."""
    up: Array
    """(g, 3) unit vector away from the ground."""
    loads: Wrenches
    """Loads on the figure, for the goals that depend on them, one after another."""
    load_start: Array
    """(g + 1,) range of each goal's loads."""
    gravity: Array
    """(g, 3) acceleration of gravity, for the goals that depend on loads [m/s²]."""


class Evaluation(NamedTuple):
    """Node frames, errors of all goals, and the ingredients of their Jacobians at one posture."""

    at: Array
    """(nq,) the posture of the node frames."""
    position: Array
    """(n, 3) positions of the nodes in the world [m]."""
    rotation: Array
    """(n, 4) rotations of the nodes in the world."""
    axes: Array
    """(nv, 3) axes of the velocities in the world."""
    centers: Array
    """(n, 3) centres of mass of subtrees [m]."""
    error: Array
    """(m,) wanted minus actual value of every row, unweighted."""
    force: Array
    """(m, 3) force f_i of each row."""
    torque: Array
    """(m, 3) torque t_i of each row."""
    point: Array
    """(g, 3) point at which the force on node a acts [m]."""
    base_point: Array
    """(g, 3) point at which the opposite force on node b acts [m]."""
    mass_centers: Array
    """(n, 3) centre of each node's own mass, computed only for moments of inertia [m]."""
    tensors: Array
    """(n, 6) inertia of each subtree about its own centre, computed only for moments of inertia [kg m²]."""
    gap: Array
    """(nv,) workspace: velocity from the posture to another one."""
    hull: Array
    """(c,) corners of each stand goal's polygon, counter-clockwise seen from above, from `corner_start` on."""
    hull_count: Array
    """(g,) number of corners of each polygon."""
    corner: Array
    """(c, 3) every corner as (along, across, up) in the ground's axes [m]."""
    effective_center: Array
    """(g, 3) the point that each stand goal keeps over its support: see `effective_center` [m]."""
    nearest: Array
    """(g, 3) point of the support nearest to that point: two corners, and the share of the second."""


def make_evaluation(tree: Tree, goals: Goals) -> Evaluation:
    """Allocate the arrays of one evaluation."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    m, g, c = goals.direction.shape[0], goals.kind.shape[0], goals.corner_node.shape[0]
    return Evaluation(
        at=np.full(goals.postures.shape[1], np.nan),
        position=np.zeros((n, 3)),
        rotation=np.zeros((n, 4)),
        axes=np.zeros((nv, 3)),
        centers=np.zeros((n, 3)),
        error=np.zeros(m),
        force=np.zeros((m, 3)),
        torque=np.zeros((m, 3)),
        point=np.zeros((g, 3)),
        base_point=np.zeros((g, 3)),
        mass_centers=np.zeros((n, 3)),
        tensors=np.zeros((n, 6)),
        gap=np.zeros(nv),
        hull=np.zeros(c, dtype=np.int64),
        hull_count=np.zeros(g, dtype=np.int64),
        corner=np.zeros((c, 3)),
        effective_center=np.zeros((g, 3)),
        nearest=np.zeros((g, 3)),
    )


@kernel(inline=True)
def place_nodes(tree: Tree, q: Array, evaluation: Evaluation) -> None:
    """Compute the node frames at coordinates `q`: forward kinematics alone."""
    forward(tree, q, evaluation.position, evaluation.rotation)
    for i in range(q.shape[0]):
        evaluation.at[i] = q[i]


@kernel(inline=True)
def find_errors(tree: Tree, goals: Goals, q: Array, evaluation: Evaluation) -> None:
    """Compute the errors and wrenches of every goal, from the node frames and centres of mass."""
    kinds = goals.kind
    for g in range(kinds.shape[0]):
        kind = kinds[g]
        if kind == POINT_GOAL:
            _point(goals, evaluation, g)
        elif kind == TURN_GOAL:
            _turn(goals, evaluation, g)
        elif kind == AIM_GOAL:
            _aim(goals, evaluation, g)
        elif kind == CENTER_GOAL:
            _center(goals, evaluation, g)
        elif kind == STAND_GOAL:
            find_support(goals, evaluation, g)
            _stand(tree, goals, evaluation, g)
        elif kind == INERTIA_GOAL:
            _inertia(tree, goals, evaluation, g)
        elif kind == BALANCE_GOAL:
            _balance(tree, goals, evaluation, g)
        elif kind == HOLD_GOAL:
            _hold(tree, goals, evaluation, g, q)
        elif kind == SLOW_GOAL:
            _slow(goals, evaluation, g)
        elif kind == DISTANCE_GOAL:
            _distance(goals, evaluation, g)
        elif kind == SURFACE_GOAL:
            _surface(goals, evaluation, g)
        elif kind == DRIFT_GOAL:
            _drift(goals, evaluation, g)
        elif kind == CUSTOM_GOAL:
            _custom(tree, goals, evaluation, g, q)


@kernel(inline=True)
def frame_of(position: Array, rotation: Array, node: int, place: Vector, turn: Quaternion) -> tuple[Vector, Quaternion]:
    """World frame of a frame fixed to `node`."""
    carrier = quaternion_at(rotation, node)
    return add(vector_at(position, node), rotate(carrier, place)), multiply(carrier, turn)


@kernel(inline=True)
def _point(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and forces of point goal `g`."""
    position, rotation = evaluation.position, evaluation.rotation
    p, _ = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    o, r = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    gap = subtract(vector_at(goals.position, g), rotate(conjugate(r), subtract(p, o)))
    put_vector(evaluation.point, g, p)
    put_vector(evaluation.base_point, g, p)
    for i in range(goals.first[g], goals.first[g + 1]):
        d = vector_at(goals.direction, i)
        evaluation.error[i] = dot(d, gap)
        put_vector(evaluation.force, i, rotate(r, d))


@kernel(inline=True)
def _turn(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and torques of turn goal `g`."""
    position, rotation = evaluation.position, evaluation.rotation
    p, a = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    _, b = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    relative, wanted = multiply(conjugate(b), a), quaternion_at(goals.rotation, g)
    gap = to_rotation_vector(multiply(wanted, conjugate(relative)))
    angle = length(gap)
    # J_r⁻ᵀ d = d - ½ φ × d + k φ × (φ × d),  k = (1 - ½ θ cot ½θ) / θ²
    k = 1.0 / 12.0 if angle < 1e-4 else (1.0 - 0.5 * angle / math.tan(0.5 * angle)) / (angle * angle)
    put_vector(evaluation.point, g, p)
    put_vector(evaluation.base_point, g, p)
    for i in range(goals.first[g], goals.first[g + 1]):
        d = vector_at(goals.direction, i)
        if goals.value[g] == 1.0:
            d = rotate(wanted, d)
        across = cross(gap, d)
        row = add(add(d, scale(across, -0.5)), scale(cross(gap, across), k))
        evaluation.error[i] = dot(d, gap)
        put_vector(evaluation.torque, i, rotate(b, row))


class AimLines(NamedTuple):
    """The lines of an aim goal in the world."""

    point: Vector
    """Where the site is [m]."""
    target: Vector
    """Where its target is [m]."""
    direction: Vector
    """Unit vector in which the site points."""
    to_target: Vector
    """Unit vector to the target, or the wanted direction."""
    across: Vector
    """Unit vector across `to_target`: fixed in the site, and rotated with its direction to the target's, so that it
    does not jump as the target moves."""
    distance: float
    """Distance of the target, 1 for a direction [m]."""
    nearness: float
    """1 / distance, 0 for a direction or a target at the site [1/m]."""


@kernel(inline=True)
def aim_lines(goals: Goals, evaluation: Evaluation, g: int) -> AimLines:
    """The lines of aim goal `g`."""
    position, rotation = evaluation.position, evaluation.rotation
    p, a = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    o, r = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    axis, is_direction = vector_at(goals.direction, goals.first[g]), goals.value[g] == 1.0
    d, wanted = rotate(a, axis), rotate(r, vector_at(goals.position, g))
    target = add(o, wanted)
    sight = wanted if is_direction else subtract(target, p)
    far = length(sight)
    nearness = 0.0 if is_direction or far < MIN_AIM_DISTANCE else 1.0 / far
    u = scale(sight, 1.0 / far) if far >= MIN_AIM_DISTANCE else d
    across = rotate(direct_rotation(d, u), rotate(a, orthogonal(axis)))
    return AimLines(p, target, d, u, across, far, nearness)


@kernel(inline=True)
def _aim(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and wrenches of aim goal `g`, which has two rows.

    ė = f (ḋ × u + d × u̇) + f' (ḋ·u + d·u̇) (d × u), with f = θ / sin θ and f' = df / d cos θ.
    """
    p, target, d, u, across, _, nearness = aim_lines(goals, evaluation, g)
    first, normal = goals.first[g], cross(d, u)
    sine, cosine = length(normal), dot(d, u)
    angle = math.atan2(sine, cosine)
    if sine < 1e-4 and cosine > 0.0:
        f, slope = 1.0 + sine * sine / 6.0, -1.0 / 3.0
    elif sine < MIN_AIM_SINE:
        normal = scale(orthogonal(d), MIN_AIM_SINE)
        f, slope = angle / MIN_AIM_SINE, 0.0
    else:
        f = angle / sine
        slope = -(sine - angle * cosine) / (sine * sine * sine)
    put_vector(evaluation.point, g, p)
    put_vector(evaluation.base_point, g, target)
    for i in range(2):
        c = across if i == 0 else cross(u, across)
        along = dot(c, normal)
        w = add(scale(cross(d, cross(u, c)), f), scale(normal, slope * along))
        v = add(scale(cross(c, d), f), scale(d, slope * along))
        v = scale(subtract(v, scale(u, dot(u, v))), nearness)
        evaluation.error[first + i] = f * along
        put_vector(evaluation.force, first + i, v)
        put_vector(evaluation.torque, first + i, scale(w, -1.0))


@kernel(inline=True)
def _center(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error of centre-of-mass goal `g`."""
    gap = subtract(vector_at(goals.position, g), vector_at(evaluation.centers, 0))
    for i in range(goals.first[g], goals.first[g + 1]):
        evaluation.error[i] = dot(vector_at(goals.direction, i), gap)


@kernel(inline=True)
def _hold(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, q: Array) -> None:
    """Error of hold goal `g`."""
    difference(tree, q, goals.postures[goals.posture[g]], evaluation.gap)
    for i in range(goals.first[g], goals.first[g + 1]):
        evaluation.error[i] = evaluation.gap[goals.dof[i]]


@kernel(inline=True)
def _slow(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and torque of slow goal `g`, which turns a node back only if it is too far from its reference rotation.

    With r the quaternion of the turn since then, x = 4 |r_v|² and ∇ ln x = r_w r_v / |r_v|².
    """
    node, i = goals.node[g], goals.first[g]
    put_vector(evaluation.point, g, vector_at(evaluation.position, node))
    turn, excess = turn_excess(goals, evaluation, g)
    evaluation.error[i] = 0.0
    put_vector(evaluation.torque, i, Vector(0.0, 0.0, 0.0))
    if excess > 0.0:
        v = Vector(turn.x, turn.y, turn.z)
        evaluation.error[i] = -math.sqrt(2.0 * excess * excess * excess)
        put_vector(evaluation.torque, i, scale(v, 1.5 * math.sqrt(2.0 * excess) * turn.w / dot(v, v)))


@kernel(inline=True)
def _distance(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and force of distance goal `g`, which has one row."""
    position, rotation, i = evaluation.position, evaluation.rotation, goals.first[g]
    a, _ = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    b, _ = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    apart = subtract(a, b)
    distance = length(apart)
    put_vector(evaluation.point, g, a)
    put_vector(evaluation.base_point, g, b)
    evaluation.error[i] = goals.value[g] - distance
    put_vector(evaluation.force, i, scale(apart, 1.0 / distance) if distance > MIN_DISTANCE else Vector(1.0, 0.0, 0.0))


@kernel(inline=True)
def _surface(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Set the error of surface goal `g` to minus the distance from its ellipsoid, and its force to the normal there."""
    i = goals.first[g]
    p, world_from_ellipsoid, found = surface_distance(goals, evaluation, g)
    put_vector(evaluation.point, g, p)
    put_vector(evaluation.base_point, g, p)
    evaluation.error[i] = -found.distance
    put_vector(evaluation.force, i, rotate(world_from_ellipsoid, found.normal))


@kernel(inline=True)
def surface_distance(goals: Goals, evaluation: Evaluation, g: int) -> tuple[Vector, Quaternion, EllipsoidDistance]:
    """The point of surface goal `g`, the rotation of its ellipsoid in the world, and the distance between the two."""
    position, rotation = evaluation.position, evaluation.rotation
    p, _ = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    o, r = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    center = add(o, rotate(r, vector_at(goals.position, g)))
    turned = multiply(r, quaternion_at(goals.rotation, g))
    here = rotate(conjugate(turned), subtract(p, center))
    return p, turned, distance_to_ellipsoid(here, vector_at(goals.direction, goals.first[g]))


@kernel(inline=True)
def _drift(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error and force of drift goal `g`, which pulls a point back only if it is too far from its reference position.

    The force is ∇φ = (3 / √2) √(ln(x / t)) ∇ ln x, with d = p_a - p_wanted, x = |d|² and ∇ ln x = 2 d / |d|².
    """
    i = goals.first[g]
    p, d, excess = drift_excess(goals, evaluation, g)
    put_vector(evaluation.point, g, p)
    evaluation.error[i] = 0.0
    put_vector(evaluation.force, i, Vector(0.0, 0.0, 0.0))
    if excess > 0.0:
        evaluation.error[i] = -math.sqrt(2.0 * excess * excess * excess)
        put_vector(evaluation.force, i, scale(d, 3.0 * math.sqrt(2.0 * excess) / dot(d, d)))


@kernel(inline=True)
def drift_excess(goals: Goals, evaluation: Evaluation, g: int) -> tuple[Vector, Vector, float]:
    """The point of drift goal `g`, its displacement from its reference position, and ln(x / threshold), at least 0."""
    position, rotation = evaluation.position, evaluation.rotation
    p, _ = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    d = subtract(p, vector_at(goals.position, g))
    x = dot(d, d)
    return p, d, math.log(x / goals.value[g]) if x > goals.value[g] else 0.0


@kernel(inline=True)
def turn_excess(goals: Goals, evaluation: Evaluation, g: int) -> tuple[Quaternion, float]:
    """The turn of slow goal `g` since its reference rotation, and ln(x / threshold), at least 0."""
    turn = multiply(quaternion_at(evaluation.rotation, goals.node[g]), conjugate(quaternion_at(goals.rotation, g)))
    x = 4.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z)
    return turn, math.log(x / goals.value[g]) if x > goals.value[g] else 0.0


@kernel(inline=True)
def _custom(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, q: Array) -> None:
    """Error of custom goal `g`, extrapolated linearly from the posture at which it was computed."""
    difference(tree, goals.custom_at, q, evaluation.gap)
    for i in range(goals.first[g], goals.first[g + 1]):
        change = 0.0
        for k in range(evaluation.gap.shape[0]):
            change += goals.custom_rows[i, k] * evaluation.gap[k]
        evaluation.error[i] = goals.custom_error[i] - change


@kernel(inline=True)
def loads_of(goals: Goals, g: int) -> Wrenches:
    """The loads on the figure in goal `g`."""
    start, end = goals.load_start[g], goals.load_start[g + 1]
    node, point, force, torque, local, share = goals.loads
    return Wrenches(
        node[start:end], point[start:end], force[start:end], torque[start:end], local[start:end], share[start:end]
    )


@kernel(inline=True)
def effective_center(tree: Tree, goals: Goals, evaluation: Evaluation, g: int) -> Vector:
    """Effective centre of mass of stand goal `g`: O + w × T / w², with T the moment about O of weight and loads.

    The weight w alone, acting at this point, would have the same moment across gravity as weight and loads together.
    Without loads it is the centre of mass. Its coordinate along gravity has no meaning.
    """
    if goals.load_start[g] == goals.load_start[g + 1]:
        return vector_at(evaluation.centers, 0)
    loads, gravity, about = loads_of(goals, g), vector_at(goals.gravity, g), vector_at(goals.position, g)
    center = vector_at(evaluation.centers, 0)
    _, moment = net_wrench(tree, evaluation.position, evaluation.rotation, center, loads, gravity, about)
    weight = scale(gravity, tree.subtree_mass[0])
    return add(about, scale(cross(weight, moment), 1.0 / dot(weight, weight)))


@kernel(inline=True)
def _balance(tree: Tree, goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error of balance goal `g`."""
    loads, gravity, about = loads_of(goals, g), vector_at(goals.gravity, g), vector_at(goals.position, g)
    center = vector_at(evaluation.centers, 0)
    _, moment = net_wrench(tree, evaluation.position, evaluation.rotation, center, loads, gravity, about)
    for i in range(goals.first[g], goals.first[g + 1]):
        evaluation.error[i] = -goals.value[g] * dot(vector_at(goals.direction, i), moment)


@kernel(inline=True)
def ground_axes(up: Array, g: int) -> tuple[Vector, Vector, Vector]:
    """Two axes along the ground of goal `g` and the one away from it, right-handed."""
    u = vector_at(up, g)
    along = orthogonal(u)
    return along, cross(u, along), u


@kernel(inline=True)
def find_support(goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Compute the corners of the support of stand goal `g` in the ground's axes, and their convex hull."""
    along, across, u = ground_axes(goals.up, g)
    start, end = goals.corner_start[g], goals.corner_start[g + 1]
    for c in range(start, end):
        node = goals.corner_node[c]
        turned = rotate(quaternion_at(evaluation.rotation, node), vector_at(goals.corner_place, c))
        p = add(vector_at(evaluation.position, node), turned)
        put_vector(evaluation.corner, c, Vector(dot(p, along), dot(p, across), dot(p, u)))
    evaluation.hull_count[g] = convex_hull(evaluation.corner, start, end, evaluation.hull)


@kernel(inline=True)
def _stand(tree: Tree, goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error of stand goal `g`: row 0 along the shortest way back to the support, row 1 across it.

    Row 1 matters only for a support without an inside, such as a single point.
    """
    along, across, up = ground_axes(goals.up, g)
    center = effective_center(tree, goals, evaluation, g)
    put_vector(evaluation.effective_center, g, center)
    x, y = dot(center, along), dot(center, across)
    start, first = goals.corner_start[g], goals.first[g]
    near = nearest_on_hull(evaluation.corner, evaluation.hull, start, evaluation.hull_count[g], x, y)
    put_vector(evaluation.nearest, g, Vector(float(near.a), float(near.b), near.share))
    outside = near.distance + goals.corner_margin[g] if evaluation.hull_count[g] > 2 else near.distance
    way = add(scale(along, near.x), scale(across, near.y))
    put_vector(evaluation.force, first, way)
    put_vector(evaluation.force, first + 1, cross(up, way))
    evaluation.error[first] = -outside if outside > 0.0 else 0.0
    evaluation.error[first + 1] = 0.0


@kernel(inline=True)
def _inertia(tree: Tree, goals: Goals, evaluation: Evaluation, g: int) -> None:
    """Error of moment-of-inertia goal `g`."""
    mass_centers(tree, evaluation.position, evaluation.rotation, evaluation.mass_centers)
    subtree_inertias(tree, evaluation.rotation, evaluation.centers, evaluation.mass_centers, evaluation.tensors)
    axis = vector_at(goals.position, g)
    evaluation.error[goals.first[g]] = goals.value[g] - dot(axis, apply_inertia(evaluation.tensors, 0, axis))
