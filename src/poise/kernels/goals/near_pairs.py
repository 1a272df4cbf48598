"""Contacts of a step, from a measurement of distances, and the active sets that follow them from step to step."""

import numpy as np

from poise.kernels.distances.clearance import Clearances
from poise.kernels.distances.solids import Rows
from poise.kernels.goals.contacts import Contacts
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import put_vector, vector_at

Array = np.ndarray

MOVES, STANDS = -2, -1
"""Nodes that can move in more than one way, and nodes that tasks hold where they are."""
NEGLIGIBLE_PENETRATION = 1e-5
"""Violation of the margin that is not corrected [m]."""


@kernel
def add_contacts(
    rows: Rows,
    clearances: Clearances,
    count: int,
    largest: float,
    first_pair: int,
    motion: Array,
    # outputs
    contacts: Contacts,
    pairs: Array,
) -> None:
    """Add the first `count` rows of a measurement, up to a largest clearance, to the contacts in use.

    Args:
        rows: The measurement.
        clearances: Its clearances.
        count: Number of its rows.
        largest: Largest clearance of a row to add [m].
        first_pair: Number of its first pair, among the pairs of all measurements.
        motion: (n,) how each node can move in the next step: MOVES, STANDS, or the one velocity that moves it.
        contacts: The contacts; rows for which there is no place are left out.
        pairs: (c,) number of the pair of each contact.
    """
    for r in range(count):
        c, clearance = contacts.used[0], clearances.of_rows[r]
        a, b = motion[rows.node_a[r]], motion[rows.node_b[r]]
        if clearance > largest or c == pairs.shape[0] or (a == STANDS and b == STANDS):
            continue
        contacts.dof[c] = -1 if a == MOVES or b == MOVES or (a != b and a != STANDS and b != STANDS) else max(a, b)
        contacts.used[0] = c + 1
        contacts.node_a[c], contacts.node_b[c], pairs[c] = rows.node_a[r], rows.node_b[r], first_pair + rows.pair[r]
        put_vector(contacts.point_a, c, vector_at(rows.point_a, r))
        put_vector(contacts.point_b, c, vector_at(rows.point_b, r))
        put_vector(contacts.normal, c, vector_at(rows.normal, r))
        contacts.distance[c] = 0.0 if -NEGLIGIBLE_PENETRATION < clearance < 0.0 else clearance


@kernel
def follow_contacts(before: Array, now: Array, first: int, side: Array, kept: Array) -> None:
    """Let active sets follow the contacts from their places in the last step to those in the next.

    A limit that was active is then tried first again, wherever its pair stands in the list.

    Args:
        before: (c,) pairs of the contacts of the last step, in order.
        now: (d,) pairs of those of the next.
        first: Limit of the first contact.
        side: (levels, limits) active sets: see `LevelsWork.side`.
        kept: (d,) workspace.
    """
    for k in range(side.shape[0]):
        i = 0
        for j in range(now.shape[0]):
            while i < before.shape[0] and before[i] < now[j]:
                i += 1
            kept[j] = 0
            if i < before.shape[0] and before[i] == now[j]:
                kept[j] = side[k, first + i]
                i += 1
        for j in range(max(before.shape[0], now.shape[0])):
            side[k, first + j] = kept[j] if j < now.shape[0] else 0
