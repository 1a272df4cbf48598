"""A person's wave on a robot arm: the hand drives the tip, and no other part is mapped.

The arm has no shoulders, hips or feet. The person's shoulder is used for position and scale only, with weight 0.
All bones except the arm are kept still first, because a robot that is screwed down cannot step aside.

Run: python examples/53_an_arm_that_waves.py [folder for the picture]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report import measure
from poise.pictures import strip

CLIPS = Path(sys.argv[0]).resolve().parent / "clips"
ARM = ("RightArm", "RightForeArm", "RightHand")
LINKS = JointMap(
    (
        Link("RightArm", "upper_arm", "right_shoulder", weight=0.0),
        Link("RightHand", "tip", "right_wrist", offset=(0.0, -0.15, 0.0)),
    )
)
"""A little lower than the person's hand, so that the elbow is never quite straight."""
RAISED = slice(24, 76)
"""The frames in which the hand is above the shoulder: below it there is the floor that the arm is screwed to."""
RATE = 60.0
SHOWN = 6


def only(clip: poise.Clip, bones: tuple[str, ...]) -> poise.Clip:
    """The same clip with all but some bones still, as they are in the first frame, and the first of those at 0."""
    q = np.tile(clip.q[0], (len(clip), 1))
    q[:, :3] -= clip.positions([bones[0]])[0, 0]  # An arm has no height of hips to be scaled by, but its own length.
    for joint in clip.figure.joints:
        if joint.child in bones:
            at = clip.figure.q_slice(joint.name)
            q[:, at] = clip.q[:, at]
    return poise.Clip(clip.figure, q, clip.rate, clip.name)


def main(folder: Path) -> None:
    """Wave."""
    clip = only(poise.load_clip(CLIPS / "wave.bvh")[RAISED], ARM)
    motion = poise.retarget(clip, poise.load("arm"), LINKS, rate=RATE)
    quality = measure(motion)
    print(quality.sentence())
    path = motion.positions(["tip"])[:, 0]
    print(f"The tip goes {1e2 * float(np.ptp(path, axis=0).max()):.0f} cm to and fro.")
    assert quality.tracking.mean() < 0.02
    assert quality.violations == 0
    assert float(np.ptp(path, axis=0).max()) > 0.2

    folder.mkdir(parents=True, exist_ok=True)
    frames = np.linspace(0, len(motion) - 1, SHOWN).astype(int).tolist()
    strip(motion.figure, [motion[i] for i in frames], size=(240, 330)).save(folder / "arm_that_waves.png")
    print(f"See {folder / 'arm_that_waves.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
