import math

import numpy as np
import pytest

from poise.errors import FigureError
from tests.unit.figure.model.samples import every_kind, two_links


@pytest.fixture(scope="module")
def links():
    return two_links()


def test_positions_of_a_plane_chain(links):
    a, b = 0.4, 0.9
    tip = links.pose_of("tip", {"shoulder": a, "elbow": b})
    assert tip.position == pytest.approx([math.cos(a) + math.cos(a + b), math.sin(a) + math.sin(a + b), 0.0])
    assert tip.rotation == pytest.approx([math.cos((a + b) / 2), 0.0, 0.0, math.sin((a + b) / 2)])


def test_jacobian_of_a_plane_chain(links):
    a, b = 0.4, 0.9
    jacobian = links.jacobian("tip", [a, b])
    outer = np.array([-math.sin(a + b), math.cos(a + b), 0.0])
    inner = outer + np.array([-math.sin(a), math.cos(a), 0.0])
    assert np.allclose(jacobian[:3].T, [inner, outer], atol=1e-12)
    assert np.allclose(jacobian[3:].T, [[0, 0, 1], [0, 0, 1]], atol=1e-12)


def test_centre_of_mass_and_holding_torques_of_a_plane_chain(links):
    a, b = 0.4, 0.9
    elbow = np.array([math.cos(a), math.sin(a), 0.0])
    tip = links.pose_of("tip", [a, b]).position
    assert links.center_of_mass([a, b]) == pytest.approx((elbow + tip) / 2)
    g = 9.80665
    held = [g * (elbow[0] + tip[0]), g * (tip[0] - elbow[0])]
    assert links.gravity_torques([a, b]) == pytest.approx(held)


def test_moment_of_inertia_of_two_point_masses(links):
    tip, elbow = links.pose_of("tip", [0.4, 0.9]).position, links.pose_of("bob", [0.4, 0.9]).position
    assert links.moment_of_inertia([0.4, 0.9], "z") == pytest.approx(np.sum((tip - elbow) ** 2) / 2)


def test_a_force_at_the_tip_pushes_through_the_transposed_jacobian(links):
    force, torque = np.array([1.0, 2.0, 3.0]), np.array([0.1, -0.2, 0.3])
    pushed = links.wrench_torques("tip", [0.3, 0.2], force, torque)
    assert pushed == pytest.approx(links.jacobian("tip", [0.3, 0.2]).T @ np.concatenate([force, torque]))


def test_every_jacobian_of_every_joint_kind_equals_finite_differences():
    figure = every_kind()
    posture = figure.random(3)
    h = 1e-6

    def slope(measure):
        columns = []
        for k in range(figure.nv):
            step = h * np.eye(figure.nv)[k]
            ahead, behind = figure.integrate(posture, step), figure.integrate(posture, -step)
            columns.append((measure(ahead) - measure(behind)) / (2 * h))
        return np.array(columns).T

    jacobian = figure.jacobian("tip", posture)
    assert jacobian[:3] == pytest.approx(slope(lambda p: figure.pose_of("tip", p).position), abs=1e-7)
    matrix = figure.pose_of("tip", posture).matrix
    for k, change in enumerate(slope(lambda p: figure.pose_of("tip", p).matrix.T).T):
        spin = change.T @ matrix.T
        assert np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) == pytest.approx(jacobian[3:, k], abs=1e-7)
    assert figure.center_of_mass_jacobian(posture) == pytest.approx(slope(figure.center_of_mass), abs=1e-7)
    inertia = slope(lambda p: np.array(figure.moment_of_inertia(p, (1, 2, 3))))
    assert figure.moment_of_inertia_gradient(posture, (1, 2, 3)) == pytest.approx(inertia, abs=1e-6)
    height = slope(lambda p: np.array(9.80665 * figure.mass * figure.center_of_mass(p)[1]))
    assert figure.gravity_torques(posture) == pytest.approx(height, abs=1e-5)


def test_integrating_a_difference_arrives():
    figure = every_kind()
    a, b = figure.random(1), figure.random(2)
    arrived = figure.integrate(a, figure.difference(a, b))
    assert figure.difference(arrived, b) == pytest.approx(np.zeros(figure.nv), abs=1e-12)


def test_rerooting_leaves_every_body_where_it_was():
    figure = every_kind()
    posture = figure.random(5)
    before = figure.frames(posture)
    for body in figure.bodies.names:
        other = figure.rerooted(body)
        after = other.frames(other.adopt(posture))
        assert other.roots == (body,)
        for name in before:
            assert after[name].position == pytest.approx(before[name].position, abs=1e-12)
            assert abs(after[name].rotation @ before[name].rotation) == pytest.approx(1.0, abs=1e-12)


def test_rerooting_a_fixed_figure_keeps_the_given_posture_in_place(links):
    posture = links.posture("bent")
    other = links.rerooted("lower", posture)
    assert other.roots == ("lower",)
    for name, pose in links.frames(posture).items():
        assert other.pose_of(name, posture).position == pytest.approx(pose.position)
    assert other.posture("bent").q == pytest.approx(posture.q)


def test_a_floating_base_carries_the_whole_figure(links):
    floating = links.with_floating_base()
    assert (floating.nq, floating.nv) == (links.nq + 7, links.nv + 6)
    moved = floating.posture({"base": (1, 2, 3, 1, 0, 0, 0), "shoulder": 0.3})
    still = links.posture({"shoulder": 0.3})
    shift = floating.pose_of("tip", moved).position - links.pose_of("tip", still).position
    assert shift == pytest.approx([1, 2, 3])
    assert floating.with_floating_base() is floating


def test_a_massless_figure_has_no_centre_of_mass():
    from poise.figure.model.builder import Builder

    b = Builder("ghost")
    b.body("body")
    with pytest.raises(FigureError, match="no mass"):
        b.build().center_of_mass([])
