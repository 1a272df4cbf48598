"""Net wrenches, shares of supports, and the Jacobian of the unbalanced moment."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import FigureError, TaskError
from poise.forces import (
    Force,
    Gravity,
    Support,
    equilibrium_error,
    friction_used,
    net_force,
    root_reaction,
    support_forces,
)
from tests.strategies import Recipe, figures_with_posture
from tests.unit.figure.model.samples import two_links
from tests.unit.forces.scenes import CASES, FEET, TURNING, G, all_kinds, all_kinds_rerooted, human
from tests.unit.kernels.body.wrench_samples import slope


@pytest.mark.parametrize("rerooted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_supports_always_balance_the_forces(case, rerooted):
    figure = all_kinds_rerooted() if rerooted else all_kinds()
    for seed in range(3):
        net = net_force(figure, figure.random(seed), CASES[case])
        assert net.force == pytest.approx(np.zeros(3), abs=1e-11)


@pytest.mark.parametrize("rerooted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_jacobian_of_the_moment_is_exact(case, rerooted):
    figure = all_kinds_rerooted() if rerooted else all_kinds()
    for seed in range(3):
        posture = figure.random(seed)
        got = equilibrium_error(figure, posture, CASES[case])
        wanted = slope(figure, posture, lambda p: net_force(figure, p, CASES[case]).torque)
        assert got.error == pytest.approx(net_force(figure, posture, CASES[case]).torque, abs=1e-10)
        np.testing.assert_allclose(got.jacobian, wanted, atol=1e-8 * (1.0 + np.abs(wanted).max()))


@given(figures_with_posture(Recipe(bodies=6, loops=0, couplings=0, odd_names=False)), st.integers(0, 2**32 - 1))
def test_the_jacobian_of_any_figure(case, seed):
    figure, posture = case
    rng = np.random.default_rng(seed)
    names = figure.bodies.names
    forces = [
        Force(str(rng.choice(names)), rng.normal(size=3), rng.normal(size=3), axes="site" if i % 2 else "world")
        for i in range(3)
    ]
    supports = [Support(names[0], float(rng.normal()))] + [Support(names[-1])] * (len(names) > 1)
    supports = supports if len(supports) > 1 else [Support(names[0])]
    got = equilibrium_error(figure, posture, forces, supports)
    wanted = slope(figure, posture, lambda p: net_force(figure, p, forces, supports).torque)
    size = 1.0 + np.abs(wanted).max(initial=0.0) + (figure.mass + 1.0) * np.abs(posture.q).max(initial=0.0)
    np.testing.assert_allclose(got.jacobian, wanted, atol=1e-8 * size)


def test_two_rows_suffice_where_all_forces_are_vertical():
    posture = human().random(2)
    whole, level = (equilibrium_error(human(), posture, supports=FEET, level=flat) for flat in (False, True))
    assert (level.error.shape, level.jacobian.shape) == ((2,), (2, human().nv))
    assert whole.error[1] == pytest.approx(0.0, abs=1e-10)
    assert whole.jacobian[1] == pytest.approx(np.zeros(human().nv), abs=1e-10)
    assert np.linalg.norm(level.error) == pytest.approx(np.linalg.norm(whole.error))
    assert np.linalg.norm(level.jacobian) == pytest.approx(np.linalg.norm(whole.jacobian))


def test_supports_carry_their_shares():
    posture, weight = human().neutral(), human().mass * G
    carried = support_forces(human(), posture, [Support("left_foot", 0.8), Support("right_foot")])
    assert carried["left_foot"] == pytest.approx([0.0, 0.8 * weight, 0.0])
    assert carried["right_foot"] == pytest.approx([0.0, 0.2 * weight, 0.0])


def test_a_brace_carries_what_acts_across_gravity():
    """The root in the thesis: it carries every force that is not vertical."""
    push = [Force("right_hand", (30.0, -20.0, 10.0))]
    feet = [Support("left_foot", 0.5, brace=1.0), Support("right_foot", 0.5)]
    carried = support_forces(human(), human().neutral(), push, feet)
    load = human().mass * G + 20.0
    assert carried["left_foot"] == pytest.approx([-30.0, load / 2, -10.0])
    assert carried["right_foot"] == pytest.approx([0.0, load / 2, 0.0])


def test_a_negative_share_is_something_carried():
    feet = [Support("left_foot"), Support("right_hand", -0.2)]
    carried = support_forces(human(), human().neutral(), supports=feet)
    assert carried["left_foot"][1] == pytest.approx(1.2 * human().mass * G)
    assert carried["right_hand"][1] == pytest.approx(-0.2 * human().mass * G)


def test_the_root_bears_what_hangs_from_it():
    links = two_links()
    reaction = root_reaction(links, [0.0, 0.0], [Force("tip", (0.0, 1.0, 0.0), (0.0, 0.0, 0.5))])
    assert reaction.force == pytest.approx([0.0, 2.0 * G - 1.0, 0.0])
    assert reaction.torque == pytest.approx([0.0, 0.0, 3.0 * G - 2.0 - 0.5])
    assert reaction.point == pytest.approx([0.0, 0.0, 0.0])


def test_the_weight_hangs_still_below_a_fixed_root():
    links = two_links()
    assert equilibrium_error(links, [-math.pi / 2, 0.0]).error == pytest.approx(np.zeros(3), abs=1e-12)
    assert abs(equilibrium_error(links, [0.0, 0.0]).error[2]) == pytest.approx(3.0 * G)


def test_supports_leave_the_root_only_the_moment():
    reaction = root_reaction(human(), human().neutral(), supports=FEET)
    moment = equilibrium_error(human(), human().neutral(), supports=FEET).error
    assert reaction.force == pytest.approx(np.zeros(3), abs=1e-10)
    assert reaction.torque == pytest.approx(-moment)


def test_how_much_friction_a_support_uses():
    push = [Force("right_hand", (0.0, 0.0, 100.0))]
    weight = human().mass * G
    used = friction_used(human(), human().neutral(), push, [Support("left_foot", friction=0.5)])
    assert used["left_foot"] == pytest.approx(100.0 / weight / 0.5)
    lifted = friction_used(human(), human().neutral(), supports=[Support("left_foot"), Support("crown", -0.1)])
    assert lifted == {"left_foot": pytest.approx(0.0), "crown": math.inf}
    slippery = [Support("left_foot", friction=0.0)]
    assert friction_used(human(), human().neutral(), push, slippery) == {"left_foot": math.inf}


def test_gravity_may_stand_among_the_forces():
    moon = net_force(two_links(), [0.3, 0.2], [Gravity((0.0, 0.0, -1.62))])
    assert moon.force == pytest.approx(np.zeros(3))
    assert root_reaction(two_links(), [0.3, 0.2], [Gravity("-z")]).force == pytest.approx([0.0, 0.0, 2.0])


def test_what_floats_needs_supports():
    with pytest.raises(TaskError, match="'human' floats"):
        equilibrium_error(human(), human().neutral())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Force("hand", (1, 2)), "the force on 'hand' must be 3 numbers"),
        (lambda: Force("hand", axes="body"), "must be 'world' or 'site', not 'body'"),
        (lambda: Force("hand", torque=(0, 0, math.nan)), "the torque on 'hand' must be 3 finite"),
        (lambda: Support("foot", math.nan), "the share of support 'foot' must be a finite number"),
        (lambda: Support("foot", friction=-0.1), "friction of support 'foot' must be zero or a positive"),
        (lambda: Support("foot", normal=(0, 0, 0)), "the normal of support 'foot' has no direction"),
        (lambda: Support("foot", contacts=[]), "needs at least one contact"),
        (lambda: Support("foot", contacts=[(1, 2)]), "a contact of 'foot' must be 3 numbers"),
        (lambda: Gravity((1, 2)), "gravity must be 3 numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises((TaskError, FigureError), match=message):
        make()


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        (
            [Support("left_foot", 0.5), Support("right_foot", 0.6)],
            "shares of all supports must add up to 1, not to 1.1",
        ),
        ([Support("left_foot", brace=0.5)], "braces of all supports must add up to 1"),
        ([Force("left_hnad", (1, 0, 0))], "Did you mean 'left_hand'"),
        (["left_foot"], "must be a Force, Support or Gravity, not 'left_foot'"),
        ([Gravity("x"), Gravity("y")], "at most one Gravity, not 2"),
    ],
)
def test_what_does_not_fit_the_figure_is_refused(loads, message):
    with pytest.raises((TaskError, FigureError), match=message):
        net_force(human(), human().neutral(), loads)


def test_loads_are_values():
    assert Force("hand", [1, 2, 3]) == Force("hand", (1.0, 2.0, 3.0))
    assert len({Support("foot", 0.5), Support("foot", 0.5)}) == 1
    assert hash(Gravity("y")) == hash(Gravity((0, 1, 0)))
    assert TURNING[0] != TURNING[1]
