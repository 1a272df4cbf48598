"""A person's walk on DR Legs, a real walking robot with six loops and twelve motors, as its makers' paper does it.

After [Schumacher et al. 2021, V]: contacts are found in the clip, feet are planted, the centre of mass moves from foot
to foot, and every frame is solved with all loops closed and inside the limits of the motors.

Needs the clip cmu/02_01.bvh in ../shared/data/bvh and dr_legs.extracted.json, a plain copy of the robot's USD file, in
../shared/data/loops/dr_legs, beside this repository.
Run: python examples/56_a_walk_on_dr_legs.py [folder for the picture and the page]
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import poise
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.evaluation.retarget.report import write_report
from poise.figure import Box, Pose, revolute
from poise.figure.assembly.cleaning import cleaned
from poise.figure.assembly.guards import guarded
from poise.figures.mechanisms.mechanism import Mechanism
from poise.motion.report import measure
from poise.pictures import contact_sheet

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SPEED = 4.44
"""Of the motors [rad/s]."""
TEMPO = 0.1
FEET = ("foot_l", "foot_r")
SOLE, BELOW = (0.117, 0.07, 0.003), (-0.0037, 0.0, -0.01644)
"""Of a foot, and where it is below the foot's middle [m]."""


def needed(name: str) -> Path:
    """A file of the data beside the repository."""
    if not (DATA / name).is_file():
        sys.exit(f"This example needs {name} in ../shared/data beside the repository.")
    return DATA / name


def dr_legs(file: Path) -> poise.Figure:
    """The robot with a floating base, without the rounding errors of its file, and with guards on its knees."""
    data = json.loads(file.read_text(encoding="utf-8"))
    bodies = {body["name"]: body for body in data["bodies"]}
    chest = Box(size=(0.085, 0.24, 0.055), pose=Pose(bodies["pelvis"]["pos"]))
    m = Mechanism("dr_legs", "A walking robot with hybrid legs.", "pelvis", [chest], bodies["pelvis"]["mass"])
    for name, body in bodies.items():
        sole = [Box(size=SOLE, pose=Pose(np.array(body["pos"]) + np.array(BELOW)))] if name in FEET else []
        if name != "pelvis":
            m.link(name, sole, body["mass"])
    for joint in data["joints"]:
        frames = [Pose(joint[f]["pos"], joint[f]["quat_wxyz"]) for f in ("frame0", "frame1")]
        places = [Pose(bodies[joint[b]]["pos"], bodies[joint[b]]["quat_wxyz"]) for b in ("body0", "body1")]
        near, far = (place @ frame for place, frame in zip(places, frames, strict=True))
        hinge = revolute(joint["name"], near.matrix[:, "XYZ".index(joint["axis"])])
        join = m.motor if joint["actuated"] else m.hinge
        join(hinge, joint["body0"], joint["body1"], at=0.5 * (near.position + far.position))
    held = guarded(cleaned(m.build().replaced(up="z"))[0])
    motors = [replace(joint, speed=SPEED) if joint.active else joint for joint in held.joints]
    return held.replaced(joints=motors).with_floating_base()


def main(folder: Path) -> None:
    """Walk."""
    clip = poise.load_clip(needed("bvh/cmu/02_01.bvh"))
    robot = dr_legs(needed("loops/dr_legs/dr_legs.extracted.json"))
    mapping = {"Hips": "pelvis", "LeftFoot": "foot_l", "RightFoot": "foot_r"}
    motion = poise.retarget(clip, robot, mapping, tempo=TEMPO, balance=True)
    quality = measure(motion)
    walked = float(np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3]))
    print(quality.sentence())
    print(f"DR Legs walks {1e2 * walked:.0f} cm; nothing is under its centre of mass in {quality.unbalanced} frames.")
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
    contact_sheet([("the clip", theirs), ("DR Legs", ours)], columns=1).save(folder / "walk_on_dr_legs.png")
    write_report(clip, motion, folder / "walk_on_dr_legs.html", quality)
    print(f"See {folder / 'walk_on_dr_legs.png'} and {folder / 'walk_on_dr_legs.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
