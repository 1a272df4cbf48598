"""Mechanisms that follow a site, compared in one run with PlaCo, Drake, and the paper's maximal coordinates.

Every frame is one call from the frame before: `Solver.step` of poise, one quadratic program of PlaCo or three, one
nonlinear program of Drake, steps in maximal coordinates until they rest. Each runs through all frames twice, once to be
timed, new targets included, and once to measure errors, so that nothing else runs between two timed frames. The walker
(31 bodies, 6 loops) walks, pelvis and feet tracked. Rounds of poise and of the others alternate, and the fastest of
each counts.

POISE_PEERS names a Python that has placo and drake; those that it has not are left out.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from loops_maximal import MaximalCoordinates
from loops_urdf import urdf_of
from machine import describe, peers_python
from results import Table

import poise
from poise import Frame, Pose, Position, Posture, Solver
from poise.evaluation.loops.motions import Walk, moved
from poise.figure.assembly.cut_joint_guards import without_ends

ROUNDS, FRAMES = 3, 300
Goal = dict[str, Pose]
PEERS = {"placo": ("placo", 1), "placo, 3 programs": ("placo", 3), "drake": ("drake", 1)}
"""Solvers, and programs per frame: PlaCo's loops are closed to 1e-9 m by the third."""


class Run(NamedTuple):
    """One solver over all frames."""

    milliseconds: float
    """Per frame."""
    error: float
    """Largest distance of a site from where it was asked to be [m]."""
    gap: float
    """Largest distance between the sides of a loop joint [m]."""


@dataclass(frozen=True)
class Motion:
    """A mechanism and the targets of its sites."""

    figure: poise.Figure
    goals: Sequence[Goal]
    whole: bool
    """Whether turns are asked for as well."""
    planar: bool = False
    floating: bool = False


def main() -> None:
    print(describe("numba", "numpy", "scipy"))
    table = Table("", "", "solver", "ms per frame", "times poise's", "mm away at most", "open by at most, m")
    for name, motion in (("five_bar", five_bar()), ("stewart", stewart()), ("walker", walker())):
        compare(table, name, motion)


def five_bar() -> Motion:
    """A circle of 10 cm."""
    figure = poise.load("five_bar")
    rest = figure.pose_of("tip", figure.neutral())
    angles = 2.0 * np.pi * np.arange(FRAMES) / FRAMES
    circle = [rest.position + 0.05 * np.array([np.sin(a), np.cos(a) - 1.0, 0.0]) for a in angles]
    return Motion(figure, [{"tip": Pose(p, rest.rotation)} for p in circle], whole=False, planar=True)


def stewart() -> Motion:
    """Shifts and turns about all axes."""
    figure = poise.load("stewart")
    rest = figure.pose_of("tip", figure.neutral())
    angles = 2.0 * np.pi * np.arange(FRAMES) / FRAMES
    shift = [0.03 * np.array([np.sin(a), np.sin(2.0 * a), 1.0 - np.cos(a)]) for a in angles]
    turn = [0.1 * np.array([np.sin(a), 1.0 - np.cos(a), np.sin(2.0 * a)]) for a in angles]
    return Motion(figure, [{"tip": moved(rest, s, t)} for s, t in zip(shift, turn, strict=True)], whole=True)


def walker() -> Motion:
    """Steps at the paper's 1200 frames per second."""
    figure, walk = poise.load("walker").with_floating_base(), Walk()
    times = np.arange(FRAMES) / 1200.0 + 0.5
    goals = [
        {"pelvis": walk.pelvis(figure, t), **{f"{s}_foot": walk.foot(figure, s, t) for s in ("left", "right")}}
        for t in times
    ]
    return Motion(figure, goals, whole=True, floating=True)


def compare(table: Table, name: str, motion: Motion) -> None:
    start = arrived(motion)
    ours, others = [], {}
    follow(motion, start, 10)
    for _ in range(ROUNDS):
        ours.append(follow(motion, start))
        for title, (peer, programs) in PEERS.items():
            if peer != "placo" or not motion.floating:
                others.setdefault(title, []).append(ask(peer, programs, motion, start))
        if motion.floating:
            others.setdefault("maximal coordinates", []).append(follow_maximal(motion, start))
    best = quietest(ours)
    table.row(name, "poise", *row(best, best))
    for peer, runs in others.items():
        if None in runs:
            table.row("", peer, "not installed", "", "", "")
        else:
            table.row("", peer, *row(quietest(runs), best))


def arrived(motion: Motion) -> Posture:
    """The posture of the first frame."""
    goal = motion.goals[0]
    return poise.solve(motion.figure, [task(motion, site, pose) for site, pose in goal.items()]).posture


def task(motion: Motion, site: str, pose: Pose) -> Frame | Position:
    return Frame(site, pose) if motion.whole else Position(site, at=pose.position, axes="xy" if motion.planar else None)


def follow(motion: Motion, start: Posture, count: int = FRAMES) -> Run:
    figure, posture = motion.figure, start
    tasks = {site: task(motion, site, pose) for site, pose in motion.goals[0].items()}
    solver = Solver(figure, tasks.values())
    targets = [
        [(tasks[site], pose if motion.whole else pose.position) for site, pose in goal.items()]
        for goal in motion.goals[:count]
    ]
    postures = []
    begin = time.thread_time()
    for frame in targets:
        for asked, value in frame:
            solver.target(asked, value)
        posture = solver.step(posture)
        postures.append(posture)
    seconds = time.thread_time() - begin
    errors = [
        max(np.linalg.norm(figure.pose_of(s, there).position - p.position) for s, p in goal.items())
        for goal, there in zip(motion.goals, postures, strict=False)
    ]
    return Run(1e3 * seconds / count, float(max(errors)), max(map(figure.closure_error, postures)))


def follow_maximal(motion: Motion, start: Posture) -> Run:
    sites = list(motion.goals[0])
    drawn = without_ends(motion.figure)
    first = drawn.posture({name: start[name] for name in drawn.moving_joints})
    maximal = MaximalCoordinates(drawn, sites)
    frames = [[(goal[site].position, goal[site].matrix) for site in sites] for goal in motion.goals]
    maximal.begin(first)
    begin = time.thread_time()
    for targets in frames:
        maximal.solve(targets)
    seconds = time.thread_time() - begin
    maximal.begin(first)
    errors, gap = [], 0.0
    for targets in frames:
        maximal.solve(targets)
        errors.append(max(np.linalg.norm(maximal.site(k)[0] - at) for k, (at, _) in enumerate(targets)))
        gap = max(gap, maximal.gap())
    return Run(1e3 * seconds / len(frames), float(max(errors)), gap)


def ask(peer: str, programs: int, motion: Motion, start: Posture) -> Run | None:
    """Run another library in a process of its own; None if it is not installed."""
    drawn = without_ends(motion.figure)
    figure = drawn.replaced(joints=[j for j in drawn.joints if j.kind != "free"])
    with tempfile.TemporaryDirectory() as folder:
        urdf, file = Path(folder) / "figure.urdf", Path(folder) / "question.json"
        urdf.write_text(urdf_of(figure))
        file.write_text(
            json.dumps({"peer": peer, "programs": programs, "urdf": str(urdf), **question(motion, figure, start)})
        )
        script = Path(__file__).with_name("loops_peer.py")
        done = subprocess.run([peers_python(), script, file], capture_output=True, text=True, check=False)
    if done.returncode:
        if "ModuleNotFoundError" in done.stderr:
            return None
        raise SystemExit(done.stderr)
    answer = json.loads(done.stdout.splitlines()[-1])
    return Run(1e3 * answer["seconds"] / FRAMES, max(answer["errors"]), max(answer["gaps"]))


def question(motion: Motion, figure: poise.Figure, start: Posture) -> dict:
    loops = [
        {
            "name": loop.name,
            "axes": "xy" if motion.planar else "xyz",
            # Two points of a hinge's axis meet; of a planar one, and of a ball, one is enough.
            "points": [[0.0, 0.0, 0.0]]
            + ([[0.1 * c for c in loop.axes[0]]] if loop.kind == "revolute" and not motion.planar else []),
        }
        for loop in figure.loops
    ]
    values = {joint.name: float(start[joint.name]) for joint in figure.joints if joint.nq == 1}
    sites = [f"site.{site}" for site in motion.goals[0]]
    return {
        "loops": loops,
        "start": values,
        "root": (root := figure.tree_order[0][0]),
        "base": matrix_of(motion.figure.pose_of(root, start)).tolist(),
        "floating": motion.floating,
        "whole": motion.whole,
        "axes": [0, 1] if motion.planar else [0, 1, 2],
        "frames": [*sites, *(f"{loop.name}.{side}" for loop in figure.loops for side in ("inner", "outer"))],
        "targets": [{f"site.{site}": matrix_of(pose).tolist() for site, pose in goal.items()} for goal in motion.goals],
    }


def matrix_of(pose: Pose) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.matrix, pose.position
    return matrix


def quietest(runs: Sequence[Run]) -> Run:
    return min(runs, key=lambda run: run.milliseconds)


def row(run: Run, best: Run) -> tuple[float, float, float, float]:
    return run.milliseconds, run.milliseconds / best.milliseconds, 1e3 * run.error, run.gap


if __name__ == "__main__":
    main()
