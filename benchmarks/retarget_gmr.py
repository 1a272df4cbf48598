"""Retargeting to the Unitree G1, by poise and by GMR's method with mink.

python benchmarks/retarget_gmr.py [CLIP …]

mink solves each frame as GMR does [Araujo et al. 2025] (`peers_retarget.py`): a frame task for each mapped point, feet
with five times the weight, one step and up to ten more, inside the limits of the hinges. It gets the targets of our
plan: bones of the robot's own length, planted feet, and the rotation of the pelvis. GMR's own targets, the clip's
scaled joints, are harder to follow, and its files of weights and rotations per robot are not used. Our time is that of
the whole call, mink's that of its frames after the first; both in processor time of one core.
"""

import sys
from pathlib import Path

import numpy as np
from machine import describe
from retarget_mink import CLIPS, by_mink, timed, turns_of

import poise
from poise.motion.report import measure

USUAL = ("cmu/02_01", "animated_drawings/dab", "cmu30/137_14", "cmu30/05_18", "cmu30/88_11", "cmu30/14_13")
HEAD = (
    "clip, by", "frames/s", "tracking mean, max mm", "skate max mm", "into the ground mm", "deeper than 1 cm in itself",
    "limits broken", "spikes", "mean jerk rad/s³", "fastest rad/s",
)  # fmt: skip


def row(name, motion, seconds):
    q = measure(motion)
    return (
        f"| {name} | {len(motion) / seconds:.0f} | {1e3 * q.tracking.mean():.1f}, {1e3 * q.tracking.max():.1f} "
        f"| {1e3 * q.skate.max(initial=0.0):.2f} | {1e3 * q.penetration.max():.1f} "
        f"| {int((q.training.self_depth > 0.01).sum())} of {len(motion)} | {q.violations} | {len(q.spikes)} "
        f"| {q.training.jerk:.0f} | {np.abs(motion.velocity[:, 6:]).max(initial=0.0):.0f} |"
    )


def main(*names):
    figure = poise.load("g1").with_floating_base()
    print(describe("poise", "numba", "numpy"))
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name in names or USUAL:
        path = Path(name) if Path(name).is_file() else CLIPS / f"{name}.bvh"
        clip = poise.load_clip(path)[1 if "cmu30" in str(path) else 0 :]
        motion, seconds = timed(clip, figure)
        print(row(f"{path.stem}, poise", motion, seconds), flush=True)
        print(row(f"{path.stem}, mink", *by_mink(motion, turns_of(clip, motion))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
