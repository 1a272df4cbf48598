"""Streams the postures of a figure to real servos, through the governor and the watchdog of `poise.robots`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poise.errors import RobotError
from poise.formats.text.toml_tables import Table
from poise.robots import Robot, connect
from poise.service.posed import Posed

Say = Callable[[str], object]


class Servos:
    """The robots of the figures of one client, by the handles of the figures."""

    def __init__(self, say: Say, warn: Say) -> None:
        """Set the functions that take one line of a dry run, and one sentence about an event."""
        self._robots: dict[int, Robot] = {}
        self._addresses: dict[int, str] = {}
        self._say, self._warn = say, warn

    def start(self, handle: int, posed: Posed, message: Table) -> dict[str, Any]:
        """Connect a figure to servos; they follow every posture that is asked for with `servos`."""
        where, dry = message.text("to"), message.flag("dry_run", default=True)
        given = message.take("servos", None)
        table = None if given is None else message.as_table({"servo": given}, "servos", "the list of servos")
        safe = message.take("safe", None)
        if table is not None and safe is not None:
            table = message.as_table({"servo": given, "safe": safe}, "servos", "the list of servos")
        message.finish()
        robot = connect(where, posed.figure, table, dry_run=dry, say=self._say, on_event=self._warn)
        # A port can often be opened only once, so the servos that are at the same address are let go first.
        for other in [each for each, address in self._addresses.items() if each == handle or address == where]:
            self.stop(other)
        robot.start(posed.posture)
        self._robots[handle], self._addresses[handle] = robot, where
        return {"servos": [servo.joint for servo in robot.servos], "driver": robot.driver.name}

    def of(self, handle: int, posed: Posed) -> Robot:
        """The robot of a figure."""
        if handle not in self._robots:
            raise RobotError(f"figure {posed.figure.name!r} has no servos yet: connect some with do = 'servos'.")
        return self._robots[handle]

    def stop(self, handle: int) -> bool:
        """Stop the servos of a figure at once; returns whether there were any."""
        robot = self._robots.pop(handle, None)
        self._addresses.pop(handle, None)
        if robot is not None:
            robot.stop()
        return robot is not None

    def stop_all(self) -> None:
        """Stop the servos of all figures."""
        for handle in list(self._robots):
            self.stop(handle)
