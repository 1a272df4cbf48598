"""Rows of contacts against finite differences of the distances they are about."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.engine.engine_arrays import goal_arrays
from poise.kernels.goals.contacts import Contacts, fill_contacts, fill_separations, make_contacts, separation_error
from poise.kernels.goals.goals import Evaluation, make_evaluation
from poise.kernels.goals.near_pairs import follow_contacts
from tests.unit.kernels.goals.evaluation import evaluate

HUMAN = poise.load("human").with_floating_base()
TREE, GOALS = HUMAN.compiled.tree, goal_arrays(HUMAN, [], [])


def evaluation_at(q: np.ndarray) -> Evaluation:
    evaluation = make_evaluation(TREE, GOALS)
    evaluate(TREE, GOALS, q, evaluation)
    return evaluation


def one_contact(seed: int, distance: float) -> Contacts:
    """A random contact between two nodes, or between a node and the world."""
    rng = np.random.default_rng(seed)
    contacts = make_contacts(3)
    contacts.used[0] = 1
    contacts.node_a[0], contacts.node_b[0] = (
        rng.integers(1, len(TREE.parent)),
        seed % 2 * rng.integers(len(TREE.parent)),
    )
    contacts.point_a[0], contacts.point_b[0] = rng.normal(size=3), rng.normal(size=3)
    normal = rng.normal(size=3)
    contacts.normal[0], contacts.distance[0] = normal / np.linalg.norm(normal), distance
    contacts.dof[0] = -1
    return contacts


@pytest.mark.parametrize("seed", range(6))
def test_a_row_is_the_derivative_of_the_distance(seed: int) -> None:
    posture, contacts = HUMAN.random(seed), one_contact(seed, -0.5)
    here = evaluation_at(posture._q)
    general, bound = np.zeros((5, HUMAN.nv)), np.zeros(HUMAN.nv + 5)
    fill_contacts(TREE, here, contacts, 2, HUMAN.nv, general, bound, bound.copy())
    h = 1e-6
    for k, nudge in enumerate(h * np.eye(HUMAN.nv)):
        ahead, behind = (evaluation_at(HUMAN.integrate(posture, side * nudge)._q) for side in (1, -1))
        rate = -(separation_error(here, ahead, contacts) - separation_error(here, behind, contacts)) / (2.0 * h)
        assert general[2, k] == pytest.approx(rate, abs=1e-7)


def test_pairs_come_no_nearer_than_allowed_and_those_too_near_no_nearer_than_they_are() -> None:
    posture = HUMAN.random(0)
    here, general = evaluation_at(posture._q), np.zeros((3, HUMAN.nv))
    for distance, least in ((0.05, -0.05), (-0.05, 0.0)):
        lower, upper = np.zeros(HUMAN.nv + 3), np.zeros(HUMAN.nv + 3)
        fill_contacts(TREE, here, one_contact(1, distance), 0, HUMAN.nv, general, lower, upper)
        assert lower[HUMAN.nv :].tolist() == [least, -math.inf, -math.inf]
        assert upper[HUMAN.nv :].tolist() == [math.inf] * 3


def test_only_pairs_that_are_too_near_are_separated() -> None:
    here, rows, target = evaluation_at(HUMAN.random(0)._q), np.zeros((4, HUMAN.nv)), np.zeros(4)
    apart, inside, deep = one_contact(1, 0.01), one_contact(1, -0.01), one_contact(1, -2.0)
    assert fill_separations(TREE, here, apart, 4, 0.3, rows, target) == 4
    assert separation_error(here, here, apart) == 0.0
    assert fill_separations(TREE, here, inside, 4, 0.3, rows, target) == 3
    assert target[3] == 0.01
    assert separation_error(here, here, inside) == pytest.approx(0.01)
    fill_separations(TREE, here, deep, 4, 0.3, rows, target)
    assert target[3] == 0.3


@pytest.mark.parametrize(
    ("before", "active", "now", "expected"),
    [
        ([2, 5, 7], [1, 0, -1], [2, 5, 7], [1, 0, -1]),
        ([2, 5, 7], [1, 0, -1], [5, 7], [0, -1]),
        ([2, 5, 7], [1, 0, -1], [1, 2, 6, 7, 9], [0, 1, 0, -1, 0]),
        ([3, 3, 8], [1, -1, 1], [3, 4, 8, 8], [1, 0, 1, 0]),
        ([3], [1], [], []),
        ([], [], [4, 6], [0, 0]),
    ],
)
def test_limits_stay_active_where_the_pairs_of_other_contacts_come_and_go(
    before: list[int], active: list[int], now: list[int], expected: list[int]
) -> None:
    first, most = 2, 6
    side = np.zeros((2, first + most), dtype=np.int64)
    side[:, :first], side[:, first : first + len(active)] = 7, active
    kept = np.zeros(most, dtype=np.int64)
    follow_contacts(np.array(before, dtype=np.int64), np.array(now, dtype=np.int64), first, side, kept)
    assert side.tolist() == [[7, 7, *expected, *[0] * (most - len(expected))]] * 2
