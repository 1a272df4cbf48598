"""The studio's page: tasks on the left, the viewport in the middle, properties on the right, the status light above."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui
from nicegui.events import GenericEventArguments, KeyEventArguments

from poise.studio.control.modes import Modes
from poise.studio.panels.fields import attempt
from poise.studio.panels.menus import cheat_sheet, examples_menu
from poise.studio.panels.modes.switch import ModeSwitch
from poise.studio.panels.side import Side
from poise.studio.panels.style import STYLE
from poise.studio.panels.task_list import TaskList
from poise.studio.panels.viewport import Viewport
from poise.studio.session.postures import in_posture
from poise.studio.session.readiness import Progress, all_ready
from poise.studio.session.session import Session
from poise.studio.session.state import State

PAGE_UPDATE_INTERVAL = 0.1
"""Time between two updates of a page's panels [s]."""
FIRST_HINT = "Drag any part of the figure to move it · right-click a part for more actions · press ? for all shortcuts"
"""Hint over the viewport until something has been changed."""
READINESS_UPDATE_INTERVAL = 0.5
"""Time between two updates of the bar that shows how far the studio has got with getting ready [s]."""
SLIDERS_UPDATE_INTERVAL = 0.3
"""Time between two updates of the joint sliders; moving fifty of them keeps a browser busy [s]."""


class StudioPage:
    """One browser page that shows the shared session."""

    def __init__(self, session: Session, modes: Modes, progress: Progress = all_ready) -> None:
        """Build the page for the client that is being served."""
        self.session, self.modes, self.progress = session, modes, progress
        self.shown_figure = self.shown_step = -1
        self.following = self.four = False
        ui.add_css(STYLE)
        self.help = cheat_sheet()
        self._header()
        left = ui.left_drawer(value=True, bordered=True).props("width=290 behavior=desktop").classes("q-pa-none")
        with left:
            self.tasks = TaskList(session)
        right = ui.right_drawer(value=True, bordered=True).props("width=270 behavior=desktop").classes("q-pa-none")
        with right:
            self.side = Side(session)
        self._status()
        self.viewport = Viewport()
        self.viewport.on("refused", self._refused)
        self.side.attach(self.viewport)
        self.tasks.on_choose(self.side.show_task)
        self.switch.build_panels(self.viewport, left, right)
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        self.follow()
        ui.timer(PAGE_UPDATE_INTERVAL, self.follow)
        ui.timer(SLIDERS_UPDATE_INTERVAL, self.side.follow_joints)
        self.ready_timer = ui.timer(READINESS_UPDATE_INTERVAL, self._show_readiness)
        self._show_readiness()

    def _header(self) -> None:
        with ui.header().classes("items-center no-wrap q-py-none q-px-md bg-grey-10").style("height: 52px; gap: 10px"):
            ui.label("poise studio").classes("text-subtitle1 text-weight-medium no-wrap")
            with ui.button(icon="menu").props("flat round dense color=white").mark("menu"):
                ui.tooltip("Open, save, examples")
                examples_menu(self.modes, lambda: self.viewport.choose_file(), lambda: self.switch.strip.save_picture())
            self.figures = _chooser("Figure", self._choose_figure)
            self.postures = _chooser("Posture", self._choose_posture)
            ui.space()
            self.switch = ModeSwitch(self.modes)
            ui.space()
            self.undo = _button("undo", "Undo (Ctrl Z)", self.session.undo)
            self.redo = _button("redo", "Redo (Ctrl Shift Z)", self.session.redo)
            ui.switch("Joints", value=True, on_change=lambda event: self.viewport.show_joints(event.value)).props(
                "dark dense color=orange-5"
            )
            _button("grid_view", "Switch between one and four views (4)", self._switch_views)
            _button("center_focus_strong", "Frame the whole figure (F)", lambda: self.viewport.frame_figure())
            _button("contrast", "Switch between dark and light (D)", self._switch_dark)
            _button("help_outline", "Show all shortcuts (?)", self.help.open)

    def _status(self) -> None:
        with ui.row().classes("poise-status w-full items-center no-wrap"):
            self.light = ui.element("span").classes("poise-light").mark("light")
            self.sentence = ui.label().classes("text-body2 ellipsis").mark("sentence")
            with self.sentence:
                self.whole = ui.tooltip()
            ui.space()
            with ui.row().classes("poise-readiness items-center no-wrap gap-2").mark("readiness") as self.readiness:
                self.ready_sentence = ui.label().classes("text-caption poise-number")
                self.ready_bar = ui.linear_progress(show_value=False).props("instant-feedback color=orange-7")
            self.facts = ui.label().classes("text-caption text-grey-6 no-wrap poise-facts")

    def follow(self) -> None:
        """Update the whole page to the session's state."""
        state = self.session.state
        if state.step == self.shown_step:
            return
        self.following = True
        try:
            if state.figure_number != self.shown_figure:
                self._show_figure(state)
            self.postures.set_value(_posture_name(state))
            self._show_outcome(state)
            self.tasks.follow()
            self.side.follow()
            self.switch.follow()
        finally:
            self.following = False
        self.shown_figure, self.shown_step = state.figure_number, state.step

    def _show_readiness(self) -> None:
        """Show how far the studio has got with getting ready, until it is."""
        found = self.progress()
        self.readiness.set_visibility(found is not None)
        self.facts.set_visibility(found is None)
        if found is None:
            self.ready_timer.deactivate()
        else:
            self.ready_sentence.set_text(found.sentence)
            self.ready_bar.set_value(found.share)

    def _show_figure(self, state: State) -> None:
        names = dict.fromkeys((*self.modes.figure_names, state.figure.name))
        self.figures.set_options(list(names), value=state.figure.name)
        self.postures.set_options(_posture_names(state), value=_posture_name(state))
        self.side.build()

    def _show_outcome(self, state: State) -> None:
        rests = "true" if self.session.rests else "false"
        seen = f'data-scene="{state.scene_number}" data-step="{state.step}" data-rests="{rests}"'
        self.light.props(f'data-light="{state.outcome.light}" {seen}')
        self.sentence.set_text(state.outcome.sentence)
        self.whole.set_text(state.outcome.sentence)
        self.facts.set_text(_facts(state))
        self.switch.show_hint(state.scene.description if self.session.can_undo else FIRST_HINT, self.session.can_undo)
        self.undo.set_enabled(self.session.can_undo)
        self.redo.set_enabled(self.session.can_redo)

    def _choose_figure(self, name: str | None) -> None:
        if name in self.modes.figure_names and not self.following:
            if not attempt(lambda: self.modes.choose_figure(name)):
                self.shown_figure = self.shown_step = -1  # so that the chooser shows the present figure again
            self.follow()

    def _choose_posture(self, name: str | None) -> None:
        if name and not self.following:
            self.session.update(lambda state: in_posture(state, name))
            self.follow()

    def _switch_views(self) -> None:
        self.four = not self.four
        self.viewport.show_four(self.four)

    def _switch_dark(self) -> None:
        self.viewport.switch_dark()

    def _refused(self, event: GenericEventArguments) -> None:
        ui.notify(str(event.args), type="negative", position="top", multi_line=True, timeout=10_000)

    def _key(self, event: KeyEventArguments) -> None:
        if not event.action.keydown or event.action.repeat:
            return
        key, control = event.key.name.lower(), event.modifiers.ctrl or event.modifiers.meta
        redo = key == "y" or event.modifiers.shift
        plain: dict[str, Callable[[], object]] = {
            "f": self.viewport.frame_figure,
            "s": self.viewport.frame_selected,
            "4": self._switch_views,
            "d": self._switch_dark,
            "p": self.viewport.pin_here,
            "?": self.help.open,
        }
        if control and key in ("z", "y"):
            (self.session.redo if redo else self.session.undo)()
        elif not control and key in plain:
            plain[key]()


def _chooser(label: str, choose: Callable[[str | None], None]) -> ui.select:
    chooser = ui.select([], label=label, on_change=lambda event: choose(event.value))
    chooser.props("dark dense options-dense borderless").style("min-width: 7rem").mark(label.lower())
    return chooser


def _button(icon: str, tip: str, action: Callable[[], object]) -> ui.button:
    with ui.button(icon=icon, on_click=lambda: action()).props("flat round dense color=white") as button:
        ui.tooltip(tip)
    return button.mark(icon)


def _posture_names(state: State) -> list[str]:
    return list(dict.fromkeys(("neutral", *state.figure.posture_names)))


def _posture_name(state: State) -> str | None:
    """The name of the present posture; None if it has none."""
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
