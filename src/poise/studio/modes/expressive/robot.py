"""The robot that follows the studio's figure; in a dry run, commands are only printed."""

from __future__ import annotations

from collections import deque

from poise.errors import PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.robots.connect import connect
from poise.robots.robot import Robot

LINES_KEPT = 20
"""How many of the robot's last messages are kept."""
FIRST_ADDRESS = "firmata:/dev/ttyACM0"
"""Address that the panel suggests."""


class RobotLine:
    """The connection to a robot, or none."""

    def __init__(self) -> None:
        """Start without a robot."""
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self.owner: object = None
        """The panel that connected the robot; the robot stops when that panel's page closes."""
        self._robot: Robot | None = None
        self._address = ""
        """Address of the connected robot; empty during a dry run."""
        self._last_commands: dict[str, dict[str, float]] = {}
        """Last joint values sent to each address, from which a new connection starts [rad or m]."""

    @property
    def is_on(self) -> bool:
        """Whether postures are being sent."""
        return self._robot is not None

    @property
    def is_dry(self) -> bool:
        """Whether postures are only printed."""
        return self._address == ""

    @property
    def state(self) -> str:
        """The robot's state in one word, "off" without a robot."""
        return "off" if self._robot is None else self._robot.state

    def start(self, where: str, figure: Figure, *, dry_run: bool = True, owner: object = None) -> None:
        """Connect to a robot and start from its last commands; raises `RobotError` if that fails."""
        self.stop()
        robot = connect(where, figure, dry_run=dry_run, say=self.lines.append, on_event=self.lines.append)
        left = self._last_commands.get(where, {})
        robot.start(at=left if left.keys() == robot.commands.keys() else None)
        self._address = "" if dry_run else where
        self._robot, self.owner = robot, owner

    def write(self, posture: Posture) -> None:
        """Send a posture; a robot of another figure is disconnected."""
        robot = self._robot
        if robot is None:
            return
        if robot.figure is not posture.figure:
            self.stop()
            return
        robot.write(posture)

    def stop(self, why: str = "") -> bool:
        """Stop sending and disconnect; the servos hold their positions. Returns whether a robot was connected."""
        robot, self._robot, self.owner = self._robot, None, None
        if robot is None:
            return False
        try:
            robot.stop()
        except PoiseError as problem:
            self.lines.append(str(problem))
        if self._address:
            self._last_commands[self._address] = robot.commands
        if why:
            self.lines.append(why)
        return True
