"""Kinematic loops: closure constraints, their derivatives, and solvers for postures that satisfy them."""
