"""Clips whose figure watches something: the gaze is exact, the acting stays, nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.errors import TaskError

HUMAN = poise.human(eyes=True)
LAMP = poise.load("adelino")


def acted(figure: poise.Figure, first: str, second: str, frames: int = 31) -> poise.Clip:
    """From one posture to another and back within a second."""
    way = figure.difference(first, second)
    rows = [figure.integrate(first, np.sin(np.pi * k / (frames - 1)) ** 2 * way).q for k in range(frames)]
    return poise.Clip(figure, np.array(rows), frames - 1.0, "act")


def sight_error(figure: poise.Figure, posture: poise.Posture, eyes: str, point: np.ndarray) -> float:
    seat, axis = figure.pose_of(eyes, posture), figure.facing_axis(eyes)
    ahead, way = seat.matrix @ (np.array([0.0, 1.0, 0.0]) if axis is None else axis), point - seat.position
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(ahead, way)), ahead @ way)))


def path(size: float, time: float) -> np.ndarray:
    turn = 1.2 * np.sin(4.0 * time)
    return size * np.array([np.sin(turn), 0.8 + 0.2 * np.sin(5.0 * time), np.cos(turn)])


@pytest.mark.parametrize(
    ("figure", "eyes", "keys", "size"),
    [(HUMAN, "eyes", ("standing", "waving"), 1.8), (LAMP, "tip", ("neutral", "happy"), 0.6)],
    ids=["human", "adelino"],
)
def test_every_frame_looks_at_the_ball_and_acts(
    figure: poise.Figure, eyes: str, keys: tuple[str, str], size: float
) -> None:
    clip = acted(figure, *keys)
    watched = poise.watching(clip, lambda time: poise.at(path(size, time), roll=None))
    assert (len(watched), watched.rate, watched.name) == (len(clip), clip.rate, "act")
    off = [sight_error(figure, posture, eyes, path(size, k / clip.rate)) for k, posture in enumerate(watched)]
    assert max(off) < 0.01
    steps = [np.abs(figure.difference(a, b)).max() for a, b in zip(list(watched), list(watched)[1:], strict=False)]
    own = [np.abs(figure.difference(a, b)).max() for a, b in zip(list(clip), list(clip)[1:], strict=False)]
    assert max(steps) < np.radians(300.0) / clip.rate + max(own)
    assert not any(figure.violations(posture) for posture in list(watched)[::5])


def test_the_arm_waves_while_the_human_watches() -> None:
    clip = acted(HUMAN, "standing", "waving")
    watched = poise.watching(clip, poise.at((1.5, 1.4, 1.0)))
    for a, b in zip(clip, watched, strict=True):
        np.testing.assert_allclose(b["right_shoulder"], a["right_shoulder"], atol=0.06)
        np.testing.assert_allclose(b["right_elbow"], a["right_elbow"], atol=0.06)


def test_targets_may_be_one_or_many() -> None:
    clip = acted(LAMP, "neutral", "happy", frames=5)
    one = poise.watching(clip, [0.3, 0.2, 1.0])
    many = poise.watching(clip, [[0.3, 0.2, 1.0]] * 5)
    function = poise.watching(clip, lambda _: poise.facing([0.3, 0.2, 1.0], roll=None))
    assert np.array_equal(one.q, many.q)
    assert np.array_equal(one.q, function.q)
    with pytest.raises(TaskError, match=r"a clip of 5 frames needs as many targets, or one for all, not 2"):
        poise.watching(clip, [poise.facing("z")] * 2)
