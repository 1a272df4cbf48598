"""Retargeting of every BVH clip in a folder to the human and to a walking robot, also balanced: speed and quality.

python benchmarks/retarget.py [CLIPS [ROUNDS]]

Frames per second are of the whole call, from clip to motion, in processor time, as the median of some
rounds after a first one; the rotated clip starts in its middle, and is compared at least half a second from any cut.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
from machine import describe

import poise
from poise.motion.report import measure

KINDS = (("human", {}), ("walker", {}), ("walker", {"balance": True}))
HEAD = (
    "clip", "frames", "frames/s", "tracking mean, max mm", "drift mm", "into the ground mm", "limits broken",
    "loops open", "spikes", "fastest joint, share of its limit", "rotated: joints median, 95 % °",
)  # fmt: skip


CLIPS = Path(__file__).parents[2] / "shared" / "data" / "bvh"
"""Where clips are looked for unless said."""


def main(folder=CLIPS, rounds="3"):
    if not any(Path(folder).rglob("*.bvh")):
        print(f"no BVH clips in {folder}: say where some are, python benchmarks/retarget.py CLIPS")
        return
    print(describe())
    for name, options in KINDS:
        figure = poise.load(name)
        print(f"\n**{name}{', balanced' if options else ''}**\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        for path in sorted(Path(folder).rglob("*.bvh")):
            print(f"| {' | '.join(row_of(poise.load_clip(path), figure, options, int(rounds)))} |", flush=True)


def row_of(clip, figure, options, rounds):
    try:
        motion = poise.retarget(clip, figure, **options)
    except poise.PoiseError as problem:
        return [clip.name, str(len(clip)), str(problem)]
    times = []
    for _ in range(rounds):
        start = time.process_time()
        poise.retarget(clip, figure, **options)
        times.append(time.process_time() - start)
    quality = measure(motion)
    return [
        clip.name,
        str(len(clip)),
        f"{len(clip) / statistics.median(times):.0f}",
        f"{1e3 * quality.tracking.mean():.1f}, {1e3 * quality.tracking.max():.1f}",
        f"{1e3 * quality.drift:.3f}",
        f"{1e3 * quality.penetration.max(initial=0.0):.3f}",
        str(quality.violations),
        f"{quality.closure:.0e}",
        str(len(quality.spikes)),
        f"{fastest(motion):.2f}",
        rotated(clip, figure, options, motion),
    ]


def fastest(motion):
    joints = [joint for joint in motion.figure.joints if joint.nv]
    speeds = np.concatenate([np.full(joint.nv, joint.speed) for joint in joints])
    return float((np.abs(motion.velocity) / speeds).max(initial=0.0))


def rotated(clip, figure, options, one):
    shift, seam, frames = len(clip) // 2, round(0.5 * clip.rate), np.arange(len(clip))
    inner = (frames >= seam) & (frames < len(clip) - seam) & (np.abs(frames - shift) >= seam)
    if not inner.any():
        return "too short"
    turned = poise.Clip(clip.figure, np.roll(clip.q, -shift, axis=0), clip.rate, clip.name)
    other = poise.retarget(turned, figure, **options)
    back = poise.Clip(other.figure, np.roll(other.q, shift, axis=0), other.rate)
    fixed = [joint.name for joint in one.figure.joints if joint.kind == "free"]
    gaps = np.abs([one.figure.difference(one[i], back[i]) for i in np.flatnonzero(inner)])
    for name in fixed:
        gaps[:, one.figure.v_slice(name)] = np.nan
    return f"{np.degrees(np.nanmedian(gaps)):.3f}, {np.degrees(np.nanpercentile(gaps, 95.0)):.2f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
