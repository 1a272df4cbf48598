"""Cases of the motion filter and of retargeting."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import poise
from poise import Clip, MotionFilter
from poise.errors import UnmappedWarning
from poise.motion.retarget.smoothing import Style
from tests import real_data
from tests.golden.questions import Case, FloatArray, packed, random_for
from tests.unit.motion.retarget.stick_man import stepping


def motion_filters() -> Iterator[Case]:
    """The motion filter after set-points that jump, at steady and unsteady rates."""
    styles: dict[str, dict[str, Any]] = {
        "plain": {},
        "smooth": {"smoothness": 0.5, "responsiveness": 0.3},
        "bouncing": {"bounce": 0.5},
        "careful": {"beta": 2.0, "smoothness": [0.0, 0.3, 1.0]},
    }

    def answer(kind: str, rate: float) -> FloatArray:
        rng = random_for("filter", kind, rate)
        motion = MotionFilter(6, [20, 40, 60], 800, lower=-1.5, upper=[1.0, 1.5, 2.0], **styles[kind])
        motion.reset(rng.uniform(-1, 1, 3))
        wanted = np.repeat(rng.uniform(-2, 2, (6, 3)), 30, axis=0)
        wanted[70] = np.nan
        if rate:
            return packed(motion.run(wanted, rate)[5::6])
        return packed([motion.step(row, float(rng.uniform(0.002, 0.05))) for row in wanted][5::6])

    def on_figure(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("filter", name)
        motion = MotionFilter(5, 30, 500, smoothness=0.2).within(figure)
        motion.reset(figure.clamp(figure.neutral()).q)
        wanted = np.repeat([figure.random(rng).q for _ in range(4)], 20, axis=0)
        return packed(motion.run(wanted, 60)[9::10])

    for kind in styles:
        for rate in (0.0, 30.0, 60.0, 240.0):
            yield f"{kind} at {rate or 'unsteady'}", partial(answer, kind, rate)
    for name in ("adelino", "snake", "arm", "serial12"):
        yield f"within {name}", partial(on_figure, name)


def greeting() -> Clip:
    """A child goes from posture to posture, and sways a little: nobody stands quite still."""
    child = poise.human(1.2, 24.0, name="child")
    keys = [child.posture(name) for name in ("standing", "waving", "arms_up", "crouching", "standing")]
    shares = np.linspace(0.0, 1.0, 10, endpoint=False)
    eased = shares**2 * (3.0 - 2.0 * shares)
    ways = [(a, child.difference(a, b)) for a, b in pairwise(keys)]
    q = np.array([child.integrate(a, share * way).q for a, way in ways for share in eased])
    q[:, child.q_slice("base").start] += 0.004 * np.sin(0.1 * np.arange(len(q)))
    return Clip(child, q, 24.0, "greeting")


def frames_of(motion: poise.Motion, count: int = 6) -> FloatArray:
    """Some frames of a motion, and its length and rate."""
    shown = np.linspace(0, len(motion) - 1, count).astype(int)
    return packed(motion.q[shown], motion.rate, counts=[len(motion)])


def retargeted() -> Iterator[Case]:
    """Clips made here, on other figures."""
    slow_filter = MotionFilter(velocity=3, acceleration=20, jerk=400)
    child: dict[str, Any] = {"head": "tip"}
    questions: dict[str, tuple[Callable[[], Clip], str, dict[str, Any]]] = {
        "greeting on human": (greeting, "human", {}),
        "greeting on human, balanced": (greeting, "human", {"balance": True}),
        "greeting on human, slowly": (greeting, "human", {"tempo": 0.5, "rate": 60.0}),
        "greeting on human, gently": (greeting, "human", {"style": Style(acceleration=40.0)}),
        "greeting on walker": (greeting, "walker", {}),
        "greeting on dancer": (greeting, "dancer", {"mapping": {"pelvis": "pelvis"}, "tempo": 0.5}),
        "greeting on adelino": (greeting, "adelino", {"mapping": child}),
        "greeting on adelino, filtered": (greeting, "adelino", {"mapping": child, "motion_filter": slow_filter}),
        "greeting on snake": (greeting, "snake", {"mapping": child}),
        "stepping on human": (partial(stepping, 48), "human", {}),
        "stepping on human, not smoothed": (partial(stepping, 48), "human", {"style": Style(smooth=0.0)}),
        "stepping on walker, balanced": (partial(stepping, 48), "walker", {"balance": True, "tempo": 0.3}),
        "stepping on cyclist": (partial(stepping, 48), "cyclist", {"mapping": {"LeftHand": "left_hand"}}),
    }

    def answer(kind: str) -> FloatArray:
        clip, name, options = questions[kind]
        with warnings.catch_warnings():
            # One hand leads the cyclist; that its legs do not follow is meant.
            warnings.simplefilter("ignore", UnmappedWarning)
            return frames_of(poise.retarget(clip(), poise.load(name), **options))

    def mixed() -> FloatArray:
        motion = poise.retarget(stepping(48), poise.load("walker"))
        return frames_of(motion.blended(motion[10:40].resampled(50.0), 0.3, joined=True))

    for kind in questions:
        yield kind, partial(answer, kind)
    yield "stepping on walker, resampled and blended", mixed


def retargeted_recordings() -> Iterator[Case]:
    """Recorded clips on other figures; the clips are not part of the repository."""
    questions: dict[str, tuple[str, str, dict[str, Any]]] = {
        "dab on human": ("animated_drawings/dab.bvh", "human", {}),
        "wave on walker": ("animated_drawings/wave_hello.bvh", "walker", {}),
        "walk on human": ("cmu/02_01.bvh", "human", {}),
        "walk on walker, balanced": ("cmu/02_01.bvh", "walker", {"balance": True}),
        "dance on human": ("cmu/05_06.bvh", "human", {}),
        "dance on adelino": ("cmu/05_06.bvh", "adelino", {"mapping": {"Head": "tip"}}),
    }

    def answer(kind: str) -> FloatArray:
        clip, name, options = questions[kind]
        return frames_of(poise.retarget(poise.load_clip(real_data.BVH / clip), poise.load(name), **options))

    for kind in questions:
        yield kind, partial(answer, kind)
