"""The panel of the circles mode."""

from __future__ import annotations

import math

from nicegui import ui

from poise.chains.circles import circle_zones
from poise.studio.control.modes import Modes
from poise.studio.modes.circles.circles import CirclesMode
from poise.studio.modes.circles.demos import DEMOS
from poise.studio.panels.modes.parts import ChoiceButtons, Facts, Setting, change_mode, heading
from poise.tasks.amounts import length

DEMO_LABELS = {"arm": "Arm", "uneven arm": "Uneven arm", "cyclist": "Cyclist", "hand": "Hand and ball"}
CIRCLES_FACTS = ("Placements", "Error", "Solve time", "Inner radius", "Outer radius")
"""Names of the numbers that are shown."""
END_POINTS = {"cyclist": "left_foot", "hand": "middle_tip"}
"""The end-point whose safe zone is shown, for demos with several."""


class CirclesPanel:
    """Buttons for the demos, their settings, and numbers of the solver."""

    def __init__(self, modes: Modes) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.modes, self.session = modes, modes.session
        heading("Demo")
        self.demos = ChoiceButtons(modes.choose_figure, opens=True)
        self.line = ui.label().classes("poise-line")
        with ui.column().classes("w-full gap-0") as self.turning:
            heading("Turntable")
            self.turn = Setting("Turn", (-180.0, 180.0, 1.0), lambda v: self._set(turn=math.radians(v)), _degrees)
        with ui.column().classes("w-full gap-1") as self.riding:
            heading("Pedalling")
            self.pedals = ui.switch("Pedal", on_change=lambda event: self._set(pedalling=bool(event.value)))
            self.pedals.props("dense size=sm color=orange-7").mark("pedal")
            self.cadence = Setting(
                "Cadence [1/min]", (5.0, 100.0, 1.0), lambda v: self._set(cadence=v), lambda v: f"{v:.0f}"
            )
        heading("Circles")
        self.facts = Facts(CIRCLES_FACTS)
        ui.label(
            "Each joint is placed once, where two circles intersect: one around the next joint, one around the base."
        ).classes("poise-line")

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        mode = state.mode
        if not isinstance(mode, CirclesMode):
            return
        self.demos.show(DEMO_LABELS, mode.demo, DEMO_LABELS)
        self.line.set_text(f"{DEMOS[mode.demo].description}.")
        self.turning.set_visibility(mode.demo == "arm")
        self.riding.set_visibility(mode.demo == "cyclist")
        self.turn.show(math.degrees(mode.turn))
        self.cadence.show(mode.cadence)
        if self.pedals.value != mode.pedalling:
            self.pedals.set_value(mode.pedalling)
        self._show_facts(mode)

    def _show_facts(self, mode: CirclesMode) -> None:
        driver = self.modes.circles
        placed = driver.placed
        if placed is None or placed.posture.figure is not DEMOS[mode.demo].figure:
            return
        tip = END_POINTS.get(mode.demo)
        least, most = circle_zones(DEMOS[mode.demo].figure, tip, placed.posture, hold=_held_joints(mode.demo))
        self.facts.show(
            {
                "Placements": str(placed.placements),
                "Error": length(placed.error),
                "Solve time": f"{1e6 * driver.seconds:.0f} µs",
                "Inner radius": f"{1e3 * least:.0f} mm",
                "Outer radius": f"{1e3 * most:.0f} mm",
            }
        )

    def _set(self, **fields: object) -> None:
        change_mode(self.session, CirclesMode, gesture=("circles", *fields), **fields)


def _held_joints(demo: str) -> tuple[str, ...]:
    return ("wrist",) if demo == "hand" else ()


def _degrees(value: float) -> str:
    return f"{value:.0f}°"
