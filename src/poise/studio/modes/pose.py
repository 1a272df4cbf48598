"""The pose mode: the engine solves the scene's tasks, and a plot can show the tasks' errors."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from poise.studio.modes.animate.playing import Timeline
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene
from poise.studio.session.driver import Driven, Driver
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.task import Task

ERRORS_PLOTTED = 8
"""Largest number of tasks whose errors are plotted."""


class PoseDriver(Driver):
    """Lets the engine move the figure, records the errors of its tasks, and plays the scene's animation."""

    def __init__(self) -> None:
        """Start at the beginning of the timeline."""
        super().__init__()
        self.timeline = Timeline()

    def enter(self, session: Session) -> None:
        """Open the session's figure with its opening scene."""
        state = session.state
        open_scene(session, opening(state.figure, state.scene.origin))

    def switch_plots(self, session: Session) -> None:
        """Show or hide the plot of errors."""
        session.update(lambda state: replace(state, mode=replace(state.mode, errors=not state.mode.errors)))

    def drive(self, state: State) -> Driven | None:
        """The next posture while the animation plays."""
        return self.timeline.drive(state)

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Handle a message of the timeline."""
        self.timeline.hear(session, message)

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """The timeline, and the ghosts and trails of the animation."""
        return self.timeline.views(state)

    def watch(self, state: State) -> None:
        """Follow the animation, and record the error of every task [mm or mrad]."""
        self.timeline.watch(state)
        if state.mode.errors:
            verdicts = state.outcome.verdicts
            errors = [verdicts[task].error if task in verdicts else 0.0 for task in _plotted(state)]
            self.samples.add([time.monotonic(), *(1e3 * error for error in errors)])

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """One plot with the errors of all tasks."""
        if not state.mode.errors:
            return None
        names = [task.label for task in _plotted(state)]
        plot = {"title": "errors", "unit": "mm or mrad", "names": names, "limit": None, "floor": 0}
        return {"key": f"errors {names}", "kind": "stream", "plots": [plot]}


def _plotted(state: State) -> list[Task]:
    return [task for task in state.scene.tasks if task.active][:ERRORS_PLOTTED]
