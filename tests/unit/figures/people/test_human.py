"""The human: masses, lengths, ranges, symmetry, strengths, and the coupled spine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import poise
from poise.errors import FigureError
from poise.figure import Posture
from poise.figure.model.figure import STANDARD_GRAVITY
from poise.figure.model.mass import Mass, combined
from poise.figure.model.pose import FloatArray
from poise.figures import built_in
from poise.figures.people import anthropometry
from poise.figures.people import human_ranges as ranges
from poise.figures.people.ball_region import DOWN, UP, Range, limb_turn
from poise.figures.people.human_postures import HUMAN_POSTURES
from poise.forces import Force, joint_torques

MIRROR = np.diag([-1.0, 1.0, 1.0])
HUMAN = built_in("human")


def mirrored(posture: Posture) -> Posture:
    """The posture in the mirror x → -x."""
    values = {}
    for name in posture:
        value = np.atleast_1d(posture[name]).copy()
        if HUMAN.joints[name].kind == "ball":
            value *= [1.0, 1.0, -1.0, -1.0]
        elif name == "base":
            value *= [-1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0]
        values[_other_side(name)] = value
    return HUMAN.posture(values)


def _other_side(name: str) -> str:
    if name.startswith("left_"):
        return name.replace("left_", "right_", 1)
    return name.replace("right_", "left_", 1) if name.startswith("right_") else name


def test_has_fifty_degrees_of_freedom() -> None:
    assert HUMAN.nv == 50
    sizes = {"base": 6, "spine": 3, "chest": 3, "neck": 3, "head": 3}
    side = {
        "clavicle": 2,
        "shoulder": 3,
        "elbow": 1,
        "forearm": 1,
        "wrist": 2,
        "hip": 3,
        "knee": 1,
        "ankle": 2,
        "toes": 1,
    }
    expected = sizes | {f"{s}_{name}": size for s in ("left", "right") for name, size in side.items()}
    assert {joint.name: joint.nv for joint in HUMAN.joints} == expected


def test_a_hinge_has_one_value() -> None:
    assert HUMAN.neutral()["right_elbow"] == 0.0


def test_the_table_sums_to_one() -> None:
    trunk = ("head", "thorax", "abdomen", "pelvis")
    total = sum(s.mass * (1 if name in trunk else 2) for name, s in anthropometry.SEGMENT_SHARES.items())
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("stature", "mass"), [(1.75, 70.0), (1.5, 45.0), (2.0, 110.0), (1.2, 25.0)])
def test_scales_with_stature_and_mass(stature: float, mass: float) -> None:
    figure = poise.human(stature, mass)
    assert figure.mass == pytest.approx(mass, rel=1e-12)
    frames = figure.frames(figure.neutral())
    assert frames["crown"].position[1] == pytest.approx(stature, rel=1e-12)
    soles = [site for site in figure.sites.names if "_foot" in site or site.endswith(("_heel", "_toes"))]
    assert len(soles) == 18
    assert [frames[site].position[1] for site in soles] == pytest.approx([0.0] * 18, abs=1e-12)
    assert frames["left_shank"].position[1] == pytest.approx(0.285 * stature)
    assert frames["left_thigh"].position[1] == pytest.approx(0.530 * stature)
    assert frames["left_upper_arm"].position[1] == pytest.approx(0.818 * stature)
    for name in figure.posture_names:
        assert figure.violations(figure.posture(name)) == []


def test_center_of_mass_is_where_people_have_it() -> None:
    """At 56 % of stature for men, with their arms down, and over the feet."""
    com = HUMAN.center_of_mass(HUMAN.neutral())
    assert com[1] / 1.75 == pytest.approx(0.56, abs=0.015)
    assert com[0] == pytest.approx(0.0, abs=1e-12)
    frames = HUMAN.frames(HUMAN.neutral())
    assert frames["left_heel"].position[2] < com[2] < frames["left_toes"].position[2]


@pytest.mark.parametrize(("segment", "bodies"), [("forearm", ("ulna", "radius")), ("foot", ("foot", "toes"))])
def test_divided_segments_keep_their_mass_centre_and_inertia(segment: str, bodies: tuple[str, str]) -> None:
    frames = HUMAN.frames(HUMAN.neutral())
    rows = [HUMAN.bodies.index(f"left_{body}") for body in bodies]
    whole = combined(_in_world(HUMAN.bodies[row].mass, frames.position[row]) for row in rows)
    length = {"forearm": anthropometry.FOREARM_FRACTION, "foot": anthropometry.FOOT_LENGTH}[segment] * 1.75
    share = anthropometry.SEGMENT_SHARES[segment]
    assert whole.mass == pytest.approx(70.0 * share.mass)
    across = whole.inertia[0, 0]
    assert math.sqrt(across / whole.mass) / length == pytest.approx(share.gyration[1])


def _in_world(mass: Mass, at: FloatArray) -> Mass:
    return Mass(mass.mass, mass.center + at, mass.inertia)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_refuses_impossible_people(value: float) -> None:
    with pytest.raises(FigureError, match="stature of a human must be a positive number"):
        poise.human(value)
    with pytest.raises(FigureError, match="mass of a human must be a positive number"):
        poise.human(1.7, value)


@given(seed=st.integers(0, 10_000))
def test_left_and_right_mirror_each_other(seed: int) -> None:
    posture = HUMAN.random(seed)
    image = mirrored(posture)
    assert HUMAN.violations(image) == []
    here, there = HUMAN.frames(posture), HUMAN.frames(image)
    for name in here:
        twin = there[_other_side(name)]
        assert MIRROR @ here[name].position == pytest.approx(twin.position, abs=1e-12)
    for body in ("left_hand", "right_foot", "head"):
        assert MIRROR @ here[body].matrix @ MIRROR == pytest.approx(there[_other_side(body)].matrix, abs=1e-12)
    assert MIRROR @ HUMAN.center_of_mass(posture) == pytest.approx(HUMAN.center_of_mass(image), abs=1e-12)


@given(seed=st.integers(0, 10_000))
def test_what_is_illegal_on_the_left_is_illegal_on_the_right(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = HUMAN.neutral().q + rng.normal(scale=0.6, size=HUMAN.nq)
    posture = HUMAN.posture(q)
    here = {(v.part, v.limit): v.excess for v in HUMAN.violations(posture)}
    there = {(_other_side(v.part), v.limit): v.excess for v in HUMAN.violations(mirrored(posture))}
    assert there == pytest.approx(here, abs=1e-9)


BALLS: list[tuple[str, Range, FloatArray]] = [
    ("spine", ranges.SPINE_RANGE, UP),
    ("chest", ranges.CHEST_RANGE, UP),
    ("neck", ranges.NECK_RANGE, UP),
    ("head", ranges.HEAD_RANGE, UP),
    ("left_shoulder", ranges.SHOULDER_RANGE, DOWN),
    ("right_shoulder", ranges.SHOULDER_RANGE, DOWN),
    ("left_hip", ranges.HIP_RANGE, DOWN),
    ("right_hip", ranges.HIP_RANGE, DOWN),
]


@pytest.mark.parametrize(("joint", "motion", "limb"), BALLS)
def test_extreme_swings_are_those_of_the_table(joint: str, motion: Range, limb: FloatArray) -> None:
    """Legal half a degree inside each extreme, illegal half a degree outside."""
    right = joint.startswith("right")
    for axis in (0, 1):
        for extreme in motion[axis]:
            for inside in (True, False):
                swing = [0.0, 0.0]
                swing[axis] = extreme + (-0.5 if inside else 0.5) * math.copysign(1.0, extreme)
                turn = limb_turn(limb, *swing, right=right)
                # A bent knee keeps the hamstrings out of it.
                knees = {"left_knee": math.radians(60), "right_knee": math.radians(60)} if "hip" in joint else {}
                broken = HUMAN.violations({joint: turn, **knees})
                assert bool([v for v in broken if v.part == joint and v.limit == "swing"]) is not inside


@pytest.mark.parametrize(("joint", "motion", "limb"), BALLS)
@pytest.mark.parametrize("swing", [(0.0, 0.0), (0.0, 0.8), (0.6, 0.0)])
def test_extreme_rotations_are_those_of_the_table(
    joint: str, motion: Range, limb: FloatArray, swing: tuple[float, float]
) -> None:
    """Within the 4° to which the induced twist is fitted, wherever the limb points."""
    right = joint.startswith("right")
    aside = [share * interval[1] for share, interval in zip(swing, (motion.x, motion.y), strict=True)]
    for extreme in motion.twist:
        for slack, legal in ((-4.0, True), (4.0, False)):
            twist = extreme + slack * math.copysign(1.0, extreme)
            broken = HUMAN.violations({joint: limb_turn(limb, *aside, twist, right=right)})
            assert ("twist" not in [v.limit for v in broken if v.part == joint]) is legal


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_hamstrings_stop_a_straight_leg(side: str) -> None:
    """θ_hip + θ_knee ≥ -70° with θ_hip negative in flexion [Baerlocher 2001, eq. 3.2]."""

    def stopped(hip: float, knee: float) -> bool:
        turn = limb_turn(DOWN, -hip, 0.0, right=side == "right")
        broken = HUMAN.violations({f"{side}_hip": turn, f"{side}_knee": math.radians(knee)})
        return f"{side}_hamstrings" in [v.part for v in broken]

    assert not stopped(70.0, 0.0) and stopped(71.0, 0.0)
    assert not stopped(100.0, 31.0) and stopped(100.0, 27.0)
    assert not stopped(118.0, 60.0)
    assert not stopped(-18.0, 120.0), "hip extension with a bent knee is not the hamstrings' business"


def test_postures_look_like_their_names() -> None:
    frames = {name: HUMAN.frames(name) for name in HUMAN_POSTURES}
    assert {"standing", "neutral", "t_pose", "sitting", "crouching", "reaching", "waving"} <= set(HUMAN_POSTURES)
    t_pose = frames["t_pose"]
    assert t_pose["left_fingertips"].position[1] == pytest.approx(t_pose["left_upper_arm"].position[1], abs=1e-9)
    assert t_pose["left_fingertips"].position[0] > 0.8
    # Palms down.
    palm = t_pose["left_hand"].position - t_pose["left_fingertips"].position
    assert palm[1] < 0.0
    assert frames["waving"]["right_fingertips"].position[1] > frames["waving"]["crown"].position[1]
    assert frames["arms_up"]["left_fingertips"].position[1] > 2.0
    assert frames["reaching"]["right_fingertips"].position[2] > 0.6
    assert frames["sitting"]["pelvis"].position[1] == pytest.approx(0.5, abs=0.05)
    assert frames["crouching"]["crown"].position[1] < 1.2


@pytest.mark.parametrize("name", HUMAN_POSTURES)
def test_postures_stand_on_the_ground(name: str) -> None:
    frames = HUMAN.frames(name)
    soles = [frames[site].position for site in HUMAN.sites.names if "_foot_" in site]
    assert min(p[1] for p in soles) == pytest.approx(0.0, abs=1e-12)
    if name in ("crouching", "waving", "arms_up", "thinking", "standing"):
        depth = [p[2] for p in soles]
        assert min(depth) < HUMAN.center_of_mass(name)[2] < max(depth), "must not fall over"


def test_axes_are_those_of_motion_capture() -> None:
    frames = HUMAN.frames("standing")
    assert frames["left_hand"].position[0] > 0.0 > frames["right_hand"].position[0]
    assert frames["left_toes"].position[2] > frames["left_heel"].position[2]
    assert frames["eyes"].matrix[:, 1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    bent = HUMAN.frames({"left_elbow": 1.0, "left_knee": 1.0})
    assert bent["left_hand"].position[2] > 0.1, "elbows bend the hands forward"
    assert bent["left_heel"].position[2] < -0.3, "knees bend the feet backward"


def bend(posture: Posture, joint: str) -> FloatArray:
    """(2,) how far a joint of the spine swings forward and to the left, whatever its twist [rad]."""
    x, y, z = Rotation.from_quat(posture[joint], scalar_first=True).apply((0.0, 1.0, 0.0))
    return np.array([z, x]) * math.acos(y) / max(math.hypot(x, z), 1e-12)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_a_coupled_spine_bends_as_one(seed: int) -> None:
    """Whatever is asked of the hand, the chest bends by its share of what the spine bends by, the same way."""
    figure = poise.human(coupled_spine=True)
    rng = np.random.default_rng(seed)
    feet = [poise.Frame(foot, figure.pose_of(foot, "standing")) for foot in ("left_foot", "right_foot")]
    hand = poise.Position("right_hand", at=np.array([-0.2, 0.9, 0.3]) + 0.5 * rng.normal(size=3), priority=2)
    result = poise.solve(figure, [*feet, hand], start="standing", max_steps=60)
    assert figure.violations(result.posture) == []
    lower, upper = bend(result.posture, "spine"), bend(result.posture, "chest")
    shares = [20.0 / 32.5, 15.0 / 20.0]
    np.testing.assert_allclose(upper, lower * shares, atol=math.radians(1.5))


def test_postures_of_a_coupled_spine_keep_its_couplings() -> None:
    figure = poise.human(coupled_spine=True, eyes=True)
    for name in HUMAN_POSTURES:
        posture = figure.posture(name)
        assert figure.violations(posture) == [], name
        for site in ("left_foot", "right_hand", "eyes"):
            far = figure.pose_of(site, posture).position - HUMAN.pose_of(site, name).position
            assert np.linalg.norm(far) < 0.06, "and they are nearly those of every human"


def test_an_uncoupled_spine_is_the_default() -> None:
    assert {coupling.name for coupling in HUMAN.couplings} == {"left_hamstrings", "right_hamstrings"}


def test_strengths_are_those_of_the_tables() -> None:
    """A human of average size has the mean of both directions; weight times stature scales it."""
    known = {joint.name: joint.strength for joint in HUMAN.joints}
    weight = 70.0 * STANDARD_GRAVITY
    assert known["left_knee"] == pytest.approx(0.5 * (0.163 + 0.087) * weight * 1.75)
    assert known["right_hip"] == pytest.approx(0.5 * (0.161 + 0.113) * weight * 1.75)
    assert known["left_elbow"] == pytest.approx(0.5 * (77.0 + 46.0))
    assert known["spine"] == known["chest"] == pytest.approx(188.5)
    assert known["left_wrist"] < 0.2 * known["left_shoulder"], "the thesis says about a tenth"
    for name, strength in known.items():
        assert strength == known[_other_side(name)]
    for unknown in ("base", "left_clavicle", "left_forearm", "left_toes"):
        assert known[unknown] == math.inf
    child = poise.human(1.2, 25.0)
    assert child.joints["left_knee"].strength == pytest.approx(known["left_knee"] * 1.2 * 25.0 / (1.75 * 70.0))


def test_a_heavy_load_is_beyond_the_strength_of_an_outstretched_arm() -> None:
    """A person holds 5 kg, but not 20, in a hand held out to the side."""

    def used(newton: float) -> float:
        torque = joint_torques(HUMAN, "t_pose", [Force("left_hand", (0.0, -newton, 0.0))])
        return float(np.linalg.norm(torque[HUMAN.v_slice("left_shoulder")])) / HUMAN.joints["left_shoulder"].strength

    assert used(50.0) < 1.0 < used(200.0)
