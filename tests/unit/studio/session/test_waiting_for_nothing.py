"""A change of the session waits for no step of the solver, and is not lost when a step ends after it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from poise.errors import TaskError
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.session.changes import GETTING_READY, open_scene, with_target
from poise.studio.session.postures import in_posture
from poise.studio.session.pulls import with_pin
from poise.studio.session.session import MOST_TRIES, Session
from poise.studio.session.state import State
from tests.unit.studio.pointer import drag, press, release

PATIENCE = 60.0
"""How long a thread may take [s]."""


@contextmanager
def during_a_step(session: Session) -> Iterator[None]:
    """Take a step in another thread, which has been computed, but not shown yet, inside the `with` block."""
    began, may_end = threading.Event(), threading.Event()
    step = session.stepper.step

    def slow(state: State) -> tuple[State, bool]:
        found = step(state)
        began.set()
        assert may_end.wait(PATIENCE)
        return found

    session.stepper.step = slow  # type: ignore[method-assign]
    thread = threading.Thread(target=session.tick)
    thread.start()
    assert began.wait(PATIENCE)
    yield
    may_end.set()
    thread.join()
    session.stepper.step = step  # type: ignore[method-assign]


@pytest.fixture
def pulled() -> Session:
    """A session in which the figure moves, because its hand is pulled."""
    session = Session(EXAMPLE_SCENES["Standing"]())
    hand = session.state.figure.bodies.index("right_hand")
    press(session, "me", hand, [0.0, 0.0, 0.0])
    drag(session, "me", [-0.3, 1.2, 0.4])
    for _ in range(3):
        session.tick()
    return session


def test_a_step_goes_on_where_a_target_is_moved_meanwhile(pulled: Session) -> None:
    before = pulled.state
    with during_a_step(pulled):
        pulled.update(lambda state: with_target(state, 0, [0.1, 0.03, 0.05]))
        moved = pulled.state.scene.tasks[0]
        assert pulled.state.posture is before.posture
    assert pulled.state.scene.tasks[0] is moved, "the target stays where it was dragged"
    assert pulled.state.posture != before.posture, "the figure has moved"
    assert pulled.state.step == before.step + 2
    assert not pulled.rests


def test_a_step_is_dropped_where_the_posture_is_changed_meanwhile(pulled: Session) -> None:
    with during_a_step(pulled):
        pulled.update(lambda state: in_posture(state, "waving"))
    assert pulled.state.posture == pulled.state.figure.posture("waving")
    assert not pulled.rests


def test_a_scene_that_is_opened_during_a_step_stays_open(pulled: Session) -> None:
    number = pulled.state.figure_number
    with during_a_step(pulled):
        open_scene(pulled, EXAMPLE_SCENES["Adelino looks"]())
    assert pulled.state.figure.name == "adelino"
    assert pulled.state.figure_number == number + 1
    while pulled.tick():
        pass
    assert pulled.state.outcome.sentence != GETTING_READY


def test_letting_go_and_undo_during_a_step_are_not_lost(pulled: Session) -> None:
    with during_a_step(pulled):
        release(pulled, "me")
    assert pulled.state.pulls == ()
    with during_a_step(pulled):
        pulled.undo()
    assert pulled.state.posture == pulled.state.figure.posture("standing")


def test_changes_of_several_threads_are_all_kept() -> None:
    session = Session(EXAMPLE_SCENES["Standing"]())
    bodies = range(1, 5)
    meet = threading.Barrier(len(bodies))

    def pin(body: int) -> None:
        meet.wait(PATIENCE)
        session.update(lambda state: with_pin(state, body, [0.0, 0.0, 0.0]))

    threads = [threading.Thread(target=pin, args=[body]) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(session.state.scene.tasks) == 3 + len(bodies)


def test_a_change_that_others_overtake_again_and_again_is_merged_in_the_end() -> None:
    session = Session(EXAMPLE_SCENES["Standing"]())
    tried = 0

    def overtaken(state: State) -> State:
        nonlocal tried
        tried += 1
        session.update(lambda now: replace(now, time=now.time + 1.0))
        return in_posture(state, "waving")

    session.update(overtaken)
    assert tried == MOST_TRIES
    assert session.state.posture == session.state.figure.posture("waving")
    assert session.state.time == pytest.approx(MOST_TRIES)


def test_a_change_that_fails_changes_nothing_and_a_step_that_fails_says_why(pulled: Session) -> None:
    before = pulled.state

    def fails(state: State) -> State:
        raise TaskError("this cannot be done.")

    with pytest.raises(TaskError):
        pulled.update(fails)
    assert pulled.state is before


def same(value: float) -> Callable[[State], State]:
    return lambda state: replace(state, time=value)


def test_a_number_that_stays_the_same_is_no_change(pulled: Session) -> None:
    with during_a_step(pulled):
        pulled.update(same(float(np.float64(pulled.state.time))))
    assert not pulled.rests
