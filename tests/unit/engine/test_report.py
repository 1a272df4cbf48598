"""Reports: wanted and actual values in words, limits that are reached, and the layout of the table."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.engine.result import HEADINGS, Result, Verdict, headline, limits_line, report, rows
from poise.engine.solver import Solver
from poise.figure.collision.soles import support_polygon
from poise.figure.model.builder import Builder, prismatic, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, turn
from poise.figure.model.posture import reached_limits
from poise.figure.model.shapes import Box
from poise.figures import built_in
from poise.tasks.amounts import amount, length
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task
from poise.tasks.words import place_words, turn_words


def crane() -> Figure:
    """A square foot of 20 cm, a mast that turns, and an arm that slides out along x."""
    b = Builder("crane")
    b.body("foot", mass=1.0, shapes=[Box((0.2, 0.02, 0.2), pose=Pose((0, 0.01, 0)))])
    b.body("mast", parent="foot", joint=revolute("turn", "y", limits=(-1.0, math.pi / 2)), at=(0, 1, 0))
    b.body("arm", parent="mast", joint=prismatic("reach", "x", limits=(0.0, 0.5)), mass=1.0)
    b.site("hook", "arm", at=(0.5, 0, 0))
    b.posture("ahead", {"turn": 0.0, "reach": 0.0})
    return b.build()


CRANE = crane()
QUARTER = CRANE.posture({"turn": math.pi / 2, "reach": 0.25})
"""The hook is at (0, 1, -0.75)."""


@pytest.mark.parametrize(
    ("task", "wanted", "got"),
    [
        (Position("hook", (0, 1, 0)), "(0.000, 1.000, 0.000)", "(0.000, 1.000, -0.750)"),
        (Position("hook", (0, 1, 0), "zy"), "z 0.000, y 1.000", "z -0.750, y 1.000"),
        (Position("hook", (0, 1, 0), [[0, 0, 2], [0, 1, 0]]), "(0.000, 1.000)", "(-0.750, 1.000)"),
        (Position("hook", (0, 0, 0), offset=(1, 0, 0)), "(0.000, 0.000, 0.000)", "(0.000, 1.000, -1.750)"),
        (Position("hook", (0, 0, 0), relative_to="mast"), "(0.000, 0.000, 0.000) from mast", "(0.750, 0.000, 0.000)"),
        (Orientation("hook", turn("x", -30)), "30.0° about (-1.00, 0.00, 0.00)", "90.0° about (0.00, 1.00, 0.00)"),
        (Orientation("hook", (1, 0, 0, 0), relative_to="mast"), "not turned", "not turned"),
        (
            Frame("hook", Pose((1, 0, 0))),
            "(1.000, 0.000, 0.000), not turned",
            "(0.000, 1.000, -0.750), 90.0° about (0.00, 1.00, 0.00)",
        ),
        (LookAt("hook", at=(0, 1, 1.25), axis=(1, 0, 0)), "(0.000, 1.000, 1.250)", "(0.000, 1.000, -2.750)"),
        (LookAt("hook", direction=(0, 0, 3)), "along (0.000, 0.000, 1.000)", "along (0.000, 1.000, 0.000)"),
        (
            LookAt("hook", at=(0, 0, -1), axis=(1, 0, 0), relative_to="foot"),
            "(0.000, 0.000, -1.000)",
            f"(0.000, 1.000, {-0.75 - math.hypot(1, 0.25):.3f})",
        ),
        (CenterOfMass(over="foot"), "over foot", "2.5 cm outside"),
        (CenterOfMass(over=["foot"], margin=0.01), "over foot, 1 cm inside", "2.5 cm outside"),
        (CenterOfMass(at=(0, 0, 0), axes="xz"), "x 0.000, z 0.000", "x 0.000, z -0.125"),
        (MomentOfInertia("y", 0.0), "as small as can be", "0.0379 kg m²"),
        (MomentOfInertia((0, 2, 0), 1.25), "1.25 kg m²", "0.0379 kg m²"),
        (Hold("ahead"), "ahead", "turn 90° off"),
        (Hold({"turn": math.pi / 2, "reach": 0.3}), "a posture of 2 joints", "reach 5 cm off"),
        (Hold({"turn": -0.5}, joints="turn"), "turn -28.6°", "turn 119° off"),
        (Hold(QUARTER), "a posture of 2 joints", "held"),
    ],
)
def test_what_was_wanted_and_got(task, wanted, got):
    assert tuple(task.compare(QUARTER)) == (wanted, got)


class Dance(Task):
    """A task of a type that reports do not know."""


def test_other_tasks_have_no_more_to_say_than_their_error():
    assert tuple(Dance().compare(QUARTER)) == ("", "")


@pytest.mark.parametrize(
    ("error", "unit", "words"),
    [
        (1.234, "m", "1.23 m"),
        (0.0123, "m", "1.23 cm"),
        (0.00123, "m", "1.23 mm"),
        (1e-7, "m", "0"),
        (math.pi / 6, "rad", "30°"),
        (1e-6, "rad", "0"),
        (0.5, "N m", "0.5 N m"),
        (1e-9, "N m", "0"),
    ],
)
def test_errors_are_said_in_units_of_people(error, unit, words):
    assert amount(error, unit) == words


@given(st.floats(1e-6, 100.0))
def test_a_length_in_words_is_that_length(metres):
    number, unit = length(metres).split()
    assert float(number) * {"m": 1.0, "cm": 0.01, "mm": 0.001}[unit] == pytest.approx(metres, rel=6e-3)


def test_no_number_is_minus_zero():
    assert place_words(np.array([-0.0001, -1e-12, 0.0])) == "(0.000, 0.000, 0.000)"
    assert turn_words(np.array(turn("y", 359.99))) == "not turned"
    assert turn_words(-np.array(turn("z", 40))) == "40.0° about (0.00, 0.00, 1.00)"


def test_the_weight_is_inside_or_outside_what_is_stood_on():
    inside = support_polygon(CRANE.posture({"reach": 0.1}), ["foot"])
    assert inside.inside == pytest.approx(0.05)
    assert support_polygon(QUARTER, ["foot"]).inside == pytest.approx(-0.025)
    corners = {tuple(np.round(corner, 6)) for corner in inside.corners}
    assert corners == {(x, 0.0, z) for x in (-0.1, 0.1) for z in (-0.1, 0.1)}
    edges = np.roll(inside.corners, -1, axis=0) - inside.corners
    assert np.allclose(np.linalg.norm(edges, axis=1), 0.2)


def test_the_human_stands_on_the_ground():
    soles = support_polygon(built_in("human").posture("standing"), ["left_foot", "right_foot"])
    assert soles.corners[:, 1] == pytest.approx(0.0, abs=1e-9)
    assert soles.inside > 0.05


def test_the_limits_reached_are_named():
    assert reached_limits(CRANE, CRANE.posture({"reach": 0.1})) == []
    assert reached_limits(CRANE, QUARTER) == ["turn"]
    assert reached_limits(CRANE, CRANE.posture({"turn": -1.0, "reach": 0.5})) == ["turn", "reach"]


def test_ball_joints_reach_their_swing_and_their_twist():
    human = built_in("human")
    inside = human.posture("waving")
    wide = human.clamp({"left_shoulder": turn("x", 170), "neck": turn("y", 170)})
    names = reached_limits(human, wide)
    assert "neck (twist)" in names
    assert any(name.startswith("left_shoulder (") for name in names)
    assert "neck (twist)" not in reached_limits(human, inside)
    for name in names:
        joint = name.split(" (")[0]
        assert joint in human.joints.names or joint in human.couplings.names


def result(status, *verdicts, steps=12, posture=QUARTER):
    return Result(posture, status, verdicts, steps, 1e-6)


def test_the_whole_report():
    stand = Verdict(CenterOfMass(over="foot", priority=1), 1e-9, True)
    grab = Verdict(Position("hook", (0, 1, 0), priority=2, name="grab"), 0.75, False, ("centre of mass",), ("turn",))
    text = report(result("compromised", grab, stand))
    assert text == (
        "Compromised after 12 steps: some task gave way to another one near this start "
        "(restarts=10 tries other starts).\n"
        "\n"
        "level  task            wanted                 got                     error  outcome\n"
        "1      centre of mass  over foot              2.5 cm outside              0  met\n"
        "2      grab            (0.000, 1.000, 0.000)  (0.000, 1.000, -0.750)  75 cm  "
        "gave way to centre of mass; blocked by turn\n"
        "\n"
        "At their limits: turn."
    )
    assert result("compromised", grab, stand).report() == text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("solved", "Solved after 1 step: every task is met."),
        ("unreachable", "Unreachable after 1 step: some task is out of reach"),
        ("stalled", "Stalled after 1 step: the posture was still moving"),
    ],
)
def test_every_status_has_a_sentence(status, words):
    assert headline(result(status, steps=1)).startswith(words)


def test_a_report_without_tasks_or_limits_is_short():
    free = result("solved", posture=CRANE.posture({"reach": 0.1}))
    assert rows(free) == []
    assert limits_line(free) == ""
    assert report(free).splitlines()[2].split() == list(HEADINGS)


@pytest.mark.parametrize(
    ("task", "value", "wanted"),
    [
        (Position("hook", (0, 1, 0)), (0.3, 1.0, 0.2), "(0.300, 1.000, 0.200)"),
        (Orientation("hook", turn("x", -30)), turn("y", 45), "45.0° about (0.00, 1.00, 0.00)"),
        (Frame("hook", Pose((1, 0, 0))), Pose((0.5, 1, 0)), "(0.500, 1.000, 0.000), not turned"),
        (LookAt("hook", at=(0, 1, 1.25), axis=(1, 0, 0)), (2.0, 1.0, 0.0), "(2.000, 1.000, 0.000)"),
        (LookAt("hook", direction=(0, 0, 3)), (1.0, 0.0, 0.0), "along (1.000, 0.000, 0.000)"),
        (CenterOfMass(at=(0, 0, 0), axes="xz"), (0.2, 0.0, 0.1), "x 0.200, z 0.100"),
        (MomentOfInertia("y", 1.25), 0.5, "0.5 kg m²"),
        (Hold({"turn": -0.5}, joints="turn"), {"turn": 0.5, "reach": 0.0}, "turn 28.6°"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Task) else None,
)
def test_a_report_speaks_of_the_target_that_was_given_last(task, value, wanted):
    solver = Solver(CRANE, [task, Hold("ahead", priority=9)])
    assert rows(solver.settle("ahead"))[0].wanted != wanted
    solver.target(task, value)
    result = solver.settle("ahead")
    assert rows(result)[0].wanted == wanted
    assert result.verdicts[0].task is task
