"""The buttons in the top bar that switch between modes, and the panels of the modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nicegui import ui
from nicegui.element import Element

from poise.studio.control.modes import MODE_ICONS, MODE_TOOLTIPS, Modes
from poise.studio.panels.fields import attempt
from poise.studio.panels.modes.circles import CirclesPanel
from poise.studio.panels.modes.circles_view import CirclesView
from poise.studio.panels.modes.expressive import ExpressivePanel
from poise.studio.panels.modes.mechanism import MechanismPanel
from poise.studio.panels.modes.retarget import RetargetPanel
from poise.studio.panels.modes.strip import ModeStrip
from poise.studio.panels.modes.style import MODE_STYLE


class Panel(Protocol):
    """A panel of a mode."""

    def follow(self) -> None:
        """Update the panel to the session's state."""


class ModeSwitch:
    """The buttons of the modes, the panel of the present mode, and the strip below the viewport."""

    def __init__(self, modes: Modes) -> None:
        """Build the buttons inside the present NiceGUI element."""
        self.modes = modes
        self.shown, self.hints = "", 0
        self.areas: dict[str, ui.scroll_area] = {}
        self.panels: dict[str, Panel] = {}
        self.buttons: dict[str, ui.button] = {}
        ui.add_css(MODE_STYLE)
        with ui.row().classes("poise-modes"):
            for name, icon in MODE_ICONS.items():
                button = ui.button(name.capitalize(), icon=icon, on_click=lambda name=name: self._enter(name))
                self.buttons[name] = button.props("flat dense color=white no-wrap").mark(f"mode {name}")
                button.tooltip(MODE_TOOLTIPS[name])

        self.plots = ui.button(icon="show_chart", on_click=lambda: modes.pose.switch_plots(modes.session))
        self.plots.props("flat round dense color=white").mark("plots").tooltip("Plot the errors of tasks")

    def build_panels(self, viewport: Element, tasks: ui.left_drawer, joints: ui.right_drawer) -> None:
        """Build the strip below the viewport, and the panels of the modes in the drawer of the tasks."""
        self.joints = joints
        with ui.element("div").classes("poise-center") as center:
            CirclesView()
            viewport.move(center)
            self.hint = ui.label().classes("poise-hint").mark("hint")
        self.strip = ModeStrip()
        with tasks:
            self.plain = list(tasks.default_slot.children)
            for name, make in self._makers().items():
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

    def _makers(self) -> dict[str, Callable[[], Panel]]:
        modes = self.modes
        return {
            "expressive": lambda: ExpressivePanel(modes.session, modes.expressive, self.strip),
            "mechanism": lambda: MechanismPanel(modes),
            "circles": lambda: CirclesPanel(modes),
            "retarget": lambda: RetargetPanel(modes),
        }

    def follow(self) -> None:
        """Update buttons and panels to the session's state."""
        name = self.modes.mode.name
        if name != self.shown:
            self._show(name)
        if name in self.panels:
            self.panels[name].follow()

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
        self.joints.set_value(name not in self.areas)

    def _enter(self, name: str) -> None:
        attempt(lambda: self.modes.enter(name))
        self.follow()
