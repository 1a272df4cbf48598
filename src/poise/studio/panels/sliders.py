"""The panel of sliders, one for every degree of freedom, grouped by joint."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from nicegui import ui
from nicegui.element import Element

from poise.errors import TaskError
from poise.studio.panels.fields import attempt, range_words
from poise.studio.panels.viewport import WEB
from poise.studio.session.freedoms import Freedom, shown_values
from poise.studio.session.postures import with_freedom
from poise.studio.session.session import Session

SLIDER_STEPS = {"°": 0.1, "m": 0.001}
"""Step of a slider, by unit."""
SLIDER_DECIMALS = {"°": 1, "m": 3}
"""Decimals of a value that are shown, by unit."""
UNIT_WORDS = {"°": "degrees", "m": "metres"}
"""Units as a screen reader says them."""
SENT_DECIMALS = 6
"""Decimals of a value that a slider is set to."""
SAME_VALUE_DIFFERENCE = 1e-6
"""Tolerance when a slider's value is compared with the session's, in the unit shown."""


class TypedNumber(Element, component=str(WEB / "typed_number.js")):
    """A number that can be typed: what is being typed stays, even if the number changes meanwhile."""


class Sliders:
    """The panel of sliders."""

    def __init__(self, session: Session) -> None:
        """Build an empty panel inside the current NiceGUI element."""
        self.session = session
        self.following = False
        self.shown_figure = self.shown_step = -1
        self.sliders: list[ui.slider] = []
        self.numbers: list[TypedNumber] = []
        self.rows: list[tuple[str, ui.column]] = []
        self.search = ui.input(placeholder="Find a joint", on_change=self._filter)
        self.search.props("dense borderless clearable").classes("w-full q-px-md q-pt-sm").mark("search")
        with self.search.add_slot("prepend"):
            ui.icon("search", size="xs")
        self.area = ui.scroll_area().style("height: calc(100vh - 140px)").classes("poise-joints")

    def build(self) -> None:
        """Build the sliders of the session's figure."""
        state = self.session.state
        self.area.clear()
        self.shown_figure, self.shown_step = state.figure_number, -1
        self.sliders, self.numbers, self.rows = [], [], []
        with self.area:
            for joint, freedoms in groupby(state.freedoms, key=lambda freedom: freedom.joint):
                with ui.column().classes("w-full gap-0 q-mb-sm") as row:
                    self._joint(joint, freedoms)
                self.rows.append((joint, row))
        self._filter()

    def _joint(self, joint: str, freedoms: Iterator[Freedom]) -> None:
        for k, freedom in enumerate(freedoms):
            with ui.row().classes("w-full items-baseline no-wrap gap-2"):
                if k == 0:
                    name = ui.label(joint.replace("_", " ")).classes("text-body2 text-weight-medium")
                    if not freedom.active:
                        name.classes("poise-passive")
                ui.label(freedom.coordinate).classes("text-caption poise-quiet")
                ui.space()
                self.numbers.append(self._number(freedom))
            self._slider(freedom)

    def _number(self, freedom: Freedom) -> TypedNumber:
        """The value of a degree of freedom, which can be typed."""
        box = TypedNumber().classes("poise-value poise-number").mark(f"value {_marker(freedom)}")
        box.props(f'aria-label="{_name(freedom)}, {UNIT_WORDS[freedom.unit]}"')
        return box.on("typed", lambda event: self._typed(freedom, event.args))

    def _typed(self, freedom: Freedom, text: object) -> None:
        attempt(lambda: self._moved(freedom, typed_value(freedom, str(text))))
        self.numbers[freedom.number].run_method("settle")

    def _slider(self, freedom: Freedom) -> None:
        slider = ui.slider(
            min=round(freedom.low, 4),
            max=round(freedom.high, 4),
            step=SLIDER_STEPS[freedom.unit],
            on_change=lambda event: self._moved(freedom, event.value),
        )
        slider.props("dense color=orange-7 selection-color=transparent thumb-size=14px track-size=3px")
        slider.props(f'aria-label="{_name(freedom)}"').classes("poise-slider").mark(_marker(freedom))
        self.sliders.append(slider)

    def _moved(self, freedom: Freedom, value: float | None) -> None:
        if value is None or self.following:
            return
        move(self.session, freedom, value)
        self.follow()

    def follow(self) -> None:
        """Update all sliders to the session's values."""
        state = self.session.state
        if state.step == self.shown_step or state.figure_number != self.shown_figure:
            return
        self.shown_step, self.following = state.step, True
        try:
            values = shown_values(state.posture, state.freedoms)
            for freedom, slider, number, value in zip(state.freedoms, self.sliders, self.numbers, values, strict=True):
                if (
                    slider.value is None
                    or abs(slider.value - value) > 0.5 * SLIDER_STEPS[freedom.unit] + SAME_VALUE_DIFFERENCE
                ):
                    slider.set_value(round(value, SENT_DECIMALS) + 0.0)
                digits = SLIDER_DECIMALS[freedom.unit]
                self._show_number(number, f"{round(value, digits) + 0.0:.{digits}f} {freedom.unit}")
        finally:
            self.following = False

    @staticmethod
    def _show_number(box: TypedNumber, text: str) -> None:
        if box.props.get("value") != text:
            box.props["value"] = text
            box.update()

    def _filter(self) -> None:
        """Show only the joints whose names contain all words of the search field."""
        words = (self.search.value or "").lower().replace("_", " ").split()
        for joint, row in self.rows:
            row.set_visibility(all(word in joint.lower().replace("_", " ") for word in words))


def move(session: Session, freedom: Freedom, value: float) -> None:
    """Set a degree of freedom; all moves of one slider are undone together."""
    session.update(lambda state: with_freedom(state, freedom.number, value), gesture=("move", freedom.number))


def typed_value(freedom: Freedom, text: str) -> float:
    """The value in a text, in the unit of a degree of freedom; raises `TaskError` if it is none or not in range."""
    try:
        value = float(text.replace(freedom.unit, "").replace(",", ".").strip())
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TaskError(f"{_name(freedom)} must be a number, not {text!r}.")
    low, high = round(freedom.low, 4), round(freedom.high, 4)
    if not low <= value <= high:
        raise TaskError(f"{_name(freedom)} must be {range_words(low, high)} {freedom.unit}, not {value:g}.")
    return value


def _name(freedom: Freedom) -> str:
    return f"{freedom.joint.replace('_', ' ')} {freedom.coordinate}".strip()


def _marker(freedom: Freedom) -> str:
    """The marker by which tests find a slider."""
    return "-".join(part for part in (freedom.joint, freedom.coordinate.replace(" ", "-")) if part)
