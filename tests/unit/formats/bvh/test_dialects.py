"""BVH files of one person as seven programs write them: names, structure, axes of bones, channels and units differ."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.errors import UnmappedWarning
from poise.motion.clip.clip import Source
from poise.motion.mapping.mapping import clip_roles
from poise.motion.report.report import measure

FRAMES, LEG = 40, 0.42


class Dialect(NamedTuple):
    """How a program writes a person."""

    spine: tuple[str, ...]
    """Joints from the root to the chest."""
    neck: tuple[str, ...]
    """Joints from the neck to the head."""
    arm: tuple[str, ...]
    """Collar, shoulder, elbow and wrist of the left side."""
    leg: tuple[str, ...]
    """Hip, knee, ankle and toes of the left side."""
    order: str = "ZYX"
    unit: float = 0.01
    """Length of a unit of the file [m]."""
    rate: float = 30.0
    left: str = "Left"
    along_x: bool = False
    """Whether the x axis of a joint points along its bone, as the SOMA skeleton has it."""
    all_slide: bool = False
    """Whether every joint has channels of position."""


USUAL_ARM, USUAL_LEG = ("Shoulder", "Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot", "ToeBase")
DIALECTS = {
    "cmu": Dialect(
        ("Hips", "LowerBack", "Spine", "Spine1"), ("Neck", "Neck1", "Head"), USUAL_ARM, USUAL_LEG,
        unit=0.0254 / 0.45, rate=120.0,
    ),
    "lafan1": Dialect(("Hips", "Spine", "Spine1", "Spine2"), ("Neck", "Head"), USUAL_ARM, (*USUAL_LEG[:3], "Toe")),
    "soma": Dialect(
        ("Root", "Hips", "Spine1", "Spine2", "Chest"), ("Neck1", "Neck2", "Head"), USUAL_ARM,
        ("Leg", "Shin", "Foot", "ToeBase"), rate=120.0, along_x=True,
    ),
    "mixamo": Dialect(
        tuple(f"mixamorig:{name}" for name in ("Hips", "Spine", "Spine1", "Spine2")),
        ("mixamorig:Neck", "mixamorig:Head"), USUAL_ARM, USUAL_LEG, order="ZXY", left="mixamorig:Left",
    ),
    "xsens": Dialect(
        ("Hips", "Chest", "Chest2", "Chest3", "Chest4"), ("Neck", "Head"), ("Collar", "Shoulder", "Elbow", "Wrist"),
        ("Hip", "Knee", "Ankle", "Toe"), order="YXZ", rate=60.0,
    ),
    "nokov": Dialect(
        ("Hips", "Spine", "Spine1", "Spine2"), ("Neck", "Head"), USUAL_ARM, USUAL_LEG, order="XYZ", rate=60.0,
        all_slide=True,
    ),
    "rokoko": Dialect(
        ("Hips", "Spine1", "Spine2", "Spine3", "Spine4"), ("Neck", "Head"), USUAL_ARM,
        ("Thigh", "Shin", "Foot", "Toe"), order="YXZ",
    ),
}  # fmt: skip


class Person(NamedTuple):
    """A person as a tree: parents, bones in a T-pose [m], and (frames, 4) turns of each part against the T-pose."""

    parents: dict[str, str | None]
    bones: dict[str, tuple[float, float, float]]
    turns: dict[str, Rotation]
    root: np.ndarray
    """(frames, 3) place of the first joint [m]."""
    roles: dict[str, str]


def about(axis, degrees):
    """One turn for every frame."""
    return Rotation.from_euler(axis, degrees[:, None], degrees=True)


def person(dialect):
    """Somebody who steps on the spot, waves with the left forearm and lets the other arm hang."""
    parents, bones, roles = {}, {}, {}

    def chain(names, parent, steps):
        for name, step in zip(names, steps, strict=True):
            parents[name], bones[name] = parent, step
            parent = name
        return parent

    hips = next(name for name in dialect.spine if name.endswith("Hips"))
    at_hips = dialect.spine.index(hips)
    above = len(dialect.spine) - at_hips - 1
    chest = chain(dialect.spine, None, [(0, 0, 0)] * (1 + at_hips) + [(0, 0.4 / above, 0)] * above)
    chain(dialect.neck, chest, [(0, 0.15, 0)] + [(0, 0.1, 0)] * (len(dialect.neck) - 1))
    roles |= {"pelvis": hips, "head": dialect.neck[-1]}
    turns = {name: Rotation.identity(FRAMES) for name in (*dialect.spine, *dialect.neck)}
    time = np.arange(FRAMES) / 30.0
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        mark = dialect.left.replace("Left", side)
        arm, leg = ([mark + name for name in names] for names in (dialect.arm, dialect.leg))
        chain(arm, chest, [(0.03 * sign, 0.1, 0), (0.15 * sign, 0, 0), (0.3 * sign, 0, 0), (0.25 * sign, 0, 0)])
        chain(leg, hips, [(0.1 * sign, 0, 0), (0, -LEG, 0), (0, -LEG, 0), (0, -0.06, 0.12)])
        of_side = zip(("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe"), (*arm[1:], *leg), strict=True)
        roles |= {f"{side.lower()}_{role}": name for role, name in of_side}
        lift = np.clip(sign * np.sin(2.0 * np.pi * time), 0.0, None)
        down = about("z", np.full(FRAMES, -80.0 * sign))
        bent = about("x", (-60.0 - 30.0 * np.sin(6.0 * time)) * (sign > 0))
        thigh, shank = about("x", -40.0 * lift), about("x", 20.0 * lift)
        still = Rotation.identity(FRAMES)
        turns |= dict(zip(arm, (still, down, bent * down, bent * down), strict=True))
        turns |= dict(zip(leg, (thigh, shank, still, still), strict=True))
    root = np.stack([0.01 * np.sin(2.0 * time + 0.3), np.full(FRAMES, 0.91), 0.0 * time], axis=1)
    return Person(parents, bones, turns, root, roles)


def places(one):
    """(frames, 3) place of every joint [m]."""
    out = {}
    for name, parent in one.parents.items():
        out[name] = one.root if parent is None else out[parent] + one.turns[parent].apply(one.bones[name])
    return out


def axes_of(one, dialect):
    """The axes of every joint in the T-pose: those of the world, or with x along its bone."""
    out = {}
    for name in one.parents:
        bone = next((one.bones[child] for child, parent in one.parents.items() if parent == name), one.bones[name])
        x = np.array(bone, dtype=float)
        if not dialect.along_x or not x.any():
            out[name] = Rotation.identity()
            continue
        x /= np.linalg.norm(x)
        z = np.cross(x, [0.0, 1.0, 0.0] if abs(x[1]) < 0.9 else [1.0, 0.0, 0.0])
        z /= np.linalg.norm(z)
        out[name] = Rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    return out


def write(one, dialect, path):
    """The person as a BVH file."""
    axes, lines, columns = axes_of(one, dialect), ["HIERARCHY"], []
    angles = " ".join(f"{axis}rotation" for axis in dialect.order)

    def joint(name, depth):
        parent, pad = one.parents[name], "  " * depth
        offset = np.array(one.bones[name]) / dialect.unit
        offset = offset if parent is None else axes[parent].inv().apply(offset)
        slides = parent is None or dialect.all_slide
        lines.append(f"{pad}{'JOINT' if parent else 'ROOT'} {name}\n{pad}{{")
        lines.append(f"{pad}  OFFSET {' '.join(f'{x:.9f}' for x in offset)}")
        lines.append(f"{pad}  CHANNELS {'6 Xposition Yposition Zposition' if slides else '3'} {angles}")
        if slides:
            columns.append(one.root / dialect.unit if parent is None else np.tile(offset, (FRAMES, 1)))
        local = one.turns[name] * axes[name]
        if parent is not None:
            local = (one.turns[parent] * axes[parent]).inv() * local
        columns.append(local.as_euler(dialect.order, degrees=True))
        children = [child for child, above in one.parents.items() if above == name]
        for child in children:
            joint(child, depth + 1)
        if not children:
            lines.append(f"{pad}  End Site\n{pad}  {{\n{pad}    OFFSET 0 0 {0.05 / dialect.unit:.6f}\n{pad}  }}")
        lines.append(f"{pad}}}")

    joint(next(name for name, parent in one.parents.items() if parent is None), 0)
    lines.append(f"MOTION\nFrames: {FRAMES}\nFrame Time: {1.0 / dialect.rate:.9f}")
    rows = np.concatenate(columns, axis=1)
    path.write_text("\n".join([*lines, *(" ".join(f"{x:.9f}" for x in row) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_a_file_of_every_dialect_is_the_same_person(name, tmp_path):
    dialect, one = DIALECTS[name], person(DIALECTS[name])
    clip = poise.load_clip(write(one, dialect, tmp_path / "step.bvh"))
    assert clip.rate == pytest.approx(dialect.rate, rel=1e-6)
    source = Source(clip)
    for joint, place in places(one).items():
        np.testing.assert_allclose(dialect.unit * source.path_of(joint), place, atol=1e-6)
    found = clip_roles(clip)
    assert {role: found[role].part for role in one.roles if role in found} == one.roles


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_a_human_follows_every_dialect(name, tmp_path):
    human = poise.load("human")
    clip = poise.load_clip(write(person(DIALECTS[name]), DIALECTS[name], tmp_path / "step.bvh"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnmappedWarning)
        motion = poise.retarget(clip, human)
    quality = measure(motion)
    assert quality.violations == 0
    assert quality.drift < 1e-3
    assert quality.penetration.max() < 1e-3
    assert quality.tracking.mean() < 0.03 * quality.size
