"""Solvers of one chain of joints: CCD, FABRIK, circles and Jacobian methods."""
