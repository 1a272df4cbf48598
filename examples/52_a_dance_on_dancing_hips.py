"""A dance on hips whose feet are screwed to the floor: the dance on the spot, at half its tempo.

Where the dancer bends further than the robot can, the robot goes to its limits, with its loop closed.

Run: python examples/52_a_dance_on_dancing_hips.py [folder for the picture]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

import poise
from poise.errors import UnmappedWarning
from poise.motion.report import measure
from poise.pictures import strip

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
SLOW = 0.6
"""What takes longer than this is travel, not dance [s]."""
TEMPO = 0.5
SHOWN = 6


def on_the_spot(clip: poise.Clip) -> poise.Clip:
    """The same dance without its travel over the floor."""
    q = clip.q.copy()
    for axis in (0, 2):
        q[:, axis] -= gaussian_filter1d(q[:, axis], SLOW * clip.rate, mode="nearest")
    return poise.Clip(clip.figure, q, clip.rate, clip.name)


def main(folder: Path) -> None:
    """Dance, and check that the loop stays closed."""
    clip = on_the_spot(poise.load_clip(CLIPS / "dance.bvh"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmappedWarning)  # Its legs are a loop, and follow the hips.
        motion = poise.retarget(clip, poise.load("dancer"), {"Hips": "pelvis"}, tempo=TEMPO)
    quality = measure(motion)
    typical = 1e3 * float(np.median(quality.tracking))
    far = int((quality.tracking > 0.01).sum())
    print(quality.sentence())
    print(f"In half of the frames the hips are within {typical:.2f} mm; in {far} of {len(motion)} they cannot follow.")
    assert typical < 5.0
    assert far < 0.25 * len(motion)
    assert quality.violations == 0
    assert not quality.hurried
    assert quality.closure < 1e-9

    folder.mkdir(parents=True, exist_ok=True)
    frames = np.linspace(0, len(motion) - 1, SHOWN).astype(int).tolist()
    strip(motion.figure, [motion[i] for i in frames], size=(240, 330)).save(folder / "dance_on_dancing_hips.png")
    print(f"See {folder / 'dance_on_dancing_hips.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
