"""The panel of the mechanism mode."""

from __future__ import annotations

from nicegui import ui

from poise.errors import FigureError
from poise.studio.control.modes import Modes
from poise.studio.modes.mechanism import FIGURES, MechanismMode, motors_of, passive_of, short_of
from poise.studio.panels.modes.parts import Choices, Facts, Setting, heading
from poise.studio.panels.sliders import DIGITS, STEPS
from poise.studio.session.freedoms import CLOSED_LOOP_GAP, Freedom, shown_values
from poise.studio.session.state import State

LEGEND = {"#ed7d31": "motor", "#4a90d9": "passive joint", "#7d5ba6": "loop"}
MISSED = {"°": 0.2, "m": 0.002}
"""A motor farther than this from its slider was stopped by loops or limits."""


class MechanismPanel:
    """Figures, motors, passive joints, loops."""

    def __init__(self, modes: Modes) -> None:
        """Build it where the caller is building."""
        self.modes, self.session = modes, modes.session
        self.shown_figure = -1
        self.said = ""
        heading("Mechanism")
        self.figures = Choices(modes.choose_figure)
        with ui.row().classes("w-full no-wrap gap-2"):
            for ink, word in LEGEND.items():
                with ui.row().classes("items-center no-wrap gap-0"):
                    ui.element("span").classes("poise-dot").style(f"background: {ink}")
                    ui.label(word).classes("text-caption no-wrap").style("white-space: nowrap")
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            heading("Motors")
            ui.button("assemble at rest", on_click=self._rest, color=None).props("flat").classes("poise-choice")
        self.area = ui.column().classes("w-full gap-0")
        self.line = ui.label().classes("poise-line").mark("assembly")
        self.below = ui.column().classes("w-full gap-0")

    def follow(self) -> None:
        """Show what is so now."""
        state = self.session.state
        if not isinstance(state.mode, MechanismMode):
            return
        self.figures.show(FIGURES, state.figure.name)
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
            {"all loops": "closed" if gap <= CLOSED_LOOP_GAP else f"open by {gap:.1e}", "gap": f"{gap:.0e}"}
        )
        short = short_of(state)
        if state.pulls and short > 1.0:
            self.line.set_text(f"The pull is {short:.0f} mm out of the workspace; every loop stays closed.")
        else:
            self.line.set_text(self.said or "Move a motor, or pull anywhere at the mechanism.")

    def _build(self, state: State) -> None:
        self.shown_figure, self.said = state.figure_number, ""
        self.area.clear()
        self.below.clear()
        with self.area:
            self.settings = [(freedom, self._setting(freedom)) for freedom in motors_of(state)]
        with self.below:
            heading("Passive joints")
            self.passive = Facts(_name(freedom) for freedom in passive_of(state))
            heading(f"Loops: {len(state.figure.loops)}")
            self.loops = Facts(("all loops", "gap"))

    def _setting(self, freedom: Freedom) -> Setting:
        span = (round(freedom.low, 4), round(freedom.high, 4), STEPS[freedom.unit])
        return Setting(_name(freedom), span, lambda value: self._move(freedom, value), lambda v: _amount(freedom, v))

    def _move(self, freedom: Freedom, value: float) -> None:
        state = self.session.state
        self.session.move(freedom.number, value)
        new = self.session.state
        if new.figure is not state.figure:
            return
        got = shown_values(new.posture, new.freedoms)[freedom.number]
        stopped = abs(got - value) > MISSED[freedom.unit]
        self.said = (
            f"{_name(freedom)} cannot be at {_amount(freedom, value)}: it stops at {_amount(freedom, got)}."
            if stopped
            else "Assembled: passive joints follow the motors."
        )
        self.follow()

    def _rest(self) -> None:
        figure = self.session.state.figure
        if figure.closure_error(figure.neutral()) > CLOSED_LOOP_GAP:
            raise FigureError(f"figure {figure.name!r} is open at rest.")
        self.session.choose_posture("neutral")
        self.said = "Assembled at rest."
        self.follow()


def _name(freedom: Freedom) -> str:
    return f"{freedom.joint} {freedom.coordinate}".strip().replace("_", " ")


def _amount(freedom: Freedom, value: float) -> str:
    digits = DIGITS[freedom.unit]
    return f"{round(value, digits) + 0.0:.{digits}f}{freedom.unit if freedom.unit == '°' else ' m'}"
