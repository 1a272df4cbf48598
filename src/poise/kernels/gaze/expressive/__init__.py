"""`poise.Expressive`: the posture nearest in shape whose tip faces a target exactly, and its motion between frames."""
