"""The panel of the expressive mode."""

from __future__ import annotations

import math
from dataclasses import replace

from nicegui import ui

from poise.studio.modes.expressive.expressive import (
    HOLD_NAMES,
    SOLVER_NAMES,
    ExpressiveDriver,
    ExpressiveMode,
    gaze_and_posture,
)
from poise.studio.modes.expressive.filter import SLIDER_RANGES, setting_text
from poise.studio.modes.expressive.postures import posture_choices
from poise.studio.modes.expressive.robot import FIRST_ADDRESS
from poise.studio.panels.fields import attempt
from poise.studio.panels.modes.parts import ChoiceButtons, Facts, Setting, change_mode, heading
from poise.studio.panels.modes.strip import ModeStrip
from poise.studio.session.session import Session

ESCAPE_SCRIPT = """<script>
document.addEventListener("keydown", (event) => { if (event.key === "Escape") emitEvent("escape"); }, true);
</script>"""
"""Script that reports the Esc key to the server, wherever the focus is."""
PAGE_PING_INTERVAL = 1.0
"""Time between two checks that the page that controls a robot is still there [s]."""
PAGE_ANSWER_TIME = 2.0
"""Time within which that page must answer; a closed page is detected at once [s]."""
EXPRESSIVE_FACTS = ("Gaze error", "Error", "Posture error", "Shape error", "Iterations", "Solve time")
"""Names of the numbers that are shown."""


class ExpressivePanel:
    """Postures, gaze, solver, errors, motion filter and robot."""

    def __init__(self, session: Session, driver: ExpressiveDriver, strip: ModeStrip) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.session, self.driver = session, driver
        heading("Posture")
        self.postures = ChoiceButtons(lambda name: driver.hold(session, name))
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            self.ghost = ui.switch("Show posture", on_change=lambda event: self._set(ghost=bool(event.value)))
            self.ghost.props("dense size=sm color=blue-6").mark("ghost")
            follow = ui.switch("Follow mouse", on_change=lambda event: strip.follow_mouse(bool(event.value)))
            follow.props("dense size=sm color=orange-7").mark("follow the mouse")
        ui.label("Drag the round target to look elsewhere.").classes("poise-line")
        heading("Solver")
        self.solvers = ChoiceButtons(lambda name: self._set(solver=name))
        self.facts = Facts(EXPRESSIVE_FACTS)
        heading("While moving, keep")
        self.holds = ChoiceButtons(lambda name: self._set(hold=name))
        heading("Motion filter")
        self.settings = {
            name: Setting(name.capitalize(), span, lambda value, name=name: self._filter(name, value), setting_text)  # type: ignore[misc]
            for name, span in SLIDER_RANGES.items()
        }
        self._robot()

    def _robot(self) -> None:
        heading("Robot")
        self.address = (
            ui.input(value=FIRST_ADDRESS, label="Address").props("dense").classes("w-full").mark("robot where")
        )
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            self.dry = ui.switch(
                "Dry run", value=True, on_change=lambda: self._stop("Stopped: switch Send on to continue.")
            )
            self.dry.props("dense size=sm color=green-6").mark("dry run")
            self.send = ui.switch("Send", on_change=lambda event: self._send(bool(event.value)))
            self.send.props("dense size=sm color=orange-7").mark("send to robot")
            self.state = ui.label().classes("text-caption poise-quiet").mark("robot state")
        self.line = ui.label().classes("poise-line").mark("robot line")
        ui.add_body_html(ESCAPE_SCRIPT)
        ui.on("escape", lambda: self._stop("Stopped with Esc: the servos hold their positions."))
        ui.context.client.on_disconnect(self._page_lost)
        ui.timer(PAGE_PING_INTERVAL, self._ask_page)

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        mode = state.mode
        if not isinstance(mode, ExpressiveMode):
            return
        _, held = gaze_and_posture(state)
        self.postures.show(posture_choices(state.figure), held.label)
        self.solvers.show(SOLVER_NAMES, mode.solver, SOLVER_NAMES)
        self.holds.show(HOLD_NAMES, mode.hold, HOLD_NAMES)
        if self.ghost.value != mode.ghost:
            self.ghost.set_value(mode.ghost)
        for name, setting in self.settings.items():
            setting.show(getattr(mode.filter, name))
        self._show_numbers()
        robot = self.driver.robot
        self.state.set_text(robot.state)
        if self.send.value != robot.is_on:
            self.send.set_value(robot.is_on)
        self.line.set_text(robot.lines[-1] if robot.lines else "A dry run opens no device and shows the commands here.")

    def _show_numbers(self) -> None:
        numbers = self.driver.numbers
        if numbers is None:
            return
        result = numbers.result
        self.facts.show(
            {
                "Gaze error": f"{math.degrees(numbers.gaze):.2f}°",
                "Error": f"{result.error:.4f}",
                "Posture error": f"{result.posture_error:.4f}",
                "Shape error": f"{result.shape_error:.4f}",
                "Iterations": str(result.iterations),
                "Solve time": f"{1e6 * numbers.seconds:.0f} µs",
            }
        )

    def _set(self, **fields: object) -> None:
        change_mode(self.session, ExpressiveMode, **fields)

    def _filter(self, name: str, value: float) -> None:
        mode = self.session.state.mode
        if isinstance(mode, ExpressiveMode):
            settings = replace(mode.filter, **{name: value})
            change_mode(self.session, ExpressiveMode, gesture=("filter", name), filter=settings)

    def _send(self, on: bool) -> None:
        robot = self.driver.robot
        if on == robot.is_on:
            return
        if on:
            address, dry = str(self.address.value), bool(self.dry.value)
            attempt(lambda: robot.start(address, self.session.state.figure, dry_run=dry, owner=self))
            self.session.wake()
        else:
            robot.stop()
        self.follow()

    def _stop(self, why: str) -> None:
        """Stop sending at once, whichever page started it, and show that on all pages."""
        if self.driver.robot.stop(why):
            self.session.wake()

    def _page_lost(self) -> None:
        """Stop the robot if this page started it, because its user can no longer stop it."""
        if self.driver.robot.owner is self:
            self._stop("Stopped: the page that was sending was closed.")

    async def _ask_page(self) -> None:
        """Stop the robot if this page started it and no longer answers, because it hangs or its network is down."""
        if self.driver.robot.owner is self:
            try:
                await ui.run_javascript("true", timeout=PAGE_ANSWER_TIME)
            except TimeoutError:
                self._page_lost()
