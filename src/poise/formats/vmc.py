"""The VMC protocol: a person's bones over OSC, as programs for virtual performers send them.

A frame is one bundle, or several, of `/VMC/Ext/Root/Pos` and `/VMC/Ext/Bone/Pos`, each with a name, a position [m] and
a quaternion x, y, z, w. Bones have the names of Unity's humanoids, and their poses are relative to the bone above. Axes
are Unity's: x to the right of the performer, y up, z forward, left-handed. Mirrored in x, they are right-handed, with x
to the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from poise.errors import FormatError
from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.formats.osc import Message

ROOT, BONE = "/VMC/Ext/Root/Pos", "/VMC/Ext/Bone/Pos"
"""Addresses of the messages that are read; all others are skipped."""
DEFAULT_PORT = 39539
"""Port to which programs send by default."""
_TRUNK = ("Hips", "Spine", "Chest", "UpperChest", "Neck", "Head")
_LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
_ARM = ("Shoulder", "UpperArm", "LowerArm", "Hand")
_FINGERS = ("Thumb", "Index", "Middle", "Ring", "Little")
_PHALANGES = ("Proximal", "Intermediate", "Distal")


def _chains() -> Iterable[tuple[str, ...]]:
    """The bones, as chains from the hips outwards; each begins with a bone of an earlier one."""
    yield _TRUNK
    for side in ("Left", "Right"):
        yield ("Hips", *(side + part for part in _LEG))
        yield ("UpperChest", *(side + part for part in _ARM))
        for finger in _FINGERS:
            yield (f"{side}Hand", *(side + finger + phalanx for phalanx in _PHALANGES))
    yield ("Head", "LeftEye")
    yield ("Head", "RightEye")
    yield ("Head", "Jaw")


PARENTS: dict[str, str] = {}
"""The bone above each; where a performer lacks it, the next one above counts."""
for _chain in _chains():
    PARENTS.update(zip(_chain[1:], _chain[:-1], strict=True))

Bones = dict[str, FloatArray]
"""(7,) pose of each bone relative to the bone above it, by name: position [m], then quaternion w, x, y, z; "" is the
root."""


def take(messages: Iterable[Message], bones: Bones) -> bool:
    """Write the poses in messages to `bones`; returns whether there was a bone among them.

    Raises:
        FormatError: A pose is not a name and seven finite numbers, with a quaternion that is not zero.
    """
    found = False
    for message in messages:
        if message.address not in (ROOT, BONE):
            continue
        name, *numbers = message.arguments[:8] or ("",)
        values = np.array([value for value in numbers if isinstance(value, float | int)], dtype=np.float64)
        if not isinstance(name, str) or values.shape != (7,) or not np.isfinite(values).all():
            raise FormatError(f"{message.address} takes a name, a position and a quaternion, not {message.arguments}.")
        x, y, z, w = values[3:].tolist()
        size = float(np.linalg.norm(values[3:]))
        if size < 1e-6:
            raise FormatError(f"the quaternion of bone {name!r} is zero.")
        turn = np.array([w, x, -y, -z]) / size
        bones["" if message.address == ROOT else name] = np.array([-values[0], *values[1:3], *turn])
        found |= message.address == BONE
    return found


def skeleton(bones: Mapping[str, FloatArray]) -> Figure:
    """The performer's skeleton: a ball joint for each bone, and a free joint for the hips."""
    if "Hips" not in bones:
        raise FormatError("the stream has no bone 'Hips'.")
    names = ["Hips", *(name for name in PARENTS if name in bones)]
    joints = [Joint("Hips", "free", None, "Hips")]
    joints += [Joint(name, "ball", _above(name, bones), name, parent_frame=Pose(bones[name][:3])) for name in names[1:]]
    return Figure("performer", [Body(name) for name in names], joints, up="y")


def values(figure: Figure, bones: Mapping[str, FloatArray]) -> FloatArray:
    """(nq,) the joint values of a performer's skeleton that `skeleton` made; bones that are missing are at rest."""
    q = figure.neutral().q.copy()
    for joint in figure.joints:
        where = figure.q_slice(joint.name)
        if joint.kind == "free":
            hips = Pose(bones["Hips"][:3], bones["Hips"][3:])
            root = bones.get("")
            world = hips if root is None else Pose(root[:3], root[3:]) @ hips
            q[where] = [*world.position, *world.rotation]
        elif joint.name in bones:
            q[where] = bones[joint.name][3:]
    return q


def _above(name: str, bones: Mapping[str, FloatArray]) -> str:
    """The next bone above that the performer has."""
    above = PARENTS[name]
    return above if above in bones or above == "Hips" else _above(above, bones)
