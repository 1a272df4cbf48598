"""DR Legs, the walking robot of [Gim et al. 2018] as its makers publish it, from a plain dump of its USD file."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np

from poise.figure import Figure, Pose, Posture
from poise.figure.assembly.cleaning import cleaned
from poise.figure.assembly.guards import guarded
from poise.figure.model.builder import revolute
from poise.figure.model.pose import FloatArray
from poise.figures.mechanisms.mechanism import Mechanism
from tests import real_data

FOLDER = real_data.LOOPS / "dr_legs"
MOTORS = [
    f"j{k}_{side}_{chain}" for side in "lr" for k, chain in ((1, "i"), (2, "i"), (6, "i"), (7, "i"), (2, "o"), (7, "o"))
]
"""In the order of the recorded walk's columns."""
FRAMES = ("foot_l_frame", "foot_r_frame", "pelvis_frame")
SPEED = 4.44
"""Of the motors [rad/s]."""


@cache
def dr_legs() -> Figure:
    """The robot, its pelvis held, joints with the signs of the file; the file's numbers are single precision."""
    data = json.loads((FOLDER / "dr_legs.extracted.json").read_text())
    bodies = {body["name"]: body for body in data["bodies"]}
    m = Mechanism("dr_legs", "A walking robot with hybrid legs.", "pelvis", mass=bodies["pelvis"]["mass"])
    for name, body in bodies.items():
        if name != "pelvis":
            m.link(name, [], body["mass"])
    for joint in data["joints"]:
        frames = [Pose(joint[f]["pos"], joint[f]["quat_wxyz"]) for f in ("frame0", "frame1")]
        places = [Pose(bodies[joint[b]]["pos"], bodies[joint[b]]["quat_wxyz"]) for b in ("body0", "body1")]
        near, far = (place @ frame for place, frame in zip(places, frames, strict=True))
        axis = near.matrix[:, "XYZ".index(joint["axis"])]
        join = m.motor if joint["actuated"] else m.hinge
        at = 0.5 * (near.position + far.position)
        join(revolute(joint["name"], axis), joint["body0"], joint["body1"], at=at)
    for name in ("pelvis", "foot_l", "foot_r"):
        m.site(f"{name}_frame", name, bodies[name]["pos"])
    return m.build()


@cache
def recorded_walk() -> FloatArray:
    """(2239, 12) motor angles [rad], 100 frames per second."""
    return np.load(FOLDER / "dr_legs_animation_100fps.npy")


@cache
def clean_dr_legs() -> Figure:
    """The robot without the rounding of its file."""
    return cleaned(dr_legs())[0]


@cache
def held() -> Figure:
    """The robot with guards against reversed knees, its pelvis held."""
    return guarded(clean_dr_legs())


@cache
def floating() -> Figure:
    """The robot free to walk, its motors as fast as the real ones."""
    fast = [replace(joint, speed=SPEED) if joint.active else joint for joint in held().joints]
    return held().replaced(joints=fast).with_floating_base()


@cache
def walked(factor: int) -> tuple[Posture, ...]:
    """The recorded walk in the world, at 100 frames per second times a factor: the lower foot does not slide."""
    figure, walk = held(), recorded_walk()
    at = np.arange(0, len(walk) - 1, 1 / factor)
    motors = {m: np.interp(at, np.arange(len(walk)), walk[:, k]) for k, m in enumerate(MOTORS)}
    q, _ = figure.assembler.frames(motors, figure.neutral())
    feet = [[figure.pose_of(foot, frame) for frame in q] for foot in FRAMES[:2]]
    pelvis, postures = Pose(), []
    for i, frame in enumerate(q):
        if i:
            foot = min(feet, key=lambda poses: poses[i].position[2])
            pelvis = pelvis @ foot[i - 1] @ foot[i].inverse()
        values = {joint.name: frame[figure.q_slice(joint.name)] for joint in figure.joints if joint.nq}
        base = np.concatenate([pelvis.position, pelvis.rotation])
        postures.append(floating().posture({**values, "base": base}))
    return tuple(postures)
