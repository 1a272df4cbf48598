"""Loops in the engine: closed at every posture, in reach or not, with priority over all tasks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

import poise
from poise import Frame, Hold, Orientation, Pose, Position, Solver
from poise.errors import FigureError
from poise.figure import Figure
from poise.figure.model.builder import Builder, revolute

CLOSED = 1e-9
SITES = {
    "four_bar": "tip", "five_bar": "tip", "delta": "tip", "stewart": "tip", "all_joints": "tip", "dancer": "pelvis",
    "walker": "left_foot",
}  # fmt: skip


def place(figure: Figure, site: str) -> np.ndarray:
    return figure.pose_of(site, figure.neutral()).position


@pytest.mark.parametrize("name", SITES)
@given(move=st.tuples(*[st.floats(-0.6, 0.6)] * 3))
@settings(max_examples=15)
def test_always_closed_and_inside_limits(name: str, move: tuple[float, float, float]) -> None:
    figure = poise.load(name)
    result = poise.solve(figure, [Position(SITES[name], at=place(figure, SITES[name]) + move)])
    assert figure.closure_error(result.posture) <= CLOSED
    assert figure.violations(result.posture) == []
    assert result.status in ("solved", "compromised", "unreachable", "stalled")


@pytest.mark.parametrize("move", [(0.5, 0.5, 0.0), (-0.5, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)])
def test_out_of_reach_the_four_bar_comes_as_near_as_its_motor_can_bring_it(move: tuple[float, float, float]) -> None:
    figure = poise.load("four_bar")
    wanted = place(figure, "tip") + move
    result = poise.solve(figure, [Position("tip", at=wanted)])
    assert result.status == "unreachable"
    got = float(np.linalg.norm(figure.pose_of("tip", result.posture).position - wanted))

    def distance(drive: float) -> float:
        posture = figure.assemble({"drive": drive}, near=result.posture).posture
        return float(np.linalg.norm(figure.pose_of("tip", posture).position - wanted))

    here = float(result.posture["drive"])
    best = minimize_scalar(distance, bounds=(here - 0.2, here + 0.2), method="bounded", options={"xatol": 1e-9})
    assert got <= best.fun + 1e-9


@pytest.mark.parametrize("move", [(0.6, 0.3, 0.0), (-0.2, 0.5, 0.0)])
def test_out_of_reach_the_five_bar_rests_where_scipy_does(move: tuple[float, float, float]) -> None:
    figure = poise.load("five_bar")
    wanted = place(figure, "tip") + move
    result = poise.solve(figure, [Position("tip", at=wanted)])
    motors = ["left_motor", "right_motor"]

    def distance(values: np.ndarray) -> float:
        near = figure.assemble(dict(zip(motors, values.tolist(), strict=True)), near=result.posture)
        return float(np.linalg.norm(figure.pose_of("tip", near.posture).position - wanted))

    start = np.array([result.posture[motor] for motor in motors])
    best = minimize(distance, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    assert distance(start) <= best.fun + 1e-8


def test_out_of_reach_it_converges_as_fast_as_within() -> None:
    """Without the curvature of the loops, steps towards a target out of reach would oscillate."""
    for name, site in SITES.items():
        figure = poise.load(name)
        result = poise.solve(figure, [Position(site, at=place(figure, site) + np.array([0.4, 0.3, 0.2]))])
        assert result.steps <= 25, name


def test_strict_priorities_with_loops() -> None:
    """The platform's place comes first; an unreachable rotation below it does not worsen it."""
    figure = poise.load("stewart")
    at = place(figure, "tip") + np.array([0.05, 0.02, -0.03])
    result = poise.solve(
        figure, [Position("tip", at=at, priority=1), Orientation("tip", (0.5, 0.866, 0.0, 0.0), priority=2)]
    )
    np.testing.assert_allclose(figure.pose_of("tip", result.posture).position, at, atol=1e-6)
    assert figure.closure_error(result.posture) <= CLOSED
    alone = poise.solve(figure, [Orientation("tip", (0.5, 0.866, 0.0, 0.0))])
    assert alone.status == "unreachable"


def test_steps_stay_closed_while_targets_move() -> None:
    figure = poise.load("walker").with_floating_base()
    feet = ["left_foot", "right_foot"]
    start = figure.neutral()
    tasks = [Frame(foot, figure.pose_of(foot, start), priority=1) for foot in feet]
    hips = Frame("pelvis", figure.pose_of("pelvis", start), priority=2)
    solver, posture = Solver(figure, [*tasks, hips]), start
    rest = figure.pose_of("pelvis", start)
    for k in range(80):
        # Up and out of reach, and back again.
        lift = 0.1 * np.sin(np.pi * k / 79.0)
        sway = np.array([0.02 * np.sin(0.2 * k), lift, 0.0])
        solver.target(hips, Pose(rest.position + sway, rest.rotation))
        posture = solver.step(posture)
        assert figure.closure_error(posture) <= CLOSED
        assert figure.violations(posture) == []
        for foot in feet:
            gap = figure.pose_of(foot, posture).position - figure.pose_of(foot, start).position
            assert np.linalg.norm(gap) <= 1e-4
    solver.target(hips, rest)
    result = solver.settle(posture)
    assert result.status == "solved"
    np.testing.assert_allclose(result.posture.q, start.q, atol=2e-2)


def test_motors_keep_their_speed_limits_and_come_back() -> None:
    """Closing a loop after a step must not violate the limit of a motor."""
    figure, dt = poise.load("walker").with_floating_base(), 0.01
    start = figure.neutral()
    motors = [figure.v_slice(joint.name).start for joint in figure.joints if joint.active and joint.kind == "revolute"]
    feet = [Frame(foot, figure.pose_of(foot, start), priority=1) for foot in ("left_foot", "right_foot")]
    rest = figure.pose_of("pelvis", start)
    hips = Frame("pelvis", rest, priority=2)
    solver, posture, fastest = Solver(figure, [*feet, hips], dt=dt), start, 0.0
    for k in range(200):
        lift = np.array([0.0, -0.08 * np.sin(np.pi * min(k, 100) / 100.0), 0.03 * np.sin(0.5 * k) * (k < 100)])
        solver.target(hips, Pose(rest.position + lift, rest.rotation))
        after = solver.step(posture)
        fastest = max(fastest, float(np.abs(figure.difference(posture, after)[motors]).max()) / dt)
        posture = after
        assert figure.closure_error(posture) <= CLOSED
    assert 1.0 < fastest <= 4.4 + 1e-9
    np.testing.assert_allclose(posture.q, start.q, atol=1e-4)


def test_a_posture_that_loops_forbid_is_held_as_nearly_as_they_let_it() -> None:
    figure = poise.load("four_bar")
    result = poise.solve(figure, [Hold(figure.posture({"drive": 0.5}))])
    assert figure.closure_error(result.posture) <= CLOSED
    wanted = figure.posture({"drive": 0.5})

    def distance(drive: float) -> float:
        posture = figure.assemble({"drive": drive}).posture
        return float(np.sum(figure.difference(posture, wanted) ** 2))

    best = minimize_scalar(distance, bounds=(-0.5, 1.0), method="bounded", options={"xatol": 1e-10})
    assert distance(float(result.posture["drive"])) <= best.fun + 1e-8


def test_an_open_start_is_assembled_first() -> None:
    figure = poise.load("five_bar")
    result = poise.solve(figure, [Position("tip", at=place(figure, "tip"))], start={"left_elbow": 0.5})
    assert figure.closure_error(result.posture) <= CLOSED


def test_a_mechanism_that_cannot_close_is_refused() -> None:
    made = Builder("short")
    made.body("ground")
    made.body("bar", parent="ground", joint=revolute("hinge", "z"))
    made.site("end", "bar", at=(1.0, 0.0, 0.0))
    ends = {"parent_frame": Pose((3.0, 0.0, 0.0)), "child_frame": Pose((1.0, 0.0, 0.0))}
    made.loop(revolute("pin", "z"), "ground", "bar", **ends)
    with pytest.raises(FigureError, match="short could not be assembled: its loop joint 'pin' stays open by 2"):
        poise.solve(made.build(), [Position("end", at=(0.0, 1.0, 0.0))])


def test_the_same_answer_wherever_the_loop_is_cut() -> None:
    """The same five-bar hung from another body, with other coordinates."""
    figure = poise.load("five_bar").replaced(sites=poise.load("five_bar").sites)
    unlimited = figure.replaced(joints=[replace(joint, lower=(), upper=()) for joint in figure.joints], couplings=[])
    turned = unlimited.rerooted("left_forearm").rerooted("frame")
    wanted = place(figure, "tip") + np.array([0.08, -0.05, 0.0])
    tips = []
    for version in (unlimited, turned):
        result = poise.solve(version, [Position("tip", at=wanted)])
        tips.append([result.posture[motor] for motor in ("left_motor", "right_motor")])
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-7)


def test_loops_stay_closed_when_targets_jump():
    """A leap off a saddle point must not open them either."""
    walker, rng = poise.load("walker"), np.random.default_rng(0)
    tasks = [Position(foot, at=(0, 0, 0), priority=1 + k) for k, foot in enumerate(["left_foot", "right_foot"])]
    solver, posture = poise.Solver(walker, tasks, dt=1 / 60, criteria=()), walker.neutral()
    centre = walker.center_of_mass(posture)
    for _ in range(300):
        solver.target(tasks[rng.integers(2)], centre + rng.normal(size=3))
        for _ in range(rng.integers(1, 5)):
            posture = solver.step(posture)
            assert walker.closure_error(posture) <= CLOSED
