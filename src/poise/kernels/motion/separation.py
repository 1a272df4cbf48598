"""Springs that keep the parts of a figure apart in a weighted fit.

A pair of parts whose distance d is below the distance to keep k adds the cost w (k - d - J x)² to the quadratic of
`poise.kernels.motion.weighted_fit`, with J the derivative of d; a pair that is farther apart adds nothing. Cost and
gradient are continuous where a pair enters or leaves. Since w is far above the weights of the goals, parts keep most of
the distance k: they do not touch, so that the nearest points of convex solids move continuously with the posture.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, add_wrench_row, forward
from poise.kernels.distances.all_pairs import nearest_compiled
from poise.kernels.distances.solids import Placed, Rows, Solids, Watched
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.indirect_calls import call_evaluate_current
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, scale, vector_at

Array = np.ndarray


class Separation(NamedTuple):
    """The pairs to keep apart, as `poise.kernels.distances.all_pairs` measures them; `watched.reach` is k [m]."""

    solids: Solids
    watched: Watched
    placed: Placed
    rows: Rows
    weight: float
    """w."""
    row: Array
    """(1, nv) workspace for J."""


def no_separation(nv: int) -> Separation:
    """Arrays that keep nothing apart."""
    return Separation(
        Solids(solids=0, ends=1, vertices=0, three=3, four=4),
        Watched(pairs=0, planes=0, all_pairs=0, three=3),
        Placed(solids=0, pairs=0, three=3, four=4, eight=8),
        Rows(rows=0, three=3),
        0.0,
        np.zeros((1, nv)),
    )


@kernel(counts_references=True)
def distance_rate(engine: Engine, rows: Rows, r: int, row: Array) -> None:
    """row[0] = derivative of the distance of row `r` of a measurement at the engine's posture."""
    for a in range(row.shape[1]):
        row[0, a] = 0.0
    current, n, zero = engine.current, vector_at(rows.normal, r), Vector(0.0, 0.0, 0.0)
    add_wrench_row(
        engine.tree, current.position, current.axes, rows.node_a[r], vector_at(rows.point_a, r), n, zero, 0, row
    )
    add_wrench_row(
        engine.tree, current.position, current.axes, rows.node_b[r], vector_at(rows.point_b, r), scale(n, -1.0), zero,
        0, row,
    )  # fmt: skip


@kernel(counts_references=True)
def measure_separation(engine: Engine, apart: Separation) -> int:
    """Measure all pairs at the engine's posture; returns the number of rows, one per pair nearer than its reach."""
    if apart.watched.first.shape[0] == 0:
        return 0
    current = engine.current
    count, _ = nearest_compiled(
        apart.solids, apart.watched, current.position, current.rotation, apart.placed, apart.rows
    )
    return count


@kernel(counts_references=True)
def overlaps(engine: Engine, apart: Separation, q: Array) -> bool:
    """Whether parts that should be apart penetrate in posture `q` (nq,)."""
    if apart.watched.first.shape[0] == 0:
        return False
    call_evaluate_current(engine.calls, engine, q)
    for r in range(measure_separation(engine, apart)):
        if apart.rows.distance[r] < min(0.0, apart.watched.reach[apart.rows.pair[r]]):
            return True
    return False


@kernel(counts_references=True)
def clip_depths(
    tree: Tree,
    clip: Array,
    solids: Solids,
    watched: Watched,
    placed: Placed,
    rows: Rows,
    # outputs
    depth: Array,
    pair: Array,
) -> None:
    """In every frame of a clip (frames, nq), the pair that is deepest below its reach.

    Args:
        tree: The figure's tree.
        clip: Postures.
        solids: Parts of the figure.
        watched: Pairs to measure; depths count from their reach.
        placed: Workspace.
        rows: Workspace.
        depth: (frames,) greatest depth, 0 where no pair is nearer than its reach [m].
        pair: (frames,) its pair, -1 for none.
    """
    position, rotation = np.empty((tree.parent.shape[0], 3)), np.empty((tree.parent.shape[0], 4))
    for frame in range(clip.shape[0]):
        forward(tree, clip[frame], position, rotation)
        count, _ = nearest_compiled(solids, watched, position, rotation, placed, rows)
        depth[frame], pair[frame] = 0.0, -1
        for r in range(count):
            lack = watched.reach[rows.pair[r]] - rows.distance[r]
            if lack > depth[frame]:
                depth[frame], pair[frame] = lack, rows.pair[r]
