"""What the baseline processor of wheels costs: shipped machine code against machine code for this computer.

python benchmarks/baseline.py [build/wheel-cp311/cache]

The folder is that in which `make wheel` keeps what it compiled for the baseline, for the Python that runs this. Two
kinds of processes, one with that machine code and one with that of the user's cache, take turns, and each time is the
best of all rounds, in processor time. The work is that of the benchmarks kinematics, whole_body, reach and retarget,
without the other libraries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kinematics
import numpy as np
from machine import describe
from peers_poise import PoiseSolver
from peers_talos import HAND, HEAD, normal, stress, talos
from reach import PANDA, POSES, UR5
from results import Table
from retarget import CLIPS

import poise
from poise.kernels.jit.machine_code import when_missing
from poise.kernels.jit.shipped import BASELINE_CPU, BASELINE_FEATURES

ROUNDS, FRAMES, CLIP_COUNT = 5, 300, 3
CACHE = Path(__file__).parents[1] / "build" / f"wheel-cp{sys.version_info[0]}{sys.version_info[1]}" / "cache"


def main(cache: str = str(CACHE)) -> None:
    if not Path(cache).is_dir():
        raise SystemExit(f"{cache} is not there: make wheel PYTHON={sys.executable} compiles for the baseline.")
    target = {"NUMBA_CPU_NAME": BASELINE_CPU, "NUMBA_CPU_FEATURES": BASELINE_FEATURES, "POISE_CACHE_DIR": cache}
    best: dict[bool, dict[str, float]] = {False: {}, True: {}}
    for _ in range(ROUNDS):
        for shipped in (True, False):
            command = [sys.executable, __file__, "--measure"]
            said = subprocess.run(command, env=os.environ | (target if shipped else {}), capture_output=True, text=True)
            if said.returncode:
                raise SystemExit(said.stderr)
            for name, cost in json.loads(said.stdout.splitlines()[-1]).items():
                best[shipped][name] = min(cost, best[shipped].get(name, np.inf))
    print(describe("numba", "numpy"))
    table = Table("", "µs", f"{BASELINE_CPU}, as in a wheel", "this computer", "ratio")
    for name, cost in best[False].items():
        table.row(name, best[True][name], cost, best[True][name] / cost)


def measure() -> dict[str, float]:
    """Processor time of each kind of work with the machine code of this process [µs]."""
    found = kinematics_times()
    when_missing.append(refuse)
    return found | whole_body_times() | reach_times() | retarget_times()


def refuse(kernel: str) -> None:
    raise SystemExit(f"{kernel} is not compiled: run poise compile, and make wheel, with these sources.")


def best_of(call: Callable[[], object], count: int, rounds: int = 5) -> float:
    """Processor time of one of `count` parts of a call, the best of some rounds [µs]."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e6 * min(times) / count


def kinematics_times() -> dict[str, float]:
    figure = poise.load(kinematics.TALOS).with_floating_base()
    tree, q = figure.compiled.tree, figure.random(1).q.copy()
    bodies = [figure.joints[name].child for name in kinematics.LIMBS]
    nodes = figure.compiled.attached.node[[figure.frame_row(body) for body in bodies]]
    n, nv = tree.parent.shape[0], figure.nv
    work = (np.empty((n, 3)), np.empty((n, 4)), np.empty((nv, 3)), np.empty((n, 3)), np.empty((3, nv)))
    jacobians, count = np.empty((len(nodes), 6, nv)), 20000
    kinematics.repeat(1, tree, q, nodes, *work, jacobians)
    return {"kinematics": best_of(lambda: kinematics.repeat(count, tree, q, nodes, *work, jacobians), count)}


def whole_body_times() -> dict[str, float]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, targets_of, speed_limits in (("within reach", normal, False), ("out of reach", stress, True)):
            problem = talos(Path(folder), speed_limits=speed_limits)
            solver = PoiseSolver(problem)
            at_start = solver.figure.posture(solver.from_pinocchio(problem.start))
            hand, head = (solver.figure.pose_of(part, at_start) for part in (HAND, HEAD))
            center = solver.figure.center_of_mass(at_start)
            targets = targets_of(np.array(hand.position), center, head.matrix, FRAMES)

            def run(solver: PoiseSolver = solver, targets: object = targets) -> None:
                solver.begin(targets)
                for frame in range(FRAMES):
                    solver.step(frame)

            found[f"whole_body, {name}"] = best_of(run, FRAMES)
    return found


def reach_times() -> dict[str, float]:
    found = {}
    for name, urdf, tip in (PANDA, UR5):
        figure = poise.load(urdf)
        places = [figure.pose_of(tip, figure.random(seed)) for seed in range(POSES)]

        def run(figure: poise.Figure = figure, tip: str = tip, places: list[poise.Pose] = places) -> None:
            for place in places:
                poise.reach(figure, tip, place.position, place.rotation)

        found[f"reach, {name}"] = best_of(run, POSES, 3)
    return found


def retarget_times() -> dict[str, float]:
    clips = [poise.load_clip(path) for path in sorted(CLIPS.rglob("*.bvh"))[:CLIP_COUNT]]
    found, count = {}, sum(map(len, clips))
    for name in ("human", "walker") if clips else ():
        figure = poise.load(name)

        def run(figure: poise.Figure = figure) -> None:
            for clip in clips:
                poise.retarget(clip, figure)

        found[f"retarget, {name}, per frame"] = best_of(run, count, 2)
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
    else:
        main(*sys.argv[1:])
