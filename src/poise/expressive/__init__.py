"""Solvers that hold a posture while the tip faces a target."""
