"""
Put a walk on a humanoid
========================

You will make a walk from two key frames, transfer it to other figures, read the report, and save it for a trainer.
"""

# %%
# Captured walks come from BVH, AMASS, glTF or tables: ``clip = poise.load_clip("walk.bvh")``. This page makes its own:
# each ``Key`` says what the figure does at one time, here where its feet are; ``animate`` solves the frames between,
# and lets feet that change their place make steps. Press Play to see it.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_walk.png"
from dataclasses import replace

import numpy as np

import poise
from poise import Animation, CenterOfMass, Frame, Key, Pose, Scene

child = poise.human(1.3, 30.0, name="child")
standing = child.posture("standing")
feet = [Frame(foot, child.pose_of(foot, standing), name=foot) for foot in ("left_foot", "right_foot")]
balance = CenterOfMass(over=("left_foot", "right_foot"), margin=0.01, priority=2)


def ahead(metres: float) -> list[Frame]:
    """The feet, moved ahead."""
    return [
        replace(foot, pose=Pose(foot.pose.position + np.array([0.0, 0.0, metres]), foot.pose.rotation)) for foot in feet
    ]


arrives = poise.solve(child, [*ahead(1.0), balance], start=standing, solid=True).posture
keys = [Key(0.0, standing, [*feet, balance]), Key(4.0, arrives, [*ahead(1.0), balance], ease="stop")]
walk = poise.animate(Scene(child, [*feet, balance], start=standing, animation=Animation(keys)))
walk

# %%
# ``retarget`` finds out by itself which part of one figure corresponds to which of the other, scales the walk by the
# legs, plants the feet and keeps all limits. The human is 45 cm taller than the child.

human = poise.load("human")
motion = poise.retarget(walk, human)
motion

# %%
# The report measures what spoils a motion: errors of tracking, feet that slide or sink, limits, parts inside each
# other, jerk, and frames in which the figure could not stop without falling.

print(motion.report())

# %%
# A robot by name works the same way, if a package on this machine has it: ``poise robots`` lists them, ``pip install
# example-robot-data`` brings the Unitree G1, Talos and others.

try:
    robot = poise.load("g1")
except poise.FigureError as problem:
    print(problem)
    robot_motion = None
else:
    robot_motion = poise.retarget(walk, robot)
    print(robot_motion.report())
robot_motion

# %%
# Write the motion as a table, or in the file of a program that trains robots; the command line does the same with
# ``poise retarget walk.bvh g1 -o walk --for mjlab``.

walk.save("walk.bvh")
motion.save("walk.csv")
assert len(poise.load_clip("walk.bvh")) == len(walk)

# %%
# **What it cannot do:** a retargeted motion is kinematic. ``balance=True`` keeps the centre of mass over the feet, so
# that a slow robot could stop at any time; running and jumping are not made dynamically possible.
