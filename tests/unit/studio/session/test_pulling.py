"""Drags, tasks and undo in the session, without a browser; the tests call `tick` themselves."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.errors import FormatError, PoiseError, TaskError
from poise.figure.collision.soles import support_polygon
from poise.figure.model.pose import Pose
from poise.figures import built_in
from poise.formats.scene_toml.write import scene_text
from poise.studio.control.modes import Modes
from poise.studio.scenes.openings import EXAMPLE_SCENES, FEET, opening
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.scene import (
    task_from_text,
    task_text,
    with_changed_task,
    with_figure_file,
    with_new_task,
    with_task,
    without_task,
)
from poise.studio.session.history import HISTORY_LENGTH, History
from poise.studio.session.new_tasks import new_task, task_menu
from poise.studio.session.session import Session
from poise.studio.session.stepping import SolverThread
from poise.studio.wire.frames import packed, unpacked
from poise.tasks.form import angles_of, rotation_by
from poise.tasks.look_at import LookAt
from poise.tasks.place import Frame, Position
from tests.unit.studio.pointer import aim, drag, press, release, send

MOST = 400


def rest(session: Session, most: int = MOST) -> int:
    """Tick until the figure rests; returns the number of steps."""
    for count in range(most):
        if not session.tick():
            return count
    raise AssertionError("the figure does not come to rest")


@pytest.fixture
def session() -> Session:
    opened = Session(built_in("human"))
    rest(opened)
    return opened


def body(session: Session, name: str) -> int:
    return [each.name for each in session.state.figure.bodies].index(name)


def feet(session: Session) -> np.ndarray:
    state = session.state
    return np.array([state.figure.pose_of(foot, state.posture).position for foot in FEET])


def test_the_human_opens_standing_with_feet_pinned_and_balance_on(session: Session) -> None:
    labels = [(task.label, task.priority) for task in session.state.scene.tasks]
    assert labels == [("left foot", 1), ("right foot", 1), ("balance", 2)]
    assert session.state.outcome.light == "green"
    assert session.state.posture == built_in("human").posture("standing")


def test_a_pull_moves_that_very_point_and_is_gone_on_release(session: Session) -> None:
    hand, where = body(session, "right_hand"), np.array([0.01, -0.05, 0.02])
    before, stood = session.state, feet(session)
    press(session, "me", hand, where)
    start = session.state.pulls[0].at
    for k in range(1, 31):
        drag(session, "me", start + k / 30 * np.array([-0.2, 0.5, 0.3]))
        session.tick()
        assert np.abs(feet(session) - stood).max() < 1e-3
        assert support_polygon(session.state.posture, FEET).inside > 0.0
    rest(session)
    frames = session.state.figure.frames(session.state.posture)
    point_now = Pose(frames.position[hand], frames.rotation[hand]).apply(where)
    assert point_now == pytest.approx(np.add(start, [-0.2, 0.5, 0.3]), abs=1e-3)
    release(session, "me")
    assert session.state.pulls == ()
    assert session.state.scene is before.scene
    pulled = session.state.posture
    rest(session)
    assert session.state.posture.q == pytest.approx(pulled.q, abs=1e-6)


def test_a_pull_out_of_reach_comes_to_rest_and_says_what_it_gave_way_to(session: Session) -> None:
    stood = feet(session)
    press(session, "me", body(session, "right_hand"), [0, 0, 0])
    drag(session, "me", np.add(session.state.pulls[0].at, [-4.0, 3.0, 3.0]))
    rest(session)
    outcome = session.state.outcome
    assert outcome.light == "orange"
    assert outcome.sentence.startswith("The pull on the right hand gave way to")
    assert np.abs(feet(session) - stood).max() < 1e-3
    assert session.state.figure.violations(session.state.posture) == []


@pytest.mark.parametrize("seed", range(40))
def test_a_hand_goes_exactly_where_it_is_pulled(session: Session, seed: int) -> None:
    """To random places before and beside the chest, dragged slowly or in few frames, as a busy page sends them."""
    rng = np.random.default_rng(seed)
    press(session, "me", body(session, "right_hand"), 0.02 * rng.normal(size=3))
    start = np.array(session.state.pulls[0].at)
    way, frames = rng.uniform([-0.4, 0.1, 0.0], [0.1, 0.6, 0.3]), int(rng.integers(1, 25))
    for k in range(1, frames + 1):
        drag(session, "me", start + k / frames * way)
        for _ in range(int(rng.integers(0, 5))):
            session.tick()
    rest(session)
    assert session.state.outcome.light == "green"
    target = unpacked(packed(session.state)).targets[-1]
    assert target[5:8] == pytest.approx(target[2:5], abs=1e-6)


@pytest.mark.parametrize(
    ("pulled", "way"),
    [
        ("head", (0.0, -0.1, 0.0)),
        ("head", (0.0, -0.4, 0.1)),
        ("head", (0.1, -0.03, 0.0)),
        ("thorax", (0.0, -0.2, 0.05)),
        ("pelvis", (0.0, -0.25, 0.0)),
        ("right_hand", (0.1, -0.7, 0.3)),
    ],
)
def test_the_trunk_and_the_legs_follow_a_pull(session: Session, pulled: str, way: tuple[float, float, float]) -> None:
    press(session, "me", body(session, pulled), [0, 0, 0])
    start = np.array(session.state.pulls[0].at)
    for k in range(1, 31):
        drag(session, "me", start + k / 30 * np.array(way))
        session.tick()
    rest(session)
    assert session.state.outcome.light == "green"


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_a_humanoid_opens_on_its_feet_and_follows_pulls(name: str) -> None:
    """Talos has feet that are meshes, on which it stands."""
    try:
        robot = poise.load(name)
    except PoiseError:
        pytest.skip(f"the files of {name} are not installed")
    session = Session(opening(robot))
    rest(session)
    assert session.state.outcome.light == "green"
    roles = session.state.figure.roles
    for part, way in (("right_wrist", (0.15, 0.0, 0.2)), ("pelvis", (0.0, 0.0, -0.12))):
        press(session, "me", body(session, roles[part].part), [0, 0, 0])
        start = np.array(session.state.pulls[0].at)
        for k in range(1, 31):
            drag(session, "me", start + k / 30 * np.array(way))
            session.tick()
        rest(session)
        assert session.state.outcome.light == "green"
        release(session, "me")


@pytest.mark.parametrize("depth", [0.3, 0.45, 0.6])
def test_a_squat_deeper_than_the_ankles_allow_stays_even(session: Session, depth: float) -> None:
    """Drawn as near as possible at any price, the pelvis gets some millimetres lower and the trunk leans aside."""
    press(session, "me", body(session, "pelvis"), [0, 0, 0])
    start = np.array(session.state.pulls[0].at)
    for k in range(1, 31):
        drag(session, "me", start - [0.0, k / 30 * depth, 0.0])
        session.tick()
    rest(session)
    posture = session.state.posture
    trunk = session.state.figure.pose_of("thorax", posture).matrix
    assert session.state.outcome.light == "orange"
    assert posture["left_knee"] == pytest.approx(posture["right_knee"], abs=0.05)
    assert abs(trunk[0, 1]) < np.sin(np.radians(5.0))
    assert trunk[1, 1] > np.cos(np.radians(45.0))


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize(("name", "pulled"), [("human", "right_hand"), ("human", "pelvis"), ("walker", "pelvis")])
def test_a_figure_at_rest_has_no_task_that_is_on_its_way(name: str, pulled: str, seed: int) -> None:
    """Pulls beyond all reach, some dragged slowly and some in a few frames, as a busy page sends them."""
    rng = np.random.default_rng(seed)
    session = Session(built_in(name))
    press(session, "me", body(session, pulled), 0.02 * rng.normal(size=3))
    start, way = np.array(session.state.pulls[0].at), rng.normal(size=3)
    way *= rng.uniform(2.0, 5.0) / np.linalg.norm(way)
    frames = int(rng.integers(1, 60))
    for k in range(1, frames + 1):
        drag(session, "me", start + k / frames * way)
        for _ in range(int(rng.integers(0, 4))):
            session.tick()
    rest(session)
    assert "on its way" not in session.state.outcome.sentence


def test_two_people_pull_at_once_and_one_lets_go(session: Session) -> None:
    for who, hand, way in (("a", "left_hand", 0.3), ("b", "right_hand", -0.3)):
        press(session, who, body(session, hand), [0, 0, 0])
        drag(session, who, np.add(session.state.pulls[-1].at, [way, 0.3, 0.0]))
    rest(session)
    frame = unpacked(packed(session.state))
    assert frame.targets[:, 0].tolist() == [0.0, 1.0, -1.0, -1.0]
    assert frame.targets[2:, 2:5] == pytest.approx(frame.targets[2:, 5:8], abs=1e-3)
    release(session, "a")
    assert [pull.owner for pull in session.state.pulls] == ["b"]


def test_swapped_priorities_make_the_other_give_way() -> None:
    session = Session(EXAMPLE_SCENES["Two hands"]())
    rest(session)

    def unmet() -> list[str]:
        return [task.label for task in session.state.scene.tasks if not session.state.outcome.is_met(task)]

    assert unmet() == ["right hand"]
    session.update(scene_change(with_changed_task, 3, priority=4))
    session.update(scene_change(with_changed_task, 4, priority=3))
    rest(session)
    assert unmet() == ["left hand"]
    session.undo()
    session.undo()
    rest(session)
    assert unmet() == ["right hand"]


def test_a_target_that_is_dragged_is_one_change(session: Session) -> None:
    before = feet(session)
    for k in range(1, 11):
        aim(session, 0, before[0] + [0.02 * k, 0.0, 0.0], gesture=7)
        session.tick()
    rest(session)
    assert feet(session) - before == pytest.approx(np.array([[0.2, 0, 0], [0, 0, 0]]), abs=1e-4)
    session.undo()
    rest(session)
    assert feet(session) == pytest.approx(before, abs=1e-4)
    assert not session.can_undo
    session.redo()
    rest(session)
    assert feet(session)[0] == pytest.approx(before[0] + [0.2, 0, 0], abs=1e-4)


@pytest.mark.parametrize("name", list(EXAMPLE_SCENES))
def test_every_example_comes_to_rest_and_can_be_saved(name: str) -> None:
    session = Session(EXAMPLE_SCENES[name]())
    rest(session, 2 * MOST)  # The preferences of solid people settle slowly: the last seconds move less than 1°.
    assert session.state.outcome.light in ("green", "orange")
    assert scene_text(with_figure_file(session.state.scene)).count("[[task]]") == len(session.state.scene.tasks)


@pytest.mark.parametrize("kind", list(task_menu()))
def test_every_kind_of_task_can_be_added_edited_as_text_and_removed(session: Session, kind: str) -> None:
    try:
        session.update(scene_change(with_new_task, new_task(session.state, kind, "left_foot")))
    except PoiseError as problem:
        assert kind == "Equilibrium of forces"
        assert "force" in str(problem) or "support" in str(problem)
        return
    rest(session)
    scene = session.state.scene
    task = scene.tasks[-1]
    text = task_text(scene, task)
    again = task_from_text(scene, task, text + 'name = "mine"\n' if task.name is None else text)
    session.update(scene_change(with_task, len(scene.tasks) - 1, again))
    assert type(session.state.scene.tasks[-1]) is type(task)
    session.update(scene_change(without_task, len(scene.tasks) - 1))
    assert len(session.state.scene.tasks) == 3


def test_wrong_text_is_refused_with_its_line(session: Session) -> None:
    scene = session.state.scene
    text = task_text(scene, scene.tasks[2])
    with pytest.raises(FormatError) as caught:
        task_from_text(scene, scene.tasks[2], text + "color = 3\n")
    assert caught.value.line == text.count("\n") + 1
    with pytest.raises(FormatError, match="one task"):
        task_from_text(scene, scene.tasks[2], "")


def test_a_scene_that_cannot_be_asked_changes_nothing(session: Session) -> None:
    before = session.state
    with pytest.raises(PoiseError, match="Did you mean 'right_hand'"):
        session.update(scene_change(with_new_task, Position("right_hnad", [0, 0, 0])))
    with pytest.raises(TaskError, match="no task number 9"):
        session.update(scene_change(without_task, 9))
    with pytest.raises(TaskError, match="priority"):
        session.update(scene_change(with_changed_task, 0, priority=0))
    assert session.state is before


@pytest.mark.parametrize(
    "message",
    [
        "",
        "[]",
        "7",
        '{"do": "press"}',
        '{"do": "fly", "figure": 0}',
        '{"do": "press", "figure": 0, "body": 99, "point": [0, 0, 0]}',
        '{"do": "press", "figure": 0, "body": -1, "point": [0, 0, 0]}',
        '{"do": "press", "figure": 0, "body": 1, "point": [0, NaN, 0]}',
        '{"do": "press", "figure": 0, "body": 1, "point": [0, 1e9, 0]}',
        '{"do": "press", "figure": 5, "body": 1, "point": [0, 0, 0]}',
        '{"do": "drag", "figure": 0, "at": [0, 0, Infinity]}',
        '{"do": "aim", "figure": 0, "task": 12, "at": [0, 0, 0], "gesture": 1}',
        '{"do": "press", "figure": 0, "body": 1, "point": "' + "x" * 2000 + '"}',
    ],
)
def test_a_pointer_that_makes_no_sense_changes_nothing(session: Session, message: str) -> None:
    before = session.state
    send(session, "me", message)
    assert session.state is before


def test_a_pointer_presses_drags_releases_and_pins(session: Session) -> None:
    place = {"figure": 0, "body": body(session, "left_hand"), "point": [0, -0.1, 0]}
    send(session, "me", json.dumps({"do": "press", **place}))
    at = session.state.pulls[0].at
    send(session, "me", json.dumps({"do": "drag", "figure": 0, "at": (np.add(at, [0.1, 0, 0])).tolist()}))
    rest(session)
    assert session.state.outcome.light == "green"
    send(session, "me", '{"do": "release"}')
    send(session, "me", json.dumps({"do": "pin", **place}))
    pinned = session.state.scene.tasks[-1]
    assert pinned.label == "pinned left hand"
    assert pinned.target_in(session.state.posture).wanted == pytest.approx(np.add(at, [0.1, 0, 0]), abs=1e-3)


def test_targets_are_points_of_the_world_whatever_they_are_relative_to() -> None:
    human = built_in("human")
    posture = human.posture("reaching")
    there = np.array([0.3, 1.2, 0.5])
    for task in (
        Position("left_hand", [0, 0, 0], relative_to="chest"),
        Frame("left_hand", Pose(), relative_to="head"),
        LookAt("eyes", at=[1, 1, 1]),
    ):
        found = task.dragged(posture, Pose(there)).target_in(posture)
        assert found is not None
        assert found.wanted == pytest.approx(there, abs=1e-9)
    flat = Position("left_hand", [9, 1.0, 9], axes="y").target_in(posture)
    assert flat is not None
    assert flat.wanted[[0, 2]] == pytest.approx(flat.got[[0, 2]])
    assert flat.wanted[1] == pytest.approx(1.0)


def test_files_open_or_say_what_is_wrong_and_where(session: Session) -> None:
    inbox = Modes(session).inbox
    with pytest.raises(PoiseError, match=r"^wrong\.toml:2: "):
        inbox.take("wrong.toml", b'figure = "human"\ncolor = 3\n')
    with pytest.raises(PoiseError, match=r"^robot\.urdf"):
        inbox.take("../../robot.urdf", b"<robot")
    for name in ("", "..", "a\0b"):
        with pytest.raises(PoiseError, match="is not a file name"):
            inbox.take(name, b"")
    assert session.state.figure.name == "human"
    inbox.take("lamp.toml", b'figure = "adelino"\n')
    assert session.state.figure.name == "adelino"
    session.undo()
    assert session.state.figure.name == "human"
    assert session.state.figure_number == 2


def test_only_who_has_feet_opens_with_tasks() -> None:
    assert opening(built_in("stewart")).tasks == ()
    assert opening(built_in("adelino")).tasks == ()


def test_history_forgets_the_oldest_and_the_future_of_another_past() -> None:
    first = Session(built_in("arm")).state
    moments = [replace(first, step=step) for step in range(HISTORY_LENGTH + 5)]
    history = History()
    for moment in moments:
        history.remember(moment)
    assert history.past[0] is moments[5]
    assert history.back(first) is moments[-1]
    history.remember(first)
    assert history.forth(first) is None


def test_the_thread_solves_rests_and_ends(session: Session) -> None:
    thread = SolverThread(session)
    thread.start()
    arrived = threading.Event()
    press(session, "me", body(session, "right_hand"), [0, 0, 0])
    goal = np.add(session.state.pulls[0].at, [-0.1, 0.2, 0.2])
    session.subscribe(lambda: arrived.set() if _reached(session, goal) else None)
    drag(session, "me", goal)
    assert arrived.wait(20.0)
    thread.stop()
    assert not thread._thread.is_alive()


def _reached(session: Session, goal: np.ndarray) -> bool:
    state = session.state
    found = state.pulls[0].task.target_in(state.posture)
    return found is not None and bool(np.linalg.norm(found.got - goal) < 1e-3)


@given(st.lists(st.floats(-180.0, 180.0), min_size=3, max_size=3), st.sampled_from([None, 90.0, -90.0]))
def test_a_rotation_is_told_in_degrees_and_made_of_them(angles: list[float], locked: float | None) -> None:
    given_angles = angles if locked is None else [angles[0], locked, angles[2]]
    rotation = rotation_by(given_angles)
    again = rotation_by(angles_of(rotation))
    assert abs(float(again @ rotation)) == pytest.approx(1.0, abs=1e-9)
