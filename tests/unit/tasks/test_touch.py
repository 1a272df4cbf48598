"""Touch: surfaces meet, from wherever the figure begins, and what touches something solid carries weight."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise import Avoid, CenterOfMass, Frame, Obstacle, Orientation, Plane, Pose, Position, Scene, TaskError, Touch
from poise.figure.collision.collisions import Collisions
from poise.figure.collision.soles import support_polygon
from poise.figure.model.builder import Builder, free
from poise.figure.model.shapes import Box, Sphere
from poise.figures import built_in
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull
from poise.tasks.task import Task

HUMAN = built_in("human")
FEET = ("left_foot", "right_foot")
TABLE = Obstacle(Box((0.8, 0.05, 0.5)), Pose((0.0, 0.75, 0.55)), name="table")
FLOOR = Plane("y", name="floor")


def standing() -> list[Task]:
    feet: list[Task] = [Frame(foot, HUMAN.pose_of(foot, "standing"), priority=1) for foot in FEET]
    return [*feet, CenterOfMass(over=FEET, margin=0.02, priority=2)]


def gap(posture: poise.Posture, body: str, other: str, *obstacles: Obstacle | Plane) -> float:
    """Distance of a body from another one or from an obstacle [m]."""
    found = Collisions(HUMAN, obstacles, reach=0.5, include=[(body, other)]).at(posture)
    return min(near.distance for near in found if {near.a, near.b} == {body, other})


@pytest.mark.parametrize("solid", [True, False])
@pytest.mark.parametrize(
    ("site", "surface"), [("right_hand", "pelvis"), ("left_hand", "head"), ("right_hand", "left_upper_arm")]
)
def test_a_part_touches_another_one(site: str, surface: str, solid: bool) -> None:
    touch = Touch(site, surface, priority=3)
    result = poise.solve(HUMAN, [*standing(), touch], start="standing", solid=solid)
    assert result.status == "solved"
    assert abs(gap(result.posture, site, surface)) < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_a_hand_finds_the_table_from_random_postures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = HUMAN.posture("standing")
    arm = [joint.name for joint in HUMAN.joints if joint.name.startswith("right_") and "hip" not in joint.name]
    arm = [name for name in arm if not any(part in name for part in ("knee", "ankle", "toes"))]
    start = HUMAN.clamp(start.changed({name: HUMAN.random(rng)[name] for name in arm}))
    touch = Touch("right_hand", TABLE, priority=3)
    result = poise.solve(HUMAN, [*standing(), touch], start=start, obstacles=[TABLE], solid=True)
    assert result.errors[touch] < 1e-4
    assert gap(result.posture, "right_hand", "table", TABLE) > -1e-4


def test_points_say_where_the_contact_is() -> None:
    made = Builder("block")
    made.body("block", joint=free("base"), shapes=[Box((0.2, 0.1, 0.2))])
    block = made.build()
    shelf = Obstacle(Box((1.0, 0.1, 1.0)), Pose((2.0, 1.0, 0.0)), name="shelf")
    corner, place = (0.1, -0.05, 0.1), (1.8, 1.2, 0.3)
    touch = Touch("block", shelf, at=place, offset=corner)
    start = block.posture([0.0, 1.8, 0.0, 0.9, 0.1, 0.3, -0.2])
    result = poise.solve(block, [touch], start=start, obstacles=[shelf], solid=True)
    assert result.status == "solved"
    np.testing.assert_allclose(block.pose_of("block", result.posture).apply(corner), (1.8, 1.05, 0.3), atol=3e-4)


def test_an_avoid_task_keeps_no_margin_where_a_touch_is_asked_for() -> None:
    touch, avoid = Touch("right_hand", "table", priority=3), Avoid([TABLE, "self"], margin=0.03)
    result = poise.solve(HUMAN, [*standing(), touch, avoid], start="standing")
    assert result.errors[touch] < 1e-5
    inside = Position("right_hand", (-0.2, 0.75, 0.4), priority=3)
    without = poise.solve(HUMAN, [*standing(), avoid, inside], start="standing", max_steps=500)
    assert gap(without.posture, "right_hand", "table", TABLE) > 0.03 - 1e-4


def test_what_is_touched_may_move() -> None:
    made = Builder("ball")
    made.body("ball", joint=free("base"), shapes=[Sphere(0.1)])
    ball, wall = made.build(), Obstacle(Box((0.2, 2.0, 2.0)), Pose((0.5, 0.0, 0.0)), name="wall")
    touch = Touch("ball", wall)
    solver = poise.Solver(ball, [touch], obstacles=[wall])
    posture = solver.settle(ball.neutral()).posture
    assert ball.pose_of("ball", posture).position[0] == pytest.approx(0.3, abs=1e-5)
    solver.move(wall, Pose((0.9, 0.0, 0.0)))
    posture = solver.settle(posture).posture
    assert ball.pose_of("ball", posture).position[0] == pytest.approx(0.7, abs=1e-5)


def static_margin(posture: poise.Posture, *obstacles: Obstacle | Plane) -> float:
    """Distance of the centre of mass inside the hull of all points that touch an obstacle from above [m]."""
    found = Collisions(HUMAN, obstacles, itself=False, reach=0.01).at(posture)
    points = np.array([n.point_a[[0, 2]] for n in found if n.distance < 1e-3 and n.point_a[1] > n.point_b[1] - 1e-3])
    order = np.zeros(len(points), dtype=np.int64)
    points = np.ascontiguousarray(points)
    count = convex_hull(points, 0, len(points), order)
    x, _, z = HUMAN.center_of_mass(posture)
    return -float(nearest_on_hull(points, order, 0, count, float(x), float(z)).distance)


def kneeling() -> list[Task]:
    knees: list[Task] = [Touch(f"{s}_thigh", "floor", offset=(0, -0.43, 0.03), priority=1) for s in ("left", "right")]
    toes: list[Task] = [Touch(f"{side}_toes", "floor", priority=2) for side in ("left", "right")]
    over = ("left_thigh", "right_thigh", "left_toes", "right_toes")
    upright = Orientation("chest", rotation=HUMAN.pose_of("chest", "standing").rotation, priority=4)
    return [*knees, *toes, CenterOfMass(over=over, margin=0.02, priority=3), upright]


@pytest.mark.parametrize("start", ["standing", "crouching", "walking"])
def test_a_human_kneels_on_its_knees_and_toes(start: str) -> None:
    result = poise.solve(HUMAN, kneeling(), start=start, solid=True, max_steps=400)
    assert max(result.errors.values()) < 1e-4
    assert static_margin(result.posture, FLOOR) > 0.02 - 1e-4
    support = result.verdicts[4].support
    assert support is not None
    assert support.inside == pytest.approx(static_margin(result.posture, FLOOR), abs=5e-3)
    assert "inside" in result.report()


def test_a_seat_carries_weight() -> None:
    chair = Obstacle(Box((0.5, 0.45, 0.45)), Pose((0.0, 0.225, -0.15)), name="chair")
    feet: list[Task] = [Frame(foot, Pose((x, 0, 0.35)), priority=1) for foot, x in zip(FEET, (0.1, -0.1), strict=True)]
    seat, balance = Touch("pelvis", "chair", priority=2), CenterOfMass(over=[*FEET, "pelvis"], margin=0.01, priority=3)
    result = poise.solve(HUMAN, [*feet, seat, balance], start="sitting", obstacles=[chair], solid=True)
    assert max(result.errors.values()) < 1e-4
    assert static_margin(result.posture, FLOOR, chair) > 0.01 - 1e-3
    on_feet = poise.solve(
        HUMAN, [*feet, seat, CenterOfMass(over=FEET, priority=1)], start="sitting", obstacles=[chair], solid=True
    )
    assert (
        result.posture.figure.center_of_mass(result.posture)[2]
        < on_feet.posture.figure.center_of_mass(on_feet.posture)[2]
    )


def leaning(hands: tuple[str, ...]) -> poise.Result:
    """The human whose hands touch a wall in front, and whose chest is asked towards it."""
    wall = Obstacle(Box((1.5, 2.0, 0.1)), Pose((0.0, 1.0, 0.75)), name="wall")
    touches = [
        Touch(hand, wall, at=(x, 1.3, 0.7), priority=2) for hand, x in (("right_hand", -0.2), ("left_hand", 0.2))
    ]
    balance = CenterOfMass(over=[*FEET, *hands], margin=0.02, priority=3)
    tasks = [*standing()[:2], *touches, balance, Position("chest", (0.0, 1.3, 0.4), priority=4)]
    return poise.solve(HUMAN, tasks, start="standing", obstacles=[wall], max_steps=400)


def test_hands_on_a_wall_carry_a_person_who_leans() -> None:
    leans, stands = leaning(("right_hand", "left_hand")), leaning(())
    toes = max(corner[2] for corner in support_polygon(stands.posture, FEET).corners)
    for result, beyond in ((leans, True), (stands, False)):
        support = result.verdicts[4].support
        assert support is not None and support.inside > 0.0199
        assert "inside" in result.report()
        assert (HUMAN.center_of_mass(result.posture)[2] > toes) == beyond
    # The wall pushes back at the height of the hands, with at most the friction of the soles: 0.7 of the weight.
    support = leans.verdicts[4].support
    assert support is not None
    assert support.corners[:, 2].max() == pytest.approx(toes + 0.7 * 1.3, abs=0.1)


def test_a_hand_on_the_body_itself_carries_nothing() -> None:
    touch = Touch("right_hand", "right_thigh", priority=2)
    balance = CenterOfMass(over=[*FEET, "right_hand"], priority=3)
    result = poise.solve(HUMAN, [*standing()[:2], touch, balance], start="standing")
    support = result.verdicts[3].support
    assert support is not None
    on_feet = support_polygon(result.posture, FEET)
    assert support.inside == pytest.approx(on_feet.inside, abs=1e-6)


def test_a_support_that_does_not_touch_yet_carries_nothing() -> None:
    far = Obstacle(Box((0.8, 0.05, 0.5)), Pose((0.0, 0.75, 3.0)), name="far table")
    touch = Touch("right_hand", far, priority=3)
    balance = CenterOfMass(over=[*FEET, "right_hand"], priority=2)
    result = poise.solve(HUMAN, [*standing()[:2], balance, touch], start="standing", obstacles=[far], solid=True)
    support = result.verdicts[2].support
    assert support is not None
    assert support.corners[:, 2].max() < 0.3
    assert result.errors[balance] < 1e-5
    assert static_margin(result.posture, FLOOR) > -1e-4


def test_touch_in_words_and_files(tmp_path: Path) -> None:
    scene = Scene("human", [*standing(), Touch("right_hand", TABLE, at=(0.0, 0.8, 0.4), priority=3)], obstacles=[TABLE])
    scene.save(tmp_path / "touch.toml")
    assert Scene.load(tmp_path / "touch.toml") == scene
    assert 'kind = "touch"' in (tmp_path / "touch.toml").read_text()
    assert scene.tasks[-1].label == "right_hand touches table"


@pytest.mark.parametrize(
    ("touch", "words"),
    [
        (lambda: Touch("right_hand", Obstacle(Sphere(0.1))), "give .* a name"),
        (lambda: poise.solve(HUMAN, [Touch("right_hand", "tabel")], obstacles=[TABLE]), "Did you mean 'table'"),
        (lambda: poise.solve(HUMAN, [Touch("right_hand", "right_hand")]), "cannot move relative to each other"),
        (lambda: Touch("right_hand", "floor", at=(0, np.nan, 0)), "at"),
    ],
)
def test_what_cannot_touch_is_refused_in_a_sentence(touch, words) -> None:
    with pytest.raises(TaskError, match=words):
        touch()


def test_a_human_that_touches_the_floor_bends_its_knees() -> None:
    """A straight-legged bow would be shorter, and is not what people do."""
    touch = Touch("right_hand", "floor", priority=3)
    result = poise.solve(HUMAN, [*standing(), touch], start="standing", solid=True, max_steps=400)
    assert result.errors[touch] < 1e-4
    assert np.degrees(min(result.posture["left_knee"], result.posture["right_knee"])) > 45.0
