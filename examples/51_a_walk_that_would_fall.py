"""A walk on a small walking robot, without balance, and with its centre of mass moved from foot to foot.

After [Schumacher et al. 2021, fig. 9]. People fall from step to step and catch themselves; a slow robot that copies
them falls and does not. With `balance` the centre of mass stays over the standing foot, moves along the line
between the feet while both stand, and arrives before the first one lifts.

Run: python examples/51_a_walk_that_would_fall.py [folder for the picture]
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Sheet
from PIL import Image

import poise
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.motion.report.report import Quality, measure
from poise.pictures import Picture, contact_sheet

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
TEMPO = 0.1
"""So slow that nothing but what stands carries the robot."""
SHOWN = 6


def from_above(motion: poise.Motion, quality: Quality) -> Picture:
    """Footprints and the path of the centre of mass, red where it is outside the support polygon."""
    assert motion.track is not None
    assert quality.margin is not None
    sheet = Sheet(figsize=(9.0, 2.2), layout="constrained")
    axes = sheet.subplots()
    for site, side in zip(motion.track.locks, motion.track.contacts.heel, strict=True):
        corners = [f"{site}_{part}" for part in ("heel_inner", "toe_inner", "toe_outer", "heel_outer", "heel_inner")]
        soles = motion.positions(corners)[motion.track.contacts.standing(side)]
        for sole in soles[::6]:
            axes.plot(sole[:, 2], sole[:, 0], color="#8d9bb0", linewidth=0.6)
    path = np.array([motion.figure.center_of_mass(posture) for posture in motion])
    axes.scatter(path[:, 2], path[:, 0], s=4, c=np.where(quality.margin < 0.0, "#d9263e", "#1f5fd0"))
    axes.set(aspect="equal", xlabel="forwards [m]", ylabel="to the left [m]")
    png = io.BytesIO()
    sheet.savefig(png, format="png", dpi=120)
    return Picture(np.asarray(Image.open(png).convert("RGB")))


def main(folder: Path) -> None:
    """Walk twice."""
    clip, walker = poise.load_clip(CLIPS / "walk.bvh"), poise.load("walker")
    rows = []
    for balance in (False, True):
        motion = poise.retarget(clip, walker, tempo=TEMPO, balance=balance)
        quality = measure(motion)
        word = "balanced" if balance else "as it is"
        falls = f"{word}: nothing under its centre of mass in {quality.unbalanced} of {len(motion)} frames"
        print(f"{falls}. {quality.sentence()}")
        assert np.isfinite(motion.q).all()
        assert quality.violations == 0
        assert not quality.hurried
        assert quality.closure < 1e-9
        assert quality.drift <= 1e-3
        assert quality.penetration.max() <= 1e-3
        assert quality.airborne < 0.02 * len(motion)
        assert float(np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3])) > 0.3
        assert (quality.unbalanced == 0) == balance
        rows += [(falls, drawn_poses(clip, motion, shown_frames(len(motion), SHOWN))[1])]
        rows += [("", from_above(motion, quality))]

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(rows, columns=1).save(folder / "walk_that_would_fall.png")
    print(f"See {folder / 'walk_that_would_fall.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
