"""A pseudo performer: the stick man, sent by the VMC protocol."""

from poise.formats.osc import bundle, encode
from poise.formats.vmc import BONE, PARENTS, ROOT
from tests.unit.motion.retarget.stick_man import BONES, stepping

WORDS = {"Arm": "UpperArm", "ForeArm": "LowerArm", "UpLeg": "UpperLeg", "Leg": "LowerLeg", "ToeBase": "Toes"}


def renamed(bone):
    for side in ("Left", "Right"):
        if bone.startswith(side):
            part = bone.removeprefix(side)
            return side + WORDS.get(part, part)
    return bone


NAMES = {bone: renamed(bone) for bone in ("Hips", *BONES)}
"""Bones of VMC by those of the stick man."""


def performer(frames=120, rate=60.0):
    """A clip of the stick man with the names of VMC."""
    return stepping(frames=frames, rate=rate, rename=NAMES)


def packet(figure, q):
    """The bytes of a frame."""
    frames = figure.frames(figure.posture(q))
    messages = [encode(ROOT, ["root", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])]
    for name in NAMES.values():
        above = PARENTS.get(name)
        while above is not None and above not in figure.bodies.names:
            above = PARENTS.get(above)
        pose = frames[name] if above is None else frames[above].inverse() @ frames[name]
        (x, y, z), (w, i, j, k) = pose.position.tolist(), pose.rotation.tolist()
        messages.append(encode(BONE, [name, -x, y, z, i, -j, -k, w]))
    return bundle([bundle(messages), encode("/VMC/Ext/OK", [1])])
