"""Clips and figures with mistakes or missing parts: each raises one sentence, or the rest is retargeted."""

from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import FigureError, FormatError, TaskError
from poise.figure.model.mass import Mass
from poise.formats.bvh.writer import write_bvh
from poise.motion.report.report import measure
from tests.unit.motion.retarget.stick_man import BONES, stepping

HUMAN = poise.load("human")


def massless():
    return HUMAN.replaced(bodies=[replace(body, mass=Mass()) for body in HUMAN.bodies])


def one_sentence(problem):
    text = str(problem.value)
    return text.endswith(".") and "\n" not in text


def spoilt_bvh(tmp_path, word):
    """A BVH file of eight frames, the third of which has a word instead of a number."""
    path = tmp_path / "spoilt.bvh"
    write_bvh(stepping(frames=8), path)
    lines = path.read_text().splitlines()
    third = next(i for i, line in enumerate(lines) if line.startswith("Frame Time")) + 3
    lines[third] = " ".join([word, *lines[third].split()[1:]])
    path.write_text("\n".join(lines) + "\n")
    return path, third + 1


# Numbers that are none


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "NaN", "abc"])
def test_a_frame_that_is_not_a_number_is_named_with_its_line(word, tmp_path, capsys):
    path, line = spoilt_bvh(tmp_path, word)
    output = tmp_path / "out.csv"
    output.write_text("kept")
    assert run(["retarget", str(path), "human", "-o", str(output)]) == 2
    said = capsys.readouterr().err
    assert f"spoilt.bvh:{line}: frame 2 has '{word}', which is not a finite number." in said
    assert "Traceback" not in said
    assert output.read_text() == "kept"


def test_a_clip_of_nans_cannot_even_be_made():
    q = stepping().q.copy()
    q[5, 0] = np.nan
    with pytest.raises(FigureError, match="frame 5 of the clip has the value nan in joint 'base'") as problem:
        poise.Clip(stepping().figure, q, 30.0)
    assert one_sentence(problem)


# Few frames


@pytest.mark.parametrize("frames", [2, 3])
def test_a_few_frames_are_enough(frames):
    motion = poise.retarget(stepping(frames=frames), HUMAN)
    assert len(motion) == frames
    assert np.isfinite(motion.q).all()
    assert measure(motion).violations == 0


# Skeletons that lack something


def test_joints_at_one_point_give_no_scale():
    with pytest.raises(TaskError, match="are all at one point, so its scale is unknown") as problem:
        poise.retarget(stepping(scale=0.0), HUMAN)
    assert one_sentence(problem)


def test_a_bone_of_length_zero_gets_the_figures_length():
    clip = stepping()
    forearm = clip.figure.joints["LeftHand_joint"]
    shortened = clip.figure.replaced(
        joints=[
            replace(joint, parent_frame=poise.Pose()) if joint is forearm else joint for joint in clip.figure.joints
        ]
    )
    motion = poise.retarget(poise.Clip(shortened, clip.q, clip.rate, clip.name), HUMAN)
    assert np.isfinite(motion.q).all()
    assert measure(motion).violations == 0


@pytest.mark.parametrize(
    "gone", [("LeftFoot", "RightFoot"), ("LeftUpLeg", "RightUpLeg"), ("LeftFoot",), ("LeftToeBase", "RightToeBase")]
)
@pytest.mark.filterwarnings("ignore::poise.errors.UnmappedWarning")
def test_without_feet_the_rest_moves(gone):
    motion = poise.retarget(stepping(leave_out=gone), HUMAN)
    assert np.isfinite(motion.q).all()
    assert measure(motion).violations == 0


def test_balance_needs_feet():
    with pytest.raises(TaskError, match="balance needs a mapping with a left and a right ankle") as problem:
        poise.retarget(stepping(leave_out=("LeftFoot", "RightFoot")), HUMAN, balance=True)
    assert one_sentence(problem)


# Names


def test_unknown_names_are_mapped_by_the_shape_of_the_skeleton():
    strange = {bone: f"bone{i}" for i, bone in enumerate(["Hips", *BONES])}
    motion = poise.retarget(stepping(rename=strange), HUMAN)
    by_role = {role: link.joint for role, link in motion.track.mapping.by_role().items()}
    for role, bone in (("left_ankle", "LeftFoot"), ("right_knee", "RightLeg"), ("left_wrist", "LeftHand")):
        assert by_role[role] == strange[bone]
    assert "by structure" in motion.track.mapping.explain()


def test_where_nothing_matches_a_mapping_is_proposed_in_words():
    with pytest.raises(TaskError, match=r'give a mapping such as \{"RightToeBase": "tip"\}') as problem:
        poise.retarget(stepping(), poise.load("arm"))
    assert "\n" not in str(problem.value)


def test_the_proposed_mapping_can_be_edited_and_given_back(tmp_path, capsys):
    write_bvh(stepping(frames=8), tmp_path / "step.bvh")
    files = [str(tmp_path / name) for name in ("step.bvh", "links.toml", "out.npz")]
    assert run(["retarget", files[0], "human", "--propose", files[1]]) == 0
    links = (tmp_path / "links.toml").read_text()
    (tmp_path / "links.toml").write_text(links.replace("weight = 1.0", "weight = 0.5"))
    assert run(["retarget", files[0], "human", "--mapping", files[1], "-o", files[2]]) == 0
    assert len(poise.load_clip(files[2])) == 8


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"LeftHnad": "left_hand"}, "has no joint 'LeftHnad'. Did you mean 'LeftHand'?"),
        ({"LeftHand": "left_hnad"}, "has no site or body 'left_hnad'. Did you mean 'left_hand'?"),
        ({}, "the mapping has no links; give at least one, or no mapping to have one proposed."),
    ],
)
def test_a_wrong_mapping_raises_an_error_that_lists_known_names(mapping, sentence):
    with pytest.raises(poise.PoiseError) as problem:
        poise.retarget(stepping(), HUMAN, mapping)
    assert sentence in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_mapping_file_without_site_is_refused(tmp_path):
    (tmp_path / "links.toml").write_text('[[link]]\njoint = "LeftHand"\n')
    with pytest.raises(FormatError, match="link 1 needs a joint and a site"):
        poise.retarget(stepping(), HUMAN, tmp_path / "links.toml")


# Mass


def test_a_figure_without_mass_moves_but_does_not_balance():
    motion = poise.retarget(stepping(), massless())
    assert np.isfinite(motion.q).all()
    assert measure(motion).margin is None
    with pytest.raises(TaskError, match="balance needs masses, and figure 'human' has none") as problem:
        poise.retarget(stepping(), massless(), balance=True)
    assert one_sentence(problem)


# What took long is kept


def test_a_report_that_fails_does_not_lose_the_motion(tmp_path, monkeypatch):
    write_bvh(stepping(frames=8), tmp_path / "step.bvh")

    def fails(*_):
        raise poise.PoiseError("the report cannot be drawn.")

    monkeypatch.setattr("poise.evaluation.retarget.report.write_report", fails)
    files = [str(tmp_path / name) for name in ("step.bvh", "out.npz", "out.html")]
    assert run(["retarget", files[0], "human", "-o", files[1], "--report", files[2]]) == 2
    assert len(poise.load_clip(files[1])) == 8
