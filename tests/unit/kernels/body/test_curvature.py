"""Curvature of constant wrenches against differences of their generalised forces."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.forces import Force, Support, acting_on, equilibrium_error
from poise.kernels.body.curvature import add_center_force, add_point_force, curvature
from poise.kernels.body.queries import node_frames
from poise.kernels.forces.equilibrium import add_moment_pull
from poise.kernels.maths.vector import Vector
from tests.strategies import Recipe, figures_with_posture
from tests.unit.figure.model.samples import every_kind
from tests.unit.kernels.body.wrench_samples import (
    Push,
    generalised_force,
    random_pushes,
    slope,
    symmetric,
    world_point,
)

REF = Vector(0.3, -0.2, 0.5)


def curvature_of(figure: Figure, posture: Posture, pushes: list[Push], center: Vector | None = None) -> np.ndarray:
    """The kernel's answer for some pushes and a force on the centre of mass."""
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, posture._q)
    n = position.shape[0]
    force, torque, moment = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9))
    for push in pushes:
        add_point_force(push.node, world_point(position, rotation, push), push.force, REF, force, moment)
        torque[push.node] += push.torque
    if center is not None:
        add_center_force(tree, position, rotation, center, REF, force, moment)
    out = np.full((figure.nv, figure.nv), np.nan)
    curvature(tree, position, axes, REF, force, torque, moment, out)
    return out


def assert_curved(figure: Figure, posture: Posture, pushes: list[Push], center: Vector | None = None) -> None:
    def pushed(p: Posture) -> np.ndarray:
        own = generalised_force(figure, p._q, pushes)
        return own if center is None else own + figure.center_of_mass_jacobian(p).T @ np.array(center)

    got = curvature_of(figure, posture, pushes, center)
    wanted = symmetric(slope(figure, posture, pushed))
    size = 1.0 + float(np.abs(wanted).max(initial=0.0)) + float(np.abs(posture.q).max(initial=0.0))
    np.testing.assert_array_equal(got, got.T)
    np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-9 * size)


@cache
def human() -> Figure:
    return poise.load("human")


@pytest.mark.parametrize("seed", range(4))
def test_every_kind_of_joint(seed):
    figure = every_kind()
    assert_curved(figure, figure.random(seed), random_pushes(figure, np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(2))
def test_the_human_with_a_force_on_its_center_of_mass(seed):
    rng = np.random.default_rng(seed)
    assert_curved(human(), human().random(seed), random_pushes(human(), rng), Vector(*rng.normal(size=3)))


@pytest.mark.parametrize("root", ["on_screw", "on_cup", "on_loose", "on_slide"])
def test_rerooted_figures_with_reversed_joints(root):
    figure = every_kind()
    posture = figure.random(7)
    other = figure.rerooted(root, posture)
    rng = np.random.default_rng(7)
    assert_curved(other, other.adopt(posture), random_pushes(other, rng), Vector(*rng.normal(size=3)))


@given(figures_with_posture(Recipe(bodies=7, loops=0, couplings=0)), st.integers(0, 2**32 - 1))
def test_any_figure(case, seed):
    figure, posture = case
    assert_curved(figure, posture, random_pushes(figure, np.random.default_rng(seed)))


def test_it_is_the_second_derivative_of_the_work_of_forces_inside_one_rotation():
    """Second differences of Σ F·x(q ⊕ v) itself, which know nothing of axes and frames."""
    figure = every_kind()
    posture = figure.random(11)
    pushes = [
        Push(p.node, p.point, p.force, Vector(0.0, 0.0, 0.0)) for p in random_pushes(figure, np.random.default_rng(1))
    ]

    def work(v: np.ndarray) -> float:
        position, rotation, _ = node_frames(figure.compiled.tree, figure.integrate(posture, v)._q)
        return sum(float(np.dot(p.force, world_point(position, rotation, p))) for p in pushes)

    h, unit = 1e-3, np.eye(figure.nv)
    got = curvature_of(figure, posture, pushes)
    turning = [k for name in ("base", "socket", "loose") for k in range(*figure.v_slice(name).indices(figure.nv))]
    for j in turning:
        for k in turning:
            corners = [work(h * (a * unit[j] + b * unit[k])) * a * b for a in (-1, 1) for b in (-1, 1)]
            assert sum(corners) / (4.0 * h * h) == pytest.approx(got[j, k], abs=2e-5)


def test_the_reference_point_does_not_matter():
    figure = every_kind()
    posture, pushes = figure.random(3), random_pushes(figure, np.random.default_rng(3))
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, posture._q)
    found = []
    for ref in (Vector(0.0, 0.0, 0.0), Vector(1.0, -2.0, 3.0)):
        force, torque, moment = np.zeros((len(position), 3)), np.zeros((len(position), 3)), np.zeros((len(position), 9))
        for push in pushes:
            add_point_force(push.node, world_point(position, rotation, push), push.force, ref, force, moment)
        out = np.empty((figure.nv, figure.nv))
        curvature(tree, position, axes, ref, force, torque, moment, out)
        found.append(out)
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_sums_of_subtrees_are_left_behind():
    figure = every_kind()
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, figure.random(1)._q)
    n = len(position)
    force, torque, moment = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9))
    add_center_force(tree, position, rotation, Vector(1.0, 2.0, 3.0), REF, force, moment)
    curvature(tree, position, axes, REF, force, torque, moment, np.empty((figure.nv, figure.nv)))
    np.testing.assert_allclose(force[0], [1.0, 2.0, 3.0])
    arm = figure.center_of_mass(figure.random(1)) - np.array(REF)
    np.testing.assert_allclose(moment[0].reshape(3, 3), np.outer(arm, [1.0, 2.0, 3.0]), atol=1e-12)


def test_curvature_of_the_moment_of_loads_fixed_in_the_world():
    """Pulling at the three rows of equilibrium: forces f × pull have the second derivatives of pull·t(q)."""
    figure = every_kind()
    posture, pull = figure.random(5), Vector(0.3, -1.0, 0.7)
    tree = figure.compiled.tree
    acting = acting_on(
        figure, [Force("tip", (3.0, -2.0, 5.0), (0.4, 0.3, 1.0)), Support("trunk", 0.3), Support("on_cup")]
    )
    position, rotation, axes = node_frames(tree, posture._q)
    n = len(position)
    force, torque, moment = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9))
    add_moment_pull(tree, position, rotation, acting.wrenches, acting.gravity, pull, REF, force, moment)
    got = np.empty((figure.nv, figure.nv))
    curvature(tree, position, axes, REF, force, torque, moment, got)

    def row(p: Posture) -> np.ndarray:
        return np.array(pull) @ equilibrium_error(figure, p, acting.forces, acting.supports).jacobian

    wanted = symmetric(slope(figure, posture, row))
    np.testing.assert_allclose(got, wanted, atol=1e-9 * (1.0 + np.abs(wanted).max()))
