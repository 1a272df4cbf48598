"""
Pose a human
============

You will put a hand somewhere, turn the gaze, keep the balance, and find out which goal gave way.
"""

# %%
# Load the human. In a notebook, and on this page, a figure shows itself: drag to turn it, scroll to zoom.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_human.png"
import poise
from poise import CenterOfMass, Frame, LookAt, Position, Touch

human = poise.load("human")
human.posture("standing")

# %%
# A *task* is a goal for a part of the figure. Put the right hand 30 cm to the right, at the height of the shoulder and
# in front of the body: x points to the human's left, y up, z ahead, in metres.
#
# The human stands on its feet, so ``solve`` keeps it standing, unless a task says something about the feet, the legs or
# the pelvis. With the freedom that is left it moves as people do: the arm first, then the trunk, the legs last.

hand = Position("right_hand", (-0.3, 1.4, 0.4))
result = poise.solve(human, [hand], start="standing")
result

# %%
# The result is a posture and a report, which it shows below the figure. In the report, ``all`` is what stands above all
# tasks: here feet and balance. Joint values are found by name, errors by task.

print(result.status)
print(result.posture["right_elbow"], "rad")
print(result.errors[hand], "m")

# %%
# Now a target that lies 2.3 m ahead, out of reach. Say what matters more by priorities: the feet stay where they are
# (1), then balance (2), then the gaze (3), and only then the hand (4). However far away the target is, a lower priority
# never costs a higher one anything.

stands = human.posture("standing")
feet = ("left_foot", "right_foot")
tasks = [
    *(Frame(foot, human.pose_of(foot, stands), priority=1) for foot in feet),
    CenterOfMass(over=feet, margin=0.02, priority=2),
    LookAt("head", at=(0.0, 1.6, 3.0), priority=3),
    Position("right_hand", (-0.3, 1.2, 2.3), priority=4),
]
result = poise.solve(human, tasks, start="standing")
result

# %%
# The report names what gave way to what. The hand is as near as feet, balance and gaze allow:

gave_way = result.verdicts[-1]
print(f"The hand misses its target by {gave_way.error:.2f} m because of {', '.join(gave_way.gave_way_to)}.")

# %%
# Bodies pass through each other unless you say otherwise. With ``solid=True`` they do not, nor through the floor and
# obstacles. ``Touch`` brings two surfaces into contact: the left hand goes to the hip, while the right one waves.

touches = Touch("left_hand", "pelvis")
on_hip = poise.solve(human, [touches, Position("right_hand", (-0.3, 1.5, 0.4))], start="standing", solid=True)
on_hip

# %%
# Save a picture, or the joint values by name. ``changed`` makes a posture that differs in some joints (in radians).

poise.pictures.draw(human, on_hip.posture, size=(500, 500)).save("on_hip.png")
values = on_hip.posture.as_dict()
waves = on_hip.posture.changed({"right_elbow": 1.2})
print(f"right elbow: {values['right_elbow']:.2f} rad, then {waves['right_elbow']:.2f} rad")

# %%
# **What it cannot do.** The method is local: it finds the best posture near where the figure starts. ``restarts=10``
# tries other starts. Next: your own robot, or what else can be asked of a figure (:doc:`/tasks`).
