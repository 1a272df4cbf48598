"""The motion filter: limits under adversarial input, time to settle and speed, beside ruckig where it is installed.

Run: python benchmarks/filter.py [--samples 10000000]. Ruckig is measured in the interpreter named by POISE_PEERS.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from machine import describe, peers_python

from poise.motion.filter.filter import MotionFilter
from poise.motion.filter.nutty import NuttyFilter

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.property.test_filter import random_filter, worst_excess

DEGREE = math.pi / 180.0
SERVO = {"velocity": 180 * DEGREE, "acceleration": 720 * DEGREE, "jerk": 7200 * DEGREE}
BANDS = (0.02, 0.005, 0.001)
RUCKIG = """
import json, time
from ruckig import InputParameter, OutputParameter, Result, Ruckig
answers = []
for rate, goal in json.loads(input()):
    otg, ask, out, x = Ruckig(1, 1 / rate), InputParameter(1), OutputParameter(1), []
    ask.current_position = ask.current_velocity = ask.current_acceleration = [0.0]
    ask.target_position, ask.max_velocity, ask.max_acceleration, ask.max_jerk = [goal], [180.0], [720.0], [7200.0]
    start = time.perf_counter()
    while otg.update(ask, out) == Result.Working:
        x.append(out.new_position[0])
        out.pass_to_input(ask)
    answers.append((x, (time.perf_counter() - start) / len(x)))
print(json.dumps(answers))
"""


def settled(x: np.ndarray, goal: float, rate: float, band: float) -> float:
    outside = np.nonzero(np.abs(x - goal) > band * goal)[0]
    return float(outside[-1] + 2 if outside.size else 1) / rate


def ours(rate: float, goal: float) -> np.ndarray:
    motion = MotionFilter(**SERVO, lower=-90 * DEGREE, upper=90 * DEGREE)
    motion.reset(0.0)
    return motion.run(np.full(int(3 * rate), goal * DEGREE), rate)[:, 0] / DEGREE


def ruckigs(asked: list[tuple[float, float]]) -> list[tuple[list[float], float]] | None:
    done = subprocess.run([peers_python(), "-c", RUCKIG], input=json.dumps(asked), capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def compare_settling() -> None:
    asked = [(rate, goal) for rate in (30.0, 60.0, 120.0, 240.0) for goal in (60.0, 90.0)]
    peers = ruckigs(asked)
    if peers is None:
        print("ruckig is not installed beside the peers (POISE_PEERS names their Python): its columns are left out.")
    print("step, rate: seconds until within 2 % / 0.5 % / 0.1 %; ruckig's in brackets")
    for k, (rate, goal) in enumerate(asked):
        mine = [settled(ours(rate, goal), goal, rate, band) for band in BANDS]
        line = " / ".join(f"{t:.3f}" for t in mine)
        if peers is not None:
            theirs = [settled(np.array(peers[k][0]), goal, rate, band) for band in BANDS]
            line += "  [" + " / ".join(f"{t:.3f}" for t in theirs) + "]"
        print(f"  {goal:.0f}°, {rate:3.0f} Hz: {line}")
    if peers is not None:
        print(f"ruckig through Python: {1e6 * float(np.median([t for _, t in peers])):.2f} µs a joint and frame")


def measure_speed() -> None:
    motion = MotionFilter(**SERVO, lower=np.full(1000, -90 * DEGREE), upper=90 * DEGREE)
    motion.reset(np.zeros(1000))
    wanted = np.random.default_rng(0).uniform(-2, 2, (200, 1000))
    motion.step(wanted[0], 1 / 60)
    start = time.perf_counter()
    for row in wanted:
        motion.step(row, 1 / 60)
    print(f"1000 joints: {(time.perf_counter() - start) / wanted.size * 1e6:.2f} µs a joint and frame")
    one = MotionFilter(**SERVO)
    one.reset(np.zeros(5))
    start = time.perf_counter()
    for row in wanted[:, :5]:
        one.step(row, 1 / 60)
    print(f"5 joints: {(time.perf_counter() - start) / len(wanted) * 1e6:.1f} µs a frame, Python included")


def measure_limits(samples: int) -> None:
    worst, done, seed, start = 0.0, 0, 0, time.perf_counter()
    while done < samples:
        rng = np.random.default_rng([seed, 11])
        worst = max(worst, worst_excess(random_filter(rng), rng, 1000, rng.uniform(20, 240), steady=seed % 3 > 0))
        seed, done = seed + 1, done + 500_000
    print(f"{done:,} adversarial samples, 20–240 Hz: worst excess {worst:.1e} in {time.perf_counter() - start:.0f} s")


def measure_printed() -> None:
    jumps = np.repeat(np.random.default_rng(0).uniform(-1.5, 1.5, 60), 30)
    for reading in ("literal", "consistent"):
        x = NuttyFilter(**SERVO, lower=-90 * DEGREE, upper=90 * DEGREE, reading=reading).run(jumps, 60.0)
        ratios = [
            np.abs(np.diff(x, k)).max() * 60.0**k / SERVO[name]
            for k, name in enumerate(("velocity", "acceleration", "jerk"), start=1)
        ]
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"as printed, {reading}: v/V, a/A, j/J = {shown}; farthest {np.abs(x).max() / DEGREE:.0f}°")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    print(describe("numba"))
    compare_settling()
    measure_speed()
    measure_limits(parser.parse_args().samples)
    measure_printed()


if __name__ == "__main__":
    main()
