"""A rehearsal of the first page, by which the studio finds out whether it can be shown yet."""

from __future__ import annotations

from poise.studio.session.freedoms import shown_values, turned
from poise.studio.session.session import Session
from poise.studio.wire.frames import packed
from poise.studio.wire.geometry import geometry


def rehearse(session: Session) -> None:
    """Compute what a new page shows, and what moving one of its sliders needs; nothing changes."""
    state = session.state
    geometry(state)
    packed(state)
    values = shown_values(state.posture, state.freedoms)
    if state.freedoms:
        turned(state.posture, state.freedoms[0], values[0])
