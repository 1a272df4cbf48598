"""The panel of the expressive mode."""

from __future__ import annotations

import math
from dataclasses import replace

from nicegui import ui

from poise.studio.modes.expressive.expressive import SOLVERS, ExpressiveDriver, ExpressiveMode, asked
from poise.studio.modes.expressive.filter import RANGES, shown
from poise.studio.modes.expressive.postures import posture_choices
from poise.studio.modes.expressive.robot import FIRST
from poise.studio.panels.modes.parts import Choices, Facts, Setting, attempt, heading
from poise.studio.panels.modes.strip import ModeStrip
from poise.studio.session.session import Session

ON_ESCAPE = """<script>
document.addEventListener("keydown", (event) => { if (event.key === "Escape") emitEvent("escape"); }, true);
</script>"""
"""Tells the server of the Esc key wherever the focus is."""
ASK_EVERY = 1.0
"""Time between two questions whether the page that sends to a robot is still there [s]."""
PATIENCE = 2.0
"""How long such a page may take to answer [s]; one that is closed is known at once."""
FACTS = ("gaze off by", "error", "posture error", "shape error", "iterations", "solve")


class ExpressivePanel:
    """Postures, gaze, solver, errors, filter, robot."""

    def __init__(self, session: Session, driver: ExpressiveDriver, strip: ModeStrip) -> None:
        """Build it where the caller is building."""
        self.session, self.driver = session, driver
        heading("Posture")
        self.postures = Choices(lambda name: driver.hold(session, name))
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            self.ghost = ui.switch("ghost", on_change=lambda event: self._set(ghost=bool(event.value)))
            self.ghost.props("dense size=sm color=blue-6").mark("ghost")
            follow = ui.switch("follow the mouse", on_change=lambda event: strip.follow_mouse(bool(event.value)))
            follow.props("dense size=sm color=orange-7").mark("follow the mouse")
        ui.label("Drag the round mark to look elsewhere.").classes("poise-line")
        heading("Solver")
        self.solvers = Choices(lambda name: self._set(solver=name))
        self.facts = Facts(FACTS)
        heading("Motion filter")
        self.settings = {
            name: Setting(name, span, lambda value, name=name: self._filter(name, value), shown)  # type: ignore[misc]
            for name, span in RANGES.items()
        }
        self._robot()

    def _robot(self) -> None:
        heading("Robot")
        self.where = ui.input(value=FIRST, label="where").props("dense").classes("w-full").mark("robot where")
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            self.dry = ui.switch("dry run", value=True, on_change=lambda: self._stop("Stopped: press send to go on."))
            self.dry.props("dense size=sm color=green-6").mark("dry run")
            self.send = ui.switch("send", on_change=lambda event: self._send(bool(event.value)))
            self.send.props("dense size=sm color=orange-7").mark("send to robot")
            self.state = ui.label().classes("text-caption text-grey-6").mark("robot state")
        self.line = ui.label().classes("poise-line").mark("robot line")
        ui.add_body_html(ON_ESCAPE)
        ui.on("escape", lambda: self._stop("Stopped with Esc: the servos hold where they are."))
        ui.context.client.on_disconnect(self._page_lost)
        ui.timer(ASK_EVERY, self._ask_page)

    def follow(self) -> None:
        """Show what is so now."""
        state = self.session.state
        mode = state.mode
        if not isinstance(mode, ExpressiveMode):
            return
        _, held = asked(state)
        self.postures.show(posture_choices(state.figure), held.label)
        self.solvers.show(SOLVERS, mode.solver, SOLVERS)
        if self.ghost.value != mode.ghost:
            self.ghost.set_value(mode.ghost)
        for name, setting in self.settings.items():
            setting.show(getattr(mode.filter, name))
        self._show_numbers()
        robot = self.driver.robot
        self.state.set_text(robot.state)
        if self.send.value != robot.is_on:
            self.send.set_value(robot.is_on)
        self.line.set_text(robot.lines[-1] if robot.lines else "Nothing is opened during a dry run.")

    def _show_numbers(self) -> None:
        numbers = self.driver.numbers
        if numbers is None:
            return
        result = numbers.result
        self.facts.show(
            {
                "gaze off by": f"{math.degrees(numbers.gaze):.2f}°",
                "error": f"{result.error:.4f}",
                "posture error": f"{result.posture_error:.4f}",
                "shape error": f"{result.shape_error:.4f}",
                "iterations": str(result.iterations),
                "solve": f"{1e6 * numbers.seconds:.0f} µs",
            }
        )

    def _set(self, **fields: object) -> None:
        mode = self.session.state.mode
        if isinstance(mode, ExpressiveMode):
            new = replace(mode, **fields)  # type: ignore[arg-type]
            if new != mode:
                self.session.set_mode(new)

    def _filter(self, name: str, value: float) -> None:
        mode = self.session.state.mode
        if isinstance(mode, ExpressiveMode):
            settings = replace(mode.filter, **{name: value})
            if settings != mode.filter:
                self.session.set_mode(replace(mode, filter=settings), gesture=("filter", name))

    def _send(self, on: bool) -> None:
        robot = self.driver.robot
        if on == robot.is_on:
            return
        if on:
            where, dry = str(self.where.value), bool(self.dry.value)
            attempt(lambda: robot.start(where, self.session.state.figure, dry_run=dry, owner=self))
            self.session.wake()
        else:
            robot.stop()
        self.follow()

    def _stop(self, why: str) -> None:
        """Stop sending at once, whoever started it, and show that on all pages."""
        if self.driver.robot.stop(why):
            self.session.wake()

    def _page_lost(self) -> None:
        """Stop what this page started: nobody is there to stop it."""
        if self.driver.robot.owner is self:
            self._stop("Stopped: the page that was sending went away.")

    async def _ask_page(self) -> None:
        """See that the page answers, if it started the robot: one that hangs, or whose network is down, does not."""
        if self.driver.robot.owner is self:
            try:
                await ui.run_javascript("true", timeout=PATIENCE)
            except TimeoutError:
                self._page_lost()
