"""Couplings and ball joints' limits hold while a mechanism is assembled."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.figure import Figure
from poise.figure.assembly.inequalities import find_inequalities, make_inequalities
from poise.figure.assembly.result import Assembly, widest_gap
from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.joints import Coupling, Term
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.kernels.loops.assemble_inequalities import fill_inequality_rows, inequality_value

CLOSED = 1e-9


def coupled(figure: Figure, name: str, terms: dict[str, float], lower: float, upper: float) -> Figure:
    parts = tuple(Term(joint, factor) for joint, factor in terms.items())
    return figure.replaced(couplings=[*figure.couplings, Coupling(name, parts, lower, upper)])


def geared() -> Figure:
    """A five-bar whose motors turn against each other."""
    return coupled(poise.load("five_bar"), "gears", {"left_motor": 1.0, "right_motor": 1.0}, 0.0, 0.0)


def narrow(cone: float = 0.1, twist: float = 0.1) -> Figure:
    """A Stewart platform one of whose balls moves little in its socket."""
    figure = poise.load("stewart")
    limits = BallLimits(swing=Ellipse(cone, cone), twist=Twist.between(-twist, twist))
    joints = [replace(j, ball_limits=limits) if j.name == "leg_1_head" else j for j in figure.joints]
    return figure.replaced(joints=joints)


def assert_legal(figure: Figure, result: Assembly) -> None:
    assert figure.closure_error(result.posture) <= CLOSED
    assert figure.violations(result.posture) == []


def test_joints_of_a_tree_follow_their_coupling() -> None:
    made = Builder("gears")
    made.body("ground")
    made.body("small", parent="ground", joint=revolute("small", "z"))
    made.body("large", parent="ground", joint=revolute("large", "z", active=False), at=(0.3, 0.0, 0.0))
    made.couple("teeth", {"small": 1.0, "large": 2.0}, equals=0.1)
    result = made.build().assemble({"small": 0.5})
    assert result.status == "assembled"
    assert result.posture["large"] == pytest.approx(-0.2, abs=1e-12)


@given(st.floats(-0.6, 0.6))
def test_a_gear_inside_a_loop(angle: float) -> None:
    figure = geared()
    result = figure.assemble({"left_motor": angle})
    assert result.status == "assembled"
    assert result.motors["right_motor"] == pytest.approx(-angle, abs=1e-9)
    assert_legal(figure, result)


def test_motors_that_a_gear_forbids_fight() -> None:
    result = geared().assemble({"left_motor": 0.3, "right_motor": -0.1})
    assert result.status == "closest"
    assert [result.motors[motor] for motor in ("left_motor", "right_motor")] == pytest.approx([0.2, -0.2], abs=1e-9)
    assert set(result.fighting) == {"left_motor", "right_motor"}


def test_an_active_inequality_is_named_in_the_result() -> None:
    figure = coupled(poise.load("five_bar"), "cable", {"left_motor": 1.0, "right_motor": -1.0}, -0.3, 0.3)
    inside = figure.assemble({"left_motor": 0.1, "right_motor": -0.1})
    assert (inside.status, inside.stopped) == ("assembled", ())
    result = figure.assemble({"left_motor": 0.4, "right_motor": -0.2})
    assert (result.status, result.stopped) == ("closest", ("cable",))
    assert [result.motors[motor] for motor in ("left_motor", "right_motor")] == pytest.approx([0.25, -0.05], abs=1e-8)
    assert_legal(figure, result)


def test_an_inequality_becomes_inactive_again() -> None:
    figure = coupled(poise.load("five_bar"), "cable", {"left_motor": 1.0, "right_motor": -1.0}, -0.3, 0.3)
    edge = figure.assemble({"left_motor": 0.4, "right_motor": -0.2})
    back = figure.assemble({"left_motor": 0.0, "right_motor": 0.0}, near=edge.posture)
    assert back.status == "assembled"
    np.testing.assert_allclose(back.posture.q, figure.neutral().q, atol=1e-9)


def test_a_coupling_that_is_off_by_more_than_loops_is_named() -> None:
    figure = geared()
    start = poise.load("five_bar").assemble({"left_motor": 0.4, "right_motor": 0.2}).posture
    posture = figure.posture(start.q)
    assert widest_gap(figure, posture) == "gears"
    said = Assembly(posture, "open", {}, {}, 0.6, widest="gears").report()
    assert said.startswith("five_bar could not be assembled: its coupling 'gears' stays open by 0.6 m or rad")


def test_an_equality_that_loops_forbid_leaves_the_mechanism_open() -> None:
    figure = coupled(poise.load("four_bar"), "wedge", {"drive": 1.0}, 1.6, 1.6)
    result = figure.assemble({})
    assert result.status == "open"
    assert result.widest in {"wedge", "crank_pin"}


def test_a_start_that_violates_an_equality_is_corrected_first() -> None:
    figure = geared()
    start = poise.load("five_bar").assemble({"left_motor": 0.4, "right_motor": 0.2}).posture
    result = figure.assemble({}, near=start.q)
    assert result.status == "assembled"
    assert_legal(figure, result)


def test_frames_keep_their_couplings() -> None:
    figure = geared()
    wanted = 0.3 * np.sin(np.linspace(0.0, 6.0, 80))
    q, shares = figure.assembler.frames({"left_motor": wanted, "right_motor": -wanted}, figure.neutral())
    assert (shares == 1.0).all()
    apart = figure.assembler.frames({"left_motor": wanted, "right_motor": wanted}, figure.neutral())[1]
    assert (apart[1:] < 1.0).any()
    assert max(figure.closure_error(frame) for frame in q) <= CLOSED


@given(st.lists(st.floats(-0.12, 0.12), min_size=6, max_size=6))
@settings(max_examples=40)
def test_a_narrow_ball_joint_holds_whatever_the_motors_are_asked(values: list[float]) -> None:
    figure = narrow()
    result = figure.assemble({f"leg_{k + 1}_motor": value for k, value in enumerate(values)})
    assert_legal(figure, result)
    wide = poise.load("stewart").assemble({f"leg_{k + 1}_motor": value for k, value in enumerate(values)})
    if figure.violations(wide.posture.q) == [] and wide.status == "assembled":
        assert result.status == "assembled"


def test_a_ball_joint_at_its_limit_is_named_and_nothing_nearer_is_legal() -> None:
    figure = narrow()
    wanted = {f"leg_{k + 1}_motor": value for k, value in enumerate((0.1, -0.1, 0.1, -0.1, 0.1, -0.1))}
    result = figure.assemble(wanted)
    assert (result.status, result.stopped) == ("closest", ("leg_1_head",))
    assert_legal(figure, result)
    distance = sum((float(result.motors[m]) - value) ** 2 for m, value in wanted.items())
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = {m: float(result.motors[m]) + float(rng.normal(0.0, 0.005)) for m in wanted}
        beside = figure.assemble(other, near=result.posture)
        assert_legal(figure, beside)
        assert sum((float(beside.motors[m]) - value) ** 2 for m, value in wanted.items()) >= distance - 1e-9


def test_from_afar_ball_joints_end_inside_their_limits() -> None:
    figure = narrow()
    start = figure.posture({"leg_2_foot": (0.4, -0.3), "leg_5_foot": (-0.5, 0.2), "leg_3_motor": 0.1})
    result = figure.assemble({}, near=start)
    assert_legal(figure, result)


@given(st.integers(0, 2**32 - 1))
def test_derivatives_of_inequalities(seed: int) -> None:
    """Every inequality of a figure with couplings of hinges and of a twist, and with a limited ball joint."""
    made = Builder("shoulder")
    made.body("ground")
    made.body("arm", parent="ground", joint=ball("ball", BallLimits(Ellipse(0.7, 0.4), Twist.between(-0.5, 0.3))))
    made.body("hand", parent="arm", joint=revolute("wrist", "x"), at=(0.0, 0.3, 0.0))
    made.couple("both", {"ball.twist": 1.0, "wrist": -2.0})
    made.bound("swings", {"ball.swing_x": 1.0, "wrist": 0.5}, -0.2, 0.4)
    figure = made.build()
    found = find_inequalities(figure)
    inequalities = make_inequalities(figure, found, np.arange(len(found)))
    assert [inequality.name for inequality in found] == ["both", "swings", "ball", "ball", "ball"]
    posture, h = figure.random(np.random.default_rng(seed)), 1e-6
    inequalities.side[:] = 1
    rows = np.zeros((len(found), figure.nv))
    fill_inequality_rows(inequalities, posture._q, rows)
    for k in range(figure.nv):
        nudge = np.eye(figure.nv)[k] * h
        ahead, behind = (figure.integrate(posture, sign * nudge)._q for sign in (1.0, -1.0))
        for i in range(len(found)):
            slope = (inequality_value(inequalities, i, ahead) - inequality_value(inequalities, i, behind)) / (2.0 * h)
            assert rows[i, k] == pytest.approx(slope, abs=2e-5 * (1.0 + abs(slope)))
    assert math.isfinite(float(rows.sum()))
