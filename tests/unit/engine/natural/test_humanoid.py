"""Natural motion of humanoids: postures of people, carried over by roles."""

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Natural, Pose, Position
from poise.engine.natural.humanoid import LikelyHumanoid, humanoid_rest
from poise.engine.natural.motion import LikelyPerson
from poise.engine.problem import Problem, StepSize
from poise.engine.scene import Origin
from poise.studio.scenes.openings import opening
from tests import standing

HUMAN = poise.load("human")


def humanoid(figure):
    return LikelyHumanoid(figure, lambda figure, tasks: Problem(figure, tasks, step=StepSize(error=1e3)))


def robot(name):
    found = getattr(standing, name)()
    if found is None:
        pytest.skip(f"the files of {name} are not installed")
    return found


@pytest.mark.parametrize("hand", [(-0.4, 1.4, 0.4), (-0.3, 0.4, 0.5), (-0.1, 1.9, 0.2), (0.3, 1.0, 0.4)])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_human_by_its_roles_is_posed_like_the_human(hand, heading):
    """The fit has its own weights, so that elbows and the trunk may differ by what a limb is thick."""
    turn = Pose((1.0, 0.0, -2.0), (np.cos(heading / 2), 0.0, np.sin(heading / 2), 0.0))
    handles = {foot: turn @ HUMAN.pose_of(foot, "standing") for foot in ("left_foot", "right_foot")}
    handles["right_hand"] = turn.apply(hand)
    start = HUMAN.frames("standing")
    known = HUMAN.frames(HUMAN.clamp(HUMAN.posture(LikelyPerson(HUMAN).likely(handles, start))))
    found = HUMAN.frames(HUMAN.posture(humanoid(HUMAN).likely(handles, start)))
    for part in ("pelvis", "thorax", "left_shank", "right_shank", "right_ulna", "right_hand"):
        np.testing.assert_allclose(found[part].position, known[part].position, atol=0.08, err_msg=part)


def tilt(figure, part, posture):
    at_rest = figure.pose_of(part, figure.neutral()).matrix.T @ figure.up_vector
    now = figure.pose_of(part, posture).matrix.T @ figure.up_vector
    return np.degrees(np.arccos(np.clip(now @ at_rest, -1.0, 1.0)))


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_a_robot_whose_pelvis_is_lowered_squats_and_does_not_bow(name):
    found = robot(name)
    figure, up = found.figure, found.figure.up_vector
    start, roles = figure.neutral(), figure.roles
    pelvis, chest = roles["pelvis"].part, roles["chest"].part
    high = figure.pose_of(pelvis, start).position
    lowered = Position(pelvis, at=high, axes=figure.up, priority=3)
    feet = [Frame(foot, figure.pose_of(foot, start)) for foot in found.feet]
    tasks = [*feet, CenterOfMass(over=found.feet, priority=2), lowered]
    solver, posture = poise.Solver(figure, tasks, criteria=[Natural()]), start
    for step in range(1, 1 + int(45 * float((high - figure.pose_of(found.feet[0], start).position) @ up))):
        solver.target(lowered, high - 0.01 * step * up)
        for _ in range(4):
            posture = solver.step(posture)
        assert abs((figure.pose_of(pelvis, posture).position - high) @ up + 0.01 * step) < 1e-3
        assert tilt(figure, chest, posture) < 45.0
        assert not figure.violations(posture)
    shanks = {roles["left_knee"].part, roles["right_knee"].part}
    knees = [joint.name for joint in figure.joints if joint.child in shanks]
    assert min(abs(np.degrees(posture[knee])) for knee in knees) > 90.0


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_the_free_arm_of_a_robot_hangs_while_the_other_hand_goes_to_the_floor(name):
    found = robot(name)
    figure, start, roles = found.figure, found.figure.neutral(), found.figure.roles
    feet = [Frame(foot, figure.pose_of(foot, start)) for foot in found.feet]
    hips, hand = (figure.pose_of(part, start).position for part in (roles["pelvis"].part, found.hand))
    leg = float(hips[2] - figure.pose_of(found.feet[0], start).position[2])
    down = Position(found.hand, (hips[0] + 0.4 * leg, hand[1], hips[2] - 0.9 * leg), priority=3)
    tasks = [*feet, CenterOfMass(over=found.feet, priority=2), down]
    frames = figure.frames(poise.solve(figure, tasks, start=start, criteria=[Natural()]).posture)
    shoulder, elbow = (
        frames[role.part].apply(np.zeros(3) if role.point is None else role.point)
        for role in (roles["left_shoulder"], roles["left_elbow"])
    )
    arm = elbow - shoulder
    assert np.degrees(np.arccos(-arm[2] / np.linalg.norm(arm))) < 40.0


def test_the_likely_posture_does_not_depend_on_earlier_ones():
    figure = robot("g1").figure
    people, start = humanoid(figure), figure.frames(figure.neutral())
    hand = figure.roles["right_wrist"].part
    low, ahead = ({hand: start[hand].position + np.array(way)} for way in ((0.2, 0.0, -0.5), (0.4, 0.0, 0.3)))
    fresh = people.likely(low, start)
    for handles in (ahead, low, low, low):
        again = people.likely(handles, start)
    np.testing.assert_allclose(figure.difference(fresh, again), 0.0, atol=0.02)


def test_the_likely_posture_does_not_depend_on_place_and_heading():
    figure = standing.five_joint_legs().figure
    assert humanoid_rest(figure) is not None
    half = np.array([np.cos(0.6), 0.0, 0.0, np.sin(0.6)])
    turn = Pose((3.0, -1.0, 0.0), half)
    start = figure.neutral()
    feet = {foot: figure.pose_of(foot, start) for foot in ("left_foot", "right_foot")}
    hips = figure.pose_of("pelvis", start).position - np.array([0.0, 0.0, 0.25])
    here = humanoid(figure).likely({**feet, "pelvis": hips}, figure.frames(start))
    there = humanoid(figure).likely(
        {**{foot: turn @ pose for foot, pose in feet.items()}, "pelvis": turn.apply(hips)}, figure.frames(start)
    )
    joints = [name for name in figure.moving_joints if name != "root"]
    for name in joints:
        assert figure.posture(here)[name] == pytest.approx(figure.posture(there)[name], abs=2e-3)
    assert figure.posture(here)["left_knee"] > 0.5


@pytest.mark.parametrize("name", ["adelino", "walker", "stewart", "hand", "snake"])
def test_figures_that_are_not_built_like_people_are_no_humanoids(name):
    assert humanoid_rest(poise.load(name)) is None


@pytest.mark.parametrize("name", ["talos", pytest.param("h1", marks=pytest.mark.real_data)])
def test_a_humanoid_opens_on_its_feet(name):
    found = robot(name)
    scene = opening(found.figure)
    assert {task.site for task in scene.tasks if isinstance(task, Frame)} == set(found.feet)
    assert any(isinstance(criterion, Natural) for criterion in scene.criteria)
    assert scene.solve().status in ("solved", "compromised")


def test_a_humanoid_that_is_fixed_by_its_pelvis_opens_on_its_feet_too():
    robot("g1")
    origin = Origin("g1")
    scene = opening(poise.load("g1"), origin)
    assert scene.origin == Origin("g1", floating=True)
    assert scene.figure == scene.origin.load()
    assert scene.solve().status == "solved"


def test_parts_that_are_fixed_to_one_with_a_role_have_it_too():
    figure = robot("g1").figure
    people = humanoid(figure)
    assert people.point_of("right_rubber_hand") == figure.roles["right_wrist"].part
    assert people.point_of("pelvis_contour_link") == "pelvis"
    assert people.point_of("left_knee_link") == "left_knee_link"
    assert people.point_of("left_hip_yaw_link") is None


def test_a_solve_of_a_humanoid_does_not_depend_on_earlier_steps():
    figure = standing.five_joint_legs().figure
    start = figure.neutral()
    feet = [Frame(foot, figure.pose_of(foot, start)) for foot in ("left_foot", "right_foot")]
    low = Position(
        "pelvis", at=figure.pose_of("pelvis", start).position - np.array([0.0, 0.0, 0.2]), axes="z", priority=2
    )
    solver = poise.Solver(figure, [*feet, low], criteria=[Natural()])
    fresh = solver.settle(start).posture
    posture = start
    for _ in range(5):
        posture = solver.step(posture)
    np.testing.assert_array_equal(solver.settle(start).posture.q, fresh.q)
