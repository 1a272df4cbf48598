"""Contacts between bodies: limits that keep near bodies apart, and rows that separate bodies that are too near."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, add_wrench_row
from poise.kernels.goals.goals import Evaluation
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import conjugate, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, dot, scale, subtract, vector_at

Array = np.ndarray

LEAST_RATE = 1e-9
"""Rate of a distance below which a velocity does not change it [m/rad]."""


class Contacts(NamedTuple):
    """Pairs of nearest points of two near bodies; changed between steps."""

    used: Array
    """(1,) how many of the c entries are in use."""
    node_a: Array
    """(c,) node of body a."""
    node_b: Array
    """(c,) node of body b, 0 for an obstacle."""
    point_a: Array
    """(c, 3) point of body a that is nearest to body b [m]."""
    point_b: Array
    """(c, 3) point of body b that is nearest to body a [m]."""
    normal: Array
    """(c, 3) unit vector from b to a."""
    distance: Array
    """(c,) distance minus the margin to keep [m]; negative when the bodies are too near."""
    dof: Array
    """(c,) the one velocity that can change the distance while tasks hold all other bodies; -1 if there are more."""
    force: Array
    """(c,) force with which each pair pushes apart: the multiplier of its limit."""


def make_contacts(most: int) -> Contacts:
    """Allocate arrays for at most `most` pairs."""
    whole = np.int64
    return Contacts(
        np.zeros(1, dtype=whole),
        np.zeros(most, dtype=whole),
        np.zeros(most, dtype=whole),
        np.zeros((most, 3)),
        np.zeros((most, 3)),
        np.zeros((most, 3)),
        np.zeros(most),
        np.zeros(most, dtype=whole),
        np.zeros(most),
    )


@kernel
def contact_row(tree: Tree, evaluation: Evaluation, contacts: Contacts, c: int, row: int, rows: Array) -> None:
    """rows[row] = derivative of the distance of pair `c`."""
    for k in range(rows.shape[1]):
        rows[row, k] = 0.0
    n, zero = vector_at(contacts.normal, c), Vector(0.0, 0.0, 0.0)
    add_wrench_row(
        tree,
        evaluation.position,
        evaluation.axes,
        contacts.node_a[c],
        vector_at(contacts.point_a, c),
        n,
        zero,
        row,
        rows,
    )
    add_wrench_row(
        tree,
        evaluation.position,
        evaluation.axes,
        contacts.node_b[c],
        vector_at(contacts.point_b, c),
        scale(n, -1.0),
        zero,
        row,
        rows,
    )


@kernel(inline=True)
def fill_contacts(
    tree: Tree,
    evaluation: Evaluation,
    contacts: Contacts,
    at: int,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """Write one limit per pair: it comes no nearer than its margin, or no nearer than it is if it is too near already.

    Rows of `general` and entries of the bounds are numbered as in `fill_support_edges`; the bounds begin with those of
    all velocities. A pair whose distance depends on one velocity alone bounds that velocity instead, because several
    such pairs would have limits that are multiples of each other.
    """
    for c in range(contacts.distance.shape[0]):
        lower[offset + at + c], upper[offset + at + c] = -math.inf, math.inf
    for c in range(contacts.used[0]):
        contact_row(tree, evaluation, contacts, c, at + c, general)
        nearest, dof = min(0.0, -contacts.distance[c]), contacts.dof[c]
        if dof < 0:
            lower[offset + at + c] = nearest
            continue
        rate = general[at + c, dof]
        if rate > LEAST_RATE:
            lower[dof] = max(lower[dof], nearest / rate)
        elif rate < -LEAST_RATE:
            upper[dof] = min(upper[dof], nearest / rate)


@kernel(inline=True)
def fill_separations(
    tree: Tree,
    evaluation: Evaluation,
    contacts: Contacts,
    last: int,
    largest: float,
    # outputs
    rows: Array,
    target: Array,
) -> int:
    """Write rows that separate the pairs that are too near, from row `last` - 1 upwards; returns the first row used."""
    row = last
    for c in range(contacts.used[0]):
        if contacts.distance[c] < 0.0:
            row -= 1
            contact_row(tree, evaluation, contacts, c, row, rows)
            target[row] = min(largest, -contacts.distance[c])
    return row


@kernel(inline=True)
def separation_error(current: Evaluation, trial: Evaluation, contacts: Contacts) -> float:
    """Size of the margin violations, in the posture `trial`, of the pairs that are too near in the posture `current`.

    The nearest points are those of `current`, fixed to their bodies.
    """
    total = 0.0
    for c in range(contacts.used[0]):
        if contacts.distance[c] < 0.0:
            lack = min(0.0, distance_after(current, trial, contacts, c))
            total += lack * lack
    return math.sqrt(total)


@kernel
def distance_after(current: Evaluation, trial: Evaluation, contacts: Contacts, c: int) -> float:
    """Distance of pair `c`, less its margin, in the posture `trial`; its nearest points are those of `current`."""
    a = _displacement(current, trial, contacts.node_a[c], vector_at(contacts.point_a, c))
    b = _displacement(current, trial, contacts.node_b[c], vector_at(contacts.point_b, c))
    return contacts.distance[c] + dot(vector_at(contacts.normal, c), subtract(a, b))


@kernel
def _displacement(current: Evaluation, trial: Evaluation, node: int, point: Vector) -> Vector:
    """Displacement of a `point` fixed to a node, from one posture to the other."""
    arm = rotate(conjugate(quaternion_at(current.rotation, node)), subtract(point, vector_at(current.position, node)))
    place = rotate(quaternion_at(trial.rotation, node), arm)
    return subtract(add(vector_at(trial.position, node), place), point)
