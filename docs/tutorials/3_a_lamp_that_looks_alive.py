"""
Make a lamp look alive
======================

You will give a lamp an expression, let it look around without losing it, and make it a character in real time.
"""

# %%
# Adelino is a desk lamp with five hinges and a face. Its postures are expressions.

# sphinx_gallery_thumbnail_path = "pictures/tutorial_lamp.png"
import numpy as np

import poise
from poise import MotionFilter

lamp = poise.load("adelino")
print(", ".join(lamp.posture_names))
lamp.posture("sad")

# %%
# ``Expressive`` faces a direction exactly and stays as near to the shape of a posture as that allows. The direction is
# a vector in the axes of the world, with y up. The lamp is still sad when it looks up at you. A shape error of 0 would
# be the posture itself.

solver = poise.Expressive(lamp)
answer = solver.solve("sad", (0.6, 0.3, 0.8))
print(f"gaze error {answer.orientation_error:.1e}, shape error {answer.shape_error:.3f}")
answer

# %%
# A gaze that turns is tracked: pass the last answer as ``previous``, and no joint jumps. Here a ball goes round the
# lamp.

ball = [(np.sin(a), 0.4 + 0.2 * np.sin(2 * a), np.cos(a)) for a in np.linspace(-1.2, 1.2, 150)]
postures, answer = [], solver.solve("curious", ball[0])
for direction in ball:
    answer = solver.solve("curious", direction, previous=answer)
    postures.append(answer.posture.q)

watches = poise.Clip(lamp, np.array(postures), rate=60, name="curious about a ball")
watches

# %%
# ``Character`` does all of this in real time: postures fade into each other, clips are turned towards the gaze, and a
# motion filter keeps every joint inside limits of position, velocity, acceleration and jerk. Here the frames are
# computed as fast as they are read (``realtime=False``):

live = poise.Character(lamp, filter=MotionFilter(velocity=6, acceleration=40, jerk=800))
rows = []
with live:
    for frame, posture in enumerate(live.frames(rate=60, seconds=4.0, realtime=False)):
        if frame == 0:
            live.hold("sleepy")
        if frame == 60:
            live.hold("happy")
            live.face((0.8, 0.3, 0.6))
        if frame == 150:
            live.face((-0.8, 0.5, 0.6))
        rows.append(posture.q)

awake = poise.Clip(lamp, np.array(rows), rate=60, name="a lamp wakes up")
awake

# %%
# Frames go to real servos with ``poise.robots``: the last tutorial. **What it cannot do:** ``Expressive`` takes single
# chains of hinges and humans; a target below the limits of the root cannot be followed without turning round
# (:doc:`/expressive`).
