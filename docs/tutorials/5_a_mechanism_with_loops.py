"""
A mechanism with loops
======================

You will build a four-bar linkage, drive it by its motor, pull its coupler, and see that its loop never opens.
"""

# %%
# A figure is a tree of bodies; a loop joint closes a loop. The crank has a motor, all other hinges are passive
# (``active=False``). The pen is a point beside the coupler, shown as a ball.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_loops.png"
import numpy as np

import poise
from poise import Builder, Pose, Position
from poise.figure import Box, Sphere, revolute

b = Builder("linkage", up="y")
bar = 0.02


def rod(length: float) -> Box:
    """A bar along x."""
    return Box((length, bar, bar), pose=Pose((length / 2, 0.0, 0.0)))


b.body("ground", shapes=[rod(0.4)])
b.body("crank", parent="ground", joint=revolute("motor", "z"), shapes=[rod(0.15)])
pen = Sphere(0.015, pose=Pose((0.2, 0.1, 0.0)))
crank_pin = revolute("crank_pin", "z", active=False)
b.body("coupler", parent="crank", at=(0.15, 0.0, 0.0), joint=crank_pin, shapes=[rod(0.4), pen])
b.body(
    "rocker", parent="ground", at=(0.4, 0.0, 0.0), joint=revolute("rocker_pin", "z", active=False), shapes=[rod(0.3)]
)
ends = {"parent_frame": Pose((0.4, 0.0, 0.0)), "child_frame": Pose((0.3, 0.0, 0.0))}
b.loop(revolute("top_pin", "z", active=False), "coupler", "rocker", **ends)
b.site("pen", "coupler", at=(0.2, 0.1, 0.0))
linkage = b.build()
print(linkage.describe())

# %%
# ``assemble`` sets motors and finds all passive joints. One turn of the crank:

near, rows = None, []
for angle in np.linspace(0.0, 2 * np.pi, 120):
    assembled = linkage.assemble({"motor": angle}, near=near)
    near = assembled.posture
    rows.append(near.q)
turns = poise.Clip(linkage, np.array(rows), rate=40, name="one turn")
print(f"largest gap: {max(linkage.closure_error(posture) for posture in turns):.1e} m")
turns

# %%
# Tasks work as for any figure: pull the pen to a point. The first point is on its path, the second far off. The loop is
# above all tasks, so it stays closed even where the pen cannot go.

on_path = linkage.pose_of("pen", linkage.assemble({"motor": 1.0}, near=near).posture).position
for place in (on_path, (2.0, 2.0, 0.0)):
    result = poise.solve(linkage, [Position("pen", place)], start=near)
    print(
        result.status,
        f"{result.verdicts[0].error:.3f} m off, loop closed to {linkage.closure_error(result.posture):.1e} m",
    )
    assert linkage.closure_error(result.posture) < 1e-9
result

# %%
# Two walking legs full of loops come with poise: ``poise.load("walker")``. URDF files get loops from a YAML file beside
# them (``poise.load("robot.urdf", closures="robot.yaml")``), MJCF files from their equalities. **What it cannot do:**
# choose between assemblies; it stays on the branch where the mechanism is (:doc:`/loops`).
