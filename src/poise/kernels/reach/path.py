"""The path of a reach: the tree from the root to one site, its limits, and the coordinates that may move.

Python passes a path as one `PathMemory`, because passing one array from Python takes longer than a whole step of a
reach. The kernel reads its arrays once, at the start of a reach, into a `Path`, which kernels of the tree and of its
limits take.
"""

from typing import Annotated, NamedTuple

import numpy as np

from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import inner_kernel
from poise.kernels.jit.memory import Memory

Array = np.ndarray


class Path(NamedTuple):
    """The moving part of a figure; its coordinates have the same indices as in the whole figure."""

    tree: Tree
    """Nodes from the root to the site's node, then nodes of joints that couplings connect to them; without masses."""
    bounds: Bounds
    """Limits of the whole figure."""
    node: int
    """Node that the site is attached to."""
    dof_q: Array
    """(n,) coordinate of each velocity; -1 for those of balls and free bases."""
    dof_held: Array
    """(n,) 1 for velocities that must stay zero."""
    balls: Array
    """(b,) limited ball joints that move."""
    ball_v: Array
    """(b,) first velocity of each of those ball joints."""
    couplings: Array
    """(c,) couplings that contain a moving joint."""
    coordinate_v: Array
    """Index of the first velocity of each coupled coordinate; -1 for one that does not move."""
    moving_q: Array
    """Coordinates that may change."""
    site: Array
    """(9,) position and rotation of the site in its node, the length ℓ that converts radians to metres [m], and the
    generalised golden ratio's reciprocal, which generates the restarts."""


class PathMemory(Memory):
    """The arrays of a `Path` and of its `Tree` and `Bounds`, under the same names."""

    parent: Annotated[Array, int, "nodes"]
    kind: Annotated[Array, int, "nodes"]
    q_start: Annotated[Array, int, "nodes"]
    v_start: Annotated[Array, int, "nodes"]
    v_count: Annotated[Array, int, "nodes"]
    placement_position: Annotated[Array, float, "nodes", "three"]
    placement_rotation: Annotated[Array, float, "nodes", "four"]
    axis: Annotated[Array, float, "nodes", "three"]
    mass: Annotated[Array, float, "masses"]
    center: Annotated[Array, float, "masses", "three"]
    inertia: Annotated[Array, float, "masses", "six"]
    subtree_mass: Annotated[Array, float, "masses"]
    dof_node: Annotated[Array, int, "velocities"]
    dof_turns: Annotated[Array, int, "velocities"]

    lower: Annotated[Array, float, "coordinates"]
    upper: Annotated[Array, float, "coordinates"]
    ball_start: Annotated[Array, int, "limited_balls"]
    cone: Annotated[Array, float, "cones", "four"]
    limb: Annotated[Array, float, "cones", "four"]
    swing_kind: Annotated[Array, int, "cones"]
    radii: Annotated[Array, float, "cones", "two"]
    loop_start: Annotated[Array, int, "loop_starts"]
    vertex_start: Annotated[Array, int, "vertex_starts"]
    vertices: Annotated[Array, float, "vertex_count", "three"]
    twist_limited: Annotated[Array, int, "cones"]
    twist: Annotated[Array, float, "cones", "twelve"]
    twist_table: Annotated[Array, int, "cones", "three"]
    table_numbers: Annotated[Array, float, "table_count"]
    coordinate_q: Annotated[Array, int, "coupled_coordinates"]
    coordinate_ball: Annotated[Array, int, "coupled_coordinates"]
    coordinate_part: Annotated[Array, int, "coupled_coordinates"]
    term_start: Annotated[Array, int, "term_starts"]
    term_coordinate: Annotated[Array, int, "terms"]
    term_factor: Annotated[Array, float, "terms"]
    term_curve: Annotated[Array, int, "terms"]
    piece_start: Annotated[Array, int, "piece_starts"]
    pieces: Annotated[Array, float, "piece_count", "seven"]
    coupling_lower: Annotated[Array, float, "coupling_count"]
    coupling_upper: Annotated[Array, float, "coupling_count"]

    node: int
    dof_q: Annotated[Array, int, "velocities"]
    dof_held: Annotated[Array, int, "velocities"]
    balls: Annotated[Array, int, "moving_balls"]
    ball_v: Annotated[Array, int, "moving_balls"]
    couplings: Annotated[Array, int, "moving_couplings"]
    coordinate_v: Annotated[Array, int, "coupled_coordinates"]
    moving_q: Annotated[Array, int, "moving_coordinates"]
    site: Annotated[Array, float, "nine"]


def store_path(path: Path) -> PathMemory:
    """A memory with the arrays of a path."""
    parts = {**path.tree._asdict(), **path.bounds._asdict(), **path._asdict()}
    fields = {name: field for name, field in PathMemory._fields.items() if field.sizes}
    memory = PathMemory(
        **{
            size: length
            for name, field in fields.items()
            for size, length in zip(field.sizes, parts[name].shape, strict=True)
        }
    )
    for name in fields:
        getattr(memory, name)[...] = parts[name]
    memory.node = path.node
    return memory


@inner_kernel
def read_path(memory: PathMemory) -> Path:
    """The path whose arrays a memory holds."""
    tree = Tree(
        parent=memory.parent,
        kind=memory.kind,
        q_start=memory.q_start,
        v_start=memory.v_start,
        v_count=memory.v_count,
        placement_position=memory.placement_position,
        placement_rotation=memory.placement_rotation,
        axis=memory.axis,
        mass=memory.mass,
        center=memory.center,
        inertia=memory.inertia,
        subtree_mass=memory.subtree_mass,
        dof_node=memory.dof_node,
        dof_turns=memory.dof_turns,
    )
    bounds = Bounds(
        lower=memory.lower,
        upper=memory.upper,
        ball_start=memory.ball_start,
        cone=memory.cone,
        limb=memory.limb,
        swing_kind=memory.swing_kind,
        radii=memory.radii,
        loop_start=memory.loop_start,
        vertex_start=memory.vertex_start,
        vertices=memory.vertices,
        twist_limited=memory.twist_limited,
        twist=memory.twist,
        twist_table=memory.twist_table,
        table_numbers=memory.table_numbers,
        coordinate_q=memory.coordinate_q,
        coordinate_ball=memory.coordinate_ball,
        coordinate_part=memory.coordinate_part,
        term_start=memory.term_start,
        term_coordinate=memory.term_coordinate,
        term_factor=memory.term_factor,
        term_curve=memory.term_curve,
        piece_start=memory.piece_start,
        pieces=memory.pieces,
        coupling_lower=memory.coupling_lower,
        coupling_upper=memory.coupling_upper,
    )
    return Path(
        tree=tree,
        bounds=bounds,
        node=memory.node,
        dof_q=memory.dof_q,
        dof_held=memory.dof_held,
        balls=memory.balls,
        ball_v=memory.ball_v,
        couplings=memory.couplings,
        coordinate_v=memory.coordinate_v,
        moving_q=memory.moving_q,
        site=memory.site,
    )
