"""Hands: postures by name, blends, mirror images, the grip round a bar, and fingers of the human."""

import numpy as np
import pytest

import poise
from poise import FigureError, hand_posture
from poise.figure.model.pose import to_matrix
from poise.figures.people.hand_postures import BAR, BAR_RADIUS, HAND_POSTURES, JOINT_SIZES

RIGHT, LEFT = poise.load("hand"), poise.hand("left")
MIRROR = np.array([-1.0, 1.0, 1.0])
NAMES = ("open", "relaxed", "fist", "point", "pinch", "hold")
PERSON = poise.human(fingers=True)


def test_every_posture_has_its_name_on_the_hand_and_is_legal():
    assert set(NAMES) == set(HAND_POSTURES) <= set(RIGHT.posture_names)
    for name in NAMES:
        posture = RIGHT.posture(hand_posture(name))
        assert posture == RIGHT.posture(name)
        assert not RIGHT.violations(posture)


@pytest.mark.parametrize("seed", range(5))
def test_blends_are_legal_and_mirrored(seed):
    rng = np.random.default_rng(seed)
    shares = dict(zip(NAMES, rng.random(len(NAMES)), strict=True))
    values = hand_posture(shares, float(rng.random()))
    right, left = RIGHT.posture(values), LEFT.posture(values)
    assert not RIGHT.violations(right)
    for site in RIGHT.sites.names:
        assert LEFT.pose_of(site, left).position == pytest.approx(RIGHT.pose_of(site, right).position * MIRROR)


def test_a_left_hand_is_the_mirror_image_with_the_same_limits_and_masses():
    assert LEFT.mass == pytest.approx(RIGHT.mass)
    assert LEFT.center_of_mass("fist") == pytest.approx(RIGHT.center_of_mass("fist") * MIRROR)
    for a, b in zip(RIGHT.joints, LEFT.joints, strict=True):
        assert (a.name, a.lower, a.upper) == (b.name, b.lower, b.upper)


def test_an_amount_goes_from_rest_to_the_posture():
    rest, fist = hand_posture("relaxed"), hand_posture("fist")
    assert hand_posture("fist", 0.0) == rest
    assert hand_posture("fist", 0.0, rest="open") == hand_posture("open")
    half = hand_posture("fist", 0.5)
    for joint in JOINT_SIZES:
        assert half[joint] == pytest.approx(0.5 * (np.array(rest[joint]) + np.array(fist[joint])))


def test_shares_are_scaled_to_one():
    for a, b in zip(
        hand_posture({"fist": 2, "open": 6}).values(), hand_posture("fist", 0.25, rest="open").values(), strict=True
    ):
        assert a == pytest.approx(b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fits",), "no posture 'fits'. Did you mean 'fist'"),
        (("fist", 1.5), "from 0 to 1"),
        (("fist", float("nan")), "from 0 to 1"),
        (({},), "shares"),
        (({"fist": -1.0, "open": 2.0},), "shares"),
        (({"fist": 0.0},), "shares"),
    ],
)
def test_what_is_wrong_with_a_posture_is_said(arguments, message):
    with pytest.raises(FigureError, match=message):
        hand_posture(*arguments)
    with pytest.raises(FigureError, match="side"):
        hand_posture("fist", side="middle")
    with pytest.raises(FigureError, match="left"):
        poise.hand("middle")


def bones_of(figure, posture, words):
    """End points, in the palm's axes, and radius of the bones whose names contain one of these words."""
    frames = figure.frames(posture)
    palm_from_world = frames["palm"].inverse()
    for body in figure.bodies:
        if any(word in body.name for word in words):
            for shape in body.shapes:
                pose = palm_from_world @ frames[body.name] @ shape.pose
                half = 0.5 * shape.length * to_matrix(pose.rotation)[:, 2]
                yield body.name, pose.position - half, pose.position + half, shape.radius


def nearest_to_bar(start, end):
    """The point of a bone nearest to the axis of the bar, in the plane across it."""
    a, way = start[1:] - BAR, (end - start)[1:]
    along = np.clip(-(a @ way) / (way @ way), 0.0, 1.0)
    return a + along * way


@pytest.mark.parametrize("figure", [RIGHT, LEFT], ids=["right", "left"])
def test_hold_encloses_a_bar_of_40_mm_without_entering_it(figure):
    posture, directions = figure.posture("hold"), []
    for name, start, end, radius in bones_of(figure, posture, ("index", "middle", "ring", "little", "thumb")):
        near = nearest_to_bar(start, end)
        gap = float(np.linalg.norm(near)) - radius - BAR_RADIUS
        assert gap > -0.002, name
        if "thumb" not in name:
            assert gap < 0.004, f"{name} touches it"
        if gap < 0.004:
            directions.append(np.arctan2(near[1], near[0]))
    palm = max(shape.radius for shape in figure.bodies["palm"].shapes[:4])
    assert -0.002 < BAR[1] - BAR_RADIUS - palm < 0.004, "it lies in the palm"
    around = np.sort([*directions, -np.pi / 2])
    gaps = np.diff([*around, around[0] + 2.0 * np.pi])
    assert gaps.max() < np.pi, "it cannot fall out sideways"


def test_fingertips_meet_in_a_pinch_and_the_index_alone_is_straight_when_pointing():
    pinch = RIGHT.posture("pinch")
    tips = [RIGHT.pose_of(f"{finger}_tip", pinch).position for finger in ("thumb", "index")]
    assert np.linalg.norm(tips[0] - tips[1]) < 0.025
    point = hand_posture("point")
    assert point["index_pip"] == (0.0,)
    assert point["middle_pip"][0] > 1.0


def test_the_fingers_of_a_human_take_the_same_postures_on_both_sides():
    values = hand_posture("hold", 0.7, side="left") | hand_posture("hold", 0.7, side="right")
    posture = PERSON.posture_from(PERSON.neutral(), values)
    assert not PERSON.violations(posture)
    for site in PERSON.sites.names:
        if site.startswith("left_"):
            other = PERSON.pose_of(site.replace("left", "right", 1), posture).position
            assert PERSON.pose_of(site, posture).position == pytest.approx(other * MIRROR, abs=1e-12)


def test_a_human_with_fingers_is_the_human_with_fingers():
    human = poise.load("human")
    assert PERSON.mass == pytest.approx(human.mass)
    assert PERSON.joints.names[: len(human.joints)] == human.joints.names
    for name in human.posture_names:
        assert not PERSON.violations(name)
        assert PERSON.pose_of("eyes", name) == human.pose_of("eyes", name)
        assert PERSON.center_of_mass(name) == pytest.approx(human.center_of_mass(name))
    length = np.linalg.norm(
        PERSON.pose_of("left_middle_tip", "neutral").position - PERSON.pose_of("left_hand", "neutral").position
    )
    assert 0.08 < length < 0.12


def test_the_palm_of_a_human_faces_its_thigh_when_it_makes_a_fist():
    neutral = PERSON.neutral()
    fist = PERSON.posture_from(neutral, hand_posture("fist", side="right"))
    moved = PERSON.pose_of("right_middle_tip", fist).position - PERSON.pose_of("right_middle_tip", neutral).position
    assert moved[0] > 0.01, "towards the thigh, to the left of the right hand"


def test_a_human_with_fingers_and_eyes_reaches_as_the_human_does():
    target = (-0.3, 1.3, 0.4)
    figures = (poise.load("human"), poise.human(eyes=True, fingers=True))
    answers = [poise.solve(figure, [poise.Position("right_hand", at=target)], start="standing") for figure in figures]
    for joint in figures[0].joints.names:
        assert answers[1].posture[joint] == pytest.approx(answers[0].posture[joint], abs=2e-3)
