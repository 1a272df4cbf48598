"""Measures of motions with known, deliberate faults, and the report page."""

import re
from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import FormatError, TaskError
from poise.evaluation.retarget.poses import shown_frames
from poise.evaluation.retarget.report import verdicts, write_report
from poise.figure.model.builder import Builder, ball, free, prismatic, revolute
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box
from poise.formats.bvh.writer import write_bvh
from poise.motion.clip.contacts import Contacts
from poise.motion.clip.motion import Motion, Track
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report.curves import joint_curves
from poise.motion.report.report import measure
from tests.unit.motion.retarget.stick_man import stepping

FRAMES, RATE = 120, 20.0


def hopper():
    """A body with a hinge, over two feet of 0.2 m by 0.1 m on vertical slides."""
    builder = Builder("hopper")
    builder.body("trunk", joint=free("base"), mass=Mass(1.0))
    builder.body("flag", parent="trunk", joint=revolute("swing", "x", limits=(-np.pi / 2, np.pi / 2), speed=5.0))
    for side, x in (("left", 0.1), ("right", -0.1)):
        sole = Box(size=(0.1, 0.02, 0.2), pose=Pose((0.0, -0.99, 0.0)))
        leg = prismatic(f"{side}_leg", "y")
        builder.body(f"{side}_foot", parent="trunk", joint=leg, at=(x, 0.0, 0.0), shapes=[sole], mass=0.0)
        builder.site(f"{side}_sole", f"{side}_foot", at=(0.0, -1.0, 0.0))
    return builder.build()


FIGURE = hopper()
SOLES = np.array([[0.0, 0.0, 0.1], [0.0, 0.0, -0.1]])


def standing(change=None, figure=FIGURE):
    """A motion at rest, after `change` has modified its joint values."""
    q = np.tile(figure.neutral().q, (FRAMES, 1))
    q[:, figure.q_slice("base").start + 1] = 1.0
    fine = Motion(figure, q, RATE)
    locks = {f"{s}_sole": fine.positions([f"{s}_sole"])[:, :1] + SOLES[None] for s in ("left", "right")}
    both = {side: np.ones(FRAMES, dtype=np.bool_) for side in ("left", "right")}
    if change is not None:
        change(q)
    track = Track(
        JointMap((Link("trunk", "trunk", "pelvis"),)),
        Contacts(both, both),
        {"trunk": ("trunk", np.zeros(3))},
        {"trunk": fine.positions(["trunk"])[:, 0]},
        locks,
        {f"{side}_sole": SOLES for side in ("left", "right")},
        0.0,
        None,
    )
    return Motion(figure, q, RATE, "standing", track=track)


def column(joint, part=0):
    return FIGURE.q_slice(joint).start + part


def test_a_motion_at_rest_has_no_faults():
    quality = measure(standing())
    assert quality.tracking.max() == 0.0
    assert quality.drift == pytest.approx(0.0, abs=1e-15)
    assert quality.penetration.max() == pytest.approx(0.0, abs=1e-15)
    assert (quality.violations, quality.spikes, quality.hurried, quality.unbalanced) == (0, (), (), 0)
    assert all(row[-1] in {"", "✓"} for row in verdicts(standing(), quality))


def test_the_margin_is_the_distance_to_the_nearest_edge_of_both_feet():
    np.testing.assert_allclose(measure(standing()).margin, 0.1, atol=1e-12)


def test_a_foot_in_the_air_carries_nothing():
    motion = standing()
    contacts = motion.track.contacts.changed("left", 10, 19, heel=False, ball=False)
    margin = measure(Motion(FIGURE, motion.q, RATE, track=replace(motion.track, contacts=contacts))).margin
    np.testing.assert_allclose(margin[10:20], -0.05, atol=1e-12)
    np.testing.assert_allclose(margin[:10], 0.1, atol=1e-12)


def test_frames_without_contact_count_as_airborne():
    motion = standing()
    contacts = motion.track.contacts
    for side in ("left", "right"):
        contacts = contacts.changed(side, 5, 5, heel=False, ball=False)
    quality = measure(Motion(FIGURE, motion.q, RATE, track=replace(motion.track, contacts=contacts)))
    assert np.isnan(quality.margin[5])
    assert (quality.unbalanced, quality.airborne) == (0, 1)
    assert quality.sentence().endswith("no foot stands in 1 frames.")


def test_an_airborne_motion_is_not_reported_as_balanced():
    motion = standing()
    contacts = motion.track.contacts
    for side in ("left", "right"):
        contacts = contacts.changed(side, 0, FRAMES - 1, heel=False, ball=False)
    track = replace(motion.track, contacts=contacts, center=np.zeros((FRAMES, 3)))
    floating = Motion(FIGURE, motion.q, RATE, track=track)
    assert verdicts(floating, measure(floating))[-1][-1] == "✗"
    carried = Motion(FIGURE, motion.q, RATE, track=replace(motion.track, center=np.zeros((FRAMES, 3))))
    assert verdicts(carried, measure(carried))[-1][-1] == "✓"


def test_a_figure_without_mass_has_no_balance_to_report(tmp_path):
    bodies = [replace(body, mass=Mass()) for body in FIGURE.bodies]
    motion = standing(figure=FIGURE.replaced(bodies=bodies))
    assert measure(motion).margin is None
    assert "centre of mass" not in write_report(motion, motion, tmp_path / "page.html").read_text()


def test_a_step_aside_is_tracked_and_counted_as_skate():
    def step(q):
        q[20:, column("base")] += 0.03

    quality = measure(standing(step))
    np.testing.assert_allclose(quality.tracking, np.where(np.arange(FRAMES) < 20, 0.0, 0.03), atol=1e-12)
    assert quality.drift == pytest.approx(0.03)
    assert int(quality.skate.argmax()) == 19
    assert quality.skate.max() == pytest.approx(0.03)
    assert quality.errors["trunk"].max() == pytest.approx(0.03)


def test_feet_that_sink_are_measured():
    def sink(q):
        q[7, column("left_leg")] = -0.004

    depth = measure(standing(sink)).penetration
    assert int(depth.argmax()) == 7
    assert depth[7] == pytest.approx(0.004)


def test_limits_of_position_and_of_speed():
    def swing(q):
        q[:, column("swing")] = np.linspace(0.0, 2.0, FRAMES)
        q[30:, column("swing")] += 0.5

    quality = measure(standing(swing))
    beyond = np.flatnonzero(standing(swing).q[:, column("swing")] > np.pi / 2)
    assert quality.broken == tuple(beyond.tolist())
    assert quality.violations == len(beyond)
    assert quality.hurried == (30,)


def test_a_spike_is_flagged_at_its_frame_with_its_joint():
    def jolt(q):
        q[:, column("swing")] = 0.2 * np.sin(0.2 * np.arange(FRAMES))
        q[23, column("swing")] += 0.2

    motion = standing(jolt)
    found = measure(motion).jerks
    assert {spike.joint for spike in found} == {"swing"}
    assert all(21 <= spike.frame <= 25 for spike in found)
    assert all(spike.jerk > spike.threshold for spike in found)


def test_curves_are_the_derivatives_of_a_parabola():
    def parabola(q):
        q[:, column("swing")] = 0.5 * 0.08 * (np.arange(FRAMES) / RATE) ** 2

    motion = standing(parabola)
    curve = next(c for c in joint_curves(motion) if c.joint == "swing")
    middles = (np.arange(FRAMES - 1) + 0.5) / RATE
    np.testing.assert_allclose(curve.speed, 0.08 * middles, atol=1e-12)
    np.testing.assert_allclose(curve.acceleration, 0.08, atol=1e-9)
    np.testing.assert_allclose(curve.jerk, 0.0, atol=1e-7)
    np.testing.assert_allclose(curve.room, np.pi / 2 - np.abs(motion.q[:, column("swing")]))
    assert curve.fastest == 5.0
    names = [c.joint for c in joint_curves(motion)]
    assert names[:2] == ["base (place)", "base (turn)"]


def test_the_room_of_a_ball_is_to_its_swing_or_twist():
    builder = Builder("stick")
    limits = BallLimits(swing=Ellipse(0.6, 0.6), twist=Twist.between(-0.3, 0.3))
    builder.body("rod", joint=ball("joint", limits=limits))
    figure = builder.build()
    q = [[np.cos(a / 2), 0.0, 0.0, np.sin(a / 2)] for a in (0.0, 0.1, 0.25)]
    rooms = joint_curves(Motion(figure, q, 10.0))[0].room
    assert rooms == pytest.approx([0.3, 0.2, 0.05], abs=1e-9)


@pytest.mark.parametrize("frames", [1, 2, 3, 4])
def test_short_motions_are_measured_and_shown(frames, tmp_path):
    motion = standing()[:frames]
    quality = measure(motion)
    assert len(quality.tracking) == frames
    assert len(quality.skate) == frames - 1
    assert write_report(motion, motion, tmp_path / "short.html").is_file()


def test_a_motion_without_targets_cannot_be_measured():
    with pytest.raises(TaskError, match="this motion has no targets"):
        measure(Motion(FIGURE, standing().q, RATE))


def test_the_report_page_is_complete_and_needs_no_network(tmp_path):
    clip = stepping()
    motion = poise.retarget(clip, poise.load("human"))
    page = write_report(clip, motion, tmp_path / "page.html").read_text(encoding="utf-8")
    for words in ("Source and result", "Frame by frame", "Joints", "Tracking", "Standing feet: drift", "left_knee"):
        assert words in page
    assert page.count("data:image/png;base64,") == 4
    assert not re.findall(r"(?:src|href)=['\"]?(?!'?data:)|url\(|<script|https?:", page)


def test_names_from_files_do_not_become_markup(tmp_path):
    clip = poise.Clip(standing().figure, standing().q, RATE, "<script>alert(1)</script>")
    page = write_report(clip, standing(), tmp_path / "page.html").read_text()
    assert "<script>" not in page


def test_a_clip_that_the_motion_was_not_made_from(tmp_path):
    with pytest.raises(TaskError, match="was not made from clip 'stepping', which has no joint 'trunk'"):
        write_report(stepping(), standing(), tmp_path / "page.html")


def test_a_report_is_a_page(tmp_path):
    with pytest.raises(FormatError, match=r"not \.pdf"):
        write_report(standing(), standing(), tmp_path / "page.pdf")


def test_frames_that_are_shown_are_spread_over_the_motion():
    assert shown_frames(1) == [0]
    assert shown_frames(3) == [0, 1, 2]
    assert shown_frames(701) == [0, 100, 200, 300, 400, 500, 600, 700]


def test_the_command_writes_motion_and_page(tmp_path, capsys):
    write_bvh(stepping(frames=8), tmp_path / "step.bvh")
    files = [str(tmp_path / name) for name in ("step.bvh", "out.csv", "out.html")]
    assert run(["retarget", files[0], "human", "-o", files[1], "--report", files[2]]) == 0
    out = capsys.readouterr().out
    assert "8 frames: tracking error" in out
    assert out.splitlines()[-2:] == files[1:]
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("option", "name", "sentence"),
    [
        ("--report", "out.pdf", "a report is written as .html, not as .pdf."),
        ("-o", "out.txt", "a motion is written as .csv, .bvh, .json, .npz, not as .txt."),
        ("-o", "nowhere/out.csv", "there is no folder"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_anything_is_solved(option, name, sentence, tmp_path, capsys):
    assert run(["retarget", str(tmp_path / "absent.bvh"), "human", option, str(tmp_path / name)]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", "")


def test_a_motion_at_rest_is_what_trainers_accept():
    training = measure(standing()).training
    assert training.penetrating == 0.0
    assert training.sliding == 0.0
    assert training.contact_precision == 1.0
    assert training.contact_recall == 1.0
    assert training.jerk == 0.0
    assert training.rejections == ()
    assert training.parts == {"trunk": 0.0}


def test_trainers_see_toes_that_slide_and_feet_that_leave_the_ground():
    def slide(q):
        q[60:, FIGURE.q_slice("base").start] += 0.02 * np.arange(1, FRAMES - 59) / RATE
        q[:30, FIGURE.q_slice("left_leg").start] += 0.05

    training = measure(standing(slide)).training
    assert training.toe_speed == pytest.approx(
        1.0, abs=1e-6
    )  # the left foot comes down 5 cm in a twentieth of a second
    assert training.sliding == pytest.approx((120 + 1) / (2 * (FRAMES - 1)), abs=0.01)
    assert training.contact_recall == pytest.approx(1.0 - 30 / (2 * FRAMES))
    assert training.contact_precision == 1.0


def test_trainers_see_what_is_too_low_too_fast_and_turning_too_fast():
    def fall(q):
        q[60:, FIGURE.q_slice("base").start + 1] -= 1.2

    def spin(q):
        q[60:, FIGURE.q_slice("swing").start] += 3.0

    low = measure(standing(fall)).training
    assert [word for word in ("below the ground", "m/s") if any(word in line for line in low.rejections)]
    assert low.lowest == pytest.approx(-0.2)
    assert low.fastest == pytest.approx(1.2 * RATE)
    assert low.penetrating == 0.5
    assert any("turns at 60 rad/s" in line for line in measure(standing(spin)).training.rejections)


def test_trainers_see_parts_in_each_other():
    builder = Builder("hopper")
    builder.body("trunk", joint=free("base"), mass=Mass(1.0), shapes=[Box((0.2, 0.2, 0.2))])
    swing = revolute("swing", "z", limits=(-3.0, 3.0))
    builder.body("arm", parent="trunk", joint=swing, at=(0.3, 0.0, 0.0), shapes=[Box((0.02, 0.02, 0.02))])
    builder.body("hand", parent="arm", joint=prismatic("out", "x", limits=(-1.0, 1.0)), shapes=[Box((0.1, 0.1, 0.1))])
    figure = builder.build()
    q = np.tile(figure.neutral().q, (20, 1))
    q[10:, figure.q_slice("out").start] = -0.18
    track = Track(JointMap((Link("trunk", "trunk", "pelvis"),)), Contacts({}, {}), {}, {}, {}, {}, 0.0, None)
    training = measure(Motion(figure, q, RATE, track=track)).training
    assert training.penetrating == 0.5
    assert training.self_depth.max() == pytest.approx(0.03, abs=1e-3)
    assert set(training.deepest_pair) == {"trunk", "hand"}
    assert "(trunk in hand)" in "\n".join(training.sentences())
