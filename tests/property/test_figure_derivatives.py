"""Every Jacobian and gradient against central differences through `integrate`."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poise.figure.model.figure import STANDARD_GRAVITY, Figure
from poise.figure.model.posture import Posture
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, to_rotation_vector
from tests.strategies import Recipe, figures_with_posture

STEP = 1e-5
CASES = figures_with_posture(Recipe(bodies=8, loops=0, couplings=0))


def central(figure: Figure, posture: Posture, ask: Callable[[Posture], np.ndarray]) -> np.ndarray:
    """(…, nv) change of `ask` per unit of each rate."""
    columns = []
    for k in range(figure.nv):
        v = np.zeros(figure.nv)
        v[k] = STEP
        after, before = ask(figure.integrate(posture, v)), ask(figure.integrate(posture, -v))
        columns.append((after - before) / (2.0 * STEP))
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(ask(posture)), 0))


def assert_close(got: np.ndarray, wanted: np.ndarray, posture: Posture, power: int = 1) -> None:
    """Equal up to what central differences of quantities of this size can show."""
    size = max(1.0, float(np.abs(posture.q).max(initial=0.0)))
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=2e-8 * (1.0 + size) ** power)


@given(CASES, st.data())
def test_jacobians_of_sites_and_bodies(case: tuple[Figure, Posture], data: st.DataObject) -> None:
    figure, posture = case
    name = data.draw(st.sampled_from([*figure.bodies.names, *figure.sites.names]))
    jacobian = figure.jacobian(name, posture)
    assert_close(jacobian[:3], central(figure, posture, lambda p: figure.pose_of(name, p).position), posture)
    back = conjugate(Quaternion(*figure.pose_of(name, posture).rotation))

    def turned(p: Posture) -> np.ndarray:
        """Rotation vector from the posture's frame, in world axes."""
        return np.array(to_rotation_vector(multiply(Quaternion(*figure.pose_of(name, p).rotation), back)))

    assert_close(jacobian[3:], central(figure, posture, turned), posture)


@given(CASES)
def test_jacobian_of_the_center_of_mass(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    wanted = central(figure, posture, figure.center_of_mass)
    assert_close(figure.center_of_mass_jacobian(posture), wanted, posture)


@given(CASES, st.sampled_from(["x", "-y", (0.2, -1.0, 0.4)]))
def test_gradient_of_the_moment_of_inertia(case: tuple[Figure, Posture], axis: object) -> None:
    figure, posture = case
    wanted = central(figure, posture, lambda p: np.array(figure.moment_of_inertia(p, axis)))  # type: ignore[arg-type]
    got = figure.moment_of_inertia_gradient(posture, axis)  # type: ignore[arg-type]
    assert_close(got / figure.mass, wanted / figure.mass, posture, power=2)


@given(CASES)
def test_gravity_torques_are_the_gradient_of_potential_energy(case: tuple[Figure, Posture]) -> None:
    figure, posture = case

    def energy(p: Posture) -> np.ndarray:
        height = figure.up_vector @ figure.center_of_mass(p)
        return np.array(figure.mass * STANDARD_GRAVITY * height)

    weight = figure.mass * STANDARD_GRAVITY
    got = figure.gravity_torques(posture)
    assert_close(got / weight, central(figure, posture, energy) / weight, posture)


@given(CASES, st.integers(0, 2**32 - 1))
def test_wrench_torques_are_the_transposed_jacobian(case: tuple[Figure, Posture], seed: int) -> None:
    figure, posture = case
    wrench = np.random.default_rng(seed).normal(size=6)
    for name in (*figure.bodies.names, *figure.sites.names):
        jacobian = figure.jacobian(name, posture)
        got = figure.wrench_torques(name, posture, wrench[:3], wrench[3:])
        size = 1.0 + float(np.abs(jacobian).max(initial=0.0))
        np.testing.assert_allclose(got, jacobian.T @ wrench, atol=1e-12 * size)


@given(CASES)
def test_the_moment_of_inertia_is_that_of_the_bodies(case: tuple[Figure, Posture]) -> None:
    """The tree's recursion against the sum over bodies by the parallel-axis theorem."""
    figure, posture = case
    frames = figure.frames(posture)
    center = figure.center_of_mass(posture)
    total = np.zeros((3, 3))
    for row, body in enumerate(figure.bodies):
        turn = frames[body.name].matrix if body.name not in figure.sites.names else None
        assert turn is not None
        d = frames.position[row] + turn @ body.mass.center - center
        total += turn @ body.mass.inertia @ turn.T + body.mass.mass * (d @ d * np.eye(3) - np.outer(d, d))
    scale = 1.0 + float(np.abs(total).max())
    for i, axis in enumerate("xyz"):
        np.testing.assert_allclose(figure.moment_of_inertia(posture, axis), total[i, i], atol=1e-11 * scale)
