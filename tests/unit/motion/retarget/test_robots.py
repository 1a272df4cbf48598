"""Retargeting to robots nobody prepared a mapping for; and what is said about parts that do not follow the clip."""

import sysconfig
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.errors import TaskError, UnmappedWarning
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.figure.model.pose import turn
from poise.motion.clip.contacts import Contacts
from poise.motion.mapping.mapping import JointMap
from poise.motion.report.report import measure
from poise.motion.retarget.build import Build
from poise.motion.retarget.feet import FootPath
from poise.motion.retarget.plan import without_turned_feet
from tests import real_data
from tests.unit.motion.retarget.performances import walking
from tests.unit.motion.retarget.stick_man import bend, stepping

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
NAMES = {
    "g1": ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": ROBOTS / "talos_data/robots/talos_reduced.urdf",
    "icub": ROBOTS / "icub_description/robots/icub.urdf",
    "romeo": ROBOTS / "romeo_description/urdf/romeo_small.urdf",
    "h1": real_data.MENAGERIE / "unitree_h1/h1.xml",
}
EVERY_ROBOT = [pytest.param(name, marks=pytest.mark.real_data) if name == "h1" else name for name in NAMES]
PEOPLE = [
    walking,
    *(
        pytest.param(partial(poise.load_clip, real_data.BVH / clip), marks=pytest.mark.real_data, id=clip)
        for clip in ("cmu/02_01.bvh", "animated_drawings/dab.bvh")
    ),
]
LIMBS = ("knee", "ankle", "elbow", "wrist")


def robot(name):
    if not NAMES[name].is_file():
        pytest.skip("example-robot-data is not installed")
    return poise.load(NAMES[name])


def follow(clip, figure):
    """A motion without any warning, inside all limits and with feet that stand still."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnmappedWarning)
        motion = poise.retarget(clip, figure)
    quality = measure(motion)
    assert quality.violations == 0
    assert not quality.hurried
    assert quality.drift < 1e-3
    assert quality.skate.max(initial=0.0) < 1e-3
    assert quality.penetration.max() < 1e-3
    assert not quality.spikes
    assert not quality.is_lost
    return motion, quality


@pytest.mark.parametrize("name", EVERY_ROBOT)
def test_a_stick_man_leads_robots(name):
    motion, quality = follow(stepping(frames=60), robot(name))
    mapped = motion.track.mapping.by_role()
    assert all(f"{side}_{part}" in mapped for side in ("left", "right") for part in LIMBS)
    assert quality.tracking.mean() < 0.05 * quality.size


@pytest.mark.parametrize("name", EVERY_ROBOT)
@pytest.mark.parametrize("clip", PEOPLE)
def test_people_lead_robots(name, clip):
    figure = robot(name)
    motion, quality = follow(clip(), figure)
    assert quality.tracking.mean() < 0.05 * quality.size
    joints = [_joint_of(motion.figure, f"{side}_elbow") for side in ("left", "right")]
    assert max(np.ptp(motion.q[:, motion.figure.q_slice(joint).start]) for joint in joints) > 0.1  # an arm bends


def _joint_of(figure, role):
    part = figure.roles[role].part
    return next(joint.name for joint in figure.joints if joint.child == part)


@pytest.mark.real_data
def test_feet_stand_under_the_hips_of_a_broad_robot():
    """The hips of the H1 are 40 cm apart, those of the stick man 20 cm; its legs must not cross."""
    figure = robot("h1")
    motion, _ = follow(stepping(frames=30), figure)
    at = [motion.figure.pose_of(f"{side}_ankle_link", motion[0]).position for side in ("left", "right")]
    assert 0.3 < at[0][1] - at[1][1] < 0.45


def headless(arms=True, legs=True, names=True):
    """A robot of hinges; without names only numbers."""
    builder = Builder("tin", up="z")
    builder.body("pelvis" if names else "b0", joint=free("base"), at=(0, 0, 0.9))
    count = 0

    def add(name, parent, axis, at):
        nonlocal count
        count += 1
        body = name if names else f"b{count}"
        return builder.body(body, parent=parent, joint=revolute(f"{body}_j", axis, limits=(-2.0, 2.0)), at=at)

    for side, y in (("left", 1.0), ("right", -1.0)):
        if legs:
            thigh = add(f"{side}_hip_roll", "pelvis" if names else "b0", "x", (0, 0.1 * y, -0.1))
            thigh = add(f"{side}_hip_pitch", thigh, "y", (0, 0, 0))
            shank = add(f"{side}_knee", thigh, "y", (0, 0, -0.4))
            add(f"{side}_ankle", shank, "y", (0, 0, -0.4))
        if arms:
            arm = add(f"{side}_shoulder_pitch", "pelvis" if names else "b0", "y", (0, 0.2 * y, 0.4))
            arm = add(f"{side}_shoulder_roll", arm, "x", (0, 0, 0))
            fore = add(f"{side}_elbow", arm, "y", (0, 0, -0.3))
            add(f"{side}_wrist", fore, "y", (0, 0, -0.25))
    return builder.build()


def turning_legs(limit):
    """A biped whose hips turn by `limit` about the vertical; the axis of one of them points down."""
    builder = Builder("biped", up="z")
    builder.body("pelvis", joint=free("base"), at=(0, 0, 0.9))
    for side, y, axis in (("left", 0.1, "z"), ("right", -0.1, "-z")):
        hip = builder.body(
            f"{side}_hip_yaw",
            parent="pelvis",
            joint=revolute(f"{side}_y", axis, limits=(-limit, 0.5 * limit)),
            at=(0, y, 0),
        )
        for name, hinge, at in (
            ("hip_roll", "x", 0.0),
            ("hip_pitch", "y", 0.0),
            ("knee", "y", -0.4),
            ("ankle", "y", -0.4),
        ):
            hip = builder.body(
                f"{side}_{name}", parent=hip, joint=revolute(f"{side}_{name}_j", hinge, limits=(-2, 2)), at=(0, 0, at)
            )
    return builder.build()


def test_how_far_a_leg_turns_its_foot():
    figure = turning_legs(0.4)
    feet = Build.of(figure, JointMap.propose(stepping(), figure)).feet
    assert feet["left"].turns == pytest.approx((-0.4, 0.2))
    assert feet["right"].turns == pytest.approx((-0.2, 0.4))


def test_a_foot_is_lifted_when_the_body_turns_farther_than_its_leg():
    figure = turning_legs(0.4)
    build = Build.of(figure, JointMap.propose(stepping(), figure))
    count = 91
    heading, still = np.radians(np.arange(count)), np.zeros(count)
    path = FootPath(np.zeros((count, 3)), still, still, still, Rotation.identity(count))
    stands = np.ones(count, dtype=bool)
    contacts = Contacts({"left": stands, "right": stands}, {"left": stands, "right": stands})
    left = without_turned_feet(contacts, {"left": path, "right": path}, heading, build, 30.0)
    # The body turns to the left, so that its feet point to its right: by 23° and 11° at most, and 10° of slack.
    assert np.flatnonzero(~left.standing("left"))[0] == pytest.approx(33, abs=1)
    assert np.flatnonzero(~left.standing("right"))[0] == pytest.approx(22, abs=1)


def test_a_mapping_that_leaves_out_the_legs_warns():
    clip, figure = stepping(), headless()
    arms = {link.joint: link.site for link in JointMap.propose(clip, figure).links if "wrist" in link.role}
    with pytest.warns(UnmappedWarning, match="The legs of figure 'tin' will not follow the clip: they are not mapped"):
        motion = poise.retarget(clip, figure, {"Hips": "pelvis", **arms})
    assert "The legs of figure 'tin' will not follow" in motion.report()
    assert "The legs of figure 'tin' will not follow" in motion.track.mapping.explain()


def test_a_clip_without_arms_warns():
    clip = stepping(leave_out=("LeftArm", "RightArm"))
    with pytest.warns(UnmappedWarning, match="arms of figure 'tin' will not follow the clip: none was found"):
        poise.retarget(clip, headless())


def test_a_figure_without_arms_does_not_warn():
    follow(stepping(), headless(arms=False))


def test_joints_that_no_mapped_part_moves_are_named():
    builder = Builder("odd", up="z")
    builder.body("pelvis", joint=free("base"), at=(0, 0, 0.9))
    for side, y in (("left", 0.1), ("right", -0.1)):
        upper = builder.body(f"{side}_thigh", parent="pelvis", joint=ball(f"{side}_hip"), at=(0, y, 0))
        lower = builder.body(f"{side}_shank", parent=upper, joint=revolute(f"{side}_knee", "y"), at=(0, 0, -0.4))
        builder.body(f"{side}_foot", parent=lower, joint=ball(f"{side}_ankle"), at=(0, 0, -0.4))
    tail = "pelvis"
    for k in range(4):
        tail = builder.body(f"segment_{k}", parent=tail, joint=revolute(f"tail_{k}", "y"), at=(-0.2, 0, 0))
    with pytest.warns(UnmappedWarning, match=r"4 joints .* will not move.*tail_0, tail_1"):
        poise.retarget(stepping(), builder.build())


def test_a_clip_of_nothing_that_matches_is_refused():
    clip = stepping(leave_out=("LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg"))
    with pytest.raises(TaskError, match="no leg or arm of figure 'tin' matches"):
        poise.retarget(clip, headless())


def test_a_dictionary_gets_roles():
    clip, figure = stepping(), headless()
    proposed = JointMap.propose(clip, figure)
    given = JointMap.of({link.joint: link.site for link in proposed.links}, clip, figure)
    assert given.by_role().keys() == proposed.by_role().keys()
    assert {link.role: link.point for link in given.links} == {link.role: link.point for link in proposed.links}
    assert not given.warnings


def sitting(trunk, thigh, shank):
    """The stick man sits near the ground, with trunk, thighs and shanks turned back from upright [°]."""
    clip = stepping(frames=10)
    figure, q = clip.figure, np.tile(clip.figure.neutral().q, (10, 1))
    base = figure.q_slice("base")
    q[:, base.start + 1], q[:, base.start + 3 : base.stop] = 0.2, turn("x", -trunk)
    for side in ("Left", "Right"):
        for bone, degrees in (("UpLeg", trunk - thigh), ("Leg", thigh - shank), ("Foot", shank)):
            bend(figure, q, f"{side}{bone}", np.full(10, float(degrees)))
    return poise.Clip(figure, q, clip.rate, "sitting")


@pytest.mark.parametrize(
    ("name", "angles"),
    [pytest.param("h1", (20, 100, 20), marks=pytest.mark.real_data), ("romeo", (0, 115, 0))],
)
def test_a_robot_sits_as_the_person_does(name, angles):
    """From straight legs, they found no way down: they stood and bent their trunks back."""
    motion = poise.retarget(sitting(*angles), robot(name), solid=False)
    assert measure(motion).errors["Hips"].max() < 0.05


def test_a_robot_without_names_is_mapped_by_its_structure():
    motion, _ = follow(stepping(), headless(names=False))
    assert (
        "by structure and name" in motion.track.mapping.explain()
        or "by name and structure" in motion.track.mapping.explain()
    )
    assert len(motion.track.mapping.by_role()) >= 13


def test_a_motion_that_does_not_follow_is_lost():
    """The arms of a figure that cannot move them, far from where the clip's are."""
    figure, clip = headless(), stepping(frames=10)
    motion = poise.retarget(clip, figure)
    far = motion[:]
    far.track.targets.update({joint: path + 2.0 for joint, path in far.track.targets.items()})
    assert measure(far).is_lost
    assert "does not follow the clip" in far.report()
