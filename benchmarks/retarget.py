"""Retargeting of every BVH clip in a folder onto a figure: frames per second and quality.

python benchmarks/retarget.py CLIPS [FIGURE]
"""

import statistics
import sys
import time
from pathlib import Path

import poise
from poise.motion.report import measure

ROUNDS = 3


def main(folder, name="human"):
    figure = poise.load(name)
    print(
        "| clip | frames | frames/s | tracking mean, max mm | drift mm | into the ground mm | limits broken | spikes |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for path in sorted(Path(folder).rglob("*.bvh")):
        clip = poise.load_clip(path)
        try:
            poise.retarget(clip, figure)
        except poise.PoiseError as problem:
            print(f"| {path.stem} | {len(clip)} | {problem} |")
            continue
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            motion = poise.retarget(clip, figure)
            times.append(time.perf_counter() - start)
        q = measure(motion)
        print(
            f"| {path.stem} | {len(clip)} | {len(clip) / statistics.median(times):.0f} "
            f"| {1e3 * q.tracking.mean():.1f}, {1e3 * q.tracking.max():.1f} | {1e3 * q.drift:.3f} "
            f"| {1e3 * q.penetration.max(initial=0.0):.3f} | {q.violations} | {len(q.spikes)} |"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
