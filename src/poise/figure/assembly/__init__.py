"""Mechanisms with kinematic loops: closing the loops, and forward kinematics from motor values."""
