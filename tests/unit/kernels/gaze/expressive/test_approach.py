"""The target that a way is weighed with: predicted for some frames, then at rest."""

import math

import numpy as np
import pytest

import poise
from poise.kernels.chains.chain import pointing, tip_rotation
from poise.kernels.gaze.expressive.approach import STRAIGHT, Motion, Pace, Way, frame_cost, rollout, target_after
from poise.kernels.gaze.expressive.workspace import GOAL_ROW, PREVIOUS_ROW, WORKSPACE_ROWS
from poise.kernels.gaze.measures import DIRECTED, Aim
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector

UPSIDE = Aim(Quaternion(1.0, 0.0, 0.0, 0.0), DIRECTED)
"""A target in the direction +Y."""


def tilt(target: Motion, frames: int) -> float:
    """Degrees by which the predicted target has turned from +Y about +X."""
    d = pointing(target_after(target, frames).rotation)
    return math.degrees(math.atan2(d.z, d.y))


def test_a_target_turns_on_for_the_predicted_frames_and_then_rests() -> None:
    target = Motion(UPSIDE, Vector(math.radians(1.0), 0.0, 0.0), 30)
    assert [tilt(target, frames) for frames in (0, 1, 10, 30, 31, 200)] == pytest.approx([0, 1, 10, 30, 30, 30])


def test_a_fast_target_is_predicted_for_no_more_than_60_degrees() -> None:
    target = Motion(UPSIDE, Vector(math.radians(4.0), 0.0, 0.0), 60)
    assert [tilt(target, frames) for frames in (10, 15, 40)] == pytest.approx([40, 60, 60])


def test_a_way_costs_more_gaze_if_the_target_runs_away_from_it() -> None:
    """A straight way to a goal ahead: nothing is off while the target rests at it, much if it moves on meanwhile."""
    solver = poise.Expressive(poise.load("adelino"))
    posture, heading = solver.figure.neutral(), math.radians(40.0)
    aim = poise.facing([math.sin(heading), 0.5, math.cos(heading)], roll=None)
    goal = solver.limb.angles(solver.solve(posture, aim).posture)
    work = np.zeros((WORKSPACE_ROWS, len(goal)))
    work[GOAL_ROW], work[PREVIOUS_ROW] = goal, goal
    work[PREVIOUS_ROW, 0] -= math.radians(20.0)
    pace = Pace(math.radians(5.0), 1.0, 90, 0.0)
    seen = Aim(Quaternion(*aim.aim(solver.limb.up, np.zeros(3)).rotation), DIRECTED)

    def cost(degrees_per_frame: float) -> float:
        turn = Vector(0.0, math.radians(degrees_per_frame), 0.0)
        target, way, wanted = Motion(seen, turn, 30), Way(4, 0, STRAIGHT), solver.limb.angles(posture)
        chain, scoring, most = solver.limb.chain, solver.scoring, math.inf
        total, _ = rollout(chain, scoring, pace, target, wanted, way, most, work, PREVIOUS_ROW, GOAL_ROW)
        return float(total)

    assert cost(-2.0) < cost(0.0) < cost(2.0)


def test_a_lost_gaze_costs_the_same_however_far_it_is_off_and_slack_costs_nothing() -> None:
    solver = poise.Expressive(poise.load("adelino"))
    angles = np.zeros(len(solver.limb.joints))

    def cost(degrees_off: float, slack: float) -> float:
        off, pace = math.radians(degrees_off), Pace(math.radians(5.0), 1.0, 90, math.radians(slack))
        d = Vector(0.0, math.cos(off), math.sin(off))
        return float(frame_cost(solver.limb.chain, solver.scoring, pace, d, angles, angles))

    straight_up = pointing(tip_rotation(solver.limb.chain, angles))
    assert straight_up.y == pytest.approx(1.0)
    assert cost(3.0, 0.0) == pytest.approx(math.radians(3.0))
    assert cost(40.0, 0.0) == pytest.approx(cost(170.0, 0.0))
    assert cost(3.0, 4.0) == pytest.approx(0.0)
    assert cost(5.0, 4.0) == pytest.approx(math.radians(1.0))
