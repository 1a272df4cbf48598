"""A robot that follows the figure of the studio; nothing is opened unless the dry run is switched off."""

from __future__ import annotations

from collections import deque

from poise.errors import PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
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
        self.owner: object = None
        """Who started it, if that matters."""
        self._robot: Robot | None = None
        self._place = ""
        """Where real servos are driven; empty during a dry run."""
        self._left: dict[str, dict[str, float]] = {}
        """Joint values last sent to each place, where servos are that cannot be measured [rad or m]."""

    @property
    def is_on(self) -> bool:
        """Whether postures are sent."""
        return self._robot is not None

    @property
    def state(self) -> str:
        """One word on how it goes."""
        return "off" if self._robot is None else self._robot.state

    def start(self, where: str, figure: Figure, *, dry_run: bool = True, owner: object = None) -> None:
        """Connect, and go on from where the servos were left; raises `RobotError` where that cannot be."""
        self.stop()
        robot = connect(where, figure, dry_run=dry_run, say=self.lines.append, on_event=self.lines.append)
        left = self._left.get(where, {})
        robot.start(at=left if left.keys() == robot.commands.keys() else None)
        self._place = "" if dry_run else where
        self._robot, self.owner = robot, owner

    def write(self, posture: Posture) -> None:
        """Send a posture; a robot of another figure is let go."""
        robot = self._robot
        if robot is None:
            return
        if robot.figure is not posture.figure:
            self.stop()
            return
        robot.write(posture)

    def stop(self, why: str = "") -> bool:
        """Stop sending at once and let go of it; the servos hold where they are. Whether there was one."""
        robot, self._robot, self.owner = self._robot, None, None
        if robot is None:
            return False
        try:
            robot.stop()
        except PoiseError as problem:
            self.lines.append(str(problem))
        if self._place:
            self._left[self._place] = robot.commands
        if why:
            self.lines.append(why)
        return True
