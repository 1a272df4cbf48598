"""Goals of equilibrium tasks, and invalid arguments."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Equilibrium, Force, Gravity, Support, TaskError
from poise.kernels.goals.goals import BALANCE_GOAL, STAND_GOAL
from tests.unit.figure.model.samples import two_links

FEET = (Support("left_foot"), Support("right_foot"))


def test_supports_without_shares_are_open() -> None:
    figure = poise.load("human").with_floating_base()
    assert Equilibrium(FEET).goals(figure)[0].kind == STAND_GOAL
    assert Equilibrium((Support("left_foot", 0.2), Support("right_foot"))).goals(figure)[0].kind == BALANCE_GOAL
    assert Equilibrium().goals(figure, FEET)[0].kind == STAND_GOAL


def test_open_supports_stand_across_gravity() -> None:
    figure = poise.load("human").with_floating_base()
    goal = Equilibrium((*FEET, Gravity((0.0, -6.0, 8.0)))).goals(figure)[0]
    assert goal.up == pytest.approx([0.0, 0.6, -0.8])


def test_a_tied_figure_is_carried_by_its_root() -> None:
    goal = Equilibrium().goals(two_links())[0]
    assert goal.kind == BALANCE_GOAL
    assert goal.loads is not None
    assert goal.loads.share.tolist() == [[1.0, 1.0]]


def test_its_own_forces_go_before_those_of_the_solve() -> None:
    push = Force("tip", (0.0, 1.0, 0.0))
    assert Equilibrium().acting(two_links(), [push]).forces == (push,)
    assert Equilibrium(forces=()).acting(two_links(), [push]).forces == ()


def test_what_cannot_rest_is_refused() -> None:
    figure = poise.load("human").with_floating_base()
    with pytest.raises(TaskError, match="can only rest on supports"):
        Equilibrium().goals(figure)
    with pytest.raises(TaskError, match="has no weight to balance"):
        Equilibrium((*FEET, Gravity((0, 0, 0)))).goals(figure)
    with pytest.raises(TaskError, match="margin must be a length"):
        Equilibrium(margin=-0.1)
    with pytest.raises(TaskError, match="a load must be a Force"):
        Equilibrium(forces=["push"]).goals(figure)  # type: ignore[list-item]


def test_without_weight_moments_are_measured_by_the_forces() -> None:
    loads = (Gravity((0, 0, 0)), Force("tip", (3.0, 0.0, 4.0)))
    assert Equilibrium(loads).goals(two_links())[0].value == pytest.approx(0.2)
    assert np.array_equal(Equilibrium(loads).goals(two_links())[0].directions, np.eye(3))
