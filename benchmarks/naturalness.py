"""How near the engine comes to real postures of people from the handles an animator would give.

    python benchmarks/naturalness.py [FRAMES [plain]]

Postures of clips that no model has seen are retargeted on the human. The engine gets the frames of both feet and the
positions of some other points, keeps its balance where the real posture does, and must find the rest of the body. With
`plain`, it has no criterion, and starts from standing at the same place and heading. Distances are between the joints
of the answer and of the real posture, mean / 90th percentile.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from machine import describe

import poise
from poise import CenterOfMass, Frame, Position
from poise.figures.people.posture_values import feet_frame
from poise.forces.balance import balance

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from people_clips import clip_names, held_out, postures_of

FEET = ("left_foot", "right_foot")
SETS = {
    "one hand, feet": {"right_hand": Position},
    "hands, feet": {"left_hand": Position, "right_hand": Position},
    "hands, feet, head": {"left_hand": Position, "right_hand": Position, "head": Position},
    "hands with rotation, feet, head": {"left_hand": Frame, "right_hand": Frame, "head": Position},
    "pelvis, feet": {"pelvis": Position},
}
"""What is given besides the frames of both feet, and how."""
PARTS = {
    "knees": ("left_shank", "right_shank"),
    "elbows": ("left_ulna", "right_ulna"),
    "pelvis": ("pelvis",),
    "thorax": ("thorax",),
    "head": ("head",),
}
FLAT = 0.03
"""Height above the floor and inclination up to which a sole counts as standing on it [m, rad]."""
MET = 1e-3
"""Error up to which all tasks count as met [m or rad]."""


def main(frames: str = "300", how: str = "natural") -> None:
    human = poise.load("human")
    names = held_out(clip_names())
    real = chosen([postures_of(name, human) for name in names], int(frames))
    print(describe("numba", "numpy"))
    print(f"{len(real)} frames of {len(names)} unseen clips, {how}\n")
    print(f"| handles | {' | '.join(f'{part} mm' for part in PARTS)} | joints ° | met | median, 90 % ms |")
    print("|---|" + "---|" * (len(PARTS) + 3))
    for title, handles in SETS.items():
        print(row(human, real, title, handles, how == "natural"), flush=True)


def chosen(clips: list[np.ndarray], count: int) -> np.ndarray:
    """About `count` postures, equally many of each clip, at equal distances."""
    each = max(1, round(count / len(clips)))
    return np.concatenate([q[np.linspace(0, len(q) - 1, each + 2).astype(int)[1:-1]] for q in clips])


def row(human: poise.Figure, real: np.ndarray, title: str, handles: dict[str, type], natural: bool) -> str:
    """One line of the table."""
    gaps: dict[str, list[float]] = {part: [] for part in PARTS}
    turns, met, spent = [], 0, []
    for q in real:
        answer, error, seconds = solved(human, q, handles, natural)
        spent.append(1e3 * seconds)
        met += error <= MET
        here, there = human.frames(answer), human.frames(q)
        for part, bodies in PARTS.items():
            gaps[part] += [1e3 * float(np.linalg.norm(here[b].position - there[b].position)) for b in bodies]
        turns.append(np.degrees(np.abs(human.difference(answer, q)[6:]).mean()))
    cells = [f"{np.mean(gap):.0f} / {np.percentile(gap, 90):.0f}" for gap in gaps.values()]
    cells += [f"{np.mean(turns):.1f}", f"{met} of {len(real)}"]
    return f"| {title} | {' | '.join(cells)} | {np.median(spent):.1f}, {np.percentile(spent, 90):.1f} |"


def solved(
    human: poise.Figure, q: np.ndarray, handles: dict[str, type], natural: bool
) -> tuple[poise.Posture, float, float]:
    """The engine's answer, its largest error, and the time it took [s]."""
    poses = {name: human.pose_of(name, q) for name in (*FEET, *handles)}
    tasks = [Frame(foot, poses[foot], priority=1) for foot in FEET]
    targets = {name: poses[name] if kind is Frame else poses[name].position for name, kind in handles.items()}
    tasks += [kind(name, targets[name], priority=2) for name, kind in handles.items()]
    standing = on_the_floor(human, q)
    if standing and balance(human, q, supports=[poise.Support(foot) for foot in standing]).margin > 0.0:
        tasks.append(CenterOfMass(over=standing, priority=1))
    begin = time.perf_counter()
    if natural:
        result = poise.solve(human, tasks)
    else:
        result = poise.solve(human, tasks, start=standing_at(human, poses), criteria=())
    return result.posture, max(result.errors[task] for task in tasks), time.perf_counter() - begin


def on_the_floor(human: poise.Figure, q: np.ndarray) -> list[str]:
    """The feet whose soles are flat on the floor."""
    found = []
    for foot in FEET:
        pose = human.pose_of(foot, q)
        if abs(pose.position[1]) < FLAT and pose.matrix[1, 1] > np.cos(FLAT * 4.0):
            found.append(foot)
    return found


def standing_at(human: poise.Figure, poses: dict[str, poise.Pose]) -> poise.Posture:
    """The neutral posture at the place and heading of the feet."""
    feet = [poses[foot] for foot in FEET]
    frame = feet_frame(np.array([[f.position for f in feet]]), np.array([[f.matrix for f in feet]]))
    at, turn = frame.origin[0], 0.5 * frame.yaw[0]
    height = human.neutral()["base"][1]
    return human.neutral().changed({"base": (at[0], at[1] + height, at[2], np.cos(turn), 0.0, np.sin(turn), 0.0)})


if __name__ == "__main__":
    main(*sys.argv[1:])
