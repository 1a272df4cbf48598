"""Mechanisms whose targets leave the workspace and come back: closed, legal, within speed, and as they were."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import poise
from poise import Frame, Pose, Position, Solver
from poise.figure import Figure, Joint
from tests import dr_legs as legs

CLOSED, DT, BACK = 1e-9, 0.01, 1e-6
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
needs_legs = pytest.mark.skipif(not legs.FOLDER.is_dir(), reason="the robot DR Legs is not beside this repository")


def walker() -> Figure:
    figure = legs.floating()
    return figure.replaced(joints=[with_hip_limits(joint) for joint in figure.joints])


def with_hip_limits(joint: Joint) -> Joint:
    limit = HIPS.get(joint.name[:2])
    return joint if limit is None else replace(joint, lower=(-limit,), upper=(limit,))


def come_back(
    figure: Figure, tasks: dict[str, Frame | Position], duration: int, goal: object, motors: list[str]
) -> None:
    """Sweep targets out and back; `goal` says where a site is asked to be, some share of the way out."""
    start = figure.neutral()
    solver, posture = Solver(figure, tasks.values(), dt=DT), start
    where = [figure.v_slice(motor).start for motor in motors]
    fastest = np.array([figure.joints[motor].speed for motor in motors])
    for k in range(duration + REST):
        out = math.sin(math.pi * min(k, duration) / duration)
        for site, task in tasks.items():
            solver.target(task, goal(site, out))  # type: ignore[operator]
        after = solver.step(posture)
        assert figure.closure_error(after) <= CLOSED
        assert figure.violations(after) == []
        assert (np.abs(figure.difference(posture, after)[where]) <= fastest * DT + 1e-9).all()
        posture = after
        if k >= duration and np.abs(figure.difference(start, posture)).max() < BACK:
            return
    pytest.fail(f"ended {np.abs(figure.difference(start, posture)).max():.2g} from where it began")


@needs_legs
@pytest.mark.slow
@pytest.mark.parametrize("size", [0.7, 1.0, 1.25])
@pytest.mark.parametrize("duration", [120, 200, 310])
@pytest.mark.parametrize("kind", SWEEPS)
def test_the_walker_comes_back_as_it_was(kind: str, duration: int, size: float) -> None:
    """Feet first, then the pelvis, which is asked up, feet apart, a stride, or a turn, beyond what legs can do."""
    figure = walker()
    rest = {name: figure.pose_of(name, figure.neutral()) for name in legs.FRAMES}
    tasks = {name: Frame(name, rest[name], priority=2 if name == "pelvis_frame" else 1) for name in legs.FRAMES}

    def goal(site: str, out: float) -> Pose:
        move = np.array(SWEEPS[kind].get(site, (0.0, 0.0, 0.0)))
        turn = 1.5 * size * out if kind == "yaw" and site == "pelvis_frame" else 0.0
        rotation = Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix() @ rest[site].matrix
        return Pose(rest[site].position + size * out * move, Rotation.from_matrix(rotation).as_quat(scalar_first=True))

    come_back(figure, tasks, duration, goal, legs.MOTORS)


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

    def goal(_: str, out: float) -> object:
        at = rest.position + out * move
        return Pose(at, rest.rotation) if isinstance(task, Frame) else at

    motors = [joint.name for joint in figure.joints if joint.active]
    come_back(figure, {site: task}, duration, goal, motors)
