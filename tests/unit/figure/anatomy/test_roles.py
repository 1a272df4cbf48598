"""Roles of robots, people and animals; the expected ones were written down by reading the files."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.figure.anatomy import limbs
from poise.figure.anatomy.roles import figure_roles
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.motion.mapping.mapping import clip_roles
from tests import real_data
from tests.unit.motion.retarget.performances import fox_on_the_spot
from tests.unit.motion.retarget.stick_man import BONES, stepping

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"

G1 = {
    "pelvis": "pelvis",
    "chest": "torso_link",
    "head": "head_link",
    "hip": "{}_hip_yaw_link",
    "knee": "{}_knee_link",
    "ankle": "{}_ankle_roll_link",
    "shoulder": "{}_shoulder_yaw_link",
    "elbow": "{}_elbow_link",
    "wrist": "{}_wrist_yaw_link",
}
EXPECTED = {
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": ("left right", G1),
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf": ("left right", G1 | {"fingers": "{}_hand_index_0_link"}),
    "talos_data/robots/talos_full_v2.urdf": (
        "left right",
        {
            "pelvis": "base_link",
            "chest": "torso_2_link",
            "head": "head_2_link",
            "hip": "leg_{}_3_link",
            "knee": "leg_{}_4_link",
            "ankle": "leg_{}_6_link",
            "shoulder": "arm_{}_3_link",
            "elbow": "arm_{}_4_link",
            "wrist": "arm_{}_7_link",
        },
    ),
    "icub_description/robots/icub.urdf": (
        "l r",
        {
            "pelvis": "root_link",
            "chest": "chest",
            "neck": "neck_1",
            "head": "head",
            "hip": "{}_upper_leg",
            "knee": "{}_lower_leg",
            "ankle": "{}_ankle_2",
            "shoulder": "{}_shoulder_3",
            "elbow": "{}_elbow_1",
            "wrist": "{}_hand",
        },
    ),
    "romeo_description/urdf/romeo_small.urdf": (
        "L R",
        {
            "pelvis": "base_link",
            "chest": "torso",
            "neck": "NeckYawLink",
            "head": "HeadRollLink",
            "hip": "{}HipPitchLink",
            "knee": "{}KneePitchLink",
            "shoulder": "{}ElbowRollLink",  # its roll twists the upper arm; the yaw after it bends the elbow
            "elbow": "{}ElbowYawLink",
        },
    ),
    "simple_humanoid_description/urdf/simple_humanoid.urdf": (
        "L R",
        {
            "pelvis": "base_link",
            "chest": "torso",
            "hip": "{}LEG_LINK3",
            "knee": "{}LEG_LINK4",
            "shoulder": "{}ARM_LINK3",
            "elbow": "{}ARM_LINK4",
        },
    ),
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf": (
        "LEFT RIGHT",
        {"pelvis": "PELVIS_LINK", "chest": "TORSO_LINK", "hip": "{}_THIGH", "knee": "{}_SHIN", "ankle": "{}_FOOT"},
    ),
    "human_description/robots/human.urdf": (
        "left right",
        {
            "pelvis": "middle_pelvis",
            "chest": "middle_thorax",
            "head": "middle_head",
            "hip": "{}_upperleg",
            "knee": "{}_lowerleg",
            "ankle": "{}_foot",
            "shoulder": "{}_upperarm",
            "wrist": "{}_hand",
        },
    ),
    "go2_description/urdf/go2.urdf": (
        "L R",
        {"pelvis": "base", "hip": "R{}_thigh", "knee": "R{}_calf", "shoulder": "F{}_thigh", "elbow": "F{}_calf"},
    ),
    "anymal_c_simple_description/urdf/anymal.urdf": (
        "L R",
        {"pelvis": "base", "hip": "{}H_THIGH", "knee": "{}H_SHANK", "shoulder": "{}F_THIGH", "elbow": "{}F_SHANK"},
    ),
}
"""By file: the words for left and right, and the part of each role, with {} for the side."""


def with_sides(sides, parts):
    """Parts by role, for both sides."""
    out = {}
    for role, part in parts.items():
        if "{}" in part:
            for side, word in zip(("left", "right"), sides.split(), strict=True):
                out[f"{side}_{role}"] = part.format(word)
        else:
            out[role] = part
    return out


def parts_of(roles):
    return {role: found.part for role, found in roles.items()}


@pytest.mark.parametrize("file", EXPECTED)
def test_roles_of_robots(file):
    if not (ROBOTS / file).is_file():
        pytest.skip("example-robot-data is not installed")
    roles = poise.load(ROBOTS / file).roles
    expected = with_sides(*EXPECTED[file])
    assert {role: part for role, part in parts_of(roles).items() if role in expected} == expected
    assert all(0.3 <= roles[role].certainty <= 1.0 for role in expected)


@pytest.mark.parametrize(
    "file",
    [
        "panda_description/urdf/panda.urdf",
        "ur_description/urdf/ur5_robot.urdf",
        "allegro_hand_description/urdf/allegro_left_hand.urdf",
        "double_pendulum_description/urdf/double_pendulum.urdf",
    ],
)
def test_arms_and_hands_alone_have_no_roles(file):
    if not (ROBOTS / file).is_file():
        pytest.skip("example-robot-data is not installed")
    assert parts_of(poise.load(ROBOTS / file).roles) == {}


@pytest.mark.real_data
def test_a_forearm_without_a_wrist_has_a_hand_at_its_end():
    figure = poise.load(real_data.MENAGERIE / "unitree_h1" / "h1.xml")
    roles = figure.roles
    assert roles["left_elbow"].part == roles["left_wrist"].part == "left_elbow_link"
    frames = figure.frames(figure.neutral())
    reach = frames["left_elbow_link"].apply(roles["left_wrist"].point) - frames["left_elbow_link"].position
    assert 0.2 < np.linalg.norm(reach) < 0.4
    assert roles["left_wrist"].certainty < roles["left_elbow"].certainty
    assert parts_of(roles)["left_ankle"] == "left_ankle_link"
    assert "head" not in roles


def test_the_centre_of_a_hip_is_where_its_hinges_bend_above_the_knee():
    """The hips of the G1 are three hinges at different places; its thigh is about as long as its shank."""
    path = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    figure = poise.load(path)
    frames = figure.frames(figure.neutral())
    at = {r: frames[f.part].apply(f.point or (0, 0, 0)) for r, f in figure.roles.items()}
    assert at["left_hip"] == pytest.approx([0.0, 0.119, -0.103], abs=5e-3)
    assert at["left_shoulder"] == pytest.approx([0.0, 0.145, 0.29], abs=0.01)
    assert np.linalg.norm(at["left_knee"] - at["left_hip"]) == pytest.approx(0.336, abs=0.01)
    assert at["right_hip"] == pytest.approx(at["left_hip"] * [1, -1, 1], abs=1e-4)


DIALECTS = {
    "lafan1": {"Hips": "Hips", "ToeBase": "Toe"},
    "mixamo": {bone: f"mixamorig:{bone}" for bone in ("Hips", *BONES)},
    "soma": {"UpLeg": "Leg", "Leg": "Shin"},
    "smpl": {
        "Hips": "pelvis",
        "UpLeg": "_hip",
        "Leg": "_knee",
        "Foot": "_ankle",
        "ToeBase": "_foot",
        "Arm": "_shoulder",
        "ForeArm": "_elbow",
        "Hand": "_wrist",
    },
    "xsens": {"UpLeg": "UpperLeg", "Leg": "LowerLeg", "Arm": "UpperArm", "ToeBase": "Toe"},
    "rokoko": {"UpLeg": "Thigh", "Leg": "Shin", "ToeBase": "Toe"},
    "biped": {"Hips": "Bip01 Pelvis", "UpLeg": " Thigh", "Leg": " Calf", "ToeBase": " Toe0", "Arm": " UpperArm"},
    "no names at all": {bone: f"joint{k}" for k, bone in enumerate(("Hips", *BONES))},
}


def renamed(dialect):
    """New names of the stick man's bones: whole names, or what follows the side."""
    out = {}
    for bone in ("Hips", *BONES):
        side = next((s for s in ("Left", "Right") if bone.startswith(s)), "")
        rest = bone.removeprefix(side)
        new = DIALECTS[dialect].get(bone, DIALECTS[dialect].get(rest, rest))
        out[bone] = new if bone in DIALECTS[dialect] or not side else f"{side}{new}"
    return out


ROLES_OF_BONES = {
    "pelvis": "Hips",
    "head": "Head",
    "hip": "{}UpLeg",
    "knee": "{}Leg",
    "ankle": "{}Foot",
    "toe": "{}ToeBase",
    "shoulder": "{}Arm",
    "elbow": "{}ForeArm",
    "wrist": "{}Hand",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_roles_of_a_clip_do_not_depend_on_the_dialect_of_its_names(dialect):
    names = renamed(dialect)
    roles = clip_roles(stepping(rename=names))
    expected = {role: names[bone] for role, bone in with_sides("Left Right", ROLES_OF_BONES).items()}
    assert {role: part for role, part in parts_of(roles).items() if role in expected} == expected


def test_names_make_roles_more_certain():
    named, nameless = (clip_roles(stepping(rename=renamed(d))) for d in ("lafan1", "no names at all"))
    assert all(nameless[role].certainty < named[role].certainty for role in ("left_hip", "left_ankle", "head"))


def test_misleading_names_do_not_outweigh_the_body():
    """One shank is called wrist; all else is as it should be."""
    names = {"RightLeg": "RightWristThing"}
    roles = clip_roles(stepping(rename=names))
    assert roles["right_knee"].part == "RightWristThing"
    assert roles["right_wrist"].part == "RightHand"
    assert roles["right_knee"].certainty < roles["left_knee"].certainty


@pytest.mark.real_data
@pytest.mark.parametrize("clip", ["animated_drawings/dab.bvh", "cmu/05_06.bvh", "cmu30/05_04.bvh", "cmu30/111_01.bvh"])
def test_roles_of_recordings(clip):
    roles = parts_of(clip_roles(poise.load_clip(real_data.BVH / clip)))
    expected = with_sides("Left Right", ROLES_OF_BONES)
    assert {role: part for role, part in roles.items() if role in expected} == expected


def test_a_fox_has_hind_legs_and_front_legs():
    roles = parts_of(clip_roles(fox_on_the_spot()))
    expected = {"pelvis": "Hip", "head": "Head", "left_hip": "LeftHindLeg", "left_ankle": "LeftHindPaw"}
    expected |= {"right_shoulder": "RightFrontLeg", "right_wrist": "RightFrontPaw"}
    assert {role: roles.get(role) for role in expected} == expected


@pytest.mark.real_data
def test_the_fox_of_khronos_has_hind_legs_and_front_legs():
    roles = parts_of(clip_roles(poise.load_clip(real_data.FOLDER / "gltf" / "Fox.gltf")))
    assert roles["left_hip"] == "b_LeftLeg01_015"
    assert roles["left_ankle"] == "b_LeftFoot01_017"
    assert roles["left_toe"] == "b_LeftFoot02_018"
    assert roles["right_wrist"] == "b_RightHand_08"
    assert roles["pelvis"] == "b_Hip_01"
    assert roles["head"] == "b_Head_05"


def test_the_human_has_all_roles():
    roles = parts_of(poise.load("human").roles)
    assert roles["left_knee"] == "left_shank"
    assert roles["right_shoulder"] == "right_upper_arm"
    assert roles["pelvis"] == "pelvis"
    assert roles["left_toe"] == "left_toes"
    assert roles["right_fingers"] == "right_fingertips"
    assert roles["chest"] == "thorax"


def test_feet_without_legs_are_found_by_name_with_less_certainty():
    builder = Builder("blob")
    builder.body("pelvis", joint=free("base"))
    for name, x in (("left_foot", 0.1), ("right_foot", -0.1)):
        builder.body(name, parent="pelvis", joint=ball(f"{name}_joint"), at=(x, -0.9, 0.0))
    roles = figure_roles(builder.build())
    assert parts_of(roles) == {"pelvis": "pelvis", "left_ankle": "left_foot", "right_ankle": "right_foot"}
    assert roles["left_ankle"].reason == "name"
    assert roles["left_ankle"].certainty < 0.6


@pytest.mark.parametrize("shape", ["a chain", "a star"])
def test_no_limbs_are_sought_where_there_can_be_none(shape, monkeypatch):
    tried = []
    monkeypatch.setattr(limbs, "_scored", lambda *given: tried.append("a limb"))
    monkeypatch.setattr(limbs, "_best_after", lambda *given: tried.append("a pair"))
    made = Builder("many")
    made.body("b0")
    for i in range(1, 100):
        made.body(
            f"b{i}", parent=f"b{i - 1}" if shape == "a chain" else "b0", joint=revolute(f"j{i}", "x"), at=(0, 1, 0)
        )
    assert made.build().roles == {}
    assert tried == []
