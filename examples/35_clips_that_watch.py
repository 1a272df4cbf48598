"""A lamp and a human act a clip and watch a ball: every frame has the clip's posture and an exact gaze.

`poise.watching` on a chain and on a whole body. Run: python examples/35_clips_that_watch.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.pictures import save_gif
from poise.pictures.film import film

RATE = 30.0
SECONDS = 5.0
ACTS = {
    "adelino": ["proud", "happy", "neutral", "happy", "surprised", "proud"],
    "human": ["standing", "waving", "arms_up", "thinking", "reaching", "standing"],
}
"""Key postures, one second apart."""
SIZES = {"adelino": (0.6, 0.4, 0.15), "human": (1.2, 1.5, 0.4)}
"""Distance and height of the ball, and how much the height varies [m]."""


def clip_through(figure: poise.Figure, keys: list[str]) -> poise.Clip:
    """A clip through key postures that eases in and out of each."""
    rows = []
    for time in np.arange(0.0, SECONDS + 1e-9, 1.0 / RATE):
        k = min(int(time), len(keys) - 2)
        u = time - k
        way = figure.difference(keys[k], keys[k + 1])
        rows.append(figure.integrate(keys[k], u * u * (3.0 - 2.0 * u) * way).q)
    return poise.Clip(figure, np.array(rows), RATE)


def ball_at(name: str, time: float) -> NDArray[np.float64]:
    """Position of the ball [m]."""
    away, height, rise = SIZES[name]
    turn = np.radians(70.0) * np.sin(1.6 * time)
    return np.array([away * np.sin(turn), height + rise * np.sin(2.3 * time), away * np.cos(turn)])


def missed(figure: poise.Figure, posture: poise.Posture, eyes: str, ball: NDArray[np.float64]) -> float:
    """Angle between the line of sight and the ball [degrees]."""
    seat, axis = figure.pose_of(eyes, posture), figure.facing_axis(eyes)
    sight = ball - seat.position
    ahead = seat.matrix @ (np.array([0.0, 1.0, 0.0]) if axis is None else axis)
    return float(np.degrees(np.arccos(np.clip(ahead @ sight / np.linalg.norm(sight), -1.0, 1.0))))


def main(folder: Path) -> None:
    """Act both clips with and without the ball."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, keys in ACTS.items():
        figure = poise.human(eyes=True) if name == "human" else poise.load(name)
        eyes = "eyes" if name == "human" else "tip"
        clip = clip_through(figure, keys)
        balls = [ball_at(name, float(time)) for time in clip.times]
        watched = poise.watching(clip, [poise.at(ball, roll=None) for ball in balls])
        off, blind = (
            np.array([missed(figure, posture, eyes, ball) for posture, ball in zip(motion, balls, strict=True)])
            for motion in (watched, clip)
        )
        pairs = list(zip(list(watched)[:-1], list(watched)[1:], strict=True))
        steps = np.degrees([np.abs(figure.difference(a, b)).max() for a, b in pairs])
        print(
            f"{name}: gaze off by {off.max():.1e}° at worst, {np.median(blind):.0f}° (median) without the ball;"
            f" largest step {steps.max():.1f}° per frame"
        )
        assert off.max() < 0.1, "the gaze is exact"
        assert np.median(blind) > 15.0
        assert steps.max() < 20.0, "no joint jumps"
        assert all(not figure.violations(posture) for posture in list(watched)[::10])
        shots = film(
            figure, list(watched)[::2], ball=balls[::2], radius=0.03 * SIZES[name][1], eyes=eyes, size=(320, 320)
        )
        save_gif(shots, folder / f"{name}_acts_and_watches.gif", rate=RATE / 2)
        shots[20].save(folder / f"{name}_acts_and_watches.png")
    print(f"See {folder} / adelino_acts_and_watches.gif and human_acts_and_watches.gif")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
