"""Couplings that are not linear: the curves themselves, postures, solves, files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.optimize import minimize

import poise
from poise import Curve, Hold, Position
from poise.engine.problem import Problem
from poise.errors import FigureError
from poise.figure import Builder, Coupling, Term, ball, prismatic, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse
from poise.kernels.body.limits import coupling_value
from poise.kernels.body.step_limits import add_coupling_curvature, coupling_row

POINTS = ((-1.0, 0.3), (0.0, 0.0), (0.4, 0.1), (1.0, 0.9), (2.0, 1.1))
EXACT = 1e-9


def random_points(rng: np.random.Generator) -> tuple[tuple[float, float], ...]:
    x = np.cumsum(rng.uniform(0.05, 1.0, size=rng.integers(2, 8))) - 1.0
    y = np.cumsum(rng.normal(size=len(x))) * 0.4
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_through_points_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = random_points(rng)
    curve, x = Curve(points=points), np.array([point[0] for point in points])
    if len(points) > 2:
        other = PchipInterpolator(x, [point[1] for point in points])
        for at in rng.uniform(x[0], x[-1], size=50):
            assert curve(at) == pytest.approx(float(other(at)), abs=1e-12)
            assert curve.at(at)[1] == pytest.approx(float(other(at, 1)), abs=1e-9)
    for beyond, end in ((x[0] - 3.0, x[0]), (x[-1] + 2.0, x[-1])):
        value, slope, bend = curve.at(beyond)
        assert bend == 0.0
        assert value == pytest.approx(curve(end) + slope * (beyond - end), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_slope_and_bend_are_derivatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curve = Curve(polynomial=rng.normal(size=6)) if seed % 2 else Curve(points=random_points(rng))
    for x in rng.uniform(-2.0, 2.0, size=20):
        if not curve.polynomial and min(abs(x - point[0]) for point in curve.points) < 1e-3:
            continue
        value, slope, bend = curve.at(x)
        h = 1e-5
        assert slope == pytest.approx((curve(x + h) - curve(x - h)) / (2 * h), abs=1e-7)
        assert bend == pytest.approx((curve(x + h) - 2 * value + curve(x - h)) / (h * h), abs=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"points": [(0, 0)]},
        {"points": [(0, 0), (0, 1)]},
        {"points": [(0, 0), (1, math.nan)]},
        {"polynomial": [1] * 7},
        {"points": POINTS, "polynomial": [1]},
    ],
)
def test_bad_curves_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(FigureError):
        Curve(**wrong)  # type: ignore[arg-type]


def linkage(bend: Curve | None = None) -> Figure:
    """Four hinges in a plane and a slide; the third hinge follows the second by a curve, the slide the first."""
    build = Builder("linkage")
    parent = build.body("base")
    for i in range(4):
        joint, at = revolute(f"hinge{i}", "z", (-2.0, 2.0)), (0.5 if i else 0.0, 0.0, 0.0)
        parent = build.body(f"link{i}", parent=parent, joint=joint, at=at, mass=1.0)
    build.body("tip", parent=parent, joint=prismatic("slide", "x", (-0.2, 1.2)), at=(0.5, 0, 0), mass=0.1)
    build.follow("bend", "hinge2", "hinge1", bend or Curve(points=POINTS))
    build.follow("reach", "slide", "hinge0", Curve(polynomial=(0.1, 0.2, 0.15)))
    return build.build()


def with_ball() -> Figure:
    """A limb on a ball joint, whose hinge is bounded by a function of the swing and of the twist."""
    build = Builder("limb")
    limits = BallLimits(swing=Ellipse(1.2, 0.8))
    build.body("upper", joint=ball("socket", limits), mass=1.0)
    build.body("lower", parent="upper", joint=revolute("hinge", "x", (-2.5, 0.5)), at=(0, 0, 0.4), mass=1.0)
    build.site("tip", "lower", (0, 0, 0.4))
    figure = build.build()
    terms = (
        Term("hinge", 1.0),
        Term("socket", 0.7, "swing_x", Curve(polynomial=(0.0, 1.0, 0.5))),
        Term("socket", -0.4, "twist", Curve(points=((-2.0, -0.5), (0.0, 0.0), (2.0, 1.5)))),
    )
    return figure.replaced(couplings=[Coupling("bound", terms, -1.0, 0.2)])


def off(figure: Figure, posture: poise.Posture) -> float:
    """Largest violation of a coupling."""
    bounds = figure.compiled.bounds
    values = [coupling_value(bounds, k, posture._q) for k in range(len(figure.couplings))]
    return max(max(v - c.upper, c.lower - v) for v, c in zip(values, figure.couplings, strict=True))


def test_a_posture_sets_the_joints_that_follow() -> None:
    figure = linkage()
    posture = figure.posture({"hinge1": 0.7, "hinge0": -0.5})
    assert posture["hinge2"] == pytest.approx(Curve(points=POINTS)(0.7))
    assert posture["slide"] == pytest.approx(0.1 - 0.1 + 0.15 * 0.25)


@pytest.mark.parametrize("seed", range(20))
def test_clamped_postures_meet_their_couplings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for figure in (linkage(), linkage(Curve(points=random_points(rng))), with_ball()):
        for _ in range(10):
            wild = figure.integrate(figure.neutral(), rng.normal(size=figure.nv) * 1.5)
            clamped = figure.clamp(wild)
            assert off(figure, clamped) <= EXACT
            assert figure.violations(clamped) == []
            again = figure.clamp(clamped)
            assert np.abs(again.q - clamped.q).max() <= EXACT
        assert off(figure, figure.random(rng)) <= EXACT


@pytest.mark.parametrize("seed", range(10))
def test_the_clamped_posture_is_the_nearest_nearby(seed: int) -> None:
    """No legal posture near it is nearer to what was wanted."""
    rng, figure = np.random.default_rng(seed), linkage()
    wanted = figure.neutral().q + rng.normal(size=5)
    clamped = figure.clamp(wanted).q
    bend, reach = Curve(points=POINTS), Curve(polynomial=(0.1, 0.2, 0.15))

    def whole(free: np.ndarray) -> np.ndarray:
        """All joint values, from the three that are free."""
        return np.array([free[0], free[1], bend(free[1]), free[2], reach(free[0])])

    best = minimize(lambda free: float(np.sum((whole(free) - wanted) ** 2)), clamped[[0, 1, 3]], method="Nelder-Mead",
                    options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000}, bounds=[(-2, 2)] * 3)  # fmt: skip
    if np.all(np.abs(whole(best.x)[:4]) < 2.0) and -0.2 < whole(best.x)[4] < 1.2:
        assert np.sum((clamped - wanted) ** 2) <= best.fun + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_rows_and_curvature_are_derivatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for figure in (linkage(), with_ball()):
        posture = figure.random(rng)
        limits, bounds = Problem(figure, []).engine.limits, figure.compiled.bounds
        for k in range(len(figure.couplings)):
            row, steps, h = np.zeros((1, figure.nv)), np.eye(figure.nv), 1e-5
            coupling_row(limits, bounds, k, posture._q, 0, row)
            values = np.array(
                [[coupling_value(bounds, k, figure.integrate(posture, side * h * step)._q) for side in (1, -1)]
                 for step in steps]
            )  # fmt: skip
            assert row[0] == pytest.approx((values[:, 0] - values[:, 1]) / (2 * h), abs=1e-7)
        if figure.name == "linkage":
            for k in range(2):
                curvature = np.zeros((figure.nv, figure.nv))
                add_coupling_curvature(limits, bounds, k, posture._q, 2.0, curvature)
                here = coupling_value(bounds, k, posture._q)
                for i, step in enumerate(np.eye(figure.nv)):
                    h = 1e-4
                    both = sum(coupling_value(bounds, k, figure.integrate(posture, s * h * step)._q) for s in (1, -1))
                    assert curvature[i, i] == pytest.approx(2.0 * (both - 2 * here) / (h * h), abs=1e-3)


@pytest.mark.parametrize("seed", range(16))
def test_a_solve_keeps_couplings_with_curves(seed: int) -> None:
    """Within reach and out of it; the answer is as good as the best of many by an optimizer of the free joints."""
    rng, figure = np.random.default_rng(seed), linkage()
    far = seed % 2
    target = figure.pose_of("tip", figure.random(rng)).position * (1.0 + 2.0 * far)
    result = poise.solve(figure, [Position("tip", at=target)], start=figure.random(rng), restarts=5)
    assert off(figure, result.posture) <= EXACT
    assert figure.violations(result.posture) == []
    assert result.status != "stalled"

    def error(free: np.ndarray) -> float:
        values = {"hinge0": free[0], "hinge1": free[1], "hinge3": free[2]}
        return float(np.linalg.norm(figure.pose_of("tip", figure.clamp(figure.posture(values))).position - target))

    starts = [np.array([figure.random(rng)[f"hinge{i}"] for i in (0, 1, 3)]).ravel() for _ in range(6)]
    others = [minimize(error, start, method="Nelder-Mead", options={"maxiter": 300}).fun for start in starts]
    mine = float(np.linalg.norm(figure.pose_of("tip", result.posture).position - target))
    assert mine <= min(others) + 1e-4


def test_live_steps_keep_them() -> None:
    figure = linkage()
    task = Position("tip", at=(1.0, 1.0, 0.0))
    solver, posture = poise.Solver(figure, [task, Hold(figure.neutral(), priority=2)]), figure.neutral()
    for k in range(80):
        solver.target(task, (1.5 * math.cos(0.1 * k), 1.5 * math.sin(0.1 * k), 0.0))
        posture = solver.step(posture)
        assert off(figure, posture) <= EXACT
        assert figure.violations(posture) == []


def test_reach_and_inequalities_keep_them() -> None:
    rng, figure = np.random.default_rng(3), with_ball()
    for _ in range(10):
        target = figure.pose_of("tip", figure.random(rng)).position
        found = poise.reach(figure, "tip", position=target)
        assert off(figure, found.posture) <= EXACT
        assert float(np.linalg.norm(figure.pose_of("tip", found.posture).position - target)) < 1e-6
        solved = poise.solve(figure, [Position("tip", at=target * 2.0)], start=figure.random(rng))
        assert off(figure, solved.posture) <= EXACT
        assert solved.status != "stalled"


@pytest.mark.parametrize("degrees", [False, True])
def test_files_keep_curves(tmp_path, degrees: bool) -> None:  # type: ignore[no-untyped-def]
    figure = linkage()
    figure.save(tmp_path / "a.figure.toml")
    again = poise.load(tmp_path / "a.figure.toml")
    assert tuple(again.couplings) == tuple(figure.couplings)
    if degrees:
        text = (tmp_path / "a.figure.toml").read_text()
        assert "points" in text
        assert "polynomial" in text


def test_a_file_in_degrees(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "knee.figure.toml"
    path.write_text(
        """
name = "knee"
angles = "degrees"
[[body]]
name = "thigh"
[[body]]
name = "shank"
[[body]]
name = "cap"
[[joint]]
name = "knee"
kind = "revolute"
parent = "thigh"
child = "shank"
axis = "x"
[[joint]]
name = "cap"
kind = "revolute"
parent = "thigh"
child = "cap"
axis = "x"
[[coupling]]
name = "follows"
equals = 0
terms = [{ joint = "cap" }, { joint = "knee", factor = -1, points = [[0, 0], [30, 5], [90, 40]] }]
"""
    )
    figure = poise.load(path)
    assert math.degrees(figure.posture({"knee": math.radians(30)})["cap"]) == pytest.approx(5.0)
    assert "f(knee)" in figure.describe()
    figure.save(tmp_path / "again.figure.toml")
    assert tuple(poise.load(tmp_path / "again.figure.toml").couplings) == tuple(figure.couplings)
