"""Which pairs of solids are worth watching.

Never watched: two obstacles, and solids that cannot move against each other (bodies joined rigidly; an obstacle and a
body at rest in the world).

Not watched unless included: bodies that a joint joins, tree joint or loop joint, also across bodies without solids
between them, whose shapes meet at the joint by design.

Not watched unless included: two solids of the figure that always touch, that is, are nearer than `TOUCHING` in the
neutral posture and in at least `NEARLY_ALL` of `TRIALS` random legal postures (drawn with a fixed seed; loops are not
closed in them). No posture could keep them apart, so a limit on their distance would only stop the figure. An
obstacle is always watched: whoever put it where the figure always is should hear of it.
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

TOUCHING = 0.002
"""Solids nearer than this touch [m]."""
TRIALS, NEARLY_ALL = 100, 95


def checked_names(given: Names, known: Sequence[str], what: str, owner: str) -> set[frozenset[str]]:
    """Pairs of names of bodies and obstacles, in either order."""
    found = set()
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise FigureError(f"{what}= takes pairs of names such as ('left_hand', 'head'), not {pair!r}.")
        for name in pair:
            if name not in known:
                hint = suggestion(str(name), known)
                raise FigureError(f"{what}= names {name!r}, which is no solid body of {owner} and no obstacle.{hint} "
                                  f"Known are: {listing(known)}.")  # fmt: skip
        found.add(frozenset(pair))
    return found


def movable_pairs(solids: Sequence[Solid]) -> list[Pair]:
    """Pairs of solids that can move against each other, the one on a body first."""
    return [
        (i, j) for j, b in enumerate(solids) for i, a in enumerate(solids[:j]) if a.node != b.node and not a.is_obstacle
    ]


def joined_nodes(figure: Figure, solids: Sequence[Solid]) -> set[frozenset[int]]:
    """Nodes with solids that a joint joins, also across nodes without any."""
    parent = figure.compiled.tree.parent
    bearing = {solid.node for solid in solids if not solid.is_obstacle}

    def bearer(node: int) -> int:
        """The nearest node with solids, `node` itself or above it."""
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
    """All pairs to watch but for those that always touch."""
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
    watched = {frozenset((solids[i].owner, solids[j].owner)) for i, j in pairs}
    for names in include - watched:
        both = " and ".join(repr(name) for name in sorted(names))
        raise FigureError(f"include= asks to keep {both} apart, which cannot move against each other.")
