"""Forward kinematics of mechanisms: motors at their values, loops closed, solution branches kept."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.errors import FigureError
from poise.figure import Figure, Joint
from poise.figure.assembly.loop_values import joint_motion, joint_values, unwound
from poise.figure.model.builder import Builder, free, prismatic, revolute, universal
from poise.figure.model.joints import KINDS
from poise.figure.model.pose import Pose
from tests import dr_legs as legs
from tests.unit.figures.loops import mobility

CLOSED = 1e-9
MECHANISMS = ["four_bar", "five_bar", "delta", "stewart", "all_joints", "dancer", "walker"]


def motor_names(figure: Figure) -> list[str]:
    return [joint.name for joint in figure.joints if joint.active]


@pytest.mark.parametrize("name", MECHANISMS)
@given(shares=st.lists(st.floats(-1.0, 1.0), min_size=12, max_size=12))
@settings(max_examples=30)
def test_always_closed_and_inside_limits(name: str, shares: list[float]) -> None:
    figure = poise.load(name)
    joints = [figure.joints[motor] for motor in motor_names(figure)]
    wanted = {j.name: s * (j.upper[0] if s > 0 else -j.lower[0]) for j, s in zip(joints, shares, strict=False)}
    result = figure.assemble(wanted)
    assert figure.closure_error(result.posture) <= CLOSED
    assert result.gap <= CLOSED
    assert figure.violations(result.posture) == []
    missed = {motor: abs(result.motors[motor] - value) for motor, value in wanted.items()}
    assert (max(missed.values()) <= CLOSED) == (result.status == "assembled")
    assert result.missed == pytest.approx({m: value for m, value in missed.items() if value > CLOSED}, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "dancer"])
def test_small_moves_of_the_motors_are_reached_on_the_same_branch(name: str) -> None:
    figure, rng = poise.load(name), np.random.default_rng(0)
    there = back = figure.assemble({})
    for _ in range(10):
        wanted = {motor: float(rng.uniform(-0.05, 0.05)) for motor in motor_names(figure)}
        there = figure.assemble(wanted, near=there.posture)
        assert there.status == "assembled"
    back = figure.assemble(dict.fromkeys(wanted, 0.0), near=there.posture)
    np.testing.assert_allclose(back.posture.q, figure.neutral().q, atol=1e-9)


def test_motors_beyond_their_workspace_come_as_close_as_they_can() -> None:
    """The rocker pin of the four-bar stops at its limit: where it is there, the crank can go no further."""
    figure = poise.load("four_bar")
    result = figure.assemble({"drive": 1.7})
    assert result.status == "closest"
    assert result.missed["drive"] == pytest.approx(1.7 - float(result.motors["drive"]))
    assert figure.closure_error(result.posture) <= CLOSED
    pin = figure.joints["rocker_pin"]
    assert min(abs(result.posture["rocker_pin"] - bound) for bound in (*pin.lower, *pin.upper)) <= CLOSED
    assert "cannot reach these motor values" in result.report()


def test_without_limits_the_closest_posture_is_where_coupler_and_rocker_are_in_line() -> None:
    """The farthest a double rocker turns is a triangle: crank, ground, and the two others as one side."""
    bounded = poise.load("four_bar")
    figure = bounded.replaced(joints=[replace(joint, lower=(), upper=()) for joint in bounded.joints], couplings=[])
    ground, crank, coupler, rocker = (math.dist(a, b) for a, b in (
        ((0, 0.1), (0.5, 0.1)), ((0, 0.1), (0, 0.5)), ((0, 0.5), (0.3, 0.6)), ((0.3, 0.6), (0.5, 0.1))
    ))  # fmt: skip
    angle = math.acos((ground**2 + crank**2 - (coupler + rocker) ** 2) / (2.0 * ground * crank))
    result = figure.assemble({"drive": 2.5})
    assert result.status == "closest"
    assert result.motors["drive"] == pytest.approx(angle - math.pi / 2.0, abs=1e-8)


def test_the_closest_posture_is_stationary() -> None:
    """Eight motors on six freedoms, asked for what they cannot all have: no closed motion brings them nearer."""
    figure = poise.load("dancer")
    wanted = {motor: 0.1 * (-1) ** k for k, motor in enumerate(motor_names(figure))}
    result = figure.assemble(wanted)
    assert result.status == "closest"
    distance = sum((float(result.motors[m]) - value) ** 2 for m, value in wanted.items())
    rng = np.random.default_rng(0)
    for _ in range(30):
        other = {m: float(result.motors[m]) + float(rng.normal(0.0, 0.01)) for m in wanted}
        beside = figure.assemble(other, near=result.posture).motors
        assert sum((float(beside[m]) - value) ** 2 for m, value in wanted.items()) >= distance - 1e-12


def test_motors_that_are_not_named_give_way_to_those_that_are() -> None:
    figure = poise.load("dancer")
    result = figure.assemble({"left_knee": 0.2})
    assert result.status == "assembled"
    assert result.motors["left_knee"] == pytest.approx(0.2, abs=1e-9)
    others = [abs(float(result.motors[m])) for m in motor_names(figure) if m != "left_knee"]
    assert max(others) < 0.2


def test_motors_that_are_not_named_stay_when_they_can() -> None:
    figure = poise.load("five_bar")
    result = figure.assemble({"left_motor": 0.3})
    assert result.motors["right_motor"] == 0.0


def test_from_an_open_start() -> None:
    figure = poise.load("walker")
    open_start = figure.posture({"left_inner_knee": 0.6, "right_outer_shank_twist": -0.4})
    assert figure.closure_error(open_start) > 0.01
    result = figure.assemble({"left_inner_horn": 0.1}, near=open_start)
    assert result.status == "assembled"
    assert figure.closure_error(result.posture) <= CLOSED


def test_restarts_find_another_way_in() -> None:
    """A motor that meets a fold on the way: the same value on another branch needs no way there."""
    bounded = poise.load("four_bar")
    figure = bounded.replaced(joints=[replace(joint, lower=(), upper=()) for joint in bounded.joints], couplings=[])
    folded = figure.assemble({"drive": -2.6})
    assert folded.status == "closest"
    found = figure.assemble({"drive": -2.6 + math.tau}, near=folded.posture, restarts=20)
    assert found.status == "closest" or figure.closure_error(found.posture) <= CLOSED


def test_a_mechanism_that_cannot_close() -> None:
    made = Builder("short")
    made.body("ground")
    made.body("bar", parent="ground", joint=revolute("hinge", "z"))
    made.loop(
        revolute("pin", "z"), "ground", "bar", parent_frame=Pose((3.0, 0.0, 0.0)), child_frame=Pose((1.0, 0.0, 0.0))
    )
    result = made.build().assemble({}, restarts=3)
    assert result.status == "open"
    assert result.gap == pytest.approx(2.0, abs=1e-6)
    assert result.report().startswith("short could not be assembled: its loop joint 'pin' stays open by 2 m")


def slider_crank(*, driven: str) -> Figure:
    """A crank of 0.1 m and a rod of 0.3 m push a slide; its joint with the rod closes the loop."""
    made = Builder("slider_crank")
    made.body("ground")
    made.body("crank", parent="ground", joint=revolute("motor", "z", active=driven == "motor"))
    made.body("rod", parent="crank", joint=revolute("pin", "z", active=False), at=(0.1, 0.0, 0.0))
    made.body("slide", parent="ground", joint=prismatic("rail", "x", active=driven == "rail"), at=(0.4, 0.0, 0.0))
    made.loop(
        revolute("knuckle", "z", active=driven == "knuckle"), "slide", "rod", parent_frame=Pose(),
        child_frame=Pose((0.3, 0.0, 0.0)),
    )  # fmt: skip
    return made.build()


def test_a_motor_on_the_joint_that_closes_the_loop() -> None:
    figure = slider_crank(driven="knuckle")
    # Beside the dead centre, from which the crank could go either way.
    near = slider_crank(driven="motor").assemble({"motor": 0.3}).posture.q
    start = figure.assemble({}, near=near)
    assert start.motors["knuckle"] == pytest.approx(-math.asin(math.sin(0.3) / 3.0), abs=1e-9)
    result = figure.assemble({"knuckle": -0.2}, near=near)
    assert result.status == "assembled"
    assert result.motors == {"knuckle": pytest.approx(-0.2, abs=1e-9)}
    assert math.sin(float(result.posture["motor"])) == pytest.approx(3.0 * math.sin(0.2), abs=1e-9)
    too_far = figure.assemble({"knuckle": -0.5}, near=near)
    assert too_far.status == "closest"
    assert too_far.motors["knuckle"] == pytest.approx(-math.asin(1.0 / 3.0), abs=1e-6)


def test_motors_on_loop_joints_go_on_counting() -> None:
    made = Builder("wheel")
    made.body("ground")
    made.body("wheel", parent="ground", joint=revolute("axle", "z", active=False))
    made.loop(revolute("drive", "z"), "ground", "wheel", parent_frame=Pose(), child_frame=Pose())
    figure = made.build()
    posture, turned = figure.neutral(), 0.0
    for k in range(1, 20):
        result = figure.assemble({"drive": turned + 0.5}, near=posture)
        assert result.status == "assembled"
        posture, turned = result.posture, float(result.motors["drive"])
        assert posture["axle"] == pytest.approx(0.5 * k, abs=1e-9)


def stewart_driven_by_its_pose() -> Figure:
    """A Stewart platform whose platform is also joined to the base by a motor with all six freedoms."""
    figure = poise.load("stewart")
    return figure.replaced(loops=[*figure.loops, replace(free("pose"), parent="base", child="platform")])


@pytest.mark.parametrize("seed", range(5))
def test_a_free_loop_joint_drives_all_six_freedoms(seed: int) -> None:
    """Its value is a pose, for which the legs are found; the legs at those lengths give the pose again."""
    rng, figure, plain = np.random.default_rng(seed), stewart_driven_by_its_pose(), poise.load("stewart")
    here = figure.pose_of("platform", figure.neutral())
    turned = Pose(rotation=(1.0, *rng.uniform(-0.05, 0.05, 3)))
    goal = Pose(here.position + rng.uniform(-0.03, 0.03, 3), (turned @ Pose(rotation=here.rotation)).rotation)
    result = figure.assemble({"pose": [*goal.position, *goal.rotation]})
    assert result.status == "assembled" and figure.closure_error(result.posture) <= CLOSED
    np.testing.assert_allclose(figure.pose_of("platform", result.posture).position, goal.position, atol=CLOSED)
    assert abs(figure.pose_of("platform", result.posture).rotation @ goal.rotation) == pytest.approx(1.0, abs=1e-12)
    legs_only = {name: value for name, value in result.motors.items() if name != "pose"}
    again = plain.assemble(legs_only)
    np.testing.assert_allclose(plain.pose_of("platform", again.posture).position, goal.position, atol=1e-7)


def test_a_free_loop_joint_out_of_reach_comes_as_close_as_it_can() -> None:
    figure = stewart_driven_by_its_pose()
    here = figure.pose_of("platform", figure.neutral())
    above = here.position + np.array([0.0, 1.0, 0.0])
    result = figure.assemble({"pose": [*above, *here.rotation]})
    assert result.status == "closest" and figure.closure_error(result.posture) <= CLOSED
    assert result.missed["pose"] > 0.5 and figure.violations(result.posture) == []


def test_a_passive_free_loop_joint_asks_for_nothing() -> None:
    figure = poise.load("stewart")
    loose = figure.replaced(loops=[*figure.loops, replace(free("pose", active=False), parent="base", child="platform")])
    wanted = {"leg_1_motor": 0.03, "leg_4_motor": -0.02}
    assert loose.assemble(wanted).posture.q.tobytes() == figure.assemble(wanted).posture.q.tobytes()
    with pytest.raises(FigureError, match="has no motor"):
        loose.assemble({"pose": [0.0] * 7})


def test_fixed_joints_have_no_motor() -> None:
    figure = poise.load("all_joints")
    with pytest.raises(FigureError, match="'bolt' is fixed and cannot be driven"):
        figure.assemble({"bolt": 0.1})


def test_a_passive_loop_joint_has_no_motor() -> None:
    with pytest.raises(FigureError, match="loop joint 'crank_pin' of figure 'four_bar' has no motor"):
        poise.load("four_bar").assemble({"crank_pin": 0.1})


@pytest.mark.parametrize("value", [math.nan, [0.1, 0.2], "left", None])
def test_values_that_are_no_values(value: object) -> None:
    with pytest.raises(FigureError, match="drive"):
        poise.load("four_bar").assemble({"drive": value})


def test_unknown_motors_are_named() -> None:
    with pytest.raises(FigureError, match=r"has no joint 'drvie'. Did you mean 'drive'"):
        poise.load("four_bar").assemble({"drvie": 0.1})


def test_figures_without_loops_take_their_values() -> None:
    figure = poise.load("adelino")
    joint = figure.moving_joints[0]
    result = figure.assemble({joint: 0.3})
    assert (result.status, result.posture[joint]) == ("assembled", 0.3)


@given(st.sampled_from([kind for kind in KINDS if kind != "fixed"]), st.integers(0, 2**32 - 1))
def test_values_of_a_joint_are_read_off_its_gap(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes = {"universal": ("x", (0.3, 1.0, 0.2)), "elbow": ("x", "y")}.get(kind, ("y",))
    makers = {"universal": universal, "revolute": revolute}
    joint = makers[kind]("joint", *axes) if kind in makers else _any(kind)
    values = rng.uniform(-1.4, 1.4, joint.nq)
    if kind in ("ball", "free"):
        values[-4:] /= np.linalg.norm(values[-4:])
    read = unwound(joint, joint_values(joint, joint_motion(joint, values)), values)
    np.testing.assert_allclose(read, values, atol=1e-12)


def _any(kind: str) -> Joint:
    count = {"prismatic": 1, "cylindrical": 1, "planar": 1, "elbow": 2}.get(kind, 0)
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))[:count]
    return Joint("joint", kind, None, "body", axes)  # type: ignore[arg-type]


def test_a_walking_robot_is_assembled_at_every_frame_and_after_jumps() -> None:
    figure = poise.load("walker")
    motors = [joint.name for joint in figure.joints if joint.active]
    assert mobility(figure, figure.neutral()) == len(motors) == 12
    time = np.linspace(0.0, 6.0, 400)
    curves = {motor: 0.1 * np.sin(time * (1.0 + 0.2 * k) + k) for k, motor in enumerate(motors)}
    start = figure.assemble({motor: curve[0] for motor, curve in curves.items()}).posture
    q, shares = figure.assembler.frames(curves, start)
    assert (shares == 1.0).all()
    assert max(figure.closure_error(frame) for frame in q) <= 1e-11
    assert np.abs(np.diff(q, axis=0)).max() < 0.05
    rng = np.random.default_rng(0)
    for before, after in rng.integers(0, len(q), (30, 2)):
        result = figure.assemble({motor: curve[after] for motor, curve in curves.items()}, near=q[before])
        assert result.status == "assembled"
        np.testing.assert_allclose(result.posture.q, q[after], atol=1e-7)


@pytest.mark.real_data
def test_the_recorded_walk_is_assembled_at_every_frame() -> None:
    figure, walk = legs.clean_dr_legs(), legs.recorded_walk()
    assert mobility(figure, figure.neutral()) == 12
    q, shares = figure.assembler.frames({m: walk[:, k] for k, m in enumerate(legs.MOTORS)}, figure.neutral())
    assert (shares == 1.0).all()
    assert max(figure.closure_error(frame) for frame in q[::7]) <= 1e-11
    for k, motor in enumerate(legs.MOTORS):
        np.testing.assert_array_equal(q[:, figure.q_slice(motor).start], walk[:, k])
    assert np.abs(np.diff(q, axis=0)).max() < 0.25
    left, right = ([figure.pose_of(f"foot_{s}", frame).matrix[:, 2] for frame in q[::50]] for s in "lr")
    both = [
        max(np.linalg.norm(a - left[0]), np.linalg.norm(b - right[0])) < 0.2 for a, b in zip(left, right, strict=True)
    ]
    assert any(both)


@pytest.mark.real_data
def test_jumps_through_the_walk_stay_on_its_branch() -> None:
    figure, walk = legs.clean_dr_legs(), legs.recorded_walk()
    q, _ = figure.assembler.frames({m: walk[:, k] for k, m in enumerate(legs.MOTORS)}, figure.neutral())
    rng = np.random.default_rng(0)
    for start, end in rng.integers(0, len(walk), (60, 2)):
        result = figure.assemble(dict(zip(legs.MOTORS, walk[end], strict=True)), near=q[start])
        assert result.status == "assembled"
        np.testing.assert_allclose(result.posture.q, q[end], atol=1e-7)
