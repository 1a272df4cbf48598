"""Where a target is missed, a solve also tries the limb's other branches, such as a shoulder that is turned over."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise import Frame, Position, Solver
from poise.engine.reach import other_branches
from poise.figure import Builder, revolute

BELOW = 0.02
"""How far the second axis of a shoulder is below the first [m]: above it if the shoulder is turned over."""


def torso(*, limits: tuple[float, float] | None = None) -> poise.Figure:
    """A waist and two arms, whose shoulders have two axes that do not cross."""
    made = Builder("torso")
    made.body("pelvis")
    made.body("chest", parent="pelvis", joint=revolute("waist", "y", limits=(-0.2, 0.2)), at=(0, 0.3, 0))
    for side, x in (("left", 0.2), ("right", -0.2)):
        first = revolute(f"{side}_shoulder_pitch", "x", limits=limits)
        made.body(f"{side}_shoulder", parent="chest", joint=first, at=(x, 0.2, 0))
        made.body(f"{side}_arm", parent=f"{side}_shoulder", joint=revolute(f"{side}_roll", "z"), at=(0, -BELOW, 0))
        made.site(f"{side}_hand", f"{side}_arm", at=(np.sign(x) * 0.3, 0, 0))
    return made.build()


def high(figure: poise.Figure) -> Position:
    """A place that a hand reaches from above its shoulder alone."""
    shoulder = figure.pose_of("right_shoulder", figure.neutral())
    return Position("right_hand", at=shoulder.apply((-0.1, BELOW + math.sqrt(0.3**2 - 0.1**2), 0.0)))


def test_a_shoulder_is_turned_over_where_a_target_is_out_of_reach_otherwise() -> None:
    figure = torso()
    task = high(figure)
    alone = Solver(figure, [task]).settle(figure.neutral())
    assert alone.status != "solved"
    assert poise.solve(figure, [task]).status == "solved"


def test_it_stays_where_the_limits_do_not_let_it() -> None:
    figure = torso(limits=(-1.0, 1.0))
    assert poise.solve(figure, [high(figure)]).status != "solved"


def test_a_level_above_loses_nothing_by_it() -> None:
    figure = torso()
    held = Frame("right_shoulder", figure.pose_of("right_shoulder", figure.neutral()))
    below = Position("right_hand", at=high(figure).at, priority=2)
    found = poise.solve(figure, [held, below])
    assert found.errors[held] < 1e-6
    assert found.errors[below] > 1e-3


def test_the_other_arm_and_the_waist_stay() -> None:
    figure = torso()
    here = Solver(figure, [high(figure)]).settle(figure.neutral()).posture
    found = list(other_branches(here, [high(figure)]))
    assert found
    for posture in found:
        for name in ("waist", "left_shoulder_pitch", "left_roll"):
            assert posture[name] == here[name]


@pytest.mark.parametrize("figure", ["arm", "walker"])
def test_figures_without_a_limb_beside_others_or_with_loops_have_none(figure: str) -> None:
    made = poise.load(figure)
    site = next(iter(made.sites.names))
    assert list(other_branches(made.neutral(), [Position(site, at=(3, 3, 3))])) == []


def test_a_solve_that_is_stopped_or_avoids_something_does_not_jump() -> None:
    figure = torso()
    task = high(figure)
    stopped = poise.solve(figure, [task], max_steps=2)
    assert stopped.posture == Solver(figure, [task]).settle(figure.neutral(), max_steps=2).posture
    wall = poise.Plane("y", offset=-5.0)
    assert poise.solve(figure, [task], obstacles=[wall]).status != "solved"
