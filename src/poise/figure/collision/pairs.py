"""Selection of the pairs of solids whose distance is measured.

Never measured: two obstacles, and solids that cannot move relative to each other (bodies joined rigidly; an obstacle
and a body fixed to the world).

Not measured unless included: bodies connected by a tree or loop joint, also across bodies without solids between them.
Their shapes meet at the joint by design.

Not measured unless included: two solids of the figure that always touch, that is, are nearer than `TOUCHING_DISTANCE`
in the neutral posture and in at least `MIN_TOUCHES` of `TOUCH_TRIALS` random legal postures (drawn with a fixed seed,
without closing loops). No posture separates them, so a limit on their distance would only block the figure. Obstacles
are always measured, so that one that the figure always touches is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from poise.errors import FigureError
from poise.figure.collision.solids import Solid
from poise.figure.model.names import listing, suggestion

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

Names: TypeAlias = Iterable[Sequence[str]]
Pair: TypeAlias = tuple[int, int]

TOUCHING_DISTANCE = 0.002
"""Solids nearer than this touch [m]."""
TOUCH_TRIALS, MIN_TOUCHES = 100, 95
"""Random postures tried, and how many of them must touch for a pair to count as always touching."""


def checked_names(given: Names, known: Sequence[str], what: str, owner: str) -> set[frozenset[str]]:
    """The given pairs of names as sets; refuses anything but pairs of known names."""
    found = set()
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise FigureError(f"{what}= takes pairs of names such as ('left_hand', 'head'), not {pair!r}.")
        for name in pair:
            if name not in known:
                hint = suggestion(str(name), known)
                raise FigureError(f"{what}= names {name!r}, which is no solid body of {owner} and no obstacle.{hint} "
                                  f"Bodies and obstacles: {listing(known)}.")  # fmt: skip
        found.add(frozenset(pair))
    return found


def movable_pairs(solids: Sequence[Solid]) -> list[Pair]:
    """Pairs of solids that can move relative to each other, the one on a body first."""
    return [
        (i, j) for j, b in enumerate(solids) for i, a in enumerate(solids[:j]) if a.node != b.node and not a.is_obstacle
    ]


def joined_nodes(figure: Figure, solids: Sequence[Solid]) -> set[frozenset[int]]:
    """Pairs of nodes with solids that a joint connects, also across nodes without solids."""
    parent = figure.compiled.tree.parent
    bearing = {solid.node for solid in solids if not solid.is_obstacle}

    def bearer(node: int) -> int:
        """The nearest node with solids: `node` itself or an ancestor."""
        while node > 0 and node not in bearing:
            node = int(parent[node])
        return node

    joined = {frozenset((node, bearer(int(parent[node])))) for node in bearing if node > 0}
    ride = figure.compiled.attached.node
    for loop in figure.loops:
        ends = [
            int(ride[figure.bodies.names.index(end)]) if end is not None else 0 for end in (loop.parent, loop.child)
        ]
        joined.add(frozenset(bearer(end) for end in ends))
    return joined


def candidate_pairs(
    figure: Figure, solids: Sequence[Solid], itself: bool, exclude: set[frozenset[str]], include: set[frozenset[str]]
) -> list[Pair]:
    """All pairs to measure; those that always touch are not removed yet."""
    joined = joined_nodes(figure, solids)
    pairs = []
    for i, j in movable_pairs(solids):
        a, b = solids[i], solids[j]
        names = frozenset((a.owner, b.owner))
        usual = b.is_obstacle or (itself and frozenset((a.node, b.node)) not in joined)
        if names in include or (usual and names not in exclude):
            pairs.append((i, j))
    _check_included(solids, include, pairs)
    return pairs


def _check_included(solids: Sequence[Solid], include: set[frozenset[str]], pairs: Sequence[Pair]) -> None:
    """Refuse included pairs that cannot move relative to each other."""
    watched = {frozenset((solids[i].owner, solids[j].owner)) for i, j in pairs}
    for names in include - watched:
        both = " and ".join(repr(name) for name in sorted(names))
        raise FigureError(f"include= names {both}, which cannot move relative to each other.")
