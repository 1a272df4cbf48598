"""Prismatic joints between root and tip: they change no orientation, keep the posture, and move the tip."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.chains.targets import at, facing
from poise.errors import FigureError
from poise.expressive.expressive import Expressive
from poise.figure.model.builder import Builder, prismatic, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray

EXACT = 1e-8


def telescope() -> Figure:
    """A lamp whose pole and neck can be drawn out, and whose lens can be pushed aside."""
    made = Builder("telescope")
    made.body("base")
    made.body("plate", parent="base", joint=revolute("turn", "y", limits=(-1.7, 1.7)), at=(0, 0.1, 0))
    made.body("pole", parent="plate", joint=prismatic("lift", "y", limits=(-0.05, 0.4)), at=(0, 0.2, 0))
    made.body("arm", parent="pole", joint=revolute("bend", "x", limits=(-1.6, 1.6)), at=(0, 0.1, 0))
    made.body("neck", parent="arm", joint=prismatic("reach", (0.3, 1, 0), limits=(0, 0.3)), at=(0, 0.3, 0))
    made.body("head", parent="neck", joint=revolute("nod", "x", limits=(-1.6, 1.6)), at=(0, 0.1, 0))
    made.body("eye", parent="head", joint=revolute("tilt", "z", limits=(-1.6, 1.6)), at=(0, 0.1, 0))
    made.body("lens", parent="eye", joint=prismatic("aside", "x", limits=(-0.1, 0.1)), at=(0, 0.05, 0))
    made.site("tip", "lens", at=(0, 0.02, 0))
    return made.build()


SLID = {"lift": 0.3, "reach": 0.2, "aside": -0.07, "bend": 0.5, "nod": 0.4}


def off(figure: Figure, posture: poise.Posture, point: FloatArray) -> float:
    """Sine of the angle by which the tip looks past a point."""
    tip = figure.pose_of("tip", posture)
    sight = point - tip.position
    return float(np.linalg.norm(np.cross(tip.matrix[:3, 1], sight / np.linalg.norm(sight))))


def test_a_chain_with_slides_is_one_of_its_hinges() -> None:
    figure = telescope()
    limb = chain_of(figure, solver="expressive", slides=True)
    assert limb.joints == ("turn", "bend", "nod", "tilt")
    posture = figure.random(3)
    there = limb.tip_at(limb.angles(posture), posture.q)
    np.testing.assert_allclose(there, figure.pose_of("tip", posture).position, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_directions_are_faced_and_the_slides_hold_the_posture(seed: int) -> None:
    figure = telescope()
    rng = np.random.default_rng(seed)
    posture = figure.random(rng)
    direction = figure.pose_of("tip", figure.random(rng)).matrix[:3, 1]
    result = Expressive(figure).solve(posture, facing(direction, roll=None))
    assert result.orientation_error < EXACT
    assert not figure.violations(result.posture)
    for name in ("lift", "reach", "aside"):
        assert result.posture[name] == posture[name]


def test_the_shape_does_not_depend_on_the_slides() -> None:
    figure = telescope()
    solver = Expressive(figure)
    drawn_out, pushed_in = figure.posture(SLID), figure.posture({**SLID, "lift": 0.0, "reach": 0.0, "aside": 0.1})
    target = facing([0.3, 0.4, 0.8], roll=None)
    one, other = solver.solve(drawn_out, target), solver.solve(pushed_in, target)
    assert [one.posture[name] for name in solver.limb.joints] == [other.posture[name] for name in solver.limb.joints]


def test_a_point_is_looked_at_from_where_the_slides_carry_the_tip() -> None:
    figure = telescope()
    solver = Expressive(figure)
    posture, point = figure.posture(SLID), np.array([0.5, 0.9, 1.2])
    assert off(figure, solver.solve(posture, at(point)).posture, point) < 1e-5
    batch = solver.solve_batch([posture, figure.neutral()], [at(point), at(point + 0.2)])
    assert off(figure, batch[0].posture, point) < 1e-5
    assert off(figure, batch[1].posture, point + 0.2) < 1e-5


def test_a_point_is_followed_while_a_slide_moves() -> None:
    figure = telescope()
    solver = Expressive(figure)
    point = np.array([0.5, 0.9, 1.2])
    result = solver.solve(figure.posture(SLID), at(point, roll=None))
    for f in range(40):
        posture = figure.posture({**SLID, "lift": 0.3 - 0.005 * f})
        result = solver.solve(posture, at(point, roll=None), previous=result)
        assert off(figure, result.posture, point) < 1e-5
        assert result.posture["lift"] == posture["lift"]


def test_erik_and_a_chain_of_slides_alone_are_refused_in_one_sentence() -> None:
    with pytest.raises(
        FigureError, match=r"^erik needs a single chain of revolute joints; 'lift' is a prismatic joint"
    ):
        poise.Erik(telescope())
    made = Builder("lift")
    made.body("base")
    made.body("cabin", parent="base", joint=prismatic("rise", "y"), at=(0, 0.1, 0))
    with pytest.raises(FigureError, match=r"^expressive needs a revolute joint between the root and 'cabin'"):
        Expressive(made.build())
