"""Reads the bodies, joints and sites of a MuJoCo model.

Joint values keep MuJoCo's meaning, so that q is qpos: values of hinges and slides include `ref`, and a free joint has
the pose in the world. A body with several joints becomes a chain of joints with massless bodies between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from poise.figure.model.body import Body, Site
from poise.figure.model.joints import Joint, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from poise.formats.mjcf.actuators import Motors
from poise.formats.mjcf.model import JOINT_KINDS, WORLD_BODY, Mjcf, pose_of
from poise.formats.mjcf.shapes import shapes_of
from poise.kernels.maths.quaternion import about
from poise.kernels.maths.vector import Vector

_FIGURE_KINDS: dict[str, Kind] = {"free": "free", "ball": "ball", "slide": "prismatic", "hinge": "revolute"}


def read_bodies(mjcf: Mjcf, motors: Motors) -> tuple[list[Body], list[Joint]]:
    """All bodies and their joints; the world becomes a body only if it has shapes or sites."""
    bodies, joints = [], []
    world = _body(mjcf, WORLD_BODY)
    if world.shapes or WORLD_BODY in mjcf.model.site_bodyid:
        bodies.append(world)
    for body in range(1, mjcf.model.nbody):
        for joint in _joints(mjcf, body, motors):
            joints.append(joint)
            last = joint.child == mjcf.body_names[body]
            bodies.append(_body(mjcf, body) if last else Body(joint.child))
    return bodies, joints


def read_sites(mjcf: Mjcf) -> list[Site]:
    """All sites."""
    m = mjcf.model
    sites = []
    for i, name in enumerate(mjcf.site_names):
        with mjcf.locating_errors(name, "site"):
            sites.append(Site(name, mjcf.body_names[m.site_bodyid[i]], pose_of(m.site_pos[i], m.site_quat[i])))
    return sites


def _body(mjcf: Mjcf, body: int) -> Body:
    m, name = mjcf.model, mjcf.body_names[body]
    with mjcf.locating_errors(name, "body"):
        own = Mass(float(m.body_mass[body]), inertia=np.diag(m.body_inertia[body]))
        return Body(name, own.moved(pose_of(m.body_ipos[body], m.body_iquat[body])), shapes_of(mjcf, body))


def _joints(mjcf: Mjcf, body: int, motors: Motors) -> Iterator[Joint]:
    """The chain of joints from a body's parent to the body."""
    m, name = mjcf.model, mjcf.body_names[body]
    parent = _parent(mjcf, body)
    with mjcf.locating_errors(name, "body"):
        place = pose_of(m.body_pos[body], m.body_quat[body])
    first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
    if count == 0:
        yield Joint(mjcf.link_names.take(f"{name}_fixed"), "fixed", parent, name, parent_frame=place)
    for joint in range(first, first + count):
        last = joint == first + count - 1
        child = name if last else mjcf.part_names.take(f"{name}_{mjcf.joint_names[joint]}")
        with mjcf.locating_errors(mjcf.joint_names[joint], "joint", "freejoint"):
            yield _joint(mjcf, joint, motors, parent, (child, place))
        parent, place = child, Pose()


def _parent(mjcf: Mjcf, body: int) -> str | None:
    above = int(mjcf.model.body_parentid[body])
    return mjcf.body_names[above] if above != WORLD_BODY else None


def _joint(mjcf: Mjcf, joint: int, motors: Motors, parent: str | None, end: tuple[str, Pose]) -> Joint:
    """One joint of the model.

    Args:
        mjcf: The model.
        joint: Number of the joint.
        motors: Motors of the model.
        parent: Parent body; None for the world.
        end: The child body, and its rest pose in the parent's frame.
    """
    m, name = mjcf.model, mjcf.joint_names[joint]
    child, place = end
    kind = JOINT_KINDS[m.jnt_type[joint]]
    if kind == "free":
        return Joint(name, "free", parent, child)
    scalar = kind != "ball"
    axis = tuple(float(a) for a in m.jnt_axis[joint])
    low, high = (float(bound) for bound in m.jnt_range[joint]) if m.jnt_limited[joint] else (-math.inf, math.inf)
    anchor = Pose(np.array(m.jnt_pos[joint], dtype=np.float64))
    return Joint(
        name,
        _FIGURE_KINDS[kind],
        parent,
        child,
        ((axis[0], axis[1], axis[2]),) if scalar else (),
        parent_frame=place @ anchor @ _reference_offset(mjcf, joint, kind),
        child_frame=anchor,
        lower=(low,) if scalar else (),
        upper=(high,) if scalar else (),
        ball_limits=None if scalar else _ball_limits(high),
        active=motors.drives(joint),
        strength=motors.strength(joint),
    )


def _reference_offset(mjcf: Mjcf, joint: int, kind: str) -> Pose:
    """The motion of a joint by −ref, since in MuJoCo's rest posture the joint's value is `ref`."""
    m = mjcf.model
    reference, axis = float(m.qpos0[m.jnt_qposadr[joint]]), m.jnt_axis[joint]
    if kind == "slide":
        return Pose(-reference * np.array(axis, dtype=np.float64))
    if kind == "hinge" and reference != 0.0:
        return Pose(rotation=np.array(about(Vector(*axis.tolist()), -reference)))
    return Pose()


def _ball_limits(angle: float) -> BallLimits | None:
    """Limits of swing and twist inside MuJoCo's limit, which bounds the angle of the whole rotation.

    A rotation with swing s and twist t has the angle θ with cos(θ/2) = cos(s/2) cos(t/2), so θ² ≤ s² + t². With
    |t| ≤ a (1 − s²/a²), θ stays within the limit a for every swing up to a.
    """
    if not 0.0 < angle < math.pi:
        return None
    # Slightly less than the full swing, so that the twist range is nowhere empty.
    swing, bend = angle * (1.0 - 1e-9), 1.0 / angle
    upper = (angle, 0.0, 0.0, -bend, 0.0, -bend)
    return BallLimits(Ellipse(swing, swing), Twist.between([-c for c in upper], upper))
