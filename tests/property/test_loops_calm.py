"""Mechanisms whose targets leave the workspace and come back: closed, legal, within speed, and as they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

import poise
from poise import Frame, Pose, Position, Solver
from poise.figure import Figure, Joint, Posture
from poise.figure.model.pose import FloatArray
from tests import dr_legs as legs

Goal = Pose | FloatArray
Tasks = dict[str, Frame | Position]
CLOSED, DT, BACK = 1e-9, 0.01, 1e-6
NOWHERE = (0.0, 0.0, 0.0)
REST = 300
"""Most frames to come back in: a motor that has fallen behind keeps its speed limit."""
HIPS = {"j1": math.radians(60.0), "j2": math.radians(80.0)}
"""Limits of the walker's hips, of which its file has none: without them it may roll over them."""
SWEEPS = {
    "up": {"pelvis_frame": (0.0, 0.0, 0.12)},
    "apart": {"foot_l_frame": (0.0, 0.15, 0.0), "foot_r_frame": (0.0, -0.15, 0.0)},
    "stride": {"foot_l_frame": (0.2, 0.0, 0.0), "foot_r_frame": (-0.2, 0.0, 0.0)},
    "yaw": {},
}


def walker() -> Figure:
    figure = legs.floating()
    return figure.replaced(joints=[with_hip_limits(joint) for joint in figure.joints])


def with_hip_limits(joint: Joint) -> Joint:
    limit = HIPS.get(joint.name[:2])
    return joint if limit is None else replace(joint, lower=(-limit,), upper=(limit,))


def come_back(
    figure: Figure,
    tasks: Tasks,
    goal: Callable[[str, float], Goal],
    *,
    duration: int,
    motors: list[str],
    speed: float = 0.0,
) -> poise.Result:
    """Sweep targets out and back, and check every frame; returns the solution for the targets farthest out.

    Args:
        figure: The mechanism, which starts in its neutral posture.
        tasks: One task per site.
        goal: The target of a site, some share of the way out.
        duration: Frames from the first target to its return.
        motors: Joints that have a speed limit.
        speed: That limit [rad/s or m/s]; the figure's own if 0.
    """
    start = figure.neutral()
    apex = {site: goal(site, 1.0) for site in tasks}
    nearest = poise.solve(figure, [task.with_target(apex[site]) for site, task in tasks.items()], start=start)
    solver, posture, outmost = Solver(figure, tasks.values(), dt=DT), start, start
    where = [figure.v_slice(motor).start for motor in motors]
    fastest = np.array([speed or figure.joints[motor].speed for motor in motors])
    for k in range(duration + REST):
        out = math.sin(math.pi * min(k, duration) / duration)
        for site, task in tasks.items():
            solver.target(task, goal(site, out))
        after = solver.step(posture)
        assert figure.closure_error(after) <= CLOSED
        assert figure.violations(after) == []
        assert (np.abs(figure.difference(posture, after)[where]) <= fastest * DT + 1e-9).all()
        posture = after
        if k == duration // 2:
            outmost = after
        if k >= duration and np.abs(figure.difference(start, posture)).max() < BACK:
            break
    else:
        pytest.fail(f"ended {np.abs(figure.difference(start, posture)).max():.2g} from where it began")
    moved = {site: target for site, target in apex.items() if squared_error(figure, start, {site: target}) > 1e-12}
    stayed, went, could = (squared_error(figure, each, moved) for each in (start, outmost, nearest.posture))
    assert went < stayed or could > stayed - 1e-9, "it came back because it never left"
    return nearest


def squared_error(figure: Figure, posture: Posture, targets: dict[str, Goal]) -> float:
    """Sum of the squared distances [m²] and angles [rad²] of sites from their targets."""
    total = 0.0
    for site, target in targets.items():
        pose = figure.pose_of(site, posture)
        total += float(np.sum((pose.position - (target.position if isinstance(target, Pose) else target)) ** 2))
        if isinstance(target, Pose):
            total += float(Rotation.from_matrix(pose.matrix.T @ target.matrix).magnitude() ** 2)
    return total


def moved_pose(pose: Pose, move: ArrayLike, turn: float = 0.0, about: ArrayLike = (0.0, 0.0, 1.0)) -> Pose:
    """A pose after a translation [m] and a rotation about a world axis [rad]."""
    matrix = Rotation.from_rotvec(turn * np.asarray(about)).as_matrix() @ pose.matrix
    return Pose(pose.position + np.asarray(move), Rotation.from_matrix(matrix).as_quat(scalar_first=True))


@pytest.mark.real_data
@pytest.mark.slow
@pytest.mark.parametrize("size", [0.7, 1.0, 1.25])
@pytest.mark.parametrize("duration", [120, 200, 310])
@pytest.mark.parametrize("kind", SWEEPS)
def test_the_walker_comes_back_as_it_was(kind: str, duration: int, size: float) -> None:
    """Feet first, then the pelvis, which is asked up, feet apart, a stride, or a turn, beyond what legs can do."""
    figure = walker()
    rest = {name: figure.pose_of(name, figure.neutral()) for name in legs.FRAMES}
    tasks: Tasks = {name: Frame(name, rest[name], priority=2 if name == "pelvis_frame" else 1) for name in legs.FRAMES}

    def goal(site: str, out: float) -> Pose:
        turn = 1.5 if kind == "yaw" and site == "pelvis_frame" else 0.0
        return moved_pose(rest[site], size * out * np.array(SWEEPS[kind].get(site, NOWHERE)), size * out * turn)

    come_back(figure, tasks, goal, duration=duration, motors=legs.MOTORS)


@pytest.mark.real_data
@pytest.mark.parametrize("kind", ["apart", "stride", "yaw"])
def test_dr_legs_leave_the_workspace_and_come_back_unflipped(kind: str) -> None:
    figure = legs.floating()
    rest = {name: figure.pose_of(name, figure.neutral()) for name in legs.FRAMES}
    tasks: Tasks = {name: Frame(name, pose) for name, pose in rest.items()}

    def goal(site: str, out: float) -> Pose:
        turn = 1.5 if kind == "yaw" and site == "pelvis_frame" else 0.0
        return moved_pose(rest[site], out * np.array(SWEEPS[kind].get(site, NOWHERE)), out * turn)

    farthest = come_back(figure, tasks, goal, duration=200, motors=legs.MOTORS, speed=legs.SPEED)
    assert farthest.status != "solved", "it was never out of reach"


@pytest.mark.parametrize(
    ("name", "site", "move"),
    [
        ("five_bar", "tip", (0.4, 0.3, 0.0)),
        ("five_bar", "tip", (-0.1, -0.7, 0.0)),
        ("delta", "tip", (0.5, -0.5, 0.2)),
        ("stewart", "tip", (0.4, 0.5, 0.1)),
        ("dancer", "pelvis", (0.1, 0.2, 0.1)),
    ],
)
def test_mechanisms_leave_the_workspace_and_come_back_unflipped(
    name: str, site: str, move: tuple[float, float, float]
) -> None:
    figure = poise.load(name)
    rest = figure.pose_of(site, figure.neutral())
    motors = [joint.name for joint in figure.joints if joint.active]
    farthest = come_back(
        figure,
        {site: Frame(site, rest)},
        lambda _, out: moved_pose(rest, out * np.array(move)),
        duration=200,
        motors=motors,
    )
    assert farthest.status != "solved", "it was never out of reach"


@pytest.mark.parametrize(
    ("name", "site"), [("five_bar", "tip"), ("delta", "tip"), ("stewart", "tip"), ("dancer", "pelvis")]
)
@given(
    way=st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda way: np.linalg.norm(way) > 0.2),
    size=st.floats(0.1, 0.6),
    duration=st.integers(60, 200),
)
@settings(max_examples=8)
def test_mechanisms_pulled_anywhere_come_back_as_they_were(
    name: str, site: str, way: tuple[float, float, float], size: float, duration: int
) -> None:
    figure = poise.load(name)
    rest = figure.pose_of(site, figure.neutral())
    move = size * np.array(way) / np.linalg.norm(way)
    task = Frame(site, rest) if name in ("stewart", "dancer") else Position(site, at=rest.position)

    def goal(_: str, out: float) -> Goal:
        return moved_pose(rest, out * move) if isinstance(task, Frame) else rest.position + out * move

    motors = [joint.name for joint in figure.joints if joint.active]
    come_back(figure, {site: task}, goal, duration=duration, motors=motors)
