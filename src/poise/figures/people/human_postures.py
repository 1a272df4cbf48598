"""Named postures of the human, each with its lowest sole on the ground."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import turn
from poise.figure.model.posture import JointValues
from poise.figures.people.ball_region import DOWN, UP, limb_turn

Degrees = Mapping[str, float | tuple[float, ...]]
"""Values by joint [degrees]: hinges by angle; shoulders and hips by (flexion, abduction, internal rotation); spine,
chest, neck and head by (flexion, bend to the left, turn to the left); `base` by (forward pitch,)."""


def both(values: Degrees) -> dict[str, float | tuple[float, ...]]:
    """The same values for the joints of both sides."""
    return {f"{side}_{joint}": value for side in ("left", "right") for joint, value in values.items()}


HUMAN_POSTURES: dict[str, Degrees] = {
    "neutral": {},
    "standing": both({"hip": (3, 0, 0), "knee": 6, "ankle": (3, 0), "shoulder": (2, 4, 0), "elbow": 12, "forearm": 10}),
    "t_pose": both({"shoulder": (0, 90, 0), "forearm": 80}),
    "a_pose": both({"shoulder": (0, 45, 0), "forearm": 40}),
    "sitting": both({"hip": (88, 4, 0), "knee": 88, "shoulder": (25, 5, 0), "elbow": 62, "forearm": 70}),
    "crouching": {
        **both(
            {"hip": (118, 4, 0), "knee": 118, "ankle": (20, 0), "shoulder": (112, 8, 0), "elbow": 35, "forearm": 40}
        ),
        "base": (20.0,),
        "spine": (38, 0, 0),
        "chest": (22, 0, 0),
        "neck": (-26, 0, 0),
        "head": (-26, 0, 0),
    },
    "reaching": {
        "right_clavicle": (20, 12),
        "right_shoulder": (105, 15, 0),
        "right_elbow": 15,
        "right_forearm": 50,
        "left_shoulder": (-12, 12, 0),
        "left_elbow": 20,
        "spine": (8, 0, 3),
        "chest": (5, 0, 18),
        "neck": (-10, 0, -5),
        "head": (-10, 0, -8),
        "left_hip": (10, 0, 0),
        "left_knee": 4,
        "left_ankle": (-6, 0),
        "right_hip": (-6, 0, 0),
        "right_knee": 4,
        "right_ankle": (10, 0),
    },
    "waving": {
        "right_clavicle": (18, 0),
        "right_shoulder": (12, 72, -82),
        "right_elbow": 95,
        "right_forearm": 70,
        "right_wrist": (0, 12),
        "left_shoulder": (0, 7, 0),
        "left_elbow": 12,
        "chest": (0, 4, 0),
        "head": (0, -6, 0),
    },
    "arms_up": both({"clavicle": (42, 0), "shoulder": (30, 112, -20), "elbow": 8, "forearm": 40}),
    "walking": {
        "left_hip": (22, 0, 0),
        "left_knee": 4,
        "left_ankle": (6, 0),
        "right_hip": (-14, 0, 0),
        "right_knee": 32.5,
        "right_ankle": (-12, 0),
        "right_toes": 26,
        "left_shoulder": (-22, 6, 0),
        "right_shoulder": (22, 6, 0),
        "left_elbow": 14,
        "right_elbow": 24,
        "spine": (2, 0, 2),
        "chest": (2, 0, 6),
        "head": (0, 0, -6),
    },
    "thinking": {
        "right_shoulder": (59, -9, 47),
        "right_elbow": 127,
        "right_forearm": -30,
        "right_wrist": (34, 0),
        "left_shoulder": (20, 3, 48),
        "left_elbow": 84,
        "head": (14, -8, 0),
        "neck": (8, 0, 0),
    },
}


def grounded_postures(figure: Figure) -> dict[str, JointValues]:
    """Joint values of all postures of a human, with its lowest sole on the ground."""
    return {name: _grounded(figure, degrees) for name, degrees in HUMAN_POSTURES.items()}


def _grounded(figure: Figure, degrees: Degrees) -> JointValues:
    """Joint values of one posture, with the base raised so that the lowest sole is on the ground."""
    values = {joint: _value(joint, angles) for joint, angles in degrees.items() if joint != "base"}
    pitch = degrees.get("base", (0.0,))
    rotation = turn("x", float(np.atleast_1d(pitch)[0]))
    base = np.array([0.0, 0.0, 0.0, *rotation])
    frames = figure.frames(figure.posture({**values, "base": base}))
    soles = [frames[site].position[1] for site in figure.sites.names if "_foot_" in site]
    base[1] = -min(soles)
    return {**values, "base": tuple(base.tolist())}


def _value(joint: str, angles: float | tuple[float, ...]) -> tuple[float, ...]:
    """Joint values from anatomical angles."""
    part = joint.removeprefix("left_").removeprefix("right_")
    given = tuple(float(a) for a in np.atleast_1d(angles))
    if part in ("shoulder", "hip"):
        flexion, abduction, rotation = given
        return limb_turn(DOWN, -flexion, abduction, rotation, right=joint.startswith("right"))
    if part in ("spine", "chest", "neck", "head"):
        return limb_turn(UP, *given)
    return tuple(np.radians(given).tolist())
