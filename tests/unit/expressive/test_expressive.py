"""The expressive solver on chains of every kind, and its error messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.chains.targets import at, facing
from poise.errors import FigureError, TaskError
from poise.expressive.expressive import Expressive, ExpressiveSettings
from poise.expressive.measures import Weights, errors_of
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import from_to
from poise.kernels.gaze.measures import FULL, Aim
from poise.kernels.maths.quaternion import Quaternion

EXACT = 1e-8


def oblique() -> Figure:
    axes = ["Y", (1, 0.3, 0.2), (0.1, 0.5, 1.0), "X", (-0.4, 1.0, 0.6), "Z"]
    return poise.chain(axes, lengths=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1], limits=150)


CHAINS = {
    "papers' C": lambda: poise.load("erik_c"),
    "no end twister": lambda: poise.chain("YXZYX", lengths=[0.1] * 5, limits=170),
    "no root twister": lambda: poise.chain("XZXYZ", lengths=[0.1] * 5, limits=170),
    "oblique axes": oblique,
    "unlimited": lambda: poise.chain("YXZXY", lengths=[0.1] * 5, limits=(-math.inf, math.inf)),
    "lopsided limits": lambda: poise.chain("YXZXZY", lengths=[0.1] * 6, limits=(-60, 120)),
}


def reachable(figure: Figure, rng: np.random.Generator) -> tuple[poise.Posture, np.ndarray]:
    return figure.random(rng), figure.pose_of("tip", figure.random(rng)).rotation


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
def test_every_reachable_orientation_is_met_inside_the_limits(make) -> None:
    figure = make()
    solver = Expressive(figure)
    rng = np.random.default_rng(5)
    for _ in range(60):
        posture, orientation = reachable(figure, rng)
        result = solver.solve(posture, orientation)
        assert result.orientation_error < EXACT
        assert not figure.violations(result.posture)


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
def test_a_posture_that_faces_the_target_is_left_alone(make) -> None:
    figure = make()
    posture = figure.random(9)
    result = Expressive(figure).solve(posture, figure.pose_of("tip", posture).rotation)
    assert result.shape_error < 1e-10
    assert result.orientation_error < EXACT


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_reported_errors_are_those_of_the_posture_and_the_same_every_time(seed: int) -> None:
    figure = poise.load("erik_e")
    solver = Expressive(figure)
    posture, orientation = reachable(figure, np.random.default_rng(seed))
    result = solver.solve(posture, orientation)
    errors = errors_of(
        solver.limb, solver.scoring, Aim(Quaternion(*orientation.tolist()), FULL), result.posture, posture
    )
    assert result.error == pytest.approx(errors.combined, abs=1e-12)
    assert result.orientation_error == pytest.approx(errors.orientation, abs=1e-12)
    assert result.shape_error == pytest.approx(errors.shape, abs=1e-12)
    assert solver.solve(posture, orientation).posture == result.posture


def test_a_batch_answers_each_question_as_if_it_were_alone() -> None:
    figure = poise.load("erik_g")
    solver = Expressive(figure)
    rng = np.random.default_rng(3)
    pairs = [reachable(figure, rng) for _ in range(300)]
    postures, orientations = np.array([p.q for p, _ in pairs]), np.array([o for _, o in pairs])
    batch = solver.solve_batch(postures, orientations)
    for i in (0, 150, 299):
        assert batch[i].posture == solver.solve(*pairs[i]).posture


def test_a_direction_leaves_the_roll_free_and_costs_less_shape() -> None:
    figure = poise.chain("YXZYX", lengths=[0.1] * 5, limits=120)
    solver = Expressive(figure)
    posture = figure.random(4)
    direction = np.array([0.5, 0.2, -0.7])
    looser = solver.solve(posture, facing(direction, roll=None))
    stricter = solver.solve(posture, facing(direction, roll=1.0))
    points = figure.pose_of("tip", looser.posture).matrix[:, 1]
    assert points[:3] == pytest.approx(direction / np.linalg.norm(direction), abs=1e-8)
    assert looser.shape_error <= stricter.shape_error


def test_a_point_is_looked_at_from_where_the_tip_comes_to_be() -> None:
    lamp = poise.load("adelino")
    point = np.array([1.5, 0.3, 1.4])
    solver = Expressive(lamp)
    tip = lamp.pose_of(solver.limb.tip, solver.solve("sad", at(point)).posture)
    sight = point - tip.position
    assert tip.matrix[:3, 1] @ sight / np.linalg.norm(sight) == pytest.approx(1.0, abs=1e-9)


def branching() -> Figure:
    made = Builder("lamp with arms")
    made.body("base")
    made.body("neck", parent="base", joint=revolute("turn", "y", limits=(-1.6, 1.6)), at=(0, 0.1, 0))
    made.body("arm", parent="neck", joint=prismatic("slide", "x", limits=(-0.1, 0.1)), at=(0, 0.1, 0))
    made.body("throat", parent="neck", joint=revolute("bend", "x", limits=(-1.6, 1.6)), at=(0, 0.2, 0))
    made.body("head", parent="throat", joint=revolute("nod", "x", limits=(-1.6, 1.6)), at=(0, 0.2, 0))
    made.site("eyes", "head", at=(0, 0.1, 0))
    made.site("hand", "arm", at=(0.1, 0, 0))
    return made.build()


def test_one_gaze_chain_among_limbs_leaves_the_others_in_the_posture() -> None:
    figure = branching()
    posture = figure.posture({"slide": 0.07, "bend": 0.4, "nod": -0.3})
    result = Expressive(figure, tip="eyes").solve(posture, facing([0.3, 0.5, 0.8], roll=None))
    assert result.orientation_error < EXACT
    assert result.posture["slide"] == 0.07


def test_an_unreachable_target_gives_the_nearest_legal_posture() -> None:
    figure = poise.chain("YXY", lengths=[0.1] * 3, limits=60)
    result = Expressive(figure).solve(figure.neutral(), facing("-y", roll=None))
    assert not figure.violations(result.posture)
    assert result.orientation_error == pytest.approx(math.sqrt(2) * math.sin(math.radians(120) / 4), abs=1e-6)


def test_a_tip_that_may_not_be_upside_down_is_not() -> None:
    figure = poise.load("erik_d")
    solver = Expressive(figure, weights=Weights(symmetric=False))
    posture, orientation = reachable(figure, np.random.default_rng(2))
    result = solver.solve(posture, orientation)
    tip = figure.pose_of("tip", result.posture).rotation
    assert abs(tip @ orientation) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("posture", "orientation", "words"),
    [
        ([0.0, 2.0, 0.0, 0.0, 0.0], [1, 0, 0, 0], "outside its limits"),
        ([0.0, 2.0], [1, 0, 0, 0], "5 numbers"),
        ([0.0] * 5, [2, 0, 0, 0], "unit quaternion"),
        ([0.0] * 5, [math.nan, 0, 0, 0], "orientation"),
        ([0.0, math.nan, 0.0, 0.0, 0.0], [1, 0, 0, 0], "nan"),
    ],
)
def test_bad_questions_are_one_sentence(posture, orientation, words: str) -> None:
    with pytest.raises((FigureError, TaskError), match=words) as caught:
        Expressive(poise.load("erik_c")).solve(posture, orientation)
    assert str(caught.value).count("\n") == 0


def test_bad_settings_are_one_sentence() -> None:
    with pytest.raises(TaskError, match="starts of expressive must be a whole number from 1 up"):
        ExpressiveSettings(starts=0)
    with pytest.raises(TaskError, match="between 0 and 1"):
        ExpressiveSettings(blend=1.5)


def test_a_ball_joint_in_the_chain_is_refused() -> None:
    made = Builder("puppet")
    made.body("base")
    made.body("trunk", parent="base", joint=ball("hip"), at=(0, 0.1, 0))
    made.body("head", parent="trunk", joint=revolute("nod", "x"), at=(0, 0.3, 0))
    with pytest.raises(FigureError, match=r"expressive needs .*; 'hip' is a ball joint"):
        Expressive(made.build())


def bracket(gap: float, axes: str, look: str) -> poise.Figure:
    """A bracket on a column: joints with these axes, `gap` apart in the direction of the camera, which looks along."""
    made = Builder("bracket", up="y")
    parent, at = made.body("column", mass=1.0), np.array([0.0, 0.1, 0.0])
    ahead = np.array({"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}[look])
    for k, axis in enumerate(axes):
        joint = revolute(f"{axis}{k}", axis, limits=(-1.5, 1.5))
        parent = made.body(f"part{k}", parent=parent, joint=joint, at=at if k == 0 else gap * ahead)
    made.site("tip", parent, at=0.05 * ahead, turned=from_to("y", ahead))
    return made.build()


@pytest.mark.parametrize(("axes", "look"), [("yx", "y"), ("yx", "z"), ("yxz", "z"), ("zxy", "y"), ("xyxy", "z")])
@pytest.mark.parametrize("solver", [poise.Expressive, poise.Erik])
def test_crossing_axes_act_as_if_they_were_a_hair_apart(solver, axes: str, look: str) -> None:
    crossing, apart = solver(bracket(0.0, axes, look)), solver(bracket(1e-4, axes, look))
    rng = np.random.default_rng(5)
    for _ in range(20):
        posture = rng.uniform(-1.0, 1.0, len(axes))
        target = poise.facing(rng.normal(size=3), roll=None)
        one, other = crossing.solve(posture, target), apart.solve(posture, target)
        assert one.error == pytest.approx(other.error, abs=1e-9)
        assert one.shape_error == pytest.approx(other.shape_error, abs=1e-9)


def test_a_pan_tilt_bracket_looks_where_it_can_reach() -> None:
    figure = bracket(0.0, "yx", "z")
    solver = poise.Expressive(figure)
    for direction in ([1, 0, 2], [-0.5, 0.6, 1], [0.3, -0.7, 1]):
        result = solver.solve(figure.neutral(), direction)
        ahead = figure.pose_of("tip", result.posture).matrix @ np.array([0.0, 1.0, 0.0])
        assert np.allclose(ahead, np.array(direction) / np.linalg.norm(direction), atol=1e-6)


def test_erik_of_2017_says_what_to_do_about_crossing_axes() -> None:
    with pytest.raises(FigureError, match="at the same point: move one of them by a millimetre"):
        poise.Erik(bracket(0.0, "yx", "y"), variant="2017")


@pytest.mark.parametrize("solver", [poise.Expressive, poise.Erik])
def test_a_tip_looks_along_the_axis_with_which_it_faces(solver) -> None:
    made = Builder("camera", up="y")
    made.body("column", mass=1.0)
    made.body("pan", parent="column", joint=revolute("pan", "y", limits=(-1.5, 1.5)), at=(0, 0.1, 0))
    made.body("head", parent="pan", joint=revolute("tilt", "x", limits=(-1.0, 1.0)), at=(0, 0.02, 0))
    made.site("lens", "head", at=(0, 0.01, 0.05), facing="z")
    figure = made.build()
    for direction in ([1, 0, 2], [-0.5, 0.6, 1], [0.3, -0.7, 1]):
        found = solver(figure, tip="lens").solve(figure.neutral(), direction).posture
        ahead = figure.pose_of("lens", found).matrix @ np.array([0.0, 0.0, 1.0])
        assert np.allclose(ahead, np.array(direction) / np.linalg.norm(direction), atol=1e-3)
    with poise.Character(figure) as live:
        live.face([1, 0, 2])
        *_, last = live.frames(rate=60, seconds=3.0, realtime=False)
    ahead = figure.pose_of("lens", last).matrix @ np.array([0.0, 0.0, 1.0])
    assert np.allclose(ahead, np.array([1, 0, 2]) / np.sqrt(5.0), atol=1e-2)
