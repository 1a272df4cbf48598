"""A snake dances, and its head keeps watching: a clip of 24 hinges, warped towards a firefly in every frame.

Run: python examples/32_a_snake_dances_while_it_watches.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.pictures import save_gif
from poise.pictures.film import film

RATE = 60.0
SECONDS = 6.0
LIMITS = {"velocity": 4.0, "acceleration": 40.0, "jerk": 1000.0}


def dance(snake: poise.Figure) -> poise.Clip:
    """A clip of four beats: waves that travel along the raised body."""
    times = np.arange(0.0, 4.0 + 1e-9, 1.0 / 30.0)
    q = np.repeat(snake.posture("rise").q[None], len(times), axis=0)
    for k in range(12, snake.nq):
        size = 0.28 if k % 2 == 0 else 0.12
        q[:, k] += size * np.sin(2.0 * math.pi * times * (1.0 if k % 2 == 0 else 0.5) - 0.45 * k)
    limits = snake.compiled.bounds
    return poise.Clip(snake, np.clip(q, limits.lower, limits.upper), 30.0, "dance")


def firefly(time: float) -> NDArray[np.float64]:
    """Position of the firefly [m]."""
    return np.array([0.7 * np.sin(0.9 * time), 0.55 + 0.2 * np.sin(1.3 * time), 1.8 + 0.2 * np.cos(0.9 * time)])


def missed_by(snake: poise.Figure, posture: poise.Posture, light: NDArray[np.float64]) -> float:
    """Angle between the gaze and the firefly [degrees]."""
    tip = snake.pose_of("tip", posture)
    sight = light - tip.position
    return float(np.degrees(np.arccos(min(1.0, float(tip.matrix[:, 1] @ sight) / float(np.linalg.norm(sight))))))


def main(folder: Path) -> None:
    """Play the dance while the head watches the firefly."""
    snake = poise.load("snake")
    live = poise.Character(snake, filter=poise.MotionFilter(**LIMITS), posture="rise", solver_rate=30.0)
    clip = dance(snake)
    live.play(clip, loop=True)
    postures, lights = [], []
    for k, frame in enumerate(live.frames(RATE, seconds=SECONDS, realtime=False)):
        lights.append(firefly(k / RATE))
        if k % 2 == 0:
            live.face(poise.at(lights[-1], roll=None))
        postures.append(frame)

    off = np.array([missed_by(snake, posture, light) for posture, light in zip(postures, lights, strict=True)])
    blind = np.array([missed_by(snake, clip.at((k / RATE) % clip.duration), light) for k, light in enumerate(lights)])
    print(f"The snake's gaze is {np.median(off[60:]):.1f}° from the firefly (median), {off[60:].max():.1f}° at worst;")
    print(f"the dance alone would be {np.median(blind[60:]):.1f}° off, {blind[60:].max():.1f}° at worst.")
    assert np.median(off[60:]) < 0.4 * np.median(blind[60:])
    q = np.array([posture.q for posture in postures])
    danced = np.array([clip.at((k / RATE) % clip.duration).q for k in range(len(q))])
    moving, wanted = (part - part.mean(axis=0) for part in (q[60:, 12:20], danced[57:-3, 12:20]))
    alike = float(np.corrcoef(moving.ravel(), wanted.ravel())[0, 1])
    print(f"Its body moves as in the dance: correlation {alike:.2f}.")
    assert alike > 0.8
    for order, limit in enumerate(LIMITS.values(), start=1):
        assert np.abs(np.diff(q, order, axis=0)).max() * RATE**order <= limit * (1.0 + 1e-6)

    folder.mkdir(parents=True, exist_ok=True)
    shots = film(snake, postures[::4], ball=lights[::4], radius=0.02, eyes="tip", size=(360, 300))
    save_gif(shots, folder / "snake_dances.gif", rate=RATE / 4)
    print(f"See {folder / 'snake_dances.gif'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
