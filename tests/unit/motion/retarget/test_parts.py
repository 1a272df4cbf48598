import numpy as np
import pytest

import poise
from poise.errors import FormatError, TaskError
from poise.figure.model.builder import Builder, ball, free
from poise.formats.mapping_toml import read_mapping
from poise.motion.clip.clip import Clip, Source
from poise.motion.clip.contacts import Contacts, find_contacts, segments
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report.curves import _margin
from poise.motion.retarget.smoothing import Style


@pytest.mark.parametrize(("head", "up"), [((0.0, 0.5, 0.7), "y"), ((0.0, 0.1, 1.6), "z")])
def test_the_declared_up_axis_is_used_unless_the_head_contradicts_it(head, up):
    builder = Builder("beast")
    builder.body("pelvis", joint=free("base"))
    for name, at in {"head": head, "left_foot": (0.1, -0.3, -0.1), "right_foot": (-0.1, -0.3, -0.1)}.items():
        builder.body(name, parent="pelvis", joint=ball(f"{name}_joint"), at=at)
    figure = builder.build()
    source = Source(Clip(figure, figure.neutral().q[None], 30.0))
    roles = {"pelvis": "pelvis", "head": "head", "left_ankle": "left_foot", "right_ankle": "right_foot"}
    assert "xyz"[int(np.argmax(source.up(roles)))] == up


def test_twin_corners_of_a_thin_sole_support_as_one_does():
    corners = np.array([[x, 0.0, z] for x in (-0.1, 0.1) for z in (-0.2, 0.2)])
    twins = np.concatenate([corners, corners + 1e-13, corners[::-1] - 1e-13])
    figure = poise.load("human")
    for points in (corners, twins):
        assert _margin(figure, points, np.array([0.03, 1.0, 0.0])) == pytest.approx(0.07)


def path(heights, speeds, rate):
    out = np.zeros((len(heights), 3))
    out[:, 1] = heights
    out[:, 0] = np.cumsum(speeds) / rate
    return out


def test_noise_between_the_thresholds_does_not_switch_contacts():
    rate, count = 100.0, 200
    heights = 0.03 + 0.03 * np.sin(0.1 * np.arange(count))
    heights[120:] = 0.3
    found = find_contacts({"left": path(heights, np.zeros(count), rate)}, {}, 1.0, rate)
    assert len(segments(found.heel["left"])) == 1


def test_a_low_but_fast_point_is_not_in_contact():
    found = find_contacts({"left": path(np.zeros(100), np.full(100, 2.0), 100.0)}, {}, 1.0, 100.0)
    assert not found.heel["left"].any()


def test_contacts_of_a_foot_that_is_not_there():
    contacts = Contacts({"left": np.ones(3, dtype=bool)}, {"left": np.ones(3, dtype=bool)})
    with pytest.raises(TaskError, match="no 'right' foot"):
        contacts.changed("right", 0, 1, heel=False, ball=False)


def test_contacts_grow_into_the_air_and_leave_half_of_it():
    stands = np.array([True] * 4 + [False] * 20 + [True] * 4)
    contacts = Contacts({"left": stands}, {"left": stands})
    assert segments(~contacts.longer(3).standing("left")) == [(7, 21)]
    assert segments(~contacts.longer(50).standing("left")) == [(9, 19)]


def test_removing_frames_also_removes_contacts_that_become_too_short():
    stands, lost = np.ones(20, dtype=bool), np.zeros(20, dtype=bool)
    stands[0] = stands[-1] = False
    lost[3] = True
    left = Contacts({"left": stands}, {"left": stands}).without({"left": lost}, 4.0)
    assert segments(left.standing("left")) == [(4, 19)]


def test_a_style_with_wrong_numbers_is_refused():
    with pytest.raises(TaskError, match="smooth"):
        Style(smooth=-1.0)
    with pytest.raises(TaskError, match="acceleration"):
        Style(acceleration=0.0)


def test_a_mapping_reads_back_as_it_was_written(tmp_path):
    links = JointMap((Link("a", "b", "left_knee", 0.5, "xy", (0.0, 0.1, 0.0), 3, (0.0, 0.0, 0.2)), Link("c", "d")))
    links.save(tmp_path / "links.toml")
    assert read_mapping(tmp_path / "links.toml") == links


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[link]]\njoint = 'a'\n", "needs a joint and a site"),
        ("[[link]]\njoint = 'a'\nsite = 'b'\nwieght = 1\n", "wieght"),
        ("[[link]]\njoint = 'a'\nsite = 'b'\nweight = -1\n", "weight"),
        ("link = 3", "list of"),
        ("[[", "not TOML"),
    ],
)
def test_a_wrong_mapping_file_raises_a_clear_error(tmp_path, text, message):
    (tmp_path / "links.toml").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_mapping(tmp_path / "links.toml")


def lamp_motion(count=12):
    adelino = poise.load("adelino")
    rng = np.random.default_rng(0)
    return Motion(adelino, 0.1 * rng.standard_normal((count, adelino.nq)), 30.0, "nod")


@pytest.mark.parametrize("ending", ["csv", "json", "npz", "bvh"])
def test_a_motion_is_saved(tmp_path, ending):
    file = tmp_path / f"nod.{ending}"
    lamp_motion().save(file)
    assert file.stat().st_size > 0


def test_a_table_reads_back(tmp_path):
    motion = lamp_motion()
    motion.save(tmp_path / "nod.csv")
    np.testing.assert_allclose(poise.load_clip(tmp_path / "nod.csv", motion.figure).q, motion.q, atol=1e-12)


def test_an_unknown_ending_names_those_there_are(tmp_path):
    with pytest.raises(FormatError, match=r"\.csv"):
        lamp_motion().save(tmp_path / "nod.txt")


def test_blending_keeps_both_ends_and_shares_the_middle():
    one, other = lamp_motion(), lamp_motion(20)
    mixed = one.blended(other, 0.1)
    assert len(mixed) == 12 + 20 - 3
    np.testing.assert_array_equal(mixed.q[0], one.q[0])
    np.testing.assert_array_equal(mixed.q[-1], other.q[-1])


def test_slices_and_rates_stay_motions():
    motion = lamp_motion()
    assert isinstance(motion[2:8], Motion)
    assert len(motion[2:8]) == 6
    assert motion.resampled(60.0).rate == 60.0
