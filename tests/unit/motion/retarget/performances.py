"""Clips made from a description: the stick man walks, dances, waves, crouches and jumps, and a fox walks.

Feet and hips follow given paths, the knees follow from them, and all other bones turn by given angles.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.builder import Builder, ball, free
from poise.motion.clip.clip import Clip
from tests.unit.motion.retarget.stick_man import BONES, SWAY, skeleton

ANKLE = 0.07
"""Height of an ankle above the ground [m]."""
TOE = np.array(BONES["LeftToeBase"][1])
STRIDE, STRIDE_TIME = 1.0, 1.05
"""Of the walk: length of two steps [m], and how long they take [s]."""
STANCE = 0.62
"""Share of a stride in which a foot stands."""
HEEL_UP, TOES_UP = 38.0, 14.0
"""Pitch of a foot when it leaves the ground and when it comes down again [degrees]."""
SIDES = {"Left": 1.0, "Right": -1.0}


def smooth(share):
    """From 0 to 1, beginning and ending at rest."""
    share = np.clip(share, 0.0, 1.0)
    return share**2 * (3.0 - 2.0 * share)


def about(axes, degrees):
    """Turns about one axis, or about several in turn, for which the angles have as many columns."""
    return Rotation.from_euler(axes, np.reshape(degrees, (-1, len(axes))), degrees=True)


def two_bones(start, end, lengths, forward):
    """World rotations (frames,) of two bones that hang down at rest, from one place to another; they bend `forward`."""
    upper, lower = lengths
    way = end - start
    far = np.linalg.norm(way, axis=1, keepdims=True)
    along, far = way / far, np.minimum(far, 0.9995 * (upper + lower))
    ahead = forward - np.sum(forward * along, axis=1, keepdims=True) * along
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    share = (far**2 + upper**2 - lower**2) / (2.0 * far)
    middle = start + share * along + np.sqrt(upper**2 - share**2) * ahead
    return hanging(middle - start, forward), hanging(start + far * along - middle, forward)


def hanging(way, forward):
    """World rotations of bones that point down at rest and face `forward`."""
    y = -way / np.linalg.norm(way, axis=1, keepdims=True)
    z = forward - np.sum(forward * y, axis=1, keepdims=True) * y
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return Rotation.from_matrix(np.stack([np.cross(y, z), y, z], axis=2))


def performed(name, rate, hips, heading, feet, bends, *, rename=None, scale=1.0):
    """A clip of the stick man.

    Args:
        name: Of the clip.
        rate: Frames per second [1/s].
        hips: (frames, 3) where they are [m].
        heading: (frames,) where they face, from z to x [degrees].
        feet: By side, (frames, 3) where the ankle is [m] and (frames,) the foot's pitch [degrees].
        bends: By bone, the axis and the (frames,) angle [degrees].
        rename: New names of bones.
        scale: Size of the stick man.
    """
    figure, names = skeleton(rename=rename, scale=scale), rename or {}
    turned = about("y", heading)
    q = np.tile(figure.neutral().q, (len(hips), 1))

    def put(bone, rotation):
        q[:, figure.q_slice(f"{names.get(bone, bone)}_joint")] = rotation.as_quat(scalar_first=True)

    base = figure.q_slice("base").start
    q[:, base : base + 3], q[:, base + 3 : base + 7] = scale * hips, turned.as_quat(scalar_first=True)
    for bone, (axis, angle) in bends.items():
        put(bone, about(axis, angle))
    for side, (ankle, pitch) in feet.items():
        hip = hips + turned.apply(BONES[f"{side}UpLeg"][1])
        lengths = [-BONES[f"{side}{bone}"][1][1] for bone in ("Leg", "Foot")]
        thigh, shank = two_bones(hip, ankle, lengths, turned.apply((0.0, 0.0, 1.0)))
        put(f"{side}UpLeg", turned.inv() * thigh)
        put(f"{side}Leg", thigh.inv() * shank)
        put(f"{side}Foot", shank.inv() * turned * about("x", pitch))
    return Clip(figure, q, rate, name)


def walking(frames=200, rate=60.0, **options):
    """The stick man walks straight on, about 3 m, and swings its arms."""
    time = np.arange(frames) / rate
    cycle = 2.0 * np.pi * time / STRIDE_TIME
    hips = np.stack(
        [
            0.025 * np.cos(cycle - 0.6 * np.pi) + SWAY * np.sin(0.7 * time),
            0.85 - 0.015 * np.cos(2.0 * cycle),
            STRIDE / STRIDE_TIME * time + 0.01 * np.sin(2.0 * cycle),
        ],
        axis=1,
    )
    feet = {side: step_by_step(side, time / STRIDE_TIME + (0.0 if side == "Left" else 0.5)) for side in SIDES}
    swing = 22.0 * np.cos(cycle)
    bends = {
        "Spine": ("y", 5.0 * np.cos(cycle)),
        "Neck": ("y", -4.0 * np.cos(cycle)),
        "LeftArm": ("x", swing),
        "RightArm": ("x", -swing),
        "LeftForeArm": ("x", -25.0 + 0.5 * swing),
        "RightForeArm": ("x", -25.0 - 0.5 * swing),
    }
    return performed("walk", rate, hips, -4.0 * np.cos(cycle), feet, bends, **options)


def step_by_step(side, cycles):
    """Ankle and pitch of a foot that comes down when `cycles` is whole."""
    strides, phase = np.floor(cycles), np.mod(cycles, 1.0)
    # It comes down as far ahead of the hips as it is behind them when it leaves.
    offset = 0.0 if side == "Left" else -0.5
    here = STRIDE * (strides + offset + 0.5 * STANCE)
    off, swings = smooth((phase / STANCE - 0.72) / 0.28), (phase - STANCE) / (1.0 - STANCE)
    down = TOES_UP * (1.0 - smooth(phase / 0.1))
    pitch = np.where(swings < 0.0, HEEL_UP * off - down, HEEL_UP - (HEEL_UP + TOES_UP) * smooth(swings))
    rolled = TOE - about("x", HEEL_UP * off).apply(TOE)
    flight = STRIDE * smooth(swings)[:, None] * np.array([0.0, 0.0, 1.0]) * (swings >= 0.0)[:, None]
    flight[:, 1] += np.where(swings >= 0.0, 0.05 * np.sin(np.pi * np.clip(swings, 0.0, 1.0)) ** 2, 0.0)
    settle = np.where(swings >= 0.0, 1.0 - smooth(swings), 1.0)[:, None]
    ground = np.stack([np.full_like(here, 0.1 * SIDES[side]), np.full_like(here, ANKLE), here], axis=1)
    return ground + settle * rolled + flight, pitch


def standing_feet(frames):
    """Both feet flat on the ground below the hips."""
    return {side: (np.tile([0.1 * x, ANKLE, 0.0], (frames, 1)), np.zeros(frames)) for side, x in SIDES.items()}


def dancing(frames=300, rate=60.0, **options):
    """The stick man dances: it sways, dips, bends and turns, steps on the spot, and throws its arms up."""
    time = np.arange(frames) / rate
    beat = 2.0 * np.pi * time / 1.2
    sway = 0.11 * np.sin(beat)
    hips = np.stack(
        [sway, 0.80 - 0.06 * np.cos(0.5 * beat) ** 2 + SWAY * np.cos(2.0 * beat), 0.03 * np.sin(0.4 * beat)], axis=1
    )
    feet = standing_feet(frames)
    for side, x in SIDES.items():
        # A foot is in the air while the hips are far on the other side.
        lift = np.clip(-x * np.sin(beat) - 0.5, 0.0, None) ** 2 * 4.0
        feet[side][0][:, 1] += 0.14 * lift
        feet[side][0][:, 2] += 0.06 * lift
    bends = {
        "Spine": ("zx", np.stack([14.0 * np.sin(beat + 0.4), 10.0 + 12.0 * np.sin(0.5 * beat)], axis=1)),
        "Neck": ("z", -8.0 * np.sin(beat)),
        "Head": ("yx", np.stack([25.0 * np.sin(0.5 * beat), 12.0 * np.sin(beat)], axis=1)),
        "LeftArm": ("z", 70.0 + 50.0 * np.sin(0.5 * beat)),
        "RightArm": ("z", -70.0 + 50.0 * np.sin(0.5 * beat)),
        "LeftForeArm": ("x", -50.0 - 35.0 * np.sin(beat)),
        "RightForeArm": ("x", -50.0 + 35.0 * np.sin(beat)),
    }
    return performed("dance", rate, hips, 15.0 * np.sin(0.5 * beat), feet, bends, **options)


def waving(frames=100, rate=30.0, **options):
    """The stick man raises its right hand, waves, and lowers it again."""
    time = np.arange(frames) / rate
    raised = smooth(time / 0.8) * smooth((time[-1] - time) / 0.8)
    hips = np.stack([SWAY * np.sin(2.0 * time), np.full(frames, 0.905), 0.5 * SWAY * np.cos(1.3 * time)], axis=1)
    bends = {
        "RightArm": ("z", -raised * (105.0 + 16.0 * np.sin(6.0 * time))),
        "RightForeArm": ("zx", np.stack([-raised * (65.0 + 6.0 * np.sin(6.0 * time)), -12.0 * raised], axis=1)),
        "Head": ("y", -15.0 * raised),
    }
    return performed("wave", rate, hips, np.zeros(frames), standing_feet(frames), bends, **options)


def crouching(frames=150, rate=30.0, **options):
    """The stick man crouches deeply, bends forwards, and gets up again."""
    time = np.arange(frames) / rate
    down = smooth(time / 1.8) * smooth((time[-1] - time) / 1.8)
    hips = np.stack([SWAY * np.sin(2.0 * time), 0.9 - 0.45 * down, -0.12 * down], axis=1)
    arm = ("x", -60.0 * down)
    bends = {"Spine": ("x", 40.0 * down), "Neck": ("x", -20.0 * down), "LeftArm": arm, "RightArm": arm}
    return performed("crouch", rate, hips, np.zeros(frames), standing_feet(frames), bends, **options)


def jumping(frames=130, rate=60.0, **options):
    """The stick man bends its knees, jumps 0.3 m high, lands in its knees, and gets up."""
    time = np.arange(frames) / rate
    leaves, speed, deep = 0.8, 9.81 * 0.25, 0.22
    air = time - leaves
    flight = np.where((air > 0.0) & (air < 0.5), speed * air - 0.5 * 9.81 * air**2, 0.0)
    dip = deep * (
        smooth(time / 0.5) * (1.0 - smooth((time - 0.5) / 0.3))
        + smooth((air - 0.45) / 0.25) * (1.0 - smooth((air - 0.7) / 0.5))
    )
    hips = np.stack([SWAY * np.sin(2.0 * time), 0.9 - dip + flight, np.zeros(frames)], axis=1)
    feet = standing_feet(frames)
    for ankle, pitch in feet.values():
        ankle[:, 1] += flight
        pitch += 30.0 * np.sin(np.pi * np.clip(air / 0.5, 0.0, 1.0)) ** 2
    arm = ("x", -150.0 * smooth((time - 0.5) / 0.3) * (1.0 - smooth((air - 0.4) / 0.6)))
    bends = {"Spine": ("x", 60.0 * dip), "LeftArm": arm, "RightArm": arm}
    return performed("jump", rate, hips, np.zeros(frames), feet, bends, **options)


FOX = {
    "Chest": ("Hip", (0.0, 0.07, 0.27)),
    "Neck": ("Chest", (0.0, 0.0, 0.27)),
    "Head": ("Neck", (0.0, 0.07, 0.11)),
    "Tail": ("Hip", (0.0, 0.0, -0.15)),
}
LEGS = {"Hind": ("Hip", (0.07, 0.02, -0.03)), "Front": ("Chest", (0.07, -0.05, 0.20))}
UPPER, LOWER = 0.22, 0.22
for _side, _x in SIDES.items():
    for _leg, (_parent, _at) in LEGS.items():
        FOX[f"{_side}{_leg}Leg"] = _parent, (_x * _at[0], *_at[1:])
        FOX[f"{_side}{_leg}Shin"] = f"{_side}{_leg}Leg", (0.0, -UPPER, 0.0)
        FOX[f"{_side}{_leg}Paw"] = f"{_side}{_leg}Shin", (0.0, -LOWER, 0.0)
"""Parent and offset of every bone of the fox but the hip [m]."""
FOX_HIP = 0.46
FOX_STEP, FOX_TIME = 0.30, 0.8
"""How far a paw goes back while it stands [m], and how long a stride takes [s]."""
PHASES = {"LeftHind": 0.0, "LeftFront": 0.25, "RightHind": 0.5, "RightFront": 0.75}


def fox_on_the_spot(strides=1, rate=30.0):
    """A fox that walks on the spot, as animators draw cycles: its paws go back under it while they stand."""
    builder = Builder("fox")
    builder.body("Hip", joint=free("base"), at=(0.0, 0.0, 0.0))
    for bone, (parent, at) in FOX.items():
        builder.body(bone, parent=parent, joint=ball(f"{bone}_joint"), at=at)
    figure = builder.build()
    time = np.arange(round(strides * FOX_TIME * rate) + 1) / rate
    q = np.tile(figure.neutral().q, (len(time), 1))
    base = figure.q_slice("base").start
    bob = FOX_HIP - 0.035 + 0.006 * np.cos(4.0 * np.pi * time / FOX_TIME)
    q[:, base + 1] = bob
    forward = np.tile([0.0, 0.0, 1.0], (len(time), 1))
    for leg, phase in PHASES.items():
        cycles = np.mod(time / FOX_TIME + phase, 1.0)
        side, end = ("Left", leg[4:]) if leg.startswith("Left") else ("Right", leg[5:])
        parent, at = LEGS[end]
        above = np.array(FOX[parent][1]) if parent != "Hip" else np.zeros(3)
        hip = above + np.array([SIDES[side] * at[0], *at[1:]]) + np.stack([0 * bob, bob, 0 * bob], axis=1)
        swings = (cycles - STANCE) / (1.0 - STANCE)
        ahead = np.where(swings < 0.0, 0.5 - cycles / STANCE, smooth(swings) - 0.5)
        paw = hip.copy()
        paw[:, 1] = 0.02 + np.where(swings >= 0.0, 0.06 * np.sin(np.pi * np.clip(swings, 0.0, 1.0)) ** 2, 0.0)
        paw[:, 2] += FOX_STEP * ahead
        thigh, shin = two_bones(hip, paw, (UPPER, LOWER), forward * (1.0 if end == "Hind" else -1.0))
        if end == "Front":  # Its elbow points back, and the bone still faces forwards.
            half = about("y", 180.0)
            thigh, shin = thigh * half, shin * half
        for bone, turned in (("Leg", thigh), ("Shin", thigh.inv() * shin), ("Paw", shin.inv())):
            q[:, figure.q_slice(f"{side}{end}{bone}_joint")] = turned.as_quat(scalar_first=True)
    nod = 8.0 * np.sin(4.0 * np.pi * time / FOX_TIME)
    for bone, axis, angle in (("Head", "x", nod), ("Tail", "y", 2.0 * nod)):
        q[:, figure.q_slice(f"{bone}_joint")] = about(axis, angle).as_quat(scalar_first=True)
    return Clip(figure, q, rate, "fox")
