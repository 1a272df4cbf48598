"""Reach: its result, the joints it does not move, invalid arguments, and its gradient."""

import gc
import math

import numpy as np
import pytest

import poise
from poise.engine import reach as module
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.model.path import find_path
from poise.kernels.body.tree import forward
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector
from poise.kernels.reach.damped_step import solve_step
from poise.kernels.reach.descent import Goal, find_error
from poise.kernels.reach.workspace import Work
from poise.warmup import every_joint_kind


def two_links(lower: float = -math.pi, upper: float = math.pi) -> poise.Figure:
    made = Builder("two_links")
    made.body("base")
    made.body("upper", parent="base", joint=revolute("shoulder", "z", limits=(-math.pi, math.pi)))
    made.body("lower", parent="upper", joint=revolute("elbow", "z", limits=(lower, upper)), at=(0.6, 0.0, 0.0))
    made.site("tip", "lower", at=(0.4, 0.0, 0.0))
    return made.build()


def finger(couple: bool = True) -> poise.Figure:
    """Three joints that curl, the last two together, and one beside them tied to the first."""
    made = Builder("finger")
    made.body("palm")
    upper = "palm"
    for name in ("near", "middle", "far"):
        upper = made.body(name, parent=upper, joint=revolute(name, "x", limits=(0.0, 1.5)), at=(0.0, 0.04, 0.0))
    made.body("beside", parent="palm", joint=revolute("beside", "x", limits=(-1.0, 1.0)))
    made.body("apart", parent="palm", joint=revolute("apart", "x", limits=(-1.0, 1.0)))
    made.site("tip", "far", at=(0.0, 0.03, 0.0))
    if couple:
        made.couple("curl", {"far": 1.0, "middle": -2.0 / 3.0})
        made.couple("follow", {"beside": 1.0, "near": -0.5})
    return made.build()


def limb(limits: BallLimits) -> poise.Figure:
    made = Builder("limb")
    made.body("trunk")
    made.body("upper", parent="trunk", joint=ball("shoulder", limits=limits))
    made.body("lower", parent="upper", joint=revolute("elbow", "x", limits=(0.0, 2.5)), at=(0.0, 0.0, 0.3))
    made.site("hand", "lower", at=(0.0, 0.0, 0.25))
    return made.build()


LIMBS = [
    BallLimits(Ellipse(1.0, 0.5), Twist.between(-0.5, 0.7)),
    BallLimits(Polygon(((1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1))), Twist.between(-1.0, 1.0)),
    BallLimits(None, Twist.between(-0.3, 0.3)),
]


def test_it_puts_the_hand_there():
    arm = two_links()
    result = poise.reach(arm, "tip", position=(0.5, 0.5, 0.0))
    assert result.status == "solved"
    assert result.position_error <= 1e-6
    assert result.rotation_error == 0.0
    np.testing.assert_allclose(arm.pose_of("tip", result.posture).position, (0.5, 0.5, 0.0), atol=1e-6)


def test_a_rotation_alone_and_both_together():
    arm = two_links()
    posture = arm.posture([0.3, 0.9])
    goal = arm.pose_of("tip", posture)
    turned = poise.reach(arm, "tip", rotation=goal.rotation)
    assert (turned.status, turned.position_error) == ("solved", 0.0)
    assert turned.posture.q.sum() == pytest.approx(1.2, abs=1e-6)
    both = poise.reach(arm, "tip", goal.position, goal.rotation)
    assert both.status == "solved"
    np.testing.assert_allclose(both.posture.q, posture.q, atol=1e-5)


def test_reported_errors_are_those_of_the_posture():
    arm = two_links()
    result = poise.reach(arm, "tip", position=(0.4, 1.2, 0.1), rotation=(0.0, 1.0, 0.0, 0.0))
    frame = arm.pose_of("tip", result.posture)
    assert result.status == "unreachable"
    assert result.position_error == pytest.approx(np.linalg.norm(frame.position - (0.4, 1.2, 0.1)), abs=1e-12)
    cosine = abs(float(frame.rotation @ (0.0, 1.0, 0.0, 0.0)))
    assert result.rotation_error == pytest.approx(2.0 * math.acos(min(1.0, cosine)), abs=1e-7)


def test_it_starts_where_it_is_told_and_stays_near():
    arm = two_links()
    for elbow in (0.7, -0.7):
        start = arm.posture([0.2, elbow])
        goal = arm.pose_of("tip", start.changed({"shoulder": 0.25}))
        result = poise.reach(arm, "tip", goal.position, start=start)
        assert result.restarts == 0
        np.testing.assert_allclose(result.posture.q, (0.25, elbow), atol=1e-5)


def test_what_is_already_there_does_not_move():
    arm = two_links()
    start = arm.posture([0.3, 0.4])
    goal = arm.pose_of("tip", start)
    result = poise.reach(arm, "tip", goal.position, goal.rotation, start=start)
    assert (result.iterations, result.restarts) == (0, 0)
    assert result.posture == start


def test_another_branch_is_found_when_the_first_is_blocked():
    bent = two_links(0.1, 2.0)
    goal = bent.pose_of("tip", bent.posture([-1.5, 1.9]))
    result = poise.reach(bent, "tip", goal.position, start=bent.posture([2.5, 0.1]))
    assert result.status == "solved"
    assert bent.violations(result.posture) == []


def test_out_of_reach_is_a_result():
    arm = two_links()
    result = poise.reach(arm, "tip", position=(0.0, 3.0, 0.0))
    assert result.status == "unreachable"
    assert result.position_error == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(result.posture.q, (math.pi / 2.0, 0.0), atol=1e-3)


def test_a_start_outside_the_limits_is_moved_inside():
    arm = two_links(0.0, 1.0)
    result = poise.reach(arm, "tip", position=(0.5, 0.5, 0.0), start=[0.0, 2.5])
    assert arm.violations(result.posture) == []


@pytest.mark.parametrize("couple", [True, False])
def test_couplings_hold_and_carry_along_what_they_tie(couple):
    figure = finger(couple)
    goal = figure.pose_of("tip", figure.posture({"near": 0.4, "middle": 0.9, "far": 0.6}))
    result = poise.reach(figure, "tip", goal.position, goal.rotation)
    assert result.status == "solved"
    assert figure.violations(result.posture) == []
    assert result.posture["beside"] == pytest.approx(0.2 if couple else 0.0, abs=1e-5)
    assert result.posture["apart"] == figure.neutral()["apart"]


def test_a_coupling_that_bounds_is_a_limit():
    made = Builder("leg")
    made.body("base")
    made.body("thigh", parent="base", joint=revolute("hip", "z", limits=(-3.0, 3.0)))
    made.body("shank", parent="thigh", joint=revolute("knee", "z", limits=(-3.0, 3.0)), at=(0.5, 0.0, 0.0))
    made.site("foot", "shank", at=(0.5, 0.0, 0.0))
    made.bound("hamstrings", {"hip": 1.0, "knee": 1.0}, upper=0.5)
    leg = made.build()
    # Pointing straight up would need hip + knee = π/2: the best on the bound hip + knee = 0.5 has its own closed form.
    result = poise.reach(leg, "foot", position=(0.0, 5.0, 0.0))
    shank = 0.5 * np.array([math.cos(0.5), math.sin(0.5)])
    thigh = np.array([0.0, 5.0]) - shank
    best = np.linalg.norm(thigh) - 0.5
    assert leg.violations(result.posture) == []
    assert result.position_error == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("limits", LIMBS)
def test_ball_joints_stay_in_their_regions(limits):
    figure = limb(limits)
    rng = np.random.default_rng(5)
    for _ in range(5):
        goal = figure.pose_of("hand", figure.random(rng))
        result = poise.reach(figure, "hand", goal.position, goal.rotation)
        assert result.status == "solved"
        assert figure.violations(result.posture) == []
    beyond = poise.reach(figure, "hand", position=(2.0, -1.0, -1.0))
    assert figure.violations(beyond.posture) == []


def test_a_held_joint_stays():
    human = poise.load("human")
    result = poise.reach(human, "right_hand", position=(-0.3, 1.3, 0.4), hold=["base"])
    assert result.status == "solved"
    assert result.posture.q[human.q_slice("base")].tolist() == human.neutral().q[human.q_slice("base")].tolist()
    assert human.violations(result.posture) == []


def test_a_slide_and_every_joint_kind():
    made = Builder("lift")
    made.body("base")
    made.body("cage", parent="base", joint=prismatic("lift", "y", limits=(0.0, 2.0)))
    lift = made.build()
    assert poise.reach(lift, "cage", position=(0.0, 1.5, 0.0)).posture["lift"] == pytest.approx(1.5, abs=1e-6)
    assert poise.reach(lift, "cage", position=(0.0, 9.0, 0.0)).posture["lift"] == 2.0
    figure = every_joint_kind().replaced(loops=())
    goal = figure.pose_of("tip", figure.random(3))
    result = poise.reach(figure, "tip", goal.position, goal.rotation)
    assert result.status == "solved"
    assert figure.violations(result.posture) == []


def test_a_site_that_nothing_moves():
    arm = two_links()
    result = poise.reach(arm, "base", position=(0.0, 0.0, 1.0))
    assert (result.status, result.position_error) == ("unreachable", 1.0)
    assert poise.reach(arm, "base", position=(0.0, 0.0, 0.0)).status == "solved"


def test_loops_are_refused_only_where_the_way_crosses_one():
    with pytest.raises(poise.TaskError, match="'rocker_pivot' on the way to it is part of the loop that 'crank_pin'"):
        poise.reach(poise.load("four_bar"), "tip", position=(0.0, 0.0, 0.0))
    walker = poise.load("walker")
    assert (
        poise.reach(walker, "pelvis", position=walker.pose_of("pelvis", walker.neutral()).position).status == "solved"
    )


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"site": "tpi", "position": (0, 0, 0)}, poise.FigureError, "Did you mean 'tip'"),
        ({"site": "tip"}, poise.TaskError, "needs a position, a rotation, or both"),
        ({"site": "tip", "position": (0, math.nan, 0)}, poise.TaskError, "position to reach must be 3 finite"),
        ({"site": "tip", "position": (0, math.inf, 0)}, poise.TaskError, "3 finite numbers"),
        ({"site": "tip", "position": (0, 0)}, poise.TaskError, "3 finite numbers"),
        ({"site": "tip", "position": "left"}, poise.TaskError, "3 finite numbers"),
        ({"site": "tip", "position": [[0, 0, 0]]}, poise.TaskError, "3 finite numbers"),
        ({"site": "tip", "rotation": (0, 0, 0, 0)}, poise.TaskError, "zero quaternion"),
        ({"site": "tip", "rotation": (1, 0, 0)}, poise.TaskError, "rotation to reach must be 4 finite"),
        ({"site": "tip", "position": (0, 0, 0), "hold": ["elbwo"]}, poise.FigureError, "Did you mean 'elbow'"),
        ({"site": "tip", "position": (0, 0, 0), "restarts": -1}, poise.TaskError, "whole number of 0 or more"),
        ({"site": "tip", "position": (0, 0, 0), "tolerance": math.nan}, poise.TaskError, "zero or a positive number"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(given, error, words):
    with pytest.raises(error, match=words):
        poise.reach(two_links(), **given)


def test_a_quaternion_of_any_length_is_a_rotation():
    arm = two_links()
    goal = arm.pose_of("tip", arm.posture([0.3, 0.9])).rotation
    long, unit = (poise.reach(arm, "tip", rotation=size * goal) for size in (7.0, 1.0))
    np.testing.assert_allclose(long.posture.q, unit.posture.q, rtol=0.0, atol=1e-12)


def test_what_is_prepared_is_forgotten_with_the_figure():
    arm = two_links()
    poise.reach(arm, "tip", position=(0.5, 0.5, 0.0))
    key = (id(arm), "tip", frozenset())
    assert key in module._prepared
    del arm
    gc.collect()
    assert key not in module._prepared


def test_the_gradient_of_the_error_is_minus_the_jacobian_transposed_times_the_error():
    figure = limb(LIMBS[0])
    path = find_path(figure, "hand", frozenset())
    goal = Goal(Vector(0.2, 0.3, 0.1), Quaternion(0.5, 0.5, -0.5, 0.5), 0, 6, 0.0)
    posture, error = figure.random(7), np.zeros(6)
    position, rotation = np.empty((len(path.tree.parent), 3)), np.empty((len(path.tree.parent), 4))

    def half_square(at: poise.Posture) -> float:
        forward(path.tree, at._q, position, rotation)
        return 0.5 * find_error(goal, path.site, path.node, position, rotation, error)

    half_square(posture)
    scale = np.array([1.0, 1.0, 1.0, *(path.site[7],) * 3])
    gradient = -(scale[:, None] * figure.jacobian("hand", posture)).T @ error
    for i, unit in enumerate(np.eye(figure.nv)):
        ahead, behind = (half_square(figure.integrate(posture, h * unit)) for h in (1e-6, -1e-6))
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-6, abs=1e-8)


def test_a_damped_step_is_the_optimum_inside_limits_and_rows():
    from scipy.optimize import LinearConstraint, minimize

    rng = np.random.default_rng(11)
    for trial in range(20):
        n, hard, damping = 7, trial % 4, 10.0 ** rng.uniform(-3, 0)
        m = 6 + hard
        rows, low = rng.normal(size=(m, n)), np.concatenate([rng.normal(size=6), rng.uniform(-0.5, 0.0, hard)])
        high = np.concatenate([np.zeros(6), rng.uniform(0.0, 0.5, hard)])
        if hard == 3:
            low[8] = high[8] = 0.0
        step = Work(nodes=0, velocities=n, coordinates=0, rows=m, goal_rows=6, three=3, four=4)
        step.rows[:], step.low[:], step.high[:] = rows, low, high
        step.lower[:], step.upper[:] = rng.uniform(-0.5, 0.0, n), rng.uniform(0.0, 0.5, n)
        settled = solve_step(step, 0, 6, m, damping)

        def cost(v):
            return np.sum((rows[:6] @ v - low[:6]) ** 2) + damping * v @ v  # noqa: B023

        limits = [LinearConstraint(rows[r], low[r], high[r]) for r in range(6, m)]
        best = minimize(cost, np.zeros(n), bounds=list(zip(step.lower, step.upper, strict=True)), constraints=limits,
                        method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})  # fmt: skip
        assert settled or hard
        if settled:
            assert cost(step.v) == pytest.approx(best.fun, rel=1e-6)
