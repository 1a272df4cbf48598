"""A robot that follows the figure of the studio; nothing is opened unless the dry run is switched off."""

from __future__ import annotations

from collections import deque

from poise.errors import PoiseError
from poise.figure.figure import Figure
from poise.figure.posture import Posture
from poise.robots.connect import connect
from poise.robots.robot import Robot

KEPT = 20
"""How many lines are kept."""
FIRST = "firmata:/dev/ttyACM0"


class RobotLine:
    """The connection to a robot, if there is one."""

    def __init__(self) -> None:
        """Begin without one."""
        self.lines: deque[str] = deque(maxlen=KEPT)
        self._robot: Robot | None = None

    @property
    def is_on(self) -> bool:
        """Whether postures are sent."""
        return self._robot is not None

    @property
    def state(self) -> str:
        """One word on how it goes."""
        return "off" if self._robot is None else self._robot.state

    def start(self, where: str, figure: Figure, *, dry_run: bool = True) -> None:
        """Connect; raises `RobotError` where that cannot be."""
        self.stop()
        robot = connect(where, figure, dry_run=dry_run, say=self.lines.append, on_event=self.lines.append)
        robot.start()
        self._robot = robot

    def write(self, posture: Posture) -> None:
        """Send a posture; a robot of another figure is let go."""
        robot = self._robot
        if robot is None:
            return
        if robot.figure is not posture.figure:
            self.stop()
            return
        robot.write(posture)

    def stop(self) -> None:
        """Let go of it."""
        robot, self._robot = self._robot, None
        if robot is not None:
            try:
                robot.stop()
            except PoiseError as problem:
                self.lines.append(str(problem))
