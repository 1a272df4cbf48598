"""The window with the postures of a figure: pictures to click, a blend slider, and postures of the fingers."""

from __future__ import annotations

import asyncio
import base64
from functools import lru_cache, partial

from nicegui import ui

from poise.errors import PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.figures.people.hand_postures import HAND_POSTURES, Side
from poise.pictures.canvas import png
from poise.pictures.draw import draw
from poise.studio.panels.fields import attempt, small_button
from poise.studio.session.changes import with_named_posture, without_named_posture
from poise.studio.session.postures import blended, finger_values, has_fingers, in_posture, with_joint_values
from poise.studio.session.session import Session

THUMBNAIL_SIZE = (112, 140)
"""Width and height of the picture of a posture [pixels]."""
THUMBNAILS_KEPT = 64
"""Number of pictures that are kept."""


class Library:
    """The window; it closes with its button."""

    def __init__(self, session: Session) -> None:
        """Open the window for the session's figure."""
        self.session = session
        self.chosen = ""
        self.start: Posture | None = None
        self.moves = 0
        with ui.dialog(value=True).props("seamless position=right") as self.dialog, ui.card().classes("poise-parts"):
            with ui.row().classes("w-full items-center no-wrap"):
                ui.label("Postures").classes("text-subtitle1")
                ui.space()
                close = ui.button(icon="close", on_click=self.dialog.close)
                close.props('flat round dense aria-label="Close the postures"')
            with ui.row().classes("w-full items-center no-wrap gap-1"):
                self.name = ui.input("Name of the present posture").props("dense").classes("col").mark("library name")
                ui.button("Keep", on_click=self._keep).props("flat dense no-caps").mark("library keep")
            self.cards = ui.row().classes("w-full gap-2 poise-postures")
            with ui.row().classes("w-full items-center no-wrap gap-2"):
                self.target = ui.label("Blend: click a posture first").classes("text-caption col-4 ellipsis")
                self.slider = ui.slider(
                    min=0, max=1, step=0.01, value=0, on_change=lambda event: self._blend(event.value)
                )
                self.slider.props('dense color=orange-7 aria-label="Blend to the posture"').mark("blend")
            if has_fingers(session.state.figure):
                self._fingers()
        self.dialog.on("hide", self.dialog.delete)
        self._list()

    def _list(self) -> None:
        """Show a card for every posture; the pictures follow one by one."""
        figure = self.session.state.figure
        self.cards.clear()
        with self.cards:
            for name in dict.fromkeys(("neutral", *figure.posture_names)):
                self._card(figure, name)

    def _card(self, figure: Figure, name: str) -> None:
        words = name.replace("_", " ")
        with ui.column().classes("items-center gap-0"):
            with ui.button(on_click=partial(self._choose, name), color=None).props("flat dense no-caps") as button:
                picture = ui.image().classes("poise-thumbnail").props(f'alt="{words}" no-spinner')
            button.props(f'aria-label="{words}"').mark(f"posture {name}")
            with ui.row().classes("items-center no-wrap gap-0"):
                ui.label(words).classes("text-caption")
                if name in figure.posture_names:
                    small_button("delete", f"Forget {words}", partial(self._forget, name))

        async def paint() -> None:
            try:
                picture.set_source(await asyncio.to_thread(thumbnail, figure, name))
            except PoiseError:
                picture.set_visibility(False)

        ui.timer(0.05, paint, once=True)

    def _choose(self, name: str) -> None:
        """Take a posture, and let the slider go back from it to the posture before."""
        self.start, self.chosen = self.session.state.posture, name
        self.moves += 1
        if attempt(lambda: self.session.update(lambda state: in_posture(state, name))):
            self.target.set_text(f"Blend to {name.replace('_', ' ')}")
            self.slider.set_value(1.0)

    def _blend(self, share: float | None) -> None:
        start = self.start
        if start is None or share is None or start.figure is not self.session.state.figure:
            return
        change = partial(blended, start=start, name=self.chosen, share=float(share))
        attempt(lambda: self.session.update(change, gesture=("blend", self.moves)))

    def _keep(self) -> None:
        wanted = str(self.name.value or "").strip()
        if attempt(lambda: self.session.update(lambda state: with_named_posture(state, wanted))):
            self._list()

    def _forget(self, name: str) -> None:
        if attempt(lambda: self.session.update(lambda state: without_named_posture(state, name))):
            self._list()

    def _fingers(self) -> None:
        ui.label("Fingers").classes("text-subtitle2")
        for side in has_fingers(self.session.state.figure):
            self._hand(side)

    def _hand(self, side: Side | None) -> None:
        """A choice of postures for the fingers of a hand, and how far to go."""
        with ui.row().classes("w-full items-center no-wrap gap-2"):
            ui.label(side or "hand").classes("text-caption col-2")
            kind = (
                ui.select(list(HAND_POSTURES), value="relaxed").props("dense options-dense borderless").classes("col-3")
            )
            kind.props(f'aria-label="Posture of the fingers, {side or "hand"}"').mark(f"fingers {side or 'hand'}")
            amount = ui.slider(min=0, max=1, step=0.01, value=1)
            amount.props(f'dense color=orange-7 aria-label="How far, {side or "hand"}"').mark(
                f"amount {side or 'hand'}"
            )

            def put() -> None:
                values = finger_values(self.session.state.figure, side, str(kind.value), float(amount.value))
                change = partial(with_joint_values, values=values)
                attempt(lambda: self.session.update(change, gesture=("fingers", side)))

            kind.on_value_change(put)
            amount.on_value_change(put)


@lru_cache(maxsize=THUMBNAILS_KEPT)
def thumbnail(figure: Figure, name: str) -> str:
    """A small picture of a named posture, as an address that contains it."""
    posture = figure.posture(name) if name in figure.posture_names else figure.neutral()
    picture = draw(figure, posture, size=THUMBNAIL_SIZE, joints=False)
    return f"data:image/png;base64,{base64.b64encode(png(picture.pixels)).decode()}"
