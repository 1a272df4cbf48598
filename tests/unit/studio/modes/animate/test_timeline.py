"""The timeline of the pose mode: keys, time, playing, recording and undo, without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from poise.errors import TaskError
from poise.figures import built_in
from poise.studio.control.files import saved_scene
from poise.studio.control.modes import Modes
from poise.studio.modes.animate.playing import PlayMode, Timeline
from poise.studio.session.changes import open_scene, with_figure, with_target
from poise.studio.session.edits.scene import with_parts
from poise.studio.session.keys import animation_of
from poise.studio.session.pulls import dragged, pressed, released
from poise.studio.session.session import Session

PATIENCE = 60.0
"""How long anything may take [s]."""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Studio:
    """A session with its timeline, whose solver is stepped by hand."""

    def __init__(self) -> None:
        self.session = Session(built_in("human"))
        self.modes = Modes(self.session)
        self.timeline: Timeline = self.modes.pose.timeline
        self.settle()

    def settle(self, most: int = 400) -> None:
        for _ in range(most):
            if not self.session.tick():
                return

    def solved(self) -> None:
        until(lambda: self.timeline.solved.is_solved)

    def key_at(self, seconds: float) -> None:
        self.timeline.seek(self.session, seconds)
        self.timeline.key(self.session)

    def step_ahead(self, foot: int, way: float) -> None:
        task = self.session.state.scene.tasks[foot]
        there = task.wanted.position + np.array([0.0, 0.0, way])  # type: ignore[attr-defined]
        self.session.update(lambda state: with_target(state, foot, there))
        self.settle()

    @property
    def times(self) -> list[float]:
        return [key.time for key in animation_of(self.session.state).keys]


@pytest.fixture
def walker() -> Studio:
    """A step of the left foot between two keys."""
    studio = Studio()
    studio.timeline.key(studio.session)
    studio.timeline.seek(studio.session, 1.0)
    studio.step_ahead(0, 0.25)
    studio.timeline.key(studio.session)
    return studio


def test_keys_are_solved_in_the_background(walker: Studio) -> None:
    walker.solved()
    motion = walker.timeline.motion()
    assert len(motion) == 31
    right = motion.positions(["right_foot"])
    assert np.abs(np.ptp(right, axis=0)).max() < 1e-6
    assert np.abs(motion.figure.difference(motion[-1], walker.session.state.posture)).max() < 1e-4


def test_seeking_shows_the_frame_with_its_tasks(walker: Studio) -> None:
    walker.solved()
    walker.timeline.seek(walker.session, 0.6)
    state = walker.session.state
    assert state.time == pytest.approx(0.6)
    left = state.scene.tasks[0]
    assert left.wanted.position[1] > 0.005, "the left foot swings"  # type: ignore[attr-defined]
    assert state.posture == walker.timeline.motion()[18]
    before = state.posture
    walker.settle(60)
    assert np.abs(state.figure.difference(before, walker.session.state.posture)).max() < 0.02, "the engine rests there"


def test_an_unkeyed_change_comes_back_by_undo(walker: Studio) -> None:
    walker.solved()
    walker.step_ahead(1, 0.2)
    changed = walker.session.state.posture
    walker.timeline.seek(walker.session, 0.0)
    walker.timeline.seek(walker.session, 0.5)
    walker.session.undo()
    assert walker.session.state.posture == changed
    assert walker.session.state.time == 1.0


def test_moving_copying_deleting_and_undo(walker: Studio) -> None:
    session, timeline = walker.session, walker.timeline
    timeline.move(session, 1, 2.01)
    assert walker.times == [0.0, 2.0]
    timeline.copy(session)
    timeline.seek(session, 3.0)
    timeline.paste(session)
    assert walker.times == [0.0, 2.0, 3.0]
    timeline.ease(session, "stop")
    assert animation_of(session.state).keys[-1].ease == "stop"
    timeline.delete(session)
    assert walker.times == [0.0, 2.0]
    session.undo()
    assert walker.times == [0.0, 2.0, 3.0]
    timeline.move(session, 1, 1.0, later_too=True)
    assert walker.times == [0.0, 1.0, 2.0]
    timeline.retime(session, 2.0)
    assert walker.times == [0.0, 2.0, 4.0]
    timeline.seek(session, 0.0)
    timeline.go_to_key(session, 1)
    assert session.state.time == 2.0
    timeline.go_to_key(session, -1)
    assert session.state.time == 0.0


def test_a_key_of_one_task(walker: Studio) -> None:
    walker.timeline.seek(walker.session, 0.5)
    walker.timeline.key(walker.session, [1])
    key = animation_of(walker.session.state).keys[1]
    assert not key.is_whole
    assert [task.label for task in key.tasks] == ["right foot"]
    with pytest.raises(TaskError, match="no task to key"):
        walker.timeline.key(walker.session, [])


def test_playing_runs_to_the_end_and_stops(walker: Studio) -> None:
    walker.solved()
    session = walker.session
    walker.timeline.play(session)
    assert isinstance(session.state.mode, PlayMode)
    seen = []
    end = time.monotonic() + PATIENCE
    while isinstance(session.state.mode, PlayMode) and time.monotonic() < end:
        session.tick()
        seen.append(session.state.time)
        time.sleep(1 / 120)
    assert seen == sorted(seen)
    assert session.state.time == pytest.approx(1.0)
    assert session.state.posture == walker.timeline.motion()[-1]


def test_a_loop_starts_again(walker: Studio) -> None:
    session = walker.session
    walker.timeline.change(session, loop=True, end=2.0)
    walker.solved()
    walker.timeline.seek(session, 1.95)
    walker.timeline.play(session)
    until(lambda: session.tick() and session.state.time < 1.0)
    assert isinstance(session.state.mode, PlayMode)
    walker.timeline.pause(session)
    assert not isinstance(session.state.mode, PlayMode)


def test_there_must_be_something_to_play() -> None:
    studio = Studio()
    with pytest.raises(TaskError, match="key"):
        studio.timeline.play(studio.session)
    with pytest.raises(TaskError, match="no animation"):
        studio.timeline.motion()


def test_a_pull_is_recorded_as_keys(walker: Studio) -> None:
    session, timeline = walker.session, walker.timeline
    timeline.record(session)
    body = session.state.figure.bodies.index("right_hand")
    session.update(lambda state: pressed(state, "me", body, (0.0, 0.0, 0.0)), undoable=False)
    at = session.state.figure.pose_of("right_hand", session.state.posture).position
    begun = time.monotonic()
    while time.monotonic() - begun < 0.9:
        way = 0.3 * (time.monotonic() - begun)
        session.update(lambda state, way=way: dragged(state, "me", at + np.array([0.0, way, way])))
        session.tick()
        time.sleep(1 / 60)
    session.update(lambda state: released(state, "me"), undoable=False)
    timeline.record(session)
    assert walker.times[:2] == [0.0, 1.0]
    assert len(walker.times) >= 4
    walker.solved()
    hand = timeline.motion().positions(["right_hand"])[:, 0]
    assert hand[-1, 1] - hand[30, 1] > 0.1, "the hand goes up as it was pulled"
    session.undo()
    assert walker.times == [0.0, 1.0]


def test_pages_get_keys_ghosts_and_trails(walker: Studio) -> None:
    walker.solved()
    walker.timeline.ghosts = walker.timeline.trails = True
    views = walker.timeline.views(walker.session.state)
    assert [key["time"] for key in views["keys"]["keys"]] == [0.0, 1.0]
    assert views["keys"]["solved"] == [[0.0, 1.0, True]]
    assert len(views["traces"]["ghosts"]) == 2
    assert {len(path) for path in views["traces"]["trails"]} == {3 * 31}


def test_an_edited_figure_keeps_its_keys(walker: Studio) -> None:
    session = walker.session
    other = session.state.figure.replaced(name="other")
    session.update(lambda state: with_figure(state, other))
    assert walker.times == [0.0, 1.0]
    walker.solved()
    assert walker.timeline.motion().figure is session.state.figure


def test_a_scene_opens_at_the_time_of_its_posture(walker: Studio) -> None:
    state = walker.session.state
    saved = with_parts(state.scene, start=animation_of(state).keys[1].posture)
    open_scene(walker.session, saved)
    assert walker.session.state.time == 1.0


def test_a_clip_under_the_keys_is_saved_with_the_scene(walker: Studio, tmp_path: Path) -> None:
    walker.solved()
    walker.timeline.motion().save(tmp_path / "walk.npz")
    walker.modes.take_clip_under_keys("walk.npz", (tmp_path / "walk.npz").read_bytes())
    clip = animation_of(walker.session.state).clip
    assert len(clip) == 31
    name, data = saved_scene(walker.session)
    assert name.endswith(".zip")
    open_scene(walker.session, Session(built_in("human")).state.scene)
    assert animation_of(walker.session.state).clip is None
    walker.modes.inbox.take(name, data)
    assert animation_of(walker.session.state).clip == clip
    walker.solved()
    sites = ["left_foot", "right_foot"]
    assert np.abs(walker.timeline.motion().positions(sites) - clip.positions(sites)).max() < 1e-6
