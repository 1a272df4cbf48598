"""Solvers that turn the tip of a chain to a direction or orientation while the chain keeps the shape of a posture."""
