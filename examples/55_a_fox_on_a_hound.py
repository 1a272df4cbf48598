"""A fox that walks on the spot, retargeted to a larger animal with other joints that walks over the ground.

Retargeting expects human roles and would take the front legs for arms. So the mapping is written by hand: the
hind legs have the roles of legs, whose feet are planted, and the front parts follow without a role.

Run: python examples/55_a_fox_on_a_hound.py [folder for the picture]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Builder
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.figure import Box, Capsule, Pose, Shape, ball, free, from_to, revolute, universal
from poise.motion.clip.contacts import ContactSettings
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report import measure
from poise.pictures import contact_sheet

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
ROUNDS = 4
"""How often the fox's steps are repeated."""
CONTACTS = ContactSettings(low=0.06, high=0.09, slow=2.4, fast=3.6)
"""In a cycle that somebody drew feet may slide while they stand: they stand while they are low, unless very fast."""
FEET = ("LeftHindPaw", "RightHindPaw")
LINKS = [
    Link("Hip", "pelvis", "pelvis"),
    Link("Chest", "withers", weight=0.5),
    Link("Neck", "nape", weight=0.5),
    Link("Head", "skull", weight=0.5),
]
for side in ("left", "right"):
    theirs = side.capitalize()
    LINKS += [
        Link(f"{theirs}HindLeg", f"{side}_thigh", f"{side}_hip", weight=0.0),
        Link(f"{theirs}HindShin", f"{side}_shank", f"{side}_knee", weight=0.3),
        Link(f"{theirs}HindPaw", f"{side}_foot", f"{side}_ankle", priority=1),
        Link(f"{theirs}FrontShin", f"{side}_front_2", weight=0.2),
        Link(f"{theirs}FrontPaw", f"{side}_front_3", weight=5.0),
    ]


def rod(start: tuple[float, float, float], end: tuple[float, float, float]) -> Shape:
    """A limb from one joint to the next, in the frame of the first."""
    way = np.array(end) - np.array(start)
    return Capsule(0.025, float(np.linalg.norm(way)), pose=Pose(0.5 * way, from_to("z", way)))


def hound() -> poise.Figure:
    """Four legs of three hinges each, a back that bends, a neck and a head; drawn as it stands."""
    builder, places = Builder("hound"), {"pelvis": np.array([0.0, 0.66, -0.37])}

    def bone(name: str, parent: str, joint: poise.Joint, at: tuple[float, float, float], shapes: list[Shape]) -> None:
        places[name] = np.array(at)
        builder.body(name, parent=parent, joint=joint, at=places[name] - places[parent], shapes=shapes, density=500.0)

    trunk = Capsule(0.09, 0.25, pose=Pose((0.0, 0.0, 0.15)))
    builder.body("pelvis", joint=free("base"), shapes=[trunk], density=500.0)
    bone("withers", "pelvis", ball("back"), (0.0, 0.77, 0.02), [Capsule(0.1, 0.28, pose=Pose((0.0, -0.03, 0.15)))])
    bone("nape", "withers", ball("neck"), (0.0, 0.77, 0.41), [Capsule(0.05, 0.12, pose=Pose((0.0, 0.05, 0.08)))])
    bone("skull", "nape", ball("head"), (0.0, 0.87, 0.57), [Box(size=(0.1, 0.1, 0.22), pose=Pose((0.0, 0.0, 0.06)))])
    for side, x in (("left", 0.105), ("right", -0.105)):
        paw = Box(size=(0.07, 0.03, 0.12), pose=Pose((0.0, -0.015, 0.02)))
        hind = [(x, 0.70, -0.41), (x, 0.46, -0.36), (x, 0.25, -0.54), (x, 0.03, -0.48)]
        front = [(x, 0.69, 0.31), (x, 0.38, 0.22), (x, 0.14, 0.31)]
        bone(f"{side}_thigh", "pelvis", universal(f"{side}_hip", "x", "z"), hind[0], [rod(hind[0], hind[1])])
        bone(f"{side}_shank", f"{side}_thigh", revolute(f"{side}_knee", "x"), hind[1], [rod(hind[1], hind[2])])
        bone(f"{side}_hock", f"{side}_shank", revolute(f"{side}_hock", "x"), hind[2], [rod(hind[2], hind[3])])
        bone(f"{side}_foot", f"{side}_hock", universal(f"{side}_toes", "x", "z"), hind[3], [paw])
        shoulder = universal(f"{side}_shoulder", "x", "z")
        bone(f"{side}_front_1", "withers", shoulder, front[0], [rod(front[0], front[1])])
        bone(f"{side}_front_2", f"{side}_front_1", revolute(f"{side}_elbow", "x"), front[1], [rod(front[1], front[2])])
        bone(f"{side}_front_3", f"{side}_front_2", revolute(f"{side}_wrist", "x"), front[2], [paw])
    return builder.build()


def over_the_ground(clip: poise.Clip) -> poise.Clip:
    """The clip repeated, and moved forwards at the speed at which its standing feet move back."""
    path = clip.positions(FEET)
    back = np.gradient(path, axis=0)[:, :, 2]
    speed = -float(np.median(back[path[:, :, 1] < path[:, :, 1].min() + 0.01]))
    q = np.concatenate([*[clip.q[:-1]] * ROUNDS, clip.q[-1:]])
    q[:, 2] += speed * np.arange(len(q))
    return poise.Clip(clip.figure, q, clip.rate, clip.name)


def main(folder: Path) -> None:
    """Walk."""
    clip = over_the_ground(poise.load_clip(CLIPS / "fox.bvh"))
    motion = poise.retarget(clip, hound(), JointMap(tuple(LINKS)), rate=60.0, contacts=CONTACTS)
    quality = measure(motion)
    print(quality.sentence())
    walked = float(motion.q[-1, 2] - motion.q[0, 2])
    print(f"The hound walks {walked:.2f} m in {motion.duration:.2f} s.")
    assert walked > 1.0
    # Meanwhile the front paws carry it.
    assert quality.airborne < 0.4 * len(motion)
    assert quality.tracking.mean() < 0.05
    assert quality.drift <= 1e-3
    assert quality.penetration.max() <= 1e-3
    assert quality.violations == 0

    folder.mkdir(parents=True, exist_ok=True)
    theirs, ours = drawn_poses(clip, motion, shown_frames(len(motion), 6))
    contact_sheet([("the fox", theirs), ("the hound", ours)], columns=1).save(folder / "fox_on_a_hound.png")
    print(f"See {folder / 'fox_on_a_hound.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
