"""Avoidance: a figure stops at the surface of an obstacle, reports it, and rests there."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise import Avoid, Hold, Obstacle, Plane, Pose, Position, TaskError
from poise.figure.collision.collisions import Collisions
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.pose import turn
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, capsule_between

MARGIN = 0.01
CORNERS = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
FACES = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"


def arm() -> poise.Figure:
    """A shoulder, an elbow, a wrist and a round hand, along +x at rest."""
    made = Builder("arm")
    made.body("post", shapes=[capsule_between((0, -0.5, 0), (0, -0.1, 0), 0.05)])
    upper, fore = capsule_between((0, 0, 0), (0.4, 0, 0), 0.04), capsule_between((0, 0, 0), (0.35, 0, 0), 0.03)
    made.body("upper", parent="post", joint=ball("shoulder"), shapes=[upper])
    made.body("fore", parent="upper", joint=revolute("elbow", "z", (-2.6, 2.6)), at=(0.4, 0, 0), shapes=[fore])
    made.body("hand", parent="fore", joint=ball("wrist"), at=(0.35, 0, 0), shapes=[Sphere(0.05)])
    made.site("palm", "hand")
    return made.build()


BENT = {"shoulder": turn("z", -60), "elbow": np.radians(130.0)}
SHAPES = {
    "sphere": Sphere(0.1),
    "box": Box((0.2, 0.3, 0.4)),
    "capsule": Capsule(0.1, 0.2),
    "cylinder": Cylinder(0.1, 0.3),
    "ellipsoid": Ellipsoid((0.1, 0.15, 0.2)),
    "mesh": None,
    "plane": None,
}


def obstacle(kind: str, folder: Path) -> Obstacle | Plane:
    """Something that fills the place (0.6, 0.1, 0.1)."""
    if kind == "plane":
        return Plane("-x", -0.5, name="wall")
    shape = SHAPES[kind]
    if shape is None:
        (folder / "cube.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + FACES)
        shape = Mesh(str(folder / "cube.obj"))
    return Obstacle(shape, Pose((0.6, 0.1, 0.1), turn("y", 20)), name="wall")


def nearest(
    figure: poise.Figure, posture: poise.Posture, obstacles: list[Obstacle | Plane], itself: bool = False
) -> float:
    return min(near.distance for near in Collisions(figure, obstacles, itself, reach=2.0).at(posture))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_hand_pushed_into_an_obstacle_stops_at_its_surface(kind: str, tmp_path: Path) -> None:
    figure, wall = arm(), obstacle(kind, tmp_path)
    push = Position("palm", at=(0.6, 0.1, 0.1))
    free = poise.solve(figure, [push], start=BENT)
    assert free.status == "solved"
    assert nearest(figure, free.posture, [wall]) < 0.0
    result = poise.solve(figure, [push], start=BENT, obstacles=[wall])
    assert result.status == "unreachable"
    assert nearest(figure, result.posture, [wall]) == pytest.approx(MARGIN, abs=2e-5)
    assert result.verdicts[0].blocked_by == ("contact of hand with wall",)
    assert result.verdicts[1].met


def test_a_figure_that_starts_inside_an_obstacle_comes_out():
    figure = arm()
    ball_around_hand = Obstacle(Sphere(0.1), Pose(figure.pose_of("palm", BENT).position + np.array([0.02, 0.03, 0.0])))
    result = poise.solve(figure, [Hold(BENT)], start=BENT, obstacles=[ball_around_hand])
    assert nearest(figure, result.posture, [ball_around_hand]) == pytest.approx(MARGIN, abs=2e-5)


def test_a_fast_hand_does_not_pass_through_a_thin_wall():
    figure = arm()
    board = Obstacle(Box((0.004, 2.0, 2.0)), Pose((0.45, 0.0, 0.0)))
    start = {"shoulder": turn("z", -100), "elbow": np.radians(150.0)}
    assert nearest(figure, figure.posture(start), [board]) > 0.1
    result = poise.solve(figure, [Position("palm", at=(0.75, 0.0, 0.0))], start=start, obstacles=[board])
    assert figure.pose_of("palm", result.posture).position[0] < 0.45
    assert nearest(figure, result.posture, [board]) == pytest.approx(MARGIN, abs=2e-5)


def test_a_hand_that_touches_a_wall_rests_there():
    figure, wall = arm(), Plane("-x", -0.5)
    solver = poise.Solver(figure, [Position("palm", at=(0.7, 0.1, 0.1))], obstacles=[wall])
    posture, moves = solver.settle(BENT).posture, []
    for _ in range(20):
        after = solver.step(posture)
        moves.append(np.abs(figure.difference(posture, after)).max())
        posture = after
    assert max(moves) < 1e-6
    assert max(moves[10:]) < 1e-12


def test_a_hand_slides_along_a_wall_to_the_nearest_place():
    figure, wall = arm(), Plane("-x", -0.5)
    result = poise.solve(figure, [Position("palm", at=(0.6, 0.2, 0.15))], start=BENT, obstacles=[wall])
    np.testing.assert_allclose(figure.pose_of("palm", result.posture).position, [0.44, 0.2, 0.15], atol=1e-4)


def test_margin_is_the_distance_kept():
    figure, wall = arm(), Plane("-x", -0.5)
    tasks = [Position("palm", at=(0.7, 0.1, 0.1)), Avoid(wall, margin=0.03)]
    result = poise.solve(figure, tasks, start=BENT)
    assert nearest(figure, result.posture, [wall]) == pytest.approx(0.03, abs=2e-5)


def test_the_same_question_has_the_same_answer_to_the_last_bit(tmp_path: Path):
    figure, walls = arm(), [obstacle("mesh", tmp_path)]
    push = Position("palm", at=(0.6, 0.1, 0.1))
    first, second = (poise.solve(figure, [push], start=BENT, obstacles=walls, avoid_self=True) for _ in range(2))
    assert first.q.tobytes() == second.q.tobytes()


def test_bodies_keep_clear_of_each_other():
    figure = arm()
    push = Position("palm", at=(0.0, -0.3, 0.0))
    assert nearest(figure, poise.solve(figure, [push], start=BENT).posture, [], True) < 0.0
    for result in (
        poise.solve(figure, [push], start=BENT, avoid_self=True),
        poise.solve(figure, [push, Avoid("self")], start=BENT),
    ):
        assert nearest(figure, result.posture, [], True) == pytest.approx(MARGIN, abs=1e-4)
        assert not result.verdicts[0].met


def test_pairs_may_be_left_out():
    figure = arm()
    push = Position("palm", at=(0.0, -0.3, 0.0))
    avoid = Avoid("self", exclude=[("hand", "post"), ("fore", "post")])
    assert poise.solve(figure, [push, avoid], start=BENT).status == "solved"


def test_bodies_that_meet_in_the_neutral_posture_may_stay_as_near():
    made = Builder("twins")
    made.body("base", shapes=[Sphere(0.01)])
    for name, x in (("left", -0.048), ("right", 0.048)):
        link = capsule_between((0, 0, 0), (0, 0.3, 0), 0.05)
        made.body(name, parent="base", joint=prismatic(name, "x", (-0.2, 0.2)), at=(x, 0.1, 0), shapes=[link])
    twins = made.build()
    result = poise.solve(twins, [Hold({"left": 0.1, "right": -0.1})], avoid_self=True)
    near = {(n.a, n.b): n.distance for n in reversed(Collisions(twins).at(result.posture))}
    assert near["left", "right"] == pytest.approx(-0.004, abs=1e-4)


def test_an_obstacle_that_is_moved_pushes_the_hand_away():
    figure = arm()
    lamp = Obstacle(Sphere(0.1), Pose((3.0, 0.0, 0.0)), name="lamp")
    solver = poise.Solver(figure, [Hold(BENT)], obstacles=[lamp])
    posture = solver.settle(BENT).posture
    np.testing.assert_allclose(posture.q, figure.posture(BENT).q, atol=1e-6)
    there = Pose(figure.pose_of("palm", BENT).position + np.array([0.05, 0.0, 0.0]))
    solver.move(lamp, there)
    pushed = solver.settle(posture).posture
    assert nearest(figure, pushed, [lamp.moved(there)]) == pytest.approx(MARGIN, abs=2e-5)
    solver.move(lamp, Pose((3.0, 0.0, 0.0)))
    np.testing.assert_allclose(solver.settle(pushed).posture.q, figure.posture(BENT).q, atol=1e-5)


def test_a_plane_that_is_moved_pushes_too():
    figure, wall = arm(), Plane("-x", -2.0)
    solver = poise.Solver(figure, [Hold(BENT)], obstacles=[wall])
    carried = Pose((-1.7, 0.0, 0.0), turn("z", 10))
    solver.move(wall, carried)
    pushed = solver.settle(BENT).posture
    assert nearest(figure, pushed, [wall.moved(carried)]) == pytest.approx(MARGIN, abs=2e-5)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: Avoid("self", margin=-1.0), "margin must be a length of 0 m or more, not -1.0"),
        (lambda: Avoid("self", reach=0.005), "reach must be greater than the margin"),
        (lambda: Avoid("table").hazards, "an obstacle, a plane or \"self\", not 'table'"),
        (lambda: poise.solve(arm(), [Avoid("self", exclude=[("hnad", "post")])]), "Did you mean 'hand'"),
        (lambda: poise.Solver(arm(), []).move(Plane("y"), Pose()), "no obstacle to move"),
        (
            lambda: poise.Solver(arm(), [], obstacles=[Plane("x")]).move(Plane("y"), Pose()),
            "is not one of the solver's obstacles",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(ask, words):
    with pytest.raises(TaskError, match=words):
        ask()
