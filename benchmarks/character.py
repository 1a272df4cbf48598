"""The live character: latency from `face()` to the first changed frame, processor time, and the clock's jitter.

Run: python benchmarks/character.py [--minutes 10]. Times are wall times and depend on other programs on the machine.
"""

from __future__ import annotations

import argparse
import os
import threading
import time

import numpy as np
from machine import describe

import poise
from poise.character.clock import FrameClock
from poise.motion.clip.clip import Clip

RATES = (60.0, 200.0)
STILL = 1e-5
"""Less than a motion's first frame at the highest rate, more than a solver at rest still moves [rad]."""
SETTLED = 1.0
"""After which a motion has ended [s]."""


def dancing_lamp() -> poise.Character:
    lamp = poise.load("adelino")
    t = np.arange(121) / 30.0
    q = lamp.neutral().q + 0.3 * np.sin(np.pi * t[:, None] + np.arange(5))
    live = poise.Character(lamp, idle=1.0)
    live.play(Clip(lamp, q, 30.0, "dance"), loop=True)
    return live


def measure_latency(rate: float, trials: int = 30) -> np.ndarray:
    """Time from a call of `face` on another thread to the first frame that it changes [s]."""
    live = poise.Character(poise.load("adelino"))
    live.face([0.0, 0.4, 1.0])
    asked, found = [0.0], []
    go, done = threading.Event(), threading.Event()

    def ask() -> None:
        rng = np.random.default_rng(0)
        for k in range(trials):
            go.wait()
            go.clear()
            time.sleep(rng.uniform(0.0, 0.05))
            asked[0] = time.perf_counter()
            live.face([1.0 if k % 2 == 0 else -1.0, 0.4, 0.6])
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    last, since = live.posture.q, 0
    for frame in live.frames(rate):
        now = time.perf_counter()
        since += 1
        if asked[0] and np.abs(frame.q - last).max() > STILL:
            found.append(now - asked[0])
            asked[0], since = 0.0, 0
        last = frame.q
        if since >= SETTLED * rate and not asked[0]:
            if done.is_set():
                break
            since = 0
            go.set()
    return np.array(found)


def measure_load(rate: float, seconds: float) -> tuple[float, np.ndarray, int]:
    """Share of one core, times between frames [s], skipped frames."""
    live = dancing_lamp()
    stop = threading.Event()

    def wander() -> None:
        start = time.perf_counter()
        while not stop.wait(1 / 30):
            turn = 0.5 * (time.perf_counter() - start)
            live.face(poise.at([np.sin(turn), 0.5, np.cos(turn)], roll=None))

    threading.Thread(target=wander, daemon=True).start()
    for _ in live.frames(rate, seconds=1.0):
        pass
    stamps, start = [], time.process_time()
    for _ in live.frames(rate, seconds=seconds):
        stamps.append(time.perf_counter())
    used = time.process_time() - start
    stop.set()
    return used / (stamps[-1] - stamps[0]), np.diff(stamps), live.clock.missed


def bare_clock(rate: float, seconds: float) -> np.ndarray:
    """Times between the ticks of a clock that does nothing else, which shows the machine's own jitter [s]."""
    clock = FrameClock(rate)
    stamps = []
    while clock.ticks < rate * seconds:
        clock.wait()
        stamps.append(time.perf_counter())
    return np.diff(stamps)


def spread(gaps: np.ndarray, rate: float) -> str:
    off = 1e3 * np.abs(gaps - 1.0 / rate)
    return f"{np.median(off):.3f} ms median, {np.percentile(off, 99):.2f} ms at 99 %, {off.max():.1f} ms worst"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long the clock is watched at 60 Hz")
    minutes = parser.parse_args().minutes
    print(describe("numba"))
    for rate in RATES:
        late = 1e3 * measure_latency(rate)
        print(f"{rate:.0f} Hz: face() to first changed frame {np.median(late):.1f} ms (median), {late.max():.1f} worst")
    for rate, seconds in ((200.0, 20.0), (60.0, 60.0 * minutes)):
        share, gaps, missed = measure_load(rate, seconds)
        print(
            f"{rate:.0f} Hz for {seconds:.0f} s, clip, gaze and idle life: {100 * share:.1f} % of a core; "
            f"jitter {spread(gaps, rate)}, {missed} of {len(gaps) + 1} frames left out"
        )
        print(f"{rate:.0f} Hz, a clock that does nothing: jitter {spread(bare_clock(rate, min(seconds, 60.0)), rate)}")
    print(f"load of the machine over the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
