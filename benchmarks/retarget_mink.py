"""Our retargeting compared with GMR's method, with mink: same figure, mapping, targets and measures.

python benchmarks/retarget_mink.py [CLIPS]

mink gets the targets of our plan: bones of the figure's own length, planted feet as points of heel and ball, and, in a
second run, the rotation of the pelvis, which ours always follows. These targets are easier than those of GMR itself,
which scales the clip's own feet. MuJoCo cannot express swing and twist limits of ball joints, or couplings; violated
limits are therefore counted for hinges alone and for all, and ours is also measured without those limits.
Our time is that of the whole call, from the clip to the motion; mink's is that of its frames after the first; both in
processor time of one core.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import describe, peers_python
from peers_retarget_model import mjcf_of, ours_from_mujoco, start_of
from scipy.spatial.transform import Rotation

import poise
from poise.motion.clip.clip import Source
from poise.motion.clip.motion import Motion
from poise.motion.report import measure
from poise.motion.retarget.build import Build
from poise.motion.retarget.plan import Plan
from poise.motion.retarget.task_tracks import PELVIS_ROTATION_WEIGHT

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "data" / "bvh"
ROUNDS = 3
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HEAD = (
    "clip, by", "frames/s", "tracking mean, max mm", "skate mean, max mm", "drift mm", "into the ground mm",
    "hinges, all limits broken", "spikes", "fastest rad/s",
)  # fmt: skip


def questions_of(motion):
    """Sites, whether each is of a foot, weights, and (frames, sites, 3) targets."""
    track, sites, feet, weights, paths = motion.track, {}, [], [], []
    by_joint = {link.joint: link.weight for link in track.mapping.links}
    for joint, (site, offset) in track.points.items():
        sites[f"{joint} on {site}"] = (site, offset)
        feet.append(False)
        weights.append(by_joint[joint])
        paths.append(track.targets[joint])
    for site, points in track.soles.items():
        for k, part in enumerate(("ball", "heel")):
            sites[f"{part} of {site}"] = (site, points[k])
            feet.append(True)
            weights.append(1.0)
            paths.append(track.locks[site][:, k])
    return sites, feet, weights, np.stack(paths, axis=1)


def turns_of(clip, motion):
    """(frames, 4) how the pelvis should be turned, as our plan says, and the site of it."""
    links = motion.track.mapping
    build = Build.of(motion.figure, links)
    plan = Plan.of(Source(clip), links, build, motion.track.contacts)
    site = links.by_role()["pelvis"].site
    turned = Rotation.from_matrix(build.axes.T) * plan.trunk * Rotation.from_matrix(build.turned[site])
    return site, np.roll(turned.as_quat(), 1, axis=1)


def by_mink(motion, pelvis=None):
    """The motion that mink makes of the same targets, and the seconds it takes."""
    sites, feet, weights, targets = questions_of(motion)
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.npz", Path(folder) / "answer.npz"
        model, start = mjcf_of(motion.figure, sites), start_of(motion.figure, targets)
        asked = {"sites": list(sites), "feet": feet, "weights": weights, "targets": targets}
        if pelvis is not None:
            asked |= {"pelvis": pelvis[0], "turns": pelvis[1], "turn": PELVIS_ROTATION_WEIGHT}
        np.savez(question, model=model, start=start, **asked)
        script = Path(__file__).with_name("peers_retarget.py")
        run = [peers_python(), script, question, answer]
        subprocess.run(run, check=True, env=os.environ | ONE_THREAD)
        given = np.load(answer)
        q, seconds, seen = given["q"], float(given["seconds"]), given["sites"]
    other = Motion(motion.figure, ours_from_mujoco(motion.figure, q), motion.rate, motion.name, track=motion.track)
    places = [[other.figure.frames(p)[site].apply(offset) for site, offset in sites.values()] for p in other]
    assert np.abs(np.array(places) - seen).max() < 1e-9, "both must speak of the same figure"
    return other, seconds


def unlimited(figure):
    """The figure with the limits that MuJoCo knows alone: those of its hinges."""
    joints = [replace(joint, ball_limits=None) if joint.kind == "ball" else joint for joint in figure.joints]
    return figure.replaced(joints=joints, couplings=[])


def legal(motion):
    """Every posture moved to the nearest that breaks no limit."""
    q = [motion.figure.clamp(posture).q for posture in motion]
    return Motion(motion.figure, q, motion.rate, motion.name, track=motion.track)


def row(name, motion, seconds):
    q = measure(motion)
    hinges = {joint.name for joint in motion.figure.joints if joint.scalars}
    broken = sum(any(v.part in hinges for v in motion.figure.violations(posture)) for posture in motion)
    skate, depth = 1e3 * q.skate, 1e3 * q.penetration
    return (
        f"| {name} | {len(motion) / seconds:.0f} | {1e3 * q.tracking.mean():.1f}, {1e3 * q.tracking.max():.1f} "
        f"| {skate.mean():.3f}, {skate.max(initial=0.0):.3f} | {1e3 * q.drift:.2f} | {depth.max():.2f} "
        f"| {broken}, {q.violations} | {len(q.spikes)} | {np.abs(motion.velocity[:, 6:]).max(initial=0.0):.0f} |"
    )


def timed(clip, figure):
    """Our motion, and the seconds that it takes, in the median of some rounds after a first."""
    poise.retarget(clip, figure)
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        motion = poise.retarget(clip, figure)
        times.append(time.process_time() - start)
    return motion, statistics.median(times)


def main(folder=CLIPS):
    if not Path(folder).is_dir():
        raise SystemExit(f"There are no clips in {folder}; give a folder of BVH files.")
    human = poise.load("human")
    print(describe("poise", "numba", "numpy"))
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for path in sorted(Path(folder).rglob("*.bvh")):
        clip = poise.load_clip(path)
        if not poise.retarget(clip, human).track.locks:
            continue  # nobody with feet
        motion, seconds = timed(clip, human)
        print(row(f"{path.stem}, poise", motion, seconds))
        other, seconds = by_mink(motion)
        print(row(f"{path.stem}, mink", other, seconds))
        print(row(f"{path.stem}, mink, put inside all limits afterwards", legal(other), seconds))
        turned, seconds = by_mink(motion, turns_of(clip, motion))
        print(row(f"{path.stem}, mink, pelvis turned too", turned, seconds), flush=True)
        for name, figure in (("a human without limits", unlimited(human)), ("walker", poise.load("walker"))):
            print(row(f"{path.stem}, poise, on {name}", *timed(clip, figure)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
