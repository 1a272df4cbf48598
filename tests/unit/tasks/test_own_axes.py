"""Rotations weighed about the axes of the site itself."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Frame, Hold, LookAt, Orientation, Pose, Solver
from poise.figure.model.pose import turn

SITES = {"human": "right_hand", "arm": "tip", "cyclist": "right_foot"}
FIGURES = [(name, seed) for name in SITES for seed in range(4)]


def wanted_at(figure: poise.Figure, site: str, seed: int) -> np.ndarray:
    """A rotation that the site can have."""
    return figure.pose_of(site, figure.random(100 + seed)).rotation


@pytest.mark.parametrize(("name", "seed"), FIGURES)
@pytest.mark.parametrize("free", range(3), ids="xyz")
def test_a_site_may_turn_about_the_axis_that_does_not_count(name: str, seed: int, free: int) -> None:
    figure, site = poise.load(name), SITES[name]
    rotation, start = wanted_at(figure, site, seed), figure.random(seed)
    axes = "xyz".replace("xyz"[free], "")
    task = Orientation(site, rotation, axes=axes, own_axes=True)
    result = poise.solve(figure, [task], start=start, criteria=(), restarts=10)
    along = Pose(rotation=rotation).matrix[:, free]
    got = figure.pose_of(site, result.posture).matrix[:, free]
    assert result.status == "solved"
    assert got == pytest.approx(along, abs=1e-5)
    same = poise.solve(figure, [LookAt(site, direction=along, axis=np.eye(3)[free])], start=result.posture, criteria=())
    assert same.q == pytest.approx(result.q, abs=1e-4), "its axis already points there"


def test_the_axis_left_out_is_the_sites_and_not_the_worlds() -> None:
    figure = poise.load("human")
    start, rotation = figure.posture("standing"), turn("x", 70.0)
    own, outer = (
        poise.solve(
            figure,
            [Orientation("right_hand", rotation, axes="xy", own_axes=own), Hold("standing", priority=2)],
            start=start,
            criteria=(),
        )
        for own in (True, False)
    )
    z = Pose(rotation=rotation).matrix[:, 2]
    assert figure.pose_of("right_hand", own.posture).matrix[:, 2] == pytest.approx(z, abs=1e-5)
    assert figure.pose_of("right_hand", outer.posture).matrix[:, 2] != pytest.approx(z, abs=1e-2)


def test_a_weight_of_zero_leaves_an_axis_out() -> None:
    figure = poise.load("arm")
    rotation, start = wanted_at(figure, "tip", 3), figure.random(5)
    by_axes = Orientation("tip", rotation, axes="xz", own_axes=True)
    by_weight = Orientation("tip", rotation, weight=[1, 0, 1], own_axes=True)
    in_frame = Frame("tip", Pose(rotation=rotation), weight=[0, 0, 0, 1, 0, 1], own_axes=True)
    found = [poise.solve(figure, [task], start=start).q for task in (by_axes, by_weight, in_frame)]
    assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert found[2] == pytest.approx(found[0], abs=1e-9)


def test_a_target_that_is_changed_brings_its_axes_along() -> None:
    """A rotation that is given as an array, which a solver takes without asking the task, turns the axes with it."""
    figure = poise.load("human")
    first, second = (wanted_at(figure, "right_hand", seed) for seed in (1, 2))
    task = Orientation("right_hand", first, axes="xy", own_axes=True)
    frame = Frame("right_hand", Pose(rotation=first), weight=[0, 0, 0, 1, 1, 0], own_axes=True)
    for each, value in ((task, second), (frame, Pose(rotation=second))):
        solver = Solver(figure, [each], criteria=())
        solver.target(each, value)
        moved = solver.settle("standing")
        fresh = poise.solve(figure, [each.with_target(value)], start="standing", criteria=(), stand=False)
        assert moved.q == pytest.approx(fresh.q, abs=1e-6)
