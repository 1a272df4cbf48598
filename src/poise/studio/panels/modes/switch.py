"""The buttons in the top bar that switch between modes, and the panels of the modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nicegui import ui

from poise.studio.control.modes import MODE_ICONS, MODE_TOOLTIPS, Modes
from poise.studio.panels.fields import attempt_apart, header_tip
from poise.studio.panels.modes.circles import CirclesPanel
from poise.studio.panels.modes.circles_view import CirclesView
from poise.studio.panels.modes.expressive import ExpressivePanel
from poise.studio.panels.modes.mechanism import MechanismPanel
from poise.studio.panels.modes.retarget import RetargetPanel
from poise.studio.panels.modes.strip import ModeStrip
from poise.studio.panels.modes.style import MODE_STYLE
from poise.studio.panels.timeline import TimelinePanel
from poise.studio.panels.viewport import Viewport


class Panel(Protocol):
    """A panel with the controls of one mode."""

    def follow(self) -> None:
        """Show the current state of the session."""


class ModeSwitch:
    """The buttons of the modes, the panel of the present mode, and the strip below the viewport."""

    def __init__(self, modes: Modes) -> None:
        """Build the buttons inside the current NiceGUI element."""
        self.modes = modes
        self.shown, self.hints, self.folded = "", 0, False
        self.areas: dict[str, ui.scroll_area] = {}
        self.panels: dict[str, Panel] = {}
        self.buttons: dict[str, ui.button] = {}
        ui.add_css(MODE_STYLE)
        with ui.row().classes("poise-modes"):
            for name, icon in MODE_ICONS.items():
                button = ui.button(name.capitalize(), icon=icon, on_click=lambda name=name: self._enter(name))
                self.buttons[name] = button.props("flat dense color=white no-wrap").mark(f"mode {name}")
                with button.props(f'aria-label="{name.capitalize()}"'):
                    header_tip(MODE_TOOLTIPS[name])
        self.plots = ui.button(icon="show_chart", on_click=lambda: modes.pose.switch_plots(modes.session))
        with self.plots.props('flat round dense color=white aria-label="Plot the errors of tasks"').mark("plots"):
            header_tip("Plot the errors of tasks")
        self.animate = ui.button(icon="movie", on_click=lambda: self.timeline.switch())
        with self.animate.props('flat round dense color=white aria-label="Timeline"').mark("animate"):
            header_tip("Show or hide the timeline: animate with keys (K)")

    def build_panels(self, viewport: Viewport, tasks: ui.left_drawer, joints: ui.right_drawer) -> None:
        """Build the strip below the viewport, and the panels of the modes, in the drawer `tasks` on the left."""
        self.joints = joints
        with ui.element("div").classes("poise-center") as center:
            CirclesView()
            viewport.move(center)
            self.hint = ui.label().classes("poise-hint").mark("hint")
        self.strip = ModeStrip()
        self.timeline = TimelinePanel(self.modes)
        with tasks:
            self.plain = list(tasks.default_slot.children)
            for name, make in self._makers(viewport).items():
                area = ui.scroll_area().style("height: calc(100vh - 54px)").classes("poise-panel")
                with area, ui.column().classes("poise-mode-panel"):
                    self.panels[name] = make()
                area.set_visibility(False)
                self.areas[name] = area

    def show_hint(self, words: str, passing: bool) -> None:
        """Show a hint over the viewport; with `passing`, it fades after a few seconds."""
        if words != self.hint.text:
            self.hint.set_text(words)
            self.hints += 1
            fading = ("poise-hint-first", "poise-hint-second")[self.hints % 2]
            self.hint.classes(replace=f"poise-hint {fading if passing else ''}")

    def _makers(self, viewport: Viewport) -> dict[str, Callable[[], Panel]]:
        modes = self.modes
        return {
            "expressive": lambda: ExpressivePanel(modes.session, modes.expressive, self.strip),
            "mechanism": lambda: MechanismPanel(modes),
            "circles": lambda: CirclesPanel(modes),
            "retarget": lambda: RetargetPanel(modes, viewport.choose_file),
        }

    def follow(self) -> None:
        """Show the current state of the session in the buttons and panels."""
        name = self.modes.mode.name
        if name != self.shown:
            self._show(name)
        if name in self.panels:
            self.panels[name].follow()
        if name == "pose":
            self.timeline.follow()

    def _show(self, name: str) -> None:
        self.shown = name
        for each, button in self.buttons.items():
            button.props(f"data-on={'true' if each == name else 'false'}")
        for element in self.plain:
            element.set_visibility(name not in self.areas)
        for each, area in self.areas.items():
            area.set_visibility(each == name)
        if name != "expressive":
            self.strip.follow_mouse(False)
        self.plots.set_visibility(name == "pose")
        self.animate.set_visibility(name == "pose")
        self.fold_joints(self.folded)

    def fold_joints(self, folded: bool) -> None:
        """Fold or unfold the panel on the right, which only the pose mode has."""
        self.folded = folded
        self.joints.set_value(self.shown not in self.areas and not folded)

    async def _enter(self, name: str) -> None:
        await attempt_apart(lambda: self.modes.enter(name))
        self.follow()
