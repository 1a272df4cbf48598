"""Self-penetration of retargeted motions, judged by MuJoCo's own contacts (`tests/self_contacts.py`).

python benchmarks/self_contacts.py [--all] [ROBOT …]

Every third clip, or all. A penetration counts from a centimetre on. Pairs that overlap by design do not count, and are
listed. Frames per second are of the whole call, from clip to motion, in processor time.
"""

import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from machine import describe

import poise
from poise.motion.report import measure

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.self_contacts import Judge

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ROBOTS = ("g1", SHARED / "menagerie/unitree_h1/h1.xml", "talos", "icub", "romeo", "simple_humanoid")


def clips(every=3):
    """The clips of people: without their first frame those whose first frame is a T-pose."""
    folder = SHARED / "bvh"
    found = [
        folder / "animated_drawings/dab.bvh",
        folder / "animated_drawings/wave_hello.bvh",
        folder / "cmu/02_01.bvh",
        folder / "cmu/05_06.bvh",
    ]
    for path in found[: 4 if every == 1 else 3]:
        yield poise.load_clip(path)
    for path in sorted((folder / "cmu30").glob("*.bvh"))[::every]:
        yield poise.load_clip(path)[1:]


def main(*names, every=3, pairs=8):
    print(describe())
    for name in names or ROBOTS:
        figure = poise.load(name)
        table(figure, list(clips(every)), pairs)


def table(figure, found, pairs):
    judge, worst, counts = None, defaultdict(float), defaultdict(int)
    frames = bad = 0
    spent, tracking, spikes, drift, skate, below, broken, deepest = 0.0, [], 0, 0.0, 0.0, 0.0, 0, 0.0
    bad_clips = []
    for clip in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            motion = poise.retarget(clip, figure)
            spent += time.process_time() - start
        quality = measure(motion)
        judge = judge or Judge(motion.figure)
        here = 0
        for posture in motion:
            deep = judge.deep(posture)
            for pair, depth in deep.items():
                worst[pair], counts[pair] = max(worst[pair], depth), counts[pair] + 1
            here += bool(deep)
            deepest = max(deepest, max(deep.values(), default=0.0))
        if here:
            bad_clips.append(f"{clip.name} {here}/{len(motion)}")
        bad, frames = bad + here, frames + len(motion)
        tracking.append(quality.tracking.mean())
        spikes, drift = spikes + len(quality.spikes), max(drift, quality.drift)
        skate = max(skate, quality.skate.max(initial=0.0))
        below, broken = max(below, quality.penetration.max(initial=0.0)), broken + quality.violations
    print(
        f"\n{figure.name}: {frames} frames, {frames / spent:.0f}/s, deeper than 1 cm in {bad}, deepest "
        f"{1e3 * deepest:.0f} mm; tracking {1e3 * np.mean(tracking):.1f} mm, drift {1e3 * drift:.2f}, "
        f"skate {1e3 * skate:.2f}, into the ground {1e3 * below:.2f} mm, limits {broken}, spikes {spikes}",
        flush=True,
    )
    print("  by design:", "; ".join(judge.name(pair) for pair in sorted(judge.by_design)))
    for pair in sorted(counts, key=counts.get, reverse=True)[:pairs]:
        print(f"  {judge.name(pair)}: {counts[pair]} frames, {1e3 * worst[pair]:.0f} mm")
    print("  clips:", ", ".join(bad_clips))


if __name__ == "__main__":
    main(*(name for name in sys.argv[1:] if name != "--all"), every=1 if "--all" in sys.argv else 3)
