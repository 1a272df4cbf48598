"""Joint torques and their slopes against Pinocchio on robots of many kinds."""

import numpy as np
import pytest

from poise.figure.model.pose import to_matrix
from poise.forces import Force, Gravity, Support, joint_torques, net_force, torque_slopes

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed on this platform")

from tests.oracle.test_pinocchio import ROBOTS, load  # noqa: E402

DOWN = Gravity((0.0, 0.0, -9.81))
CHOSEN = [
    "talos_data/robots/talos_reduced.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "tiago_description/robots/tiago.urdf",
]


def chosen():
    found = [urdf for urdf in CHOSEN if (ROBOTS / urdf).is_file()]
    assert len(found) >= 4, f"only {found} of the chosen robots are installed"
    return found


def static_torques(twin, posture, pushes):
    """rnea at rest, with wrenches in world axes at the origins of bodies, for our rates."""
    q = twin.q(posture)
    zero = np.zeros(twin.model.nv)
    torques = pin.rnea(twin.model, twin.data, q, zero, zero)
    for name, wrench in pushes:
        frame = next(i for i, body in twin.frames if body == name)
        J = pin.computeFrameJacobian(twin.model, twin.data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        torques = torques - J.T @ wrench
    return torques @ twin.rates(posture)


def world_wrench(twin, posture, force):
    wrench = [np.array(force.force), np.array(force.torque)]
    if force.axes == "site":
        wrench = [to_matrix(twin.figure.pose_of(force.site, posture).rotation) @ v for v in wrench]
    return np.concatenate(wrench)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("urdf", chosen())
def test_static_torques(urdf, floating):
    twin = load(urdf, floating=floating)
    rng = np.random.default_rng(0)
    names = [name for _, name in twin.frames]
    for posture in twin.postures(5):
        forces = [
            Force(str(rng.choice(names)), rng.normal(size=3) * 20.0, rng.normal(size=3), axes=axes)
            for axes in ("world", "site", "world")
        ]
        wanted = static_torques(twin, posture, [(f.site, world_wrench(twin, posture, f)) for f in forces])
        got = joint_torques(twin.figure, posture, [*forces, DOWN])
        np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-9 * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("urdf", chosen())
def test_shared_supports_are_wrenches_like_any(urdf):
    twin = load(urdf, floating=True)
    rng = np.random.default_rng(1)
    names = list(rng.choice([name for _, name in twin.frames], 3, replace=False))
    push = np.array([10.0, -5.0, -20.0])
    loads = [Force(str(names[0]), push), Support(str(names[1]), 0.3), Support(str(names[2])), DOWN]
    for posture in twin.postures(5):
        load_ = push + twin.figure.mass * np.array(DOWN.acceleration)
        zero = np.zeros(3)
        wrenches = [(push, 1.0), (load_, -0.3), (load_, -0.7)]
        pushes = [(str(n), np.concatenate([k * f, zero])) for n, (f, k) in zip(names, wrenches, strict=True)]
        wanted = static_torques(twin, posture, pushes)
        got = joint_torques(twin.figure, posture, loads)
        np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-9 * (1.0 + np.abs(wanted).max()))
        assert net_force(twin.figure, posture, loads).force == pytest.approx(zero, abs=1e-9)


@pytest.mark.parametrize("urdf", chosen())
def test_slopes_of_gravity_torques(urdf):
    """Against Pinocchio's analytical derivative of generalised gravity; on the ground, where rates are the same."""
    twin = load(urdf, floating=False)
    assert all(joint.kind in ("revolute", "prismatic", "fixed") for joint in twin.figure.joints), (
        "others have other rates"
    )
    for posture in twin.postures(3):
        q = twin.q(posture)
        turn = twin.rates(posture)
        wanted = turn.T @ pin.computeGeneralizedGravityDerivatives(twin.model, twin.data, q) @ turn
        got = torque_slopes(twin.figure, posture, [DOWN])
        np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-9 * (1.0 + np.abs(wanted).max()))
