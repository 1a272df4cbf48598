"""Runs figures on real servos: Firmata, Dynamixel, text lines on a serial port, and OSC, behind one interface.

A character on real servos::

    robot = poise.robots.connect("firmata:/dev/ttyACM0", figure)
    with robot:
        for frame in live.frames(rate=60):
            robot.write(frame)
"""

from poise.robots.connect import connect as connect
from poise.robots.driver import DeviceLostError as DeviceLostError
from poise.robots.driver import Driver as Driver
from poise.robots.dry_run import DryRunDriver as DryRunDriver
from poise.robots.dynamixel import DynamixelDriver as DynamixelDriver
from poise.robots.firmata import FirmataDriver as FirmataDriver
from poise.robots.osc_out import OscDriver as OscDriver
from poise.robots.robot import Robot as Robot
from poise.robots.serial_line import SerialLineDriver as SerialLineDriver
from poise.robots.servo import Servo as Servo

__all__ = [
    "DeviceLostError",
    "Driver",
    "DryRunDriver",
    "DynamixelDriver",
    "FirmataDriver",
    "OscDriver",
    "Robot",
    "SerialLineDriver",
    "Servo",
    "connect",
]
