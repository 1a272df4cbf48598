"""The sum of criteria: its gradient and curvature against finite differences, and the case of a single posture."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.engine.engine_arrays import CriteriaTerms
from poise.figure.model.figure import Figure
from poise.forces import Force, Support
from poise.kernels.goals.criteria import (
    CRITERIA_SCALE,
    add_criteria_curvature,
    criteria_gradient,
    criteria_value,
    fill_wish,
)
from poise.tasks.criteria import Comfort, Criterion, Flex, LeastTorque, NearPosture
from poise.tasks.posture import Hold

FORCES = (Force("right_hand", (10.0, -40.0, 5.0)), Support("left_foot", 0.4), Support("right_foot"))


def human() -> Figure:
    return poise.load("human").with_floating_base()


CRITERIA = {
    "near": [NearPosture("sitting", weight=0.7)],
    "comfort": [Comfort()],
    "flex": [Flex()],
    "torque": [LeastTorque()],
    "all": [NearPosture("sitting"), Comfort(weight=2.0), Flex(weight=0.1), LeastTorque(weight=0.5), LeastTorque(())],
}


def _sum(criteria: list[Criterion], q: np.ndarray) -> tuple[float, np.ndarray]:
    figure = human()
    arrays = CriteriaTerms(figure, None, [criterion.term(figure, FORCES) for criterion in criteria]).arrays()
    gradient = np.zeros(figure.nv)
    value = criteria_gradient(figure.compiled.tree, arrays, q, gradient)
    assert criteria_value(figure.compiled.tree, arrays, q) == pytest.approx(CRITERIA_SCALE * value)
    return value, gradient


@pytest.mark.parametrize("name", CRITERIA)
def test_gradients_are_derivatives(name: str) -> None:
    figure, criteria = human(), CRITERIA[name]
    posture = figure.random(5)
    # The way to a posture is not a linear function of a ball's rates: only a small flexing slope is exact there.
    _, gradient = _sum(criteria, posture._q)
    plain = [
        k
        for joint in figure.joints
        if joint.kind != "ball"
        for k in range(*figure.v_slice(joint.name).indices(figure.nv))
    ]
    checked = plain if any(isinstance(criterion, Flex) for criterion in criteria) else range(figure.nv)
    for k in checked:
        step = np.zeros(figure.nv)
        step[k] = 1e-6
        ahead, _ = _sum(criteria, figure.integrate(posture, step)._q)
        behind, _ = _sum(criteria, figure.integrate(posture, -step)._q)
        assert gradient[k] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["torque", "all"])
def test_curvature_is_the_derivative_of_the_gradient_of_effort(name: str) -> None:
    figure = human()
    posture = figure.random(6)
    criteria = [criterion for criterion in CRITERIA[name] if isinstance(criterion, LeastTorque)]
    arrays = CriteriaTerms(figure, None, [criterion.term(figure, FORCES) for criterion in criteria]).arrays()
    got = np.eye(figure.nv)
    add_criteria_curvature(figure.compiled.tree, arrays, posture._q, got)
    wanted = np.zeros_like(got)
    for k in range(figure.nv):
        step = np.zeros(figure.nv)
        step[k] = 1e-5
        ahead = _sum(criteria, figure.integrate(posture, step)._q)[1]
        behind = _sum(criteria, figure.integrate(posture, -step)._q)[1]
        wanted[k] = (ahead - behind) / 2e-5
    assert got == pytest.approx(0.5 * (wanted + wanted.T), abs=1e-6)
    assert np.abs(got).max() < 30.0


def test_curvature_of_postures_is_their_weight() -> None:
    figure = human()
    arrays = CriteriaTerms(
        figure, None, [c.term(figure) for c in (NearPosture("sitting", weight=0.3), Flex())]
    ).arrays()
    got = np.eye(figure.nv)
    add_criteria_curvature(figure.compiled.tree, arrays, figure.random(1)._q, got)
    loose = figure.v_slice("base")
    wanted = 0.3 * np.eye(figure.nv)
    wanted[loose, loose] = 0.0
    assert got == pytest.approx(wanted)


def test_the_desired_step_of_a_single_posture_is_the_way_to_it() -> None:
    figure = human()
    held, posture = Hold("sitting", gain=0.5), figure.random(2)
    arrays = CriteriaTerms(figure, held, []).arrays()
    wish = np.zeros(figure.nv)
    fill_wish(figure.compiled.tree, arrays, posture._q, wish)
    way = figure.difference(posture, figure.posture("sitting"))
    way[figure.v_slice("base")] = 0.0
    assert np.array_equal(wish, 0.5 * way)
    assert criteria_value(figure.compiled.tree, arrays, posture._q) == pytest.approx(np.sqrt(0.5) * np.linalg.norm(way))
