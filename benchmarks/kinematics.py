"""Forward kinematics, centre of mass and all Jacobians of Talos (38 degrees of freedom), poise against Pinocchio.

The work is that of one whole-body step: frames of all joints, centre of mass and its Jacobian, and the 6-row Jacobians
of both feet, a hand and the head. Pinocchio is C++ called from Python, once per quantity; poise is called once from
Python, and, as its own solvers do, from compiled code.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin
from machine import describe, microseconds
from results import Table

import poise
from poise.kernels.body.tree import Tree, center_of_mass, center_of_mass_jacobian, forward, jacobian, motion_axes
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import vector_at

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
TALOS = ROBOTS / "talos_data/robots/talos_reduced.urdf"
LIMBS = ("leg_left_6_joint", "leg_right_6_joint", "arm_right_7_joint", "head_2_joint")


@kernel
def everything(tree: Tree, q, nodes, position, rotation, axes, centers, com, jacobians):
    forward(tree, q, position, rotation)
    motion_axes(tree, rotation, axes)
    center_of_mass(tree, position, rotation, centers)
    center_of_mass_jacobian(tree, position, axes, centers, com)
    for i in range(nodes.shape[0]):
        jacobian(tree, position, axes, nodes[i], vector_at(position, nodes[i]), jacobians[i])


@kernel
def repeat(count, tree: Tree, q, nodes, position, rotation, axes, centers, com, jacobians):
    for _ in range(count):
        everything(tree, q, nodes, position, rotation, axes, centers, com, jacobians)


@kernel
def repeat_forward(count, tree: Tree, q, position, rotation):
    for _ in range(count):
        forward(tree, q, position, rotation)


def main() -> None:
    model = pin.buildModelFromUrdf(str(TALOS), pin.JointModelFreeFlyer())
    data = model.createData()
    figure = poise.load(TALOS).with_floating_base()
    assert figure.nv == model.nv == 38
    tree = figure.compiled.tree
    q = figure.random(1).q.copy()
    bodies = [figure.joints[name].child for name in LIMBS]
    nodes = figure.compiled.attached.node[[figure.frame_row(body) for body in bodies]]
    n, nv = tree.parent.shape[0], figure.nv
    work = (np.empty((n, 3)), np.empty((n, 4)), np.empty((nv, 3)), np.empty((n, 3)), np.empty((3, nv)))
    jacobians = np.empty((len(nodes), 6, nv))
    theirs = pin_coordinates(figure, model, q)
    frames = [model.getFrameId(name) for name in LIMBS]

    def with_pinocchio() -> None:
        pin.computeJointJacobians(model, data, theirs)
        pin.jacobianCenterOfMass(model, data, theirs, False)
        for frame in frames:
            pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)

    everything(tree, q, nodes, *work, jacobians)
    with_pinocchio()
    check = [pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:, 6:] for frame in frames]
    order = [figure.v_slice(name).start for name in list(model.names)[2:]]
    assert np.allclose(jacobians[:, :, order], check, atol=1e-12)

    inner = 2000
    rows = [
        (
            "poise, all, in compiled code",
            microseconds(lambda: repeat(inner, tree, q, nodes, *work, jacobians), 5) / inner,
        ),
        ("poise, all, one call from Python", microseconds(lambda: everything(tree, q, nodes, *work, jacobians), 2000)),
        ("pinocchio, all, six calls from Python", microseconds(with_pinocchio, 2000)),
        (
            "poise, frames only, in compiled code",
            microseconds(lambda: repeat_forward(inner, tree, q, *work[:2]), 5) / inner,
        ),
        ("pinocchio, frames only, from Python", microseconds(lambda: pin.forwardKinematics(model, data, theirs), 2000)),
    ]
    print(describe("numba", "pin", "numpy"))
    table = Table("", "", "µs", "against Pinocchio")
    for (name, cost), reference in zip(rows, (rows[2], rows[2], rows[2], rows[4], rows[4]), strict=True):
        table.row(name, cost, cost / reference[1])


def pin_coordinates(figure: poise.Figure, model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's coordinates of the same posture: quaternion with w last, joints in its own order."""
    theirs = pin.neutral(model)
    base = q[figure.q_slice("base")]
    theirs[:7] = [*base[:3], *base[4:], base[3]]
    for name in list(model.names)[2:]:
        theirs[model.joints[model.getJointId(name)].idx_q] = q[figure.q_slice(name).start]
    return theirs


if __name__ == "__main__":
    main()
