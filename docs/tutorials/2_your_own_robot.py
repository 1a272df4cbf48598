"""
Bring your own robot
====================

You will load a robot from its URDF, reach for points, see what blocks it, and follow a moving target.
"""

# %%
# **With a file of your own**, in an empty folder with ``my_robot.urdf`` (or an ``.xml`` for MuJoCo) in it:
#
# .. code-block:: sh
#
#    python3 -m venv venv
#    venv/bin/pip install "poise[robots,studio]"   # "poise[mjcf,studio]" for MuJoCo
#    venv/bin/poise doctor my_robot.urdf           # what is missing in the file: limits, speeds, masses, meshes
#    venv/bin/poise describe my_robot.urdf         # its bodies and joints, by name
#    venv/bin/python                               # and paste what follows
#
# Then leave out the next block, which writes a small arm so that this page runs anywhere, and write the name of your
# robot's hand or tool in the line ``hand = …`` below. Robots that other packages bring are loaded by name:
# ``poise.load("panda")``; ``poise robots`` lists them.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_robot.png"
import itertools
from pathlib import Path

AXES = {"turn": "0 0 1", "shoulder": "0 1 0", "elbow": "0 1 0", "wrist": "0 1 0", "roll": "0 0 1"}
LENGTHS = {"base": 0.1, "turn": 0.1, "shoulder": 0.3, "elbow": 0.25, "wrist": 0.1, "roll": 0.05}


def link(name: str, length: float) -> str:
    """A link along z, a box with a mass."""
    box = f'<origin xyz="0 0 {length / 2}"/><geometry><box size="0.05 0.05 {length}"/></geometry>'
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    mass = f'<inertial><origin xyz="0 0 {length / 2}"/><mass value="{4 * length}"/>{inertia}</inertial>'
    return f'<link name="{name}_link">{mass}<visual>{box}</visual><collision>{box}</collision></link>'


def joint(name: str, parent: str) -> str:
    """A hinge at the end of its parent."""
    limit = '<limit lower="-2.2" upper="2.2" velocity="2" effort="20"/>'
    place = f'<origin xyz="0 0 {LENGTHS[parent]}"/><axis xyz="{AXES[name]}"/>{limit}'
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}_link"/><child link="{name}_link"/>{place}</joint>'
    )


names = list(LENGTHS)
parts = [link(name, length) for name, length in LENGTHS.items()] + [joint(b, a) for a, b in itertools.pairwise(names)]
Path("my_robot.urdf").write_text(f'<robot name="my_robot">{"".join(parts)}</robot>', encoding="utf-8")

# %%
# Load it. Limits, speeds and couplings are those of the file.

import numpy as np

import poise
from poise import LookAt, Position

robot = poise.load("my_robot.urdf")
hand = "roll_link"  # the part that shall go places: a body or a site of the robot, as ``describe`` lists them
print(robot.describe())

# %%
# A posture inside all limits, and where the hand is in it: a place that can be reached. Turn the picture.

some = robot.random(33)
frame = robot.pose_of(hand, some)
place = frame.position
some

# %%
# ``reach`` brings one part to a place, and starts again elsewhere if the first start fails. If the place is out of
# reach, the answer is the nearest legal posture, never an error: a goal that cannot be met is a result.

near = poise.reach(robot, hand, position=place)
far = poise.reach(robot, hand, position=frame.apply([2.0, 0.0, 0.0]))
print(near.status, far.status)

# %%
# ``solve`` takes several tasks with priorities. The hand goes to the place and, as far as that leaves freedom, its z
# axis points at another one. The report lists what was met; where a goal is missed, it says what was in the way.

target = Position(hand, place)
aim = LookAt(hand, at=frame.apply([0.0, 0.1, 0.5]), axis="z", priority=2)
result = poise.solve(robot, [target, aim], start=some)
print(result.report())
result

# %%
# In a control loop, ``Solver`` takes one step at a time. With ``dt``, the time of a step in seconds, the speed limits
# of the file hold, too. Press Play: the hand goes round a circle of five centimetres.

solver = poise.Solver(robot, [target, aim], dt=1 / 60)
posture, frames = result.posture, []
for k in range(300):
    angle = 2 * np.pi * k / 300
    solver.target(target, place + 0.05 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0]))
    posture = solver.step(posture)
    frames.append(posture.q)

motion = poise.Motion(robot, np.array(frames), rate=60, name="a circle")
motion

# %%
# Save the robot in the file format of poise, which you can edit by hand, and the motion as a table.

robot.save("my_robot.figure.toml")
motion.save("circle.csv")
fastest = np.abs(np.diff(np.array(frames), axis=0)).max() * 60
print(f"fastest joint: {fastest:.2f} rad/s")

# %%
# ``poise studio my_robot.urdf`` opens the robot in the browser, to be pulled with the mouse; ``poise play
# my_robot.urdf --clip circle.csv`` plays the motion. **What it cannot do:** dynamics. poise finds postures and motions;
# torques are computed (``figure.gravity_torques``) but not controlled.
