"""The engine on DR Legs: tracking its recorded walk, and targets that leave the workspace and come back.

*Walk*: pelvis and feet of the assembled walk, one step per frame, at 100 and, motor angles interpolated, at 1200 frames
per second; with the centre of mass, its priority is below the feet and above height and rotation of the pelvis, and its
target sways by 2 mm.
*Sweeps*: pelvis lifted, feet apart, stride, pelvis turned, out of reach and back, in several durations and sizes, with
tasks at one priority or feet first, with and without the motors' speed limit. A sweep is good if the figure ends in the
posture it started from, was closed to 1e-9 in every frame and never violated a limit.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np
from machine import describe
from results import Table
from scipy.spatial.transform import Rotation

import poise
from poise import CenterOfMass, Frame, Orientation, Pose, Position, Solver

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import dr_legs as legs

SPEED, DT = legs.SPEED, 0.01
FRAMES = legs.FRAMES
PELVIS = FRAMES[2]
SWAY = 0.002
"""How far the centre of mass sways [m]; legs that the walk keeps nearly straight leave it little more."""
DURATIONS, SIZES = (120, 170, 200, 230, 310), (0.7, 1.0, 1.25)
REST = 300
"""Most frames to come back in once the targets are back: a motor that has fallen behind keeps its speed limit."""
BACK = 1e-6
"""How near to the posture it started from a figure is back [rad or m]."""


def main() -> None:
    print(describe("numba", "numpy"))
    if not legs.FOLDER.is_dir():
        raise SystemExit(f"DR Legs is not at {legs.FOLDER}.")
    figure = legs.floating()
    heads = ("ms per frame", "feet, mm at most", "pelvis, mm at most", "centre of mass, mm at most", "open by")
    table = Table("The recorded walk, one step per frame", "", *heads)
    for factor, com in itertools.product((1, 12), (False, True)):
        track(table, figure, factor, com)
    sweeps(figure)


def track(table: Table, figure: poise.Figure, factor: int, com: bool) -> None:
    wanted = legs.walked(factor)
    start = wanted[0]
    rest = {name: figure.pose_of(name, start) for name in FRAMES}
    tasks = {name: Frame(name, rest[name]) for name in FRAMES[: 2 if com else 3]}
    center = CenterOfMass(at=figure.center_of_mass(start), axes="xy", priority=2)
    height = Position(PELVIS, at=rest[PELVIS].position, axes="z", priority=3)
    turn = Orientation(PELVIS, rest[PELVIS].rotation, priority=3)
    extra = [center, height, turn] if com else []
    solver, posture, times = Solver(figure, [*tasks.values(), *extra]), start, []
    worst = {"feet": 0.0, "pelvis": 0.0, "centre": 0.0, "open": 0.0}
    for i, goal in enumerate(wanted):
        asked = {name: figure.pose_of(name, goal) for name in FRAMES}
        sway = figure.center_of_mass(goal) + np.array([0.0, SWAY * np.sin(i / (67.0 * factor)), 0.0])
        for name, task in tasks.items():
            solver.target(task, asked[name])
        if com:
            solver.target(center, sway)
            solver.target(height, asked[PELVIS].position)
            solver.target(turn, asked[PELVIS].rotation)
        begin = time.thread_time()
        posture = solver.step(posture)
        times.append(time.thread_time() - begin)
        off = {name: figure.pose_of(name, posture).position - asked[name].position for name in FRAMES}
        feet = max(float(np.linalg.norm(off[name])) for name in FRAMES[:2])
        pelvis = abs(float(off[PELVIS][2])) if com else float(np.linalg.norm(off[PELVIS]))
        center_off = float(np.linalg.norm((figure.center_of_mass(posture) - sway)[:2]))
        now = {"feet": feet, "pelvis": pelvis, "centre": center_off, "open": figure.closure_error(posture)}
        worst = {what: max(worst[what], value) for what, value in now.items()}
    table.row(
        f"{100 * factor} frames per second{', centre of mass' if com else ''}",
        1e3 * np.median(times),
        1e3 * worst["feet"],
        1e3 * worst["pelvis"],
        1e3 * worst["centre"] if com else "",
        worst["open"],
    )


def sweeps(figure: poise.Figure) -> None:
    kinds, counts = ("up", "apart", "stride", "yaw"), {}
    cases = itertools.product(kinds, SIZES, ((1, 1, 1), (1, 1, 2)), (None, DT), DURATIONS)
    for kind, size, priorities, dt, duration in cases:
        good, total = counts.get((kind, size), (0, 0))
        counts[kind, size] = (good + sweep(figure, kind, size, priorities, dt, duration), total + 1)
    table = Table("Sweeps that come back, of those tried", "size", *kinds)
    for size in SIZES:
        table.row(size, *(f"{counts[kind, size][0]} of {counts[kind, size][1]}" for kind in kinds))


def sweep(
    figure: poise.Figure, kind: str, size: float, priorities: tuple[int, ...], dt: float | None, duration: int
) -> bool:
    """Whether a sweep is good."""
    start = figure.neutral()
    rest = {name: figure.pose_of(name, start) for name in FRAMES}
    tasks = [Frame(n, rest[n], priority=k) for n, k in zip(FRAMES, priorities, strict=True)]
    motors = [figure.v_slice(motor).start for motor in legs.MOTORS]
    solver, posture = Solver(figure, tasks, dt=dt), start
    for i in range(duration + REST):
        goals = targets(rest, kind, size * float(np.sin(np.pi * min(i, duration) / duration)))
        for task, name in zip(tasks, FRAMES, strict=True):
            solver.target(task, goals[name])
        after = solver.step(posture)
        speed = float(np.abs(figure.difference(posture, after)[motors]).max()) / DT
        posture = after
        too_fast = dt is not None and speed > SPEED + 1e-9
        if figure.closure_error(posture) > 1e-9 or figure.violations(posture) or too_fast:
            return False
        if i >= duration and np.abs(figure.difference(start, posture)).max() < BACK:
            return True
    return False


def targets(rest: dict[str, Pose], kind: str, a: float) -> dict[str, Pose]:
    """Targets of the frames at the fraction `a` of the way out."""
    moves = {
        "up": {"pelvis_frame": (0.0, 0.0, 0.12)},
        "apart": {"foot_l_frame": (0.0, 0.15, 0.0), "foot_r_frame": (0.0, -0.15, 0.0)},
        "stride": {"foot_l_frame": (0.2, 0.0, 0.0), "foot_r_frame": (-0.2, 0.0, 0.0)},
        "yaw": {},
    }[kind]
    goals = {
        name: Pose(pose.position + a * np.array(moves.get(name, (0.0, 0.0, 0.0))), pose.rotation)
        for name, pose in rest.items()
    }
    if kind == "yaw":
        turned = Rotation.from_rotvec([0.0, 0.0, 1.5 * a]).as_quat(scalar_first=True)
        goals["pelvis_frame"] = Pose(rest["pelvis_frame"].position, turned)
    return goals


if __name__ == "__main__":
    main()
