"""Intersection of circles: exact solutions, n - 2 placements, safe zones in closed form, in any plane."""

import itertools
import math

import numpy as np
import pytest

import poise
from poise.chains import circle_zones, circles
from poise.chains.zones import safe_zones
from poise.figure.model.builder import Builder, revolute
from poise.kernels.chains.circles import arc_distance, place

FINGERS = ("index", "middle", "ring", "little")


def planar(lengths, axis="z", placement=None, limit=math.pi):
    """Hinges about parallel axes, with links across them and hinges that are not all at the same height."""
    made = Builder("planar", placement=placement or poise.Pose())
    upper = made.body("base")
    along = {"x": (0, 1, 0.0), "y": (0, 0, 1.0), "z": (1.0, 0, 0)}[axis]
    beside = np.array({"x": (0.03, 0, 0), "y": (0, 0.03, 0), "z": (0, 0, 0.03)}[axis])
    at = np.zeros(3)
    for k, length in enumerate(lengths):
        direction = f"-{axis}" if k % 2 else axis
        upper = made.body(
            f"link_{k}", parent=upper, joint=revolute(f"hinge_{k}", direction, limits=(-limit, limit)), at=at
        )
        at = np.array(along) * length + beside * (k % 3)
    made.site("tip", upper, at=at)
    return made.build()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_n_points_take_n_minus_2_placements_and_end_on_the_target(count):
    rng = np.random.default_rng(count)
    for _ in range(40):
        figure = planar(10.0 ** rng.uniform(-2, 0, count), rng.choice(["x", "y", "z"]))
        target = figure.pose_of("tip", figure.random(rng)).position
        result = circles(figure, target, start=figure.random(rng), limits=False)
        assert result.iterations == (count + 1) - 2
        assert result.status == "solved"
        assert np.linalg.norm(figure.pose_of("tip", result.posture).position - target) <= 1e-12


def test_any_plane_will_do():
    rng = np.random.default_rng(3)
    for _ in range(30):
        placement = poise.Pose(rng.normal(size=3), rng.normal(size=4))
        figure = planar([0.4, 0.3, 0.2], placement=placement)
        target = figure.pose_of("tip", figure.random(rng)).position
        result = circles(figure, target, start=figure.random(rng))
        assert np.linalg.norm(figure.pose_of("tip", result.posture).position - target) <= 1e-12
        assert figure.violations(result.posture) == []


def test_a_turntable_brings_the_plane_to_the_target():
    arm = poise.load("arm")
    rng = np.random.default_rng(4)
    for _ in range(60):
        target = arm.pose_of("tip", arm.random(rng)).position
        result = circles(arm, target, start=arm.random(rng))
        assert np.linalg.norm(arm.pose_of("tip", result.posture).position - target) <= 1e-12
        assert arm.violations(result.posture) == []


def test_a_turntable_does_not_change_how_many_placements_it_takes():
    arm = poise.load("arm")
    rng = np.random.default_rng(4)
    for target in (*rng.normal(size=(40, 3)), np.array([0.0, 0.25, 0.0]), np.array([0.0, 3.0, 0.0])):
        assert circles(arm, target, start=arm.random(rng), limits=False).iterations == 2


def test_an_oblique_turntable_beside_the_plane_will_do():
    made = Builder("crane")
    upper = made.body("base")
    upper = made.body("table", parent=upper, joint=revolute("table", (0.2, 1.0, -0.3)))
    for k, at in enumerate([(0.1, 0.2, 0.15), (0.05, 0.5, 0.0), (0.0, 0.4, 0.0)]):
        upper = made.body(f"link_{k}", parent=upper, joint=revolute(f"hinge_{k}", "x"), at=at)
    made.site("tip", upper, at=(0.02, 0.3, 0.1))
    crane = made.build()
    rng = np.random.default_rng(5)
    for _ in range(40):
        target = crane.pose_of("tip", crane.random(rng)).position
        result = circles(crane, target, start=crane.random(rng))
        assert result.status == "solved"
        assert result.error <= 1e-12


@pytest.mark.parametrize(
    ("lengths", "known"),
    [
        ((0.45, 0.40, 0.20), (0.0, 1.05)),
        ((1.0, 0.2, 0.3), (0.5, 1.5)),
        ((0.2, 1.0), (0.8, 1.2)),
        ((0.5, 0.5), (0.0, 1.0)),
        ((0.1, 0.1, 0.1, 2.0, 0.1), (1.6, 2.4)),
    ],
)
def test_safe_zones_have_their_closed_form(lengths, known):
    figure = planar(lengths)
    assert safe_zones(np.array(lengths)) == pytest.approx(known, abs=1e-15)
    # Links of the figure are a little longer in space than in the plane, where heights over it do not count.
    assert circle_zones(figure) == pytest.approx(known, abs=1e-12)


def closes(lengths, distance):
    """Whether placements join links of these lengths between the base and a target at a distance."""
    m = len(lengths)
    x, y, radius = np.zeros(m + 1), np.zeros(m + 1), np.empty(m)
    x[m] = distance
    share, side, none = np.full(m, -1.0), np.ones(m), np.zeros(m)
    assert place(np.array(lengths), none, distance, share, side, none, 1.0, x, y, radius) == m - 1
    return np.abs(np.hypot(np.diff(x), np.diff(y)) - lengths).max() < 1e-9


def test_the_zones_are_where_placements_begin_and_cease_to_meet():
    rng = np.random.default_rng(6)
    for _ in range(30):
        lengths = rng.uniform(0.1, 1.0, rng.integers(2, 6))
        lengths[rng.integers(len(lengths))] *= 3.0
        least, most = safe_zones(lengths)
        inside = np.linspace(least, most, 50)[1:-1]
        assert all(closes(lengths, distance) for distance in inside)
        assert not closes(lengths, most + 1e-3)
        assert least < 1e-3 or not closes(lengths, least - 1e-3)


def test_a_target_outside_the_zones_is_answered_at_their_border():
    figure = planar((1.0, 0.2, 0.3))
    level = figure.pose_of("tip", figure.neutral()).position[2]
    for distance, gap in ((0.2, 0.3), (2.0, 0.5), (0.0, 0.5)):
        result = circles(figure, (0.6 * distance, 0.8 * distance, level))
        assert (result.status, result.iterations) == ("unreachable", 2)
        assert result.error == pytest.approx(gap, abs=1e-12)


def test_a_target_beside_the_plane_is_answered_in_the_plane():
    figure = planar((0.4, 0.3))
    level = figure.pose_of("tip", figure.neutral()).position[2]
    result = circles(figure, (0.3, 0.3, level + 0.1))
    assert result.status == "unreachable"
    assert result.error == pytest.approx(0.1, abs=1e-12)


def test_the_first_example_of_the_paper_is_straight_beyond_the_wrist():
    # Figure 4: beyond the reach of all links but the last, all but the last are in line.
    figure = planar((0.4, 0.3, 0.2))
    level = figure.pose_of("tip", figure.neutral()).position[2]
    result = circles(figure, (0.5, 0.6, level), start={"hinge_2": 0.3})
    hinges = [figure.pose_of(f"link_{k}", result.posture).position[:2] for k in range(3)]
    assert np.linalg.norm(hinges[2] - hinges[0]) == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("keep", ["directions", "distances"])
def test_a_chain_that_keeps_something_moves_little_for_a_target_that_moves_little(keep):
    arm = poise.load("arm")
    posture = arm.posture("ready")
    here = arm.pose_of("tip", posture).position
    result = circles(arm, here + np.array([0.0, 1e-4, -1e-4]), start=posture, keep=keep)
    assert np.abs(result.posture.q - posture.q).max() < 2e-3
    if keep == "directions":
        before, after = (arm.pose_of("hand", p).rotation for p in (posture, result.posture))
    else:
        before, after = (
            np.linalg.norm(np.subtract(*(arm.pose_of(b, p).position for b in ("hand", "upper_arm"))))
            for p in (posture, result.posture)
        )
    assert after == pytest.approx(before, abs=1e-12)


def test_what_cannot_be_kept_is_one_sentence():
    with pytest.raises(poise.TaskError, match="can keep 'directions', 'distances' or an 'arc', not 'shape'"):
        circles(poise.load("arm"), (0.3, 0.5, 0.4), keep="shape")


def test_limits_are_kept_by_other_bends():
    cyclist = poise.load("cyclist")
    for angle in np.linspace(0.0, 2.0 * np.pi, 25):
        pedals = {side: pedal(cyclist, angle, side) for side in ("left", "right")}
        result = circles(cyclist, {f"{side}_foot": place for side, place in pedals.items()})
        assert result.status == "solved"
        assert max(result.errors.values()) <= 1e-12
        assert cyclist.violations(result.posture) == []


def pedal(cyclist, angle, side):
    return cyclist.pose_of(f"{side}_pedal", cyclist.neutral().changed({"crank": angle})).position


def test_long_chains_find_a_way_inside_narrow_limits():
    figure = poise.chain("Z" * 8, lengths=[0.2] * 8, limits=90)
    rng = np.random.default_rng(9)
    met = 0
    for _ in range(200):
        target = figure.pose_of("tip", figure.random(rng)).position
        result = circles(figure, target, start=figure.random(rng))
        assert figure.violations(result.posture) == []
        assert result.status != "solved" or result.error <= 1e-12
        met += result.status == "solved"
    assert met >= 188


def test_hinges_without_limits_among_limited_ones_take_part():
    limits = [(-60, 60), (-math.inf, math.inf), (-40, 40), (-math.inf, 30), (-50, 50), (-20, math.inf)]
    figure = poise.chain("X" * 6, lengths=[0.2] * 6, limits=limits)
    rng = np.random.default_rng(10)
    met = 0
    for _ in range(100):
        target = figure.pose_of("tip", figure.random(rng)).position
        result = circles(figure, target, start=figure.random(rng))
        assert np.isfinite(result.posture.q).all()
        assert figure.violations(result.posture) == []
        met += result.status == "solved"
    assert met >= 90


def test_every_finger_of_a_hand_is_placed_by_itself():
    hand = poise.load("hand").replaced(couplings=())
    curled = hand.neutral().changed({f"{finger}_{joint}": 0.6 for finger in FINGERS for joint in ("pip", "dip")})
    targets = {f"{finger}_tip": hand.pose_of(f"{finger}_tip", curled).position for finger in FINGERS}
    result = circles(hand, targets, hold=["wrist"], limits=False)
    assert (result.status, result.iterations) == ("solved", 4 * (4 - 2))
    assert list(result.errors) == list(targets)
    assert result.error == max(result.errors.values()) <= 1e-12
    with pytest.raises(poise.TaskError, match=r"joint 'wrist' moves several .* hold it with hold=\['wrist'\]"):
        circles(hand, targets)


def test_no_target_is_one_sentence():
    with pytest.raises(poise.TaskError, match="needs at least one end-point"):
        circles(poise.load("arm"), {})


def test_hinges_through_the_tip_take_no_part():
    lamp = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=170)
    rng = np.random.default_rng(8)
    for _ in range(20):
        q = lamp.random(rng).q.copy()
        q[[3, 4]] = 0.0
        target = lamp.pose_of("tip", q).position
        result = circles(lamp, target)
        assert (result.posture["joint_4"], result.posture["joint_5"]) == (0.0, 0.0)
        assert result.error <= 1e-12


def crossings(points: np.ndarray) -> int:
    """Number of pairs of links, given by the points that they join, that cross each other."""

    def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
        return float((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0])

    links = list(itertools.pairwise(points))
    pairs = [(links[i], links[j]) for i in range(len(links)) for j in range(i + 2, len(links))]
    return sum(
        side(a, b, c) * side(a, b, d) < -1e-12 and side(c, d, a) * side(c, d, b) < -1e-12 for (a, b), (c, d) in pairs
    )


@pytest.mark.parametrize("links", [3, 8])
def test_links_on_an_arc_never_cross(links: int) -> None:
    rng = np.random.default_rng(links)
    crossed = {"arc": 0, None: 0}
    for _ in range(100):
        lengths = rng.uniform(0.05, 0.4, links)
        figure = poise.chain("X" * links, lengths.tolist())
        target = np.array([0.0, *rng.uniform(-0.7, 0.7, 2) * lengths.sum()])
        for keep in crossed:
            r = poise.chains.circles(figure, target, keep=keep, limits=False, start=figure.random(rng))
            low, high = poise.chains.circle_zones(figure)
            away = np.linalg.norm(target - figure.pose_of(figure.bodies.names[1], r.posture).position)
            if low < away < high:
                assert r.error < 1e-9
            places = [figure.pose_of(name, r.posture).position[1:] for name in (*figure.bodies.names, "tip")]
            crossed[keep] += crossings(np.array(places)) > 0
    assert crossed["arc"] == 0
    assert links < 8 or crossed[None] > 5, "with the paper's radii they do"


def test_an_arc_is_a_regular_polygon_if_all_sides_are_equal() -> None:
    for sides in (4, 7, 20):
        length = np.full(sides - 1, 0.3)
        for k in range(1, sides - 1):
            d = 0.3 * np.sin(np.pi * (k + 1) / sides) / np.sin(np.pi / sides)
            wanted = 0.3 * np.sin(np.pi * k / sides) / np.sin(np.pi / sides)
            assert arc_distance(length, k, d) == pytest.approx(wanted, abs=1e-12)


def test_an_arc_of_a_straight_chain_is_straight() -> None:
    assert arc_distance(np.array([0.2, 0.3, 0.1]), 2, 0.6) == pytest.approx(0.5, abs=1e-6)


def fork() -> poise.Figure:
    """Three hinges, and two branches of two hinges each."""
    made = Builder("fork")
    made.body("a", joint=revolute("a", "z"))
    made.body("b", parent="a", joint=revolute("b", "z"), at=(0.4, 0.0, 0.0))
    made.body("c", parent="b", joint=revolute("c", "z"), at=(0.3, 0.0, 0.0))
    for side in ("left", "right"):
        made.body(f"{side}_1", parent="c", joint=revolute(f"{side}_1", "z"), at=(0.3, 0.0, 0.0))
        made.body(f"{side}_2", parent=f"{side}_1", joint=revolute(f"{side}_2", "z"), at=(0.25, 0.0, 0.0))
        made.site(f"{side}_tip", f"{side}_2", at=(0.2, 0.0, 0.0))
    return made.build()


def test_end_points_that_share_joints_are_placed_together():
    figure, rng, missed = fork(), np.random.default_rng(1), 0
    for _ in range(60):
        reached = figure.random(rng)
        targets = {tip: figure.pose_of(tip, reached).position for tip in ("left_tip", "right_tip")}
        result = circles(figure, targets, start=figure.random(rng), tolerance=1e-6)
        for tip, target in targets.items():
            apart = np.linalg.norm(figure.pose_of(tip, result.posture).position - target)
            assert result.errors[tip] == pytest.approx(apart, abs=1e-9)
            assert apart < 0.05
        assert (result.status == "solved") is (result.error <= 1e-6)
        missed += result.status != "solved"
    assert missed <= 6


def test_end_points_that_cannot_both_be_reached_are_missed_alike():
    result = circles(fork(), {"left_tip": (0.0, 3.0, 0.0), "right_tip": (0.0, -3.0, 0.0)})
    assert result.status != "solved"
    assert np.isfinite(result.posture.q).all()
    assert result.errors["left_tip"] == pytest.approx(result.errors["right_tip"], rel=0.2)
