"""The plain mode: the engine poses the figure; the strip below shows how the errors of its tasks go down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.studio.mode_driver import Driver
from poise.studio.openings import opening
from poise.studio.session import Session
from poise.studio.state import State


class PoseDriver(Driver):
    """Leaves everything to the engine."""

    def enter(self, session: Session) -> None:
        """The figure at hand, as it opens."""
        state = session.state
        session.open(opening(state.figure, state.scene.origin))

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Nothing below."""
        return None
