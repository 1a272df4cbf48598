"""The skeleton of the SMPL family: 22 joints of the body, in the order of its files.

At rest the body stands with its arms out, y up and facing +z, with its left along +x. The bones are those of the user's
own body model if there is one, with the shape that the file states. Otherwise they are bones of a person of average
proportions and 1.7 m [Drillis & Contini 1966]; retargeting uses their directions, so that only the ratio of the
person's own limbs is lost.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.builder import Builder, ball, cartesian, free
from poise.figure.model.figure import Figure, UpAxis
from poise.figure.model.pose import FloatArray
from poise.formats.text.npz import read_npz

PARENTS: dict[str, str] = {
    "pelvis": "",
    "left_hip": "pelvis",
    "right_hip": "pelvis",
    "spine1": "pelvis",
    "left_knee": "left_hip",
    "right_knee": "right_hip",
    "spine2": "spine1",
    "left_ankle": "left_knee",
    "right_ankle": "right_knee",
    "spine3": "spine2",
    "left_foot": "left_ankle",
    "right_foot": "right_ankle",
    "neck": "spine3",
    "left_collar": "spine3",
    "right_collar": "spine3",
    "head": "neck",
    "left_shoulder": "left_collar",
    "right_shoulder": "right_collar",
    "left_elbow": "left_shoulder",
    "right_elbow": "right_shoulder",
    "left_wrist": "left_elbow",
    "right_wrist": "right_elbow",
}
"""The joint before each joint."""
AVERAGE_BONES: dict[str, tuple[float, float, float]] = {
    "hip": (0.07, -0.08, 0.0),
    "knee": (0.0, -0.416, 0.0),
    "ankle": (0.0, -0.418, 0.0),
    "foot": (0.0, -0.055, 0.13),
    "spine1": (0.0, 0.11, 0.0),
    "spine2": (0.0, 0.13, 0.0),
    "spine3": (0.0, 0.06, 0.0),
    "neck": (0.0, 0.20, 0.0),
    "head": (0.0, 0.09, 0.03),
    "collar": (0.07, 0.12, 0.0),
    "shoulder": (0.13, 0.03, 0.0),
    "elbow": (0.30, 0.0, 0.0),
    "wrist": (0.25, 0.0, 0.0),
}
"""The bone that leads to each joint of an average person, on the left side [m]."""


def average_bones() -> dict[str, FloatArray]:
    """The bone that leads to each joint, of an average person [m]."""
    out = {}
    for name in PARENTS:
        side, _, part = name.rpartition("_")
        bone = np.array(AVERAGE_BONES.get(part, (0.0, 0.0, 0.0)))
        out[name] = bone * [-1.0, 1.0, 1.0] if side == "right" else bone
    return out


def model_bones(path: str | Path, betas: FloatArray) -> dict[str, FloatArray]:
    """The bone that leads to each joint, of a body model of the user with a shape [m].

    The joints are J (v + S β), with the model's regressor J, its mean vertices v and its shape directions S.

    Args:
        path: The body model as NPZ, such as SMPLX_NEUTRAL.npz.
        betas: (k,) coefficients of the shape.
    """
    keys = ("v_template", "shapedirs", "J_regressor")
    content = read_npz(path, keys)
    if set(content) != set(keys):
        raise FormatError(f"is not a body model: it needs {', '.join(keys)} as plain arrays.", path)
    template, directions, regressor = (np.asarray(content[key], dtype=np.float64) for key in keys)
    count = min(len(betas), directions.shape[-1]) if directions.ndim == 3 else 0
    if template.ndim != 2 or regressor.shape[-1] != len(template) or len(regressor) < len(PARENTS) or not count:
        raise FormatError("is not a body model: its arrays do not fit together.", path)
    joints = regressor @ (template + directions[:, :, :count] @ betas[:count])
    rows = {name: row for row, name in enumerate(PARENTS)}
    return {n: joints[rows[n]] - joints[rows[p]] if p else joints[rows[n]] for n, p in PARENTS.items()}


def turning_skeleton(bones: dict[str, FloatArray], name: str) -> Figure:
    """The skeleton with a ball joint at every joint and a floating base."""
    builder = Builder(name, up="z")
    for joint, parent in PARENTS.items():
        if parent:
            builder.body(joint, parent=parent, joint=ball(f"{joint}_turn"), at=bones[joint])
        else:
            builder.body(joint, joint=free("base"))
    return builder.build()


def sliding_skeleton(name: str, up: UpAxis) -> Figure:
    """The skeleton with joints that move along straight lines, for recordings of positions alone."""
    builder = Builder(name, up=up)
    for joint, parent in PARENTS.items():
        builder.body(joint, parent=parent or None, joint=cartesian(f"{joint}_place"))
    return builder.build()
