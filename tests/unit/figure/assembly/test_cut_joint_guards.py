"""Limits of hinges that close loops."""

import logging
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise import Pose, Position, Solver
from poise.figure import Figure, Joint
from poise.figure.assembly.cut_joint_guards import sum_of_hinges, with_cut_limits, without_ends
from poise.figure.assembly.guards import find_guards, guarded
from poise.figure.assembly.loop_values import loop_value
from poise.figure.model.builder import Builder
from poise.figure.model.mass import Mass
from poise.kernels.body.limits import coupling_value

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.mark.parametrize(("name", "hinges"), [("four_bar", 1), ("five_bar", 1), ("walker", 4)])
@given(shares=st.lists(st.floats(-0.3, 0.3), min_size=12, max_size=12))
@settings(max_examples=15)
def test_the_angle_of_a_hinge_that_closes_a_loop_is_a_sum(name: str, hinges: int, shares: list[float]) -> None:
    figure = poise.load(name)
    assert len(figure.couplings) == hinges
    motors = [joint.name for joint in figure.joints if joint.active]
    posture = figure.assemble(dict(zip(motors, shares, strict=False))).posture
    for i, coupling in enumerate(figure.couplings):
        loop = figure.loops[coupling.name]
        angle = float(loop_value(figure, loop, posture)[0])
        value = coupling_value(figure.compiled.bounds, i, posture._q)
        assert value - coupling.lower == pytest.approx(angle - loop.lower[0], abs=1e-9)
        assert coupling.upper - value == pytest.approx(loop.upper[0] - angle, abs=1e-9)


@pytest.mark.parametrize("root", ["left_forearm", "right_crank"])
def test_it_is_the_same_sum_seen_from_another_body(root: str) -> None:
    figure = poise.load("five_bar").replaced(couplings=[])
    turned = with_cut_limits(figure.rerooted(root))
    (coupling,) = turned.couplings
    loop = turned.loops[coupling.name]
    posture = turned.assemble({"left_motor": 0.2, "right_motor": -0.1}).posture
    angle = float(loop_value(turned, loop, posture)[0])
    value = coupling_value(turned.compiled.bounds, 0, posture._q)
    assert value - coupling.lower == pytest.approx(angle - loop.lower[0], abs=1e-9)


def test_loops_in_space_have_no_such_sum() -> None:
    figure = poise.load("dancer")
    (weld,) = figure.loops
    loop = replace(figure.joints["right_ankle_roll"], child=weld.child)
    assert sum_of_hinges(figure, loop, figure.neutral()) is None


@pytest.mark.parametrize(("name", "ends"), [("all_joints", 2), ("dancer", 1)])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_limits_of_what_closes_a_loop_in_space_hold(name: str, ends: int, seed: int) -> None:
    """Measured between the two bodies that the joint joined, not by the coordinate that it was given."""
    figure, rng = poise.load(name), np.random.default_rng(seed)
    welds = [loop for loop in figure.loops if loop.kind == "fixed"]
    assert len(welds) == ends
    assert with_cut_limits(figure) == figure
    sites = rng.permutation([site.name for site in figure.sites])[:2]
    rest = {site: figure.pose_of(site, figure.neutral()).position for site in sites}
    pulls = [Position(s, at=rest[s] + rng.normal(size=3) * 0.15, priority=k + 1) for k, s in enumerate(sites)]
    posture = poise.solve(figure, pulls).posture
    assert figure.closure_error(posture) <= 1e-9
    for weld in welds:
        joint = figure.joints[weld.name.removesuffix("_weld")]
        values = loop_value(figure, replace(joint, child=weld.child), posture)
        assert (np.array(joint.lower) - 1e-9 <= values).all()
        assert (values <= np.array(joint.upper) + 1e-9).all()


def crank_in_space(*, grounded: bool = False, limit: float = 0.3) -> Figure:
    """A crank, a rod between two balls and a rocker whose axis is across: the rocker's hinge closes the loop."""
    frame = Builder("crank")
    for name in ("ground", "crank", "rod", "rocker"):
        frame.body(name, mass=1.0)
    frame.joints += [
        Joint("fix", "fixed", None, "ground"),
        Joint("drive", "revolute", "ground", "crank", (X,)),
        Joint("first", "ball", "crank", "rod", parent_frame=Pose((0, 0.1, 0)), active=False),
        Joint("second", "ball", "rod", "rocker", parent_frame=Pose((1, 0, 0)), active=False),
    ]
    joined = None if grounded else "ground"
    place = Pose((1, 0.1, -0.5))
    frame.loops.append(
        Joint("hinge", "revolute", joined, "rocker", (Y,), place, Pose((0, 0, -0.5)), (-limit,), (limit,), active=False)
    )
    return frame.build()


@pytest.mark.parametrize("grounded", [False, True])
def test_a_rocker_stops_at_its_limit_wherever_it_is_hinged(grounded: bool) -> None:
    figure = crank_in_space(grounded=grounded)
    free = figure.assemble({"drive": 3.0})
    assert abs(loop_value(figure, figure.loops["hinge"], free.posture)[0]) < 0.3
    narrow = crank_in_space(grounded=grounded, limit=0.002)
    held = with_cut_limits(narrow).assemble({"drive": 1.5})
    assert (held.status, held.stopped) == ("closest", ("hinge",))
    rocker = loop_value(
        narrow, narrow.loops["hinge"], narrow.posture({n: held.posture[n] for n in narrow.moving_joints})
    )
    assert abs(rocker[0]) == pytest.approx(0.002, abs=1e-8)


@pytest.mark.parametrize("grounded", [False, True])
def test_ends_can_be_taken_off(grounded: bool) -> None:
    figure = crank_in_space(grounded=grounded)
    assert without_ends(with_cut_limits(figure)) == figure
    assert without_ends(figure) is figure


def test_a_weld_that_somebody_drew_stays() -> None:
    figure = with_cut_limits(crank_in_space())
    bodies = [replace(body, mass=Mass(0.1)) if body.name == "hinge_end" else body for body in figure.bodies]
    heavy = figure.replaced(bodies=bodies)
    assert without_ends(heavy) is heavy


def test_a_file_with_such_a_joint_is_read_with_its_limits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    crank_in_space().save(tmp_path / "crank.figure.toml")
    with caplog.at_level(logging.INFO):
        figure = poise.load(tmp_path / "crank.figure.toml")
    assert "the limits of these loop joints are enforced: hinge" in caplog.text
    assert [loop.name for loop in figure.loops] == ["hinge_weld"]
    figure.save(tmp_path / "again.figure.toml")
    assert poise.load(tmp_path / "again.figure.toml") == figure


def test_an_end_takes_the_place_that_the_joint_had_in_every_posture() -> None:
    figure = crank_in_space()
    turned = figure.assemble({"drive": 0.8}).posture
    named = figure.replaced(postures={"turned": turned.as_dict()})
    whole = with_cut_limits(named)
    assert whole.closure_error(whole.posture("turned")) < 1e-9
    assert whole.posture("turned")["hinge"] == pytest.approx(loop_value(figure, figure.loops["hinge"], turned)[0])


def test_assembling_stops_at_the_limit_of_the_hinge_that_closes_the_loop() -> None:
    figure = poise.load("five_bar")
    result = figure.assemble({"left_motor": 0.9, "right_motor": 1.9})
    assert (result.status, result.stopped) == ("closest", ("right_elbow",))
    angle = float(loop_value(figure, figure.loops["right_elbow"], result.posture)[0])
    assert min(abs(angle - bound) for bound in (-1.4660765716752369, 1.4660765716752369)) < 1e-8


def test_a_guard_for_the_hinge_that_closes_the_loop() -> None:
    """Without any limits all three passive hinges of a five-bar are guarded, whichever of them is cut."""
    bounded = poise.load("five_bar")
    joints, loops = ([replace(j, lower=(), upper=()) for j in part] for part in (bounded.joints, bounded.loops))
    figure = bounded.replaced(joints=joints, loops=loops, couplings=[])
    guards = {guard.joint: guard for guard in find_guards(figure)}
    assert set(guards) == {"left_elbow", "wrist", "right_elbow"}
    assert np.degrees([guards["right_elbow"].lower, guards["right_elbow"].upper]) == pytest.approx([-88.0, 88.0])
    whole = guarded(figure)
    assert "right_elbow" in whole.couplings
    assert "right_elbow" in whole.describe()


def test_pulled_aside_fast_a_five_bar_keeps_its_elbow() -> None:
    figure = poise.load("five_bar")
    rest = figure.pose_of("tip", figure.neutral()).position
    tip = Position("tip", at=rest)
    solver, posture = Solver(figure, [tip], dt=0.01), figure.neutral()
    for k in range(160):
        solver.target(tip, rest + np.array([-0.5 * math.sin(math.pi * min(k, 60) / 60.0), 0.0, 0.0]))
        posture = solver.step(posture)
        assert figure.violations(posture) == []
    np.testing.assert_allclose(posture.q, figure.neutral().q, atol=1e-6)
