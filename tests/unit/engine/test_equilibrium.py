"""Equilibrium through `poise.solve`: examples of the thesis, supports without shares, and impossible loads."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise import Equilibrium, Force, Frame, Hold, LookAt, Natural, Position, Support
from poise.engine.result import Result
from poise.figure.model.figure import Figure
from poise.forces import Load, acting_on, balance, find_reactions, net_force
from poise.forces.missing_wrench import Balancing, typical_length
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
HANDS = [Position(f"{side}_hand", (x, 1.2, 0.45), priority=4) for side, x in (("left", 0.2), ("right", -0.2))]


def human() -> Figure:
    return poise.load("human").with_floating_base()


def solved(tasks: list[Task], loads: list[Load], **options: object) -> Result:
    """Tasks that keep both feet on the floor, and further tasks."""
    figure = human()
    stand = [Frame(foot, figure.pose_of(foot, "standing"), priority=1, name=foot) for foot in FEET]
    hold = Hold("standing", priority=9)
    return poise.solve(figure, [*stand, *tasks, hold], start="standing", forces=loads, **options)  # type: ignore[arg-type]


def assert_rests(result: Result, loads: list[Load]) -> None:
    figure = result.posture.figure
    net = net_force(figure, result.posture, loads)
    weight = figure.mass * 9.80665
    assert np.abs(net.force).max() <= 1e-6 * weight
    assert np.abs(net.torque).max() <= 1e-6 * weight
    assert figure.violations(result.posture) == []
    for foot in FEET:
        assert result.errors[foot] <= 1e-5


@pytest.mark.parametrize("share", [0.5, 0.85, 1.0])
def test_the_weight_goes_where_the_shares_say(share: float) -> None:
    """Thesis fig. 7.15."""
    loads: list[Load] = [Support("left_foot", 1.0 - share), Support("right_foot", share)]
    result = solved([Equilibrium(priority=2)], loads)
    assert_rests(result, loads)
    left, right = (result.posture.figure.pose_of(foot, result.posture).position for foot in FEET)
    center = result.posture.figure.center_of_mass(result.posture)
    assert center[[0, 2]] == pytest.approx(((1.0 - share) * left + share * right)[[0, 2]], abs=1e-6)


@pytest.mark.parametrize("force", [(0.0, 0.0, 0.0), (0.0, -60.0, 0.0), (0.0, 0.0, 60.0)])
def test_a_hand_on_a_plane_pulls(force: tuple[float, float, float]) -> None:
    """Thesis fig. 7.16, on the right foot: who pulls forwards leans back."""
    loads: list[Load] = [Support("left_foot", 0.0), Support("right_foot", 1.0), Force("right_hand", force)]
    plane = Position("right_hand", (0.0, 0.0, 0.4), axes="z", priority=3)
    result = solved([Equilibrium(priority=2, level=True), plane, LookAt("eyes", (-0.2, 1.2, 1.0), priority=4)], loads)
    figure, posture = result.posture.figure, result.posture
    assert result.errors["equilibrium"] <= 1e-6
    assert result.errors[plane] <= 1e-5
    foot = figure.pose_of("right_foot", posture).position
    hand = figure.pose_of("right_hand", posture).position
    moment = np.cross(hand - foot, force) + np.cross(
        figure.center_of_mass(posture) - foot, [0, -figure.mass * 9.80665, 0]
    )
    assert moment[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-5 * figure.mass * 9.80665)
    if force[2] > 0.0:
        assert figure.center_of_mass(posture)[2] < foot[2] - 0.02


def test_pushing_leans_forwards() -> None:
    """Thesis fig. 7.17."""
    loads: list[Load] = [Support("left_foot", 0.5), Support("right_foot", 0.5)]
    calm = solved([Equilibrium(priority=2), *HANDS], loads)
    loads += [Force(hand, (0.0, 0.0, -50.0)) for hand in ("left_hand", "right_hand")]
    pushing = solved([Equilibrium(priority=2), *HANDS], loads)
    assert_rests(pushing, loads)
    centers = [human().center_of_mass(result.posture)[2] for result in (calm, pushing)]
    assert centers[1] > centers[0] + 0.05


def test_twisting() -> None:
    """Thesis fig. 7.18: feet that do not slip take the moment about the vertical."""
    loads: list[Load] = [Support("left_foot", 0.5), Support("right_foot", 0.5)]
    loads += [Force("left_hand", (0.0, 0.0, -40.0)), Force("right_hand", (0.0, 0.0, 40.0))]
    result = solved([Equilibrium(priority=2, level=True), *HANDS], loads)
    assert result.errors["equilibrium"] <= 1e-6
    for hand in HANDS:
        assert result.errors[hand] <= 1e-5
    assert balance(human(), result.posture, [Support(foot) for foot in FEET] + loads[2:]).balanced


@pytest.mark.parametrize("force", [(0.0, 0.0, 0.0), (0.0, -60.0, 40.0), (30.0, 0.0, -40.0)])
def test_open_supports_balance_what_they_can(force: tuple[float, float, float]) -> None:
    """A hand that reaches too far takes the centre of mass to the edge of what the feet can balance, and not beyond."""
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", force)]
    result = solved([Equilibrium(priority=2), Position("right_hand", (-0.3, 0.9, 1.3), priority=3)], loads)
    assert result.errors["equilibrium"] <= 1e-6
    assert find_reactions(human(), result.posture, loads).rest <= 1e-6
    assert abs(balance(human(), result.posture, loads).margin) <= 1e-3
    again = solved([Equilibrium(priority=2), Position("right_hand", (-0.3, 0.9, 1.3), priority=3)], loads)
    assert np.array_equal(again.q, result.q)


def test_a_margin_is_kept() -> None:
    loads: list[Load] = [Support("right_foot")]
    result = solved([Equilibrium(priority=2, margin=0.02)], loads)
    assert balance(human(), result.posture, loads).margin == pytest.approx(0.02, abs=1e-5)


def test_what_no_posture_balances_is_never_met() -> None:
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", (0.0, 0.0, -2000.0))]
    result = solved([Equilibrium(priority=2)], loads)
    verdict = next(verdict for verdict in result.verdicts if isinstance(verdict.task, Equilibrium))
    assert 0.1 < verdict.error < math.inf
    assert result.status != "solved"
    assert verdict.outcome.startswith("the ground cannot balance these forces: ")
    assert verdict.outcome.endswith("N is missing"), "the moment is balanced by leaning"
    assert verdict.outcome in result.report()
    assert not verdict.gave_way_to, "the feet are not to blame"


def test_a_figure_leans_into_a_push_that_it_cannot_balance() -> None:
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", (0.0, 0.0, -600.0))]
    figure, result = human(), solved([Equilibrium(priority=2)], loads)
    before, after = (find_reactions(figure, posture, loads) for posture in (figure.posture("standing"), result.posture))
    assert np.linalg.norm(after.rest_moment) < 1e-3 * np.linalg.norm(before.rest_moment)
    assert figure.center_of_mass(result.posture)[2] > figure.center_of_mass("standing")[2] + 0.1
    for foot in FEET:
        assert result.errors[foot] < 1e-6


@pytest.mark.parametrize("seed", range(24))
def test_solved_means_balanced(seed: int) -> None:
    """For pushes of any size and direction, fixed to the world or to the hand, from any start."""
    rng, figure = np.random.default_rng(seed), human()
    force, torque = (tuple((rng.normal(size=3) * size).tolist()) for size in (rng.choice([50, 200, 400]), 20))
    axes = "world" if seed % 2 else "site"
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", force, torque, axes=axes)]
    base = {"base": figure.posture("standing")["base"]}
    start = figure.posture("standing") if seed % 3 else figure.random(rng).changed(base)
    stand = [Frame(foot, figure.pose_of(foot, "standing"), priority=1) for foot in FEET]
    task = Equilibrium(priority=2)
    result = poise.solve(figure, [*stand, task], start=start, forces=loads)
    verdict = next(verdict for verdict in result.verdicts if verdict.task is task)
    assert verdict.met == balance(figure, result.posture, loads).balanced


HOPELESS = [(300.0, 100.0, -500.0), (0.0, 0.0, -600.0), (-200.0, 300.0, 400.0)]
"""Pushes on a hand that no friction holds [N]."""


@pytest.mark.parametrize("criteria", [(), (Natural(),)], ids=["plain", "natural"])
@pytest.mark.parametrize("push", HOPELESS)
def test_a_step_raises_what_is_missing_never(push: tuple[float, ...], criteria: tuple[Natural, ...]) -> None:
    figure = human()
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", push)]
    stand = [Frame(foot, figure.pose_of(foot, "standing"), priority=1) for foot in FEET]
    solver = poise.Solver(figure, [*stand, Equilibrium(priority=2)], forces=loads, criteria=criteria)
    acting, posture = acting_on(figure, loads), figure.posture("standing")
    sizes = []
    for _ in range(30):
        posture = solver.step(posture)
        sizes.append(float(np.linalg.norm(Balancing(acting, posture, typical_length(acting)).missing.error)))
    assert max(np.diff(sizes)) < 1e-6
    assert sizes[-1] < 0.7 * sizes[0]


@pytest.mark.parametrize("criteria", [(), (Natural(),)], ids=["plain", "natural"])
@pytest.mark.parametrize("push", HOPELESS)
def test_what_comes_before_a_hopeless_balance_is_met(push: tuple[float, ...], criteria: tuple[Natural, ...]) -> None:
    """A figure that leans into its push stands up again for tasks above balance, whatever balance loses."""
    figure = poise.load("human")
    loads: list[Load] = [*(Support(foot) for foot in FEET), Force("right_hand", push)]
    stand = [Frame(foot, figure.pose_of(foot, "standing"), priority=1) for foot in FEET]
    leaning = poise.solve(figure, [*stand, Equilibrium(priority=2)], start="standing", forces=loads, criteria=())
    upright = [
        Position(site, at=figure.pose_of(site, "standing").position) for site in ("pelvis", "right_hand", "chest")
    ]
    tasks = [*stand, *upright, Equilibrium(priority=2)]
    result = poise.solve(figure, tasks, start=leaning.posture, forces=loads, criteria=criteria, max_steps=400)
    assert max(result.errors[task] for task in tasks[:-1]) < 1e-5
    assert result.errors["equilibrium"] > leaning.errors["equilibrium"]


def test_equilibrium_has_no_target() -> None:
    task = Equilibrium(priority=1)
    solver = poise.Solver(human(), [task], forces=[Support(foot) for foot in FEET])
    with pytest.raises(poise.TaskError, match="no target to change"):
        solver.target(task, (0.0, 0.0, 0.0))


def test_a_solver_steps_into_balance() -> None:
    figure = human()
    solver = poise.Solver(figure, [Equilibrium()], forces=[Support("right_foot")])
    posture = figure.posture("standing")
    for _ in range(10):
        posture = solver.step(posture)
    assert balance(figure, posture, [Support("right_foot")]).margin >= -1e-6
