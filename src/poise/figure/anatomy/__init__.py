"""Which part of a figure is the pelvis, the knee, the hand: anatomical roles, from names, structure and geometry."""
