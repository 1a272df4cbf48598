"""A walk on a robot whose legs are loops, told only where hips and feet are, with slow motors.

Three joints of the clip lead: no knee of the robot corresponds to one of the person, since each leg is two chains with
a five-bar in each. Its twelve motors, half as fast as they could be, stay within their speeds; the six loops stay
closed in every frame, and the centre of mass stays over the standing feet.

Run: python examples/56_a_walk_on_six_loops.py [folder for the picture and the page]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import poise
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.evaluation.retarget.report import write_report
from poise.motion.report import measure
from poise.pictures import contact_sheet

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
MAPPING = {"Hips": "pelvis", "LeftFoot": "left_foot", "RightFoot": "right_foot"}
TEMPO = 0.1


def slow_walker() -> poise.Figure:
    """The walking robot with motors of half their speed."""
    walker = poise.load("walker")
    motors = [replace(joint, speed=0.5 * joint.speed) if joint.active else joint for joint in walker.joints]
    return walker.replaced(joints=motors)


def main(folder: Path) -> None:
    """Walk."""
    clip, robot = poise.load_clip(CLIPS / "walk.bvh"), slow_walker()
    motion = poise.retarget(clip, robot, MAPPING, tempo=TEMPO, balance=True)
    quality = measure(motion)
    walked = float(np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3]))
    print(quality.sentence())
    print(f"It walks {1e2 * walked:.0f} cm; nothing is under its centre of mass in {quality.unbalanced} frames.")
    assert quality.closure < 1e-9
    assert quality.violations == 0
    assert not quality.hurried
    assert quality.drift <= 1e-3
    assert quality.penetration.max() <= 1e-3
    assert quality.unbalanced == 0
    assert quality.airborne < 0.02 * len(motion)
    assert walked > 0.1

    folder.mkdir(parents=True, exist_ok=True)
    theirs, ours = drawn_poses(clip, motion, shown_frames(len(motion), 6))
    contact_sheet([("the clip", theirs), ("the robot", ours)], columns=1).save(folder / "walk_on_six_loops.png")
    write_report(clip, motion, folder / "walk_on_six_loops.html", quality)
    print(f"See {folder / 'walk_on_six_loops.png'} and {folder / 'walk_on_six_loops.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
