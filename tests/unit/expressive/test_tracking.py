"""Motion: no joint jumps, the gaze is held, and a change of branch is planned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import poise
from poise.chains.targets import Gaze, at, facing
from poise.expressive.expressive import Expressive, ExpressiveSettings
from poise.expressive.result import ExpressiveResult
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray

SLOW = pytest.mark.slow
RATE = math.radians(5.0)
HELD_DEGREES = 1e-4
"""A direction error below this counts as zero [degrees]."""


def towards(heading: float, polar: float) -> FloatArray:
    h, p = math.radians(heading), math.radians(polar)
    return np.array([math.sin(p) * math.sin(h), math.cos(p), math.sin(p) * math.cos(h)])


def turning(polar: float, roll: float, frames: int = 361, step: float = 1.0) -> list[tuple[FloatArray, Gaze]]:
    """One turn about the vertical."""
    directions = [towards(step * f, polar) for f in range(frames)]
    return [(d, facing(d, roll=roll)) for d in directions]


def wandering(frames: int = 500) -> list[tuple[FloatArray, Gaze]]:
    """A Lissajous figure."""
    directions = [towards(50 * math.sin(f / 57), 70 + 30 * math.sin(f / 38)) for f in range(frames)]
    return [(d, facing(d, roll=0.3 * math.sin(f / 40))) for f, d in enumerate(directions)]


def moved(
    solver: Expressive, posture: poise.Posture, targets: list[tuple[FloatArray, Gaze]]
) -> Iterator[tuple[ExpressiveResult, float, float]]:
    """All frames, the direction error of each [degrees], and its largest joint step [rad]."""
    result = solver.solve(posture, targets[0][1])
    for direction, target in targets:
        following = solver.solve(posture, target, previous=result)
        pointing = solver.figure.pose_of(solver.limb.tip, following.posture).matrix[:3, 1]
        across = float(np.linalg.norm(np.cross(pointing, direction)))
        off = math.degrees(math.atan2(across, float(pointing @ direction)))
        step = float(np.abs(following.posture.q - result.posture.q).max())
        assert not solver.figure.violations(following.posture)
        yield following, off, step
        result = following


def upright(figure: Figure, seed: int) -> poise.Posture:
    """A random posture with both ends untwisted."""
    q = figure.random(seed).q.copy()
    q[0] = q[-1] = 0.0
    return figure.posture(q)


@pytest.mark.parametrize("name", ["erik_c", "erik_e", "erik_g"])
@pytest.mark.parametrize("polar", [25.0, 55.0, 72.0, 85.0])
@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=SLOW), pytest.param(4, marks=SLOW)])
def test_a_full_turn_above_the_horizon_never_loses_the_gaze(name: str, polar: float, seed: int) -> None:
    solver = Expressive(poise.load(name))
    frames = list(moved(solver, upright(solver.figure, seed), turning(polar, roll=0.7 * seed - 1.0)))
    assert max(off for _, off, _ in frames) < HELD_DEGREES
    assert max(step for _, _, step in frames) <= RATE + 1e-12


@pytest.mark.parametrize("polar", [95.0, 118.0, 140.0])
@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=SLOW), pytest.param(6, marks=SLOW)])
def test_an_eight_jointed_chain_holds_the_gaze_below_the_horizon_too(polar: float, seed: int) -> None:
    solver = Expressive(poise.load("erik_g"))
    frames = list(moved(solver, upright(solver.figure, seed), turning(polar, roll=-0.6)))
    assert max(off for _, off, _ in frames) < HELD_DEGREES
    assert max(step for _, _, step in frames) <= RATE + 1e-12


@pytest.mark.parametrize("name", ["erik_c", "erik_e"])
@pytest.mark.parametrize("polar", [97.0, 115.0, 130.0])
@pytest.mark.parametrize("seed", [7, pytest.param(8, marks=SLOW), pytest.param(9, marks=SLOW)])
def test_below_the_horizon_the_gaze_gives_way_by_no_more_than_geometry_asks(name: str, polar: float, seed: int) -> None:
    """All cosines of these joints are positive, so another branch can be reached only over the horizon."""
    solver = Expressive(poise.load(name))
    frames = list(moved(solver, upright(solver.figure, seed), turning(polar, roll=0.4)))
    assert max(off for _, off, _ in frames) < polar - 90.0 + 2.0
    assert max(step for _, _, step in frames) <= RATE + 1e-12


CORNERS = [
    ("erik_c", 95.0, (-71, 76, 77, -86, -83), -92.0, -1.0),
    ("erik_c", 130.0, (-88, 64, -81, 56, 25), 56.0, -1.0),
    ("erik_e", 95.0, (32, -8, -28, -87, 69), -101.0, 1.0),
]
"""Postures at their limits, and turns that begin ten frames before the root stops or end where all joints stop."""


@pytest.mark.parametrize(("name", "polar", "degrees", "first", "sense"), CORNERS)
def test_a_turn_is_not_driven_into_a_corner(
    name: str, polar: float, degrees: tuple[float, ...], first: float, sense: float
) -> None:
    solver = Expressive(poise.load(name))
    directions = [towards(first + sense * f, polar) for f in range(361)]
    frames = list(moved(solver, solver.figure.posture(np.radians(degrees)), [(d, facing(d)) for d in directions]))
    assert max(off for _, off, _ in frames) < polar - 90.0 + 2.0
    assert max(step for _, _, step in frames) <= RATE + 1e-12


POCKETS = [
    ("erik_d", 110.0, (31, -102, -147, 119, 133), 80.0, -1.0, 21.5, 3.0),
    ("erik_d", 60.0, (166, -173, -85, -159, 169), -118.0, -1.0, 31.5, 4.0),
    ("erik_c", 100.0, (15, -48, -89, 88, 1), 161.5, 1.0, 15.0, 4.0),
    ("erik_c", 95.0, (-3, 53, 84, -75, 8), -23.3, 1.0, 7.0, 2.0),
    ("erik_c", 95.0, (59, -87, -78, 64, -15), -106.3, 1.0, 7.0, 2.0),
    ("erik_c", 100.0, (73, 72, 90, 89, -72), 90.5, -1.0, 12.0, 3.0),
    ("erik_c", 115.0, (-50, 81, 85, 71, -27), 85.4, -1.0, 27.0, 6.0),
    ("erik_c", 130.0, (12, -89, -81, 61, -33), 153.3, 1.0, 42.0, 9.0),
    ("erik_c", 145.0, (-8, -47, 54, 75, 25), -145.8, -1.0, 57.0, 13.5),
    ("erik_e", 130.0, (34, -55, -88, -75, 17), 148.5, -1.0, 42.0, 6.5),
]
"""Turns that no motion follows exactly: regions enclosed by limits of half a turn, a root that stops after ten frames,
and the horizon with a joint at its limits."""


@pytest.mark.parametrize(("name", "polar", "degrees", "first", "sense", "most", "mean"), POCKETS)
def test_where_the_gaze_must_be_lost_it_is_lifted_by_little_and_not_for_long(
    name: str, polar: float, degrees: tuple[float, ...], first: float, sense: float, most: float, mean: float
) -> None:
    solver = Expressive(poise.load(name))
    directions = [towards(first + sense * f, polar) for f in range(361)]
    frames = list(moved(solver, solver.figure.posture(np.radians(degrees)), [(d, facing(d)) for d in directions]))
    off = [off for _, off, _ in frames]
    assert max(off) < most
    assert sum(off) / len(off) < mean
    assert max(step for _, _, step in frames) <= RATE + 1e-12


def least_off(degrees: FloatArray, polar: float, sense: float) -> float:
    """Angle by which E must lose a target that turns past the root's limit [degrees].

    The gaze is turned from where the root faces by ψ with sin ψ = -cos c sin b / sin θ. Past the limit ψ must have
    the sign in which the target turns, and so b the other one: it takes |b| / 5° frames until it has.
    """
    root, _, b, c, _ = degrees
    psi = -sense * math.degrees(math.asin(math.cos(math.radians(c)) * math.sin(math.radians(b)) / math.sin(polar)))
    psi = psi if c > 0.0 else -psi
    late = abs(b) / math.degrees(RATE) - (90.0 - sense * root - psi)
    assert psi < 0.0 < late
    return math.degrees(math.asin(math.sin(polar) * math.sin(math.radians(late))))


@pytest.mark.parametrize(
    ("polar", "degrees", "first", "sense"),
    [
        (70.0, (32, 49, 73, 84, -53), 81.8, 1.0),
        (70.0, (47, 47, -78, -89, 15), 86.5, 1.0),
        (70.0, (-36, 57, 85, -90, 2), -83.9, -1.0),
        (80.0, (37, -9, 77, 83, -19), -102.2, 1.0),
    ],
)
def test_a_turn_that_cannot_be_exact_is_off_by_hardly_more_than_it_must_be(
    polar: float, degrees: tuple[float, ...], first: float, sense: float
) -> None:
    solver = Expressive(poise.load("erik_e"))
    posture = solver.figure.posture(np.radians(degrees))
    directions = [towards(first + sense * f, polar) for f in range(361)]
    start = np.degrees(solver.solve(posture, facing(directions[0])).posture.q)
    off = [off for _, off, _ in moved(solver, posture, [(d, facing(d)) for d in directions])]
    least = least_off(start, math.radians(polar), sense)
    assert least < max(off) < least + 4.5
    assert sum(angle > 0.05 for angle in off) < 25


@pytest.mark.parametrize("name", ["erik_d", "erik_f", "erik_g", "adelino"])
@pytest.mark.parametrize("targets", [turning(60.0, 0.2), wandering()], ids=["turn", "wander"])
def test_no_joint_ever_jumps(name: str, targets: list[tuple[FloatArray, Gaze]]) -> None:
    solver = Expressive(poise.load(name))
    posture = upright(solver.figure, 10)
    assert max(step for _, _, step in moved(solver, posture, targets)) <= RATE + 1e-12


def test_a_gaze_that_wanders_in_front_is_held_with_its_roll() -> None:
    for name in ("erik_e", "erik_g"):
        solver = Expressive(poise.load(name))
        frames = list(moved(solver, solver.figure.neutral(), wandering()))
        assert max(off for _, off, _ in frames) < HELD_DEGREES


@pytest.mark.parametrize(
    ("name", "seed"), [("erik_c", 11), ("erik_c", 12), ("erik_e", 11), ("erik_e", 12), ("erik_g", 11)]
)
def test_a_target_that_swings_about_the_back_makes_nothing_turn_round(name: str, seed: int) -> None:
    solver = Expressive(poise.load(name))
    directions = [towards(180.0 + 60.0 * math.sin(f / 60.0), 70.0) for f in range(400)]
    frames = list(moved(solver, upright(solver.figure, seed), [(d, facing(d, roll=0.1)) for d in directions]))
    assert not any(result.changing for result, _, _ in frames)  # type: ignore[attr-defined]
    assert max(off for _, off, _ in frames) < HELD_DEGREES


@pytest.mark.parametrize("name", ["erik_c", "erik_e", "erik_g"])
@pytest.mark.parametrize("seed", [21, pytest.param(22, marks=SLOW), pytest.param(23, marks=SLOW)])
def test_a_nod_below_the_horizon_is_followed_to_the_end(name: str, seed: int) -> None:
    solver = Expressive(poise.load(name))
    directions = [towards(40.0 * seed, 80.0 - 70.0 * math.cos(f / 70.0)) for f in range(441)]
    frames = list(moved(solver, upright(solver.figure, seed), [(d, facing(d, roll=-0.4)) for d in directions]))
    assert max(off for _, off, _ in frames) < HELD_DEGREES
    assert max(step for _, _, step in frames) <= RATE + 1e-12


def test_a_plan_is_in_hand_before_the_root_is_at_its_limit() -> None:
    solver = Expressive(poise.load("erik_g"))
    seen = []
    for result, off, _ in moved(solver, upright(solver.figure, 3), turning(85.0, roll=0.2)):
        plan = int(result.memory.way_points)  # type: ignore[attr-defined]
        seen.append((abs(float(result.posture.q[0])), plan))
        assert off < HELD_DEGREES
    assert all(count > 0 for root, count in seen if root > math.radians(89.9))
    assert any(count == 0 for _, count in seen)


def test_a_still_target_and_posture_come_to_rest_at_the_wanted_shape() -> None:
    lamp = poise.load("adelino")
    solver = Expressive(lamp)
    target = facing([0.4, 0.5, 0.8])
    result = solver.solve("happy", target)
    for _ in range(60):
        result = solver.solve("sad", target, previous=result)
    last = solver.solve("sad", target, previous=result)
    assert np.abs(last.posture.q - result.posture.q).max() < 1e-6
    assert last.orientation_error < 1e-7
    assert last.shape_error < solver.solve("sad", target).shape_error + 0.15


def test_the_gaze_is_held_while_postures_change() -> None:
    lamp = poise.load("adelino")
    solver = Expressive(lamp)
    direction = towards(20.0, 70.0)
    result = solver.solve("neutral", facing(direction))
    for name in ("happy", "sad", "curious", "proud", "shy"):
        for _ in range(40):
            result = solver.solve(name, facing(direction), previous=result)
            pointing = lamp.pose_of(solver.limb.tip, result.posture).matrix[:3, 1]
            assert np.linalg.norm(np.cross(pointing, direction)) < 1e-6


def test_a_posture_answered_last_goes_on_as_its_answer_would() -> None:
    figure = poise.load("erik_e")
    targets = turning(80.0, roll=0.3)
    by_result, by_posture = Expressive(figure), Expressive(figure)
    posture = upright(figure, 12)
    one = by_result.solve(posture, targets[0][1])
    other: poise.Posture = by_posture.solve(posture, targets[0][1]).posture
    for _, target in targets:
        one = by_result.solve(posture, target, previous=one)
        other = by_posture.solve(posture, target, previous=other).posture
        assert other == one.posture


def test_the_same_frames_give_the_same_bytes() -> None:
    def turn() -> list[bytes]:
        solver = Expressive(poise.load("erik_c"))
        return [r.posture.q.tobytes() for r, _, _ in moved(solver, upright(solver.figure, 3), turning(80.0, 0.2))]

    assert turn() == turn()


def test_an_answer_is_never_changed_by_the_next_frame() -> None:
    solver = Expressive(poise.load("erik_c"))
    posture = upright(solver.figure, 1)
    first = solver.solve(posture, facing(towards(0.0, 60.0)))
    second = solver.solve(posture, facing(towards(1.0, 60.0)), previous=first)
    before = second.posture.q.copy()
    a = solver.solve(posture, facing(towards(2.0, 60.0)), previous=second)
    b = solver.solve(posture, facing(towards(2.0, 60.0)), previous=second)
    assert a.posture == b.posture
    assert (second.posture.q == before).all()


def test_a_direction_alone_leaves_the_tip_untwisted() -> None:
    solver = Expressive(poise.load("erik_c"))
    posture = upright(solver.figure, 2)
    targets = [(d, facing(d, roll=None)) for d, _ in turning(70.0, 0.0)]
    frames = list(moved(solver, posture, targets))
    assert max(off for _, off, _ in frames) < HELD_DEGREES
    assert len({float(result.posture.q[-1]) for result, _, _ in frames}) == 1


def test_a_point_is_followed() -> None:
    lamp = poise.load("adelino")
    solver = Expressive(lamp)
    point = np.array([0.8, 0.9, 0.9])
    result = solver.solve("curious", at(point))
    for f in range(80):
        point = np.array([0.8 - 0.01 * f, 0.9, 0.9])
        result = solver.solve("curious", at(point, roll=None), previous=result)
    tip = lamp.pose_of(solver.limb.tip, result.posture)
    sight = point - tip.position
    assert tip.matrix[:3, 1] @ sight / np.linalg.norm(sight) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: poise.chain("XZXYZ", lengths=[0.1] * 5, limits=120),
        lambda: poise.chain(["Y", (1, 0.3, 0.2), (0.1, 0.5, 1.0), "X", "Z"], lengths=[0.1] * 5, limits=120),
    ],
    ids=["no root twister", "oblique axes"],
)
def test_any_chain_moves_without_jumps(make: Callable[[], Figure]) -> None:
    solver = Expressive(make())
    frames = list(moved(solver, upright(solver.figure, 4), wandering(200)))
    assert max(step for _, _, step in frames) <= RATE + 1e-12


def test_the_rate_is_kept_whatever_it_is() -> None:
    rate = math.radians(2.0)
    solver = Expressive(poise.load("erik_e"), settings=ExpressiveSettings(rate=rate))
    frames = list(moved(solver, upright(solver.figure, 5), turning(60.0, 0.1, frames=721, step=0.5)))
    assert max(step for _, _, step in frames) <= rate + 1e-12
    assert max(off for _, off, _ in frames) < HELD_DEGREES
