"""The human with ten tasks at five levels: microseconds per live step, hands within reach and out of it."""

from __future__ import annotations

import time

import numpy as np
from machine import describe
from results import Table

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, Orientation, Position, Solver

FEET = ("left_foot", "right_foot")
FRAMES, ROUNDS = 300, 5


def main() -> None:
    print(describe("numba", "numpy"))
    human = poise.load("human").with_floating_base()
    table = Table("Time of a step [µs]", "", "median", "mean", "99 %")
    for title, reach in (("within reach", 0.1), ("hands out of reach", 1.0)):
        best = np.min([one_round(human, reach) for _ in range(ROUNDS)], axis=0)
        table.row(title, np.median(best), best.mean(), np.percentile(best, 99))


def one_round(human: poise.Figure, reach: float) -> np.ndarray:
    """Microseconds of every step while both hands circle [µs] (FRAMES,)."""
    start = human.neutral()
    hands = [Position(f"{side}_hand", at=place(human, f"{side}_hand"), priority=3) for side in ("left", "right")]
    gaze = LookAt("eyes", at=(0.0, 1.4, 2.0), priority=4)
    tasks = [
        *(Frame(foot, human.pose_of(foot, start), priority=1) for foot in FEET),
        CenterOfMass(over=FEET, margin=0.02, priority=2),
        *hands,
        gaze,
        Orientation("pelvis", human.pose_of("pelvis", start).rotation, axes="xz", priority=4),
        *(Position(f"{side}_radius", at=place(human, f"{side}_radius"), priority=5) for side in ("left", "right")),
        Hold(start, priority=6, gain=0.1),
    ]
    assert len(tasks) == 10
    solver, posture, spent = Solver(human, tasks, dt=0.01), start, np.empty(FRAMES)
    homes = [np.array(place(human, hand.site)) for hand in hands]
    for k in range(FRAMES):
        turn = 2.0 * np.pi * k / FRAMES
        begin = time.perf_counter()
        for hand, home in zip(hands, homes, strict=True):
            solver.target(hand, home + reach * np.array([0.0, 1.0 - np.cos(turn), np.sin(turn)]))
        posture = solver.step(posture)
        spent[k] = 1e6 * (time.perf_counter() - begin)
    return spent


def place(human: poise.Figure, name: str) -> np.ndarray:
    return human.pose_of(name, human.neutral()).position


if __name__ == "__main__":
    main()
