"""`clamp` gives the nearest posture inside the limits, and leaves alone what is inside."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.limits import BallLimits, Ellipse, Polygon
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import ball_split
from poise.kernels.maths.quaternion import swing_direction
from tests import random_parts as parts
from tests.strategies import SCALAR, Recipe, figures, figures_with_posture, wild_postures

SMALL = Recipe(bodies=6, loops=0)
COUPLED = Recipe(bodies=6, loops=0, ball_couplings=True)


def distance(figure: Figure, a: Posture, b: Posture) -> float:
    return float(np.linalg.norm(figure.difference(a, b)))


@given(figures_with_posture(COUPLED))
def test_a_clamped_posture_breaks_nothing(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    assert figure.violations(figure.clamp(posture)) == []


@given(figures_with_posture(COUPLED))
def test_clamping_twice_changes_nothing_more(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    once = figure.clamp(posture)
    np.testing.assert_allclose(figure.clamp(once).q, once.q, rtol=0.0, atol=1e-9)


@given(figures(SMALL), st.integers(0, 2**32 - 1))
def test_a_legal_posture_is_left_alone_to_the_last_bit(figure: Figure, seed: int) -> None:
    legal = figure.random(seed)
    assert figure.violations(legal) == []
    assert figure.clamp(legal).q.tobytes() == legal.q.tobytes()
    assert figure.clamp(legal, previous=legal).q.tobytes() == legal.q.tobytes()


@given(figures_with_posture(Recipe(kinds=SCALAR, bodies=6, couplings=0, loops=0)))
def test_a_clamped_interval_joint_is_at_the_nearest_value(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    clamped = figure.clamp(posture)
    for joint in figure.joints:
        if joint.scalars:
            values = posture.q[figure.q_slice(joint.name)]
            nearest = [min(max(v, low), high) for v, low, high in zip(values, joint.lower, joint.upper, strict=True)]
            assert clamped.q[figure.q_slice(joint.name)].tolist() == nearest


@given(figures(Recipe(kinds=SCALAR, bodies=5, loops=0)), st.data())
def test_no_other_legal_posture_of_scalars_is_nearer(figure: Figure, data: st.DataObject) -> None:
    posture = data.draw(wild_postures(figure))
    nearest = distance(figure, posture, figure.clamp(posture))
    for seed in range(10):
        assert distance(figure, posture, figure.random(seed)) >= nearest - 1e-7 * max(1.0, nearest)


def ball_figure(limits: BallLimits) -> Figure:
    from poise.figure.model.body import Body

    return Figure("ball", [Body("b0")], [Joint("neck", "ball", None, "b0", ball_limits=limits)])


@st.composite
def ball_cases(draw: st.DrawFn) -> tuple[Figure, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    make = draw(st.sampled_from([parts.ellipse, parts.convex_polygon, parts.concave_polygon]))
    twist = parts.twist(rng)
    return ball_figure(BallLimits(make(rng), twist, parts.rotation(rng), parts.rotation(rng))), rng


def direction(figure: Figure, q: np.ndarray) -> np.ndarray:
    split = ball_split(figure.compiled.bounds, 0, np.array(q))
    return np.array(swing_direction(split.x, split.y))


def boundary(region: Ellipse | Polygon, count: int = 20_000) -> np.ndarray:
    """Many directions on the boundary of a region, in the cone's frame."""
    if isinstance(region, Ellipse):
        a = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
        x, y = region.x * np.cos(a), region.y * np.sin(a)
        angle = np.hypot(x, y)
        return np.stack([y * np.sinc(angle / math.pi), -x * np.sinc(angle / math.pi), np.cos(angle)], axis=1)
    corners = np.array(region.vertices)
    share = np.linspace(0.0, 1.0, count // len(corners))[:, None]
    arcs = [a + share * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    points = np.concatenate(arcs)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def angles(d: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.arctan2(np.linalg.norm(np.cross(rows, d), axis=1), rows @ d)


@given(ball_cases(), st.sampled_from(["anywhere", "antipodal", "boundary"]))
def test_a_clamped_swing_is_the_nearest_one_of_the_boundary(
    case: tuple[Figure, np.random.Generator], where: str
) -> None:
    figure, rng = case
    limits = figure.joints["neck"].ball_limits
    assert limits is not None
    assert limits.swing is not None
    edge = boundary(limits.swing)
    gap = np.linalg.norm(np.diff(edge, axis=0), axis=1).max()
    for _ in range(5):
        q = rng.normal(size=4)
        if where == "antipodal":
            q = opposite(limits, rng)
        elif where == "boundary":
            q = near_neutral(figure, rng)
        posture = figure.posture(q)
        if not any(violation.limit == "swing" for violation in figure.violations(posture)):
            continue
        d = direction(figure, posture.q)
        clamped = direction(figure, figure.clamp(posture).q)
        sampled = angles(d, edge).min()
        got = angles(d, clamped[None])[0]
        assert got <= sampled + 1e-9
        assert got >= sampled - gap
        assert angles(clamped, edge).min() <= gap


def opposite(limits: BallLimits, rng: np.random.Generator) -> np.ndarray:
    """An orientation whose limb points almost straight away from the cone."""
    from poise.figure.model.pose import Pose

    half = np.array([rng.choice([0.0, 1e-12, 1e-6, 1e-2]), 1.0, 0.0, 0.0])
    half[1:3] = np.array([math.cos(a := rng.uniform(0.0, 7.0)), math.sin(a)])
    turned = Pose(rotation=half) @ Pose(
        rotation=np.array([math.cos(b := rng.uniform(0.0, 3.0)), 0.0, 0.0, math.sin(b)])
    )
    return (Pose(rotation=limits.cone) @ turned @ Pose(rotation=limits.limb).inverse()).rotation


def near_neutral(figure: Figure, rng: np.random.Generator) -> np.ndarray:
    inside = figure.clamp(rng.normal(size=4))
    return figure.integrate(inside, rng.normal(size=3) * 0.02).q


@given(ball_cases())
def test_the_twist_of_a_clamped_posture_fits_its_swing(case: tuple[Figure, np.random.Generator]) -> None:
    figure, rng = case
    limits = figure.joints["neck"].ball_limits
    assert limits is not None
    for _ in range(5):
        posture = figure.clamp(rng.normal(size=4))
        if limits.twist is None:
            continue
        split = ball_split(figure.compiled.bounds, 0, posture._q)
        low, high = limits.twist.at(split.x, split.y)
        turns = split.twist - 2.0 * math.pi * np.arange(-2, 3)
        assert ((turns >= low - 1e-9) & (turns <= high + 1e-9)).any()


@given(st.integers(0, 2**32 - 1))
def test_a_concave_region_is_not_jumped_across(seed: int) -> None:
    rng = np.random.default_rng(seed)
    region = parts.concave_polygon(rng)
    figure = ball_figure(BallLimits(region))
    corners = np.array(region.vertices)
    arms = corners[corners[:, 2] <= np.median(corners[:, 2])]
    tips = [figure.clamp(pointing(arm)) for arm in arms]
    start, end = tips[0], tips[1]
    arrived = figure.clamp(end, previous=start)
    assert figure.violations(arrived) == []
    a, b, c = (direction(figure, posture.q) for posture in (start, end, arrived))
    middle = (a + b) / np.linalg.norm(a + b)
    middle_posture = figure.posture(pointing(middle))
    if figure.violations(middle_posture):
        nearest = direction(figure, figure.clamp(middle_posture).q)
        np.testing.assert_allclose(middle @ c, middle @ nearest, atol=1e-9)
    else:
        np.testing.assert_allclose(c, b, atol=1e-9)


def pointing(d: np.ndarray) -> np.ndarray:
    from poise.figure.model.pose import from_to

    return from_to("z", d)
