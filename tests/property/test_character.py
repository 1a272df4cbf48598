"""Whatever is asked of a character, its output keeps every limit and never stops."""

import gc
import math

import numpy as np
import pytest

import poise
from poise.character import Character
from poise.errors import PoiseError
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip

LAMP = poise.load("adelino")
VELOCITY, ACCELERATION, JERK = 6.0, 40.0, 800.0
NAMES = (*LAMP.posture_names, "no such posture")


class Moody:
    """The real solver on most days; at times it crashes or returns nonsense."""

    def __init__(self, rng):
        self.rng, self.solver = rng, poise.Expressive(LAMP)

    def solve(self, posture, orientation, previous=None):
        mood = self.rng.random()
        if mood < 0.01:
            raise RuntimeError("a bad day")
        answer = self.solver.solve(posture, orientation, previous)
        if mood < 0.02:
            answer.posture._q[:] = self.rng.choice([math.nan, math.inf, 1e30])
        return answer


def wild_wish(rng, live, clips):
    """One wish of any kind, sensible or not."""
    kind = rng.integers(0, 9)
    if kind == 0:
        live.hold(str(rng.choice(NAMES)), blend=float(rng.choice([0.0, 0.05, 1.0, -1.0])))
    elif kind == 1:
        live.hold(rng.uniform(-4.0, 4.0, 5))
    elif kind == 2:
        live.hold(rng.choice([math.nan, math.inf, 0.3], 5))
    elif kind == 3:
        live.face(rng.choice([math.nan, 0.0, *rng.normal(size=3)], 3))
    elif kind == 4:
        live.face(poise.at(rng.normal(size=3)))
    elif kind == 5:
        live.face(poise.facing(rng.normal(size=3), rng.uniform(-3.0, 3.0)))
    elif kind == 6:
        live.face(None)
    elif kind == 7:
        live.play(clips[rng.integers(0, len(clips))], loop=bool(rng.random() < 0.5), blend=rng.choice([0.0, 0.3]))
    else:
        live.idle(float(rng.choice([0.0, 1.0, 5.0])))


def jumpy_clips(rng):
    motions = [rng.uniform(-2.0, 2.0, (int(rng.integers(1, 90)), 5)) for _ in range(5)]
    return [Clip(LAMP, q, float(rng.uniform(10.0, 60.0)), f"jumpy {k}") for k, q in enumerate(motions)]


def live_wildly(seconds, rate, seed):
    """Frames under wild input, each judged; returns how objects and memory grew in the second half."""
    rng = np.random.default_rng(seed)
    live = Character(LAMP, solver=Moody(rng), on_event=lambda _: None, solver_rate=float(rng.choice([15.0, 60.0])))
    clips = jumpy_clips(rng)
    bounds = LAMP.compiled.bounds
    recent = [live.posture.q] * 4
    count, middle, largest = 0, np.zeros(2), dict.fromkeys((VELOCITY, ACCELERATION, JERK), 0.0)
    for frame in live.frames(rate, seconds=seconds, realtime=False):
        assert isinstance(frame, Posture)
        recent = [*recent[1:], frame.q]
        assert (frame.q >= bounds.lower - 1e-9).all()
        assert (frame.q <= bounds.upper + 1e-9).all()
        for order, limit in ((1, VELOCITY), (2, ACCELERATION), (3, JERK)):
            # A difference of positions carries their rounding, times rateⁿ.
            rounding = 2.0**order * 2e-16 * 2.0 * rate**order
            size = np.abs(np.diff(recent, order, axis=0)[-1]).max() * rate**order
            assert size <= limit * (1.0 + 1e-9) + rounding
            largest[limit] = max(largest[limit], size)
        if rng.random() < 3.0 / rate:
            try:
                wild_wish(rng, live, clips)
            except PoiseError as problem:
                assert str(problem).endswith(".")
        count += 1
        if count == round(0.5 * seconds * rate):
            middle = footprint()
    assert count == round(seconds * rate)
    assert live._target_solver.failures > 0
    for limit, size in largest.items():
        assert size > 0.5 * limit, "limits that the motion never comes near show nothing"
    return footprint() - middle


def footprint():
    """Objects that the collector knows, and the most memory that was ever used [kB]."""
    resource = pytest.importorskip("resource", reason="only POSIX says how much memory was used")
    gc.collect()
    return np.array([len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])


@pytest.mark.parametrize("rate", [30.0, 60.0, 200.0])
def test_wild_input_for_a_while(rate):
    live_wildly(30.0, rate, int(rate))


@pytest.mark.slow
def test_an_hour_of_wild_input_and_memory_stays_flat():
    objects, kilobytes = live_wildly(3600.0, 60.0, 7)
    assert objects < 1000
    assert kilobytes < 2000
