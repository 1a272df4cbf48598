"""Ranges of motion of the human joints [degrees].

Nominal clinical values [Greene & Heckman 1994]. Where the literature disagrees: neck 60/60, hip extension 20, knee 140,
subtalar 35/20, toes 70/30. The totals of spine and neck are divided between two joints each. The ankle's 45° of dorsal
flexion are those of a loaded foot under a bent knee, as in a lunge or a squat; a hanging foot has 20°.

The shoulder's ball is the glenohumeral joint alone (120/60/120; adduction 45 as of the whole shoulder); with the
clavicle's 45° of elevation the arm rises to 165°, inside the 150 … 180° measured for the whole shoulder.
"""

from __future__ import annotations

from poise.figures.people.ball_region import Range

SPINE_RANGE = Range(x=(-15, 50), y=(-20, 20), twist=(-5, 5))
CHEST_RANGE = Range(x=(-10, 30), y=(-15, 15), twist=(-40, 40))
NECK_RANGE = Range(x=(-30, 30), y=(-22.5, 22.5), twist=(-30, 30))
HEAD_RANGE = NECK_RANGE
"""Standing limbs: x = (extension, flexion), y = lateral flexion, twist = rotation."""

EYES_RANGE = ((-50.0, 50.0), (-40.0, 50.0))
"""Right and left; up and down [Guitton & Volle 1987]."""

SHOULDER_RANGE = Range(x=(-120, 60), y=(-45, 120), twist=(-90, 70))
HIP_RANGE = Range(x=(-120, 20), y=(-30, 45), twist=(-45, 45))
"""Hanging limbs: x = (flexion, extension), y = (adduction, abduction), twist = (external, internal) rotation."""

CLAVICLE_RANGE = ((-5.0, 45.0), (-15.0, 15.0))
"""Depression and elevation; retraction and protraction."""
ELBOW_RANGE = (0.0, 150.0)
"""Extension and flexion."""
FOREARM_RANGE = (-80.0, 80.0)
"""Supination and pronation, with 0 for thumbs forward."""
WRIST_RANGE = ((-70.0, 80.0), (-30.0, 20.0))
"""Extension and flexion; ulnar and radial deviation."""
KNEE_RANGE = (0.0, 140.0)
"""Extension and flexion."""
ANKLE_RANGE = ((-50.0, 45.0), (-20.0, 35.0))
"""Plantar and dorsal flexion; eversion and inversion."""
TOES_RANGE = (-30.0, 70.0)
"""Flexion and extension."""

STRAIGHT_LEG_RAISE = 70.0
"""Greatest hip flexion with a straight knee, limited by the hamstrings."""
