"""Natural motion: what stays still, what bends, what a soft task does, and the likely posture it follows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Natural, Position
from poise.engine.problem import StepSize
from poise.tasks.criteria import default_criteria
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
LIVE = StepSize(turn=0.1)
"""As in the studio."""
FRAMES = 150


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def stands(human: poise.Figure, start: poise.Posture, feet: Sequence[str] = FEET) -> list[Task]:
    """The tasks of a standing figure."""
    return [*(Frame(foot, human.pose_of(foot, start)) for foot in feet), CenterOfMass(over=list(feet), priority=2)]


def pulled(
    human: poise.Figure, start: poise.Posture, site: str, by: Sequence[float], frames: int = 60
) -> list[poise.Posture]:
    """The postures of a figure while a site is pulled by a way, softly, in that many frames, and held there."""
    at = human.pose_of(site, start).position
    pull = Position(site, at, soft=True)
    solver = poise.Solver(human, [*stands(human, start, [f for f in FEET if f != site]), pull], step=LIVE)
    found = [start]
    for n in range(FRAMES):
        solver.target(pull, at + min(1.0, (n + 1) / frames) * np.array(by))
        found.append(solver.step(found[-1]))
    return found


def turn(human: poise.Figure, body: str, a: poise.Posture, b: poise.Posture) -> float:
    """Angle between the rotations of a body in two postures [degrees]."""
    trace = np.trace(human.pose_of(body, a).matrix.T @ human.pose_of(body, b).matrix)
    return float(np.degrees(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))))


def tilt(human: poise.Figure, body: str, posture: poise.Posture) -> float:
    """Angle between the vertical and a body's own upward axis [degrees]."""
    return float(np.degrees(np.arccos(np.clip(human.pose_of(body, posture).matrix[1, 1], -1.0, 1.0))))


@pytest.mark.parametrize("hand", ["left_hand", "right_hand"])
@pytest.mark.parametrize("by", [(0.0, 0.1, 0.0), (0.0, 0.0, 0.1), (0.0, 0.0, -0.1), (0.06, 0.05, 0.06)])
def test_a_small_pull_on_a_hand_leaves_trunk_and_head_still(
    human: poise.Figure, hand: str, by: tuple[float, float, float]
) -> None:
    start = human.posture("standing")
    postures = pulled(human, start, hand, by)
    assert np.linalg.norm(human.pose_of(hand, postures[-1]).position - human.pose_of(hand, start).position - by) < 1e-3
    for body in ("thorax", "head"):
        assert turn(human, body, start, postures[-1]) < 2.0


def test_a_pull_back_to_where_it_began_ends_where_it_began(human: poise.Figure) -> None:
    start = human.posture("standing")
    at = human.pose_of("right_hand", start).position
    pull = Position("right_hand", at, soft=True)
    solver, posture = poise.Solver(human, [*stands(human, start), pull], step=LIVE), start
    for n in range(300):
        solver.target(pull, at + (0.3 * np.sin(np.pi * min(1.0, n / 120)) * np.array([0.0, 1.0, 0.5])))
        posture = solver.step(posture)
    assert np.abs(human.difference(start, posture)).max() < 1e-3


@pytest.mark.parametrize("start", ["standing", "neutral"])
def test_a_pelvis_lowered_step_by_step_squats(human: poise.Figure, start: str) -> None:
    posture = human.posture(start)
    knee, top = -1.0, human.pose_of("pelvis", posture).position
    for height in np.arange(top[1], 0.45, -0.02):
        lower = Position("pelvis", (0.0, height, 0.0), axes="y", priority=3)
        result = poise.solve(human, [*stands(human, human.posture(start)), lower], start=posture)
        posture = result.posture
        assert result.errors[lower] < 1e-3
        assert tilt(human, "thorax", posture) < 45.0
        assert posture["left_knee"] > knee - 0.02
        knee = float(posture["left_knee"])
    assert np.degrees(knee) > 100.0


@pytest.mark.parametrize("start", ["standing", "neutral"])
def test_a_pelvis_pulled_down_squats_evenly(human: poise.Figure, start: str) -> None:
    postures = pulled(human, human.posture(start), "pelvis", (0.0, -0.45, 0.0))
    last = postures[-1]
    assert np.degrees(last["left_knee"]) > 90.0
    assert last["left_knee"] == pytest.approx(last["right_knee"], abs=0.05)
    assert max(tilt(human, "thorax", posture) for posture in postures) < 45.0
    assert max(np.abs(human.difference(a, b)).max() for a, b in pairwise(postures)) < 0.11


@pytest.mark.parametrize("start", ["standing", "neutral"])
@pytest.mark.parametrize("frames", [30, 60, 61, 90])
def test_a_lifted_foot_bends_its_knee(human: poise.Figure, start: str, frames: int) -> None:
    postures = pulled(human, human.posture(start), "right_foot", (0.0, 0.35, 0.15), frames)
    assert np.degrees(postures[-1]["right_knee"]) > 70.0
    assert max(tilt(human, "pelvis", posture) for posture in postures) < 15.0


def test_a_hand_on_the_floor_bends_the_knees(human: poise.Figure) -> None:
    start = human.posture("standing")
    at = human.pose_of("right_hand", start).position
    last = pulled(human, start, "right_hand", np.array([-0.25, 0.03, 0.35]) - at)[-1]
    assert np.degrees(last["left_knee"]) > 45.0
    assert human.pose_of("right_hand", last).position[1] < 0.04


def from_vertical(human: poise.Figure, posture: poise.Posture, side: str) -> float:
    """Angle between an upper arm and straight down [degrees]."""
    way = human.pose_of(f"{side}_ulna", posture).position - human.pose_of(f"{side}_upper_arm", posture).position
    return float(np.degrees(np.arccos(np.clip(-way[1] / np.linalg.norm(way), -1.0, 1.0))))


@pytest.mark.parametrize(("hand", "free"), [("right_hand", "left"), ("left_hand", "right")])
@pytest.mark.parametrize("place", [(0.25, 0.03, 0.35), (0.1, 0.05, 0.5), (0.3, 0.9, 0.9)])
def test_a_free_arm_hangs_when_the_trunk_bends(
    human: poise.Figure, hand: str, free: str, place: tuple[float, float, float]
) -> None:
    start = human.posture("standing")
    to = np.array(place) * ([-1.0, 1.0, 1.0] if hand == "right_hand" else 1.0)
    last = pulled(human, start, hand, to - human.pose_of(hand, start).position)[-1]
    assert tilt(human, "thorax", last) > 15.0
    assert from_vertical(human, last, free) < 45.0


@pytest.mark.parametrize("by", [(0.0, 1.25, 0.25), (-0.5, 0.5, 0.05), (0.0, 0.55, 0.6)])
def test_a_free_arm_stays_down_when_the_other_reaches(human: poise.Figure, by: tuple[float, float, float]) -> None:
    start = human.posture("standing")
    last = pulled(human, start, "right_hand", by)[-1]
    assert from_vertical(human, last, "left") < 45.0


def test_without_a_start_people_begin_with_the_likely_posture(human: poise.Figure) -> None:
    start = human.posture("standing")
    hand = Position("right_hand", (-0.25, 0.1, 0.4), priority=3)
    result = poise.solve(human, [*stands(human, start), hand])
    assert result.status == "solved"
    assert np.degrees(result.posture["left_knee"]) > 45.0


def test_what_the_tasks_reach_does_not_depend_on_it(human: poise.Figure) -> None:
    start = human.posture("standing")
    rng = np.random.default_rng(5)
    for _ in range(6):
        tasks = [*stands(human, start), Position("right_hand", (-0.3, 1.2, 0.3) + 0.2 * rng.normal(size=3), priority=3)]
        natural, plain = (poise.solve(human, tasks, start=start, criteria=c) for c in (None, ()))
        assert natural.status == plain.status == "solved"
        assert max(natural.errors[task] for task in tasks) < 1e-6


def test_it_is_the_default_for_people_only(human: poise.Figure) -> None:
    assert default_criteria(human) == (Natural(),)
    assert default_criteria(human, [poise.Hold("standing")]) == ()
    assert default_criteria(human, [poise.Equilibrium()]) == ()
    assert default_criteria(poise.load("walker")) == ()
    assert default_criteria(poise.figures.people.human_body.human(stature=1.2)) == (Natural(),)


def test_a_smaller_human_squats_too() -> None:
    child = poise.figures.people.human_body.human(stature=1.2)
    start = child.posture("standing")
    last = pulled(child, start, "pelvis", (0.0, -0.3, 0.0))[-1]
    assert np.degrees(last["left_knee"]) > 80.0
    assert tilt(child, "thorax", last) < 45.0


def test_a_task_that_may_move_an_arm_moves_nothing_else(human: poise.Figure) -> None:
    start = human.posture("standing")
    hand = Position("right_hand", (-0.4, 1.6, 0.5), joints="nearest branch", soft=True)
    posture = poise.solve(human, [*stands(human, start), hand], start=start).posture
    for joint in ("spine", "chest", "neck", "left_knee", "left_shoulder"):
        assert np.abs(human.difference(start, posture)[human.v_slice(joint)]).max() < 1e-6


def test_a_figure_that_is_no_human_moves_its_limb_first() -> None:
    walker = poise.load("walker")
    start = walker.neutral()
    site = walker.sites.names[0]
    at = walker.pose_of(site, start).position + np.array([0.0, 0.0, 0.01])
    solver = poise.Solver(walker, [Position(site, at)], criteria=[Natural()])
    posture = start
    for _ in range(30):
        posture = solver.step(posture)
    assert np.linalg.norm(walker.pose_of(site, posture).position - at) < 1e-4


class TestSoftTasks:
    def test_it_meets_what_it_can_reach(self, human: poise.Figure) -> None:
        start = human.posture("standing")
        hand = Position("right_hand", (-0.4, 1.2, 0.4), soft=True)
        result = poise.solve(human, [*stands(human, start), hand], start=start)
        assert result.errors[hand] < 1e-3

    def test_it_gives_way_to_every_level(self, human: poise.Figure) -> None:
        start = human.posture("standing")
        far = Position("right_hand", (-3.0, 1.2, 0.4), soft=True, priority=1)
        tasks = stands(human, start)
        result = poise.solve(human, [*tasks, far], start=start, max_steps=400)
        assert max(result.errors[task] for task in tasks) < 1e-6
        assert result.errors[far] > 1.0

    def test_it_works_without_other_criteria(self) -> None:
        arm = poise.load("arm")
        tip = arm.sites.names[-1]
        at = arm.pose_of(tip, arm.posture([0.3] * arm.nq)).position
        hand = Position(tip, at, soft=True)
        result = poise.solve(arm, [hand], start=arm.posture([0.2] * arm.nq))
        assert result.errors[hand] < 1e-4

    def test_its_line_in_the_report_says_so(self, human: poise.Figure) -> None:
        hand = Position("right_hand", (-0.4, 1.2, 0.4), soft=True)
        assert "soft" in poise.solve(human, [hand]).report()

    def test_supports_cannot_be_soft(self, human: poise.Figure) -> None:
        with pytest.raises(poise.TaskError, match="cannot be soft"):
            poise.Solver(human, [CenterOfMass(over=list(FEET), soft=True)])
