"""`poise.Expressive` on whole bodies: an exact gaze, the posture kept, nothing that jumps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import poise
from poise.errors import FigureError, TaskError
from poise.expressive.body import ExpressiveBody
from poise.figure.model.builder import Builder, free, revolute

HUMAN = poise.human(eyes=True)
ARMS = ("left_shoulder", "left_elbow", "left_wrist", "right_shoulder", "right_elbow", "right_wrist")


def ball(azimuth: float, height: float = 1.5, away: float = 2.0) -> np.ndarray:
    turn = np.radians(azimuth)
    return np.array([away * np.sin(turn), height, away * np.cos(turn)])


def heading(posture: poise.Posture, part: str) -> float:
    ahead = HUMAN.pose_of(part, posture).matrix[:, 2]
    return float(np.degrees(np.arctan2(ahead[0], ahead[2])))


def test_a_human_looks_with_its_body_and_a_chain_with_its_tip() -> None:
    assert isinstance(poise.Expressive(HUMAN), ExpressiveBody)
    assert poise.Expressive(HUMAN).tip == "eyes"
    assert isinstance(poise.Expressive(poise.load("human")), ExpressiveBody)
    assert poise.Expressive(HUMAN, tip="head").tip == "head"
    assert type(poise.Expressive(poise.load("adelino"))) is poise.Expressive


@pytest.mark.parametrize("name", ["standing", "sitting", "thinking", "crouching", "walking"])
@pytest.mark.parametrize("azimuth", [-100.0, 20.0, 60.0])
def test_the_gaze_is_exact_and_arms_and_feet_keep_the_posture(name: str, azimuth: float) -> None:
    wanted = HUMAN.posture(name)
    r = poise.Expressive(HUMAN).solve(wanted, poise.at(ball(azimuth)))
    assert r.direction_error < 1e-6
    assert r.orientation_error < 1e-6
    assert not HUMAN.violations(r.posture)
    for joint in ARMS:
        np.testing.assert_allclose(r.posture[joint], wanted[joint], atol=0.06)
    for foot in ("left_foot", "right_foot"):
        np.testing.assert_allclose(
            HUMAN.pose_of(foot, r.posture).position, HUMAN.pose_of(foot, wanted).position, atol=1e-4
        )


def test_eyes_turn_first_then_the_head_then_the_chest() -> None:
    solver = poise.Expressive(HUMAN)
    small, middle, large = (solver.solve("standing", poise.at(ball(turn))).posture for turn in (12.0, 45.0, 110.0))
    assert np.degrees(small["eyes"][0]) > 6.0
    assert abs(heading(small, "thorax")) < 3.0
    assert heading(middle, "head") > 25.0
    assert heading(middle, "thorax") < 10.0
    assert heading(large, "thorax") > 30.0


def test_a_target_straight_ahead_leaves_the_posture_as_it_is() -> None:
    eyes = HUMAN.pose_of("eyes", "waving")
    r = poise.Expressive(HUMAN).solve("waving", poise.facing(eyes.matrix[:, 1]))
    assert r.shape_error < 1e-9
    np.testing.assert_allclose(r.posture.q, HUMAN.posture("waving").q, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hold", ["gaze", "expression"])
def test_jumps_of_target_and_posture_take_steps_within_the_rate_and_arrive(seed: int, hold: str) -> None:
    rng = np.random.default_rng(seed)
    solver = poise.Expressive(HUMAN, hold=hold)  # type: ignore[arg-type]
    before = HUMAN.random(rng)
    for _ in range(2):
        name = str(rng.choice(["standing", "sitting", "thinking", "arms_up"]))
        target = poise.at(ball(rng.uniform(-120, 120), rng.uniform(0.3, 2.5)))
        alone = solver.solve(name, target)
        for _frame in range(90):
            r = solver.solve(name, target, previous=before)
            step = float(np.abs(HUMAN.difference(before, r.posture))[6:].max())
            assert step <= solver.settings.rate + 1e-6
            before = r.posture
            if step < 1e-6:
                break
        assert step < 1e-6, "it rests"
        assert r.direction_error == pytest.approx(alone.direction_error, abs=1e-5)


def test_a_robot_on_wheels_looks_with_its_neck() -> None:
    made = Builder("robot", up="z")
    made.body("pelvis", joint=free("base"))
    made.body("torso", parent="pelvis", joint=revolute("waist", "z", limits=(-1.5, 1.5)), at=(0, 0, 0.3))
    for side, y in (("left", 0.2), ("right", -0.2)):
        made.body(f"{side}_arm", parent="torso", joint=revolute(f"{side}_arm", "y", limits=(-2, 2)), at=(0, y, 0.4))
    made.body("yoke", parent="torso", joint=revolute("pan", "z", limits=(-1.2, 1.2)), at=(0, 0, 0.5))
    made.body("head", parent="yoke", joint=revolute("tilt", "y", limits=(-0.8, 0.8)), at=(0, 0, 0.1), facing="x")
    robot = made.build()
    r = poise.Expressive(robot).solve({"left_arm": 1.0}, poise.facing([1.0, 0.5, 0.2]))
    assert r.orientation_error < 1e-6
    assert r.posture["left_arm"] == pytest.approx(1.0, abs=1e-3)
    assert r.posture["pan"] > 0.3


def test_it_can_be_pickled() -> None:
    solver = poise.Expressive(HUMAN, hold="gaze")
    solver.solve("standing", poise.at(ball(30)))
    again = pickle.loads(pickle.dumps(solver))
    assert isinstance(again, ExpressiveBody)
    a, b = (one.solve("standing", poise.at(ball(30))).posture.q for one in (solver, again))
    np.testing.assert_array_equal(a, b)


def test_bad_input_is_one_sentence() -> None:
    solver = poise.Expressive(HUMAN)
    with pytest.raises(TaskError, match=r"a body looks in a direction or at a point"):
        solver.solve("standing", (1.0, 0.0, 0.0, 0.0))
    with pytest.raises(TaskError, match=r"has no batches for a whole body such as 'human'; call solve"):
        solver.solve_batch("standing", [poise.facing("z")])
    with pytest.raises(TaskError, match="hold of expressive must be one of"):
        poise.Expressive(HUMAN, hold="tight")  # type: ignore[arg-type]
    with pytest.raises(FigureError):
        poise.Expressive(HUMAN, tip="left_hand")
    with pytest.raises(FigureError, match="nose"):
        poise.Expressive(HUMAN, tip="nose")
