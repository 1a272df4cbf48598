"""A figure as arrays for the kernels: the tree, the limits, and the frames of bodies and sites on the tree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.errors import FigureError
from poise.figure.model.curves import Curve
from poise.figure.model.joints import Joint
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Region, Twist, TwistTable
from poise.figure.model.mass import Mass, combined
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.body.curves import DEGREE
from poise.kernels.body.limits import ANYWHERE, ELLIPSE, POLYGON, Bounds
from poise.kernels.body.tree import BALL, BALL_REVERSED, FREE, SLIDE, TURN, Tree

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.joints import Term

IntArray = NDArray[np.int64]

_NODE_KINDS = {"turn": TURN, "slide": SLIDE, "ball": BALL, "free": FREE}
"""Node kind of each primitive."""
_V_COUNT = {TURN: 1, SLIDE: 1, BALL: 3, BALL_REVERSED: 3, FREE: 6}
"""Velocities of each node kind."""


@dataclass(frozen=True)
class Attached:
    """Frames fixed to nodes: first all bodies, then all sites."""

    node: IntArray
    """(m,) node that each frame is attached to."""
    position: FloatArray
    """(m, 3) position of the frame in its node's frame [m]."""
    rotation: FloatArray
    """(m, 4) rotation of the frame in its node's frame."""

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """Pose of each frame in its node's frame."""
        return tuple(map(Pose, self.position, self.rotation))


@dataclass(frozen=True, eq=False)
class Compiled:
    """The arrays of a figure for the kernels, and index tables by name."""

    tree: Tree
    """The kinematic tree."""
    bounds: Bounds
    """Limits and couplings."""
    attached: Attached
    """Frames of bodies and sites."""
    q_slices: dict[str, slice]
    """Slice of q that holds each joint's values."""
    v_slices: dict[str, slice]
    """Slice of v that holds each joint's rates."""
    frame_index: dict[str, int]
    """Row in `attached` of every site and body; a site takes precedence over a body of the same name."""


@dataclass
class _Node:
    """One node of the tree (see `poise.kernels.body.tree.Tree`)."""

    parent: int
    kind: int
    q_start: int
    v_start: int
    placement: Pose
    axis: Sequence[float]


def compile_figure(figure: Figure) -> Compiled:
    """The arrays of a figure."""
    q_slices, v_slices = _slices(figure.joints)
    nodes: list[_Node] = [_Node(0, 0, 0, 0, Pose(), (0.0, 0.0, 0.0))]
    rides: dict[str, tuple[int, Pose]] = {}
    for body, joint in figure.tree_order:
        if joint is None:
            rides[body] = (0, figure.placement)
            continue
        carrier, place = rides[joint.parent] if joint.parent is not None else (0, figure.placement)
        at = len(nodes)
        starts = q_slices[joint.name].start, v_slices[joint.name].start
        nodes += _joint_nodes(joint, carrier, place @ joint.parent_frame, starts, at)
        moved = (len(nodes) - 1, Pose()) if joint.primitives else (carrier, place @ joint.parent_frame)
        rides[body] = (moved[0], moved[1] @ joint.child_frame.inverse())
    attached = _attach(figure, rides)
    frame_index = {body.name: i for i, body in enumerate(figure.bodies)}
    frame_index |= {site.name: len(figure.bodies) + i for i, site in enumerate(figure.sites)}
    tree = _tree(nodes, _node_masses(figure, rides, len(nodes)))
    return Compiled(tree, _bounds(figure, q_slices), attached, q_slices, v_slices, frame_index)


def _slices(joints: Iterable[Joint]) -> tuple[dict[str, slice], dict[str, slice]]:
    """Slices of q and of v by joint, in the order of the joints."""
    q_slices, v_slices, q, v = {}, {}, 0, 0
    for joint in joints:
        q_slices[joint.name], v_slices[joint.name] = slice(q, q + joint.nq), slice(v, v + joint.nv)
        q, v = q + joint.nq, v + joint.nv
    return q_slices, v_slices


def _joint_nodes(joint: Joint, carrier: int, placement: Pose, starts: tuple[int, int], at: int) -> list[_Node]:
    """The chain of nodes of one joint, the first on `carrier`, numbered from `at`.

    The inverse of the motion P₁(q₁) P₂(q₂) is P₂⁻¹ P₁⁻¹: a reversed joint has its primitives in reverse order with
    negated axes, on the same values.
    """
    q, v = starts
    axes = joint.axes or ((0.0, 0.0, 0.0),) * len(joint.primitives)
    steps = [(_NODE_KINDS[primitive], q + i, v + i, axes[i]) for i, primitive in enumerate(joint.primitives)]
    if joint.reversed:
        steps = [
            (BALL_REVERSED if kind == BALL else kind, q_at, v_at, (-axis[0], -axis[1], -axis[2]))
            for kind, q_at, v_at, axis in reversed(steps)
        ]
    nodes = []
    for i, (kind, q_at, v_at, axis) in enumerate(steps):
        nodes.append(_Node(carrier if i == 0 else at + i - 1, kind, q_at, v_at, placement if i == 0 else Pose(), axis))
    return nodes


def _attach(figure: Figure, rides: dict[str, tuple[int, Pose]]) -> Attached:
    """The frames of all bodies and sites, from the node and frame in it of each body."""
    frames = [rides[body.name] for body in figure.bodies]
    for site in figure.sites:
        node, place = rides[site.body]
        frames.append((node, place @ site.pose))
    return Attached(
        np.array([node for node, _ in frames], dtype=np.int64),
        _rows((place.position for _, place in frames), 3),
        _rows((place.rotation for _, place in frames), 4),
    )


def _rows(rows: Iterable[Sequence[float] | FloatArray], width: int) -> FloatArray:
    """A float64 array (n, width), also for no rows."""
    return np.array(list(rows), dtype=np.float64).reshape(-1, width)


def _node_masses(figure: Figure, rides: dict[str, tuple[int, Pose]], count: int) -> list[Mass]:
    """The combined mass of the bodies on each node."""
    carried: list[list[Mass]] = [[] for _ in range(count)]
    for body in figure.bodies:
        node, place = rides[body.name]
        carried[node].append(body.mass.moved(place))
    return [combined(masses) for masses in carried]


def _tree(nodes: list[_Node], masses: list[Mass]) -> Tree:
    """The arrays of the tree."""
    parent = np.array([node.parent for node in nodes], dtype=np.int64)
    counts = np.array([_V_COUNT.get(node.kind, 0) for node in nodes], dtype=np.int64)
    nv = int(counts.sum())
    dof_node, dof_turns = np.zeros(nv, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    for i, node in enumerate(nodes):
        for c in range(counts[i]):
            dof_node[node.v_start + c] = i
            dof_turns[node.v_start + c] = int(
                node.kind in (TURN, BALL, BALL_REVERSED) or (node.kind == FREE and c >= 3)
            )
    subtree = np.array([mass.mass for mass in masses])
    for i in range(len(nodes) - 1, 0, -1):
        subtree[parent[i]] += subtree[i]
    return Tree(
        parent=parent,
        kind=np.array([node.kind for node in nodes], dtype=np.int64),
        q_start=np.array([node.q_start for node in nodes], dtype=np.int64),
        v_start=np.array([node.v_start for node in nodes], dtype=np.int64),
        v_count=counts,
        placement_position=_rows((node.placement.position for node in nodes), 3),
        placement_rotation=_rows((node.placement.rotation for node in nodes), 4),
        axis=_rows((node.axis for node in nodes), 3),
        mass=np.array([mass.mass for mass in masses]),
        center=_rows((mass.center for mass in masses), 3),
        inertia=_rows((_packed(mass.inertia) for mass in masses), 6),
        subtree_mass=subtree,
        dof_node=dof_node,
        dof_turns=dof_turns,
    )


def _packed(tensor: FloatArray) -> list[float]:
    """xx, yy, zz, xy, xz, yz of a symmetric tensor."""
    return [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]


def _bounds(figure: Figure, q_slices: dict[str, slice]) -> Bounds:
    """The arrays of limits and couplings."""
    nq = sum(joint.nq for joint in figure.joints)
    lower, upper = np.full(nq, -math.inf), np.full(nq, math.inf)
    for joint in figure.joints:
        if joint.scalars:
            lower[q_slices[joint.name]], upper[q_slices[joint.name]] = joint.lower, joint.upper
    coupled = {term.joint for coupling in figure.couplings for term in coupling.terms}
    balls = [j for j in figure.joints if j.kind == "ball" and (j.ball_limits is not None or j.name in coupled)]
    limits = [ball.ball_limits or BallLimits() for ball in balls]
    regions = [_loops_of(limit) for limit in limits]
    polygons = [loop.vertices for region in regions for loop in region]
    tables = [limit.twist if isinstance(limit.twist, TwistTable) else None for limit in limits]
    ball_index = {ball.name: i for i, ball in enumerate(balls)}
    coordinates, terms = _coupled_coordinates(figure, q_slices, ball_index)
    curves = [term.curve for coupling in figure.couplings for term in coupling.terms]
    return Bounds(
        lower=lower,
        upper=upper,
        ball_start=np.array([q_slices[ball.name].start for ball in balls], dtype=np.int64),
        cone=_rows((limit.cone for limit in limits), 4),
        limb=_rows((limit.limb for limit in limits), 4),
        swing_kind=np.array([_swing_kind(limit) for limit in limits], dtype=np.int64),
        radii=_rows(((s.x, s.y) if isinstance(s := limit.swing, Ellipse) else (1.0, 1.0) for limit in limits), 2),
        loop_start=np.cumsum([0, *(len(region) for region in regions)], dtype=np.int64),
        vertex_start=np.cumsum([0, *(len(polygon) for polygon in polygons)], dtype=np.int64),
        vertices=_rows((vertex for polygon in polygons for vertex in polygon), 3),
        twist_limited=np.array([int(limit.twist is not None) for limit in limits], dtype=np.int64),
        twist=_rows(
            ((*t.lower, *t.upper) if isinstance(t := limit.twist, Twist) else (0.0,) * 12 for limit in limits), 12
        ),
        twist_table=_table_shapes(tables),
        table_numbers=np.concatenate([np.empty(0), *(table.numbers for table in tables if table is not None)]),
        coordinate_q=np.array([c[0] for c in coordinates], dtype=np.int64),
        coordinate_ball=np.array([c[1] for c in coordinates], dtype=np.int64),
        coordinate_part=np.array([c[2] for c in coordinates], dtype=np.int64),
        term_start=np.cumsum([0, *(len(coupling.terms) for coupling in figure.couplings)], dtype=np.int64),
        term_coordinate=np.array([index for index, _ in terms], dtype=np.int64),
        term_factor=np.array([factor for _, factor in terms], dtype=np.float64),
        term_curve=np.array(_curve_numbers(curves), dtype=np.int64),
        piece_start=np.cumsum([0, *(len(curve.pieces) for curve in curves if curve is not None)], dtype=np.int64),
        pieces=_rows((piece for curve in curves if curve is not None for piece in curve.pieces), DEGREE + 2),
        coupling_lower=np.array([coupling.lower for coupling in figure.couplings], dtype=np.float64),
        coupling_upper=np.array([coupling.upper for coupling in figure.couplings], dtype=np.float64),
    )


def _curve_numbers(curves: Sequence[Curve | None]) -> list[int]:
    """The number of each curve among those that are not None, and -1 for None."""
    counts = np.cumsum([curve is not None for curve in curves], dtype=np.int64)
    return [-1 if curve is None else int(count) - 1 for curve, count in zip(curves, counts, strict=True)]


def _swing_kind(limit: BallLimits) -> int:
    """The kernel's kind of a swing region."""
    if isinstance(limit.swing, Ellipse):
        return ELLIPSE
    return ANYWHERE if limit.swing is None else POLYGON


def _loops_of(limit: BallLimits) -> tuple[Polygon, ...]:
    """The polygons that bound a swing region; none for an ellipse."""
    if isinstance(limit.swing, Region):
        return limit.swing.loops
    return (limit.swing,) if isinstance(limit.swing, Polygon) else ()


def _table_shapes(tables: Sequence[TwistTable | None]) -> IntArray:
    """(b, 3) first number, lines and columns of each ball joint's twist table, zeros for those without."""
    shapes, start = np.zeros((len(tables), 3), dtype=np.int64), 0
    for i, table in enumerate(tables):
        if table is not None:
            shapes[i] = start, len(table.x), len(table.y)
            start += len(table.numbers)
    return shapes


Coordinate = tuple[int, int, int]
"""A coupled coordinate: first entry in q, ball joint or -1, part of the ball joint."""


def _coupled_coordinates(
    figure: Figure, q_slices: dict[str, slice], ball_index: dict[str, int]
) -> tuple[list[Coordinate], list[tuple[int, float]]]:
    """All coordinates that occur in couplings, and the terms of all couplings as (index of coordinate, factor)."""
    coordinates: dict[Coordinate, int] = {}
    terms = []
    for coupling in figure.couplings:
        for term in coupling.terms:
            key = _locate(figure, coupling.name, term, q_slices, ball_index)
            terms.append((coordinates.setdefault(key, len(coordinates)), term.factor))
    return list(coordinates), terms


def _locate(
    figure: Figure, coupling: str, term: Term, q_slices: dict[str, slice], ball_index: dict[str, int]
) -> Coordinate:
    """The coordinate of a term; refuses terms that do not name one."""
    joint = figure.joints[term.joint]
    names = joint.coordinates
    if not names:
        raise FigureError(
            f"coupling {coupling!r} names joint {joint.name!r}, which is {joint.kind} and has no coordinate."
        )
    if term.coordinate is None and len(names) > 1:
        raise FigureError(
            f"coupling {coupling!r} must say which coordinate of {joint.name!r} it means: {', '.join(names)}."
        )
    table = {name: i for i, name in enumerate(names)}
    part = look_up(table, term.coordinate or names[0], "coordinate", f"joint {joint.name!r}")
    start = q_slices[joint.name].start
    return (start, ball_index[joint.name], part) if joint.kind == "ball" else (start + part, -1, 0)
