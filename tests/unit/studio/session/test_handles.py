"""Handles for the parts of a figure, targets that move together or snap to places, blended postures and fingers."""

import numpy as np
import pytest

import poise
from poise.errors import TaskError
from poise.studio.session.changes import (
    with_foot_beside,
    with_named_posture,
    with_target,
    with_target_at,
    with_targets_moved,
    without_named_posture,
)
from poise.studio.session.new_tasks import with_handles
from poise.studio.session.postures import blended, finger_values, has_fingers, in_posture, with_joint_values
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.viewport import ACTIONS


@pytest.fixture
def session() -> Session:
    return Session(poise.load("human"))


def wanted(state: State, label: str) -> np.ndarray:
    """Where the target of a task is."""
    task = next(task for task in state.scene.tasks if task.label == label)
    target = task.target_in(state.posture)
    assert target is not None
    return np.array(target.wanted)


def number(state: State, label: str) -> int:
    return [task.label for task in state.scene.tasks].index(label)


def test_handles_are_added_where_there_are_none_and_move_nothing(session: Session) -> None:
    before = session.state
    session.update(with_handles)
    labels = [task.label for task in session.state.scene.tasks]
    assert labels == ["left foot", "right foot", "balance", "pelvis", "head", "left hand", "right hand"]
    assert session.state.posture is before.posture
    session.update(with_handles)
    assert len(session.state.scene.tasks) == 7
    with pytest.raises(TaskError, match="has no hands"):
        with_handles(Session(poise.load("snake")).state)


def test_several_targets_move_together_and_are_undone_together(session: Session) -> None:
    session.update(with_handles)
    before = session.state
    left, right = number(before, "left hand"), number(before, "right hand")
    for height in (0.1, 0.2):
        at = wanted(before, "left hand") + np.array([0.0, height, 0.0])
        ACTIONS["aim"](session, "me", {"task": left, "with": [right], "at": at.tolist(), "gesture": 1})
    moved = session.state
    for label in ("left hand", "right hand"):
        assert wanted(moved, label) - wanted(before, label) == pytest.approx([0.0, 0.2, 0.0])
    session.undo()
    assert wanted(session.state, "right hand") == pytest.approx(wanted(before, "right hand"))
    assert with_targets_moved(before, left, [left], at).scene.tasks[left].at == pytest.approx(at)  # type: ignore[attr-defined]


def test_a_target_snaps_to_a_site_and_a_foot_beside_the_other(session: Session) -> None:
    session.update(with_handles)
    state = session.state
    snapped = with_target_at(state, number(state, "left hand"), "crown")
    assert wanted(snapped, "left hand") == pytest.approx(state.figure.pose_of("crown", state.posture).position)
    foot = number(state, "left foot")
    aside = with_target(state, foot, wanted(state, "left foot") + np.array([0.05, 0.2, 0.4]))
    back = wanted(with_foot_beside(aside, foot, "right_foot"), "left foot")
    assert back == pytest.approx(wanted(state, "left foot") + np.array([0.05, 0.0, 0.0]), abs=1e-6)


def test_postures_are_blended_kept_and_forgotten(session: Session) -> None:
    state = in_posture(session.state, "standing")
    waving = in_posture(state, "waving").posture
    assert blended(state, state.posture, "waving", 0.0).posture.q == pytest.approx(state.posture.q, abs=1e-9)
    assert blended(state, state.posture, "waving", 1.0).posture.q == pytest.approx(waving.q, abs=1e-9)
    half = blended(state, state.posture, "waving", 0.5)
    ways = [np.linalg.norm(state.figure.difference(each, half.posture)) for each in (state.posture, waving)]
    assert ways[0] == pytest.approx(ways[1], rel=1e-6)
    kept = with_named_posture(half, "half")
    assert "half" in kept.figure.posture_names
    assert "half" not in without_named_posture(kept, "half").figure.posture_names


def test_fingers_take_postures_of_the_hand() -> None:
    assert has_fingers(poise.load("human")) == ()
    person = poise.human(fingers=True)
    assert has_fingers(person) == ("left", "right")
    state = Session(person).state
    fist = with_joint_values(state, finger_values(person, "left", "fist", 1.0)).posture
    changed = {
        joint.name
        for joint in person.joints
        if joint.nq and not np.allclose(fist[joint.name], state.posture[joint.name])
    }
    assert changed
    assert all(name.startswith("left_") for name in changed)
    assert has_fingers(poise.hand("left")) != ()
