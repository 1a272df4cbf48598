"""Tasks with `joints=` move those joints and nothing else, whatever the other tasks are."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Distance, Frame, Hold, LookAt, Orientation, Position, Solver
from poise.engine.recruitment import parts_of
from poise.figure.assembly.followers import with_followers
from poise.tasks.task import Task, recruited

EXACT = 1e-6
"""What a joint may move that no task moves [rad or m]."""
ARM = ("right_clavicle", "right_shoulder", "right_elbow", "right_forearm", "right_wrist")
NECK = ("neck", "head")


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    """The built-in human."""
    return poise.load("human")


def moved(before: poise.Posture, after: poise.Posture, but: tuple[str, ...]) -> float:
    """Largest motion of a joint that is not among those named [rad or m]."""
    figure = before.figure
    others = [name for name in figure.moving_joints if name not in but]
    difference = figure.difference(before, after)
    return max((float(np.abs(difference[figure.v_slice(name)]).max(initial=0.0)) for name in others), default=0.0)


def tasks_above(human: poise.Figure, rng: np.random.Generator, start: poise.Posture) -> list[Task]:
    """Feet on the ground, and a centre of mass, a gaze and the other hand, or some of them, met or not."""
    feet: list[Task] = [Frame(foot, human.pose_of(foot, start)) for foot in ("left_foot", "right_foot")]
    centre = human.center_of_mass(start) + rng.normal(size=3) * 0.04
    others: list[Task] = [
        CenterOfMass(at=centre, axes=str(rng.choice(["xyz", "xz"])), priority=2),
        LookAt("eyes", at=rng.normal(size=3) * 2.0, priority=3),
        Position("left_hand", at=human.pose_of("left_hand", human.random(rng)).position, priority=4),
    ]
    return feet + [task for task in others if rng.integers(3)]


@pytest.mark.parametrize("seed", range(12))
def test_the_rest_of_the_human_does_as_if_the_task_were_not_there(human: poise.Figure, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = human.posture("standing") if seed % 2 else human.random(rng)
    above, criteria = tasks_above(human, rng, start), None if seed % 3 else ()
    hand = human.pose_of("right_hand", human.random(rng)).position
    task = Position("right_hand", at=hand, joints=ARM, priority=5)
    without = poise.solve(human, above, start=start, criteria=criteria)
    found = poise.solve(human, [*above, task], start=start, criteria=criteria)
    assert moved(without.posture, found.posture, ARM) < EXACT
    for other in above:
        assert found.errors[other] < without.errors[other] + EXACT
    at_first = float(np.linalg.norm(np.array(human.pose_of("right_hand", without.posture).position) - hand))
    assert found.errors[task] < at_first + EXACT


@pytest.mark.parametrize("name", ["human", "walker", "arm", "cyclist", "hand", "dancer"])
@pytest.mark.parametrize("seed", range(4))
def test_random_masks_on_many_figures(name: str, seed: int) -> None:
    figure, rng = poise.load(name), np.random.default_rng(seed)
    start = figure.clamp(figure.random(rng)) if not len(figure.loops) else figure.neutral()
    bodies = [str(body) for body in rng.choice(figure.bodies.names, size=3)]
    above = [
        Position(body, at=figure.pose_of(body, start).position + rng.normal(size=3) * 0.05, axes=axes, priority=k + 1)
        for k, (body, axes) in enumerate(zip(bodies, ("xyz", "x", "yz"), strict=True))
    ]
    chosen = [str(joint) for joint in rng.choice(figure.moving_joints, size=3)]
    free = tuple(with_followers(figure, chosen))
    site = str(rng.choice(figure.bodies.names))
    wanted = figure.pose_of(site, start).rotation
    task = Orientation(
        site, rotation=wanted + rng.normal(size=4) * 0.3, joints=chosen, priority=int(rng.integers(3, 5))
    )
    without = poise.solve(figure, above, start=start)
    found = poise.solve(figure, [*above, task], start=start)
    assert moved(without.posture, found.posture, free) < EXACT
    if task.priority == 4:
        for other in above:
            assert found.errors[other] < without.errors[other] + 10.0 * EXACT


def test_live_steps_leave_other_joints_alone(human: poise.Figure) -> None:
    start = human.posture("standing")
    feet = [Frame(foot, human.pose_of(foot, start)) for foot in ("left_foot", "right_foot")]
    balance = CenterOfMass(at=human.center_of_mass(start), priority=2)
    hand = Position("right_hand", at=human.pose_of("right_hand", start).position, joints=ARM, priority=3)
    with_hand, without = Solver(human, [*feet, balance, hand]), Solver(human, [*feet, balance])
    posture = other = start
    for k in range(60):
        centre = human.center_of_mass(start) + np.array([0.03 * np.sin(0.1 * k), 0.0, 0.02])
        with_hand.target(balance, centre)
        without.target(balance, centre)
        with_hand.target(hand, human.pose_of("right_hand", start).position + np.array([0.1, 0.2, 0.01 * k]))
        posture, other = with_hand.step(posture), without.step(other)
        assert moved(other, posture, ARM) < EXACT
        assert human.violations(posture) == []
    assert with_hand.judge(posture).errors[balance] < 1e-4
    assert moved(start, posture, ()) > 0.2, "the arm moved"


def test_a_gaze_of_the_neck_leaves_the_arm_that_reaches(human: poise.Figure) -> None:
    hand = Position("right_hand", at=(-0.3, 1.3, 0.35), joints=ARM, priority=1)
    gaze = LookAt("eyes", at=(1.5, 1.0, 0.5), joints=NECK, priority=2)
    alone = poise.solve(human, [hand], start="standing")
    both = poise.solve(human, [hand, gaze], start="standing")
    assert moved(alone.posture, both.posture, NECK) < EXACT
    assert moved(human.posture("standing"), both.posture, ARM + NECK) < EXACT
    assert both.errors[hand] < 1e-6


def test_a_posture_held_last_does_not_lean_to_relieve_the_arm(human: poise.Figure) -> None:
    hand = Position("right_hand", at=(-0.25, 1.5, 0.45), joints=ARM)
    base = {"base": human.posture("standing")["base"]}
    start = human.random(np.random.default_rng(4)).changed(base)
    found = poise.solve(human, [hand, Hold("standing", priority=2)], start=start)
    assert found.errors[hand] < 1e-6
    assert moved(human.posture("standing"), found.posture, ARM) < EXACT


def test_a_posture_held_last_costs_the_hand_nothing(human: poise.Figure) -> None:
    """With the trunk bent forward the arm reaches; the posture that is held below it may not take the hand away."""
    bent = human.clamp(human.posture(dict.fromkeys(("spine", "chest"), (0.97, 0.24, 0.0, 0.0))))
    far = human.pose_of("right_hand", bent).position
    stretched = poise.solve(human, [Position("right_hand", at=far + np.array([0, 0.5, 2.0]), joints=ARM)], start=bent)
    far = human.pose_of("right_hand", stretched.posture).position
    hand = Position("right_hand", at=far, joints=ARM)
    first = poise.solve(human, [hand], start=bent, criteria=())
    found = poise.solve(human, [hand, Hold("standing", priority=2)], start=bent)
    assert found.errors[hand] < max(first.errors[hand], 1e-6) + EXACT


def test_tasks_below_all_met_change_nothing_else(human: poise.Figure) -> None:
    start = human.posture("standing")
    feet = [Frame(foot, human.pose_of(foot, start)) for foot in ("left_foot", "right_foot")]
    hand = Position("right_hand", at=(-0.3, 1.2, 0.3), joints=ARM, priority=2)
    gaze = LookAt("eyes", at=(0.5, 1.0, 2.0), priority=3)
    without, found = (poise.solve(human, tasks, start=start) for tasks in ([*feet, gaze], [*feet, hand, gaze]))
    assert found.status == "solved"
    assert moved(without.posture, found.posture, ARM) < EXACT


def test_restarts_leave_other_joints_alone(human: poise.Figure) -> None:
    far = Position("right_hand", at=(2.0, 1.0, 0.0), joints=ARM)
    found = poise.solve(human, [far], start="standing", restarts=3)
    assert moved(human.posture("standing"), found.posture, ARM) < EXACT


def test_passive_joints_follow_their_motors() -> None:
    figure = poise.load("five_bar")
    motor = next(joint.name for joint in figure.joints if joint.active and joint.name in figure.moving_joints)
    site = figure.bodies.names[-1]
    free = with_followers(figure, [motor])
    still = [joint.name for joint in figure.joints if joint.active and joint.name != motor]
    assert free.isdisjoint(still)
    wanted = figure.pose_of(site, figure.neutral()).position + np.array([0.02, 0.01, 0.0])
    found = poise.solve(figure, [Position(site, at=wanted, joints=motor)])
    assert moved(figure.neutral(), found.posture, tuple(free)) < EXACT
    assert moved(figure.neutral(), found.posture, ()) > 1e-3, "the motor turned"
    assert figure.closure_error(found.posture) < 1e-9


def test_what_a_task_may_not_move_is_told_as_its_reason(human: poise.Figure) -> None:
    start = human.posture("standing")
    balance = CenterOfMass(at=human.center_of_mass(start))
    hand = Position("right_hand", at=(-0.6, 1.5, 0.3), joints=ARM, priority=2)
    found = poise.solve(human, [balance, hand], start=start)
    verdict = next(verdict for verdict in found.verdicts if verdict.task is hand)
    assert not verdict.met
    assert balance.label in verdict.gave_way_to
    assert found.status == "compromised"


def test_parts(human: poise.Figure) -> None:
    hand, gaze = Position("right_hand", at=(0, 1, 0), joints=ARM), LookAt("eyes", at=(0, 1, 2), joints=NECK)
    trunk = Position("chest", at=(0, 1, 0), joints=["spine", "neck"])
    other, low = Position("left_hand", at=(0, 1, 0)), Distance("left_hand", "head", 0.3, priority=2)
    assert [set(part.tasks) for part in parts_of(human, [hand, other], in_order=True)] == [{other}, {other, hand}]
    assert len(parts_of(human, [hand, gaze], in_order=True)) == 3, "an arm and a neck have no joint in common"
    assert len(parts_of(human, [hand, gaze, trunk], in_order=True)) == 3, "gaze and trunk share the neck"
    assert len(parts_of(human, [hand, low], in_order=True)) == 1
    assert len(parts_of(human, [hand, low], in_order=False)) == 2
    assert len(parts_of(human, [hand, Hold("standing", priority=3)], in_order=True)) == 2
    mask = recruited(human, hand)
    assert mask is not None
    assert np.array_equal(parts_of(human, [hand], in_order=True)[1].free, mask)
