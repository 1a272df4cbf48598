"""A clip of a stick man that steps on the spot and waves, with joint names as in animation software."""

import numpy as np

from poise.figure.model.builder import Builder, ball, free
from poise.figure.model.pose import turn
from poise.motion.clip.clip import Clip

BONES = {
    "Spine": ("Hips", (0.0, 0.1, 0.0)),
    "Neck": ("Spine", (0.0, 0.4, 0.0)),
    "Head": ("Neck", (0.0, 0.1, 0.0)),
    "LeftArm": ("Spine", (0.2, 0.35, 0.0)),
    "LeftForeArm": ("LeftArm", (0.0, -0.3, 0.0)),
    "LeftHand": ("LeftForeArm", (0.0, -0.25, 0.0)),
    "RightArm": ("Spine", (-0.2, 0.35, 0.0)),
    "RightForeArm": ("RightArm", (0.0, -0.3, 0.0)),
    "RightHand": ("RightForeArm", (0.0, -0.25, 0.0)),
    "LeftUpLeg": ("Hips", (0.1, 0.0, 0.0)),
    "LeftLeg": ("LeftUpLeg", (0.0, -0.42, 0.0)),
    "LeftFoot": ("LeftLeg", (0.0, -0.42, 0.0)),
    "LeftToeBase": ("LeftFoot", (0.0, -0.06, 0.12)),
    "RightUpLeg": ("Hips", (-0.1, 0.0, 0.0)),
    "RightLeg": ("RightUpLeg", (0.0, -0.42, 0.0)),
    "RightFoot": ("RightLeg", (0.0, -0.42, 0.0)),
    "RightToeBase": ("RightFoot", (0.0, -0.06, 0.12)),
}
"""Parent and offset of every bone but the hips [m]."""
SWAY = 0.01
"""Amplitude of its sideways sway, as in recordings of people [m]."""


def skeleton(leave_out=(), rename=None, scale=1.0):
    """The stick man's figure, optionally without some bones and their children, with other names, or scaled."""
    names = rename or {}
    builder = Builder("stick_man")
    builder.body(names.get("Hips", "Hips"), joint=free("base"), at=(0.0, 0.0, 0.0))
    gone = set(leave_out)
    for bone, (parent, offset) in BONES.items():
        if bone in gone or parent in gone:
            gone.add(bone)
            continue
        name, above = names.get(bone, bone), names.get(parent, parent)
        builder.body(name, parent=above, joint=ball(f"{name}_joint"), at=tuple(scale * x for x in offset))
    return builder.build()


def stepping(frames=24, rate=30.0, leave_out=(), rename=None, scale=1.0):
    """A clip in which the stick man lifts one knee, then the other, and waves with the left arm."""
    figure, names = skeleton(leave_out, rename, scale), rename or {}
    time = np.arange(frames) / rate
    q = np.tile(figure.neutral().q, (frames, 1))
    base = figure.q_slice("base").start
    q[:, base + 1] = scale * 0.91
    q[:, base] = scale * SWAY * np.sin(2.0 * time + 0.3)
    lift = np.clip(np.sin(2.0 * np.pi * time), 0.0, None), np.clip(-np.sin(2.0 * np.pi * time), 0.0, None)
    for side, amount in zip(("Left", "Right"), lift, strict=True):
        bend(figure, q, names.get(f"{side}UpLeg", f"{side}UpLeg"), -40.0 * amount)
        bend(figure, q, names.get(f"{side}Leg", f"{side}Leg"), 60.0 * amount)
    bend(figure, q, names.get("LeftForeArm", "LeftForeArm"), -60.0 - 30.0 * np.sin(6.0 * time))
    return Clip(figure, q, rate, "stepping")


def bend(figure, q, bone, degrees):
    """Turn a bone about its x axis."""
    if bone in figure.bodies.names:
        at = figure.q_slice(f"{bone}_joint")
        q[:, at] = [turn("x", angle) for angle in degrees]
