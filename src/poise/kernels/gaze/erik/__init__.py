"""ERIK: a posture is held while the tip faces a target [Ribeiro & Paiva 2017, 2019]."""
