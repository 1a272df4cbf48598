"""Contact forces inside friction cones, and the margin of balance."""

import math

import numpy as np
import pytest

from poise.errors import FigureError, TaskError
from poise.figure.collision.soles import sole_corners
from poise.forces import Force, Gravity, Support, acting_on, balance, find_reactions, footholds_of
from tests.unit.forces.scenes import FEET, G, block, human, two_legs

WEIGHT = 10.0 * G
"""Of the block."""


def inside(reactions):
    """Whether all contact forces are in their cones."""
    normal, friction = reactions.footholds.normal, reactions.footholds.friction
    along = np.einsum("ij,ij->i", reactions.contact_force, normal)
    across = np.linalg.norm(reactions.contact_force - along[:, None] * normal, axis=1)
    return bool((across <= friction * along + 1e-9 * WEIGHT).all())


def net(figure, posture, reactions, forces=()):
    """Force and moment about the origin of weight, forces and reactions, by hand."""
    weight = np.array([0.0, -G * figure.mass, 0.0])
    pushes = [(figure.center_of_mass(posture), weight)]
    pushes += [(figure.pose_of(f.site, posture).position, np.array(f.force)) for f in forces]
    pushes += list(zip(reactions.contact_point, reactions.contact_force, strict=True))
    return np.concatenate([sum(f for _, f in pushes), sum(np.cross(p, f) for p, f in pushes)])


def test_the_corners_of_a_box_carry_it_evenly():
    figure = block()
    reactions = find_reactions(figure, figure.neutral(), supports=[Support("sole")])
    assert reactions.balanced
    assert reactions.supports["sole"] == pytest.approx([0.0, WEIGHT, 0.0])
    corners = {tuple(np.round(p, 9)) for p in reactions.contact_point}
    assert corners == {(x, 0.0, z) for x in (-0.2, 0.2) for z in (-0.1, 0.1)}
    assert reactions.contact_force == pytest.approx(np.tile([0.0, WEIGHT / 4, 0.0], (4, 1)))
    assert reactions.center_of_pressure("sole") == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_a_foot_stands_on_its_sole_however_it_is_turned():
    figure = block()
    lying = figure.posture({"base": (0.0, 0.1, 0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)})
    points = find_reactions(figure, lying, supports=[Support("sole")]).contact_point
    assert points == pytest.approx(
        np.array([figure.pose_of("sole", lying).apply(p) for p in sole_corners(figure, "sole")])
    )


def test_a_body_without_shapes_touches_at_its_site():
    figure = two_legs()
    footholds = footholds_of(acting_on(figure, [Support("left_point"), Support("right_shank")]))
    assert footholds.point == pytest.approx(np.array([[0.0, -0.5, 0.0], [0.0, 0.0, 0.0]]))
    assert footholds.support.tolist() == [0, 1]


def test_a_hand_leans_on_a_wall_at_its_site():
    wall = Support("left_hand", normal=(0.0, 0.0, -1.0))
    footholds = footholds_of(acting_on(human(), [wall]))
    assert len(footholds.node) == 1
    assert footholds.normal == pytest.approx(np.array([[0.0, 0.0, -1.0]]))


def test_given_contacts_are_in_the_frame_of_the_site():
    figure = block()
    support = Support("top", contacts=[(0.1, 0.0, 0.0), (-0.1, 0.0, 0.2)], normal="-y")
    reactions = find_reactions(figure, figure.neutral(), [Gravity("y")], [support])
    assert reactions.contact_point == pytest.approx(np.array([[0.1, 1.0, 0.0], [-0.1, 1.0, 0.2]]))


@pytest.mark.parametrize("seed", range(6))
def test_what_can_be_balanced_is_balanced_to_rounding(seed):
    rng = np.random.default_rng(seed)
    push = [Force("right_hand", rng.uniform(-40.0, 40.0, 3)), Force("left_hand", rng.uniform(-40.0, 40.0, 3))]
    reactions = find_reactions(human(), human().neutral(), push, FEET)
    weight = human().mass * G
    assert inside(reactions)
    left = np.concatenate([reactions.rest_force, reactions.rest_moment])
    if reactions.balanced:
        assert np.abs(net(human(), human().neutral(), reactions, push)).max() <= 1e-9 * weight
    else:
        middle = reactions.contact_point.mean(axis=0)
        whole = net(human(), human().neutral(), reactions, push)
        assert whole[:3] == pytest.approx(left[:3], abs=1e-9 * weight)
        assert whole[3:] - np.cross(middle, whole[:3]) == pytest.approx(left[3:], abs=1e-9 * weight)


def test_twisting_with_both_hands_is_held_by_friction_of_the_feet():
    """Fig. 7.18: opposite forces of the hands, whose moment only sideways forces at the feet can balance."""
    push = [Force("left_hand", (0.0, 0.0, 40.0)), Force("right_hand", (0.0, 0.0, -40.0))]
    held = find_reactions(human(), human().neutral(), push, FEET)
    assert held.balanced
    assert held.supports["left_foot"][2] < -1.0 < 1.0 < held.supports["right_foot"][2]
    ice = [Support("left_foot", friction=0.01), Support("right_foot", friction=0.01)]
    assert not find_reactions(human(), human().neutral(), push, ice).balanced


def test_a_support_with_a_share_carries_it():
    """As the thesis proposes: vertical forces given, tangential forces computed."""
    push = [Force("left_hand", (0.0, -10.0, 20.0)), Force("right_hand", (0.0, 0.0, -20.0))]
    feet = [Support("left_foot", 0.6), Support("right_foot")]
    reactions = find_reactions(human(), human().neutral(), push, feet)
    load = human().mass * G + 10.0
    assert reactions.balanced
    assert reactions.supports["left_foot"][1] == pytest.approx(0.6 * load)
    assert reactions.supports["right_foot"][1] == pytest.approx(0.4 * load)
    one_sided = [Support("left_foot", 1.0), Support("right_foot", 0.0)]
    assert not find_reactions(human(), human().neutral(), (), one_sided).balanced


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0])
def test_a_block_holds_on_a_slope_up_to_the_friction_angle(friction):
    figure = block(height=0.05)
    for angle in (0.98 * math.atan(friction), 1.02 * math.atan(friction)):
        turned = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
        normal = (-math.sin(angle), math.cos(angle), 0.0)
        posture = figure.posture({"base": (0.0, 0.0, 0.0, *turned)})
        reactions = find_reactions(figure, posture, supports=[Support("sole", friction=friction, normal=normal)])
        assert reactions.balanced == (angle < math.atan(friction))
        assert inside(reactions)


def test_a_tall_block_tips_before_it_slides():
    """It tips where its centre of mass passes the lower edge: tan(slope) = width / height."""
    figure = block(width=0.4, height=1.0)
    for angle, stands in ((0.37, True), (0.39, False)):
        turned = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
        normal = (-math.sin(angle), math.cos(angle), 0.0)
        posture = figure.posture({"base": (0.0, 0.0, 0.0, *turned)})
        answer = balance(figure, posture, supports=[Support("sole", friction=2.0, normal=normal)])
        assert answer.balanced == stands == (math.tan(angle) < 0.4)
        assert (answer.margin > 0.0) == stands


def test_the_margin_of_a_block_is_the_way_to_its_nearest_edge():
    figure = block()
    answer = balance(figure, figure.neutral(), supports=[Support("sole")])
    assert answer.balanced
    assert answer.margin == pytest.approx(0.1, abs=1e-6)
    assert np.abs(answer.region[:, 0]).max() == pytest.approx(0.2, abs=1e-6)
    assert np.abs(answer.region[:, 2]).max() == pytest.approx(0.1, abs=1e-6)
    assert answer.region[:, 1] == pytest.approx(np.full(len(answer.region), 0.5))


def test_the_margin_outside_is_the_way_back():
    figure = block()
    beside = [Support("sole", contacts=[(x, 0.0, z) for x in (0.3, 0.5) for z in (-0.1, 0.1)])]
    answer = balance(figure, figure.neutral(), supports=beside)
    assert not answer.balanced
    assert answer.margin == pytest.approx(-0.3, abs=1e-6)
    assert answer.region[:, 0].min() == pytest.approx(0.3, abs=1e-4)
    assert answer.region[:, 0].max() == pytest.approx(0.5, abs=1e-6)


def test_a_force_moves_the_region():
    """A horizontal force at the height of the centre of mass moves the region by force × height / weight."""
    figure = block()
    push = [Force("block", (20.0, 0.0, 0.0))]
    answer = balance(figure, figure.neutral(), push, [Support("sole")])
    shift = 20.0 * 0.5 / WEIGHT
    assert answer.region[:, 0].max() == pytest.approx(0.2 - shift, abs=1e-6)
    assert answer.region[:, 0].min() == pytest.approx(-0.2 - shift, abs=1e-6)
    assert answer.margin == pytest.approx(min(0.1, 0.2 - shift), abs=1e-6)


def test_no_centre_of_mass_balances_a_force_that_friction_cannot_hold():
    figure = block()
    answer = balance(figure, figure.neutral(), [Force("sole", (WEIGHT, 0.0, 0.0))], [Support("sole", friction=0.5)])
    assert not answer.balanced
    assert answer.margin == -math.inf
    assert answer.region.shape == (0, 3)


def test_the_human_stands_inside_the_soles_of_its_feet():
    answer = balance(human(), human().neutral(), supports=FEET)
    soles = answer.reactions.contact_point
    center = human().center_of_mass(human().neutral())
    ways = [center[2] - soles[:, 2].min(), soles[:, 2].max() - center[2], soles[:, 0].max() - center[0]]
    assert answer.balanced
    assert answer.margin == pytest.approx(min(ways), abs=1e-6)


def test_mirrored_questions_have_mirrored_answers():
    posture = human().neutral()
    left = find_reactions(human(), posture, [Force("left_hand", (0.0, -30.0, 10.0))], FEET)
    right = find_reactions(human(), posture, [Force("right_hand", (0.0, -30.0, 10.0))], FEET)
    mirror = np.array([-1.0, 1.0, 1.0])
    assert left.supports["left_foot"] == pytest.approx(mirror * right.supports["right_foot"], abs=1e-8)
    assert left.supports["right_foot"] == pytest.approx(mirror * right.supports["left_foot"], abs=1e-8)


def test_same_question_same_bytes():
    push = [Force("left_hand", (3.0, -30.0, 10.0))]
    a, b = (find_reactions(human(), human().neutral(), push, FEET) for _ in range(2))
    assert a.contact_force.tobytes() == b.contact_force.tobytes()
    assert (
        balance(human(), human().neutral(), push, FEET).margin == balance(human(), human().neutral(), push, FEET).margin
    )


def test_without_any_load_the_ground_does_nothing():
    figure = block()
    reactions = find_reactions(figure, figure.neutral(), [Gravity((0.0, 0.0, 0.0))], [Support("sole")])
    assert reactions.balanced
    assert not reactions.contact_force.any()


def test_wrong_questions_are_refused():
    figure = block()
    with pytest.raises(TaskError, match="'block' needs supports"):
        find_reactions(figure, figure.neutral())
    with pytest.raises(TaskError, match="'sole' is given as a support twice"):
        find_reactions(figure, figure.neutral(), supports=[Support("sole"), Support("sole")])
    with pytest.raises(TaskError, match="has no weight, so there is no centre of mass"):
        balance(figure, figure.neutral(), [Gravity((0.0, 0.0, 0.0))], [Support("sole")])
    with pytest.raises(FigureError, match="no site or body 'soul'"):
        find_reactions(figure, figure.neutral(), supports=[Support("soul")])
