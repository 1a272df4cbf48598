import math

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.kernels.body.limits import clamp_angle
from tests.unit.figure.model.samples import every_kind, leg, two_links


def socket(limits: BallLimits):
    b = Builder("socket")
    b.body("body")
    b.body("limb", parent="body", joint=ball("joint", limits))
    return b.build()


def swung(x, y, twist=0.0):
    angle = math.hypot(x, y)
    s = 0.5 if angle == 0 else math.sin(angle / 2) / angle
    swing = np.array([math.cos(angle / 2), s * x, s * y, 0.0])
    c, t = math.cos(twist / 2), math.sin(twist / 2)
    w, a, b, _ = swing
    return [w * c, a * c + b * t, b * c - a * t, w * t]


def test_intervals_clamp_to_the_nearest_end():
    figure = two_links()
    outside = figure.posture([3.0, -1.0])
    assert [str(v) for v in figure.violations(outside)] == [
        "shoulder exceeds its angle limit by 1 rad (57.2958°)",
        "elbow exceeds its angle limit by 1 rad (57.2958°)",
    ]
    assert figure.clamp(outside).q.tolist() == [2.0, 0.0]
    assert figure.violations(figure.clamp(outside)) == []


def test_legal_postures_are_returned_untouched():
    figure = every_kind()
    legal = figure.random(7)
    assert figure.clamp(legal) == legal


def test_swing_ellipse_stops_each_axis_at_its_radius():
    figure = socket(BallLimits(Ellipse(0.5, 1.0)))
    for wanted, allowed in (((0.9, 0.0), (0.5, 0.0)), ((0.0, -1.4), (0.0, -1.0)), ((0.3, 0.3), (0.3, 0.3))):
        clamped = figure.clamp({"joint": swung(*wanted)}).q
        assert abs(clamped @ swung(*allowed)) == pytest.approx(1.0, abs=1e-12)


def test_clamping_the_swing_adds_no_twist_along_an_axis():
    figure = socket(BallLimits(Ellipse(0.5, 1.0), Twist.between(-0.4, 0.4)))
    clamped = figure.clamp({"joint": swung(0.9, 0.0, 0.2)}).q
    assert abs(clamped @ swung(0.5, 0.0, 0.2)) == pytest.approx(1.0, abs=1e-12)


def test_twist_limits_may_depend_on_the_swing():
    figure = socket(BallLimits(None, Twist.between([-0.5, 0.2], [0.5, 0.2])))
    clamped = figure.clamp({"joint": swung(1.0, 0.0, 1.5)}).q
    assert abs(clamped @ swung(1.0, 0.0, 0.7)) == pytest.approx(1.0, abs=1e-12)
    assert figure.violations({"joint": swung(1.0, 0.0, 0.69)}) == []
    assert [v.limit for v in figure.violations({"joint": swung(-1.0, 0.0, 0.69)})] == ["twist"]


def test_the_region_may_lie_away_from_rest():
    tilted = (math.cos(0.5), math.sin(0.5), 0.0, 0.0)
    figure = socket(BallLimits(Ellipse(0.3, 0.3), cone=tilted))
    assert [v.limit for v in figure.violations([1.0, 0.0, 0.0, 0.0])] == ["swing"]
    assert abs(figure.neutral().q @ swung(0.7, 0.0)) == pytest.approx(1.0, abs=1e-9)
    assert figure.violations({"joint": swung(1.2, 0.0)}) == []


def test_a_concave_region_is_not_jumped_across():
    horseshoe = Polygon(
        (
            (0.8, -0.8, 1),
            (0.8, 0.8, 1),
            (-0.8, 0.8, 1),
            (-0.8, 0.5, 1),
            (0.5, 0.5, 1),
            (0.5, -0.5, 1),
            (-0.8, -0.5, 1),
            (-0.8, -0.8, 1),
        )
    )
    figure = socket(BallLimits(horseshoe))
    upper = {"joint": swung(-0.55, -0.5)}
    lower = {"joint": swung(0.55, -0.5)}
    assert figure.violations(upper) == []
    assert figure.violations(lower) == []
    assert figure.clamp(lower) == figure.posture(lower)
    held = figure.clamp(lower, previous=upper)
    assert figure.violations(held) == []
    assert figure.difference(held, lower) @ figure.difference(held, lower) > 0.1


def test_couplings_hold_after_clamping_and_in_named_values():
    figure = leg()
    followed = figure.posture({"knee": 1.2})
    assert followed["toe"] == pytest.approx(0.3)
    assert followed.changed({"knee": 0.8})["toe"] == pytest.approx(0.2)
    assert figure.violations(figure.posture({"knee": 1.2, "toe": 0.0}))[0].part == "follow"
    clamped = figure.clamp({"knee": 1.2, "toe": 0.0})
    knee = (1.2 + 0.25 * 0.0) / (1 + 0.0625)
    assert (clamped["knee"], clamped["toe"]) == pytest.approx((knee, 0.25 * knee))
    assert figure.violations(clamped) == []


def test_a_coupling_of_a_ball_joint_moves_it_and_its_partner():
    figure = leg()
    bent_back = {"hip": (math.cos(-0.9), math.sin(-0.9), 0.0, 0.0), "knee": 0.0}
    assert [v.part for v in figure.violations(bent_back)] == ["hamstring"]
    clamped = figure.clamp(bent_back)
    assert figure.violations(clamped) == []
    assert 0.0 < clamped["knee"] < 0.6


def test_random_postures_are_legal():
    for figure in (two_links(), every_kind(), leg()):
        for seed in range(20):
            assert figure.violations(figure.random(seed)) == []


@pytest.mark.parametrize(
    ("angle", "low", "high", "expected"),
    [
        (0.1, -1.0, 1.0, 0.1),
        (1.5, -1.0, 1.0, 1.0),
        (-1.5, -1.0, 1.0, -1.0),
        (3.1, -3.0, 1.0, -3.0),
        (-3.1, 3.0, 3.3, -3.1),
        (9.0, -4.0, 4.0, 9.0),
    ],
)
def test_angles_clamp_on_the_circle(angle, low, high, expected):
    assert clamp_angle(angle, low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Ellipse(0.0, 1.0), "between 0 and π"),
        (lambda: Polygon(((1, 0, 0), (0, 1, 0))), "at least 3 vertices"),
        (lambda: Polygon(((1, 0, 0), (1, 0, 0), (0, 1, 0))), "distinct and not opposite"),
        (lambda: BallLimits(None, Twist.between(0.5, -0.5)), "least twist"),
        (lambda: BallLimits(Ellipse(1.0, 1.0), Twist.between([-0.5, 1.0], 0.2)), "exceeds the greatest"),
        (lambda: Twist.between([0.0] * 7, 1.0), "up to six coefficients"),
        (
            lambda: revolute("j", "x", limits=(1.0, -1.0)),
            r"lower limit 1 rad \(57.2958°\) above its upper limit -1 rad",
        ),
        (lambda: revolute("j", "x", limits=(math.nan, 1.0)), "not a number"),
    ],
)
def test_limits_that_limit_nothing_are_refused(make, sentence):
    with pytest.raises(FigureError, match=sentence):
        make()


def test_couplings_that_the_limits_forbid_are_refused():
    b = Builder("stuck")
    b.body("a")
    b.body("b", parent="a", joint=revolute("one", "x", limits=(0.0, 0.1)))
    b.body("c", parent="b", joint=revolute("two", "x", limits=(0.0, 0.1)))
    b.couple("sum", {"one": 1.0, "two": 1.0}, equals=3.0)
    with pytest.raises(FigureError, match="cannot be satisfied inside its limits"):
        b.build()
