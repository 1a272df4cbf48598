"""The panel of the circles mode."""

from __future__ import annotations

import math
from dataclasses import replace

from nicegui import ui

from poise.chains.circles import circle_zones
from poise.studio.control.modes import Modes
from poise.studio.modes.circles.circles import CirclesMode
from poise.studio.modes.circles.demos import DEMOS
from poise.studio.panels.modes.parts import Choices, Facts, Setting, heading

WORDS = {"arm": "arm", "uneven arm": "uneven arm", "cyclist": "cyclist", "hand": "hand and ball"}
FACTS = ("placements", "misses by", "solve", "least safe zone", "greatest safe zone")
TIPS = {"cyclist": "left_foot", "hand": "middle_tip"}
"""End-points whose zones are told, where there are several."""


class CirclesPanel:
    """Which demo, and what goes with it."""

    def __init__(self, modes: Modes) -> None:
        """Build it where the caller is building."""
        self.modes, self.session = modes, modes.session
        heading("Demo")
        self.demos = Choices(modes.choose_figure)
        self.line = ui.label().classes("poise-line")
        with ui.column().classes("w-full gap-0") as self.turning:
            heading("Turntable")
            self.turn = Setting("turn", (-180.0, 180.0, 1.0), lambda v: self._set(turn=math.radians(v)), _degrees)
        with ui.column().classes("w-full gap-1") as self.riding:
            heading("Pedalling")
            self.pedals = ui.switch("pedal", on_change=lambda event: self._set(pedalling=bool(event.value)))
            self.pedals.props("dense size=sm color=orange-7").mark("pedal")
            self.cadence = Setting(
                "per minute", (5.0, 100.0, 1.0), lambda v: self._set(cadence=v), lambda v: f"{v:.0f}"
            )
        heading("Circles")
        self.facts = Facts(FACTS)
        ui.label(
            "Each joint goes once where two circles meet: one about the joint after it, one about the base."
        ).classes("poise-line")

    def follow(self) -> None:
        """Show what is so now."""
        state = self.session.state
        mode = state.mode
        if not isinstance(mode, CirclesMode):
            return
        self.demos.show(WORDS, mode.demo, WORDS)
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
        tip = TIPS.get(mode.demo)
        least, most = circle_zones(DEMOS[mode.demo].figure, tip, placed.posture, hold=_held(mode.demo))
        self.facts.show(
            {
                "placements": str(placed.placements),
                "misses by": f"{placed.error:.1e} m",
                "solve": f"{1e6 * driver.seconds:.0f} µs",
                "least safe zone": f"{1e3 * least:.0f} mm",
                "greatest safe zone": f"{1e3 * most:.0f} mm",
            }
        )

    def _set(self, **fields: object) -> None:
        mode = self.session.state.mode
        if isinstance(mode, CirclesMode):
            new = replace(mode, **fields)  # type: ignore[arg-type]
            if new != mode:
                self.session.set_mode(new, gesture=("circles", *fields))


def _held(demo: str) -> tuple[str, ...]:
    return ("wrist",) if demo == "hand" else ()


def _degrees(value: float) -> str:
    return f"{value:.0f}°"
