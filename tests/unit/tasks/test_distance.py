"""Distances between parts, and parts on ellipsoids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from poise import Distance, Figure, OnEllipsoid, Pose, Position, Posture, TaskError
from poise.engine.result import rows
from poise.tasks.task import Task

FIGURES = {
    "human": ("right_hand", "left_foot"),
    "arm": ("tip", "column"),
    "cyclist": ("right_foot", "left_foot"),
    "walker": ("left_foot", "right_foot"),
    "snake": ("tip", "rib_3"),
}
STARTS = [(name, seed) for name in FIGURES for seed in range(4)]
NUDGE = 1e-4
"""Size of the changes by which a posture is checked to be a local optimum [rad or m]."""


def loaded(name: str, seed: int) -> tuple[Figure, Posture, tuple[str, str]]:
    """A figure, a random posture of it with closed loops, and two of its parts."""
    figure = poise.load(name)
    return figure, closed(figure, seed), FIGURES[name]


def closed(figure: Figure, seed: int) -> Posture:
    """A random posture; that of a mechanism is made from random motors."""
    wild = figure.random(seed)
    if not figure.loops:
        return wild
    motors = {joint.name: 0.3 * wild[joint.name] for joint in figure.joints if joint.active and joint.nv == 1}
    return figure.assemble(motors).posture


def apart(posture: Posture, site: str, to: str) -> float:
    figure = posture.figure
    return float(np.linalg.norm(figure.pose_of(site, posture).position - figure.pose_of(to, posture).position))


def is_best_nearby(figure: Figure, posture: Posture, error: Any, seed: int) -> bool:
    """Whether no small legal change lowers an error by more than its second order."""
    rng, best = np.random.default_rng(seed), error(posture)
    for _ in range(300):
        step = rng.normal(size=figure.nv) ** 3  # some joints much more than others
        nearby = figure.clamp(figure.integrate(posture, NUDGE * step / np.linalg.norm(step)))
        if error(nearby) < best - 1e-8:
            return False
    return True


@pytest.mark.parametrize(("name", "seed"), STARTS)
def test_a_distance_that_some_posture_has_is_met(name: str, seed: int) -> None:
    figure, start, (site, to) = loaded(name, seed)
    wanted = apart(closed(figure, seed + 20), site, to)
    result = poise.solve(figure, [Distance(site, to, wanted)], start=start, criteria=(), restarts=5)
    assert result.status == "solved"
    assert apart(result.posture, site, to) == pytest.approx(wanted, abs=1e-5)
    assert figure.violations(result.posture) == []


@pytest.mark.parametrize(("name", "seed"), [start for start in STARTS if start[0] != "walker"])
def test_a_distance_out_of_reach_comes_as_near_as_it_can(name: str, seed: int) -> None:
    figure, start, (site, to) = loaded(name, seed)
    result = poise.solve(figure, [Distance(site, to, 10.0)], start=start, criteria=())
    assert result.status == "unreachable"
    assert apart(result.posture, site, to) > apart(start, site, to)
    assert is_best_nearby(figure, result.posture, lambda posture: -apart(posture, site, to), seed)


@pytest.mark.parametrize(("name", "seed"), STARTS)
@pytest.mark.parametrize("carried", [False, True])
def test_a_site_comes_to_an_ellipsoid_through_a_point_it_can_reach(name: str, seed: int, carried: bool) -> None:
    figure, start, (site, to) = loaded(name, seed)
    rng, other = np.random.default_rng(seed), closed(figure, seed + 20)
    frame = figure.pose_of(to, other) if carried else Pose()
    point = frame.inverse().apply(figure.pose_of(site, other).position)
    radii = 0.2 * np.exp(0.5 * rng.normal(size=3))
    way = rng.normal(size=3)
    center = point - way / np.linalg.norm(way / radii)
    task = OnEllipsoid(site, center, radii, relative_to=to if carried else None)
    assert task.distance_in(other) == pytest.approx(0.0, abs=1e-12)
    result = poise.solve(figure, [task], start=start, criteria=(), restarts=10)
    assert result.status == "solved"
    assert task.distance_in(result.posture) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(("name", "seed"), [start for start in STARTS if start[0] != "walker"])
def test_an_ellipsoid_out_of_reach_is_approached_as_far_as_possible(name: str, seed: int) -> None:
    figure, start, (site, to) = loaded(name, seed)
    task = OnEllipsoid(site, (8.0, 4.0, 6.0), (0.5, 1.0, 2.0), (0.9, 0.1, 0.2, 0.3), relative_to=to)
    result = poise.solve(figure, [task], start=start, criteria=())
    assert result.status == "unreachable"
    assert task.distance_in(result.posture) < task.distance_in(start)
    assert is_best_nearby(figure, result.posture, task.distance_in, seed)


def test_tasks_above_are_kept_and_reports_use_words() -> None:
    human = poise.load("human")
    hand = human.pose_of("left_hand", "standing").position
    tasks: list[Task] = [
        Position("left_hand", hand),
        Distance("right_hand", "left_hand", 0.25, priority=2),
        OnEllipsoid("right_ulna", (0, 0, 3), (1, 1, 1), priority=3),
    ]
    result = poise.solve(human, tasks, start="standing", stand=False)
    assert np.linalg.norm(human.pose_of("left_hand", result.posture).position - hand) < 1e-5
    _, middle, below = rows(result)
    assert (middle.wanted, middle.got, middle.outcome) == ("25 cm", "25 cm", "met")
    assert below.wanted == "on the surface"
    assert below.got.endswith("outside")


def test_targets_can_be_changed_while_solving() -> None:
    human = poise.load("human")
    hands = Distance("right_hand", "left_hand", 0.5)
    ball = OnEllipsoid("right_hand", (0.0, 1.3, 0.5), (0.1, 0.1, 0.2), priority=2)
    solver = poise.Solver(human, [hands, ball])
    solver.target(hands, 0.2)
    solver.target(ball, (0.1, 1.2, 0.3))
    result = solver.settle("standing")
    assert apart(result.posture, "right_hand", "left_hand") == pytest.approx(0.2, abs=1e-6)
    moved = OnEllipsoid("right_hand", (0.1, 1.2, 0.3), (0.1, 0.1, 0.2))
    assert moved.distance_in(result.posture) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Distance("a", "b", 0.0), "use Position"),
        (lambda: Distance("a", "b", -1.0), "positive number, not -1"),
        (lambda: Distance("a", "b", float("nan")), "positive number, not nan"),
        (lambda: Distance("a", "b", [1.0, 2.0]), "positive number, not .1.0"),  # type: ignore[arg-type]
        (lambda: OnEllipsoid("a", (0, 0, 0), (1, 0, 1)), "radii must be positive"),
        (lambda: OnEllipsoid("a", (0, np.inf, 0), (1, 1, 1)), "center"),
        (lambda: OnEllipsoid("a", (0, 0, 0), (1, 1, 1), (0, 0, 0, 0)), "quaternion"),
    ],
)
def test_nonsense_is_refused(make: Any, words: str) -> None:
    with pytest.raises(TaskError, match=words):
        make()


def test_parts_that_cannot_move_apart_are_refused() -> None:
    human = poise.load("human")
    with pytest.raises(TaskError, match="always the same"):
        Distance("right_hand", "right_hand", 0.1).goals(human)
    with pytest.raises(TaskError, match="no joint is between"):
        OnEllipsoid("right_hand", (0, 0, 0), (1, 1, 1), relative_to="right_hand").goals(human)
