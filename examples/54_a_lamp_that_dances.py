"""A dance on a lamp: the dancer's head, measured from the hips, drives the lamp's head.

Run: python examples/54_a_lamp_that_dances.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise.motion.report import measure
from poise.pictures import save_gif
from poise.pictures.film import film

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
RATE = 10.0
"""Frames per second of the film."""


def seated(clip: poise.Clip) -> poise.Clip:
    """The same dance with the hips fixed at their median pose, because a lamp cannot walk."""
    q = clip.q.copy()
    q[:, :7] = np.median(q[:, :7], axis=0)
    return poise.Clip(clip.figure, q, clip.rate, clip.name)


def main(folder: Path) -> None:
    """Dance."""
    clip = seated(poise.load_clip(CLIPS / "dance.bvh"))
    motion = poise.retarget(clip, poise.load("adelino"), {"Head": "tip"})
    quality = measure(motion)
    path = motion.positions(["tip"])[:, 0]
    print(quality.sentence())
    print(f"The lamp's head goes {1e2 * float(np.ptp(path, axis=0).max()):.0f} cm to and fro.")
    assert quality.tracking.mean() < 2e-3
    assert quality.tracking.max() < 1e-2
    assert quality.violations == 0
    assert not quality.hurried
    assert float(np.ptp(path, axis=0).max()) > 0.02

    folder.mkdir(parents=True, exist_ok=True)
    shots = film(motion.figure, list(motion.resampled(RATE)), eyes="tip", size=(300, 320))
    save_gif(shots, folder / "lamp_that_dances.gif", rate=RATE)
    print(f"See {folder / 'lamp_that_dances.gif'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
