"""A walk on a human of other proportions: feet planted, all limits kept, and a report.

Run: python examples/50_a_walk_on_a_human.py [folder for the picture and the page]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.evaluation.retarget.report import write_report
from poise.motion.report import measure
from poise.pictures import contact_sheet

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
SHOWN = 6


def main(folder: Path) -> None:
    """Walk, measure, and show."""
    clip = poise.load_clip(CLIPS / "walk.bvh")
    motion = poise.retarget(clip, poise.load("human"))
    assert motion.track is not None
    quality = measure(motion)
    print(motion.track.mapping.explain())
    print(quality.sentence())

    assert len(motion) == len(clip)
    assert np.isfinite(motion.q).all()
    assert quality.violations == 0
    assert quality.drift <= 1e-3
    assert quality.skate.max() <= 1e-3
    assert quality.penetration.max() <= 1e-3
    assert quality.tracking.mean() < 0.03
    walked = float(np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3]))
    print(f"It walks {walked:.2f} m in {motion.duration:.2f} s.")
    assert walked > 3.0
    # Walking is falling and catching oneself: between steps nothing is under the centre of mass.
    assert quality.unbalanced > 0

    folder.mkdir(parents=True, exist_ok=True)
    theirs, ours = drawn_poses(clip, motion, shown_frames(len(motion), SHOWN))
    contact_sheet([("the clip", theirs), ("the human", ours)], columns=1).save(folder / "walk_on_a_human.png")
    write_report(clip, motion, folder / "walk_on_a_human.html", quality)
    print(f"See {folder / 'walk_on_a_human.png'} and {folder / 'walk_on_a_human.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
