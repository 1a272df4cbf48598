"""Contacts of a step, from a measurement of distances."""

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
