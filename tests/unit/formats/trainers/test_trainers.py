"""Files for trainers, read by code that shares nothing with poise, against forward kinematics of MuJoCo."""

import io
import pickle
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import FormatError
from poise.formats.trainers.containers import read_pickle
from poise.formats.trainers.kinds import KINDS, read_from, write_for
from poise.motion.clip.motion import Motion
from tests.unit.formats.trainers.biped import ROBOT
from tests.unit.motion.retarget.performances import walking

mujoco = pytest.importorskip("mujoco")
ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
DEPTH = ["left_hip", "left_knee", "left_ankle", "right_hip", "right_knee", "right_ankle", "waist", "left_arm"]
BREADTH = ["left_hip", "right_hip", "waist", "left_knee", "right_knee", "left_arm", "right_arm", "left_ankle"]


class Plain(pickle.Unpickler):
    """Unpickles plain data only, as a careful reader would."""

    def find_class(self, module, name):
        assert (module, name) in {("numpy", "ndarray"), ("builtins", "bytearray")}
        return super().find_class(module, name)


def plain_pickle(path):
    return Plain(io.BytesIO(path.read_bytes())).load()


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(ROBOT)


@pytest.fixture(scope="module")
def motion(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "biped.xml"
    path.write_text(ROBOT)
    figure = poise.load(path)
    rng = np.random.default_rng(5)
    time = np.arange(40)[:, None] / 50.0
    q = np.tile(figure.neutral().q, (40, 1))
    q[:, 7:] = 0.1 + 0.09 * np.sin(rng.uniform(1, 4, q.shape[1] - 7) * time + rng.uniform(0, 6, q.shape[1] - 7))
    q[:, :3] += 0.2 * np.sin(time * [1.0, 2.0, 1.5])
    turned = np.hstack([np.ones((40, 1)), 0.3 * np.sin(time * [1.0, 2.0, 3.0])])
    q[:, 3:7] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return Motion(figure, q, 50.0, "sway")


def in_mujoco(model, place, turn, joints, velocity=None, spin=None, speeds=None):
    """MuJoCo's data of one frame; the spin is in world axes."""
    data = mujoco.MjData(model)
    data.qpos[:] = np.concatenate([place, turn, joints])
    if velocity is not None:
        local = np.zeros(3)
        inverse = np.zeros(4)
        mujoco.mju_negQuat(inverse, np.asarray(turn, dtype=np.float64))
        mujoco.mju_rotVecQuat(local, np.asarray(spin, dtype=np.float64), inverse)
        data.qvel[:] = np.concatenate([velocity, local, speeds])
    mujoco.mj_forward(model, data)
    return data


def name_of(model, body):
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body)


def body_velocity(model, data, body, kind):
    out = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, kind, body, out, 0)
    return out[3:], out[:3]


def same_turn(a, b, tolerance=1e-6):
    return abs(abs(float(np.dot(a, b))) - 1.0) < tolerance


def middle_differences(values, rate):
    return (values[2:] - values[:-2]) * rate / 2.0


def test_gmr(motion, model, tmp_path):
    content = plain_pickle(write_for(motion, tmp_path / "x", "gmr"))
    assert set(content) == {"fps", "root_pos", "root_rot", "dof_pos", "local_body_pos", "link_body_list"}
    assert content["fps"] == 50
    assert content["root_rot"].shape == (40, 4)
    wxyz = content["root_rot"][:, [3, 0, 1, 2]]
    for k in (0, 17, 39):
        data = in_mujoco(model, content["root_pos"][k], wxyz[k], content["dof_pos"][k])
        local = in_mujoco(model, np.zeros(3), [1, 0, 0, 0], content["dof_pos"][k])
        assert name_of(model, 1) == content["link_body_list"][0] == "pelvis"
        for i, body in enumerate(content["link_body_list"]):
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
            np.testing.assert_allclose(content["local_body_pos"][k, i], local.xpos[number], atol=1e-6)
            np.testing.assert_allclose(motion.figure.pose_of(body, motion[k]).position, data.xpos[number], atol=1e-6)


def test_unitree(motion, model, tmp_path):
    rows = np.loadtxt(write_for(motion, tmp_path / "x.csv", "unitree"), delimiter=",")
    assert rows.shape == (40, 7 + 9)
    data = in_mujoco(model, rows[9, :3], rows[9, [6, 3, 4, 5]], rows[9, 7:])
    np.testing.assert_allclose(
        data.body("left_foot_link").xpos, motion.figure.pose_of("left_foot_link", motion[9]).position, atol=1e-6
    )


@pytest.mark.parametrize(("kind", "offset"), [("mjlab", 0), ("beyondmimic", 0), ("holosoma", 1)])
def test_tracking_files(motion, model, tmp_path, kind, offset):
    with np.load(write_for(motion, tmp_path / "x.npz", kind), allow_pickle=False) as file:
        content = {key: file[key] for key in file.files}
    assert content["fps"].shape == (1,)
    joints = [str(name).rsplit("_", 1)[0] for name in content["joint_names"]]
    assert joints == [*(BREADTH if kind == "beyondmimic" else DEPTH)[:6], *joints[6:]]
    bodies = [str(name) for name in content["body_names"]]
    expected = [name_of(model, i) for i in range(model.nbody)]
    if kind == "holosoma":
        assert bodies == expected
        assert content["joint_pos"].shape == (40, 16)
        assert content["joint_vel"].shape == (40, 15)
        content["joint_pos"], content["joint_vel"] = content["joint_pos"][:, 7:], content["joint_vel"][:, 6:]
    elif kind == "mjlab":
        assert bodies == expected[1:]
    else:
        assert bodies[:4] == ["pelvis", "left_hip_link", "right_hip_link", "chest_link"]
        assert "camera_link" not in bodies
    order = [list(content["joint_names"]).index(model.joint(i).name) for i in range(1, model.njnt)]
    place, turn = content["body_pos_w"][:, offset], content["body_quat_w"][:, offset]
    speeds = middle_differences(content["joint_pos"].astype(np.float64), 50.0)
    np.testing.assert_allclose(content["joint_vel"][1:-1], speeds, atol=2e-4)
    object_kind = mujoco.mjtObj.mjOBJ_XBODY if kind == "mjlab" else mujoco.mjtObj.mjOBJ_BODY
    for k in (1, 20, 38):
        spin, velocity = content["body_ang_vel_w"][k, offset], middle_differences(place.astype(np.float64), 50.0)[k - 1]
        data = in_mujoco(
            model, place[k], turn[k], content["joint_pos"][k][order], velocity, spin, content["joint_vel"][k][order]
        )
        for i, body in enumerate(bodies):
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
            np.testing.assert_allclose(content["body_pos_w"][k, i], data.xpos[number], atol=1e-6)
            assert same_turn(content["body_quat_w"][k, i], data.xquat[number])
            linear, angular = body_velocity(model, data, number, object_kind)
            np.testing.assert_allclose(content["body_ang_vel_w"][k, i], angular, atol=1e-5)
            if kind != "beyondmimic" or body != "chest_link":  # the camera is part of the chest there
                np.testing.assert_allclose(content["body_lin_vel_w"][k, i], linear, atol=1e-4)


def test_the_spin_of_the_root_is_a_central_difference_in_world_axes(motion, tmp_path):
    with np.load(write_for(motion, tmp_path / "x.npz", "mjlab")) as file:
        turn, spin = file["body_quat_w"][:, 0].astype(np.float64), file["body_ang_vel_w"][:, 0]
    for k in (1, 20, 38):
        inverse, between, wanted = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, turn[k - 1])
        mujoco.mju_mulQuat(between, turn[k + 1], inverse)
        mujoco.mju_quat2Vel(wanted, between, 2.0 / 50.0)
        np.testing.assert_allclose(spin[k], wanted, atol=1e-4)
    np.testing.assert_array_equal(spin[0], spin[1])
    np.testing.assert_array_equal(spin[-1], spin[-2])


def test_isaaclab(motion, model, tmp_path):
    with np.load(write_for(motion, tmp_path / "x.npz", "isaaclab"), allow_pickle=False) as file:
        content = {key: file[key] for key in file.files}
    assert set(content) == {
        "fps", "dof_names", "body_names", "dof_positions", "dof_velocities", "body_positions", "body_rotations",
        "body_linear_velocities", "body_angular_velocities",
    }  # fmt: skip
    assert all(content[key].dtype == np.float32 for key in content if key.startswith(("body_p", "body_r", "dof_p")))
    assert 1.0 / content["fps"] == pytest.approx(0.02)
    order = [list(content["dof_names"]).index(model.joint(i).name) for i in range(1, model.njnt)]
    data = in_mujoco(
        model, content["body_positions"][7, 0], content["body_rotations"][7, 0], content["dof_positions"][7][order]
    )
    for i, body in enumerate(content["body_names"]):
        np.testing.assert_allclose(content["body_positions"][7, i], data.body(str(body)).xpos, atol=1e-6)


def test_protomotions(motion, model, tmp_path):
    with np.load(write_for(motion, tmp_path / "x", "protomotions"), allow_pickle=False) as file:
        assert sorted(file.files) == ["base_frame_pos", "base_frame_wxyz", "joint_angles"]
        data = in_mujoco(model, file["base_frame_pos"][3], file["base_frame_wxyz"][3], file["joint_angles"][3])
    np.testing.assert_allclose(
        data.body("right_foot_link").xpos, motion.figure.pose_of("right_foot_link", motion[3]).position, atol=1e-6
    )
    rows = np.loadtxt(write_for(motion, tmp_path / "x.csv", "protomotions"), delimiter=",")
    data = in_mujoco(model, rows[3, :3], rows[3, 3:7], rows[3, 7:])
    np.testing.assert_allclose(
        data.body("left_foot_link").xpos, motion.figure.pose_of("left_foot_link", motion[3]).position, atol=1e-6
    )


def test_mimickit(motion, model, tmp_path):
    content = plain_pickle(write_for(motion, tmp_path / "x", "mimickit"))
    assert set(content) == {"loop_mode", "fps", "frames"}
    assert content["loop_mode"] == 0
    frame = content["frames"][11]
    angle = np.linalg.norm(frame[3:6])
    turn = np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, frame[3:6] / angle, angle)
    data = in_mujoco(model, frame[:3], turn, frame[6:])
    np.testing.assert_allclose(
        data.body("left_foot_link").xpos, motion.figure.pose_of("left_foot_link", motion[11]).position, atol=1e-6
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_reads_back(motion, tmp_path, kind):
    path = write_for(motion, tmp_path / "x", kind)
    back = read_from(path, motion.figure, kind, rate=50.0)
    assert back.rate == 50.0
    np.testing.assert_allclose(back.q[:, 7:], motion.q[:, 7:], atol=1e-6)
    for k in (0, 39):
        there = motion.figure.pose_of("left_foot_link", motion[k]).position
        np.testing.assert_allclose(back.figure.pose_of("left_foot_link", back[k]).position, there, atol=2e-6)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"unitree", "beyondmimic"}])
def test_a_kind_is_found_from_the_keys_of_its_file(motion, tmp_path, kind):
    path = write_for(motion, tmp_path / "x", kind)
    np.testing.assert_allclose(read_from(path, motion.figure).q[:, 7:], motion.q[:, 7:], atol=1e-6)


def test_the_rate_of_a_file_can_be_chosen(motion, tmp_path):
    content = plain_pickle(write_for(motion, tmp_path / "x", "gmr", 25.0))
    assert content["fps"] == 25
    assert abs(len(content["dof_pos"]) - 20) <= 1


def test_a_pickle_that_would_run_a_program_is_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return print, ("trapped",)

    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"fps": Trap()}))
    with pytest.raises(FormatError, match=r"asks for builtins\.print"):
        read_pickle(tmp_path / "x.pkl")


def test_a_pickle_of_numpy_itself_is_read(motion, tmp_path):
    path = write_for(motion, tmp_path / "x", "gmr")
    (tmp_path / "y.pkl").write_bytes(pickle.dumps(plain_pickle(path)))
    np.testing.assert_array_equal(read_from(tmp_path / "y.pkl", motion.figure).q, read_from(path, motion.figure).q)


def test_wrong_questions_are_answered_in_a_sentence(motion, tmp_path):
    with pytest.raises(FormatError, match="Formats: gmr, unitree"):
        write_for(motion, tmp_path / "x", "gmrr")
    with pytest.raises(FormatError, match=r"ends in \.csv, not in \.npz"):
        write_for(motion, tmp_path / "x.npz", "unitree")
    human = poise.load("human")
    with pytest.raises(FormatError, match="y axis up"):
        write_for(Motion(human, human.neutral().q[None], 30.0), tmp_path / "x", "gmr")
    (tmp_path / "x.csv").write_text("1,2,3\n")
    with pytest.raises(FormatError, match="joints"):
        read_from(tmp_path / "x.csv", motion.figure, "unitree")


def test_a_retargeted_robot_stands_at_height_zero(tmp_path):
    """The URDF of the G1 has its origin in the pelvis; files for trainers have the ground at 0."""
    path = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    motion = poise.retarget(walking(frames=60), poise.load(path))
    rows = np.loadtxt(write_for(motion, tmp_path / "x", "unitree"), delimiter=",")
    assert rows.shape[1] == 7 + 29
    assert 0.65 < rows[:, 2].mean() < 0.85
    with np.load(write_for(motion, tmp_path / "y", "mjlab")) as file:
        names, place = list(file["body_names"]), file["body_pos_w"]
        assert list(file["joint_names"])[:3] == ["left_hip_pitch_joint", "left_hip_roll_joint", "left_hip_yaw_joint"]
        assert list(file["joint_names"])[12:15] == ["waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"]
    assert names[:7] == [
        "pelvis", "left_hip_pitch_link", "left_hip_roll_link", "left_hip_yaw_link", "left_knee_link",
        "left_ankle_pitch_link", "left_ankle_roll_link",
    ]  # fmt: skip
    assert len(names) == 30
    lowest = place[:, [names.index("left_ankle_roll_link"), names.index("right_ankle_roll_link")], 2].min()
    assert lowest == pytest.approx(0.035, abs=0.003)  # the ankle's height above the sole
    with np.load(write_for(motion, tmp_path / "z", "beyondmimic")) as file:
        assert list(file["joint_names"])[:6] == [
            "left_hip_pitch_joint", "right_hip_pitch_joint", "waist_yaw_joint", "left_hip_roll_joint",
            "right_hip_roll_joint", "waist_roll_joint",
        ]  # fmt: skip
    with np.load(write_for(motion, tmp_path / "p", "protomotions").with_name("p_contacts.npz")) as file:
        assert file["foot_contacts"].shape == (len(motion), 2)
