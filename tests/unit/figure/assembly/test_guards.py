"""Guards: limits that keep the hinges of a loop on their solution branch."""

import math
from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.figure import Figure
from poise.figure.assembly.guards import GUARD_MARGIN, Guard, find_guards, guarded
from tests import dr_legs as legs


def unlimited(name: str) -> Figure:
    figure = poise.load(name)
    return figure.replaced(joints=[replace(joint, lower=(), upper=()) for joint in figure.joints], couplings=[])


def bend_of(figure: Figure, guard: Guard, value: float) -> float:
    """Angle between the two links of a hinge of a planar figure at a value, from where bodies are [rad]."""
    posture = figure.posture({guard.joint: value})
    points = {joint.name: figure.frames(posture)[joint.child].position for joint in figure.joints}
    for loop in figure.loops:
        frame = figure.frames(posture)[str(loop.parent)] @ loop.parent_frame
        on_child = figure.frames(posture)[loop.child] @ loop.child_frame
        hinge = figure.joints[guard.joint]
        points[loop.name] = (on_child if hinge.child == loop.child else frame).position
    before, after = (points[name] for name in guard.between)
    here, there = points[guard.joint] - before, after - points[guard.joint]
    return math.atan2(float(np.linalg.norm(np.cross(here, there))), float(here @ there))


def test_a_hinge_that_motors_could_lose_hold_of() -> None:
    """The four-bar has one motor: only the pin between coupler and rocker, both passive, is guarded."""
    (guard,) = find_guards(unlimited("four_bar"))
    assert guard.joint == "rocker_pin"
    assert set(guard.between) == {"rocker_pivot", "crank_pin"}
    # In line at -93.4° and at 86.6° (by hand, from the pivots), two degrees of margin.
    assert np.degrees([guard.lower, guard.upper]) == pytest.approx([-91.4, 84.6], abs=0.05)
    assert "rocker_pin stays between -91.4° and 84.6°" in str(guard)


def test_hinges_beside_motors_that_share_a_loop() -> None:
    guards = {guard.joint: guard for guard in find_guards(unlimited("five_bar"))}
    assert set(guards) == {"left_elbow", "wrist"}
    for guard in guards.values():
        assert np.degrees([guard.lower, guard.upper]) == pytest.approx([-88.0, 88.0], abs=1e-6)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_at_its_ends_a_hinge_is_a_margin_from_straight_and_from_folded(name: str) -> None:
    figure = unlimited(name)
    for guard in find_guards(figure):
        if any(between in figure.loops for between in guard.between):
            continue
        bends = sorted(bend_of(figure, guard, value) for value in (guard.lower, guard.upper))
        assert bends == pytest.approx([GUARD_MARGIN, math.pi - GUARD_MARGIN], abs=1e-9)


def test_limits_of_the_file_are_kept() -> None:
    assert find_guards(poise.load("walker")) == ()
    figure = poise.load("four_bar")
    assert guarded(figure) is figure


def test_motors_never_reverse_a_guarded_linkage() -> None:
    """Driven far past the fold and back, the linkage comes back as it was; without guards it may not."""
    figure = guarded(unlimited("four_bar"))
    there = figure.assemble({"drive": 2.5})
    assert there.status == "closest"
    back = figure.assemble({"drive": 0.0}, near=there.posture)
    assert back.status == "assembled"
    np.testing.assert_allclose(back.posture.q, figure.neutral().q, atol=1e-9)


def test_guards_can_be_chosen() -> None:
    figure = unlimited("five_bar")
    wide = find_guards(figure, margin=math.radians(5.0))
    assert np.degrees(wide[0].upper) == pytest.approx(85.0)
    assert guarded(figure, wide[:1]).joints["wrist"].upper == (math.inf,)


def test_a_turned_figure_has_the_same_guards() -> None:
    figure = unlimited("five_bar")
    turned = figure.rerooted("left_forearm")
    before, after = ({g.joint: (g.lower, g.upper) for g in find_guards(f)} for f in (figure, turned))
    for joint in set(before) & set(after):
        assert after[joint] == pytest.approx(before[joint], abs=1e-9)


@pytest.mark.real_data
def test_the_recorded_walk_stays_inside_its_guards() -> None:
    figure, walk = legs.clean_dr_legs(), legs.recorded_walk()
    guards = find_guards(figure)
    assert sorted(guard.joint for guard in guards) == sorted(
        f"j{k}_{side}_{chain}" for k in (3, 8, 9) for side in "lr" for chain in "io"
    )
    knee = next(guard for guard in guards if guard.joint == "j3_l_i")
    assert math.degrees(knee.lower) == pytest.approx(-18.6, abs=0.05)
    whole = guarded(figure)
    q, shares = whole.assembler.frames({m: walk[:, k] for k, m in enumerate(legs.MOTORS)}, whole.neutral())
    assert (shares == 1.0).all()
    assert all(whole.violations(frame) == [] for frame in q[::100])
