"""
Move real servos
================

You will describe your servos, see what would be sent, and learn what keeps a servo from jumping.
"""

# %%
# A servo file says which servo moves which joint. ``channel`` is the pin of the board; ``ticks`` are the shortest and
# the longest pulse in µs, and ``travel`` is the angle between them in degrees; ``sign = -1`` is for a servo that turns
# the other way; ``speed`` is in degrees per second. This one is for two of the lamp's hinges; the others are not moved.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_servos.png"
from pathlib import Path

import poise
from poise import robots

lamp = poise.load("adelino")
Path("lamp.toml").write_text(
    """
safe = "sleepy"

[[servo]]
joint = "turn"
channel = 9
sign = -1
ticks = [600, 2350]
travel = 170.0
speed = 90.0

[[servo]]
joint = "tilt"
channel = 10
ticks = [600, 2350]
travel = 170.0
lower = -60.0
upper = 60.0
speed = 90.0
""",
    encoding="utf-8",
)
print("The lamp has the joints", ", ".join(lamp.moving_joints))

# %%
# ``dry_run=True`` does everything but send: nothing has to be plugged in. It prints what would be sent, here as the
# angle of the joint → pin:pulse. Give the place of your board instead of this one: ``firmata:/dev/ttyACM0`` for an
# Arduino, ``dynamixel:…``, ``serial:…`` or ``osc:HOST:PORT``.

robot = robots.connect("firmata:/dev/ttyACM0", lamp, "lamp.toml", dry_run=True)
with robot, poise.Character(lamp) as live:
    live.hold("curious")
    live.face((1.0, 0.3, 0.5))
    for frame in live.frames(rate=60, seconds=0.5):
        robot.write(frame)
    print(robot.commands)

# %%
# What a robot guarantees, whatever your program writes: no command leaves the limits of the servo and of the figure; no
# command differs from the last by more than the speed allows; after a start, a lost cable or a stop it begins slowly,
# from where it is. Without a speed limit a cautious one is assumed, and said.
#
# On the command line, ``poise play adelino --robot firmata:/dev/ttyACM0 --servos lamp.toml --dry-run`` does the same
# with a picture in the terminal. Leave out ``--dry-run`` when what you see is what you want; Ctrl-C stops at once.
#
# **What it cannot do:** hobby servos do not say where they are. At the very first start they are switched on in the
# safe posture, and move there as fast as they can (:doc:`/robots`).
