"""A reach always ends in a legal posture, always in the same one, and as near as there is."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import poise
from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.limits import BallLimits, Ellipse
from tests.strategies import Recipe, figures

OPEN = Recipe(bodies=6, loops=0, ball_couplings=True, odd_names=False)
ANYWHERE = st.tuples(*(st.floats(-3.0, 3.0) for _ in range(3)))
seeds = st.integers(0, 2**32 - 1)


def some_goal(figure: poise.Figure, seed: int, kind: str) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The last body of a figure, and a pose that some posture has, or one from anywhere."""
    rng = np.random.default_rng(seed)
    body = figure.bodies.names[-1]
    frame = figure.pose_of(body, figure.random(rng))
    position, rotation = np.array(frame.position), np.array(frame.rotation)
    if kind == "anywhere":
        position, rotation = rng.uniform(-5.0, 5.0, 3), rng.normal(size=4)
    return body, None if kind == "rotation" else position, None if kind == "position" else rotation


KINDS = st.sampled_from(["pose", "position", "rotation", "anywhere"])


@settings(max_examples=60)
@given(figures(OPEN), seeds, KINDS)
def test_the_answer_is_legal_finite_and_unit(figure: poise.Figure, seed: int, kind: str) -> None:
    body, position, rotation = some_goal(figure, seed, kind)
    start = figure.random(seed)
    result = poise.reach(figure, body, position, rotation, start=start, restarts=3)
    assert np.isfinite(result.posture.q).all()
    assert math.isfinite(result.position_error)
    assert math.isfinite(result.rotation_error)
    assert figure.violations(result.posture) == []
    for joint in figure.joints:
        if joint.kind in ("ball", "free"):
            part = result.posture.q[figure.q_slice(joint.name)][-4:]
            assert np.linalg.norm(part) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=30)
@given(figures(OPEN), seeds, KINDS)
def test_same_question_same_bytes(figure: poise.Figure, seed: int, kind: str) -> None:
    body, position, rotation = some_goal(figure, seed, kind)
    first = poise.reach(figure, body, position, rotation, restarts=3, seed=seed % 7)
    second = poise.reach(figure, body, position, rotation, restarts=3, seed=seed % 7)
    assert first.posture.q.tobytes() == second.posture.q.tobytes()
    assert first[1:] == second[1:]


@settings(max_examples=30)
@given(figures(OPEN), seeds, KINDS)
def test_a_reach_never_ends_farther_than_it_began(figure: poise.Figure, seed: int, kind: str) -> None:
    body, position, _ = some_goal(figure, seed, kind)
    assume(position is not None)
    start = figure.random(seed)
    before = np.linalg.norm(figure.pose_of(body, start).position - position)
    assert poise.reach(figure, body, position, start=start, restarts=2).position_error <= before + 1e-9


@settings(max_examples=30)
@given(figures(Recipe(bodies=6, loops=0, couplings=0, odd_names=False)), seeds)
def test_joints_off_the_way_keep_their_bytes(figure: poise.Figure, seed: int) -> None:
    body, position, rotation = some_goal(figure, seed, "pose")
    hangs = {joint.child: joint for joint in figure.joints}
    way, at = set(), body
    while at in hangs:
        way.add(hangs[at].name)
        at = hangs[at].parent
    start = figure.random(seed + 1)
    result = poise.reach(figure, body, position, rotation, start=start, restarts=2)
    for joint in figure.joints:
        if joint.name not in way:
            place = figure.q_slice(joint.name)
            assert result.posture.q[place].tobytes() == start.q[place].tobytes()


def planar(lengths: tuple[float, ...], limit: float) -> poise.Figure:
    made = Builder("planar")
    upper, at = made.body("base"), (0.0, 0.0, 0.0)
    for i, length in enumerate(lengths):
        range_ = (-math.pi, math.pi) if i == 0 else (-limit, limit)
        upper = made.body(f"link{i}", parent=upper, joint=revolute(f"joint{i}", "z", limits=range_), at=at)
        at = (length, 0.0, 0.0)
    made.site("tip", upper, at=at)
    return made.build()


@settings(max_examples=40)
@given(st.floats(0.2, 2.0), st.floats(0.2, 2.0), st.floats(-3.0, 3.0), st.floats(1.01, 10.0))
def test_an_arm_stretches_towards_what_it_cannot_reach(one: float, two: float, angle: float, share: float) -> None:
    far = share * (one + two)
    target = (far * math.cos(angle), far * math.sin(angle), 0.0)
    result = poise.reach(planar((one, two), 2.5), "tip", position=target)
    assert result.status == "unreachable"
    assert result.position_error == pytest.approx(far - (one + two), rel=1e-4)


@settings(max_examples=40)
@given(st.floats(0.05, 0.95), st.floats(-3.0, 3.0))
def test_an_arm_folds_towards_what_is_too_near(share: float, angle: float) -> None:
    """Inside the hole |l1 - l2| that a folded arm leaves, the nearest point is on its rim."""
    near = share * 0.4
    result = poise.reach(
        planar((0.7, 0.3), math.pi), "tip", position=(near * math.cos(angle), near * math.sin(angle), 0)
    )
    assert result.position_error == pytest.approx(0.4 - near, rel=1e-4)


@settings(max_examples=20)
@given(ANYWHERE, st.floats(0.3, 1.5))
def test_three_links_come_as_near_as_an_optimiser_finds(target: tuple[float, float, float], limit: float) -> None:
    lengths = (0.5, 0.4, 0.3)

    def distance(q: np.ndarray) -> float:
        turned = np.cumsum(q)
        tip = np.array([np.dot(lengths, np.cos(turned)), np.dot(lengths, np.sin(turned)), 0.0])
        return float(np.sum((tip - target) ** 2))

    bounds = [(-math.pi, math.pi), (-limit, limit), (-limit, limit)]
    rng = np.random.default_rng(0)
    starts = [rng.uniform([b[0] for b in bounds], [b[1] for b in bounds]) for _ in range(12)]
    best = min(minimize(distance, start, bounds=bounds, method="L-BFGS-B", tol=1e-14).fun for start in starts)
    result = poise.reach(planar(lengths, limit), "tip", position=target)
    assert result.position_error <= math.sqrt(best) * (1.0 + 1e-4) + 1e-6


@settings(max_examples=30)
@given(st.tuples(*(st.floats(-1.0, 1.0) for _ in range(3))), st.floats(0.3, 1.4))
def test_a_ball_joint_leans_on_its_cone(direction: tuple[float, float, float], half: float) -> None:
    """A rod in a round cone: the nearest tip lies in the plane of the cone's axis and the target."""
    d = np.array(direction)
    assume(np.linalg.norm(d) > 0.2)
    d /= np.linalg.norm(d)
    assume(math.hypot(d[0], d[1]) > 0.05)
    made = Builder("rod")
    made.body("base")
    made.body("rod", parent="base", joint=ball("socket", limits=BallLimits(Ellipse(half, half), None)))
    made.site("tip", "rod", at=(0.0, 0.0, 0.5))
    rod = made.build()
    target = 1.5 * d
    excess = max(0.0, math.acos(min(1.0, max(-1.0, d[2]))) - half)
    best = math.sqrt(1.5**2 + 0.5**2 - 2.0 * 1.5 * 0.5 * math.cos(excess))
    result = poise.reach(rod, "tip", position=target)
    assert rod.violations(result.posture) == []
    assert result.position_error == pytest.approx(best, rel=1e-4)
