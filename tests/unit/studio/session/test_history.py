"""The undo history is bounded by its memory, not only by its length."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poise.figures import built_in
from poise.studio.session.changes import with_figure
from poise.studio.session.driver import Mode
from poise.studio.session.edits.body import with_mass
from poise.studio.session.history import HISTORY_BYTES, History, memory_of
from poise.studio.session.session import Session
from poise.studio.session.state import appearance_of, state_of


class Heavy(Mode):
    """A mode that shows something large."""

    def __init__(self, held: Any) -> None:
        object.__setattr__(self, "held", held)
        object.__setattr__(self, "errors", False)

    def memory(self) -> tuple[object, int]:
        held: Any = self.held  # type: ignore[attr-defined]
        return held, held.nbytes


def test_the_oldest_states_are_forgotten_when_the_history_becomes_large() -> None:
    first = state_of(Session(built_in("arm")).state.scene)
    history = History()
    part = np.zeros(HISTORY_BYTES // 8 // 4)
    for _ in range(50):
        history.remember(replace(first, mode=Heavy(np.array(part))))
    assert 1 < len(history.past) <= 4
    assert memory_of(history.past) <= HISTORY_BYTES


def test_states_that_share_something_large_are_all_kept() -> None:
    first = state_of(Session(built_in("arm")).state.scene)
    history, shared = History(), np.zeros(HISTORY_BYTES // 8 // 2)
    for _ in range(50):
        history.remember(replace(first, mode=Heavy(shared)))
    assert len(history.past) == 50


def test_one_change_can_always_be_undone() -> None:
    first = state_of(Session(built_in("arm")).state.scene)
    history = History()
    history.remember(replace(first, mode=Heavy(np.zeros(HISTORY_BYTES // 4))))
    assert len(history.past) == 1


def test_surfaces_of_figures_that_are_not_shown_are_not_kept() -> None:
    session = Session(built_in("human"))
    for k in range(12):
        session.update(lambda state, k=k: with_figure(state, with_mass(state.figure, "pelvis", 5.0 + 0.1 * k)))  # type: ignore[misc]
    assert appearance_of.cache_info().currsize <= 4
    for _ in range(12):
        session.undo()
    assert session.state.figure == built_in("human")
    assert len(session.state.look.parts) == pytest.approx(len(appearance_of(built_in("human")).parts))
