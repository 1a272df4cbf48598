"""What tasks ask for, as numbers: errors, and the rows that say how the joints change them.

A *goal* is up to three rows φ_i(q) with wanted values: its error is wanted minus φ, its rows are ∂φ_i/∂v. Most goals
pull on one point of a node: their row is the generalised force of a wrench (f_i at p, t_i) on node a, and the opposite
one on node b, the frame it is measured in. The wrench is kept, because the curvature of the row follows from it too.

    point    φ = d · R_bᵀ (p_a - p_b)                         f = R_b d
    turn     φ = -d · log(R_wanted R_baᵀ)                     t = R_b J_r⁻ᵀ d, J_r the right Jacobian there
    aim      φ = -c · (θ / sin θ) (axis × u), c ⟂ u           u the unit vector to what is looked at, θ the angle to it
    center   φ = d · (centre of mass)
    stand    φ = how far the centre of mass, or what loads make of it, is outside the support polygon
    inertia  φ = moment of inertia about an axis through the centre of mass
    balance  φ = d · (moment of all forces) / weight          the wrench of each force
    hold     φ = one joint coordinate
    slow     φ = √2 ln(x / t)^(3/2), x = 3 - tr R_wantedᵀR_a     t = ∇φ where x is above the threshold t, else 0
    given    rows and errors come from outside, for one posture; elsewhere errors are what the rows say

A balance row is a length: the moment [N m] is divided by the weight [N], so that it says how far the centre of mass is
from where it would be balanced, and can be weighed against positions.

[Baerlocher 2001, 4.5] derives the first; the others are checked against finite differences in the tests.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import (
    Tree,
    apply_inertia,
    center_of_mass,
    difference,
    forward,
    mass_centers,
    motion_axes,
    subtree_inertias,
)
from poise.kernels.forces.statics import Wrenches, net_wrench
from poise.kernels.forces.support_polygon import convex_hull, nearest_on_hull
from poise.kernels.jit.compile import kernel
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

POINT, TURN_TO, AIM, CENTER, STAND, INERTIA, BALANCE, HOLD, GIVEN, SLOW = range(10)
NEAREST_AIM = 1e-6
"""Distance of a target under which its direction is not asked for [m]."""


class Goals(NamedTuple):
    """What is asked; arrays may be changed between steps, in place."""

    kind: Array
    """(g,) POINT, TURN_TO, …"""
    first: Array
    """(g + 1,) first row of each goal."""
    node: Array
    """(g,) node a."""
    place: Array
    """(g, 3) the frame asked about, in node a [m]."""
    turn: Array
    """(g, 4) its rotation."""
    base: Array
    """(g,) node b, 0 for the world."""
    base_place: Array
    """(g, 3) the frame it is measured in, in node b [m]."""
    base_turn: Array
    """(g, 4) its rotation."""
    position: Array
    """(g, 3) wanted position; point to look at; wanted centre of mass; axis of inertia; where moments are taken."""
    rotation: Array
    """(g, 4) wanted rotation."""
    value: Array
    """(g,) wanted moment of inertia; 1 for an aim at a direction instead of a point; 1 / weight for a balance;
    threshold of a slow goal."""
    posture: Array
    """(g,) row of `postures` that a hold goal wants."""
    postures: Array
    """(h, nq) postures to hold."""
    mask: Array
    """(g,) row of `masks`, or -1 for all joints."""
    masks: Array
    """(k, nv) 1 for velocities a goal may use."""
    direction: Array
    """(m, 3) unit direction d of each row; the axis that aims."""
    weight: Array
    """(m,) square root of each row's weight."""
    gain: Array
    """(m,) share of each row's error that one step removes."""
    dof: Array
    """(m,) velocity that a hold row asks about."""
    corner_start: Array
    """(g + 1,) range of each stand goal's corners."""
    corner_node: Array
    """(c,) node of each corner of the support."""
    corner_place: Array
    """(c, 3) its place in the node [m]."""
    corner_margin: Array
    """(g,) how far inside the polygon to stay [m]."""
    given_at: Array
    """(nq,) posture for which errors and rows were given."""
    given_error: Array
    """(m,) errors of given rows there."""
    given_rows: Array
    """(m, nv) given rows there."""
    up: Array
    """(g, 3) away from the ground."""
    loads: Wrenches
    """What acts on the figure, for the goals that ask about it, one after another."""
    load_start: Array
    """(g + 1,) range of each goal's loads."""
    gravity: Array
    """(g, 3) acceleration of gravity, for those goals [m/s²]."""


class Evaluation(NamedTuple):
    """Where everything is in one posture."""

    at: Array
    """(nq,) the posture, as far as nodes are concerned."""
    position: Array
    """(n, 3) nodes [m]."""
    rotation: Array
    """(n, 4) nodes."""
    axes: Array
    """(nv, 3) velocity axes."""
    centers: Array
    """(n, 3) centres of mass of subtrees [m]."""
    error: Array
    """(m,) wanted minus actual, of every row, unweighted."""
    force: Array
    """(m, 3) f_i of each row."""
    torque: Array
    """(m, 3) t_i of each row."""
    point: Array
    """(g, 3) where the force on node a acts [m]."""
    base_point: Array
    """(g, 3) where its opposite on node b acts [m]."""
    mass_centers: Array
    """(n, 3) centre of each node's own mass, where a moment of inertia is asked for [m]."""
    tensors: Array
    """(n, 6) inertia of each subtree about its own centre, where asked for [kg m²]."""
    gap: Array
    """(nv,) velocity from the posture to one that is held."""
    hull: Array
    """(c,) corners of each stand goal's polygon, counter-clockwise seen from above, from `corner_start` on."""
    hull_count: Array
    """(g,) how many corners each has."""
    corner: Array
    """(c, 3) every corner as (along, across, up) in the ground's axes [m]."""
    lean: Array
    """(g, 3) what each stand goal keeps over its support: the centre of mass, or what loads make of it [m]."""
    nearest: Array
    """(g, 3) two corners, and the share of the second, of the support nearest to the centre of mass."""


def make_evaluation(tree: Tree, goals: Goals) -> Evaluation:
    """Workspace for one posture."""
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
        lean=np.zeros((g, 3)),
        nearest=np.zeros((g, 3)),
    )


@kernel
def evaluate(
    tree: Tree,
    goals: Goals,
    q: Array,
    # outputs
    stance: Evaluation,
) -> None:
    """Forward kinematics, centres of mass, and the errors and wrenches of every goal at coordinates `q`."""
    place_nodes(tree, q, stance)
    motion_axes(tree, stance.rotation, stance.axes)
    center_of_mass(tree, stance.position, stance.rotation, stance.centers)
    find_errors(tree, goals, q, stance)


@kernel(inline=True)
def place_nodes(tree: Tree, q: Array, stance: Evaluation) -> None:
    """Forward kinematics alone."""
    forward(tree, q, stance.position, stance.rotation)
    for i in range(q.shape[0]):
        stance.at[i] = q[i]


@kernel(inline=True)
def find_errors(tree: Tree, goals: Goals, q: Array, stance: Evaluation) -> None:
    """Errors and wrenches of every goal, where nodes and centres of mass are known."""
    kinds = goals.kind
    for g in range(kinds.shape[0]):
        kind = kinds[g]
        if kind == POINT:
            _point(goals, stance, g)
        elif kind == TURN_TO:
            _turn(goals, stance, g)
        elif kind == AIM:
            _aim(goals, stance, g)
        elif kind == CENTER:
            _center(goals, stance, g)
        elif kind == STAND:
            find_support(goals, stance, g)
            _stand(tree, goals, stance, g)
        elif kind == INERTIA:
            _inertia(tree, goals, stance, g)
        elif kind == BALANCE:
            _balance(tree, goals, stance, g)
        elif kind == HOLD:
            _hold(tree, goals, stance, g, q)
        elif kind == SLOW:
            _slow(goals, stance, g)
        elif kind == GIVEN:
            _given(tree, goals, stance, g, q)


@kernel(inline=True)
def frame_of(position: Array, rotation: Array, node: int, place: Vector, turn: Quaternion) -> tuple[Vector, Quaternion]:
    """World frame of a frame fixed to `node`."""
    carrier = quaternion_at(rotation, node)
    return add(vector_at(position, node), rotate(carrier, place)), multiply(carrier, turn)


@kernel(inline=True)
def _point(goals: Goals, stance: Evaluation, g: int) -> None:
    position, rotation = stance.position, stance.rotation
    p, _ = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    o, r = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    gap = subtract(vector_at(goals.position, g), rotate(conjugate(r), subtract(p, o)))
    put_vector(stance.point, g, p)
    put_vector(stance.base_point, g, p)
    for i in range(goals.first[g], goals.first[g + 1]):
        d = vector_at(goals.direction, i)
        stance.error[i] = dot(d, gap)
        put_vector(stance.force, i, rotate(r, d))


@kernel(inline=True)
def _turn(goals: Goals, stance: Evaluation, g: int) -> None:
    position, rotation = stance.position, stance.rotation
    p, a = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    _, b = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    relative = multiply(conjugate(b), a)
    gap = to_rotation_vector(multiply(quaternion_at(goals.rotation, g), conjugate(relative)))
    angle = length(gap)
    # J_r⁻ᵀ d = d - ½ φ × d + k φ × (φ × d),  k = (1 - ½ θ cot ½θ) / θ²
    k = 1.0 / 12.0 if angle < 1e-4 else (1.0 - 0.5 * angle / math.tan(0.5 * angle)) / (angle * angle)
    put_vector(stance.point, g, p)
    put_vector(stance.base_point, g, p)
    for i in range(goals.first[g], goals.first[g + 1]):
        d = vector_at(goals.direction, i)
        across = cross(gap, d)
        row = add(add(d, scale(across, -0.5)), scale(cross(gap, across), k))
        stance.error[i] = dot(d, gap)
        put_vector(stance.torque, i, rotate(b, row))


@kernel(inline=True)
def _aim(goals: Goals, stance: Evaluation, g: int) -> None:
    """Two rows; ė = f (ḋ × u + d × u̇) + f' (ḋ·u + d·u̇) (d × u), f = θ / sin θ, f' = df / d cos θ."""
    position, rotation = stance.position, stance.rotation
    p, a = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    o, r = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    first = goals.first[g]
    d = rotate(a, vector_at(goals.direction, first))
    wanted = rotate(r, vector_at(goals.position, g))
    target = add(o, wanted)
    sight = wanted if goals.value[g] == 1.0 else subtract(target, p)
    far = length(sight)
    nearness = 0.0 if goals.value[g] == 1.0 or far < NEAREST_AIM else 1.0 / far
    u = scale(sight, 1.0 / far) if far >= NEAREST_AIM else d
    normal = cross(d, u)
    sine, cosine = length(normal), dot(d, u)
    angle = math.atan2(sine, cosine)
    if sine < 1e-4 and cosine > 0.0:
        f, slope = 1.0 + sine * sine / 6.0, -1.0 / 3.0
    elif sine < 1e-6:
        normal = scale(orthogonal(d), 1e-6)
        f, slope = angle / 1e-6, 0.0
    else:
        f = angle / sine
        slope = -(sine - angle * cosine) / (sine * sine * sine)
    # Fixed in the site and carried from d to u, so that it does not jump as u moves.
    across = rotate(direct_rotation(d, u), rotate(a, orthogonal(vector_at(goals.direction, first))))
    put_vector(stance.point, g, p)
    put_vector(stance.base_point, g, target)
    for i in range(2):
        c = across if i == 0 else cross(u, across)
        along = dot(c, normal)
        w = add(scale(cross(d, cross(u, c)), f), scale(normal, slope * along))
        v = add(scale(cross(c, d), f), scale(d, slope * along))
        v = scale(subtract(v, scale(u, dot(u, v))), nearness)
        stance.error[first + i] = f * along
        put_vector(stance.force, first + i, v)
        put_vector(stance.torque, first + i, scale(w, -1.0))


@kernel(inline=True)
def _center(goals: Goals, stance: Evaluation, g: int) -> None:
    gap = subtract(vector_at(goals.position, g), vector_at(stance.centers, 0))
    for i in range(goals.first[g], goals.first[g + 1]):
        stance.error[i] = dot(vector_at(goals.direction, i), gap)


@kernel(inline=True)
def _hold(tree: Tree, goals: Goals, stance: Evaluation, g: int, q: Array) -> None:
    difference(tree, q, goals.postures[goals.posture[g]], stance.gap)
    for i in range(goals.first[g], goals.first[g + 1]):
        stance.error[i] = stance.gap[goals.dof[i]]


@kernel(inline=True)
def _slow(goals: Goals, stance: Evaluation, g: int) -> None:
    """One row; with r the quaternion of the turn, x = 4 |r_v|² and ∇ ln x = r_w r_v / |r_v|²."""
    node, i = goals.node[g], goals.first[g]
    put_vector(stance.point, g, vector_at(stance.position, node))
    turn, excess = turn_excess(goals, stance, g)
    stance.error[i] = 0.0
    put_vector(stance.torque, i, Vector(0.0, 0.0, 0.0))
    if excess > 0.0:
        v = Vector(turn.x, turn.y, turn.z)
        stance.error[i] = -math.sqrt(2.0 * excess * excess * excess)
        put_vector(stance.torque, i, scale(v, 1.5 * math.sqrt(2.0 * excess) * turn.w / dot(v, v)))


@kernel(inline=True)
def turn_excess(goals: Goals, stance: Evaluation, g: int) -> tuple[Quaternion, float]:
    """The turn of slow goal `g` from the rotation it is measured from, and ln(x / threshold), at least 0."""
    turn = multiply(quaternion_at(stance.rotation, goals.node[g]), conjugate(quaternion_at(goals.rotation, g)))
    x = 4.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z)
    return turn, math.log(x / goals.value[g]) if x > goals.value[g] else 0.0


@kernel(inline=True)
def _given(tree: Tree, goals: Goals, stance: Evaluation, g: int, q: Array) -> None:
    difference(tree, goals.given_at, q, stance.gap)
    for i in range(goals.first[g], goals.first[g + 1]):
        change = 0.0
        for k in range(stance.gap.shape[0]):
            change += goals.given_rows[i, k] * stance.gap[k]
        stance.error[i] = goals.given_error[i] - change


@kernel(inline=True)
def loads_of(goals: Goals, g: int) -> Wrenches:
    """What acts on the figure in goal `g`."""
    start, end = goals.load_start[g], goals.load_start[g + 1]
    node, point, force, torque, local, share = goals.loads
    return Wrenches(
        node[start:end], point[start:end], force[start:end], torque[start:end], local[start:end], share[start:end]
    )


@kernel(inline=True)
def leaning_center(tree: Tree, goals: Goals, stance: Evaluation, g: int) -> Vector:
    """Where the weight alone would have the moment T about O of weight and loads: O + w × T / w².

    Without loads that is the centre of mass. Along gravity it means nothing.
    """
    if goals.load_start[g] == goals.load_start[g + 1]:
        return vector_at(stance.centers, 0)
    loads, gravity, about = loads_of(goals, g), vector_at(goals.gravity, g), vector_at(goals.position, g)
    center = vector_at(stance.centers, 0)
    _, moment = net_wrench(tree, stance.position, stance.rotation, center, loads, gravity, about)
    weight = scale(gravity, tree.subtree_mass[0])
    return add(about, scale(cross(weight, moment), 1.0 / dot(weight, weight)))


@kernel(inline=True)
def _balance(tree: Tree, goals: Goals, stance: Evaluation, g: int) -> None:
    loads, gravity, about = loads_of(goals, g), vector_at(goals.gravity, g), vector_at(goals.position, g)
    center = vector_at(stance.centers, 0)
    _, moment = net_wrench(tree, stance.position, stance.rotation, center, loads, gravity, about)
    for i in range(goals.first[g], goals.first[g + 1]):
        stance.error[i] = -goals.value[g] * dot(vector_at(goals.direction, i), moment)


@kernel(inline=True)
def ground_axes(up: Array, g: int) -> tuple[Vector, Vector, Vector]:
    """Two axes of the ground of goal `g` and the one away from it, right-handed."""
    u = vector_at(up, g)
    along = orthogonal(u)
    return along, cross(u, along), u


@kernel(inline=True)
def find_support(goals: Goals, stance: Evaluation, g: int) -> None:
    """Corners of the support in the ground's axes, and their convex hull."""
    along, across, u = ground_axes(goals.up, g)
    start, end = goals.corner_start[g], goals.corner_start[g + 1]
    for c in range(start, end):
        node = goals.corner_node[c]
        turned = rotate(quaternion_at(stance.rotation, node), vector_at(goals.corner_place, c))
        p = add(vector_at(stance.position, node), turned)
        put_vector(stance.corner, c, Vector(dot(p, along), dot(p, across), dot(p, u)))
    stance.hull_count[g] = convex_hull(stance.corner, start, end, stance.hull)


@kernel(inline=True)
def _stand(tree: Tree, goals: Goals, stance: Evaluation, g: int) -> None:
    """Row 0: out of the support along the shortest way back; row 1: the other way, on a support without an inside."""
    along, across, up = ground_axes(goals.up, g)
    center = leaning_center(tree, goals, stance, g)
    put_vector(stance.lean, g, center)
    x, y = dot(center, along), dot(center, across)
    start, first = goals.corner_start[g], goals.first[g]
    near = nearest_on_hull(stance.corner, stance.hull, start, stance.hull_count[g], x, y)
    put_vector(stance.nearest, g, Vector(float(near.a), float(near.b), near.share))
    outside = near.distance + goals.corner_margin[g] if stance.hull_count[g] > 2 else near.distance
    way = add(scale(along, near.x), scale(across, near.y))
    put_vector(stance.force, first, way)
    put_vector(stance.force, first + 1, cross(up, way))
    stance.error[first] = -outside if outside > 0.0 else 0.0
    stance.error[first + 1] = 0.0


@kernel(inline=True)
def _inertia(tree: Tree, goals: Goals, stance: Evaluation, g: int) -> None:
    mass_centers(tree, stance.position, stance.rotation, stance.mass_centers)
    subtree_inertias(tree, stance.rotation, stance.centers, stance.mass_centers, stance.tensors)
    axis = vector_at(goals.position, g)
    stance.error[goals.first[g]] = goals.value[g] - dot(axis, apply_inertia(stance.tensors, 0, axis))
