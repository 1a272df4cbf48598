"""How eyes, head, trunk and legs of the human share a turn of the gaze."""

import numpy as np
import pytest

import poise
from poise import Frame, LookAt, Position
from poise.figure.model.builder import Builder, free, revolute
from poise.figure.model.pose import Pose, turn
from poise.kernels.body.gaze_turn import EYES_MOST, gaze_shares
from poise.tasks.criteria import Natural

HUMAN = poise.load("human")
WITH_EYES = poise.human(eyes=True)


def feet(figure, start):
    return [Frame(site, figure.pose_of(site, start)) for site in ("left_foot", "right_foot")]


def start_of(figure, heading=0.0):
    """The standing human, turned about the vertical [degrees]."""
    standing = figure.posture("standing")
    base = standing.q[figure.q_slice("base")]
    turned = Pose(rotation=turn("y", heading)) @ Pose(base[:3], base[3:])
    return figure.posture_from(standing, {"base": [*turned.position, *turned.rotation]})


def looks(azimuth, elevation=0.0, *, figure=HUMAN, heading=0.0, site="eyes"):
    """The result of looking aside and up from where the figure stands [degrees]; the gaze is the last task."""
    start = start_of(figure, heading)
    a, e = np.radians([azimuth + heading, elevation])
    way = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    tasks = [*feet(figure, start), LookAt(site, at=figure.pose_of(site, start).position + 3.0 * way, priority=2)]
    return poise.solve(figure, tasks, start=start), tasks[-1]


def azimuth_of(posture, body, heading=0.0):
    """Azimuth of a body's +z against where the figure stands [degrees]."""
    ahead = posture.figure.pose_of(body, posture).matrix[:, 2]
    return (np.degrees(np.arctan2(ahead[0], ahead[2])) - heading + 180.0) % 360.0 - 180.0


def tilt_of(posture, body="head"):
    """How much a body leans to its side [degrees]."""
    return np.degrees(np.arcsin(posture.figure.pose_of(body, posture).matrix[1, 0]))


@pytest.mark.parametrize("heading", [0.0, 140.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_trunk_follows_large_turns_only_and_the_head_stays_upright(heading, side):
    chest = {}
    for azimuth in (10, 30, 60, 90, 120, 150):
        result, gaze = looks(side * azimuth, heading=heading)
        assert result.errors[gaze] < 1e-4
        assert abs(tilt_of(result.posture)) < (5.0 if azimuth < 150 else 12.0)
        chest[azimuth] = side * azimuth_of(result.posture, "thorax", heading)
    assert chest[30] < 5.0, "hardly the chest"
    assert chest[90] > 20.0, "noticeably"
    assert chest[150] > 60.0, "the trunk"
    assert list(chest.values()) == sorted(chest.values())


@pytest.mark.parametrize(("azimuth", "elevation"), [(0, -40), (0, -20), (0, 20), (0, 40), (60, 30), (-60, -30)])
def test_looking_up_and_down_bends_the_neck_not_the_trunk(azimuth, elevation):
    result, gaze = looks(azimuth, elevation)
    assert result.errors[gaze] < 1e-4
    assert abs(tilt_of(result.posture)) < 5.0
    pitch = np.degrees(np.arcsin(HUMAN.pose_of("thorax", result.posture).matrix[1, 2]))
    assert abs(pitch) < 0.3 * abs(elevation)


@pytest.mark.parametrize(("azimuth", "elevation"), [(25, 10), (80, -30), (130, 20)])
def test_looking_to_the_other_side_is_the_mirror_image(azimuth, elevation):
    left, right = (looks(side * azimuth, elevation)[0].posture for side in (1.0, -1.0))
    for site in HUMAN.sites.names:
        other = site.replace("left", "@").replace("right", "left").replace("@", "right")
        mirrored = HUMAN.pose_of(other, right).position * (-1.0, 1.0, 1.0)
        assert HUMAN.pose_of(site, left).position == pytest.approx(mirrored, abs=1e-6)


def test_a_gaze_of_the_head_is_that_of_the_eyes():
    eyes, head = (azimuth_of(looks(70, site=site)[0].posture, "head") for site in ("eyes", "head"))
    assert eyes == pytest.approx(head, abs=4.0)


@pytest.mark.parametrize("seed", range(6))
def test_from_any_posture_any_gaze_within_reach_is_met(seed):
    rng = np.random.default_rng(seed)
    start = HUMAN.random(rng)
    wanted = HUMAN.random(rng)
    target = HUMAN.pose_of("eyes", wanted).apply((0.0, 2.0, 0.0))
    gaze = LookAt("eyes", at=target)
    result = poise.solve(HUMAN, [gaze], start=start)
    assert result.errors[gaze] < 1e-4
    assert not HUMAN.violations(result.posture)


def test_a_sweep_of_the_gaze_moves_no_joint_by_leaps():
    start = start_of(HUMAN)
    gaze = LookAt("eyes", at=(0.0, 1.6, 2.0), priority=2)
    solver, posture, before = poise.Solver(HUMAN, [*feet(HUMAN, start), gaze]), start, None
    for k, azimuth in enumerate(np.radians(np.linspace(0.0, 150.0, 301))):
        solver.target(gaze, (2.0 * np.sin(azimuth), 1.6, 2.0 * np.cos(azimuth)))
        posture = solver.step(posture)
        if before is not None and k > 10:
            assert np.abs(HUMAN.difference(before, posture)).max() < np.radians(2.0), "half a degree a frame"
        before = posture


def test_eyes_take_the_first_degrees_and_stay_off_their_limits():
    in_head = {}
    for azimuth in (10, 30, 60, 90):
        result, gaze = looks(azimuth, figure=WITH_EYES)
        assert result.errors[gaze] < 1e-4
        eyes = result.posture["eyes"]
        in_head[azimuth] = np.degrees(eyes[0])
        for side in ("left_eye", "right_eye"):
            assert result.posture[side] == pytest.approx(eyes, abs=1e-9)
        assert azimuth_of(result.posture, "thorax") < max(5.0, 0.5 * azimuth)
    assert in_head[10] > 5.0, "most of a small turn"
    assert 10.0 < in_head[30] < 20.0
    assert in_head[90] < 25.0


def test_the_shares_of_a_turn_rise_from_nothing_and_never_exceed_it():
    for has_eyes in (False, True):
        last = (0.0, 0.0, 0.0)
        for angle in np.radians(np.linspace(0.1, 180.0, 200)):
            base, trunk, head = (angle * share for share in gaze_shares(angle, has_eyes))
            assert 0.0 <= base <= trunk <= angle
            assert head <= angle
            assert angle - head <= EYES_MOST
            assert all(now >= before for now, before in zip((base, trunk, head), last, strict=True))
            last = (base, trunk, head)


def test_hands_keep_their_targets_while_the_gaze_turns():
    start = start_of(HUMAN)
    hand = Position("right_hand", at=HUMAN.pose_of("right_hand", start).apply((0.0, -0.3, 0.2)), priority=2)
    gaze = LookAt("eyes", at=(3.0, 1.5, 0.2), priority=3)
    result = poise.solve(HUMAN, [*feet(HUMAN, start), hand, gaze], start=start)
    assert max(result.errors[task] for task in (hand, gaze)) < 1e-4


def test_joints_that_a_gaze_may_not_move_stay():
    start = start_of(HUMAN)
    gaze = LookAt("eyes", at=(1.5, 1.6, 2.5), joints=["neck", "head"])
    result = poise.solve(HUMAN, [gaze], start=start)
    for joint in ("base", "spine", "chest", "left_hip"):
        assert result.posture[joint] == pytest.approx(start[joint], abs=1e-6)


def robot():
    """A robot with a waist, two arms and a neck of hinges, on wheels."""
    builder = Builder("robot", up="z")
    builder.body("pelvis", joint=free("base"))
    builder.body("torso", parent="pelvis", joint=revolute("waist", "z", limits=(-1.5, 1.5)), at=(0, 0, 0.3))
    for side, y in (("left", 0.2), ("right", -0.2)):
        builder.body(f"{side}_arm", parent="torso", joint=revolute(f"{side}_arm", "y", limits=(-2, 2)), at=(0, y, 0.4))
        builder.body(f"{side}_wheel", parent="pelvis", joint=revolute(f"{side}_wheel", "y"), at=(0, y, -0.2))
    builder.body("yoke", parent="torso", joint=revolute("pan", "z", limits=(-1.2, 1.2)), at=(0, 0, 0.5))
    builder.body("head", parent="yoke", joint=revolute("tilt", "y", limits=(-0.8, 0.8)), at=(0, 0, 0.1), facing="x")
    return builder.build()


def test_the_neck_of_a_robot_turns_before_its_waist():
    figure = robot()
    for degrees, most in ((30, 5.0), (90, 60.0)):
        azimuth = np.radians(degrees)
        gaze = LookAt("head", direction=(np.cos(azimuth), np.sin(azimuth), 0.3))
        result = poise.solve(figure, [gaze], criteria=[Natural()])
        assert result.errors[gaze] < 1e-4
        waist, pan = (np.degrees(result.posture[joint]) for joint in ("waist", "pan"))
        assert -1e-6 < waist < most
        assert pan > 0.5 * min(degrees, 60)
