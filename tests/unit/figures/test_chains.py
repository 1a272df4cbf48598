"""Chains from letters, and the papers' chains."""

import math

import numpy as np
import pytest

import poise
from poise.errors import FigureError
from poise.figures import built_in, chain


def test_the_contract_line() -> None:
    figure = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=90)
    assert [joint.axes[0] for joint in figure.joints] == [(0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0)]
    assert figure.nq == 5
    assert figure.pose_of("tip", figure.neutral()).position == pytest.approx([0.0, 1.1, 0.0])
    assert all(joint.lower == (-math.pi / 2,) and joint.upper == (math.pi / 2,) for joint in figure.joints)


def test_each_hinge_moves_what_lies_above_it() -> None:
    figure = chain("XZ", [0.2, 0.5])
    bent = figure.posture([0.0, math.radians(90.0)])
    # Turned about +Z, what pointed along +Y points along -X.
    assert figure.pose_of("tip", bent).position == pytest.approx([-0.5, 0.2, 0.0])
    bowed = figure.posture([math.radians(90.0), 0.0])
    assert figure.pose_of("tip", bowed).position == pytest.approx([0.0, 0.0, 0.7])


def test_the_tip_points_along_its_y() -> None:
    figure = chain("YXZ", [0.2, 0.3, 0.4])
    posture = figure.posture([0.3, -0.7, 0.9])
    tip, last = figure.pose_of("tip", posture), figure.pose_of("segment_3", posture)
    assert tip.matrix[:, 1] == pytest.approx((tip.position - last.position) / 0.4)


def test_signs_and_oblique_axes() -> None:
    signed = chain("-YX-Z", [1, 1, 1])
    assert [joint.axes[0] for joint in signed.joints] == [(0, -1, 0), (1, 0, 0), (0, 0, -1)]
    oblique = chain(["y", (1.0, 1.0, 0.0), "-x"], [1, 1, 1])
    assert oblique.joints[1].axes[0] == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0))


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (45, [(-45, 45), (-45, 45), (-45, 45)]),
        ((-10, 80), [(-10, 80), (-10, 80), (-10, 80)]),
        ([10, 20, 30], [(-10, 10), (-20, 20), (-30, 30)]),
        ([10, (-5, 15), 30], [(-10, 10), (-5, 15), (-30, 30)]),
        (np.array([[-1, 2], [-3, 4], [-5, 6]]), [(-1, 2), (-3, 4), (-5, 6)]),
    ],
)
def test_limits_in_degrees(limits: object, expected: list[tuple[float, float]]) -> None:
    figure = chain("XYZ", [1, 1, 1], limits=limits)  # type: ignore[arg-type]
    given = [(joint.lower[0], joint.upper[0]) for joint in figure.joints]
    assert np.degrees(given) == pytest.approx(np.array(expected, dtype=float))


def test_two_numbers_for_two_hinges_are_a_pair_only_when_the_first_is_negative() -> None:
    each = chain("XY", [1, 1], limits=(30, 60))
    assert np.degrees([joint.upper[0] for joint in each.joints]) == pytest.approx([30, 60])
    pair = chain("XY", [1, 1], limits=(-30, 60))
    assert np.degrees([joint.upper[0] for joint in pair.joints]) == pytest.approx([60, 60])


def test_axes_may_cross_as_those_of_a_bracket() -> None:
    figure = chain("YX", lengths=[0, 0.1], limits=60)
    turned = figure.posture({"joint_1": 0.5, "joint_2": 0.4})
    assert figure.pose_of("segment_1", turned).position == pytest.approx(figure.pose_of("segment_2", turned).position)
    assert poise.reach(figure, "tip", figure.pose_of("tip", turned).position).status == "solved"
    tip = figure.pose_of("tip", turned)
    direction = tip.apply((0, 1, 0)) - tip.position
    assert poise.Expressive(figure).solve(figure.neutral(), direction).orientation_error < 1e-3


@pytest.mark.parametrize(
    ("axes", "lengths", "limits", "message"),
    [
        ("YX", [1, 1], (90, -90), r"goes from a lower to an upper angle, and ±-90 does not: give \(-90, 90\) or 90"),
        ("XYZ", [1, 1, 1], (90, -90), r"and \(90, -90\) does not: give \(-90, 90\)"),
        ("YXQ", [1, 1, 1], 90, "letters X, Y, Z"),
        ("", [], 90, "at least one axis"),
        ("YX", [1, 0], 90, "positive number, not 0"),
        ("YX", [1, -2], 90, "positive number, not -2"),
        ("YX", [1, math.nan], 90, "positive number"),
        ("YX", [1], 90, "needs 2 lengths, not 1"),
        ("YXZ", [1, 1, 1], [1, 2, 3, 4], "not 4"),
        ("YXZ", [1, 1, 1], [1, (1, 2, 3), 3], "pair"),
        ("YX", [1, 1], math.nan, "pair"),
        ([(0, 0, 0)], [1], 90, "no direction"),
    ],
)
def test_refuses(axes: object, lengths: list[float], limits: object, message: str) -> None:
    with pytest.raises(FigureError, match=message):
        chain(axes, lengths, limits=limits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("letter", "axes", "degrees"),
    [
        ("a", "YXY", 90),
        ("b", "YXZY", 180),
        ("c", "YXXZY", 90),
        ("d", "YXZXY", 180),
        ("e", "YXZXY", 90),
        ("f", "YXXZXY", 90),
        ("g", "YXZXYXZY", 90),
    ],
)
def test_skeletons_of_table_5(letter: str, axes: str, degrees: float) -> None:
    figure = built_in(f"erik_{letter}")
    assert "".join("XYZ"[int(np.argmax(joint.axes[0]))] for joint in figure.joints) == axes
    assert np.degrees([joint.upper[0] for joint in figure.joints]) == pytest.approx(degrees)
    assert np.degrees([joint.lower[0] for joint in figure.joints]) == pytest.approx(-degrees)
    heights = [figure.pose_of(name, figure.neutral()).position[1] for name in (*figure.bodies.names[1:], "tip")]
    assert np.diff(heights) == pytest.approx([0.1, *[0.3] * (len(axes) - 2), 0.1])


def test_skeleton_c_agrees_with_the_denavit_hartenberg_table() -> None:
    """[Ribeiro & Paiva 2019, table 6]: joint offsets 10, 30, 30 and, for the tip, 30 + 10 = 40 centimetres."""
    figure = built_in("erik_c")
    posture = figure.posture(np.radians([0.0, 90.0, 0.0, 0.0, 0.0]))
    assert figure.pose_of("tip", posture).position == pytest.approx([0.0, 0.1, 0.3 + 0.3 + 0.4])
