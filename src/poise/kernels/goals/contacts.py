"""Bodies that come near: rows that keep them apart, and rows that part them when they already touch."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.goals.goals import Evaluation
from poise.kernels.goals.load_rows import add_point_row
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import conjugate, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, dot, scale, subtract, vector_at

Array = np.ndarray


class Contacts(NamedTuple):
    """Pairs of points nearer than some distance; changed between steps."""

    used: Array
    """(1,) how many there are."""
    node_a: Array
    """(c,) node of the one body."""
    node_b: Array
    """(c,) node of the other, 0 for an obstacle."""
    point_a: Array
    """(c, 3) nearest point of the one [m]."""
    point_b: Array
    """(c, 3) nearest point of the other [m]."""
    normal: Array
    """(c, 3) unit vector from b to a."""
    distance: Array
    """(c,) distance less the margin to keep [m]; negative when too near."""


def make_contacts(most: int) -> Contacts:
    """Room for `most` pairs."""
    whole = np.int64
    return Contacts(
        np.zeros(1, dtype=whole),
        np.zeros(most, dtype=whole),
        np.zeros(most, dtype=whole),
        np.zeros((most, 3)),
        np.zeros((most, 3)),
        np.zeros((most, 3)),
        np.zeros(most),
    )


@kernel
def contact_row(tree: Tree, stance: Evaluation, contacts: Contacts, c: int, row: int, rows: Array) -> None:
    """rows[row] = rate of the distance of pair `c`."""
    for k in range(rows.shape[1]):
        rows[row, k] = 0.0
    n, zero = vector_at(contacts.normal, c), Vector(0.0, 0.0, 0.0)
    add_point_row(tree, stance, contacts.node_a[c], vector_at(contacts.point_a, c), n, zero, row, rows)
    add_point_row(tree, stance, contacts.node_b[c], vector_at(contacts.point_b, c), scale(n, -1.0), zero, row, rows)


@kernel(inline=True)
def fill_contacts(
    tree: Tree,
    stance: Evaluation,
    contacts: Contacts,
    at: int,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """One limit per pair: no nearer than allowed, or than it is. Rows of `general` and bounds as in `fill_fences`."""
    for c in range(contacts.distance.shape[0]):
        lower[offset + at + c], upper[offset + at + c] = -math.inf, math.inf
    for c in range(contacts.used[0]):
        contact_row(tree, stance, contacts, c, at + c, general)
        lower[offset + at + c] = min(0.0, -contacts.distance[c])


@kernel(inline=True)
def fill_partings(
    tree: Tree,
    stance: Evaluation,
    contacts: Contacts,
    last: int,
    largest: float,
    # outputs
    rows: Array,
    target: Array,
) -> int:
    """Rows that part pairs too near, written upwards from row `last`; returns the first one used."""
    row = last
    for c in range(contacts.used[0]):
        if contacts.distance[c] < 0.0:
            row -= 1
            contact_row(tree, stance, contacts, c, row, rows)
            target[row] = min(largest, -contacts.distance[c])
    return row


@kernel(inline=True)
def parting_error(here: Evaluation, there: Evaluation, contacts: Contacts) -> float:
    """What pairs that were too near lack of their distance, their points carried along from one stance to another."""
    total = 0.0
    for c in range(contacts.used[0]):
        if contacts.distance[c] < 0.0:
            a = _carried(here, there, contacts.node_a[c], vector_at(contacts.point_a, c))
            b = _carried(here, there, contacts.node_b[c], vector_at(contacts.point_b, c))
            lack = min(0.0, contacts.distance[c] + dot(vector_at(contacts.normal, c), subtract(a, b)))
            total += lack * lack
    return math.sqrt(total)


@kernel
def _carried(here: Evaluation, there: Evaluation, node: int, point: Vector) -> Vector:
    """How far a point of a node goes."""
    arm = rotate(conjugate(quaternion_at(here.rotation, node)), subtract(point, vector_at(here.position, node)))
    place = rotate(quaternion_at(there.rotation, node), arm)
    return subtract(add(vector_at(there.position, node), place), point)
