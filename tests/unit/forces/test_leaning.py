"""Postures made to balance: fixed reactions, then a Newton step on the unbalanced moment, repeatedly.

Forces that leave the least rest change it only to second order when they change, so the rows of equilibrium with these
forces among the wrenches lead a posture to where the friction cones suffice.
"""

import numpy as np
import pytest

from poise.forces import Force, Support, acting_on, balance, equilibrium_error, find_reactions
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import center_of_mass
from poise.kernels.forces.equilibrium import equilibrium_rows
from poise.kernels.maths.vector import Vector
from tests.unit.forces.scenes import FEET, human

PUSHING = (Force("left_hand", (0.0, 0.0, -60.0)), Force("right_hand", (0.0, 0.0, -60.0)))
"""Fig. 7.17: a heavy object pushes back at both hands."""


def held_moment(posture, acting):
    """Moment and its Jacobian with fixed reactions, those of this posture."""
    figure = human()
    reactions = find_reactions(figure, posture, acting.forces, acting.supports)
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, posture._q)
    centers = np.empty_like(position)
    center_of_mass(tree, position, rotation, centers)
    middle = Vector(*reactions.contact_point.mean(axis=0).tolist())
    error, rows = np.empty(3), np.empty((3, figure.nv))
    table = reactions.wrenches(acting)
    equilibrium_rows(tree, position, rotation, axes, centers, table, acting.gravity, middle, error, rows)
    return reactions, error, rows


def stepped(posture, targets, error, rows):
    """One damped step of least norm that keeps the feet where they were and reduces the moment."""
    figure = human()
    J, e = [], []
    for name, wanted in targets.items():
        J.append(figure.jacobian(name, posture))
        here = figure.pose_of(name, posture)
        turn = (wanted @ here.inverse()).rotation
        e += [*(wanted.position - here.position), *(2.0 * np.sign(turn[0]) * turn[1:])]
    size = figure.mass * 9.80665
    J, e = np.vstack([*J, rows / size]), np.append(e, -error / size)
    step = J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(len(e)), e)
    return figure.integrate(posture, step * min(1.0, 0.3 / np.abs(step).max()))


def test_a_figure_leans_against_what_it_pushes():
    acting = acting_on(human(), PUSHING, FEET)
    posture = human().neutral()
    targets = {name: human().pose_of(name, posture) for name in ("left_foot", "right_foot")}
    start = balance(human(), posture, PUSHING, FEET)
    assert not start.balanced
    for _ in range(60):
        reactions, error, rows = held_moment(posture, acting)
        if reactions.balanced:
            break
        posture = stepped(posture, targets, error, rows)
    assert reactions.balanced
    leaned = human().center_of_mass(posture) - human().center_of_mass(human().neutral())
    assert leaned[2] > 0.02
    assert leaned[2] >= -start.margin - 1e-3


def test_weight_shifts_over_the_foot_that_bears_it():
    """Fig. 7.15: with most of the weight on the right foot, balance puts the centre of mass nearer to it."""
    figure = human()
    feet = [Support("left_foot", 0.2), Support("right_foot", 0.8)]
    posture = figure.neutral()
    targets = {name: figure.pose_of(name, posture) for name in ("left_foot", "right_foot")}
    for _ in range(60):
        moment = equilibrium_error(figure, posture, supports=feet)
        posture = stepped(posture, targets, moment.error, moment.jacobian)
    assert equilibrium_error(figure, posture, supports=feet).error == pytest.approx(np.zeros(3), abs=1e-3)
    left, right = (targets[name].position for name in ("left_foot", "right_foot"))
    wanted = 0.2 * left + 0.8 * right
    assert figure.center_of_mass(posture)[[0, 2]] == pytest.approx(wanted[[0, 2]], abs=1e-5)
