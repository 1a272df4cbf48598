"""A motion as the programs that train controllers see it: a root, one number per joint, and the bodies with velocities.

Conventions: z is up, the ground is at height 0, quaternions are w, x, y, z until a format orders them otherwise.

Velocities: those of the joints and of the root are central differences in time, one-sided at both ends; the angular
velocity of the root, in world axes, is the rotation from the frame before to the frame after, with its ends repeated.
Velocities of bodies follow from these by forward kinematics, so that they fit together: with p the origin of a body, a
the place and d the axis of the hinge with speed s that joins it to its parent,

    ω = ω_parent + s d   and   v = v_parent + ω_parent × (p - p_parent) + s d × (p - a).

Orders: MuJoCo numbers bodies and joints depth first, in the order of the file; PhysX, and with it Isaac Lab, breadth
first. Both join bodies without a joint between them when they read a URDF; MuJoCo keeps them when it reads MJCF.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.mass import Mass, combined
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.reroot import BASE_JOINT
from poise.motion.clip.clip import Clip, Source
from poise.motion.clip.motion import Motion


class Trajectory(NamedTuple):
    """Root and joints of a robot over time."""

    rate: float
    """Frames per second."""
    place: FloatArray
    """(frames, 3) position of the root body [m]."""
    turn: FloatArray
    """(frames, 4) rotation of the root body, a quaternion w, x, y, z, without changes of sign from frame to frame."""
    joints: FloatArray
    """(frames, n) values of the joints, depth first [rad or m]."""
    names: tuple[str, ...]
    """Names of the joints."""

    def joint_speeds(self) -> FloatArray:
        """(frames, n) [rad/s or m/s]."""
        return _rate_of_change(self.joints, self.rate)

    def root_velocity(self) -> FloatArray:
        """(frames, 3) [m/s]."""
        return _rate_of_change(self.place, self.rate)

    def root_angular_velocity(self) -> FloatArray:
        """(frames, 3) in world axes [rad/s]."""
        count = len(self.turn)
        if count < 2:
            return np.zeros((count, 3))
        turns = Rotation.from_quat(self.turn, scalar_first=True)
        if count == 2:
            return np.tile((turns[1:] * turns[:-1].inv()).as_rotvec() * self.rate, (2, 1))
        middle = (turns[2:] * turns[:-2].inv()).as_rotvec() * (0.5 * self.rate)
        return np.concatenate([middle[:1], middle, middle[-1:]])


class Bodies(NamedTuple):
    """The bodies of a robot over time."""

    names: tuple[str, ...]
    place: FloatArray
    """(frames, bodies, 3) origins [m]."""
    turn: FloatArray
    """(frames, bodies, 4) quaternions w, x, y, z."""
    velocity: FloatArray
    """(frames, bodies, 3) velocities of the origins [m/s]."""
    center_velocity: FloatArray
    """(frames, bodies, 3) velocities of the centres of mass [m/s]."""
    angular_velocity: FloatArray
    """(frames, bodies, 3) in world axes [rad/s]."""


def robot_joints(figure: Figure) -> list[Joint]:
    """The joints of a robot besides its floating base, depth first.

    Raises:
        FormatError: A joint has more than one coordinate, the base does not float, or another axis than z is up.
    """
    if figure.up != "z":
        raise FormatError(
            f"figure {figure.name!r} has its {figure.up} axis up; the formats of trainers are for robots with z up."
        )
    moving = [joint for _, joint in figure.tree_order if joint is not None and joint.nv]
    if not moving or moving[0].kind != "free":
        raise FormatError(f"figure {figure.name!r} has no floating base; use figure.with_floating_base().")
    for joint in moving[1:]:
        if joint.kind not in {"revolute", "prismatic"}:
            raise FormatError(
                f"joint {joint.name!r} of figure {figure.name!r} is {joint.kind}; the formats of trainers have one "
                "number per joint, so all must be hinges or slides."
            )
    return moving[1:]


def trajectory_of(motion: Clip) -> Trajectory:
    """The trajectory of a motion; a retargeted one is moved so that its ground is at height 0."""
    figure = motion.figure
    joints = robot_joints(figure)
    source = Source(motion)
    root = figure.bodies.index(figure.tree_order[0][0])
    place = source.positions[:, root].copy()
    track = motion.track if isinstance(motion, Motion) else None
    if track is not None:
        place[:, 2] -= track.ground
    values = np.array([motion.q[:, figure.q_slice(joint.name)][:, 0] for joint in joints]).reshape(len(joints), -1).T
    turn = without_sign_changes(source.rotations[:, root])
    return Trajectory(motion.rate, place, turn, values.copy(), tuple(joint.name for joint in joints))


def motion_of(trajectory: Trajectory, figure: Figure, name: str) -> Motion:
    """The motion of a figure that has the joints of a trajectory; joints that it lacks stay neutral."""
    base = figure.tree_order[0][1]
    assert base is not None
    q = np.tile(figure.neutral().q, (len(trajectory.place), 1))
    where = figure.q_slice(base.name)
    before, after = base.parent_frame.inverse(), base.child_frame
    for frame, (place, turn) in enumerate(zip(trajectory.place, trajectory.turn, strict=True)):
        pose = before @ Pose(place, turn) @ after
        q[frame, where] = [*pose.position, *pose.rotation]
    for column, joint in enumerate(trajectory.names):
        q[:, figure.q_slice(joint).start] = trajectory.joints[:, column]
    return Motion(figure, q, trajectory.rate, name)


def without_sign_changes(turns: FloatArray) -> FloatArray:
    """Quaternions (frames, 4) with signs such that consecutive ones are on the same side."""
    agrees = np.sum(turns[1:] * turns[:-1], axis=1) >= 0.0
    signs = np.cumprod(np.concatenate([[1.0], np.where(agrees, 1.0, -1.0)]))
    out: FloatArray = turns * signs[:, None]
    return out


def _rate_of_change(values: FloatArray, rate: float) -> FloatArray:
    """(frames, k) central differences, one-sided at the ends; zero for a single frame."""
    if len(values) < 2:
        return np.zeros_like(values)
    out: FloatArray = np.gradient(values, 1.0 / rate, axis=0)
    return out


# Orders of bodies and joints


def segments_of(figure: Figure) -> dict[str, list[str]]:
    """Bodies that are joined rigidly, by the body that the joint before them moves, depth first."""
    out: dict[str, list[str]] = {}
    home: dict[str, str] = {}
    for body, joint in figure.tree_order:
        rigid = joint is not None and joint.nv == 0 and joint.parent is not None
        home[body] = home[joint.parent] if rigid and joint is not None and joint.parent is not None else body
        out.setdefault(home[body], []).append(body)
    return out


def depth_first(figure: Figure) -> dict[str, list[str]]:
    """The bodies that MuJoCo has, each with those that are part of it: all of an MJCF, those with a joint of a URDF."""
    base = figure.tree_order[0][1]
    from_urdf = base is None or base.name.startswith(BASE_JOINT) or base.name.endswith(f"_{BASE_JOINT}")
    return segments_of(figure) if from_urdf else {body: [body] for body, _ in figure.tree_order}


def breadth_first(figure: Figure) -> dict[str, list[str]]:
    """The bodies that PhysX has, breadth first, each with those that are part of it."""
    segments = segments_of(figure)
    home = {body: first for first, bodies in segments.items() for body in bodies}
    children: dict[str, list[str]] = {}
    for body, joint in figure.tree_order:
        if body in segments and joint is not None and joint.parent is not None:
            children.setdefault(home[joint.parent], []).append(body)
    order, level = [], [figure.tree_order[0][0]]
    while level:
        order += level
        level = [child for body in level for child in children.get(body, ())]
    return {body: segments[body] for body in order}


def joints_breadth_first(figure: Figure) -> tuple[str, ...]:
    """Names of the joints in the order of PhysX."""
    above = {joint.child: joint for joint in robot_joints(figure)}
    return tuple(above[body].name for body in breadth_first(figure) if body in above)


# Bodies


def bodies_of(motion: Clip, trajectory: Trajectory, order: dict[str, list[str]]) -> Bodies:
    """The bodies of a robot over time, with velocities.

    Args:
        motion: The motion.
        trajectory: Its root and joints.
        order: Names of the bodies to return, each with the bodies that are part of it.
    """
    figure, source = motion.figure, Source(motion)
    rows = {body.name: row for row, body in enumerate(figure.bodies)}
    speeds = dict(zip(trajectory.names, trajectory.joint_speeds().T, strict=True))
    moved = trajectory.place[0] - source.positions[0, rows[figure.tree_order[0][0]]]
    places = source.positions + moved
    turns = {name: Rotation.from_quat(source.rotations[:, row], scalar_first=True) for name, row in rows.items()}
    velocity: dict[str, FloatArray] = {}
    spin: dict[str, FloatArray] = {}
    for body, joint in figure.tree_order:
        if joint is None or joint.kind == "free" or joint.parent is None:
            velocity[body], spin[body] = trajectory.root_velocity(), trajectory.root_angular_velocity()
            continue
        place, parent = places[:, rows[body]], joint.parent
        spin[body] = spin[parent]
        velocity[body] = velocity[parent] + np.cross(spin[parent], place - places[:, rows[parent]])
        if joint.nv:
            axis = turns[body].apply(joint.child_frame.matrix[:3, :3] @ np.asarray(joint.axes[0]))
            step = axis * (speeds[joint.name] * (-1.0 if joint.reversed else 1.0))[:, None]
            if joint.kind == "prismatic":
                velocity[body] = velocity[body] + step
            else:
                hinge = place + turns[body].apply(np.array(joint.child_frame.position))
                spin[body] = spin[body] + step
                velocity[body] = velocity[body] + np.cross(step, place - hinge)
    names = tuple(order)
    centers = {name: _center(figure, name, order[name]) for name in names}
    arms = [np.cross(spin[name], turns[name].apply(centers[name])) for name in names]
    return Bodies(
        names,
        np.stack([places[:, rows[name]] for name in names], axis=1),
        np.stack([without_sign_changes(source.rotations[:, rows[name]]) for name in names], axis=1),
        np.stack([velocity[name] for name in names], axis=1),
        np.stack([velocity[name] + arm for name, arm in zip(names, arms, strict=True)], axis=1),
        np.stack([spin[name] for name in names], axis=1),
    )


def _center(figure: Figure, body: str, parts: Sequence[str]) -> FloatArray:
    """(3,) centre of mass of a body and of the bodies fixed to it, in the frame of the body [m]."""
    frames = figure.frames(figure.neutral())
    pose = {name: Pose(frames.position[row], frames.rotation[row]) for row, name in enumerate(figure.bodies.names)}
    pieces: list[Mass] = [figure.bodies[part].mass.moved(pose[body].inverse() @ pose[part]) for part in parts]
    return np.array(combined(pieces).center)
