"""Reaches of real robots, judged by Pinocchio."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise.figure.model.pose import to_matrix

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed on this platform")

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
ARMS = [
    ("panda_description/urdf/panda.urdf", "panda_link8"),
    ("ur_description/urdf/ur5_robot.urdf", "tool0"),
    ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector"),
]


@pytest.mark.parametrize(("file", "tip"), ARMS)
def test_random_reachable_poses_are_all_reached(file: str, tip: str) -> None:
    urdf = ROBOTS / file
    if not urdf.exists():
        pytest.skip(f"example-robot-data has no {file}")
    figure, model = poise.load(urdf), pin.buildModelFromUrdf(str(urdf))
    data, frame = model.createData(), model.getFrameId(tip)
    rng = np.random.default_rng(4)
    for _ in range(100):
        wanted = figure.random(rng)
        pin.framesForwardKinematics(model, data, theirs(model, figure, wanted))
        goal = data.oMf[frame].copy()
        quaternion = pin.Quaternion(goal.rotation)
        turned = (quaternion.w, quaternion.x, quaternion.y, quaternion.z)
        result = poise.reach(figure, tip, goal.translation, turned)
        pin.framesForwardKinematics(model, data, theirs(model, figure, result.posture))
        found = data.oMf[frame]
        assert result.status == "solved"
        assert np.linalg.norm(found.translation - goal.translation) <= 2e-6
        assert np.linalg.norm(pin.log3(found.rotation.T @ to_matrix(turned))) <= 2e-6
        assert figure.violations(result.posture) == []


def theirs(model: "pin.Model", figure: poise.Figure, posture: poise.Posture) -> np.ndarray:
    """Pinocchio's coordinates: angles without end as cosine and sine."""
    q = pin.neutral(model)
    for name in list(model.names)[1:]:
        joint, value = model.joints[model.getJointId(name)], posture.q[figure.q_slice(name).start]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    return q
