"""Numbers of the human's bodies and marked joints, as the page counts them."""

import poise
from poise.studio.wire.anchors import marked_joints

BODIES = [body.name for body in poise.load("human").bodies]
HAND = BODIES.index("right_hand")
FEET = [BODIES.index("left_foot"), BODIES.index("right_foot")]
JOINTS = [joint.name for joint in marked_joints(poise.load("human"))]
ELBOW, SHOULDER = JOINTS.index("right_elbow"), JOINTS.index("right_shoulder")
