"""Edits of body parts, joints and sites."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box, Sphere
from poise.figures import BUILT_IN, built_in
from poise.formats.figure_toml import figure_text, parse_figure
from poise.studio.session.edits.body import (
    MOVING_KINDS,
    joint_of,
    length_of,
    site_at,
    with_kind,
    with_length,
    with_limits,
    with_mass,
    with_site,
    with_swing,
    with_twist,
    without_site,
)
from poise.studio.session.postures import carried_over


@given(st.sampled_from(["human", "adelino", "hand", "arm"]), st.floats(0.5, 2.0), st.data())
@settings(max_examples=30)
def test_a_part_is_as_long_as_it_is_made_and_keeps_its_mass(name: str, factor: float, data: st.DataObject) -> None:
    figure = built_in(name)
    long_enough = [body.name for body in figure.bodies if length_of(figure, body.name) > 1e-3]
    body = data.draw(st.sampled_from(long_enough))
    wanted = factor * length_of(figure, body)
    longer = with_length(figure, body, wanted)
    assert length_of(longer, body) == pytest.approx(wanted)
    assert longer.mass == pytest.approx(figure.mass)
    assert longer.nv == figure.nv
    assert parse_figure(figure_text(longer)) == longer


def test_what_hangs_from_a_longer_part_moves_along() -> None:
    human = built_in("human")
    longer = with_length(human, "left_thigh", length_of(human, "left_thigh") + 0.1)
    places = [f.pose_of("left_foot", f.neutral()).position for f in (human, longer)]
    assert np.linalg.norm(places[1] - places[0]) == pytest.approx(0.1)
    assert longer.pose_of("right_foot", longer.neutral()).position == pytest.approx(
        human.pose_of("right_foot", human.neutral()).position
    )


@given(st.floats(0.3, 3.0))
def test_the_inertia_of_a_stretched_box_is_that_of_the_longer_box(factor: float) -> None:
    box = Box((0.1, 0.4, 0.2), pose=Pose((0.0, 0.2, 0.0)))
    solid = box.mass(1000.0)
    figure = Figure("block", [Body("block", solid, (box,))], [], sites=[Site("end", "block", Pose((0.0, 0.4, 0.0)))])
    longer = with_length(figure, "block", 0.4 * factor)
    expected = Box((0.1, 0.4 * factor, 0.2), pose=Pose((0.0, 0.2 * factor, 0.0))).mass(1000.0 / factor)
    found = longer.bodies["block"]
    assert found.mass.inertia == pytest.approx(expected.inertia, rel=1e-9, abs=1e-12)
    assert found.mass.center == pytest.approx(expected.center)
    assert found.shapes[0].size == pytest.approx((0.1, 0.4 * factor, 0.2))  # type: ignore[attr-defined]


def test_a_part_without_length_says_so() -> None:
    figure = Figure("ball", [Body("ball", Mass(1.0), (Sphere(0.1),))], [])
    with pytest.raises(FigureError, match="cannot be made"):
        with_length(figure, "ball", 1.0)


def test_a_heavier_part_has_more_inertia() -> None:
    human = built_in("human")
    heavier = with_mass(human, "head", 10.0)
    old, new = human.bodies["head"].mass, heavier.bodies["head"].mass
    assert heavier.mass == pytest.approx(human.mass - old.mass + 10.0)
    assert new.inertia == pytest.approx(old.inertia * 10.0 / old.mass)
    with pytest.raises(FigureError, match="mass"):
        with_mass(human, "head", -1.0)


def test_limits_of_hinges_and_balls() -> None:
    human = built_in("human")
    assert with_limits(human, "left_knee", 0, 0.0, 1.0).joints["left_knee"].upper == (1.0,)
    with pytest.raises(FigureError, match="above"):
        with_limits(human, "left_knee", 0, 2.0, 1.0)
    hip = with_twist(with_swing(human, "left_hip", 0.5, 0.6), "left_hip", -0.2, 0.3).joints["left_hip"].ball_limits
    assert hip is not None
    assert (hip.swing.x, hip.swing.y) == (0.5, 0.6)  # type: ignore[union-attr]
    assert hip.twist is not None
    assert hip.twist.at(0.0, 0.0) == (-0.2, 0.3)


@pytest.mark.parametrize("kind", ["fixed", *MOVING_KINDS])
def test_a_joint_of_every_kind(kind: str) -> None:
    human = built_in("human")
    changed = with_kind(human, "left_knee", kind)  # type: ignore[arg-type]
    joint = changed.joints["left_knee"]
    assert joint.kind == kind
    assert all(math.isinf(value) for value in joint.upper)
    assert all(term.joint != "left_knee" for coupling in changed.couplings for term in coupling.terms)
    posture = carried_over(human.posture("standing"), changed)
    assert changed.violations(posture) == []
    others = [name for name in human.moving_joints if name not in ("left_knee", "base")]
    for name in others:
        assert posture[name] == pytest.approx(human.posture("standing")[name], abs=1e-9)


def test_sites_come_move_and_go() -> None:
    human = built_in("human")
    more = with_site(human, Site("elbow_tip", "right_ulna", Pose((0.0, 0.0, -0.05))))
    assert more.sites["elbow_tip"].body == "right_ulna"
    moved = site_at(more, "elbow_tip", [0.0, 0.0, -0.1])
    assert moved.sites["elbow_tip"].pose.position.tolist() == [0.0, 0.0, -0.1]
    assert without_site(moved, "elbow_tip") == human
    with pytest.raises(FigureError, match="name"):
        with_site(human, Site("", "head"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_body_hangs_from_its_joint(name: str) -> None:
    figure = built_in(name)
    for body in figure.bodies:
        joint = joint_of(figure, body.name)
        assert joint is None or (isinstance(joint, Joint) and joint.child == body.name)
