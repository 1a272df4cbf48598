"""Assembled mechanisms against solvers that were written by others or that know nothing of trees."""

import numpy as np
import pytest

import poise
from tests import dr_legs as legs
from tests.mechanisms import FOUR_BARS, PARALLEL_ROBOTS, four_bar, parallel_robot
from tests.oracle.maximal import Maximal

MECHANISMS = ["four_bar", "five_bar", "delta", "stewart", "all_joints", "walker"]


def assert_same_bodies(got, wanted, atol):
    for name, (position, matrix) in wanted.items():
        np.testing.assert_allclose(got[name][0], position, atol=atol, err_msg=name)
        np.testing.assert_allclose(got[name][1], matrix, atol=10.0 * atol, err_msg=name)


@pytest.mark.parametrize("name", MECHANISMS)
def test_maximal_coordinates_agree(name):
    """Every body where scipy puts it when every body is free and every joint a constraint."""
    figure, rng = poise.load(name), np.random.default_rng(0)
    maximal = Maximal(figure)
    motors = {joint.name: float(rng.uniform(-0.1, 0.1)) for joint in figure.joints if joint.active}
    result = figure.assemble(motors)
    assert result.status == "assembled"
    # Started beside the answer on our branch, but with every motor's move still to make.
    beside = figure.assemble({motor: 0.9 * value for motor, value in motors.items()})
    bodies, residual = maximal.solve(maximal.poses(beside.posture), motors)
    assert residual < 1e-9
    assert_same_bodies(bodies, maximal.poses(result.posture), 1e-7)


@pytest.mark.real_data
def test_maximal_coordinates_agree_on_the_recorded_walk():
    figure, walk = legs.clean_dr_legs(), legs.recorded_walk()
    maximal = Maximal(figure)
    q, _ = figure.assembler.frames({m: walk[:, k] for k, m in enumerate(legs.MOTORS)}, figure.neutral())
    for frame in (400, 1300):
        motors = dict(zip(legs.MOTORS, walk[frame].tolist(), strict=True))
        start = maximal.poses(figure.posture(q[frame - 3]))
        bodies, residual = maximal.solve(start, motors)
        assert residual < 1e-9
        assert_same_bodies(bodies, maximal.poses(figure.posture(q[frame])), 1e-7)


@pytest.mark.parametrize("linkage", FOUR_BARS)
def test_mujoco_agrees(linkage, tmp_path):
    """MuJoCo's own constraint, driven to rest at our motor values by a stiff simulation, ends in our posture."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = four_bar(linkage, tmp_path)
    figure = poise.load(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for angle in (0.3, -0.5, 1.0):
        result = figure.assemble({"hinge_1": angle})
        assert result.status == "assembled"
        data.qpos[:] = result.posture.q
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos).max() < 1e-9
        # From beside it, Newton's method on MuJoCo's residual and Jacobian comes back to it.
        data.qpos[:] += [0.0, 0.02, -0.03]
        for _ in range(20):
            mujoco.mj_forward(model, data)
            rows = np.zeros((data.nefc, model.nv))
            rows[:] = data.efc_J.reshape(data.nefc, model.nv)
            data.qpos[1:] -= np.linalg.lstsq(rows[:, 1:], data.efc_pos, rcond=1e-9)[0]
        np.testing.assert_allclose(data.qpos, result.posture.q, atol=1e-8)


@pytest.mark.parametrize("robot", PARALLEL_ROBOTS)
def test_open_robots_are_assembled(robot, tmp_path):
    """None is closed in its file; all are after loading, and stay so when their motors move."""
    urdf, closures = parallel_robot(robot, tmp_path)
    figure = poise.load(urdf, closures=closures)
    start = figure.assemble({})
    assert start.status == "assembled"
    assert figure.closure_error(start.posture) <= 1e-9
    rng = np.random.default_rng(0)
    for _ in range(5):
        motors = {motor: float(value) + rng.uniform(-0.05, 0.05) for motor, value in start.motors.items()}
        moved = figure.assemble(motors, near=start.posture)
        assert figure.closure_error(moved.posture) <= 1e-9
        assert moved.status in ("assembled", "closest")
