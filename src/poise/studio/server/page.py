"""The studio's page: tasks on the left, the viewport in the middle, properties on the right, the status light above."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

from nicegui import ui
from nicegui.events import GenericEventArguments, KeyEventArguments

from poise.errors import NotReadyError
from poise.studio.control.modes import Modes
from poise.studio.panels.fields import attempt, attempt_apart, header_tip
from poise.studio.panels.menus import cheat_sheet, choice_dialog, examples_menu
from poise.studio.panels.modes.switch import ModeSwitch
from poise.studio.panels.notices import say, say_problem
from poise.studio.panels.side import Side
from poise.studio.panels.style import PRIMARY_COLOR, STYLE
from poise.studio.panels.tasks.list import TaskList
from poise.studio.panels.viewport import Viewport
from poise.studio.session.postures import in_posture, with_joint_values, with_mirrored
from poise.studio.session.readiness import Progress, all_ready
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.amounts import LENGTH_AND_ANGLE, amount

PAGE_UPDATE_INTERVAL = 0.1
"""Time between two updates of a page's panels [s]."""
FIRST_HINT = "Drag any part of the figure to move it · right-click a part for more actions · press ? for all shortcuts"
"""Hint over the viewport until something has been changed."""
READINESS_UPDATE_INTERVAL = 0.5
"""Time between two updates of the bar that shows how far the opening of a file or getting ready has got [s]."""
SLIDERS_UPDATE_INTERVAL = 0.3
"""Time between two updates of the joint sliders; moving fifty of them keeps a browser busy [s]."""


class StudioPage:
    """One browser page that shows the shared session."""

    def __init__(self, session: Session, modes: Modes, progress: Progress = all_ready) -> None:
        """Build the page for the client that is being served."""
        self.session, self.modes, self.progress = session, modes, progress
        self.shown_figure = self.shown_step = -1
        self.following = self.four = False
        ui.colors(primary=PRIMARY_COLOR)
        ui.add_css(STYLE)
        self.help = cheat_sheet()
        self._header()
        left = ui.left_drawer(value=True, bordered=True).props("width=290 behavior=desktop").classes("q-pa-none")
        left.props('aria-label="Tasks and settings of the mode"')
        with left:
            self.tasks = TaskList(session)
        right = ui.right_drawer(value=True, bordered=True).props("width=270 behavior=desktop").classes("q-pa-none")
        right.props('aria-label="Joints, task, forces, preferences, body"')
        self.left = left
        with right:
            self.side = Side(session)
        self._status()
        self.viewport = Viewport()
        self.viewport.on("refused", self._refused)
        self.viewport.on("opened", lambda event: self._opened(**event.args))
        self.viewport.on("narrow", lambda: self.switch.fold_joints(True))
        self.side.attach(self.viewport)
        self.tasks.on_choose(self.side.show_task)
        self.switch.build_panels(self.viewport, left, right)
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        self.follow()
        ui.timer(PAGE_UPDATE_INTERVAL, self.follow)
        ui.timer(SLIDERS_UPDATE_INTERVAL, self.side.follow_joints)
        ui.timer(READINESS_UPDATE_INTERVAL, self._show_readiness)
        self._show_readiness()
        if modes.recovered and not self.session.can_redo:
            say("The scene of the last session is back. Undo returns to the beginning.")
            modes.recovered = False

    def _header(self) -> None:
        with ui.header().classes("items-center no-wrap q-py-none q-px-md bg-grey-10").style("height: 52px; gap: 10px"):
            self.fold_left = _button("vertical_split", "Fold or unfold the panel on the left ([)", self._fold_left)
            title = ui.label("poise studio").classes("poise-title text-subtitle1 text-weight-medium no-wrap")
            title.props("role=heading aria-level=1")
            words = "Menu: open, save, examples"  # no tooltip, which would cover the menu
            with ui.button(icon="menu").props(f'flat round dense color=white aria-label="{words}"').mark("menu"):
                examples_menu(self.modes, lambda: self.viewport.choose_file(), lambda: self.switch.strip.save_picture())
            self.figures = _chooser("Figure", self._choose_figure)
            self.postures = _chooser("Posture", self._choose_posture)
            ui.space()
            self.switch = ModeSwitch(self.modes)
            ui.space()
            self.stop = ui.button("Stop robot", icon="stop", on_click=self._stop_robot, color="negative")
            self.stop.props("dense no-caps unelevated").classes("poise-stop no-wrap").mark("stop robot")
            self.undo = _button("undo", "Undo (Ctrl Z)", self.session.undo)
            self.redo = _button("redo", "Redo (Ctrl Shift Z)", self.session.redo)
            ui.switch("Joints", value=True, on_change=lambda event: self.viewport.show_joints(event.value)).props(
                "dark dense color=orange-5"
            )
            _button("grid_view", "Switch between one and four views (4)", self._switch_views)
            _button("center_focus_strong", "Frame the whole figure (F)", lambda: self.viewport.frame_figure())
            _button("contrast", "Switch between dark and light (D)", self._switch_dark)
            _button("help_outline", "Show all shortcuts (?)", self.help.open)
            self.fold_right = _button("view_sidebar", "Fold or unfold the panel on the right (])", self._fold_right)

    def _status(self) -> None:
        with ui.row().classes("poise-status w-full items-center no-wrap"):
            self.light = ui.element("span").classes("poise-light").mark("light")
            self.sentence = ui.label().classes("text-body2 poise-sentence").mark("sentence").props("role=status")
            with self.sentence:
                self.whole = ui.tooltip()
            ui.space()
            self.balance, self.balance_tip = _badge("balance")
            self.robot, self.robot_tip = _badge("robot")
            with ui.element("span").classes("poise-badge poise-offline").props("role=alert").mark("offline"):
                ui.label("Offline: reconnecting …")
            with ui.row().classes("poise-readiness items-center no-wrap gap-2").mark("readiness") as self.readiness:
                self.ready_sentence = ui.label().classes("text-caption poise-number")
                self.ready_bar = ui.linear_progress(show_value=False).props("instant-feedback color=orange-7")
            self.facts = ui.label().classes("text-caption poise-quiet no-wrap poise-facts")

    def follow(self) -> None:
        """Update the whole page to the session's state; what needs kernels that are being compiled, a moment later."""
        state = self.session.state
        if state.step == self.shown_step:
            return
        with contextlib.suppress(NotReadyError):
            self._show(state)
            self.shown_figure, self.shown_step = state.figure_number, state.step

    def _show(self, state: State) -> None:
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

    def _show_readiness(self) -> None:
        """Show how far the studio has got with opening a file, or with getting ready."""
        found = self.modes.inbox.loading or self.progress()
        self.readiness.set_visibility(found is not None)
        self.facts.set_visibility(found is None)
        if found is not None:
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
        self._show_badges(state)
        self.facts.set_text(_facts(state))
        self.switch.show_hint(state.scene.description if self.session.can_undo else FIRST_HINT, self.session.can_undo)
        self.undo.set_enabled(self.session.can_undo)
        self.redo.set_enabled(self.session.can_redo)

    def _show_badges(self, state: State) -> None:
        """Show apart from the light of the tasks whether the figure is balanced, and whether a robot follows it."""
        inside = state.outcome.inside
        self.balance.set_visibility(inside is not None)
        if inside is not None:
            self.balance.props(f"data-good={'true' if inside >= 0.0 else 'false'}")
            self.balance.set_text(_balance_words(inside))
            self.balance_tip.set_text(state.outcome.balance)
        robot = self.modes.expressive.robot
        self.stop.set_visibility(robot.is_on)
        self.robot.set_visibility(robot.is_on)
        if robot.is_on:
            self.robot.props(f"data-good={'true' if robot.is_dry else 'false'}")
            self.robot.set_text("Dry run" if robot.is_dry else "Robot moves")
            self.robot_tip.set_text(robot.lines[-1] if robot.lines else robot.state)

    def _stop_robot(self) -> None:
        if self.modes.expressive.robot.stop("Stopped with the red button: the servos hold their positions."):
            self.session.wake()

    def _choose_figure(self, name: str | None) -> Awaitable[None] | None:
        """Open a figure that somebody chose; a name that the page itself shows is no choice."""
        chosen = name in self.modes.figure_names and not self.following
        return self._open_figure(name) if chosen and name is not None else None

    async def _open_figure(self, name: str) -> None:
        if not await attempt_apart(lambda: self.modes.choose_figure(name)):
            self.shown_figure = self.shown_step = -1  # so that the chooser shows the present figure again
        self.follow()

    def _choose_posture(self, name: str | None) -> None:
        if name and not self.following:
            attempt(lambda: self.session.update(lambda state: in_posture(state, name)))
            self.follow()

    def _fold_left(self) -> None:
        self.left.toggle()

    def _fold_right(self) -> None:
        self.switch.fold_joints(not self.switch.folded)

    def _copy(self) -> None:
        state = self.session.state
        rows = {joint.name: state.figure.q_slice(joint.name) for joint in state.figure.joints if joint.nq}
        self.modes.copied = {name: tuple(map(float, state.posture.q[row])) for name, row in rows.items()}
        say("The posture is copied. Ctrl V pastes it.")

    def _paste(self) -> None:
        """Give joints of the same name and size the copied values."""
        figure, copied = self.session.state.figure, self.modes.copied
        values = {j.name: copied[j.name] for j in figure.joints if j.nq and len(copied.get(j.name, ())) == j.nq}
        if not values:
            say_problem("There is no copied posture for this figure: press Ctrl C in a posture first.")
        else:
            attempt(lambda: self.session.update(lambda state: with_joint_values(state, values)))

    def _switch_views(self) -> None:
        self.four = not self.four
        self.viewport.show_four(self.four)

    def _switch_dark(self) -> None:
        self.viewport.switch_dark()

    def _refused(self, event: GenericEventArguments) -> None:
        say_problem(str(event.args))

    def _opened(self, said: str, choices: list[str]) -> None:
        """Say what is missing of a figure that was opened, and let the user choose among several."""
        if said:
            say(said)
        if choices:
            choice_dialog(choices, self.viewport.open_choice)

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
            "m": lambda: self.session.update(with_mirrored),
            "[": self._fold_left,
            "]": self._fold_right,
        }
        if control and key in ("z", "y"):
            attempt(self.session.redo if redo else self.session.undo)
        elif control and key in ("c", "v"):
            attempt(self._copy if key == "c" else self._paste)
        elif not control and key in plain:
            attempt(plain[key])


def _chooser(label: str, choose: Callable[[str | None], object]) -> ui.select:
    chooser = ui.select([], label=label, on_change=lambda event: choose(event.value))
    chooser.props("dark dense options-dense borderless").style("min-width: 7rem").mark(label.lower())
    return chooser


def _badge(marker: str) -> tuple[ui.label, ui.tooltip]:
    """An icon in the status line, and its tooltip."""
    with ui.label().classes("poise-badge no-wrap").mark(f"badge {marker}") as badge:
        tip = ui.tooltip()
    return badge, tip


def _button(icon: str, tip: str, action: Callable[[], object]) -> ui.button:
    with ui.button(icon=icon, on_click=lambda: attempt(action)).props("flat round dense color=white") as button:
        header_tip(tip)
    button.props(f'aria-label="{tip}"')
    return button.mark(icon)


def _posture_names(state: State) -> list[str]:
    return list(dict.fromkeys(("neutral", *state.figure.posture_names)))


def _posture_name(state: State) -> str | None:
    """The name of the present posture; None if it has none."""
    if state.posture == state.figure.neutral():
        return "neutral"
    return next((name for name in state.figure.posture_names if state.figure.posture(name) == state.posture), None)


def _balance_words(inside: float) -> str:
    """The balance in a few words; `inside` is how far the centre of mass is inside the support [m]."""
    return f"Balanced, {1e3 * inside:.0f} mm to spare" if inside >= 0.0 else f"Off balance by {-1e3 * inside:.0f} mm"


def _facts(state: State) -> str:
    figure = state.figure
    facts = [f"{figure.nv} degrees of freedom"]
    if figure.mass:
        facts.append(f"{figure.mass:.3g} kg")
    if len(figure.loops):
        gap = figure.closure_error(state.posture)
        facts.append("loops closed" if gap < 1e-6 else f"loops open by {amount(gap, LENGTH_AND_ANGLE)}")
    return " · ".join(facts)
