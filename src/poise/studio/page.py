"""The studio's page: the viewport, what to show in it, and a slider for every degree of freedom."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from poise.studio.session import Session, State
from poise.studio.sliders import Sliders
from poise.studio.viewport import Viewport

FOLLOW = 0.1
"""How often a page looks for changes made by another page [s]."""

STYLE = """
.nicegui-content { padding: 0; gap: 0; }
.poise-viewport { width: 100%; height: calc(100vh - 56px); }
.poise-slider .q-slider__thumb, .poise-slider .q-slider__selection { transition: none !important; }
.poise-number { font-variant-numeric: tabular-nums; }
"""


class StudioPage:
    """One browser page on the shared session."""

    def __init__(self, session: Session) -> None:
        """Build the page for the client that is being served."""
        self.session = session
        self.shown_figure = self.shown_step = -1
        self.following = False
        ui.add_css(STYLE)
        self.dark = ui.dark_mode(value=None)
        self._header()
        with ui.right_drawer(value=True, bordered=True).props("width=340").classes("q-pa-none"):
            self.sliders = Sliders(session)
        self.viewport = Viewport()
        self.follow()
        ui.timer(FOLLOW, self.follow)

    def _header(self) -> None:
        with ui.header().classes("items-center no-wrap q-py-none q-px-md bg-grey-10").style("height: 56px; gap: 20px"):
            ui.label("poise studio").classes("text-subtitle1 text-weight-medium")
            self.figures = _chooser("figure", self._choose_figure)
            self.postures = _chooser("posture", self._choose_posture)
            self.facts = ui.label().classes("text-caption ellipsis text-grey-5")
            ui.space()
            ui.switch("joints", value=True, on_change=lambda event: self.viewport.show_joints(event.value)).props(
                "dark dense color=orange-5"
            )
            _button("center_focus_strong", "Show the whole figure", lambda: self.viewport.look_again())
            _button("contrast", "Dark or light", lambda: self.dark.set_value(not self.dark.value))

    def follow(self) -> None:
        """Bring everything on the page up to the session's state."""
        state = self.session.state
        if state.step == self.shown_step:
            return
        self.following = True
        try:
            if state.figure_number != self.shown_figure:
                self._show_figure(state)
            self.postures.set_value(_posture_name(state))
            self.facts.set_text(_facts(state))
            self.sliders.follow()
        finally:
            self.following = False
        self.shown_figure, self.shown_step = state.figure_number, state.step

    def _show_figure(self, state: State) -> None:
        self.figures.set_options(list(self.session.figure_names), value=state.figure.name)
        self.postures.set_options(_posture_names(state), value=_posture_name(state))
        self.sliders.build()

    def _choose_figure(self, name: str | None) -> None:
        if name and not self.following:
            self.session.choose_figure(name)
            self.follow()

    def _choose_posture(self, name: str | None) -> None:
        if name and not self.following:
            self.session.choose_posture(name)
            self.follow()


def _chooser(label: str, choose: Callable[[str | None], None]) -> ui.select:
    chooser = ui.select([], label=label, on_change=lambda event: choose(event.value))
    chooser.props("dark dense options-dense borderless").style("min-width: 8.5rem").mark(label)
    return chooser


def _button(icon: str, tip: str, action: Callable[[], object]) -> None:
    with ui.button(icon=icon, on_click=lambda: action()).props("flat round dense color=white"):
        ui.tooltip(tip)


def _posture_names(state: State) -> list[str]:
    return list(dict.fromkeys(("neutral", *state.figure.posture_names)))


def _posture_name(state: State) -> str | None:
    """The named posture the figure is in, if it is in one."""
    if state.posture == state.figure.neutral():
        return "neutral"
    return next((name for name in state.figure.posture_names if state.figure.posture(name) == state.posture), None)


def _facts(state: State) -> str:
    figure = state.figure
    facts = [f"{figure.nv} degrees of freedom"]
    if figure.mass:
        facts.append(f"{figure.mass:.3g} kg")
    if len(figure.loops):
        gap = figure.closure_error(state.posture)
        facts.append("loops closed" if gap < 1e-6 else f"loops open by {gap:.2g}")
    return " · ".join(facts)
