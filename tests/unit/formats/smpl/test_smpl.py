"""AMASS archives and tables of joint positions, against forward kinematics written here."""

import numpy as np
import pytest

import poise
from poise.errors import FormatError
from poise.formats.smpl.skeleton import PARENTS, average_bones
from poise.motion.clip.clip import Source
from poise.motion.mapping.mapping import clip_roles
from poise.motion.report.report import measure

NAMES = list(PARENTS)
UPRIGHT = np.array([np.pi / 2.0, 0.0, 0.0])
"""The rotation of a body that is drawn with y up to stand with z up."""


def matrix(rotvec):
    """The rotation matrix of axis times angle, by the formula of Rodrigues."""
    angle = np.linalg.norm(rotvec)
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = rotvec / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def places(trans, pose, bones):
    """(22, 3) places of the joints of one frame, as a body model computes them."""
    turns, at = {}, {}
    for row, (name, parent) in enumerate(PARENTS.items()):
        turn = matrix(pose[3 * row : 3 * row + 3])
        turns[name] = turns[parent] @ turn if parent else turn
        at[name] = at[parent] + turns[parent] @ bones[name] if parent else trans + bones[name]
    return np.array([at[name] for name in NAMES])


def stepping(frames=40):
    """Poses (frames, 156) and places (frames, 3) of a body that steps on the spot with its arms down."""
    time = np.arange(frames) / 30.0
    pose = np.zeros((frames, 156))
    pose[:, :3] = UPRIGHT
    lift = {"left": np.clip(np.sin(4.0 * time), 0, 1), "right": np.clip(-np.sin(4.0 * time), 0, 1)}
    for side, amount in lift.items():
        pose[:, 3 * NAMES.index(f"{side}_hip")] = -0.7 * amount
        pose[:, 3 * NAMES.index(f"{side}_knee")] = 1.2 * amount
        pose[:, 3 * NAMES.index(f"{side}_shoulder") + 2] = -1.3 if side == "left" else 1.3
    trans = np.tile([0.3, 0.1, 0.914], (frames, 1))
    return pose, trans


def old_file(path):
    pose, trans = stepping()
    np.savez(path, poses=pose, trans=trans, betas=np.zeros(16), mocap_framerate=30.0, gender="neutral")
    return path


def new_file(path, **more):
    pose, trans = stepping()
    content = {"trans": trans, "root_orient": pose[:, :3], "pose_body": pose[:, 3:66], "betas": np.zeros(16)}
    np.savez(path, **(content | {"mocap_frame_rate": 30.0} | more))
    return path


@pytest.mark.parametrize("write", [old_file, new_file])
def test_the_joints_are_where_the_poses_put_them(tmp_path, write):
    clip = poise.load_clip(write(tmp_path / "step.npz"))
    pose, trans = stepping()
    assert clip.rate == 30.0
    source = Source(clip)
    for frame in (0, 7, 21):
        expected = places(trans[frame], pose[frame], average_bones())
        got = np.array([source.path_of(name)[frame] for name in NAMES])
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_roles_of_smpl(tmp_path):
    roles = clip_roles(poise.load_clip(new_file(tmp_path / "step.npz")))
    expected = {"pelvis": "pelvis", "head": "head", "left_ankle": "left_ankle", "left_toe": "left_foot"}
    expected |= {"right_hip": "right_hip", "right_shoulder": "right_shoulder", "left_wrist": "left_wrist"}
    assert {role: roles[role].part for role in expected} == expected


def test_a_body_model_of_the_user_gives_the_bones(tmp_path):
    """A model of 22 vertices that are the joints; the first coefficient of the shape makes it taller."""
    rng = np.random.default_rng(2)
    joints = places(np.zeros(3), np.zeros(66), average_bones()) + 0.01 * rng.standard_normal((22, 3))
    directions = np.zeros((22, 3, 10))
    directions[:, :, 0] = 0.05 * joints
    model = tmp_path / "model.npz"
    np.savez(model, v_template=joints, shapedirs=directions, J_regressor=np.eye(22))
    path = new_file(tmp_path / "step.npz", betas=np.array([2.0, 0.0, 0.0]))
    clip = poise.load_clip(path, body_model=model)
    pose, trans = stepping()
    tall = 1.1 * joints
    bones = {n: tall[NAMES.index(n)] - (tall[NAMES.index(p)] if p else 0.0) for n, p in PARENTS.items()}
    got = np.array([Source(clip).path_of(name)[9] for name in NAMES])
    np.testing.assert_allclose(got, places(trans[9], pose[9], bones), atol=1e-9)


def test_positions_alone_move_a_human_as_poses_do(tmp_path):
    pose, trans = stepping()
    table = np.array([places(t, p, average_bones()) for t, p in zip(trans, pose, strict=True)])
    np.savez(tmp_path / "table.npz", global_joint_positions=table, height=1.7)
    np.testing.assert_allclose(
        np.stack([Source(poise.load_clip(tmp_path / "table.npz")).path_of(n) for n in NAMES], axis=1), table, atol=1e-9
    )
    human = poise.load("human")
    motions = [
        poise.retarget(poise.load_clip(p), human) for p in (tmp_path / "table.npz", new_file(tmp_path / "p.npz"))
    ]
    for motion in motions:
        quality = measure(motion)
        assert quality.violations == 0
        assert quality.drift < 1e-3
        assert quality.tracking.mean() < 0.02
    hands = [m.figure.pose_of("left_hand", m[20]).position for m in motions]
    assert np.linalg.norm(hands[0] - hands[1]) < 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mocap_frame_rate": -1.0}, "rate"),
        ({"mocap_frame_rate": np.nan}, "rate"),
        ({"pose_body": np.zeros((40, 10))}, "pose_body"),
        ({"pose_body": np.zeros((3, 63))}, "frames"),
        ({"trans": np.full((40, 3), np.inf)}, "trans"),
        ({"trans": np.zeros(3)}, "trans"),
    ],
)
def test_a_wrong_archive_is_answered_in_a_sentence(tmp_path, change, message):
    with pytest.raises(FormatError, match=message):
        poise.load_clip(new_file(tmp_path / "x.npz", **change))


def test_a_wrong_body_model_is_answered_in_a_sentence(tmp_path):
    np.savez(tmp_path / "model.npz", v_template=np.zeros((5, 3)))
    with pytest.raises(FormatError, match="body model"):
        poise.load_clip(new_file(tmp_path / "x.npz"), body_model=tmp_path / "model.npz")
    poise.Motion(poise.load("arm"), poise.load("arm").neutral().q[None], 30.0).save(tmp_path / "arm.npz")
    with pytest.raises(FormatError, match="neither an AMASS"):
        poise.load_clip(tmp_path / "arm.npz", body_model=tmp_path / "model.npz")
