"""What names say: sides, ends of animals, and the words for parts in several dialects."""

import pytest

from poise.figure.anatomy.words import end_of, evidence_of, left_of_twins, side_of, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LeftUpLeg", ["left", "up", "leg"]),
        ("mixamorig:RightForeArm", ["right", "fore", "arm"]),
        ("thigh.R", ["thigh", "r"]),
        ("LThumb", ["l", "thumb"]),
        ("left_hip_yaw_link", ["left", "hip", "yaw", "link"]),
    ],
)
def test_a_name_is_split_into_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("LeftUpLeg", "left"),
        ("Shank_Right", "right"),
        ("l_gripper_r_finger", ""),
        ("arm_left_1_link", "left"),
        ("FL_thigh", "left"),
        ("RH_SHANK", "right"),
        ("Hips", ""),
        ("lThigh", "left"),
    ],
)
def test_a_name_states_its_side(name, side):
    assert side_of(name) == side


@pytest.mark.parametrize(("name", "end"), [("RL_calf", "rear"), ("LF_HAA", "front"), ("hind_paw", "rear"), ("leg", "")])
def test_a_name_states_the_end_of_an_animal(name, end):
    assert end_of(name) == end


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Hips", "pelvis"),
        ("hip", "pelvis"),
        ("LeftHip", "hip"),
        ("l_thigh", "hip"),
        ("Bip01 L Calf", "knee"),
        ("LeftShin", "knee"),
        ("calf_l", "knee"),
        ("LeftAnkle", "ankle"),
        ("ball_l", "toe"),
        ("LeftToeBase", "toe"),
        ("lCollar", "clavicle"),
        ("lShldr", "shoulder"),
        ("upperarm_l", "shoulder"),
        ("LeftForeArm", "elbow"),
        ("left_wrist", "wrist"),
        ("LeftHandMiddle1", "finger"),
        ("left_ring2", "finger"),
        ("head_link", "head"),
        ("middle_pelvis", "pelvis"),
        ("middle_thorax", "chest"),
    ],
)
def test_the_strongest_evidence_of_a_name(name, part):
    says = evidence_of(name)
    assert max(says, key=says.get) == part


@pytest.mark.parametrize("name", ["left_hand_camera_link", "l_foot_dh_frame", "imu_in_torso", "link_3", "string"])
def test_accessories_and_unknown_names_say_nothing(name):
    assert evidence_of(name) == {}


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        ("ll_kfe", "lr_kfe", 1),
        ("RHipYaw", "LHipYaw", -1),
        ("Hip_Pitch_Left", "Hip_Pitch_Right", 1),
        ("RL_calf", "RR_calf", 1),
        ("FL_calf", "RL_calf", 0),
        ("leg_1", "leg_2", 0),
        ("knee", "knee", 0),
    ],
)
def test_twins_are_told_apart_by_what_differs_in_their_names(one, other, left):
    assert left_of_twins(one, other) == left
