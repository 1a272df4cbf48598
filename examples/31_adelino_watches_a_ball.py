"""Adelino is happy and watches a ball: a clip of an emotion plays, and every frame of it is warped towards the gaze.

The future work of the paper [Ribeiro & Paiva 2019, section 6] in real time: a solver at 60 solves per second, a motion
filter, and frames at a constant rate. Run: python examples/31_adelino_watches_a_ball.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.pictures import save_gif
from poise.pictures.film import film

RATE = 60.0
SECONDS = 8.0
JOY = [
    (0.0, "proud"),
    (0.5, "happy"),
    (0.9, "neutral"),
    (1.3, "happy"),
    (1.7, "surprised"),
    (2.2, "happy"),
    (2.8, "proud"),
]
LIMITS = {"velocity": 6.0, "acceleration": 60.0, "jerk": 1500.0}


def joyful(lamp: poise.Figure) -> poise.Clip:
    """A clip through key postures, with smooth transitions, as an animator would make it."""
    times = np.arange(0.0, JOY[-1][0] + 1e-9, 1.0 / 30.0)
    keys = np.array([lamp.posture(name).q for _, name in JOY])
    when = np.array([time for time, _ in JOY])
    k = np.clip(np.searchsorted(when, times, side="right") - 1, 0, len(JOY) - 2)
    u = (times - when[k]) / (when[k + 1] - when[k])
    eased = (u * u * (3.0 - 2.0 * u))[:, None]
    return poise.Clip(lamp, (1.0 - eased) * keys[k] + eased * keys[k + 1], 30.0, "joy")


def ball_at(time: float) -> NDArray[np.float64]:
    """Position of a ball that moves around in front of the lamp [m]."""
    turn = 1.1 * np.sin(0.8 * time)
    return np.array([0.6 * np.sin(turn), 0.45 + 0.15 * np.sin(1.7 * time), 0.6 * np.cos(turn)])


def missed_by(lamp: poise.Figure, posture: poise.Posture, ball: NDArray[np.float64]) -> float:
    """Angle between the gaze and the ball [degrees]."""
    tip = lamp.pose_of("tip", posture)
    to_ball = ball - tip.position
    cosine = float(tip.matrix[:, 1] @ to_ball) / float(np.linalg.norm(to_ball))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def main(folder: Path) -> None:
    """Play the clip with and without the ball."""
    lamp = poise.load("adelino")
    live = poise.Character(lamp, filter=poise.MotionFilter(**LIMITS), posture="proud", idle=0.3)
    live.play(joyful(lamp), loop=True)
    postures, balls = [], []
    for k, frame in enumerate(live.frames(RATE, seconds=SECONDS, realtime=False)):
        balls.append(ball_at(k / RATE))
        live.face(poise.at(balls[-1], roll=None))
        postures.append(frame)

    off = np.array([missed_by(lamp, posture, ball) for posture, ball in zip(postures, balls, strict=True)])
    clip = joyful(lamp)
    blind = np.array([missed_by(lamp, clip.at((k / RATE) % clip.duration), ball) for k, ball in enumerate(balls)])
    print(f"The gaze is {np.median(off[60:]):.1f}° from the ball (median), {np.percentile(off[60:], 95):.1f}° at 95 %;")
    print(f"the clip alone would be {np.median(blind[60:]):.1f}° off, {np.percentile(blind[60:], 95):.1f}° at 95 %.")
    assert np.median(off[60:]) < 6.0 < 0.4 * np.median(blind[60:])
    q = np.array([posture.q for posture in postures])
    for order, limit in enumerate(LIMITS.values(), start=1):
        assert np.abs(np.diff(q, order, axis=0)).max() * RATE**order <= limit * (1.0 + 1e-6)
    assert all(lamp.violations(posture) == [] for posture in postures[::10])
    assert np.ptp(q[:, 2]) > 0.5, "it still dances"

    folder.mkdir(parents=True, exist_ok=True)
    shots = film(lamp, postures[::4], ball=balls[::4], radius=0.025, eyes="tip", size=(300, 300))
    save_gif(shots, folder / "adelino_watches_a_ball.gif", rate=RATE / 4)
    print(f"See {folder / 'adelino_watches_a_ball.gif'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
