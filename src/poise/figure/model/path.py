"""Which joints move one site: those from the root to it, and those that couplings tie to them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from poise.errors import TaskError
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import FREE, SLIDE, TURN, Tree
from poise.kernels.reach.path import Path

SHORTEST = 1e-3
"""Length that makes metres of radians on a figure without extent [m]."""
LENGTH_SHARE = 0.4
"""That length as a share of the path's own."""


def find_path(figure: Figure, site: str, hold: frozenset[str], *, solver: str = "reach", limits: bool = True) -> Path:
    """The part of `figure` that moves `site` when the joints `hold` stay.

    Args:
        figure: Whose part.
        site: What must move.
        hold: Joints that must not.
        solver: Who asks, for errors.
        limits: Whether limits and couplings count.
    """
    return find_paths(figure, (site,), hold, solver=solver, limits=limits)[0]


def find_paths(
    figure: Figure, sites: Sequence[str], hold: frozenset[str], *, solver: str, limits: bool = True
) -> tuple[Path, IntArray]:
    """The part of `figure` that moves some sites, laid out for the first of them, and the node that carries each."""
    compiled = figure.compiled
    rows = [figure.frame_row(site) for site in sites]
    carriers = [int(compiled.attached.node[row]) for row in rows]
    row, site = rows[0], sites[0]
    for name in hold:
        figure.q_slice(name)
    way = sorted({node for carrier in carriers for node in ancestors(compiled.tree, carrier)})
    bounds = compiled.bounds if limits else _unlimited(compiled.bounds)
    held = nodes_of(figure, hold)
    tied = _tied_nodes(compiled.tree, bounds, way)
    refuse_loops(figure, site, [node for node in (*way, *tied) if node not in held], solver)
    tree, kept = pruned(compiled.tree, way, tied)
    dof_node = tree.dof_node
    scalar = (tree.kind == TURN) | (tree.kind == SLIDE)
    dof_q = np.where(scalar[dof_node], tree.q_start[dof_node], -1)
    dof_held = np.array([int(kept[i] in held) for i in dof_node], dtype=np.int64)
    moving = [i for i in range(1, len(kept)) if kept[i] not in held]
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


def ancestors(tree: Tree, node: int) -> list[int]:
    """Nodes from the root's first to `node`, without the world."""
    way = []
    while node > 0:
        way.append(node)
        node = int(tree.parent[node])
    return way[::-1]


def _unlimited(bounds: Bounds) -> Bounds:
    """As if every joint could go everywhere."""
    none = bounds.ball_start[:0]
    return bounds._replace(
        lower=np.full_like(bounds.lower, -math.inf),
        upper=np.full_like(bounds.upper, math.inf),
        ball_start=none,
        term_start=np.zeros(1, dtype=np.int64),
        term_coordinate=none,
        term_factor=bounds.term_factor[:0],
        coupling_lower=bounds.coupling_lower[:0],
        coupling_upper=bounds.coupling_upper[:0],
        coordinate_q=none,
        coordinate_ball=none,
        coordinate_part=none,
    )


def _coordinates(tree: Tree, i: int) -> range:
    size = {TURN: 1, SLIDE: 1, FREE: 7}.get(int(tree.kind[i]), 4)
    return range(int(tree.q_start[i]), int(tree.q_start[i]) + size)


def nodes_of(figure: Figure, joints: frozenset[str]) -> set[int]:
    """The nodes that these joints move."""
    starts = {q for name in joints for q in range(*figure.q_slice(name).indices(figure.nq))}
    tree = figure.compiled.tree
    return {i for i in range(1, len(tree.parent)) if int(tree.q_start[i]) in starts}


def _tied_nodes(tree: Tree, bounds: Bounds, way: list[int]) -> list[int]:
    """Nodes off the way whose joints share a coupling with one that moves, directly or through others."""
    node_of = {int(tree.q_start[i]): i for i in range(1, len(tree.parent))}
    moving = set(way)
    groups = [
        {node_of[int(bounds.coordinate_q[c])] for c in bounds.term_coordinate[bounds.term_start[k] : end]}
        for k, end in enumerate(bounds.term_start[1:])
    ]
    waiting = True
    while waiting:
        near = [group for group in groups if group & moving and not group <= moving]
        moving = moving.union(*near)
        waiting = bool(near)
    return sorted(moving - set(way))


def pruned(tree: Tree, way: list[int], tied: list[int]) -> tuple[Tree, list[int]]:
    """A tree of only these nodes, and which node each of its own was; what is tied hangs from the world."""
    kept = [0, *way, *tied]
    place = {node: i for i, node in enumerate(kept)}
    counts = tree.v_count[kept]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    parent = np.array([0, *(place[int(tree.parent[i])] for i in way), *(0 for _ in tied)], dtype=np.int64)
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
        dof_node=np.repeat(np.arange(len(kept)), counts),
        dof_turns=np.concatenate(turns),
    )
    return smaller, kept


def _couplings(bounds: Bounds, first_v: dict[int, int]) -> IntArray:
    """Couplings that name a joint that moves."""
    found = []
    for k, end in enumerate(bounds.term_start[1:]):
        coordinates = bounds.term_coordinate[bounds.term_start[k] : end]
        if any(int(bounds.coordinate_q[c]) in first_v for c in coordinates):
            found.append(k)
    return np.array(found, dtype=np.int64)


def _length(tree: Tree, last: int, site: FloatArray) -> float:
    """The length that makes metres of radians: a share of the way from the first joint to the site."""
    way = ancestors(tree, last)
    links = np.linalg.norm(tree.placement_position[way[1:]], axis=1).sum() + np.linalg.norm(site)
    return max(SHORTEST, LENGTH_SHARE * float(links))


def _golden(n: int) -> float:
    """1 / g for the root g > 1 of g^(n + 1) = g + 1: its powers fill n dimensions evenly [Roberts 2018]."""
    g = 1.5
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (n + 1.0))
    return 1.0 / g


def refuse_loops(figure: Figure, site: str, moving: Sequence[int], solver: str) -> None:
    """A joint inside a loop cannot move alone; the first such node that is `moving` is named."""
    for loop in figure.loops:
        around = nodes_of(figure, frozenset(joint.name for joint in _around(figure, loop)))
        inside = [node for node in moving if node in around]
        if inside:
            first = int(figure.compiled.tree.q_start[inside[0]])
            name = next(n for n, place in figure.compiled.q_slices.items() if place.start <= first < place.stop)
            raise TaskError(
                f"{solver} cannot move {site!r} of figure {figure.name!r}: joint {name!r} on the way to it is part of "
                f"the loop that {loop.name!r} closes."
            )


def _around(figure: Figure, loop: Joint) -> list[Joint]:
    """The tree joints of a loop: those above one of its ends but not above both."""
    hangs = {joint.child: joint for joint in figure.joints}

    def above(body: str | None) -> dict[str, Joint]:
        found = {}
        while body is not None and body in hangs:
            found[hangs[body].name] = hangs[body]
            body = hangs[body].parent
        return found

    one, other = above(loop.parent), above(loop.child)
    return [joint for name, joint in (one | other).items() if (name in one) != (name in other)]
