"""Joint torques, their slopes, and the gradient of effort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import FigureError, TaskError
from poise.forces import Force, Support, TorqueCriterion, find_reactions, joint_torques, net_force, torque_slopes
from tests.strategies import Recipe, figures_with_posture
from tests.unit.figure.model.samples import two_links
from tests.unit.forces.scenes import CASES, FEET, G, all_kinds, all_kinds_rerooted, human
from tests.unit.kernels.body.wrench_samples import slope

PULL = Force("left_hand", (5.0, -30.0, 10.0), (0.5, 0.2, 0.0))


def test_torques_of_a_plane_chain():
    torques = joint_torques(two_links(), [0.4, 0.9], [Force("tip", (0.0, 1.0, 0.0))])
    tip = two_links().jacobian("tip", [0.4, 0.9])[:3]
    held = two_links().gravity_torques([0.4, 0.9])
    assert torques == pytest.approx(held - tip.T @ [0.0, 1.0, 0.0])


@pytest.mark.parametrize("case", CASES)
def test_torques_are_transposed_jacobians(case):
    """Against J_Gᵀ w + Σ J_iᵀ f_i with the forces in the axes of their sites."""
    figure = all_kinds()
    from poise.forces import acting_on
    from poise.kernels.body.queries import node_frames
    from poise.kernels.forces.statics import acting_wrenches

    posture = figure.random(4)
    acting = acting_on(figure, CASES[case])
    position, rotation, _ = node_frames(figure.compiled.tree, posture._q)
    point, force, torque = (np.empty_like(acting.wrenches.force) for _ in range(3))
    acting_wrenches(figure.compiled.tree, position, rotation, acting.wrenches, acting.gravity, point, force, torque)
    wanted = figure.gravity_torques(posture, np.array(acting.gravity))
    for load, f, t in zip((*acting.forces, *acting.supports), force, torque, strict=True):
        wanted -= figure.wrench_torques(load.site, posture, f, t)
    assert joint_torques(figure, posture, CASES[case]) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("rerooted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_slopes_of_torques_are_exact(case, rerooted):
    figure = all_kinds_rerooted() if rerooted else all_kinds()
    for seed in range(2):
        posture = figure.random(seed)
        wanted = slope(figure, posture, lambda p: joint_torques(figure, p, CASES[case]))
        got = torque_slopes(figure, posture, CASES[case])
        np.testing.assert_allclose(got, wanted, atol=1e-8 * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("rerooted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_effort_is_exact(case, rerooted):
    figure = all_kinds_rerooted() if rerooted else all_kinds()
    rng = np.random.default_rng(1)
    strength = {joint.name: float(rng.uniform(0.5, 4.0)) for joint in figure.joints}
    criterion = TorqueCriterion(CASES[case], strength=strength)
    for seed in range(2):
        posture = figure.random(seed)
        effort, gradient = criterion.evaluate(figure, posture)
        wanted = slope(figure, posture, lambda p: np.array(criterion.evaluate(figure, p)[0]))
        np.testing.assert_allclose(gradient, wanted, atol=1e-8 * (1.0 + effort + np.abs(wanted).max()))


@given(figures_with_posture(Recipe(bodies=6, loops=0, couplings=0)), st.integers(0, 2**32 - 1))
def test_slopes_of_any_figure(case, seed):
    figure, posture = case
    rng = np.random.default_rng(seed)
    names = figure.bodies.names
    forces = [
        Force(str(rng.choice(names)), rng.normal(size=3), rng.normal(size=3), axes="site" if i % 2 else "world")
        for i in range(3)
    ]
    forces.append(Support(str(rng.choice(names))))
    wanted = slope(figure, posture, lambda p: joint_torques(figure, p, forces))
    size = 1.0 + np.abs(wanted).max(initial=0.0) + (figure.mass + 1.0) * np.abs(posture.q).max(initial=0.0)
    np.testing.assert_allclose(torque_slopes(figure, posture, forces), wanted, atol=1e-8 * size)


def test_the_gradient_on_the_human_with_both_feet_on_the_ground():
    criterion = TorqueCriterion((PULL, *FEET))
    posture = human().random(3)
    effort, gradient = criterion.evaluate(human(), posture)
    wanted = slope(human(), posture, lambda p: np.array(criterion.evaluate(human(), p)[0]))
    np.testing.assert_allclose(gradient, wanted, atol=1e-9 * (effort + np.abs(wanted).max()))


def test_effort_counts_torques_by_strength():
    links = two_links()
    torques = joint_torques(links, [0.4, 0.9])
    plain, _ = TorqueCriterion().evaluate(links, [0.4, 0.9])
    assert plain == pytest.approx(0.5 * torques @ torques)
    uniform, _ = TorqueCriterion(strength=10.0).evaluate(links, [0.4, 0.9])
    assert uniform == pytest.approx(plain / 100.0)
    weak, _ = TorqueCriterion(strength={"elbow": 2.0}).evaluate(links, [0.4, 0.9])
    assert weak == pytest.approx(0.5 * (torques[1] / 2.0) ** 2)
    one, _ = TorqueCriterion(joints=("shoulder",)).evaluate(links, [0.4, 0.9])
    assert one == pytest.approx(0.5 * torques[0] ** 2)


def test_the_torques_of_a_floating_base_do_not_count():
    weakness = TorqueCriterion(strength=1.0).weakness(human())
    assert not weakness[human().v_slice("base")].any()
    assert (np.delete(weakness, np.arange(*human().v_slice("base").indices(human().nv))) == 1.0).all()


def test_the_human_is_weighed_by_its_strengths():
    """A joint of unknown strength, such as a clavicle, does not count."""
    weakness, figure = TorqueCriterion().weakness(human()), human()
    for joint in figure.joints:
        expected = 0.0 if joint.kind == "free" else 1.0 / joint.strength
        assert (weakness[figure.v_slice(joint.name)] == expected).all()


def test_the_root_does_not_matter_in_equilibrium():
    """The thesis' remark after eq. 6.11: torques do not depend on the root where the figure rests."""
    posture = human().neutral()
    other = human().rerooted("left_foot", posture)
    reactions = find_reactions(human(), posture, [PULL], FEET)
    same = other.adopt(posture)
    torques = joint_torques(human(), posture, [PULL], FEET, reactions=reactions)
    turned = joint_torques(other, same, [PULL], FEET, reactions=find_reactions(other, same, [PULL], FEET))
    assert reactions.balanced
    for joint in human().joints:
        if joint.kind != "free" and joint.nv == 1:
            ours, theirs = torques[human().v_slice(joint.name)], turned[other.v_slice(joint.name)]
            assert theirs == pytest.approx(ours, abs=1e-8)


def test_reactions_leave_nothing_for_the_base_to_hold():
    posture = human().neutral()
    reactions = find_reactions(human(), posture, [PULL], FEET)
    torques = joint_torques(human(), posture, [PULL], FEET, reactions=reactions)
    assert torques[human().v_slice("base")] == pytest.approx(np.zeros(6), abs=1e-9 * human().mass * G)


def test_the_base_holds_what_is_left():
    """The torques of a floating base that is not turned are minus the net wrench about its origin."""
    posture = human().neutral()
    torques = joint_torques(human(), posture, [PULL], FEET)[human().v_slice("base")]
    net = net_force(human(), posture, [PULL], FEET, about=human().pose_of("pelvis", posture).position)
    assert torques == pytest.approx(-np.concatenate([net.force, net.torque]), abs=1e-9)


def test_wrong_criteria_are_refused():
    with pytest.raises(TaskError, match="a strength must be a positive number"):
        TorqueCriterion(strength=0.0)
    with pytest.raises(TaskError, match="not -1"):
        TorqueCriterion(strength={"elbow": -1.0})
    with pytest.raises(FigureError, match="Did you mean 'elbow'"):
        TorqueCriterion(strength={"elbwo": 1.0}).weakness(two_links())
    with pytest.raises(FigureError, match="no joint 'knee'"):
        TorqueCriterion(joints=("knee",)).weakness(two_links())
