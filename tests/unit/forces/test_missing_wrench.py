"""The wrench that is missing for balance, against what the reactions leave and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Equilibrium
from poise.engine.problem import Problem
from poise.figure.model.posture import Posture
from poise.forces import Force, acting_on, find_reactions
from poise.forces.missing_wrench import Balancing, typical_length
from poise.forces.support_region import support_region
from poise.kernels.engine.step import examine
from tests.unit.forces.scenes import FEET, human

NUDGE = 1e-5
"""Half the width of a central difference [rad or m]."""


def random_case(seed: int) -> tuple[Balancing, Posture, float]:
    """A random posture with a push that no centre of mass balances, fixed to the world or to the hand."""
    rng, figure = np.random.default_rng(seed), human()
    while True:
        force, torque = (tuple((size * rng.normal(size=3)).tolist()) for size in (1500.0, 50.0))
        acting = acting_on(figure, (*FEET, Force("right_hand", force, torque, axes="world" if seed % 2 else "site")))
        posture, length = figure.random(rng), typical_length(acting)
        if not support_region(acting, posture, np.zeros(3), 8).possible:
            return Balancing(acting, posture, length), posture, length


@pytest.mark.parametrize("seed", range(6))
def test_the_goals_have_the_gradient_of_its_size(seed: int) -> None:
    """For all joints that do not move the feet, against central differences."""
    found, posture, length = random_case(seed)
    figure = human()
    problem = Problem(figure, [Equilibrium()], forces=(*found.acting.forces, *found.acting.supports))
    problem.update_external_terms(posture._q)
    examine(problem.handle, posture._q.copy())
    rows, engine = problem.task_rows[0].rows, problem.engine
    jacobian = engine.levels.rows[engine.skip + rows.start : engine.skip + rows.stop]
    gradient = -jacobian.T @ engine.current.error[rows]
    assert np.abs(gradient).max() > 0.1
    for name in ("spine", "chest", "right_shoulder", "right_elbow", "left_shoulder", "neck"):
        for k in range(figure.nv)[figure.v_slice(name)]:
            nudge = NUDGE * np.eye(figure.nv)[k]
            ahead, behind = (
                Balancing(found.acting, figure.integrate(posture, side * nudge), length).missing.error
                for side in (1, -1)
            )
            slope = (ahead @ ahead - behind @ behind) / (4.0 * NUDGE)
            assert gradient[k] == pytest.approx(slope, abs=1e-5)


def test_it_is_what_the_reactions_leave() -> None:
    """With the same length for moments, both solve the same problem."""
    acting = acting_on(human(), (*FEET, Force("right_hand", (0.0, 0.0, -2000.0))))
    found = Balancing(acting, human().neutral(), typical_length(acting)).missing
    reactions = find_reactions(human(), human().neutral(), acting.forces, acting.supports)
    assert found.force == pytest.approx(-reactions.rest_force, abs=1e-3)
    assert found.moment == pytest.approx(-reactions.rest_moment, abs=1e-3)
