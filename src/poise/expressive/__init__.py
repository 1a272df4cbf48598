"""Solvers that keep the shape of a posture while the tip of a chain faces a target."""
