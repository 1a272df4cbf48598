"""FABRIK on points and on figures: chains, trees, rings and ends that stay."""

import math

import numpy as np
import pytest

import poise
from poise.chains import fabrik, fabrik_points
from poise.figure.model.builder import Builder, ball, revolute

LINE = np.array([[0.0, 0.3 * k, 0.0] for k in range(6)])


def spans(points, closed=False):
    points = np.asarray(points)
    return np.linalg.norm(np.diff(np.vstack([points, points[:1]]) if closed else points, axis=0), axis=1)


def test_points_keep_their_distances_and_the_first_stays():
    rng = np.random.default_rng(0)
    for _ in range(40):
        start = np.cumsum(rng.normal(size=(7, 3)), axis=0)
        target = start[0] + rng.normal(size=3)
        result = fabrik_points(start, target)
        assert result.status == "solved"
        assert np.linalg.norm(result.points[-1] - target) == pytest.approx(result.error, abs=1e-12)
        assert spans(result.points) == pytest.approx(spans(start), abs=1e-12)
        assert (result.points[0] == start[0]).all()


def test_a_target_too_far_stretches_the_points():
    result = fabrik_points(LINE + np.random.default_rng(0).normal(size=LINE.shape) * 1e-2, (3.0, 0.0, 0.0))
    assert result.status == "unreachable"
    assert result.error == pytest.approx(1.5, rel=1e-2)


def test_a_target_too_near_is_unreachable_as_well():
    result = fabrik_points([[0, 0, 0], [0, 1.0, 0], [0, 1.2, 0.1]], (0.1, 0.0, 0.0))
    assert result.status == "unreachable"
    assert result.error > 0.5


def test_a_tree_of_points_reaches_for_several_targets():
    start = [[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 2, 0], [2, 2, 0], [-1, 2, 0], [-2, 2, 0]]
    parents = [-1, 0, 1, 2, 3, 2, 5]
    targets = {4: (1.0, 1.0, 1.0), 6: (-1.2, 0.8, 0.5)}
    result = fabrik_points(start, targets, parents=parents)
    assert result.status == "solved"
    for point, target in targets.items():
        assert np.linalg.norm(result.points[point] - target) <= 1e-6
    for i, above in enumerate(parents):
        if i:
            before = np.linalg.norm(np.subtract(start[i], start[above]))
            assert np.linalg.norm(result.points[i] - result.points[above]) == pytest.approx(before, abs=1e-12)


def test_what_hangs_from_a_dragged_point_follows():
    result = fabrik_points(LINE, {3: (0.5, 0.4, 0.0)})
    assert result.status == "solved"
    assert np.linalg.norm(result.points[3] - (0.5, 0.4, 0.0)) <= 1e-6
    assert spans(result.points) == pytest.approx(spans(LINE), abs=1e-12)


def test_an_end_that_stays_closes_a_chain():
    held = LINE[-1] * 0.5
    both = fabrik_points(LINE, {5: held, 2: (0.4, 0.3, 0.0)})
    assert both.status == "solved"
    assert np.linalg.norm(both.points[5] - held) <= 1e-6
    assert spans(both.points) == pytest.approx(spans(LINE), abs=1e-12)


def test_a_ring_stays_closed_while_one_of_its_points_is_dragged():
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    turned = poise.Pose(rotation=(0.9, 0.3, -0.2, 0.2))
    for dragged in range(1, 8):
        # Neighbours of the pinned point cannot change their distance from it.
        nearer = 1.0 if dragged in (1, 7) else 0.8
        target = ring[0] + nearer * turned.apply(ring[dragged] - ring[0])
        result = fabrik_points(ring, {dragged: target}, closed=True, tolerance=1e-9)
        assert result.status == "solved"
        assert np.linalg.norm(result.points[dragged] - target) <= 1e-8
        assert spans(result.points, closed=True) == pytest.approx(spans(ring, closed=True), abs=1e-8)
        assert (result.points[0] == ring[0]).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([[0, 0, 0]], (1, 0, 0)), "two points or more"),
        (([[0, 0], [1, 1]], (1, 0, 0)), "rows of three finite numbers"),
        ((LINE, (math.nan, 0, 0)), "three finite numbers"),
        ((LINE, {9: (0, 0, 0)}), "no point 9 to drag"),
        ((LINE, {}), "at least one point"),
    ],
)
def test_nonsense_about_points_is_one_sentence(arguments, says):
    with pytest.raises(poise.TaskError, match=says):
        fabrik_points(*arguments)


def test_nonsense_about_rings_trees_and_effort_is_one_sentence():
    with pytest.raises(poise.TaskError, match="a ring of points has no parents"):
        fabrik_points(LINE, {1: (0, 0, 0), 2: (1, 1, 1)}, closed=True)
    with pytest.raises(poise.TaskError, match="pinned"):
        fabrik_points(LINE, {0: (0, 0, 0)}, closed=True)
    with pytest.raises(poise.TaskError, match="-1 first"):
        fabrik_points(LINE, (0, 0, 0), parents=[-1, 0, 1, 2, 3, 5])
    with pytest.raises(poise.TaskError, match="must not be negative"):
        fabrik_points(LINE, (0, 0, 0), tolerance=-1.0)


def rope(count=5, limits=None):
    made = Builder("rope")
    upper = made.body("base")
    for k in range(count):
        upper = made.body(f"b{k}", parent=upper, joint=ball(f"j{k}", limits), at=(0, 0.3 if k else 0.0, 0))
    made.site("tip", upper, at=(0, 0.3, 0))
    return made.build()


def test_balls_follow_the_points_to_the_same_places():
    figure = rope()
    rng = np.random.default_rng(1)
    for _ in range(10):
        start, target = figure.random(rng), figure.pose_of("tip", figure.random(rng)).position
        frames = figure.frames(start)
        points = [*(frames[f"b{k}"].position for k in range(5)), frames["tip"].position]
        joints, free = fabrik(figure, target, start=start), fabrik_points(points, target)
        after = figure.frames(joints.posture)
        found = [*(after[f"b{k}"].position for k in range(5)), after["tip"].position]
        assert joints.iterations == free.iterations
        assert np.array(found) == pytest.approx(free.points, abs=1e-9)


def test_parallel_hinges_without_limits_follow_the_points_too():
    figure = poise.chain("ZZZZZ", lengths=[0.3] * 5, limits=170)
    rng = np.random.default_rng(2)
    for _ in range(10):
        start, target = figure.random(rng), figure.pose_of("tip", figure.random(rng)).position
        frames = figure.frames(start)
        points = [*(frames[f"segment_{k}"].position for k in range(1, 6)), frames["tip"].position]
        result = fabrik(figure, target, start=start, limits=False)
        assert result.status == "solved"
        assert result.iterations == fabrik_points(points, target).iterations


@pytest.mark.parametrize("name", ["erik_c", "erik_g", "snake", "arm"])
def test_hinges_in_space_come_to_the_target_inside_their_limits(name):
    figure = poise.load(name)
    tip = "tip" if "tip" in figure.sites.names else figure.sites.names[-1]
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(40):
        target = figure.pose_of(tip, figure.random(rng)).position
        result = fabrik(figure, target, tip=tip, start=figure.random(rng))
        assert figure.violations(result.posture) == []
        met += result.status == "solved"
    assert met >= 26


def test_two_hands_of_a_person_reach_at_once():
    human = poise.load("human").replaced(couplings=())
    targets = {"left_hand": (0.5, 1.2, 0.4), "right_hand": (-0.5, 1.2, 0.4)}
    result = fabrik(human, targets)
    assert result.status == "solved"
    assert human.violations(result.posture) == []
    for hand, place in targets.items():
        there = human.pose_of(hand, result.posture).position
        assert np.linalg.norm(there - place) == pytest.approx(result.errors[hand], abs=1e-12)
    assert (result.posture["base"] == human.neutral()["base"]).all()


def test_two_ends_with_one_target_close_a_ring():
    made = Builder("tongs")
    made.body("grip", joint=revolute("grip", "z"))
    for side, x in (("left", -0.2), ("right", 0.2)):
        made.body(f"{side}_a", parent="grip", joint=revolute(f"{side}_a", "z"), at=(x, 0, 0))
        made.body(f"{side}_b", parent=f"{side}_a", joint=revolute(f"{side}_b", "z"), at=(0, 0.5, 0))
        made.site(f"{side}_tip", f"{side}_b", at=(0, 0.5, 0))
    tongs = made.build()
    meet = (0.1, 0.7, 0.0)
    result = fabrik(tongs, {"left_tip": meet, "right_tip": meet}, start={"left_b": 0.3, "right_b": -0.3})
    assert result.status == "solved"
    tips = [tongs.pose_of(f"{side}_tip", result.posture).position for side in ("left", "right")]
    assert np.linalg.norm(tips[0] - tips[1]) <= 2e-6


def test_held_joints_are_part_of_their_links():
    figure = poise.chain("ZZZZ", lengths=[0.3] * 4, limits=170)
    start = figure.posture([0.2, 0.7, -0.4, 0.5])
    target = figure.pose_of("tip", figure.posture([-0.5, 0.7, 0.6, 0.3])).position
    result = fabrik(figure, target, start=start, hold=["joint_2"], limits=False)
    assert result.status == "solved"
    assert result.posture["joint_2"] == 0.7
