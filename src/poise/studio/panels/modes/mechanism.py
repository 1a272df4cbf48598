"""The panel of the mechanism mode."""

from __future__ import annotations

from nicegui import ui

from poise.errors import FigureError
from poise.studio.control.modes import Modes
from poise.studio.modes.mechanism import LOOP_FIGURES, MechanismMode, motors_of, passive_of, pull_error
from poise.studio.panels.fields import attempt
from poise.studio.panels.modes.parts import ChoiceButtons, Facts, Setting, heading
from poise.studio.panels.sliders import SLIDER_DECIMALS, SLIDER_STEPS, move
from poise.studio.session.freedoms import CLOSED_LOOP_GAP, Freedom, shown_values
from poise.studio.session.postures import in_posture
from poise.studio.session.state import State
from poise.tasks.amounts import LENGTH_AND_ANGLE, amount

LEGEND = {"#ed7d31": "Motor", "#4a90d9": "Passive joint", "#7d5ba6": "Loop"}
"""Meaning of the colours in the viewport."""
STOPPED_DIFFERENCE = {"°": 0.2, "m": 0.002}
"""Difference between a motor and its slider above which loops or limits have stopped the motor, by unit."""


class MechanismPanel:
    """Figures, motors, passive joints and loops."""

    def __init__(self, modes: Modes) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.modes, self.session = modes, modes.session
        self.shown_figure = -1
        self.message = ""
        heading("Mechanism")
        self.figures = ChoiceButtons(modes.choose_figure, opens=True)
        with ui.row().classes("w-full no-wrap gap-2"):
            for ink, word in LEGEND.items():
                with ui.row().classes("items-center no-wrap gap-0"):
                    ui.element("span").classes("poise-dot").style(f"background: {ink}")
                    ui.label(word).classes("text-caption no-wrap").style("white-space: nowrap")
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            heading("Motors")
            ui.button("Reset to neutral", on_click=lambda: attempt(self._reset), color=None).props("flat").classes(
                "poise-choice"
            )
        self.area = ui.column().classes("w-full gap-0")
        self.line = ui.label().classes("poise-line").mark("assembly")
        self.below = ui.column().classes("w-full gap-0")

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        if not isinstance(state.mode, MechanismMode):
            return
        self.figures.show(LOOP_FIGURES, state.figure.name)
        if state.figure_number != self.shown_figure:
            self._build(state)
        values = shown_values(state.posture, state.freedoms)
        for freedom, setting in self.settings:
            setting.show(values[freedom.number])
        self.passive.show({_name(f): _amount(f, values[f.number]) for f in passive_of(state)})
        self._show_loops(state)

    def _show_loops(self, state: State) -> None:
        gap = state.figure.closure_error(state.posture)
        self.loops.show(
            {"All loops": "closed" if gap <= CLOSED_LOOP_GAP else f"open by {amount(gap, LENGTH_AND_ANGLE)}"}
        )
        distance = pull_error(state)
        if state.pulls and distance > 1.0:
            self.line.set_text(f"The pointer is {distance:.0f} mm outside the workspace; every loop stays closed.")
        else:
            self.line.set_text(self.message or "Move a motor, or drag any part of the mechanism.")

    def _build(self, state: State) -> None:
        self.shown_figure, self.message = state.figure_number, ""
        self.area.clear()
        self.below.clear()
        with self.area:
            self.settings = [(freedom, self._setting(freedom)) for freedom in motors_of(state)]
        with self.below:
            heading("Passive joints")
            self.passive = Facts(_name(freedom) for freedom in passive_of(state))
            heading(f"Loops: {len(state.figure.loops)}")
            self.loops = Facts(("All loops",))

    def _setting(self, freedom: Freedom) -> Setting:
        span = (round(freedom.low, 4), round(freedom.high, 4), SLIDER_STEPS[freedom.unit])
        return Setting(_name(freedom), span, lambda value: self._move(freedom, value), lambda v: _amount(freedom, v))

    def _move(self, freedom: Freedom, value: float) -> None:
        state = self.session.state
        move(self.session, freedom, value)
        new = self.session.state
        if new.figure is not state.figure:
            return
        got = shown_values(new.posture, new.freedoms)[freedom.number]
        stopped = abs(got - value) > STOPPED_DIFFERENCE[freedom.unit]
        self.message = (
            f"{_name(freedom)} cannot be at {_amount(freedom, value)}: it stops at {_amount(freedom, got)}."
            if stopped
            else "The passive joints follow the motors."
        )
        self.follow()

    def _reset(self) -> None:
        figure = self.session.state.figure
        if figure.closure_error(figure.neutral()) > CLOSED_LOOP_GAP:
            raise FigureError(
                f"the loops of figure {figure.name!r} are open in its neutral posture; choose another posture."
            )
        self.session.update(lambda state: in_posture(state, "neutral"))
        self.message = "The figure is in its neutral posture."
        self.follow()


def _name(freedom: Freedom) -> str:
    return f"{freedom.joint} {freedom.coordinate}".strip().replace("_", " ")


def _amount(freedom: Freedom, value: float) -> str:
    digits = SLIDER_DECIMALS[freedom.unit]
    return f"{round(value, digits) + 0.0:.{digits}f}{freedom.unit if freedom.unit == '°' else ' m'}"
