"""`poise robots`, `poise retarget --for` and `poise convert-motion`."""

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.figure.model.builder import Builder, free, revolute
from poise.motion.clip.motion import Motion
from tests.unit.formats.smpl.test_smpl import new_file as amass_archive
from tests.unit.motion.retarget.stick_man import stepping


def tin_robot(path):
    """A robot of hinges with two legs and two arms, written to a file."""
    builder = Builder("tin", up="z")
    builder.body("pelvis", joint=free("base"), at=(0, 0, 0.9))
    for side, y in (("left", 1.0), ("right", -1.0)):
        for names, start in (
            (("hip", "knee", "ankle"), (0, 0.1 * y, -0.1)),
            (("shoulder", "elbow", "wrist"), (0, 0.2 * y, 0.4)),
        ):
            above, at = "pelvis", start
            for k, name in enumerate(names):
                for axis in ("x", "y") if k == 0 else ("y",):
                    joint = revolute(f"{side}_{name}_{axis}_joint", axis, limits=(-2.0, 2.0))
                    above = builder.body(f"{side}_{name}_{axis}", parent=above, joint=joint, at=at)
                    at = (0, 0, 0)
                at = (0, 0, -0.4 if names[0] == "hip" else -0.28)
    builder.build().save(path)
    return str(path)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clip = stepping(frames=20)
    Motion(clip.figure, clip.q, clip.rate, "step").save(tmp_path / "step.bvh")
    return str(tmp_path / "step.bvh"), tin_robot(tmp_path / "tin.figure.toml")


def test_a_motion_for_a_trainer_and_back(files, tmp_path, capsys):
    clip, robot = files
    assert run(["retarget", clip, robot, "-o", "step", "--for", "mjlab"]) == 0
    assert "step.npz" in capsys.readouterr().out
    with np.load(tmp_path / "step.npz") as content:
        assert content["fps"].tolist() == [50]
        assert content["joint_names"][0] == "left_hip_x_joint"
        joints = content["joint_pos"]
    assert run(["convert-motion", "step.npz", "step", "--robot", robot, "--to", "unitree", "--rate", "50"]) == 0
    rows = np.loadtxt(tmp_path / "step.csv", delimiter=",")
    np.testing.assert_allclose(rows[:, 7:], joints, atol=1e-6)


def test_bones_of_average_length_are_mentioned(files, tmp_path, capsys):
    clip, robot = files
    amass_archive(tmp_path / "walk.npz")
    assert run(["retarget", "walk.npz", robot, "-o", "walk.csv"]) == 0
    assert "walk.npz states no lengths of bones" in capsys.readouterr().err
    assert run(["retarget", clip, robot, "-o", "step.csv"]) == 0
    assert "lengths of bones" not in capsys.readouterr().err


def test_a_folder_of_clips_for_a_trainer(files, tmp_path):
    _, robot = files
    (tmp_path / "clips").mkdir()
    for name in "ab":
        (tmp_path / "clips" / f"{name}.bvh").write_bytes((tmp_path / "step.bvh").read_bytes())
    assert run(["retarget", "clips", robot, "-o", "out", "--for", "gmr", "--cores", "1"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.pkl")) == ["a.pkl", "b.pkl"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["retarget", "step.bvh", "tin.figure.toml", "--for", "gmr"], "--for gmr needs a file to write"),
        (["retarget", "step.bvh", "tin.figure.toml", "-o", "x", "--for", "gmrr"], "there is no format for 'gmrr'"),
        (["retarget", "step.bvh", "tin.figure.toml", "-o", "x.npz", "--for", "gmr"], "ends in .pkl or .pickle"),
        (["retarget", "step.bvh", "tin.figure.toml", "-o", "no/x", "--for", "gmr"], "there is no folder 'no'"),
        (["convert-motion", "x.csv", "y", "--robot", "tin.figure.toml", "--to", "gmr"], "name it with --from"),
    ],
)
def test_a_wrong_question_gets_one_sentence(files, capsys, arguments, sentence):
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_what_is_not_mapped_is_printed(files, tmp_path, capsys):
    clip, robot = files
    (tmp_path / "links.toml").write_text(
        '[[link]]\njoint = "Hips"\nsite = "pelvis"\n[[link]]\njoint = "LeftHand"\nsite = "left_wrist_y"\n'
    )
    assert run(["retarget", clip, robot, "--mapping", "links.toml", "-o", "x.npz"]) in {0, 3}
    assert "The legs of figure 'tin' will not follow the clip: they are not mapped." in capsys.readouterr().err


def test_robots_are_listed(capsys):
    assert run(["robots", "--all"]) == 0
    out = capsys.readouterr().out
    assert "g1" in out
    assert "talos" in out


def test_a_robot_of_this_machine_is_drawn_with_its_meshes(tmp_path):
    try:
        figure = poise.load("ur5")
    except poise.FigureError:
        pytest.skip("example-robot-data is not installed")
    assert figure.folder is not None
    assert run(["show", "ur5", "-o", str(tmp_path / "arm.png"), "--size", "80x80"]) == 0
