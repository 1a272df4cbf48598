"""Motions: the motion filter, curves through postures, and inverse kinematics for all frames of a clip."""
