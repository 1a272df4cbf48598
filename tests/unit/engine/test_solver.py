"""Solves: tasks met, levels kept, starts made legal, the same bytes again, and steps inside the speed limits."""

import math

import numpy as np
import pytest

import poise
from poise import CenterOfMass, FigureError, Frame, Hold, LookAt, Position, Posture, Solver, TaskError
from poise.figure.model.builder import Builder, revolute
from poise.kernels.engine.step import settle


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human").with_floating_base()


def two_links(limits: tuple[float, float] = (-3.0, 3.0), speed: float = math.inf) -> poise.Figure:
    """Two links of one metre in the plane z = 0."""
    made = Builder("two_links")
    made.body("base")
    made.body("upper", parent="base", joint=revolute("shoulder", "z", limits=limits, speed=speed), mass=1.0)
    made.body("lower", parent="upper", joint=revolute("elbow", "z", limits=limits, speed=speed), at=(1, 0, 0), mass=1.0)
    made.site("tip", "lower", at=(1, 0, 0))
    return made.build()


def standing(human: poise.Figure) -> list[Frame]:
    return [Frame(foot, human.pose_of(foot, human.neutral()), priority=1) for foot in ("left_foot", "right_foot")]


def test_what_can_be_met_is_met(human):
    ball = human.pose_of("right_hand", human.neutral()).position + np.array([0.1, 0.3, 0.3])
    result = poise.solve(
        human, [*standing(human), LookAt("eyes", at=ball), Position("right_hand", at=ball, priority=2)]
    )
    assert result.status == "solved"
    assert all(verdict.met for verdict in result.verdicts)
    assert human.pose_of("right_hand", result.posture).position == pytest.approx(ball, abs=1e-6)
    assert human.violations(result.posture) == []


def test_the_same_question_has_the_same_bytes(human):
    tasks = [
        *standing(human),
        Position("right_hand", at=(3, 3, 3), priority=2),
        LookAt("eyes", at=(1, 1, 1), priority=3),
    ]
    once, again = poise.solve(human, tasks), poise.solve(human, tasks)
    assert once.posture.q.tobytes() == again.posture.q.tobytes()
    solver = Solver(human, tasks)
    first = solver.settle(human.neutral())
    assert solver.settle(human.neutral()).posture.q.tobytes() == first.posture.q.tobytes()


def test_a_start_outside_the_limits_is_moved_inside():
    figure = two_links(limits=(-1.0, 1.0))
    goal = figure.pose_of("tip", figure.posture({"shoulder": 0.3, "elbow": -0.8})).position
    solver = Solver(figure, [Position("tip", at=goal)])
    wild = figure.posture({"shoulder": 2.5, "elbow": -2.5})
    assert figure.violations(wild)
    assert figure.violations(solver.step(wild)) == []
    assert solver.settle(wild).status == "solved"
    assert poise.solve(figure, [Position("tip", at=goal)], start=wild).status == "solved"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_start_that_is_no_number_is_refused(value):
    figure = two_links()
    solver = Solver(figure, [Position("tip", at=(1.0, 1.0, 0.0))])
    broken = Posture(figure, np.array([0.0, value]))
    for use in (solver.step, solver.settle):
        with pytest.raises(FigureError, match="not a finite number"):
            use(broken)


def test_a_start_is_never_changed(human):
    start = human.random(5)
    before = start.q.tobytes()
    solver = Solver(human, [Position("right_hand", at=(1, 1, 1))])
    assert solver.step(start) != start
    solver.settle(start)
    assert start.q.tobytes() == before


def test_joints_keep_their_speed():
    figure = two_links(speed=2.0)
    solver = Solver(figure, [Position("tip", at=(-1.0, -1.0, 0.0))], dt=0.01)
    posture, fastest = figure.posture({"shoulder": 0.3, "elbow": 0.3}), 0.0
    for _ in range(20):
        after = solver.step(posture)
        fastest, posture = max(fastest, float(np.abs(after.q - posture.q).max())), after
    assert fastest == pytest.approx(0.02, rel=1e-9)


@pytest.mark.parametrize("dt", [0.0, -0.1, math.nan, math.inf])
def test_a_duration_that_is_none_is_refused(dt):
    with pytest.raises(TaskError, match="dt"):
        Solver(two_links(), [], dt=dt)


def test_too_few_steps_are_told(human):
    result = poise.solve(human, [Position("right_hand", at=(2, 1, 2))], stand=False, max_steps=1)
    assert result.status == "stalled"
    assert result.steps == 1


def test_nothing_asked_is_done_at_once(human):
    result = poise.solve(human, [])
    assert result.status == "solved"
    assert result.posture == human.neutral()


def test_a_task_may_move_few_joints(human):
    task = Position("right_hand", at=(-0.3, 1.4, 0.3), joints=["right_shoulder", "right_elbow"])
    result = poise.solve(human, [task])
    moved = {name for name in human.moving_joints if not np.allclose(result.posture[name], human.neutral()[name])}
    assert moved
    assert moved <= {"right_shoulder", "right_elbow"}


def test_joints_that_a_task_may_not_move_cost_it_nothing(human):
    """The arm alone reaches; the gaze below it turns the spine that carries the arm, and the hand stays."""
    ball = (-0.3, 1.3, 0.35)
    hand = Position("right_hand", at=ball, joints=["right_shoulder", "right_elbow"], priority=2)
    gaze = LookAt("eyes", at=(1.5, 1.0, -0.5), priority=3)
    solver = Solver(human, [*standing(human), hand, gaze])
    posture = Solver(human, [*standing(human), hand]).settle(human.neutral()).posture
    for _ in range(60):
        posture = solver.step(posture)
        assert math.dist(human.pose_of("right_hand", posture).position, ball) < 1e-6
    turned = human.difference(human.neutral(), posture)[human.v_slice("spine")]
    assert np.abs(turned).max() > 0.05, "the gaze took the spine along"
    assert solver.settle(posture).errors["gaze of eyes"] < 1e-6


def test_a_task_of_few_joints_follows_its_target(human):
    hand = Position("right_hand", at=(-0.3, 1.3, 0.35), joints=["right_shoulder", "right_elbow"])
    solver = Solver(human, [hand, Hold("standing", priority=2)])
    posture = human.neutral()
    for x in (-0.3, -0.35, -0.4):
        solver.target(hand, (x, 1.3, 0.35))
        posture = solver.settle(posture).posture
        assert human.pose_of("right_hand", posture).position == pytest.approx((x, 1.3, 0.35), abs=1e-6)


def behind() -> tuple[poise.Figure, Position]:
    """A reach to the other side of a gap that the shoulder cannot cross, so that the way is round the front."""
    figure = two_links(limits=(-2.8, 2.8))
    return figure, Position("tip", at=figure.pose_of("tip", figure.posture({"shoulder": -2.7, "elbow": 0.3})).position)


def test_restarts_find_what_one_start_does_not():
    figure, task = behind()
    start = figure.posture({"shoulder": 2.7, "elbow": 0.1})
    alone = poise.solve(figure, [task], start=start)
    helped = poise.solve(figure, [task], start=start, restarts=20, seed=3)
    assert alone.status != "solved"
    assert helped.status == "solved"
    again = poise.solve(figure, [task], start=start, restarts=20, seed=3)
    assert again.posture.q.tobytes() == helped.posture.q.tobytes()


def test_restarts_are_never_worse(human):
    tasks = [
        *standing(human),
        CenterOfMass(at=(0, 1, 0.4), priority=2),
        Position("right_hand", at=(2, 2, 2), priority=3),
    ]
    plain, tried = poise.solve(human, tasks), poise.solve(human, tasks, restarts=3)
    for task in tasks:
        if abs(plain.errors[task] - tried.errors[task]) > 1e-5:
            assert tried.errors[task] < plain.errors[task]
            break
    with pytest.raises(TaskError, match="restarts"):
        poise.solve(human, tasks, restarts=-1)


def test_a_posture_is_held_in_what_freedom_is_left(human):
    ball = human.pose_of("right_hand", human.neutral()).position + np.array([0.0, 0.2, 0.2])
    reach = [*standing(human), Position("right_hand", at=ball, priority=2)]
    waving = human.posture("waving")
    free = poise.solve(human, reach)
    held = poise.solve(human, [*reach, Hold(waving, priority=3)])
    assert held.errors["position of right_hand"] <= 1e-6
    apart = [np.linalg.norm(human.difference(result.posture, waving)[6:]) for result in (free, held)]
    assert apart[1] < 0.5 * apart[0]


@pytest.mark.parametrize("stopping", [{"max_steps": -1}, {"max_steps": 2.5}, {"tolerance": float("nan")}])
def test_a_solve_that_could_not_stop_is_refused_in_a_sentence(stopping):
    arm = poise.load("arm")
    with pytest.raises(poise.TaskError, match=r"must be (zero or a positive number|a whole number of 0 or more)"):
        poise.solve(arm, [poise.Position("tip", at=(0.3, 0.3, 0.3))], **stopping)


@pytest.mark.parametrize("which", ["arm", "human", "walker", "adelino"])
def test_one_engine_is_compiled_for_all_figures_and_numbers(which):
    """Sizes, and whole numbers where fractions are meant, must not make another type of any array."""
    figure = poise.load(which)
    site = figure.sites.names[-1] if figure.sites else figure.bodies.names[-1]
    task = poise.Position(site, at=figure.pose_of(site, figure.neutral()).position)
    solver = poise.Solver(figure, [task], dt=1)
    solver.settle(figure.neutral(), max_steps=np.int32(2), tolerance=0)
    solver.settle(figure.neutral(), max_steps=2.0, tolerance=np.float32(1e-6))
    assert len(getattr(settle, "signatures", [0])) == 1
