"""
Bring your own robot
====================

You will load a robot from its URDF, reach for points, see what blocks it, and follow a moving target.
"""

# %%
# Any URDF or MJCF file works: ``poise.load("robot.urdf")``, ``poise.load("robot.xml")``; robots that other packages
# bring are loaded by name (``poise robots`` lists them). This small arm is written here, so that the page runs
# anywhere; with a file of your own, all you need is the line with ``poise.load``.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_robot.png"
import itertools
from pathlib import Path

import numpy as np

import poise
from poise import LookAt, Position

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

robot = poise.load("my_robot.urdf")
print(robot.describe())
robot.posture({"shoulder": 0.6, "elbow": 0.9})

# %%
# ``reach`` brings one part to a place, and starts again elsewhere if the first start fails. If the place is out of
# reach, the answer is the nearest legal posture, never an error: a goal that cannot be met is a result.

near = poise.reach(robot, "roll_link", position=(0.3, 0.2, 0.4))
far = poise.reach(robot, "roll_link", position=(1.5, 0.0, 0.4))
print(near.status, far.status)

# %%
# ``solve`` takes several tasks with priorities. The wrist goes to a point and, as far as that leaves freedom, the last
# link points at another one. The report lists what was met; where a goal is missed, it also says what was in the way.

target = Position("roll_link", (0.35, 0.0, 0.45))
aim = LookAt("roll_link", at=(0.9, 0.0, 0.0), axis="z", priority=2)
result = poise.solve(robot, [target, aim], start=robot.posture({"shoulder": 0.6, "elbow": 0.9}))
print(result.report())
result

# %%
# In a control loop, ``Solver`` takes one step at a time. With ``dt``, the time of a step in seconds, the speed limits
# of the file hold, too. Press Play: the arm goes round a circle.

solver = poise.Solver(robot, [target, aim], dt=1 / 60)
posture, frames = result.posture, []
for frame in range(300):
    angle = 2 * np.pi * frame / 300
    solver.target(target, (0.35 + 0.1 * np.sin(angle), 0.25 * np.sin(angle), 0.45))
    posture = solver.step(posture)
    frames.append(posture.q)

motion = poise.Clip(robot, np.array(frames), rate=60, name="a circle")
motion

# %%
# Save the robot in the file format of poise, which you can edit by hand, and the motion as a table.

robot.save("my_robot.figure.toml")
assert poise.load("my_robot.figure.toml") == robot
fastest = np.abs(np.diff(np.array(frames), axis=0)).max() * 60
print(f"fastest joint: {fastest:.2f} rad/s, of 2 allowed")
assert fastest < 2.0 + 1e-6

# %%
# ``poise doctor my_robot.urdf`` checks a file: limits, speeds, masses, meshes, where it stands and looks. **What it
# cannot do:** dynamics. poise finds postures and motions; torques are computed (``figure.gravity_torques``) but not
# controlled.
