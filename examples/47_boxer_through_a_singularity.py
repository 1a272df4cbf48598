"""An arm swings close to a singularity, where two of its shoulder axes coincide.

A ball joint has no such singularity. Three motors in series can follow exactly only by spinning two of them against
each other. With tasks that keep the bodies slow, the arm deviates a little from the target for a moment instead. After
[Schumacher et al. 2021, fig. 7]. Run: python examples/47_boxer_through_a_singularity.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Sheet

import poise
from poise import Pose, Position, Solver, StayStill, TurnSlowly
from poise.engine.problem import StepSize
from poise.tasks.task import Task

RATE = 1200.0
SWING = 1.3
"""How fast the arm swings [rad/s]."""
MISS = math.radians(0.5)
"""By how much it passes by the singular direction [rad]."""
FROM, TO = math.radians(-50.0), math.radians(25.0)
MOTORS = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")


def swing(boxer: poise.Figure) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions of elbow and glove of an arm on a ball joint, frame by frame."""
    raised = boxer.posture({"shoulder_roll": math.pi / 2.0, "elbow": math.pi / 2.0})
    shoulder = boxer.pose_of("upper_arm", raised).position
    parts = [boxer.pose_of(part, raised).position - shoulder for part in ("forearm", "glove")]
    aside = turn((0.0, 1.0, 0.0), -MISS)
    for k in range(int((TO - FROM) / SWING * RATE) + 1):
        pose = turn((0.0, 0.0, -1.0), FROM + SWING * k / RATE) @ aside
        yield shoulder + pose.apply(parts[0]), shoulder + pose.apply(parts[1])


def turn(axis: tuple[float, float, float], angle: float) -> Pose:
    """A rotation about an axis through the origin."""
    half = 0.5 * angle
    return Pose(rotation=np.array([math.cos(half), *(math.sin(half) * np.array(axis))]))


def follow(boxer: poise.Figure, regularised: bool) -> tuple[np.ndarray, np.ndarray]:
    """Speed of the motors [rad/s] and distance of the glove from its target [m] in every frame."""
    path = list(swing(boxer))
    elbow, glove = Position("forearm", at=path[0][0]), Position("glove", at=path[0][1])
    steady: list[Task] = [StayStill(weight=2e-4), TurnSlowly(speed=4.0, rate=RATE, weight=1e-4)] if regularised else []
    solver = Solver(boxer, [elbow, glove, *steady], step=StepSize(min_gain=1e-6))
    start = {"shoulder_roll": math.pi / 2.0 + FROM, "elbow": math.pi / 2.0}
    posture = poise.solve(boxer, [elbow, glove], start=start).posture
    postures, misses = [posture.q], []
    for frame in path:
        for task, at in zip((elbow, glove), frame, strict=True):
            solver.target(task, at)
        posture = solver.settle(posture, max_steps=50, tolerance=1e-9).posture
        postures.append(posture.q)
        misses.append(float(np.linalg.norm(boxer.pose_of("glove", posture).position - frame[1])))
    return np.diff(postures[1:], axis=0) * RATE, np.array(misses)


def main(folder: Path) -> None:
    """Swing with and without the tasks that keep motions smooth."""
    boxer = poise.load("boxer")
    limit = float(boxer.joints["elbow"].speed)
    runs = {name: follow(boxer, name == "slowly") for name in ("as asked", "slowly")}
    for name, (speeds, misses) in runs.items():
        print(
            f"{name}: motors up to {np.abs(speeds).max():.1f} rad/s, glove off by {1e3 * misses.mean():.2f} mm in the "
            f"mean, {1e3 * misses.max():.1f} at most"
        )
    speeds, misses = runs["slowly"]
    assert np.abs(runs["as asked"][0]).max() > 100.0, "no motor can follow"
    assert np.abs(speeds).max() <= limit
    assert misses.mean() < 1.66e-3, "the paper's error"

    folder.mkdir(parents=True, exist_ok=True)
    sheet = Sheet(figsize=(7.2, 3.6), layout="constrained")
    for axes, (name, (speeds, _)) in zip(sheet.subplots(1, 2), runs.items(), strict=True):
        axes.plot(np.arange(len(speeds)) / RATE, speeds, label=MOTORS)
        axes.axhspan(-limit, limit, color="#2a9d4a", alpha=0.12)
        axes.set(title=name, xlabel="s", ylabel="rad/s", yscale="symlog")
        axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    sheet.savefig(folder / "boxer.png", dpi=110)
    print(f"See {folder / 'boxer.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
