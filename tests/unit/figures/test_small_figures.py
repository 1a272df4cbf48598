"""Adelino, the snake, the arm, the hand, the cyclist and the serial robots."""

import math

import numpy as np
import pytest

from poise.figure import Figure
from poise.figures import built_in
from poise.figures.people.cyclist import riding
from poise.figures.robots.adelino import ADELINO_POSTURES

FINGERS = ("index", "middle", "ring", "little")


def tip(figure: Figure, posture: str) -> np.ndarray:
    return figure.pose_of("tip", posture).position


def test_adelino_is_a_desk_robot_of_five_servos() -> None:
    adelino = built_in("adelino")
    assert "".join("xyz"[int(np.argmax(joint.axes[0]))] for joint in adelino.joints) == "yxxzy"
    assert all(np.degrees([joint.lower[0], joint.upper[0]]) == pytest.approx([-90, 90]) for joint in adelino.joints)
    straight = adelino.posture(np.zeros(5))
    assert adelino.pose_of("tip", straight).position == pytest.approx([0.0, 0.6, 0.0])
    assert all(joint.speed == 6.0 for joint in adelino.joints)


def test_adelino_servos_can_hold_every_posture() -> None:
    adelino = built_in("adelino")
    assert {"neutral", "happy", "sad", "curious", "proud", "shy", "angry", "sleepy", "surprised"} <= set(
        ADELINO_POSTURES
    )
    for name in ADELINO_POSTURES:
        assert np.abs(adelino.gravity_torques(name)).max() < 0.8 * adelino.joints[0].strength


def test_adelino_looks_what_its_postures_say() -> None:
    adelino = built_in("adelino")
    gaze = {name: adelino.pose_of("eyes", name).matrix[:, 1] for name in ADELINO_POSTURES}
    assert tip(adelino, "proud")[1] > tip(adelino, "neutral")[1] > tip(adelino, "sad")[1]
    assert gaze["sad"][1] < -0.2 and gaze["happy"][1] > 0.8
    assert tip(adelino, "surprised")[2] < tip(adelino, "neutral")[2] < tip(adelino, "angry")[2]
    assert abs(gaze["angry"][0]) < 0.1 and gaze["angry"][2] > 0.9
    assert all(tip(adelino, name)[1] > 0.03 for name in ADELINO_POSTURES)


def test_snake_postures() -> None:
    snake = built_in("snake")
    assert len(snake.joints) == 24
    assert snake.pose_of("tip", snake.neutral()).matrix[:, 1] == pytest.approx([0, 0, 1])
    assert tip(snake, "rise")[1] > 0.4 and tip(snake, "strike")[1] > 0.4
    assert snake.pose_of("tip", "strike").matrix[2, 1] > 0.8
    coil = snake.frames("coil")
    ribs = np.array([coil[f"rib_{k + 1}"].position for k in range(24)])
    apart = [np.linalg.norm(ribs[i] - ribs[j]) for i in range(24) for j in range(i - 4)]
    assert min(apart) > 0.048, "windings must lie on, not in, each other"
    assert np.ptp(ribs[:, 2]) < 0.45


def test_arm_moves_in_the_plane_its_turntable_chooses() -> None:
    arm = built_in("arm")
    bent = arm.posture({"shoulder": 0.5, "elbow": 0.7, "wrist": -0.3})
    assert arm.pose_of("tip", bent).position[0] == pytest.approx(0.0, abs=1e-12)
    turned = arm.posture({"turn": 0.5 * math.pi, "shoulder": 0.5, "elbow": 0.7, "wrist": -0.3})
    assert arm.pose_of("tip", turned).position[2] == pytest.approx(0.0, abs=1e-12)
    lengths = np.diff(
        [arm.pose_of(body, arm.neutral()).position[1] for body in ("upper_arm", "forearm", "hand", "tip")]
    )
    assert lengths == pytest.approx([0.45, 0.40, 0.20])


def test_hand_has_fifteen_finger_joints_and_coupled_last_hinges() -> None:
    hand = built_in("hand")
    fingers = [joint for joint in hand.joints if joint.name != "wrist"]
    assert len(fingers) == 15
    assert hand.nv == 22
    for finger in FINGERS:
        assert hand.posture({f"{finger}_pip": 0.9})[f"{finger}_dip"] == pytest.approx(0.6)
        broken = hand.violations({f"{finger}_pip": 0.9, f"{finger}_dip": 0.0})
        assert [violation.part for violation in broken] == [f"{finger}_curl"]
    for seed in range(10):
        posture = hand.random(seed)
        for finger in FINGERS:
            assert posture[f"{finger}_dip"] == pytest.approx(2.0 / 3.0 * float(posture[f"{finger}_pip"]), abs=1e-9)


def test_hand_postures_touch_and_close() -> None:
    hand = built_in("hand")
    pinch = hand.frames("pinch")
    assert np.linalg.norm(pinch["index_tip"].position - pinch["thumb_tip"].position) < 0.012
    fist, flat, point = hand.frames("fist"), hand.frames("open"), hand.frames("point")
    palm = np.array([0.0, 0.06, 0.02])
    for finger in FINGERS:
        assert np.linalg.norm(fist[f"{finger}_tip"].position - palm) < 0.055
        assert flat[f"{finger}_tip"].position[1] > 0.14
    assert point["index_tip"].position[1] > 0.17
    assert flat["thumb_tip"].position[0] > flat["index_tip"].position[0]


@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0 * math.pi, 13))
def test_cyclist_stays_on_pedals_and_handlebar(angle: float) -> None:
    cyclist = built_in("cyclist")
    posture = cyclist.posture(riding(angle))
    assert cyclist.violations(posture) == []
    frames = cyclist.frames(posture)
    for side in ("left", "right"):
        assert frames[f"{side}_foot"].position == pytest.approx(frames[f"{side}_pedal"].position, abs=1e-12)
        assert frames[f"{side}_hand"].position == pytest.approx(frames[f"{side}_grip"].position, abs=1e-12)
        # Shoe and pedal stay flat on each other.
        sole, pedal = frames[f"{side}_foot"].matrix, frames[f"{side}_pedal"].matrix
        assert sole == pytest.approx(pedal, abs=1e-12)
        assert frames[f"{side}_shank"].position[2] > frames[f"{side}_thigh"].position[2]


def test_pedals_turn_forwards() -> None:
    cyclist = built_in("cyclist")
    before, after = (
        cyclist.pose_of("left_pedal", riding(angle)).position for angle in (-0.5 * math.pi, -0.4 * math.pi)
    )
    assert before[1] == pytest.approx(0.28 + 0.17)
    assert after[2] > before[2] + 0.04


def test_serial12_and_boxer_counts() -> None:
    serial = built_in("serial12")
    kinds = [joint.kind for joint in serial.joints]
    assert kinds == ["revolute", "prismatic"] * 6
    assert all(joint.active for joint in serial.joints)
    boxer = built_in("boxer")
    assert len(boxer.bodies) == 5
    assert [joint.active for joint in boxer.joints] == [True] * 4


def test_boxer_is_singular_with_its_arm_raised_sideways() -> None:
    boxer = built_in("boxer")
    turning = [np.linalg.svd(boxer.jacobian("glove", p)[3:, :3], compute_uv=False)[-1] for p in ("raised", "guard")]
    assert turning[0] < 1e-12
    assert turning[1] > 0.1
    assert boxer.pose_of("glove", "jab").position[2] > 0.4
