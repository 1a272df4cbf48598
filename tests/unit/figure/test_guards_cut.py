"""Limits of hinges that close loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise import Position, Solver
from poise.figure.guards import find_guards, guarded
from poise.figure.guards_cut import sum_of_hinges, with_cut_limits
from poise.figure.loop_values import loop_value
from poise.kernels.couplings import coupling_value


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
    (loop,) = figure.loops
    assert sum_of_hinges(figure, loop, figure.neutral()) is None
    assert with_cut_limits(figure) is figure


def test_assembling_stops_at_the_limit_of_the_hinge_that_closes_the_loop() -> None:
    figure = poise.load("five_bar")
    result = figure.assemble({"left_motor": 0.9, "right_motor": 1.9})
    assert (result.status, result.stopped) == ("closest", ("right_elbow",))
    angle = float(loop_value(figure, figure.loops["right_elbow"], result.posture)[0])
    assert min(abs(angle - bound) for bound in (-1.4660765716752369, 1.4660765716752369)) < 1e-8


def test_a_guard_for_the_hinge_that_closes_the_loop() -> None:
    """Without any limits all three passive hinges of a five-bar are guarded, whichever of them is cut."""
    from dataclasses import replace

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
