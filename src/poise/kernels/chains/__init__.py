"""Inverse kinematics of one serial chain: CCD, FABRIK, intersection of circles, and Jacobian methods."""
