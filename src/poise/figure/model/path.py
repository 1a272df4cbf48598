"""The path of a site: the joints from the root to it, and the joints that couplings connect to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poise.errors import TaskError
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.structure import loop_joints
from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import FREE, SLIDE, TURN, Tree
from poise.kernels.reach.path import Path

LEAST_RADIAN_LENGTH = 1e-3
"""Least length that converts radians to metres, for a figure without extent [m]."""
LENGTH_SHARE = 0.4
"""Length that converts radians to metres, as a share of the path's length."""


def find_path(figure: Figure, site: str, hold: frozenset[str], *, solver: str = "reach", limits: bool = True) -> Path:
    """The path of `site`: the part of `figure` that can move it while the joints `hold` do not move.

    Args:
        figure: The figure.
        site: The site to move.
        hold: Names of the joints that must not move.
        solver: Name of the calling solver, for error messages.
        limits: Whether limits and couplings count.
    """
    return find_paths(figure, (site,), hold, solver=solver, limits=limits)[0]


def find_paths(
    figure: Figure, sites: Sequence[str], hold: frozenset[str], *, solver: str, limits: bool = True
) -> tuple[Path, IntArray]:
    """The path of several sites together, with the first as its site, and the node (s,) of each site."""
    compiled = figure.compiled
    rows = [figure.frame_row(site) for site in sites]
    carriers = [int(compiled.attached.node[row]) for row in rows]
    row, site = rows[0], sites[0]
    for name in hold:
        figure.q_slice(name)
    path_nodes = sorted({node for carrier in carriers for node in ancestors(compiled.tree, carrier)})
    bounds = compiled.bounds if limits else _unlimited(compiled.bounds)
    held_nodes = nodes_of(figure, hold)
    coupled = _coupled_nodes(compiled.tree, bounds, path_nodes)
    refuse_loops(figure, site, [node for node in (*path_nodes, *coupled) if node not in held_nodes], solver)
    tree, kept = pruned(compiled.tree, path_nodes, coupled)
    dof_node = tree.dof_node
    scalar = (tree.kind == TURN) | (tree.kind == SLIDE)
    dof_q = np.where(scalar[dof_node], tree.q_start[dof_node], -1)
    dof_held = np.array([int(kept[i] in held_nodes) for i in dof_node], dtype=np.int64)
    moving = [i for i in range(1, len(kept)) if kept[i] not in held_nodes]
    first_v = {int(tree.q_start[i]): int(tree.v_start[i]) for i in moving}
    position, rotation = compiled.attached.position[row], compiled.attached.rotation[row]
    balls = [b for b, q in enumerate(bounds.ball_start) if int(q) in first_v]
    nodes = np.array([kept.index(carrier) for carrier in carriers], dtype=np.int64)
    path = Path(
        tree=tree,
        bounds=bounds,
        node=int(nodes[0]),
        dof_q=dof_q,
        dof_held=dof_held,
        balls=np.array(balls, dtype=np.int64),
        ball_v=np.array([first_v[int(bounds.ball_start[b])] for b in balls], dtype=np.int64),
        couplings=_couplings(bounds, first_v),
        coordinate_v=np.array([first_v.get(int(q), -1) for q in bounds.coordinate_q], dtype=np.int64),
        moving_q=np.array([q for i in moving for q in _coordinates(tree, i)], dtype=np.int64),
        site=np.array([*position, *rotation, _length(tree, int(nodes[0]), position), _golden(len(dof_q))]),
    )
    return path, nodes


@lru_cache(maxsize=256)
def moving_joints(figure: Figure, part: str) -> FloatArray:
    """(nv,) 1 for velocities that move a site or body, else 0."""
    compiled = figure.compiled
    node = int(compiled.attached.node[figure.frame_row(part)])
    return np.isin(compiled.tree.dof_node, ancestors(compiled.tree, node)).astype(np.float64)


def ancestors(tree: Tree, node: int) -> list[int]:
    """The ancestors of `node` from the root down, and `node` itself; without the world."""
    path_nodes = []
    while node > 0:
        path_nodes.append(node)
        node = int(tree.parent[node])
    return path_nodes[::-1]


def _unlimited(bounds: Bounds) -> Bounds:
    """`bounds` without any limits and couplings."""
    none = bounds.ball_start[:0]
    return bounds._replace(
        lower=np.full_like(bounds.lower, -math.inf),
        upper=np.full_like(bounds.upper, math.inf),
        ball_start=none,
        term_start=np.zeros(1, dtype=np.int64),
        term_coordinate=none,
        term_factor=bounds.term_factor[:0],
        term_curve=none,
        coupling_lower=bounds.coupling_lower[:0],
        coupling_upper=bounds.coupling_upper[:0],
        coordinate_q=none,
        coordinate_ball=none,
        coordinate_part=none,
    )


def _coordinates(tree: Tree, i: int) -> range:
    """Indices of the coordinates of node `i`."""
    size = {TURN: 1, SLIDE: 1, FREE: 7}.get(int(tree.kind[i]), 4)
    return range(int(tree.q_start[i]), int(tree.q_start[i]) + size)


def nodes_of(figure: Figure, joints: frozenset[str]) -> set[int]:
    """The nodes that these joints move."""
    starts = {q for name in joints for q in range(*figure.q_slice(name).indices(figure.nq))}
    tree = figure.compiled.tree
    return {i for i in range(1, len(tree.parent)) if int(tree.q_start[i]) in starts}


def _coupled_nodes(tree: Tree, bounds: Bounds, path_nodes: list[int]) -> list[int]:
    """Nodes off the path whose joints are coupled to a joint of the path, directly or through others."""
    node_of = {int(tree.q_start[i]): i for i in range(1, len(tree.parent))}
    moving = set(path_nodes)
    groups = [
        {node_of[int(bounds.coordinate_q[c])] for c in bounds.term_coordinate[bounds.term_start[k] : end]}
        for k, end in enumerate(bounds.term_start[1:])
    ]
    waiting = True
    while waiting:
        near = [group for group in groups if group & moving and not group <= moving]
        moving = moving.union(*near)
        waiting = bool(near)
    return sorted(moving - set(path_nodes))


def pruned(tree: Tree, path_nodes: list[int], coupled: list[int]) -> tuple[Tree, list[int]]:
    """The tree of these nodes only, without masses, and the original index of each.

    Coupled nodes get the world as parent.
    """
    kept = [0, *path_nodes, *coupled]
    place = {node: i for i, node in enumerate(kept)}
    counts = tree.v_count[kept]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    parent = np.array([0, *(place[int(tree.parent[i])] for i in path_nodes), *(0 for _ in coupled)], dtype=np.int64)
    turns = [tree.dof_turns[tree.v_start[i] : tree.v_start[i] + tree.v_count[i]] for i in kept]
    smaller = tree._replace(
        parent=parent,
        kind=tree.kind[kept],
        q_start=tree.q_start[kept],
        v_start=starts,
        v_count=counts,
        placement_position=tree.placement_position[kept],
        placement_rotation=tree.placement_rotation[kept],
        axis=tree.axis[kept],
        mass=tree.mass[:0],
        center=tree.center[:0],
        inertia=tree.inertia[:0],
        subtree_mass=tree.subtree_mass[:0],
        dof_node=np.repeat(np.arange(len(kept)), counts),
        dof_turns=np.concatenate(turns),
    )
    return smaller, kept


def _couplings(bounds: Bounds, first_v: dict[int, int]) -> IntArray:
    """Indices of the couplings that contain a moving joint."""
    found = []
    for k, end in enumerate(bounds.term_start[1:]):
        coordinates = bounds.term_coordinate[bounds.term_start[k] : end]
        if any(int(bounds.coordinate_q[c]) in first_v for c in coordinates):
            found.append(k)
    return np.array(found, dtype=np.int64)


def _length(tree: Tree, last: int, site: FloatArray) -> float:
    """The length that converts radians to metres: a share of the path from the first joint to the site [m]."""
    path_nodes = ancestors(tree, last)
    links = np.linalg.norm(tree.placement_position[path_nodes[1:]], axis=1).sum() + np.linalg.norm(site)
    return max(LEAST_RADIAN_LENGTH, LENGTH_SHARE * float(links))


def _golden(n: int) -> float:
    """1 / g, with g > 1 and g^(n + 1) = g + 1: its powers are the steps of n numbers that fill a cube evenly.

    For n = 1, g is the golden ratio [Roberts 2018].
    """
    g = 1.5
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (n + 1.0))
    return 1.0 / g


def refuse_loops(figure: Figure, site: str, moving: Sequence[int], solver: str) -> None:
    """Raise a TaskError if a `moving` node belongs to a loop, since its joint cannot move alone."""
    for loop in figure.loops:
        around = nodes_of(figure, frozenset(loop_joints(figure, loop)))
        inside = [node for node in moving if node in around]
        if inside:
            first = int(figure.compiled.tree.q_start[inside[0]])
            name = next(n for n, place in figure.compiled.q_slices.items() if place.start <= first < place.stop)
            raise TaskError(
                f"{solver} cannot move {site!r} of figure {figure.name!r}: joint {name!r} on the way to it is part of "
                f"the loop that {loop.name!r} closes."
            )
