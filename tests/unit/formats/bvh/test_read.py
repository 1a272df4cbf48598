"""Reading BVH: joints for every set of channels, and errors with file and line."""

import numpy as np
import pytest

from poise.errors import FormatError
from poise.formats.bvh.figure import bvh_figure, bvh_values
from poise.formats.bvh.read import parse_bvh, read_bvh_clip, read_bvh_figure
from poise.motion.clip.clip import Clip

SIX = "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
ARM = f"""HIERARCHY
ROOT Hips
{{
  OFFSET 0 1 0
  {SIX}
  JOINT Arm
  {{
    OFFSET 1 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {{
      OFFSET 1 0 0
    }}
  }}
}}
MOTION
Frames: 2
Frame Time: 0.04
0 1 0 0 0 0 90 0 0
0 2 0 90 0 0 0 0 0
"""


def clip_of(text):
    document = parse_bvh(text)
    return Clip(bvh_figure(document, "test"), bvh_values(document), 1.0 / document.frame_time)


def one_joint(channels, row, offset="0 2 0"):
    """A BVH text with a fixed root and one joint below it."""
    count = len(channels.split())
    return clip_of(
        f"HIERARCHY\nROOT Base {{ OFFSET 0 0 0 CHANNELS 0\nJOINT Tip {{ OFFSET {offset}\nCHANNELS {count} {channels}\n"
        f"End Site {{ OFFSET 0 0 1 }} }} }}\nMOTION\nFrames: 1\nFrame Time: 0.1\n{row}\n"
    )


def test_figure_and_clip_of_a_file(tmp_path):
    path = tmp_path / "wave.bvh"
    path.write_text(ARM)
    figure, clip = read_bvh_figure(path), read_bvh_clip(path)
    assert figure.name == clip.name == "wave"
    assert figure == clip.figure
    assert figure.up == "y"
    assert [joint.kind for joint in figure.joints] == ["free", "ball"]
    assert figure.sites.names == ("Arm_end",)
    assert clip.rate == pytest.approx(25.0)
    hand = clip.positions(["Arm", "Arm_end"])
    assert np.allclose(hand[0], [[1, 1, 0], [1, 2, 0]], atol=1e-12)
    assert np.allclose(hand[1], [[0, 3, 0], [0, 4, 0]], atol=1e-12)


def test_rest_posture_draws_the_offsets():
    figure = bvh_figure(parse_bvh(ARM), "test")
    frames = figure.frames(figure.neutral())
    assert np.allclose(frames["Hips"].position, [0, 1, 0])
    assert np.allclose(frames["Arm_end"].position, [2, 1, 0])


def test_lengths_keep_the_unit_of_the_file_unless_scaled(tmp_path):
    path = tmp_path / "arm.bvh"
    path.write_text(ARM)
    assert np.allclose(read_bvh_figure(path).joints["Arm"].parent_frame.position, [1, 0, 0])
    scaled = read_bvh_clip(path, scale=0.01)
    assert np.allclose(scaled.figure.joints["Arm"].parent_frame.position, [0.01, 0, 0])
    assert np.allclose(scaled.positions(["Arm_end"])[1], [[0, 0.04, 0]], atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_must_be_positive(tmp_path, scale):
    path = tmp_path / "arm.bvh"
    path.write_text(ARM)
    with pytest.raises(FormatError, match="metres per unit"):
        read_bvh_clip(path, scale=scale)


@pytest.mark.parametrize(
    ("channels", "kind"),
    [
        ("", "fixed"),
        ("Xrotation", "revolute"),
        ("Zrotation Xrotation", "universal"),
        ("Yrotation Xrotation Zrotation", "ball"),
        ("Xrotation Yrotation Xrotation", "ball"),
        ("Yposition", "prismatic"),
        ("Xposition Zposition", "cartesian"),
        ("Xposition Yposition Zposition", "cartesian"),
        ("Xposition Yposition Zposition Xrotation Yrotation Zrotation", "free"),
        ("Zrotation Yposition", "free"),
    ],
)
def test_channels_choose_the_kind_of_joint(channels, kind):
    count = len(channels.split())
    document = parse_bvh(
        f"HIERARCHY\nROOT Base\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nJOINT Tip\n{{\nOFFSET 0 1 0\n"
        f"CHANNELS {count} {channels}\n}}\n}}\nMOTION\nFrames: 1\nFrame Time: 1\n{' 0' * (1 + count)}\n"
    )
    assert bvh_figure(document, "test").joints["Tip"].kind == kind


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "XYX", "ZYZ"])
def test_a_ball_is_the_product_of_its_turns_in_the_order_of_the_file(order):
    angles = (30.0, -70.0, 110.0)
    clip = one_joint(" ".join(f"{axis}rotation" for axis in order), " ".join(map(str, angles)))
    x, y, z = np.eye(3)
    point = np.array([0.0, 0.0, 1.0])
    for axis, angle in reversed(list(zip(order, angles, strict=True))):
        point = rotated({"X": x, "Y": y, "Z": z}[axis], angle, point)
    assert np.allclose(clip.positions(["Tip_end"])[0, 0], np.add(point, [0, 2, 0]), atol=1e-12)


def rotated(axis, degrees, point):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return c * point + s * np.cross(axis, point) + (1 - c) * (axis @ point) * axis


def test_a_hinge_and_a_universal_joint_keep_their_angles():
    assert one_joint("Xrotation", "30")[0]["Tip"] == pytest.approx(np.radians(30))
    assert np.allclose(one_joint("Zrotation Yrotation", "30 -40")[0]["Tip"], np.radians([30, -40]))


def test_position_channels_replace_the_offset_component_by_component():
    clip = one_joint("Xposition Yposition Zposition Zrotation Yrotation Xrotation", "5 6 7 0 0 0")
    assert np.allclose(clip.positions(["Tip"])[0, 0], [5, 6, 7])
    assert np.allclose(one_joint("Xposition", "5").positions(["Tip"])[0, 0], [5, 2, 0])
    assert np.allclose(one_joint("Zposition Xposition", "7 5").positions(["Tip"])[0, 0], [5, 2, 7])


def test_positions_are_not_turned_by_rotations_before_them():
    clip = one_joint("Zrotation Yrotation Xrotation Xposition Yposition Zposition", "90 0 0 5 6 7")
    assert np.allclose(clip.positions(["Tip"])[0, 0], [5, 6, 7])


def test_braces_on_one_line_names_with_spaces_and_any_case():
    document = parse_bvh(
        "hierarchy\nroot Left Arm { offset 0 0 0 channels 1 XROTATION\nend site { offset 0 1 0 }\n}\n\n"
        "motion\nframes:1\nframe  time :  5e-1\n\n 45\n\n"
    )
    assert document.joints[0].name == "Left Arm"
    assert document.joints[0].channels == ("Xrotation",)
    assert document.frame_time == 0.5


def test_bytes_of_other_encodings_and_line_ends():
    assert parse_bvh("\ufeff" + ARM.replace("\n", "\r\n")).motion.shape == (2, 9)
    assert parse_bvh(b"\xef\xbb\xbf" + ARM.encode()).joints[1].name == "Arm"
    assert parse_bvh(ARM.replace("Arm", "Brazo_\xf1").encode("latin-1")).joints[1].name == "Brazo_\xf1"


def test_several_end_sites_and_names_that_collide():
    text = ARM.replace(
        "End Site\n    {\n      OFFSET 1 0 0\n    }", "End Site { OFFSET 1 0 0 }\nEnd Site { OFFSET 2 0 0 }"
    )
    assert bvh_figure(parse_bvh(text), "test").sites.names == ("Arm_end", "Arm_end_2")
    text = ARM.replace("ROOT Hips", "ROOT Arm_end")
    assert bvh_figure(parse_bvh(text), "test").sites.names == ("Arm_end_2",)


def test_two_roots():
    document = parse_bvh(
        f"HIERARCHY\nROOT A {{ OFFSET 0 0 0\n{SIX}\n}}\nROOT B {{ OFFSET 0 0 0\n{SIX}\n}}\n"
        "MOTION\nFrames: 1\nFrame Time: 1\n1 0 0 0 0 0 0 2 0 0 0 0\n"
    )
    clip = Clip(bvh_figure(document, "two"), bvh_values(document), 1.0)
    assert np.allclose(clip.positions(["A", "B"])[0], [[1, 0, 0], [0, 2, 0]])


def test_a_file_without_frames_is_a_figure_but_not_a_clip(tmp_path):
    path = tmp_path / "rest.bvh"
    path.write_text("\n".join(ARM.splitlines()[:-2]).replace("Frames: 2", "Frames: 0"))
    assert read_bvh_figure(path).nv == 9
    with pytest.raises(FormatError, match="has a skeleton but no frames"):
        read_bvh_clip(path)


def test_nesting_of_any_depth():
    depth = 5000
    joints = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 CHANNELS 0\n" for i in range(depth))
    skeleton = f"ROOT r {{ OFFSET 0 0 0\n{SIX}\n{joints}{'}' * depth}}}"
    document = parse_bvh(f"HIERARCHY\n{skeleton}\nMOTION\nFrames: 1\nFrame Time: 1\n0 0 0 0 0 0\n")
    assert len(document.joints) == depth + 1


def swap(old, new):
    assert old in ARM
    return ARM.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", 1, "no text"),
        ("MOTION", 1, "must start with the word HIERARCHY"),
        (swap("HIERARCHY", "<xml>"), 1, "must start with the word HIERARCHY"),
        (swap("ROOT Hips\n{", ""), 3, "OFFSET outside of any joint"),
        (swap("ROOT Hips", "ROOT"), 2, "ROOT without a name"),
        (swap("JOINT Arm", "ROOT Arm"), 6, "ROOT inside another joint"),
        (swap("ROOT", "JOINT"), 2, "must be inside the braces"),
        (swap("JOINT Arm", "JOINT Hips"), 6, "two joints are named 'Hips'"),
        (swap("JOINT", "JIONT"), 6, "'JIONT' is not a word of a BVH skeleton. Did you mean 'JOINT'"),
        (swap("OFFSET 0 1 0", "OFFSET 0 1"), 4, "three numbers"),
        (swap("OFFSET 0 1 0", "OFFSET 0 one 0"), 4, "three numbers"),
        (swap("OFFSET 0 1 0", "OFFSET 0 nan 0"), 4, "three finite numbers, and nan is not"),
        (swap("OFFSET 0 1 0", "OFFSET 0 1e99 0"), 4, "three finite numbers"),
        (swap("OFFSET 0 1 0", "OFFSET 0 1 0\nOFFSET 0 1 0"), 5, "two OFFSETs"),
        (swap("    OFFSET 1 0 0\n", ""), 13, "joint 'Arm' has no OFFSET"),
        (swap("      OFFSET 1 0 0\n", ""), 12, "End Site without an OFFSET"),
        (swap("CHANNELS 6", "CHANNELS 5"), 5, "announces '5' channels and names 6"),
        (swap("CHANNELS 6", "CHANNELS six"), 5, "announces 'six' channels"),
        (swap("Xrotation", "Wrotation"), 5, "no channel 'Wrotation'. Did you mean"),
        (swap("Yposition", "Xposition"), 5, "'Hips' has a channel twice"),
        (swap("Yrotation", "Zrotation"), 5, "'Hips' has a channel twice"),
        (swap(SIX, f"{SIX}\n{SIX}"), 6, "two lines of CHANNELS"),
        (swap("    }\n  }\n}", f"    }}\n  }}\n{SIX}\n}}"), 15, "before its children"),
        (swap("Site", "Sight"), 10, "End must be followed by the word Site"),
        (swap("OFFSET 1 0 0\n    }", "OFFSET 1 0 0\nEnd Site {"), 13, "must be inside the braces of a joint"),
        (swap("ROOT Hips\n{", "ROOT Hips\n"), 4, "followed by an opening brace"),
        (swap("OFFSET 0 1 0", "{ OFFSET 0 1 0"), 4, "opening brace without a joint"),
        (swap("}\nMOTION", "MOTION"), 15, "braces of joint 'Hips' are open"),
        (swap("}\nMOTION", "}\n}\nMOTION"), 16, "closing brace without an opening one"),
        (ARM.split("MOTION")[0], 16, "ends before its MOTION section"),
        ("HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n", 2, "no ROOT"),
        (swap("Frames: 2\n", ""), 17, "line must be 'Frames: …'"),
        (swap("Frame Time: 0.04\n", ""), 18, "line must be 'Frame Time: …'"),
        (ARM.split("Frames")[0], 17, "ends before its line 'Frames'"),
        (swap("Frames: 2", "Frames: 3"), 17, "announces 3 frames and the file has 2"),
        (swap("Frames: 2", "Frames: 1"), 20, "line 17 announces 1 frames and the file has 2"),
        (swap("Frames: 2", "Frames: 0"), 19, "line 17 announces 0 frames and the file has 2"),
        (swap("Frames: 2", "Frames: 999999999999999999"), 17, "frames and the file has 2"),
        (swap("Frames: 2", "Frames: -2"), 17, "whole number, not '-2'"),
        (swap("Frames: 2", "Frames: 2.5"), 17, "whole number, not '2.5'"),
        (swap("0.04", "0"), 18, "positive number of seconds, not '0'"),
        (swap("0.04", "-0.04"), 18, "positive number of seconds"),
        (swap("0.04", "nan"), 18, "positive number of seconds"),
        (swap("0.04", "1e-320"), 18, "positive number of seconds"),
        (swap("0.04", "soon"), 18, "positive number of seconds, not 'soon'"),
        (swap("0 2 0 90", "0 2 90"), 20, "frame 1 has 8 values for 9 channels"),
        (swap("0 2 0 90", "0 2 0 0 90"), 20, "frame 1 has 10 values for 9 channels"),
        (swap("0 2 0 90", "0 nan 0 90"), 20, "frame 1 has 'nan', which is not a finite number"),
        (swap("0 2 0 90", "0 2_0 0 90"), 20, "frame 1 has '2_0', which is not"),
        (swap("0 2 0 90", "0 1e99 0 90"), 20, "frame 1 has '1e99', which is not"),
        (swap("0 1 0 0", "0 x 0 0"), 19, "frame 0 has 'x', which is not"),
    ],
)
def test_mistakes_raise_errors_with_file_and_line(text, line, sentence):
    with pytest.raises(FormatError) as caught:
        parse_bvh(text, "some.bvh")
    assert sentence in caught.value.reason
    assert caught.value.line == line
    assert str(caught.value).startswith(f"some.bvh:{line}: ")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_bvh_clip(tmp_path / "none.bvh")
